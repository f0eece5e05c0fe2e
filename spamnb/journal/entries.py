"""One verdict as the journal keeps it: what a person knows the message by, why it was judged so, and its tokens."""

from __future__ import annotations

import json
import math
import time
import zlib
from collections.abc import Sequence
from dataclasses import asdict
from functools import lru_cache
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from spamnb.classification import SPAM_POINTS, Classification
from spamnb.errors import Damaged
from spamnb.formulas.decision import UNSURE
from spamnb.reader.message import parse_date
from spamnb.reader.options import TOKENS_VERSION
from spamnb.reader.read_message import ReadMessage
from spamnb.settings import Settings
from spamnb.store.database import sql_text

MAX_FIELD = 200  # characters of a sender, a subject, a Message-ID: their writer may have sent a megabyte
INBOX, JUNK, OTHER = "inbox", "junk", "other"  # what a folder is for
MAX_PLACE = 4096  # bytes of a path, as Linux has it
MAX_EVIDENCE = 20  # tokens that decided
MAX_TOKEN = 80  # characters of such a token
MAX_TOKENS = 5_000  # of a message that is kept with its tokens: others can be taught by the mail alone
MAX_UNPACKED = 2_000_000  # bytes of tokens: 5,000 of the longest there are
LEVEL = 1  # of zlib: docs/experiments.md#the-journal
DOUBTFUL = 2.5  # points above the threshold up to which spam is doubtful: a probability of .96 by default costs


class Place(NamedTuple):
    """Where a message lies, for those who read or move it; all empty where nobody knows.

    - ``place``: its path; in an account its folder's URL
    - ``mailbox``: the path of the Maildir, or the URL of the account
    - ``folder``: the folder's name for people; ``role``: INBOX, JUNK or OTHER
    - ``junk``: the mailbox's folder of spam, as a person named it; empty for the usual one
    """

    place: str = ""
    mailbox: str = ""
    folder: str = ""
    role: str = ""
    junk: str = ""


NOWHERE = Place()


class Verdict(NamedTuple):
    """A verdict.

    - ``at``: when it was judged, in seconds since 1970, UTC; ``user``: whose mail it is, or empty
    - ``sent``: the mail's own date, in the same seconds; 0 where it has none
    - ``points``: spam from 5 on; ``log_odds`` of spam: calibrated, in nats
    - ``evidence``: the heaviest tokens with their nats, positive towards spam
    - ``place`` to ``junk``: a `Place`
    - ``made_by``: which tokens a message has: see `token_rules`
    - ``tokens``: what `pack_tokens` makes of them; empty where there are too many, and in what the journal lists
    - ``position``: where the journal has it
    """

    at: int
    user: str
    digest: bytes
    message_id: str
    sender: str
    subject: str
    sent: int
    place: str
    mailbox: str
    folder: str
    role: str
    junk: str
    verdict: str
    points: float
    log_odds: float
    evidence: str
    made_by: str
    tokens: bytes = b""
    position: int = -1

    @property
    def doubt(self) -> float:
        """Points between the verdict and another; the fewer the more doubtful."""
        return 0.0 if self.verdict == UNSURE else round(abs(self.points - SPAM_POINTS), 1)

    @property
    def doubtful(self) -> bool:
        """Whether the filter was unsure: a verdict of that name, even odds or more, and spam that only just is some."""
        return self.verdict == UNSURE or 0 <= self.points < SPAM_POINTS + DOUBTFUL

    @property
    def called(self) -> str:
        """The verdict in a word: "spam", "good", or "unsure" for what was let through though it is rather spam."""
        return "spam" if self.verdict == "spam" else "unsure" if self.doubtful else "good"

    @property
    def probability(self) -> float:
        """Of spam."""
        return 1 / (1 + math.exp(-max(-700.0, min(700.0, self.log_odds))))

    def lying(self, place: Place) -> Verdict:
        """The same of a message that lies there; of one that nobody finds again where its place is far too long."""
        found = Place(*map(sql_text, place)) if max(map(len, place)) <= MAX_PLACE else NOWHERE
        return self._replace(**found._asdict())

    def heaviest(self, most: int = MAX_EVIDENCE) -> list[tuple[str, float]]:
        """The tokens that decided, heaviest first. Damaged where the file holds something else."""
        try:
            found = json.loads(self.evidence)
            return [(str(token), float(weight)) for token, weight in found[:most]]
        except (ValueError, TypeError):
            raise Damaged("evidence in table verdicts") from None


