"""How messages become tokens. A model stores the options that it was trained with."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from spamnb.errors import SpamnbError
from spamnb.setting_fields import check_settings, setting

TOKENS_VERSION = 13  # raise it when a message gets other tokens than before; a model stores the version

TOKENIZERS = ("own", "tweet", "treebank")
# Pairs are made of the first words of a text. Pairs of all words would triple the vocabulary and gain little:
# docs/experiments.md#pairs-of-words. MAX_JOINED in core/words.c is the same number.
BIGRAM_WORDS = 75


@dataclass(frozen=True, slots=True)
class TokenOptions:
    """Options of tokens. The model stores them, so that training and classification use the same ones.

    Parameters
    ----------
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

    Raises
    ------
    SpamnbError
        If a value is not allowed, such as an unknown tokenizer.

    Examples
    --------
    >>> TokenOptions(ngrams=1, ignore_headers=("List-Id",)).ignore_headers
    ('list-id',)
    """

    tokenizer: str = setting(
        "own", "The rules that divide text into words: spamnb's own, or a tokenizer of nltk.", choices=TOKENIZERS
    )
    stem: str | None = setting(None, "Words are stemmed by nltk's Snowball stemmer for a language, such as `english`.")
    ngrams: int = setting(
        2,
        f"Longest run of words that is one token, among the first {BIGRAM_WORDS} words of a text.",
        least=1,
        most=BIGRAM_WORDS,
    )
    body_only: bool = setting(False, "Read the text of the body alone: no headers, links or parts.")
    ignore_headers: tuple[str, ...] = setting(
        ("newsgroups", "xref", "path"), "Header fields that are not read. The default ones name a newsgroup."
    )

    def __post_init__(self) -> None:
        names = self.ignore_headers
        if isinstance(names, str):
            names = tuple(filter(None, names.split(",")))
        names = tuple(names) if isinstance(names, Iterable) else names
        object.__setattr__(self, "ignore_headers", names)
        check_settings(self)
        for name in names:
            if ":" in name or " " in name:
                raise SpamnbError(f"ignore_headers has {name!r}: a header's name has neither colon nor space")
        object.__setattr__(self, "ignore_headers", tuple(name.lower() for name in names))
