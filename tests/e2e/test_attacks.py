"""What spammers do to slip past: variants of real spam, and how much of each gets through.

Trained on 1,000 messages of the SpamAssassin corpus; 100 other spams, of whose header only From, To and Subject are
left, are disguised in the ways below and compared with 1,000 other good messages. The measure is 1-ROCA%: how many of
the 100,000 pairs of a good message and a spam have the good one at the higher score. (The share missed at a threshold
is no measure here: the threshold of 0.5 % lost hangs on one message of 400.) The names of the cases say what was
measured, and in brackets what it is without what is done about it.
"""

import base64
import hashlib
import html
import random
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from spamnb.formulas.naive_bayes import token_log_probability
from spamnb.formulas.pooling import pool
from spamnb.message.parse import Message, parse
from spamnb.sources.entries import messages
from spamnb.sources.spec import entries
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import document_term_matrix
from spamnb.tokens.vocabulary import Vocabulary

pytestmark = pytest.mark.slow

N_HAM = 1000
KEPT = re.compile(rb"(?im)^(?:from|to|subject):[^\n]*\n(?:[ \t][^\n]*\n)*")
LOOK_ALIKE = str.maketrans("aeopcxi", "аеорсхі")
PICTURE = "<a href='http://offer.example/'><img src='http://pictures.example/1.gif'></a>"


class Filter(NamedTuple):
    vocabulary: Vocabulary
    table: np.ndarray  # (2, V) log p(token | ham, spam)
    groups: np.ndarray  # (V,)
    ham_scores: np.ndarray  # ascending
    tokenizer: Tokenizer

    def score(self, message: Message) -> float:
        ids = self.vocabulary.ids(set(self.tokenizer(message)))
        known = np.unique(ids[ids < self.table.shape[1]])  # tokens that only the message has are numbered behind
        here = self.table[:, known]
        rows = here, np.ones(len(known)), np.array([0, len(known)]), np.zeros(2), self.groups[known]
        s = pool(*rows, pooling="mean")[0][0]
        return float(s[1] - s[0])

    def misplaced(self, spam: list[Message]) -> float:
        """1-ROCA%: the percentage of pairs in which a good message has the higher score; of equal scores, half."""
        scores = [self.score(message) for message in spam]
        below = np.searchsorted(self.ham_scores, scores, "left") + np.searchsorted(self.ham_scores, scores, "right")
        return 100 - 50 * float(below.mean()) / len(self.ham_scores)


class Mail(NamedTuple):
    spam: list[bytes]
    ham_text: list[str]
    filter: Filter


TOKENIZER = Tokenizer()


@pytest.fixture(scope="module")
def mail(corpora: Path) -> Mail:
    folder = corpora / "spamassassin"
    specs = [f"ham={folder / part}" for part in ("easy_ham", "easy_ham_2", "hard_ham")]
    specs += [f"spam={folder / part}" for part in ("spam", "spam_2")]
    read = [
        (entry.label, raw, hashlib.md5(Path(entry.name).name.encode()).digest())
        for entry, raw in messages(entries(specs, pytest.fail), pytest.fail)
    ]
    read.sort(key=lambda one: one[2])
    train = [(label, parse(raw)) for label, raw, _ in read[:1000]]
    rest = read[1000:]
    ham = [parse(raw) for label, raw, _ in rest if label == "ham"][:N_HAM]
    vocabulary = Vocabulary()
    X = document_term_matrix((TOKENIZER(message) for _, message in train), vocabulary)
    X.data[:] = 1
    y = np.array([label == "spam" for label, _ in train])
    sums = np.stack([np.asarray(X[~y].sum(axis=0)).ravel(), np.asarray(X[y].sum(axis=0)).ravel()])
    table = token_log_probability(sums, sums.sum(axis=1), 0.1 * sums.shape[1], 0.1)
    filter_ = Filter(vocabulary, table, vocabulary.tokens().groups, np.empty(0), TOKENIZER)
    filter_ = filter_._replace(ham_scores=np.sort([filter_.score(message) for message in ham]))
    spam = [raw for label, raw, _ in rest if label == "spam" and len(visible(raw)) > 200][:100]
    return Mail(spam, ["\n".join(message.texts) for message in ham if message.texts], filter_)


def visible(raw: bytes) -> str:
    return "\n".join(parse(raw).texts)


def with_body(raw: bytes, content_type: str, body: bytes, encoding: str = "8bit") -> bytes:
    head = raw.replace(b"\r\n", b"\n").partition(b"\n\n")[0] + b"\n"
    fields = f"Content-Type: {content_type}\nContent-Transfer-Encoding: {encoding}\n\n"
    return b"".join(KEPT.findall(head)) + fields.encode() + body


def plain(raw: bytes, text: str) -> bytes:
    return with_body(raw, "text/plain; charset=utf-8", text.encode())


def page(raw: bytes, inner: str) -> bytes:
    return with_body(raw, "text/html; charset=utf-8", f"<html><body>{inner}</body></html>".encode())


def inside_words(text: str, filler: str) -> str:
    """``text`` with ``filler`` in the middle of every word of four letters or more."""
    return re.sub(r"\b(\w\w)(\w\w+)\b", lambda found: found[1] + filler + found[2], text)


def parts(raw: bytes, ham: list[str], rng: random.Random) -> bytes:
    body = "--b\nContent-Type: text/plain\n\n\n--b\nContent-Type: text/html; charset=utf-8; name=offer.html\n"
    body += f"Content-Disposition: attachment; filename=offer.html\n\n<p>{html.escape(visible(raw))}</p>\n--b--\n"
    return with_body(raw, "multipart/mixed; boundary=b", body.encode())


