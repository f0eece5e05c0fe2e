"""A verdict in the ledger: with its evidence, and header fields and tokens of its message."""

from __future__ import annotations

import json
import os
import time
import zlib
from collections.abc import Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from spamnb.errors import Damaged
from spamnb.model.classification import Classification, probability_of
from spamnb.model.decision import UNSURE
from spamnb.reader.message import arrival
from spamnb.reader.read_message import ReadMessage
from spamnb.settings import TOKEN_SETTINGS, TOKENS_VERSION, Settings
from spamnb.store.database import sql_text

if TYPE_CHECKING:
    from spamnb.filter import Classifier
    from spamnb.store.store import Store

MAX_FIELD = 200  # characters of a sender, a subject or a Message-ID, because a sender may write a megabyte
INBOX, JUNK, OTHER = "inbox", "junk", "other"  # roles of folders
MAX_PLACE = 4096  # characters: Linux accepts no path of more bytes
MAX_EVIDENCE = 20  # tokens: more do not fit on a screen
MAX_TOKEN = 80  # characters of a token of the evidence, which fit on a line of the page
MAX_LEDGER_TOKENS = 5_000  # tokens of a message, to bound the file; one with more is learned from the mailbox only
MAX_UNPACKED = 2_000_000  # bytes of unpacked tokens; MAX_LEDGER_TOKENS of the longest tokens fit
LEVEL = 1  # compression level of zlib: docs/experiments.md#kept-lessons
#: Mail is doubtful if `VerdictRow.distance` is between these bounds: at the default threshold of 90 %, mail with a
#: probability of spam from 50 to 96 %.
DOUBTFUL_FROM, DOUBTFUL_TO = -1.0, 0.5


class Place(NamedTuple):
    """The place of a message in a mailbox; all fields are empty if the place is unknown.

    - ``place``: the path of the message; in an account the URL of its folder
    - ``mailbox``: the path of the Maildir, or the URL of the account
    - ``folder``: the folder's name for people; ``role``: INBOX, JUNK or OTHER
    - ``junk``: the folder of spam that a person named with ``--junk``; empty if none was named
    """

    place: str = ""
    mailbox: str = ""
    folder: str = ""
    role: str = ""
    junk: str = ""


NOWHERE = Place()


class VerdictRow(NamedTuple):
    """The verdict on one message.

    - ``at``: the time of the verdict, in seconds since 1970, UTC; ``user``: the recipient, or empty
    - ``received``: when the message was received, see `spamnb.reader.message.parse_date`; at most ``at``
    - ``verdict``: "spam", "ham" or "unsure"
    - ``log_odds``: calibrated log-odds of spam; ``threshold``: log-odds above which mail is spam; both in nats
    - ``evidence``: the heaviest tokens with their weights in nats, positive towards spam, as JSON
    - ``place`` to ``junk``: a `Place`
    - ``token_rules``: the result of `identify_token_rules` for the model that made the tokens
    - ``model``: the path of the model; ``batch``: an identifier that all messages of one run of a command share
    - ``tokens``: the result of `pack_tokens`; empty if they are too many, or if the verdict is read from the ledger
    - ``position``: the row of the ledger
    - ``taught``: "spam" or "good" if a person corrected or confirmed the verdict; ``taught_by``: the source of this
      `Correction`; both are empty in a new verdict
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
    token_rules: str
    model: str = ""
    batch: str = ""
    tokens: bytes = b""
    position: int = -1
    taught: str = ""
    taught_by: str = ""

    @property
    def label(self) -> str:
        """What a person taught, or else the verdict: "spam", "good" or "unsure"."""
        return self.taught or (self.verdict if self.verdict in ("spam", UNSURE) else "good")

    @property
    def can_undo(self) -> bool:
        """Whether a page can undo the correction. Only mail programs undo the corrections of mail programs."""
        return self.taught_by == "page"

    @property
    def distance(self) -> float:
        """The distance of the log-odds from the threshold, relative to the larger of threshold and 1 nat."""
        return (self.log_odds - self.threshold) / max(self.threshold, 1.0)

    @property
    def doubt(self) -> float:
        """The absolute `distance`, or 0 for the verdict unsure. The most doubtful mail has 0."""
        return 0.0 if self.verdict == UNSURE else abs(self.distance)

    @property
    def doubtful(self) -> bool:
        """Whether the verdict may well be wrong: ``unsure``, or between even odds and a little above the threshold."""
        return self.verdict == UNSURE or DOUBTFUL_FROM <= self.distance < DOUBTFUL_TO

    @property
    def probability(self) -> float:
        """The probability of spam."""
        return probability_of(self.log_odds)

    def with_place(self, place: Place) -> VerdictRow:
        """Return a copy with the message's place, or with NOWHERE if a field of the place exceeds MAX_PLACE."""
        short = Place(*map(sql_text, place)) if max(map(len, place)) <= MAX_PLACE else NOWHERE
        return self._replace(**short._asdict())

    def heaviest_tokens(self, limit: int = MAX_EVIDENCE) -> list[tuple[str, float]]:
        """Return at most ``limit`` tokens with their weights, the heaviest first. Raise Damaged for a damaged file."""
        try:
            pairs = json.loads(self.evidence)
            return [(str(token), float(weight)) for token, weight in pairs[:limit]]
        except (ValueError, TypeError):
            raise Damaged("evidence in table verdicts") from None


