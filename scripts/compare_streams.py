"""Filters on streams, where it is hard: the first messages, one class in a hundred, a class that comes late.

    python scripts/compare_streams.py --corpus spamassassin --stream arrival|rare-spam|rare-ham|late-spam|late-ham

Each message is judged, then learned. arrival: in the order of the topmost Received fields; Enron's mail has none and is
numbered in the order of time, and other corpora are in that of md5. rare: one of a class after each hundred of the
other; --draws says how often which ones are drawn. late: 1,000 messages of one class, then the rest of both, evenly
mixed. Figures are of parts of the stream, which are counted from the first message, for a late class from its first.
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
from compare_filters import as_files, corpus, md5
from peer import Judged, Mail
from peers import PEERS

from spamnb.evaluation.metrics import one_minus_roca
from spamnb.evaluation.online import sort_by_date
from spamnb.report.evaluation import format_percent
from spamnb.sources.entries import Entry

STREAMS = ("arrival", "rare-spam", "rare-ham", "late-spam", "late-ham")
PARTS = 0, 100, 500, 2000
LATE = 1000  # messages before a class that comes late


def mixed(first: Sequence[Entry], second: Sequence[Entry]) -> list[Entry]:
    """Both in one, each in its order and evenly spread."""
    parts = enumerate((first, second))
    places = [(place / len(part), k, entry) for k, part in parts for place, entry in enumerate(part)]
    return [entry for *_, entry in sorted(places, key=lambda item: item[:2])]


def arranged(mail: list[Entry], stream: str, draw: int) -> tuple[list[Entry], int]:
    """Return the stream, and the position at which figures begin."""
    if stream == "arrival":
        return mail, 0
    kind, label = stream.split("-")
    own = [entry for entry in mail if entry.label == label]
    others = [entry for entry in mail if entry.label != label]
    if kind == "late":
        return others[:LATE] + mixed(own, others[LATE:]), LATE
    chance = random.Random(draw)
    drawn = iter(sorted(chance.sample(range(len(own)), min(len(others) // 100, len(own)))))
    out: list[Entry] = []
    for number, entry in enumerate(others, 1):
        out.append(entry)
        if number % 100 == 0 and (place := next(drawn, None)) is not None:
            out.append(own[place])
    return out, 0


def parts(start: int, end: int) -> list[tuple[str, slice]]:
    """Return the parts of a stream that have figures, by their names."""
    ends = [*(start + place for place in PARTS if start + place < end), end]
    named = [(f"{a - start + 1:,}–{b - start:,}", slice(a, b)) for a, b in pairwise(ends)]
    return [*named, ("all", slice(start, end))]


def figures(mail: Sequence[Mail], judged: Judged, where: slice) -> list[tuple[str, float, int, int, int, int]]:
    """Per decision: 1-ROCA%, ham called spam, ham, spam not called spam, spam."""
    is_spam = np.array([message.label == "spam" for message in mail[where]])
    area = one_minus_roca(is_spam, judged.scores[where]) if is_spam.any() and not is_spam.all() else math.nan
    out = []
    for decision, calls in judged.calls.items():
        called = np.array(calls[where])
        lost, missed = int((called & ~is_spam).sum()), int((~called & is_spam).sum())
        out.append((decision, area, lost, int((~is_spam).sum()), missed, int(is_spam.sum())))
    return out


def filters(name: str, stream: str, draws: int, wanted: list[str], limit: int | None) -> None:
    """Print a table of filters on streams of mail."""
    found, dated = corpus(name)
    if dated:
        found = sort_by_date(found, lambda what, error: None)
    else:
        found.sort(key=(lambda entry: Path(entry.path).name) if name.startswith("enron") else md5)
    print("|filter|messages|1-ROCA%|hm%|ham called spam|sm%|spam let through|")
    print("|---|---|---|---|---|---|---|", flush=True)
    for kind in [peer for peer in PEERS if any(peer.name == f for f in wanted)]:
        table: dict[tuple[str, str], list[tuple[float, int, int, int, int]]] = {}
        for draw in range(draws if stream.startswith("rare") else 1):
            with tempfile.TemporaryDirectory(prefix="streams-") as work:
                peer = kind(Path(work) / "peer")
                if lacking := peer.missing():
                    print(f"|{kind.name}: {lacking}|", flush=True)
                    break
                taken, start = arranged(found, stream, draw)
                (Path(work) / "mail").mkdir()
                mail = as_files(taken[:limit], Path(work) / "mail")
                judged = peer.stream(mail)
            for part, where in parts(start, len(mail)):
                for decision, *row in figures(mail, judged, where):
                    table.setdefault((decision, part), []).append(tuple(row))  # type: ignore[arg-type]
        for (decision, part), rows in table.items():
            area = float(np.mean([row[0] for row in rows]))
            lost, ham, missed, spam = (sum(row[n] for row in rows) for n in range(1, 5))
            shares = [format_percent(100 * a / b) if b else "–" for a, b in ((lost, ham), (missed, spam))]
            cells = format_percent(area), shares[0], f"{lost} of {ham}", shares[1], f"{missed} of {spam}"
            print("|".join(["", f"{kind.name}, {decision}", part, *cells, ""]), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", default="spamassassin", help="as compare_filters.py takes it")
    parser.add_argument("--stream", choices=STREAMS, default="arrival")
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--filters", default="spamnb;spamnb, naive Bayes;bogofilter", help="names, ';' between them")
    parser.add_argument("--limit", type=int, help="only the first so many messages of the stream")
    given = parser.parse_args()
    filters(given.corpus, given.stream, given.draws, given.filters.split(";"), given.limit)


if __name__ == "__main__":
    main()