def base64_lines(raw: bytes, ham: list[str], rng: random.Random) -> bytes:
    coded = base64.encodebytes(visible(raw).encode()).replace(b"\n", b"\n !\n")
    return with_body(raw, "text/plain; charset=utf-8", b"\n\n" + coded + b"\n====\n", " BASE64 ")


def split(raw: bytes, filler: str) -> bytes:
    return page(raw, inside_words(html.escape(visible(raw), quote=False), filler))


def under(raw: bytes, text: str) -> bytes:
    return plain(raw, visible(raw) + text)


def words_of(texts: list[str], rng: random.Random) -> str:
    return " ".join(rng.sample(" ".join(texts).split(), 150))


def beside_hidden(raw: bytes, text: str) -> bytes:
    return page(raw, f"<p>{html.escape(visible(raw))}</p><div style='display:none'>{html.escape(text)}</div>")


Attack = Callable[[bytes, list[str], random.Random], bytes]
ATTACKS: dict[str, Attack] = {
    "undisguised": lambda raw, ham, rng: plain(raw, visible(raw)),
    "split_by_tags": lambda raw, ham, rng: split(raw, "<b></b>"),
    "split_by_comments": lambda raw, ham, rng: split(raw, f"<!--{rng.randrange(10**6)}-->"),
    "zero_width": lambda raw, ham, rng: plain(raw, inside_words(visible(raw), "\u200b")),
    "look_alike": lambda raw, ham, rng: plain(raw, visible(raw).translate(LOOK_ALIKE)),
    "hidden": lambda raw, ham, rng: beside_hidden(raw, "\n".join(rng.sample(ham, 10))[:8_000]),
    "attached": parts,
    "image_only": lambda raw, ham, rng: page(raw, PICTURE),
    "odd_base64": base64_lines,
    "giant_token": lambda raw, ham, rng: under(raw, "\n" + "".join(rng.choices("abcdefgh", k=300_000))),
    "good_words": lambda raw, ham, rng: under(raw, "\n\n" + words_of(rng.sample(ham, 20), rng)),
    "novel": lambda raw, ham, rng: under(raw, "\n" * 50 + "\n".join(rng.sample(ham, 20))[:20_000]),
}
Naive = Callable[[Message], Message]


def disguised(mail: Mail, attack: str) -> list[Message]:
    rng = random.Random(attack)
    return [parse(ATTACKS[attack](raw, mail.ham_text, rng)) for raw in mail.spam]


def seen_by_all(message: Message) -> Message:
    facts = tuple(fact for fact in message.html if fact != "hidden")
    return message._replace(texts=(*message.texts, message.hidden), hidden="", html=facts)


def left_split(message: Message) -> Message:
    facts = tuple(fact for fact in message.html if not fact.endswith("-split"))
    return message._replace(texts=tuple(inside_words(text, " ") for text in message.texts), html=facts)


def width_as_space(message: Message) -> Message:
    return message._replace(texts=tuple(text.replace("\u200b", " ") for text in message.texts))


# At most so much 1-ROCA%, about half as much again as was measured; and what is done about it, undone.
@pytest.mark.parametrize(
    ("attack", "at_most", "naive"),
    [
        pytest.param("undisguised", 0.2, None, id="undisguised: .14"),
        pytest.param("split_by_tags", 0.13, left_split, id="words split by empty tags: .08 [.22]"),
        pytest.param("split_by_comments", 0.1, left_split, id="words split by comments: .06 [.24]"),
        pytest.param("zero_width", 0.2, width_as_space, id="words split by zero-width characters: .14 [.36]"),
        pytest.param("hidden", 0.1, seen_by_all, id="good mail in hidden text: .05 [3.9]"),
        pytest.param("attached", 0.06, None, id="text in an attachment only: .03"),
        pytest.param("image_only", 0.16, None, id="a linked picture only: .11"),
        pytest.param("odd_base64", 0.1, None, id="base64 with stray characters: .07"),
        pytest.param("giant_token", 0.2, None, id="one giant token: .13"),
        pytest.param("good_words", 1.2, None, id="150 words of good mail under the spam: .83"),
    ],
)
def test_spam_in_disguise(mail: Mail, attack: str, at_most: float, naive: Naive | None) -> None:
    spam = disguised(mail, attack)
    misplaced = mail.filter.misplaced(spam)
    assert misplaced <= at_most
    if naive is not None:
        assert mail.filter.misplaced([naive(message) for message in spam]) > 1.5 * misplaced


def test_look_alike_letters_are_read_as_latin(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    """.18 [.31]."""
    spam = disguised(mail, "look_alike")
    misplaced = mail.filter.misplaced(spam)
    monkeypatch.setattr("spamnb.tokens.words._LOOK_ALIKE", {})
    unfolded = mail.filter._replace(tokenizer=Tokenizer()).misplaced(spam)
    assert misplaced <= 0.25
    assert unfolded > misplaced


def test_a_novel_under_the_spam_is_not_read_to_its_end(mail: Mail, monkeypatch: pytest.MonkeyPatch) -> None:
    """20 kB of good mail under the spam: 4.8 [8.4]; were 2,000 words read 6.7, 500 3.6."""
    spam = disguised(mail, "novel")
    misplaced = mail.filter.misplaced(spam)
    assert misplaced <= 6.5
    monkeypatch.setattr("spamnb.tokens.token_sink.MAX_WORDS", 10**9)
    assert mail.filter.misplaced(spam) > misplaced