def model_path(store: Store) -> str:
    """Return the path of a model as rows of the ledger have it."""
    return sql_text(os.path.abspath(store.file))


def make_verdict(
    message: ReadMessage, classification: Classification, model: Classifier, *, user: str = "", batch: str = ""
) -> VerdictRow:
    """Return a new verdict, a classification by a model, with the place NOWHERE."""
    evidence = [(token[:MAX_TOKEN], round(weight, 4)) for token, weight in classification.reasons[:MAX_EVIDENCE]]
    now, row = int(time.time()), message.plain().row
    return VerdictRow(
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
        token_rules=identify_token_rules(model.settings),
        model=model_path(model.store),
        batch=batch,
        tokens=pack_tokens(row.tokens, row.counts),
    )


@lru_cache(64)
def identify_token_rules(settings: Settings) -> str:
    """Return an identifier of a model's rules for tokens. A model learns stored tokens only with equal rules.

    >>> identify_token_rules(Settings()) == identify_token_rules(Settings(alpha=2))
    True
    """
    rules = json.dumps([TOKENS_VERSION, *(getattr(settings, name) for name in TOKEN_SETTINGS)])
    return blake2b(rules.encode(), digest_size=8).hexdigest()


def pack_tokens(tokens: Sequence[str], occurrences: np.ndarray) -> bytes:
    """Return tokens and their occurrences (n_tokens,), compressed; empty for more than MAX_LEDGER_TOKENS.

    >>> unpack_tokens(pack_tokens(["tea", "café"], np.array([2, 1])))
    {'tea': 2, 'café': 1}
    """
    joined = "\0".join(tokens).encode("utf-8", "surrogatepass")
    number = len(occurrences)
    if number > MAX_LEDGER_TOKENS or joined.count(b"\0") + 1 != number:
        return b""
    return zlib.compress(number.to_bytes(4, "little") + occurrences.astype("<u4").tobytes() + joined, LEVEL)


def unpack_tokens(packed: bytes) -> dict[str, int]:
    """Return the tokens that `pack_tokens` packed, with their occurrences. Raise Damaged if the bytes are damaged."""
    decompressor = zlib.decompressobj()
    try:
        plain = decompressor.decompress(packed, MAX_UNPACKED)
        number = int(np.frombuffer(plain, "<u4", 1)[0])
        occurrences = np.frombuffer(plain, "<u4", number, 4).tolist()
        tokens = plain[4 + 4 * number :].decode("utf-8", "surrogatepass").split("\0")
    except (zlib.error, ValueError):
        raise Damaged("tokens in table tokens") from None
    if not decompressor.eof or len(set(tokens)) != number or not all(occurrences):
        raise Damaged("tokens in table tokens")
    return dict(zip(tokens, occurrences))


def field_text(value: str) -> str:
    """Return the beginning of a header field in one line, without characters that SQLite rejects."""
    return sql_text(" ".join(value[: 4 * MAX_FIELD].split())[:MAX_FIELD])