def entry_of(message: ReadMessage, classification: Classification, settings: Settings, *, user: str = "") -> Verdict:
    """What is kept of a message that was judged just now by a model of these settings, wherever it lies."""
    evidence = [(token[:MAX_TOKEN], round(weight, 4)) for token, weight in classification.reasons[:MAX_EVIDENCE]]
    return Verdict(
        int(time.time()),
        field_text(user),
        message.digest,
        field_text(message.header("message-id")),
        field_text(message.header("from")),
        field_text(message.header("subject")),
        parse_date(message.header("date")[:MAX_FIELD]) or 0,
        **NOWHERE._asdict(),
        verdict=classification.mail_verdict,
        points=classification.points,
        log_odds=classification.log_odds,
        evidence=json.dumps(evidence),
        made_by=token_rules(settings),
        tokens=pack_tokens(message.tokens, message.occurrences),
    )


def note_of(entry: Verdict) -> str:
    """A verdict as text, without the digest and the tokens."""
    return json.dumps({name: value for name, value in entry._asdict().items() if not isinstance(value, bytes)})


def entry_of_note(note: str, digest: bytes) -> Verdict:
    """The verdict of `note_of`, of a message that is taught by its mail alone."""
    return Verdict(digest=digest, **json.loads(note))


@lru_cache(64)
def token_rules(settings: Settings) -> str:
    """What stands for how a model makes tokens of mail: models that differ in it cannot learn each other's.

    >>> token_rules(Settings()) == token_rules(Settings(alpha=2)), len(token_rules(Settings()))
    (True, 16)
    """
    rules = json.dumps([TOKENS_VERSION, asdict(settings.tokens)], sort_keys=True)
    return blake2b(rules.encode(), digest_size=8).hexdigest()


def pack_tokens(tokens: Sequence[str], occurrences: np.ndarray) -> bytes:
    """Tokens with their occurrences (k,), compressed; empty where there are too many of them.

    >>> unpack_tokens(pack_tokens(["tea", "café"], np.array([2, 1])))
    {'tea': 2, 'café': 1}
    """
    joined = "\0".join(tokens).encode("utf-8", "surrogatepass")
    number = len(occurrences)
    if number > MAX_TOKENS or joined.count(b"\0") + 1 != number:
        return b""
    return zlib.compress(number.to_bytes(4, "little") + occurrences.astype("<u4").tobytes() + joined, LEVEL)


def unpack_tokens(packed: bytes) -> dict[str, int]:
    """The tokens of `pack_tokens`. Damaged where they are none."""
    reader = zlib.decompressobj()
    try:
        plain = reader.decompress(packed, MAX_UNPACKED)
        number = int(np.frombuffer(plain, "<u4", 1)[0])
        occurrences = np.frombuffer(plain, "<u4", number, 4).tolist()
        tokens = plain[4 + 4 * number :].decode("utf-8", "surrogatepass").split("\0")
    except (zlib.error, ValueError):
        raise Damaged("tokens in table tokens") from None
    if not reader.eof or len(set(tokens)) != number or not all(occurrences):
        raise Damaged("tokens in table tokens")
    return dict(zip(tokens, occurrences))


def field_text(value: str) -> str:
    """The beginning of a header field, in one line, as SQLite takes it."""
    return sql_text(" ".join(value[: 4 * MAX_FIELD].split())[:MAX_FIELD])
