"""Compare filters on hard parts of streams: the first messages, a class with one message in a hundred, a late class.

    python scripts/compare_streams.py --corpus spamassassin --stream arrival|rare-spam|rare-ham|late-spam|late-ham

Each message is classified and then learned. Streams: "arrival" has the order of the topmost Received fields; for
Enron's mail the order of its file names, and for other corpora the order of md5. "rare" has one message of a class
after each hundred of the other class; --draws is the number of random draws of these messages. "late" has 1,000
messages of one class, then an even mixture of the others. Figures are for parts of the stream, counted from its first
message, or from the first message of the late class.
"""

from __future__ import annotations

import argparse
import math
import random
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
from compare_filters import as_files, md5, read_corpus
from peer import Mail, Run
from peers import PEERS
from table import print_head, print_row

from spamnb.evaluation.metrics import one_minus_roca
from spamnb.evaluation.online import sort_by_date
from spamnb.report.evaluation import format_percent
from spamnb.sources.entries import Entry

STREAMS = ("arrival", "rare-spam", "rare-ham", "late-spam", "late-ham")
PARTS = 0, 100, 500, 2000
LATE = 1000  # messages before the first message of the late class


def mix(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    """Return an even mixture of two lists; each keeps its order."""
    parts = enumerate((first, second))
    positions = [(i / len(part), k, entry) for k, part in parts for i, entry in enumerate(part)]
    return [entry for *_, entry in sorted(positions, key=lambda item: item[:2])]


def make_stream(mail: list[Entry], stream: str, draw: int) -> tuple[list[Entry], int]:
    """Return the stream, and the position at which figures begin."""
    if stream == "arrival":
        return mail, 0
    kind, label = stream.split("-")
    class_mail = [entry for entry in mail if entry.label == label]
    others = [entry for entry in mail if entry.label != label]
    if kind == "late":
        return others[:LATE] + mix(class_mail, others[LATE:]), LATE
    chance = random.Random(draw)
    n_rare = min(len(others) // 100, len(class_mail))
    rare = iter(sorted(chance.sample(range(len(class_mail)), n_rare)))
    out: list[Entry] = []
    for number, entry in enumerate(others, 1):
        out.append(entry)
        if number % 100 == 0 and (position := next(rare, None)) is not None:
            out.append(class_mail[position])
    return out, 0


def parts(start: int, end: int) -> list[tuple[str, slice]]:
    """Return (name, slice) of the parts of a stream for which figures are printed."""
    ends = [*(start + position for position in PARTS if start + position < end), end]
    slices = [(f"{a - start + 1:,}–{b - start:,}", slice(a, b)) for a, b in pairwise(ends)]
    return [*slices, ("all", slice(start, end))]


def figures(mail: Sequence[Mail], run: Run, where: slice) -> list[tuple[str, float, int, int, int, int]]:
    """Return, per decision rule: its name, 1-ROCA%, ham called spam, ham, spam not called spam, spam."""
    is_spam = np.array([message.label == "spam" for message in mail[where]])
    area = one_minus_roca(is_spam, run.scores[where]) if is_spam.any() and not is_spam.all() else math.nan
    out = []
    for decision, calls in run.calls.items():
        called = np.array(calls[where])
        lost, missed = int((called & ~is_spam).sum()), int((~called & is_spam).sum())
        out.append((decision, area, lost, int((~is_spam).sum()), missed, int(is_spam.sum())))
    return out


def compare(name: str, stream: str, draws: int, filters: list[str], limit: int | None) -> None:
    """Print a table of filters on streams of mail."""
    entries, has_dates = read_corpus(name)
    if has_dates:
        entries = sort_by_date(entries, lambda name, error: None)
    else:
        entries.sort(key=(lambda entry: Path(entry.path).name) if name.startswith("enron") else md5)
    print_head("filter", "messages", "1-ROCA%", "hm%", "ham called spam", "sm%", "spam let through")
    for kind in [peer for peer in PEERS if peer.name in filters]:
        table: dict[tuple[str, str], list[tuple[float, int, int, int, int]]] = {}
        for draw in range(draws if stream.startswith("rare") else 1):
            with tempfile.TemporaryDirectory(prefix="streams-") as work:
                peer = kind(Path(work) / "peer")
                if problem := peer.describe_missing():
                    print(f"{kind.name}: {problem}", flush=True)
                    break
                stream_entries, start = make_stream(entries, stream, draw)
                (Path(work) / "mail").mkdir()
                mail = as_files(stream_entries[:limit], Path(work) / "mail")
                run = peer.stream(mail)
            for part, where in parts(start, len(mail)):
                for decision, *row in figures(mail, run, where):
                    table.setdefault((decision, part), []).append(tuple(row))  # type: ignore[arg-type]
        for (decision, part), rows in table.items():
            area = float(np.mean([row[0] for row in rows]))
            lost, ham, missed, spam = (sum(row[n] for row in rows) for n in range(1, 5))
            shares = [format_percent(100 * a / b) if b else "–" for a, b in ((lost, ham), (missed, spam))]
            cells = format_percent(area), shares[0], f"{lost} of {ham}", shares[1], f"{missed} of {spam}"
            print_row(f"{kind.name}, {decision}", part, *cells)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="spamassassin", help="a corpus of compare_filters.py")
    parser.add_argument("--stream", choices=STREAMS, default="arrival")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--filters", default="spamnb;spamnb, naive Bayes;bogofilter", help="separated by semicolons")
    parser.add_argument("--limit", type=int, help="number of messages of the stream")
    arguments = parser.parse_args()
    compare(arguments.corpus, arguments.stream, arguments.draws, arguments.filters.split(";"), arguments.limit)


if __name__ == "__main__":
    main()
