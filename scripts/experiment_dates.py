"""Does it matter by which clock mail is put in order, and which of the figures that ``train`` ends with comes true?

    python scripts/experiment_dates.py                    # SpamAssassin's mail below SPAMNB_CORPORA
    python scripts/experiment_dates.py ham=~/Maildir spam=~/Maildir/.Junk

First the stream, each message judged and then learned: in the order of the Date fields and in that of the topmost
Received fields. Then, at several points of time: what a model of the mail until then promises by leaving one message
out, what it promises by its newest fifth, and what the tenth of all mail that came next had.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from mail_corpora import corpora_folder, sources

from spamnb.counts.shard import UNDATED
from spamnb.engines.counting import count_parallel
from spamnb.evaluation.held_out import Answers, mail_of
from spamnb.evaluation.online import online
from spamnb.reader.dates import arrival
from spamnb.reader.message import header_of
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import entries
from spamnb.training import leave_one_out_estimate, prepare


def told(name: str, error: Exception) -> None:
    """Say what could not be read."""
    print(f"{name}: {error}", file=sys.stderr)


def stated(raw: bytes) -> int | None:
    """What the Date field alone says."""
    return arrival(b"Date: " + header_of(raw, "date").encode("latin-1", "replace") + b"\n\n")


def streams(mail: Sequence[Entry], settings: Settings) -> None:
    """How far the two clocks differ, and the errors of the stream in either order, from the tenth message of either
    class on: before, nothing can be told apart."""
    clocks: dict[str, Callable[[bytes], int | None]] = {"Date": stated, "topmost Received": arrival}
    times = {name: [clock(entry.read()) for entry in mail] for name, clock in clocks.items()}
    for label in sorted({entry.label or "" for entry in mail}):
        pairs = [pair for entry, *pair in zip(mail, *times.values()) if entry.label == label]
        apart = np.array([abs(one - other) > 86_400 if one and other else True for one, other in pairs])
        print(f"{label}: {100 * apart.mean():.1f} % have no Date field, or one that is more than a day off")
    for name, when in times.items():
        order = sorted(range(len(mail)), key=lambda n: (when[n] or 0, n))
        result = online([mail[n] for n in order], settings, told)
        known = result.truth[:, None] == np.arange(len(result.classes))
        both = (known.cumsum(axis=0) >= 10).all(axis=1)
        names = np.array([*result.classes, "unsure"])
        said = rates(result.classes, result.truth[both], names[result.verdicts[both]], settings.spam)
        print(f"in the order of {name}, the last {both.sum()} messages: {said}", flush=True)


def rates(classes: Sequence[str], labels: np.ndarray, verdicts: Sequence[str], spam: str) -> str:
    """Good mail lost and spam let through, in %."""
    is_spam, said = np.array(classes)[labels] == spam, np.array(verdicts) == spam
    lost, through = said[~is_spam], ~said[is_spam]
    return ", ".join(f"{part.sum()} of {len(part)} ({100 * part.mean():.2f} %)" for part in (lost, through))


def promises(mail: Sequence[Entry], settings: Settings) -> None:
    """What was promised at each tenth of the time, and what came."""
    with TemporaryDirectory() as folder:
        counted = count_parallel(mail, settings.tokens, Path(folder), told).deduplicate()
        dates, places = (np.concatenate([getattr(own, of)[own.included] for own in counted.shards])
                         for of in ("dates", "positions"))  # fmt: skip
        order = places[np.lexsort((places, dates))][(dates == UNDATED).sum() :]
        tenth = len(order) // 10
        for tenths in range(5, 10):
            known, to_come = np.zeros((2, len(mail)), bool)
            known[order[: tenths * tenth]] = True
            to_come[order[tenths * tenth : (tenths + 1) * tenth]] = True
            past = prepare(counted.subset(known).select_columns())
            left_out = leave_one_out_estimate(past, settings)
            newest = left_out.newest
            answers = Answers(mail_of(counted, [entry.name for entry in mail]), settings)
            answers.ask(counted.subset(known), to_come)
            came = answers.result("to come", lambda places: {})
            names = np.array([*came.classes, "unsure"])
            print(f"after {tenths} tenths of the mail, good mail lost and spam let through:")
            print("  left out:     ", rates(left_out.classes, left_out.labels, left_out.verdicts, settings.spam))
            if newest:
                print("  newest fifth: ", rates(left_out.classes, newest.labels, newest.verdicts, settings.spam))
            print("  what came:    ", rates(came.classes, came.truth, names[came.verdicts], settings.spam), flush=True)


def main() -> None:
    settings = Settings()
    mail = list(entries(sys.argv[1:] or sources("spamassassin", corpora_folder()), told))
    promises(mail, settings)
    streams(mail, settings)


if __name__ == "__main__":
    main()
