"""groups.py, and its compiled double."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from uncompiled import uncompiled

from spamnb.message.parse import parse
from spamnb.sources.spec import entries
from spamnb.tokens.groups import HEADERS, PAIRS, PREFIX_GROUPS, STRUCTURE, SUBJECT, TEXT
from spamnb.tokens.token_array import TokenArray
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vocabulary import Vocabulary

with uncompiled("spamnb.tokens.groups", "spamnb.tokens.vocabulary") as found:
    source, source_vocabulary = found

SOME = ["", ":", "::", ":)", "a:", "A:b", "[:", "@:", "10:30", "\xe9:x", "p", "p:!", "p::", "html:", "htm:l", "htmlx:y"]

PREFIXED = st.builds("{}:{}".format, st.sampled_from([*PREFIX_GROUPS]), st.text())
TOKEN = st.text() | st.sampled_from([*PREFIX_GROUPS, *SOME]) | PREFIXED


@pytest.mark.parametrize(
    ("tokens", "expected"),
    [
        (["offer", "$5!", "#$0!", "long:15", "10:30", ":-)"], TEXT),
        (["click here", "subject: offer"], PAIRS),
        (["subject:offer", "subject:p:!", "subject:length:3"], SUBJECT),
        (["from:example.org", "header:x-mailer", "received:mail", "X-Odd:word", "attachments:no"], HEADERS),
        (["url:example.org", "html:tag:font", "hidden:word", "attachment:exe", "p:!", "caps:4", "line:3"], STRUCTURE),
    ],
)
def test_the_group_of_a_token(tokens: list[str], expected: int) -> None:
    assert TokenArray.of(tokens).groups.tolist() == [expected] * len(tokens)


@given(st.lists(TOKEN))
@example([*PREFIX_GROUPS, *(prefix + ":x" for prefix in PREFIX_GROUPS), *SOME])
def test_everybody_sees_the_same(tokens: list[str]) -> None:
    expected = list(map(group_of, tokens))
    packed = TokenArray.of(tokens)
    assert packed.groups.tolist() == expected
    assert source.token_groups(packed.text, packed.offsets, packed.lengths).tolist() == expected
    for vocabulary in (Vocabulary(), source_vocabulary.Vocabulary()):
        assert vocabulary.groups(vocabulary.ids(tokens)).tolist() == expected


def group_of(token: str) -> int:
    """The group of a token, read off the string."""
    prefix, colon, _ = token.partition(":")
    if " " in token:
        return PAIRS
    return PREFIX_GROUPS.get(prefix, HEADERS) if colon and prefix[:1].isascii() and prefix[:1].isalpha() else TEXT


def test_of_real_mail(corpora: Path) -> None:
    tokenizer, tokens = Tokenizer(), set[str]()
    for entry in entries([f"mail={corpora / 'spamassassin' / 'spam'}"], pytest.fail):
        tokens |= set(tokenizer(parse(entry.read())))
    packed = TokenArray.of(sorted(tokens))
    assert packed.groups.tolist() == list(map(group_of, packed))
    assert set(np.unique(packed.groups)) == {TEXT, PAIRS, SUBJECT, HEADERS, STRUCTURE}
