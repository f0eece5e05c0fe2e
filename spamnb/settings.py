"""What a model was made with: kept in the model file, so that training and classifying cannot disagree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from types import NoneType
from typing import Any

from spamnb.errors import SpamnbError
from spamnb.formulas.decision import MAX_SETTING, Loss
from spamnb.formulas.pooling import POOLINGS
from spamnb.formulas.priors import KINDS as PRIORS
from spamnb.tokens.token_sink import BIGRAM_WORDS
from spamnb.tokens.tokenizer import TOKENS_VERSION, TokenOptions

COUNT_MODELS = ("boolean", "multinomial", "bernoulli")
MAX_MIN_MESSAGES = 1000
VECTOR_MODELS = ("gaussian", "lda", "qda")  # of embedded messages; logistic may be too
MODELS = ("corrected", *COUNT_MODELS, "logistic", *VECTOR_MODELS)

# What a model file says beside its settings of how it was made: when (ISO 8601), of which sources (absolute), how these
# were read where not as usual, whether PDF attachments were read, and the command line. They are no part of the model:
# two of the same sums may differ.
ORIGIN = ("trained_at", "trained_from", "read_options", "pdf_read", "command")

UPGRADE = "'spamnb upgrade' makes it anew of its lessons and the mail it was trained from"


def default_model_type(pooling: str | None) -> str:
    """The model type where none is chosen: a correction is of the pooled mean."""
    return "boolean" if pooling == "sum" else "corrected"


@dataclass(frozen=True, slots=True)
class Settings:
    """A model's type and parameters, how messages become tokens, and what errors cost.

    ``model_type`` is one of ``MODELS`` ("boolean": multinomial on presence instead of counts; "corrected", the default:
    the same, corrected where it errs, but with ``pooling`` "sum" the default is "boolean"), ``alpha`` the smoothing
    pseudo-count, ``prior`` how class priors follow from the messages per class ("mle", "dirichlet", "map", "uniform"),
    ``pooling`` how tokens' contributions become one score ("mean", or "sum": the textbook posterior), ``top_words``
    the number of tokens kept by mutual information (None: all), ``min_messages`` how many messages must hold a token at
    least when a model is trained, ``embedding`` how messages become dense vectors
    ("lsa:100", "vectors:PATH", "model:DIRECTORY"; the Gaussian models have "lsa:100" where none is given), ``spam``
    the class that is spam, in which good mail costs ``loss.false_positive_cost``.

    >>> Settings().model_type, Settings(pooling="sum").model_type
    ('corrected', 'boolean')
    >>> Settings(alpha=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: alpha is 0: the pseudo-count must be above 0, or unseen words have probability 0
    """

    model_type: str = ""  # always one of MODELS once the settings are made
    alpha: float = 0.1  # better than 0.03 and 1, but for 1 on SMS: docs/experiments.md#smoothing
    prior: str = "mle"
    pooling: str = "mean"
    top_words: int | None = None
    min_messages: int = 1  # 2 costs a quarter to a half more errors: docs/experiments.md#rare-tokens
    embedding: str | None = None
    spam: str = "spam"
    tokens: TokenOptions = field(default_factory=TokenOptions)
    loss: Loss = field(default_factory=Loss)

    def __post_init__(self) -> None:
        if not self.model_type:
            object.__setattr__(self, "model_type", default_model_type(self.pooling))
        if self.model_type not in MODELS:
            raise SpamnbError(f"model type {self.model_type!r} is not one of {', '.join(MODELS)}")
        if self.embedding is None and self.model_type in VECTOR_MODELS:
            object.__setattr__(self, "embedding", "lsa:100")
        elif self.embedding is not None and self.model_type not in (*VECTOR_MODELS, "logistic"):
            raise SpamnbError(
                f"a {self.model_type} model counts words and has no embedding; --model-type "
                f"{', '.join(VECTOR_MODELS)} or logistic has"
            )
        if not self.alpha > 0:
            raise SpamnbError(
                f"alpha is {self.alpha:g}: the pseudo-count must be above 0, or unseen words have probability 0"
            )
        if self.alpha > MAX_SETTING:
            raise SpamnbError(
                f"alpha is {self.alpha:g}: at most {MAX_SETTING:g}, or all words have the same probability"
            )
        if self.prior not in PRIORS:
            raise SpamnbError(f"prior {self.prior!r} is not one of {', '.join(PRIORS)}")
        if self.pooling not in POOLINGS:
            raise SpamnbError(f"pooling {self.pooling!r} is not one of {', '.join(POOLINGS)}")
        if self.pooling == "sum" and self.model_type == "corrected":
            raise SpamnbError("a corrected model corrects the pooled mean; pooling sum is for textbook naive Bayes")
        if self.top_words is not None and self.top_words < 1:
            raise SpamnbError(f"top words is {self.top_words}: at least 1 is needed")
        if not 1 <= self.min_messages <= MAX_MIN_MESSAGES:
            raise SpamnbError(f"min messages is {self.min_messages}: 1 to {MAX_MIN_MESSAGES:,}")
        if self.min_messages > 1 and self.top_words is not None:
            raise SpamnbError("min messages and top words both choose tokens: give one of them")
        if self.min_messages > 1 and self.model_type not in COUNT_MODELS:
            raise SpamnbError(
                f"min messages is {self.min_messages}: tokens of a {self.model_type} model have weights beside their"
                f" counts, so none can be left out and come back; --model-type {', '.join(COUNT_MODELS)}"
            )
        if self.tokens.ngrams > BIGRAM_WORDS:
            most = f"at most {BIGRAM_WORDS}, the words of a text that are joined"
            raise SpamnbError(f"ngrams is {self.tokens.ngrams}: {most}")

    def spam_column(self, classes: Sequence[str]) -> int | None:
        """Which of the classes is spam; None where none of them is.

        >>> Settings().spam_column(["ham", "spam"]), Settings().spam_column(["news"])
        (1, None)
        """
        return list(classes).index(self.spam) if self.spam in classes else None

    def as_meta(self) -> dict[str, Any]:
        """The settings as the model file keeps them.

        >>> Settings().as_meta()["model_type"]
        'corrected'
        """
        meta = {**asdict(self), "tokens_version": TOKENS_VERSION}
        if self.min_messages == 1:  # as in files that were made before there was a choice: the same model
            del meta["min_messages"]
        return meta

    @classmethod
    def from_meta(cls, meta: Mapping[str, Any], path: str, *, any_tokens: bool = False) -> Settings:
        """The settings a model file holds; SpamnbError where its tokens are not those this version makes, unless
        ``any_tokens``: it is to be made anew.

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
        kind = meta.get("model_type")
        if kind == "hybrid" and any_tokens:
            meta = {**meta, "model_type": default_model_type(meta.get("pooling"))}
        elif kind not in MODELS:
            if kind == "hybrid":
                raise SpamnbError(f"{path}: a hybrid model, which spamnb no longer makes; {UPGRADE}")
            found = "no 'model_type'" if kind is None else f"model type {str(kind)[:20]!r}"
            raise SpamnbError(f"{path}: its settings are not those of this spamnb ({found}); train again")
        meta = {"min_messages": 1, **meta}
        try:
            tokens = _checked(meta["tokens"], TOKEN_SETTINGS)
            tokens["ignore_headers"] = tuple([name.lower() for name in tokens["ignore_headers"]])
            loss = Loss(**_checked(meta["loss"], LOSS_SETTINGS))
            return cls(**_checked(meta, MODEL_SETTINGS), tokens=TokenOptions(**tokens), loss=loss)
        except (KeyError, TypeError, ValueError, AttributeError, OverflowError, SpamnbError) as error:
            what = f"no {error}" if isinstance(error, KeyError) else error
            raise SpamnbError(f"{path}: its settings are not those of this spamnb ({what}); train again") from None


_NUMBER = (int, float)
# The settings by name with the type of each: of the model, of its tokens, and of the loss.
MODEL_SETTINGS = {
    "model_type": str,
    "alpha": _NUMBER,
    "prior": str,
    "pooling": str,
    "top_words": (int, NoneType),
    "min_messages": int,
    "embedding": (str, NoneType),
    "spam": str,
}
TOKEN_SETTINGS = {"tokenizer": str, "stem": (str, NoneType), "ngrams": int, "body_only": bool, "ignore_headers": list}
LOSS_SETTINGS = {"false_positive_cost": _NUMBER, "unsure_cost": (*_NUMBER, NoneType)}


def _checked(meta: Mapping[str, Any], types: Mapping[str, Any]) -> dict[str, Any]:
    """The values of ``meta`` under the names of ``types``. KeyError where one is missing, TypeError where one is of
    another type, OverflowError where a whole number is too large."""
    for name, expected in types.items():
        value = meta[name]
        if not isinstance(value, expected) or (isinstance(value, bool) and expected is not bool):
            raise TypeError(f"{name.replace('_', ' ')} is {value!r:.60}")
        if expected is _NUMBER:
            float(value)
    return {name: meta[name] for name in types}
