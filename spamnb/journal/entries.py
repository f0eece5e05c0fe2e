"""An entry of the journal: a verdict with header fields of its message, the evidence, and the message's tokens.

The module `journal` reads and writes the file.
"""

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

from spamnb.classification import Classification
from spamnb.errors import Damaged
from spamnb.formulas.decision import UNSURE
from spamnb.reader.message import arrival
from spamnb.reader.options import TOKENS_VERSION
from spamnb.reader.read_message import ReadMessage
from spamnb.settings import Settings
from spamnb.store.database import sql_text

MAX_FIELD = 200  # characters of a sender, a subject, a Message-ID: a sender may have written a megabyte
INBOX, JUNK, OTHER = "inbox", "junk", "other"  # roles of folders
MAX_PLACE = 4096  # bytes of a path: the most that Linux accepts
MAX_EVIDENCE = 20  # tokens: more do not fit on a screen
MAX_TOKEN = 80  # characters of a token of the evidence: a line of the page
MAX_TOKENS = 5_000  # tokens of a message, to bound the file: a message with more can only be learned from the mailbox
MAX_UNPACKED = 2_000_000  # bytes of unpacked tokens: 5,000 of the longest
LEVEL = 1  # of zlib: docs/experiments.md#the-journal
#: Mail is doubtful if `JournalEntry.distance` is between these two: from 50 to 96 % if mail is spam above 90 %.
DOUBTFUL_FROM, DOUBTFUL_TO = -1.0, 0.5
_MAX_LOG_ODDS = 700.0  # nats: beyond it math.exp overflows


class Place(NamedTuple):
    """The place of a message in a mailbox; all fields are empty if it is unknown.

    - ``place``: the path of the message; in an account the URL of its folder
    - ``mailbox``: the path of the Maildir, or the URL of the account
    - ``folder``: the folder's name for people; ``role``: INBOX, JUNK or OTHER
    - ``junk``: the name that a person gave the mailbox's folder of spam; empty for the usual one
    """

    place: str = ""
    mailbox: str = ""
    folder: str = ""
    role: str = ""
    junk: str = ""


NOWHERE = Place()


class JournalEntry(NamedTuple):
    """The verdict on one message.

    - ``at``: the time of the verdict, in seconds since 1970, UTC; ``user``: the recipient, or empty
    - ``received``: the time of the mail, by its topmost Received field or its Date field, and not after ``at``
    - ``verdict``: "spam", "ham" or "unsure"
    - ``log_odds``: calibrated log-odds of spam; ``threshold``: log-odds above which mail is spam; both in nats
    - ``evidence``: the heaviest tokens with their weights in nats, positive towards spam, as JSON
    - ``place`` to ``junk``: a `Place`
    - ``made_by``: an identifier of the rules by which the tokens were made: see `token_rules`
    - ``tokens``: the result of `pack_tokens`; empty if there are too many, and in lists of verdicts
    - ``position``: the row of the journal
    """

    at: int
    user: str
    digest: bytes
    message_id: str
    sender: str
    subject: str
    received: int
    place: str
    mailbox: str
    folder: str
    role: str
    junk: str
    verdict: str
    log_odds: float
    threshold: float
    evidence: str
    made_by: str
    tokens: bytes = b""
    position: int = -1

    @property
    def distance(self) -> float:
        """Return the distance of the score from the threshold: 0 at the threshold, -1 at even odds.

        A threshold below one nat counts as one.
        """
        return (self.log_odds - self.threshold) / max(self.threshold, 1.0)

    @property
    def doubt(self) -> float:
        """The distance of the score from another verdict; the most doubtful mail has 0."""
        return 0.0 if self.verdict == UNSURE else abs(self.distance)

    @property
    def doubtful(self) -> bool:
        """Whether the verdict is likely to be wrong: at even odds or more, but not much above the threshold."""
        return self.verdict == UNSURE or DOUBTFUL_FROM <= self.distance < DOUBTFUL_TO

    @property
    def probability(self) -> float:
        """The probability of spam."""
        return 1 / (1 + math.exp(-max(-_MAX_LOG_ODDS, min(_MAX_LOG_ODDS, self.log_odds))))

    def at_place(self, place: Place) -> JournalEntry:
        """Return a copy with the message's place. A place longer than MAX_PLACE becomes an unknown one."""
        short = Place(*map(sql_text, place)) if max(map(len, place)) <= MAX_PLACE else NOWHERE
        return self._replace(**short._asdict())

    def heaviest(self, most: int = MAX_EVIDENCE) -> list[tuple[str, float]]:
        """Return the heaviest tokens with their weights. Raise Damaged if the file contains anything else."""
        try:
            pairs = json.loads(self.evidence)
            return [(str(token), float(weight)) for token, weight in pairs[:most]]
        except (ValueError, TypeError):
            raise Damaged("evidence in table verdicts") from None


