"""The settings of a model. The model file stores them, so that training and classification use the same settings.

A field of `Settings` has a `Setting`: a line of help, and the allowed values. The check of a value, the option
``--set`` and the table in docs/commands.md use it. Other modules read the fields alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from numbers import Integral, Real
from typing import Any, NamedTuple

from spamnb.errors import SpamnbError

TOKENS_VERSION = 23  # raise it when a message gets other tokens than before; a model stores the version

COUNT_MODELS = ("boolean", "multinomial", "bernoulli")
BAYES_MODELS = ("corrected", *COUNT_MODELS)
VECTOR_MODELS = ("gaussian", "lda", "qda")  # models of embedded messages
MODELS = (*BAYES_MODELS, *VECTOR_MODELS)
# λ, the cost of losing a good message; a spam that is let through costs 1.
STRICTNESS = {"normal": 9.0, "cautious": 99.0, "strict": 1.0}
# Pairs are made of the first words of a text. Pairs of all words would triple the vocabulary and gain little:
# docs/experiments.md#pairs-of-words. MAX_JOINED in core/words.c is the same number.
BIGRAM_WORDS = 75
MAX_SETTING = 1e9  # of alpha and unsure_cost: with larger values results are rounding errors

# Keys of the origin of a model: the time of training (ISO 8601), the absolute paths of the sources, the options of
# reading that are not the defaults, whether PDF attachments were read, and the command line. Classifying ignores them.
ORIGIN = ("trained_at", "trained_from", "read_options", "pdf_read", "command")

UPGRADE = "'spamnb upgrade' trains it again"

_BOOLEANS = {"true": True, "false": False}


class Setting(NamedTuple):
    """A setting: its default, a line of help, and its allowed values."""

    name: str
    default: Any
    help: str
    kind: Any  # str, Real, Integral, bool, or tuple (of texts)
    is_optional: bool = False  # whether None is allowed
    choices: Sequence[str] = ()
    above: float | None = None
    least: int | None = None
    most: float | None = None
    models: Sequence[str] = ()  # the model types that use the setting; () means all

    @property
    def values(self) -> str:
        """Return the allowed values in words.

        >>> Setting("n", None, "", Integral, True, least=1, most=75).values
        'a whole number, at least 1 and at most 75, or none'
        """
        if self.choices:
            words = ", ".join(self.choices[:-1]) + f" or {self.choices[-1]}"
        else:
            kinds = {str: "a text", Real: "a number", Integral: "a whole number", bool: "true or false"}
            words = kinds.get(self.kind, "names with commas between them")
        bounds = {"above": self.above, "at least": self.least, "at most": self.most}
        limits = " and ".join(f"{relation} {bound:g}" for relation, bound in bounds.items() if bound is not None)
        return words + (f", {limits}" if limits else "") + (", or none" if self.is_optional else "")

    @property
    def shown_default(self) -> str:
        """Return the default in the form that ``parse`` reads."""
        return self.format(self.choices[0] if self.default == "" else self.default)

    def format(self, value: Any) -> str:
        """Return a value in the form that ``parse`` reads.

        >>> names = Setting("names", (), "", tuple)
        >>> names.format(("path", "xref")), names.format(None)
        ('path,xref', 'none')
        """
        if value is None or isinstance(value, bool):
            return str(value).lower()
        return ",".join(value) if self.kind is tuple else str(value)

    def check(self, value: Any) -> None:
        """Raise SpamnbError if the value is not allowed.

        >>> Setting("pooling", "mean", "", str, choices=["mean", "sum"]).check("max")
        Traceback (most recent call last):
        ...
        spamnb.errors.SpamnbError: pooling is 'max': it must be mean or sum
        """
        if not ((value is None and self.is_optional) or self._is_value(value)):
            raise SpamnbError(f"{self.name} is {value!r:.60}: it must be {self.values}")

    def _is_value(self, value: Any) -> bool:
        if not isinstance(value, self.kind) or (isinstance(value, bool) and self.kind is not bool):
            return False
        if self.kind is tuple:
            return all(isinstance(text, str) for text in value)
        return (
            (not self.choices or value in self.choices)
            and (self.above is None or value > self.above)
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
        )

    def parse(self, text: str) -> Any:
        """Return the value that a text of the command line means. Raise SpamnbError if the value is not allowed.

        >>> n = Setting("n", None, "", Integral, True, least=1)
        >>> n.parse("2"), n.parse("none")
        (2, None)
        """
        value: Any = text
        if self.is_optional and text == "none":
            return None
        if self.kind is tuple:
            value = tuple(filter(None, text.split(",")))
        elif self.kind is bool:
            value = _BOOLEANS.get(text, text)
        elif self.kind in (Integral, Real):
            try:
                value = int(text) if self.kind is Integral else float(text)
            except ValueError:
                value = text
        self.check(value)
        return value


def _setting(kind: Any, default: Any, help: str, **attributes: Any) -> Any:
    """Return a dataclass field for a `Setting` with these attributes."""
    return field(default=default, metadata={"help": help, "kind": kind, **attributes})


@dataclass(frozen=True)
class Settings:
    """The settings of a model: its type and parameters, how messages become tokens, and what errors cost.

    Parameters
    ----------
    model_type : str
        One of "corrected", "boolean", "multinomial", "bernoulli", "gaussian", "lda" and "qda". The default is
        "corrected", or "boolean" if ``pooling`` is "sum".
    alpha : float, default=0.1
        The smoothing pseudo-count. Laplace's pseudo-count is 1.
    pooling : str, default="mean"
        The score of a message: "mean" is a weighted mean of the tokens' evidence, "sum" is the sum of naive Bayes.
    embedding : str or None
        Dense vectors of a Gaussian model: "lsa:N" or "vectors:FILE". The default of such a model is "lsa:100".
    spam : str, default="spam"
        The name of the class of spam.
    tokenizer : str, default="own"
        "own" for the rules of spamnb; "tweet" or "treebank" for a tokenizer of nltk.
    stem : str or None
        A language of nltk's Snowball stemmers, such as "english".
    ngrams : int, default=2
        The longest run of words that is one token, among the first 75 words of a text.
    body_only : bool, default=False
        Whether only the text of the body is read, without headers, links and parts.
    ignore_headers : sequence of str
        Names of header fields that are skipped.
    strictness : str, default="normal"
        The cost of good mail with the verdict spam: 9 ("normal"), 99 ("cautious") or 1 ("strict").
    unsure_cost : float or None
        The cost of the verdict unsure. With None no message is unsure.
    starter : bool, default=True
        Whether a model with few messages of ham and spam adds to the starter, a small model of public mail.

    Raises
    ------
    SpamnbError
        If a setting has a value that is not allowed, or two settings exclude each other.

    Examples
    --------
    >>> Settings().model_type, Settings(pooling="sum").model_type
    ('corrected', 'boolean')
    >>> Settings(ngrams=1, ignore_headers=("List-Id",)).ignore_headers
    ('list-id',)
    >>> Settings(alpha=0)
    Traceback (most recent call last):
    ...
    spamnb.errors.SpamnbError: alpha is 0: it must be a number, above 0 and at most 1e+09
    """

    model_type: str = _setting(
        str,
        "",  # __post_init__ replaces it
        "Naive Bayes on the presence of tokens (`boolean`), with corrected weights (`corrected`), on token counts"
        " (`multinomial`), or on presence and absence (`bernoulli`); Gaussian classes of embedded messages"
        " (`gaussian`, `lda`, `qda`).",
        choices=MODELS,
    )
    # 0.1 makes fewer errors than 0.03 and 1, but on SMS 1 makes fewer: docs/experiments.md#smoothing
    alpha: float = _setting(
        Real, 0.1, "Smoothing pseudo-count. Laplace's pseudo-count is 1.", above=0, most=MAX_SETTING,
        models=BAYES_MODELS,
    )  # fmt: skip
    pooling: str = _setting(
        str,
        "mean",
        "Score of a message: a weighted mean of the tokens' evidence, or the sum of naive Bayes.",
        choices=("mean", "sum"),
        models=COUNT_MODELS,
    )
    embedding: str | None = _setting(
        str, None, "Dense vectors for `gaussian`, `lda` or `qda`: `lsa:100` or `vectors:FILE`.", is_optional=True
    )
    spam: str = _setting(str, "spam", "Name of the class of spam.")
    tokenizer: str = _setting(
        str,
        "own",
        "The rules that divide text into words: spamnb's own, or a tokenizer of nltk.",
        choices=("own", "tweet", "treebank"),
    )
    stem: str | None = _setting(
        str, None, "Words are stemmed by nltk's Snowball stemmer for a language, such as `english`.", is_optional=True
    )
    ngrams: int = _setting(
        Integral,
        2,
        f"Longest run of words that is one token, among the first {BIGRAM_WORDS} words of a text.",
        least=1,
        most=BIGRAM_WORDS,
    )
    body_only: bool = _setting(bool, False, "Read the text of the body alone: no headers, links or parts.")
    ignore_headers: tuple[str, ...] = _setting(
        tuple,
        ("newsgroups", "xref", "path"),
        "Header fields that are not read. The default ones name a newsgroup.",
    )
    strictness: str = _setting(
        str,
        "normal",
        "What is called spam: with two classes mail whose probability of spam is above 90 % (`normal`), 99 %"
        " (`cautious`) or 50 % (`strict`).",
        choices=tuple(STRICTNESS),
    )
    unsure_cost: float | None = _setting(
        Real,
        None,
        "Cost of the verdict `unsure`, where a spam let through costs 1; with none a message is `unsure` only if the"
        " model knows too little of it.",
        is_optional=True,
        above=0,
        most=MAX_SETTING,
    )

    starter: bool = _setting(
        bool,
        True,
        "Whether a model with few messages of ham and spam adds to the starter, a small model of public mail.",
        models=("corrected",),
    )

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        names = self.ignore_headers
        if isinstance(names, str):
            names = tuple(filter(None, names.split(",")))
        put("ignore_headers", tuple(names) if isinstance(names, Iterable) else names)
        if not self.model_type:
            # A corrected model needs the mean, because the correction is fitted to the mean.
            put("model_type", "boolean" if self.pooling == "sum" else "corrected")
        for name, setting in SETTINGS.items():
            value = getattr(self, name)
            if getattr(value, "shape", None) == ():  # a number of numpy, which JSON does not have
                put(name, value := value.item())
            setting.check(value)
        for name in self.ignore_headers:
            if ":" in name or " " in name:
                raise SpamnbError(f"ignore_headers has {name!r}: a header's name has neither colon nor space")
        put("ignore_headers", tuple(name.lower() for name in self.ignore_headers))
        if self.embedding is None and self.model_type in VECTOR_MODELS:
            put("embedding", "lsa:100")
        elif self.embedding is not None and self.model_type not in VECTOR_MODELS:
            types = ", ".join(VECTOR_MODELS)
            raise SpamnbError(f"a {self.model_type} model counts words and has no embedding; {types} models have one")
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

    def to_dict(self) -> dict[str, Any]:
        """Return the values of all settings by name.

        Returns
        -------
        dict of str to object
            The values.

        Examples
        --------
        >>> Settings().to_dict()["ngrams"]
        2
        """
        return asdict(self)

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
            # Older files have settings in two dictionaries, and a setting ``prior``, which is ignored.
            values = {"starter": True, **meta, **meta.get("tokens", {}), **meta.get("loss", {})}
            if not values["model_type"]:
                raise KeyError("model_type")
            return cls(**{name: values[name] for name in SETTINGS})
        except (KeyError, TypeError, SpamnbError) as error:
            detail = f"no {error}" if isinstance(error, KeyError) else error
            raise SpamnbError(
                f"{path}: its settings do not fit this version of spamnb ({detail}); train again"
            ) from None


SETTINGS = {each.name: Setting(each.name, each.default, **each.metadata) for each in fields(Settings)}
MODEL_SETTINGS = tuple(name for name in SETTINGS if name != "starter")  # of a model of its own messages
TOKEN_SETTINGS = ("tokenizer", "stem", "ngrams", "body_only", "ignore_headers")  # how messages become tokens
COST_SETTINGS = ("strictness", "unsure_cost")  # what errors cost: they change without another training


def origin(meta: Mapping[str, Any]) -> dict[str, Any]:
    """Return the origin of a model: the items of ``meta`` whose keys are in ORIGIN."""
    return {key: meta[key] for key in ORIGIN if key in meta}
