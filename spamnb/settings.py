"""The settings of a model. The model file stores them, so that training and classification use the same settings."""

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
VECTOR_MODELS = ("gaussian", "lda", "qda")  # models of embedded messages
MODELS = (*BAYES_MODELS, *VECTOR_MODELS)

# Keys of the origin of a model: the time of training (ISO 8601), the absolute paths of the sources, the options of
# reading that are not the defaults, whether PDF attachments were read, and the command line. Classifying ignores them.
ORIGIN = ("trained_at", "trained_from", "read_options", "pdf_read", "command")

UPGRADE = "'spamnb upgrade' trains it again"


def origin(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the origin of a model: the items of ``meta`` whose keys are in ORIGIN."""
    return {key: meta[key] for key in ORIGIN if key in meta}


@dataclass(frozen=True, slots=True)
class Settings:
    """The settings of a model: its type, its parameters, the options of tokens, and the costs of errors.

    Parameters
    ----------
    model_type : str
        One of "corrected", "boolean", "multinomial", "bernoulli", "gaussian", "lda" and "qda". The default is
        "corrected", or "boolean" if ``pooling`` is "sum".
    alpha : float, default=0.1
        The smoothing pseudo-count. Laplace's pseudo-count is 1.
    prior : str, default="mle"
        The prior probability of a class: "mle", "map", "dirichlet" or "uniform".
    pooling : str, default="mean"
        The score of a message: "mean" is a weighted mean of the tokens' evidence, "sum" is the sum of naive Bayes.
    embedding : str or None
        Dense vectors of a Gaussian model: "lsa:N" or "vectors:FILE". The default of such a model is "lsa:100".
    spam : str, default="spam"
        The name of the class of spam.
    tokens : TokenOptions
        The options of tokens.
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
        "Naive Bayes on the presence of tokens (`boolean`), with corrected weights (`corrected`), on token counts"
        " (`multinomial`), or on presence and absence (`bernoulli`); Gaussian classes of embedded messages"
        " (`gaussian`, `lda`, `qda`).",
        choices=MODELS,
    )
    # 0.1 makes fewer errors than 0.03 and 1, but on SMS 1 makes fewer: docs/experiments.md#smoothing
    alpha: float = setting(
        0.1, "Smoothing pseudo-count. Laplace's pseudo-count is 1.", above=0, most=MAX_SETTING, models=BAYES_MODELS
    )
    prior: str = setting(
        "mle",
        "Prior probability of a class: its share of the messages (`mle`; `map` is the same here), its share if"
        " each class had one more message (`dirichlet`), or the same for all classes (`uniform`). The prior changes the"
        " probability before calibration, and hardly the calibrated probability.",
        choices=PRIORS,
        models=(*BAYES_MODELS, *VECTOR_MODELS),
    )
    pooling: str = setting(
        "mean",
        "Score of a message: a weighted mean of the tokens' evidence, or the sum of naive Bayes.",
        choices=POOLINGS,
        models=COUNT_MODELS,
    )
    embedding: str | None = setting(
        None,
        "Dense vectors for `gaussian`, `lda` or `qda`: `lsa:100` or `vectors:FILE`.",
    )
    spam: str = setting("spam", "Name of the class of spam.")
    tokens: TokenOptions = field(default_factory=TokenOptions)
    loss: Loss = field(default_factory=Loss)

    def __post_init__(self) -> None:
        if not self.model_type:
            # A corrected model needs the mean, because the correction is fitted to the mean.
            object.__setattr__(self, "model_type", "boolean" if self.pooling == "sum" else "corrected")
        check_settings(self)
        check_type("tokens", self.tokens, TokenOptions, "TokenOptions(...)")
        check_type("loss", self.loss, Loss, "Loss(...)")
        if self.embedding is None and self.model_type in VECTOR_MODELS:
            object.__setattr__(self, "embedding", "lsa:100")
        elif self.embedding is not None and self.model_type not in VECTOR_MODELS:
            names = ", ".join(VECTOR_MODELS)
            raise SpamnbError(f"a {self.model_type} model counts words and has no embedding; {names} models have one")
        if self.pooling == "sum" and self.model_type == "corrected":
            raise SpamnbError("a corrected model needs pooling mean; for pooling sum use model_type boolean")

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
        """Return the values of all settings by name, including the fields of ``tokens`` and ``loss``.

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
            Whether the tokens of the model may be of another version.

        Returns
        -------
        Settings
            The settings.

        Raises
        ------
        SpamnbError
            If the tokens or the settings are of another version.

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
                f"{path}: its tokens are of version {str(version)[:20]}, but this spamnb has version {TOKENS_VERSION};"
                f" {UPGRADE}"
            )
        try:
            tokens = TokenOptions(**{name: meta["tokens"][name] for name in settings_in(TokenOptions)})
            loss = Loss(**{name: meta["loss"][name] for name in settings_in(Loss)})
            values = {name: meta[name] for name in settings_in(cls)}
            if not values["model_type"]:
                raise KeyError("model_type")
            return cls(**values, tokens=tokens, loss=loss)
        except (KeyError, TypeError, SpamnbError) as error:
            detail = f"no {error}" if isinstance(error, KeyError) else error
            raise SpamnbError(
                f"{path}: its settings do not fit this version of spamnb ({detail}); train again"
            ) from None


SETTINGS = {**settings_in(Settings), **settings_in(TokenOptions), **settings_in(Loss)}
