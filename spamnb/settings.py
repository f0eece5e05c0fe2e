"""The settings of a model. The model file stores them, so that training and classification use the same ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from spamnb.errors import SpamnbError, check_type
from spamnb.formulas.decision import MAX_SETTING, Loss
from spamnb.formulas.pooling import POOLINGS
from spamnb.formulas.priors import KINDS as PRIORS
from spamnb.reader.options import TOKENS_VERSION, TokenOptions
from spamnb.setting_fields import check_settings, setting, settings_in

COUNT_MODELS = ("boolean", "multinomial", "bernoulli")
BAYES_MODELS = ("corrected", *COUNT_MODELS)
VECTOR_MODELS = ("gaussian", "lda", "qda")  # of embedded messages
MODELS = (*BAYES_MODELS, *VECTOR_MODELS)

# Keys of a model file with its origin: the time of training (ISO 8601), the sources (absolute), options of reading that
# are not the default, whether PDF attachments were read, and the command line. They are not part of the model: models
# with the same sums may have different origins.
ORIGIN = ("trained_at", "trained_from", "read_options", "pdf_read", "command")

UPGRADE = "'spamnb upgrade' makes it again from its mail and what it was taught"


def origin(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys of ORIGIN that a model file contains."""
    return {key: meta[key] for key in ORIGIN if key in meta}


@dataclass(frozen=True, slots=True)
class Settings:
    """A model's type and parameters, how messages become tokens, and what errors cost.

    The default of ``model_type`` is "corrected", and with ``pooling`` "sum" it is "boolean". Gaussian models have
    "lsa:100" as default of ``embedding``.

    Parameters
    ----------
    model_type : str
        One of "corrected", "boolean", "multinomial", "bernoulli", "gaussian", "lda" and "qda".
    alpha : float, default=0.1
        The smoothing pseudo-count; Laplace's is 1.
    prior : str, default="mle"
        The prior probability of a class: "mle", "map", "dirichlet" or "uniform".
    pooling : str, default="mean"
        "mean" is a weighted mean of the tokens' evidence, "sum" that of textbook naive Bayes.
    embedding : str or None
        Dense vectors of a Gaussian model: "lsa:N" or "vectors:FILE".
    spam : str, default="spam"
        The class that is spam.
    tokens : TokenOptions
        How messages become tokens.
    loss : Loss
        The costs of errors.

    Raises
    ------
    SpamnbError
        If a setting has a value that is not allowed, or two settings exclude each other.

    Examples
    --------
    >>> Settings().model_type, Settings(pooling="sum").model_type
    ('corrected', 'boolean')
    >>> Settings(alpha=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: alpha is 0: it must be a number, above 0 and at most 1e+09
    """

    model_type: str = setting(
        "",  # __post_init__ replaces it
        "Naive Bayes on which tokens occur, `corrected` where it errs or as it is (`boolean`), on how often they occur"
        " (`multinomial`) or on which do and which do not (`bernoulli`); Gaussian classes of embedded messages"
        " (`gaussian`, `lda`, `qda`).",
        choices=MODELS,
    )
    # 0.1 errs less than 0.03 and 1, except 1 on SMS: docs/experiments.md#smoothing
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
    embedding: str | None = setting(
        None,
        "Dense vectors for `gaussian`, `lda` or `qda`: `lsa:100` or `vectors:FILE`.",
    )
    spam: str = setting("spam", "The class that is spam.")
    tokens: TokenOptions = field(default_factory=TokenOptions)
    loss: Loss = field(default_factory=Loss)

    def __post_init__(self) -> None:
        if not self.model_type:
            # The correction is fitted to the pooled mean.
            object.__setattr__(self, "model_type", "boolean" if self.pooling == "sum" else "corrected")
        check_settings(self)
        check_type("tokens", self.tokens, TokenOptions, "TokenOptions(...)")
        check_type("loss", self.loss, Loss, "Loss(...)")
        if self.embedding is None and self.model_type in VECTOR_MODELS:
            object.__setattr__(self, "embedding", "lsa:100")
        elif self.embedding is not None and self.model_type not in VECTOR_MODELS:
            names = ", ".join(VECTOR_MODELS)
            raise SpamnbError(f"a {self.model_type} model counts words and has no embedding; model_type {names} has")
        if self.pooling == "sum" and self.model_type == "corrected":
            raise SpamnbError("a corrected model corrects the pooled mean; pooling sum is for textbook naive Bayes")

    def spam_column(self, classes: Sequence[str]) -> int | None:
        """Return the index of the class that is spam, or None if there is no such class.

        Parameters
        ----------
        classes : sequence of str
            The classes of a model, in order.

        Returns
        -------
        int or None
            The index.

        Examples
        --------
        >>> Settings().spam_column(["ham", "spam"]), Settings().spam_column(["news"])
        (1, None)
        """
        return list(classes).index(self.spam) if self.spam in classes else None

    def by_name(self) -> dict[str, Any]:
        """Return all settings by their names, with those of ``tokens`` and ``loss``.

        Returns
        -------
        dict of str to object
            The values.

        Examples
        --------
        >>> Settings().by_name()["ngrams"]
        2
        """
        owners = (self, self.tokens, self.loss)
        return {name: getattr(owner, name) for owner in owners for name in settings_in(type(owner))}

    def as_meta(self) -> dict[str, Any]:
        """Return the settings as a model file stores them.

        Returns
        -------
        dict of str to object
            Values of JSON.

        Examples
        --------
        >>> Settings().as_meta()["model_type"]
        'corrected'
        """
        return {**asdict(self), "tokens_version": TOKENS_VERSION}

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any], path: str, *, any_tokens: bool = False) -> Settings:
        """Return the settings of a model file.

        Parameters
        ----------
        meta : mapping of str to object
            The values of the table ``meta``.
        path : str
            The file's name in errors.
        any_tokens : bool, default=False
            Whether the model may have tokens of another version.

        Returns
        -------
        Settings
            The settings.

        Raises
        ------
        SpamnbError
            If the tokens or the settings are those of another version.

        Examples
        --------
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
            loss = Loss(**{name: meta["loss"][name] for name in settings_in(Loss)})
            values = {name: meta[name] for name in settings_in(cls)}
            if not values["model_type"]:  # a model file always names it
                raise KeyError("model_type")
            return cls(**values, tokens=tokens, loss=loss)
        except (KeyError, TypeError, SpamnbError) as error:
            detail = f"no {error}" if isinstance(error, KeyError) else error
            raise SpamnbError(f"{path}: its settings are not those of this spamnb ({detail}); train again") from None


SETTINGS = {**settings_in(Settings), **settings_in(TokenOptions), **settings_in(Loss)}
