"""What a digest by mail tells: mail that was filtered since the last one."""

from __future__ import annotations

import time
from typing import NamedTuple

from spamnb.formulas.decision import UNSURE
from spamnb.journal.journal import UNCORRECTED, Journal, Noted

DAYS = 7  # what is older is in no digest, however long ago the last one was
MOST = 100  # messages that are listed


class Filtered(NamedTuple):
    """Filtered mail: the most doubtful ``rows`` first, how many of each verdict there are in all, and where the journal
    ends, which is where the next digest begins."""

    rows: list[Noted]
    spam: int
    unsure: int
    end: int


def filtered_since_digest(journal: Journal, user: str | None, *, now: float | None = None) -> Filtered:
    """What was called spam or unsure since the last digest for a user, None for all, and nobody has corrected."""
    since = int((time.time() if now is None else now) - DAYS * 86_400)
    with journal.reading():
        last = journal.execute("SELECT position FROM digests WHERE user = ?", (user or "",)).fetchone()
        end = journal.execute("SELECT coalesce(max(position), -1) FROM verdicts").fetchone()[0]
        of_user = f"(? IS NULL OR user = ?) AND {UNCORRECTED}"
        which = f"WHERE position > ? AND at >= ? AND verdict IN ('spam', ?) AND {of_user}"
        values = (last[0] if last else -1, since, UNSURE, user, user)
        counts = f"SELECT verdict, count(*) FROM verdicts {which} GROUP BY verdict"  # noqa: S608 (our own words)
        counted = dict(journal.execute(counts, values))
        rows = journal.rows(f"{which} ORDER BY doubt, at DESC LIMIT {MOST}", values)
    return Filtered(rows, counted.get("spam", 0), counted.get(UNSURE, 0), int(end))


def digest_sent(journal: Journal, user: str | None, end: int) -> None:
    """Note that a digest told of all up to there."""
    with journal.writing():
        journal.execute("INSERT OR REPLACE INTO digests VALUES (?, ?)", (user or "", end))
