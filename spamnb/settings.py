"""What a model was made with: kept in the model file, so that training and classifying cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spamnb.errors import SpamnbError, check_kind
from spamnb.formulas.decision import MAX_SETTING, Loss
from spamnb.formulas.pooling import POOLINGS
from spamnb.formulas.priors import KINDS as PRIORS
from spamnb.reader.options import TOKENS_VERSION, TokenOptions
from spamnb.setting_fields import check_settings, setting, settings_in

COUNT_MODELS = ("boolean", "multinomial", "bernoulli")
BAYES_MODELS = ("corrected", *COUNT_MODELS)
VECTOR_MODELS = ("gaussian", "lda", "qda")  # of embedded messages
MODELS = (*BAYES_MODELS, "logistic", *VECTOR_MODELS)

# What a model file says beside its settings of how it was made: when (ISO 8601), of which sources (absolute), how these
# were read where not as usual, whether PDF attachments were read, and the command line. They are no part of the model:
# two of the same sums may differ.
ORIGIN = ("trained_at", "trained_from", "read_options", "pdf_read", "command")

UPGRADE = "'spamnb upgrade' makes it again from its mail and what it was taught"


def origin(meta: Mapping[str, Any]) -> dict[str, Any]:
    """When, from what and with which command a model was trained, as far as its file says it."""
    return {key: meta[key] for key in ORIGIN if key in meta}


@dataclass(frozen=True, slots=True)
class Settings:
    """A model's type and parameters, how messages become tokens, and what errors cost.

    The fields say what each is for. ``model_type`` is "corrected" where none is given, but "boolean" with ``pooling``
    "sum"; Gaussian models have ``embedding`` "lsa:100" where none is given.

    >>> Settings().model_type, Settings(pooling="sum").model_type
    ('corrected', 'boolean')
    >>> Settings(alpha=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: alpha is 0: it must be a number, above 0 and at most 1e+09
    """

    model_type: str = setting(
        "",  # always one of MODELS once the settings are made
        "Naive Bayes on which tokens occur, `corrected` where it errs or as it is (`boolean`), on how often they occur"
        " (`multinomial`) or on which do and which do not (`bernoulli`); `logistic` regression; Gaussian classes of"
        " embedded messages (`gaussian`, `lda`, `qda`).",
        choices=MODELS,
    )
    # Better than 0.03 and 1, but for 1 on SMS: docs/experiments.md#smoothing
    alpha: float = setting(
        0.1, "Smoothing pseudo-count; Laplace's is 1.", above=0, most=MAX_SETTING, models=BAYES_MODELS
    )
    prior: str = setting(
        "mle",
        "Prior probability of a class: its share of the messages learned (`mle`, `map`), the same with one more message"
        " in each class (`dirichlet`), or equal for all (`uniform`). It changes the model's own posterior, not the"
        " calibrated probability.",
        choices=PRIORS,
        models=(*BAYES_MODELS, *VECTOR_MODELS),
    )
    pooling: str = setting(
        "mean",
        "How the tokens' evidence becomes one score: a weighted mean, or the sum of textbook naive Bayes.",
        choices=POOLINGS,
        models=COUNT_MODELS,
    )
    top_words: int | None = setting(
        None, "Keep only so many tokens, those with the highest mutual information; with none keep all.", least=1
    )
    embedding: str | None = setting(
        None,
        "Dense vectors for `gaussian`, `lda` or `qda`: `lsa:100` or `vectors:FILE`.",
    )
    spam: str = setting("spam", "The class that is spam.")
    tokens: TokenOptions = field(default_factory=TokenOptions)
    loss: Loss = field(default_factory=Loss)

    def __post_init__(self) -> None:
        if not self.model_type:
            # A correction is of the pooled mean.
            object.__setattr__(self, "model_type", "boolean" if self.pooling == "sum" else "corrected")
        check_settings(self)
        check_kind("tokens", self.tokens, TokenOptions, "TokenOptions(...)")
        check_kind("loss", self.loss, Loss, "Loss(...)")
        if self.embedding is None and self.model_type in VECTOR_MODELS:
            object.__setattr__(self, "embedding", "lsa:100")
        elif self.embedding is not None and self.model_type not in VECTOR_MODELS:
            others = ", ".join(VECTOR_MODELS)
            raise SpamnbError(f"a {self.model_type} model counts words and has no embedding; model_type {others} has")
        if self.pooling == "sum" and self.model_type == "corrected":
            raise SpamnbError("a corrected model corrects the pooled mean; pooling sum is for textbook naive Bayes")

    def spam_column(self, classes: Sequence[str]) -> int | None:
        """Which of the classes is spam; None where none of them is.

        >>> Settings().spam_column(["ham", "spam"]), Settings().spam_column(["news"])
        (1, None)
        """
        return list(classes).index(self.spam) if self.spam in classes else None

    def by_name(self) -> dict[str, Any]:
        """All settings under their names, those of tokens and of the loss too.

        >>> Settings().by_name()["ngrams"]
        2
        """
        owners = (self, self.tokens, self.loss)
        return {name: getattr(owner, name) for owner in owners for name in settings_in(type(owner))}

    def as_meta(self) -> dict[str, Any]:
        """The settings as the model file keeps them.

        >>> Settings().as_meta()["model_type"]
        'corrected'
        """
        return {**asdict(self), "tokens_version": TOKENS_VERSION}

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any], path: str, *, any_tokens: bool = False) -> Settings:
        """The settings a model file holds. Raises SpamnbError if this version makes other tokens, unless
        ``any_tokens``, and if these are no settings of this version.

        >>> import json
        >>> meta = json.loads(json.dumps(Settings(alpha=1).as_meta()))
        >>> Settings.from_meta(meta, "model.spamnb").alpha
        1
        """
        version = meta.get("tokens_version")
        if version != TOKENS_VERSION and not any_tokens:
            raise SpamnbError(
                f"{path}: trained with tokens of version {str(version)[:20]}, this spamnb makes version"
                f" {TOKENS_VERSION}; {UPGRADE}"
            )
        try:
            tokens = TokenOptions(**{name: meta["tokens"][name] for name in settings_in(TokenOptions)})
            chosen = {**meta["loss"]}
            if cost := chosen.get("false_positive_cost"):  # of a model of before
                chosen["strictness"] = "cautious" if cost > 30 else "normal" if cost > 3 else "strict"
            loss = Loss(**{name: chosen[name] for name in settings_in(Loss)})
            own = {name: meta[name] for name in settings_in(cls)}
            if not own["model_type"]:  # a model's file says which was chosen
                raise KeyError("model_type")
            return cls(**own, tokens=tokens, loss=loss)
        except (KeyError, TypeError, SpamnbError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else error
            raise SpamnbError(f"{path}: its settings are not those of this spamnb ({what}); train again") from None


SETTINGS = {**settings_in(Settings), **settings_in(TokenOptions), **settings_in(Loss)}
