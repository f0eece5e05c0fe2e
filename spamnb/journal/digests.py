"""What a digest by mail tells: mail that was filtered since the last one."""

from __future__ import annotations

import time
from typing import NamedTuple

from spamnb.formulas.decision import UNSURE
from spamnb.journal.journal import Journal, Noted

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
        which = (
            "FROM verdicts WHERE position > ? AND at >= ? AND verdict IN ('spam', ?) AND (? IS NULL OR user = ?)"
            " AND NOT EXISTS (SELECT 1 FROM corrections AS c WHERE c.digest = verdicts.digest"
            " AND c.user = verdicts.user AND c.undone = 0)"
        )
        values = (last[0] if last else -1, since, UNSURE, user, user)
        counted = dict(journal.execute(f"SELECT verdict, count(*) {which} GROUP BY verdict", values))
        found = journal.execute(f"SELECT position {which} ORDER BY doubt, at DESC LIMIT {MOST}", values)
        rows = [journal.row(position) for (position,) in found.fetchall()]
    listed = [row for row in rows if row is not None]
    return Filtered(listed, counted.get("spam", 0), counted.get(UNSURE, 0), int(end))


def digest_sent(journal: Journal, user: str | None, end: int) -> None:
    """Note that a digest told of all up to there."""
    with journal.writing():
        journal.execute("INSERT OR REPLACE INTO digests VALUES (?, ?)", (user or "", end))
