"""Does it help to let old mail go? SpamAssassin's mail as a stream in the order in which it arrived.

    python scripts/experiment_ageing.py ~/corpora

Each message is judged and then learned; what is older than some months is forgotten again, exactly. Dates are those of
the topmost Received field, which the last server wrote; Date fields are forged. It also counts how many cells a model
would hold that keeps a sum for each month.
"""

from __future__ import annotations

import argparse
import json
from collections import deque
from datetime import timedelta
from email.utils import parsedate_to_datetime
from pathlib import Path

from spamnb.classifier import Classifier
from spamnb.evaluation.roc import one_minus_roca
from spamnb.formulas.calibration import margins
from spamnb.reader.message import header_of

PARTS = {"ham": ("easy_ham", "easy_ham_2", "hard_ham"), "spam": ("spam", "spam_2")}
WARM = 500  # messages that are not counted
Stream = list[tuple[float, str, bytes]]


def arrival(raw: bytes) -> float:
    """Seconds since 1970 of the topmost Received field; 0 where it tells no time."""
    try:
        return parsedate_to_datetime(header_of(raw, "received").rpartition(";")[2].strip()).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def stream(root: Path) -> Stream:
    """(arrival, class, message) in the order of arrival."""
    found = []
    for label, parts in PARTS.items():
        for path in sorted(path for part in parts for path in (root / part).iterdir() if path.name != "cmds"):
            raw = path.read_bytes()
            if when := arrival(raw):
                found.append((when, label, raw))
    return sorted(found, key=lambda message: message[0])


def streamed(mail: Stream, months: int | None) -> dict[str, object]:
    """Judge and learn each message in turn, and forget what is more than ``months`` older (None: nothing)."""
    kept: deque[tuple[float, str, bytes]] = deque()
    truth, scores, wrong, unsure, most = [], [], 0, 0, 0
    with Classifier.create(":memory:") as classifier:
        for n, (when, label, raw) in enumerate(mail):
            while months and kept and kept[0][0] < when - timedelta(days=30.4 * months).total_seconds():
                _, old, forgotten = kept.popleft()
                classifier.forget(old, forgotten)
            read = classifier.read(raw)
            if n >= WARM and len(classifier.store.totals().classes) == 2:
                found = classifier.classify(read, tokens=0, posterior=False)
                truth.append(label == "spam")
                scores.append(float(margins(found.scores[None])[0, 1]))
                unsure += found.verdict == "unsure"
                wrong += found.verdict not in (label, "unsure")
            if classifier.learn(label, read):
                kept.append((when, label, raw))
            most = max(most, classifier.store.totals().vocabulary_size)
    area = round(one_minus_roca(truth, scores), 4)
    figures = {"judged": len(truth), "wrong": wrong, "unsure": unsure, "1-roca%": area, "most tokens": most}
    return {"months kept": months or "all", **figures}


def cells(mail: Stream) -> dict[str, int]:
    """How many cells a model holds, one a token and class, and one a token, class and month."""
    together, apart = set(), set()
    with Classifier.create(":memory:") as classifier:
        for when, label, raw in mail:
            month = int(when // timedelta(days=30.4).total_seconds())
            for token in classifier.read(raw).counts:
                together.add((token, label))
                apart.add((token, label, month))
    return {"cells": len(together), "cells by month": len(apart)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    mail = stream(parser.parse_args().corpora / "spamassassin")
    span = timedelta(seconds=mail[-1][0] - mail[0][0]).days
    print(json.dumps({"messages": len(mail), "days": span, **cells(mail)}), flush=True)
    for months in (None, 12, 6, 3, 1):
        print(json.dumps(streamed(mail, months)), flush=True)


if __name__ == "__main__":
    main()
