"""What spammers do to slip past: variants of real spam, and how much of each gets through.

Trained on 1,000 messages of the SpamAssassin corpus; 100 other spams, of whose header only From, To and Subject are
left, are disguised in the ways below and compared with 1,000 other good messages. The measure is 1-ROCA%: how many of
the 100,000 pairs of a good message and a spam have the good one at the higher score. (The share missed at a threshold
is no measure here: the threshold of 0.5 % lost hangs on one message of 400.) The names of the cases say what was
measured, and in brackets what it would be were the disguise not seen through.
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
from spamnb.reader.message import Reader, parse
from spamnb.reader.vocabulary import Vocabulary
from spamnb.sources.entries import messages
from spamnb.sources.spec import entries

pytestmark = pytest.mark.slow

N_HAM = 1000
KEPT = re.compile(rb"(?im)^(?:from|to|subject):[^\n]*\n(?:[ \t][^\n]*\n)*")
LOOK_ALIKE = str.maketrans("aeopcxi", "аеорсхі")


class Filter(NamedTuple):
    vocabulary: Vocabulary
    table: np.ndarray  # (2, V) log p(token | ham, spam)
    groups: np.ndarray  # (V,)
    ham_scores: np.ndarray  # ascending

    def scores(self, raws: list[bytes]) -> np.ndarray:
        rows = Reader().read(raws, self.vocabulary).rows
        found = []
        for begin, end in zip(rows.indptr[:-1], rows.indptr[1:]):
            ids = rows.ids[begin:end]
            known = np.sort(ids[ids < self.table.shape[1]])  # tokens that only these have are numbered behind
            here = self.table[:, known]
            row = here, np.ones(len(known)), np.array([0, len(known)]), np.zeros(2), self.groups[known]
            scores = pool(*row, pooling="mean")[0][0]
            found.append(float(scores[1] - scores[0]))
        return np.array(found)

    def misplaced(self, spam: list[bytes]) -> float:
        """1-ROCA%: the percentage of pairs in which a good message has the higher score; of equal scores, half."""
        scores = self.scores(spam)
        below = np.searchsorted(self.ham_scores, scores, "left") + np.searchsorted(self.ham_scores, scores, "right")
        return 100 - 50 * float(below.mean()) / len(self.ham_scores)


class Mail(NamedTuple):
    spam: list[bytes]
    ham_text: list[str]
    filter: Filter


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
    learned, rest = read[:1000], read[1000:]
    ham = [raw for label, raw, _ in rest if label == "ham"][:N_HAM]
    vocabulary = Vocabulary()
    rows = Reader().read([raw for _, raw, _ in learned], vocabulary).rows
    X = rows.matrix(len(vocabulary))
    X.data = np.ones(len(X.data))
    is_spam = np.array([label == "spam" for label, *_ in learned])
    sums = np.stack([np.asarray(X[~is_spam].sum(axis=0)).ravel(), np.asarray(X[is_spam].sum(axis=0)).ravel()])
    table = token_log_probability(sums, sums.sum(axis=1), 0.1 * sums.shape[1], 0.1)
    filter_ = Filter(vocabulary, table, vocabulary.tokens().groups, np.empty(0))
    filter_ = filter_._replace(ham_scores=np.sort(filter_.scores(ham)))
    spam = [raw for label, raw, _ in rest if label == "spam" and len(visible(raw)) > 200][:100]
    texts = ["\n".join(message.texts) for message in map(parse, ham) if message.texts]
    return Mail(spam, texts, filter_)


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


def beside(raw: bytes, text: str, style: str = "") -> bytes:
    return page(raw, f"<p>{html.escape(visible(raw))}</p><div style='{style}'>{html.escape(text)}</div>")


def good_mail(ham: list[str], rng: random.Random) -> str:
    return "\n".join(rng.sample(ham, 10))[:8_000]


Attack = Callable[[bytes, list[str], random.Random], bytes]
ATTACKS: dict[str, Attack] = {
    "undisguised": lambda raw, ham, rng: plain(raw, visible(raw)),
    "split_by_tags": lambda raw, ham, rng: split(raw, "<b></b>"),
    "look_alike": lambda raw, ham, rng: plain(raw, visible(raw).translate(LOOK_ALIKE)),
    "hidden": lambda raw, ham, rng: beside(raw, good_mail(ham, rng), "display:none"),
    "attached": parts,
    "odd_base64": base64_lines,
    "good_words": lambda raw, ham, rng: under(raw, f"\n\n{words_of(rng.sample(ham, 20), rng)}"),
    "novel": lambda raw, ham, rng: under(raw, "\n" * 50 + "\n".join(rng.sample(ham, 20))[:20_000]),
}
# What a filter would read that does not see through them.
NAIVE: dict[str, Attack] = {
    "split_by_tags": lambda raw, ham, rng: split(raw, " "),
    "hidden": lambda raw, ham, rng: beside(raw, good_mail(ham, rng)),
}


def disguised(mail: Mail, attack: str, attacks: dict[str, Attack] = ATTACKS) -> list[bytes]:
    rng = random.Random(attack)
    return [attacks[attack](raw, mail.ham_text, rng) for raw in mail.spam]


# At most so much 1-ROCA%, about half as much again as was measured.
@pytest.mark.parametrize(
    ("attack", "at_most"),
    [
        pytest.param("undisguised", 0.2, id="undisguised: .14"),
        pytest.param("split_by_tags", 0.13, id="words split by empty tags: .09 [.24]"),
        pytest.param("look_alike", 0.25, id="look-alike letters of other scripts: .18"),
        pytest.param("hidden", 0.1, id="good mail in hidden text: .05 [2.8]"),
        pytest.param("attached", 0.06, id="text in an attachment only: .03"),
        pytest.param("odd_base64", 0.1, id="base64 with stray characters: .07"),
        pytest.param("good_words", 1.2, id="150 words of good mail under the spam: .86"),
        pytest.param("novel", 6.5, id="20 kB of good mail under the spam: 4.8"),
    ],
)
def test_spam_in_disguise(mail: Mail, attack: str, at_most: float) -> None:
    misplaced = mail.filter.misplaced(disguised(mail, attack))
    assert misplaced <= at_most
    if attack in NAIVE:
        assert mail.filter.misplaced(disguised(mail, attack, NAIVE)) > 1.5 * misplaced