def entry_of(
    message: ReadMessage, classification: Classification, settings: Settings, *, user: str = ""
) -> JournalEntry:
    """Return a new entry for a classification by a model with these settings. The message's place is unknown."""
    evidence = [(token[:MAX_TOKEN], round(weight, 4)) for token, weight in classification.reasons[:MAX_EVIDENCE]]
    now = int(time.time())
    return JournalEntry(
        now,
        field_text(user),
        message.digest,
        field_text(message.header("message-id")),
        field_text(message.header("from")),
        field_text(message.header("subject")),
        min(now, arrival(message.raw) or now),
        **NOWHERE._asdict(),
        verdict=classification.mail_verdict,
        log_odds=classification.log_odds,
        threshold=classification.threshold,
        evidence=json.dumps(evidence),
        made_by=token_rules(settings),
        tokens=pack_tokens(message.tokens, message.occurrences),
    )


def note_of(entry: JournalEntry) -> str:
    """Return a verdict as text, without the digest and the tokens."""
    return json.dumps({name: value for name, value in entry._asdict().items() if not isinstance(value, bytes)})


def entry_of_note(note: str, digest: bytes) -> JournalEntry | None:
    """Return the entry of `note_of`, without tokens; None if another version of spamnb wrote the note."""
    fields = json.loads(note)
    return (
        JournalEntry(digest=digest, **fields)
        if fields.keys() == set(JournalEntry._fields) - {"digest", "tokens"}
        else None
    )


@lru_cache(64)
def token_rules(settings: Settings) -> str:
    """Return an identifier of a model's rules for making tokens. A model with other rules cannot learn the tokens.

    >>> token_rules(Settings()) == token_rules(Settings(alpha=2)), len(token_rules(Settings()))
    (True, 16)
    """
    rules = json.dumps([TOKENS_VERSION, asdict(settings.tokens)], sort_keys=True)
    return blake2b(rules.encode(), digest_size=8).hexdigest()


def pack_tokens(tokens: Sequence[str], occurrences: np.ndarray) -> bytes:
    """Return tokens with their occurrences, an array of shape (n_tokens,), compressed; empty if there are too many.

    >>> unpack_tokens(pack_tokens(["tea", "café"], np.array([2, 1])))
    {'tea': 2, 'café': 1}
    """
    joined = "\0".join(tokens).encode("utf-8", "surrogatepass")
    number = len(occurrences)
    if number > MAX_TOKENS or joined.count(b"\0") + 1 != number:
        return b""
    return zlib.compress(number.to_bytes(4, "little") + occurrences.astype("<u4").tobytes() + joined, LEVEL)


def unpack_tokens(packed: bytes) -> dict[str, int]:
    """Return the tokens of `pack_tokens` with their occurrences. Raise Damaged if the file contains anything else."""
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
    """Return the beginning of a header field in one line, without characters that SQLite rejects."""
    return sql_text(" ".join(value[: 4 * MAX_FIELD].split())[:MAX_FIELD])
