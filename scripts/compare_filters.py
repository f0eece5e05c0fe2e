"""spamnb beside the filters people run: one split or stream, one table. Such claims in the README are made here.

    python scripts/compare_filters.py --corpus spamassassin [--protocol split|folds|online] [--noise SHARE]
    python scripts/compare_filters.py --corpus DIR          # a folder with ham/ and spam/, or a TREC index

Corpora by name lie in the folder that SPAMNB_CORPORA names. split: learn files whose md5 of the name is even, score
the odd. folds: ten, by that md5. online: score each message, then learn it, in the order of Date headers where the
corpus has them, else in the order of md5. With --noise a share of the labels that are learned is wrong, the same ones
for every filter; judged is by the right ones. Unsure counts as not spam. Programs run one at a time; seconds are wall
time, so quote ratios of one run; peak is the largest process. What is not installed is named.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mail_corpora import CORPORA, complain, corpora_folder, sources
from peer import Judged, Mail, Peer
from peers import PEERS

from spamnb.errors import SpamnbError
from spamnb.evaluation.intervals import error_rates, roc_estimates
from spamnb.evaluation.metrics import (
    confusion_matrix,
    expected_calibration_error,
    precision_recall,
    reliability_table,
    roc_counts,
)
from spamnb.evaluation.online import sort_by_date
from spamnb.report.evaluation import format_percent
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries

FOLDS = 10


@dataclass(frozen=True)
class Row:
    """A line of the table: a filter and a way of deciding. Percentages, seconds, megabytes; NaN where there is none."""

    filter: str
    decision: str
    train_seconds: float
    score_seconds: float
    peak_mb: float
    model_mb: float
    one_minus_roca: float
    one_minus_roca_low: float
    one_minus_roca_high: float
    hm: float
    sm: float
    sm_at_hm_01: float
    calibration_error: float
    f1: float


def corpus(name: str) -> tuple[list[Entry], bool]:
    """Its messages, and whether they carry dates."""
    if name in CORPORA:
        specs = sources(name, corpora_folder())
    else:
        specs = [f"index:{name}" if Path(name).is_file() else name]
    found = list(find_labelled_entries(specs, complain))
    return found, name == "spamassassin" or name not in CORPORA


def md5(entry: Entry) -> int:
    """Of the file's name; of its content for a message that is no file of its own."""
    own = Path(entry.path).name.encode() if entry.content is None else entry.content
    return int.from_bytes(hashlib.md5(own).digest()[-4:], "big")


def as_files(given: Sequence[Entry], folder: Path) -> list[Mail]:
    """Messages as files of their own: the corpus's where they are, written out where they are not."""
    mail = []
    for number, entry in enumerate(given):
        path = Path(entry.path)
        if entry.content is not None:
            path = folder / f"{number:06}.eml"
            path.write_bytes(entry.read())
        mail.append(Mail("spam" if entry.label == "spam" else "ham", path))
    return mail


def rows(name: str, asked: Sequence[Mail], judged: Judged) -> list[Row]:
    """Return the figures of one run, a row for each rule of decision."""
    is_spam = np.array([mail.label == "spam" for mail in asked])
    if len(judged.scores) != len(asked):
        raise RuntimeError(f"{name}: {len(judged.scores)} scores of {len(asked)} messages")
    roc = roc_estimates(roc_counts(is_spam, judged.scores))
    calibration = math.nan
    if judged.probabilities is not None:
        p = np.array(judged.probabilities)
        calibration = expected_calibration_error(reliability_table(is_spam, np.c_[1 - p, p], positive=1))
    out = []
    for decision, calls in judged.calls.items():
        errors = error_rates(is_spam, calls)
        f1 = precision_recall(confusion_matrix(is_spam, np.array(calls, dtype=int), 2)).f1[1]
        costs = judged.train_seconds, judged.score_seconds, judged.peak_mb, judged.model_mb
        at_threshold = errors.hm.value, errors.sm.value, roc.sm_at_hm.value
        figures = (*roc.one_minus_roca, *at_threshold, calibration, 100 * float(f1))
        out.append(Row(name, decision, *costs, *figures))
    return out


def mislabelled(mail: list[Mail], keys: list[int], share: float) -> list[Mail]:
    """Return the mail with a share of its labels wrong, chosen by the keys."""
    chance = random.Random(len(mail))
    order = sorted(range(len(mail)), key=keys.__getitem__)
    wrong = set(chance.sample(order, round(share * len(mail))))
    other = {"ham": "spam", "spam": "ham"}
    return [m._replace(label=other[m.label]) if i in wrong else m for i, m in enumerate(mail)]


class Corpus(NamedTuple):
    """Mail with its labels, the same mail with the labels that filters are told, and a key of each message."""

    mail: list[Mail]
    told: list[Mail]
    keys: list[int]


def by_split(kind: type[Peer], of: Corpus, folder: Path) -> tuple[list[Mail], Judged]:
    learned = [m for m, key in zip(of.told, of.keys) if key % 2 == 0]
    asked = [m for m, key in zip(of.mail, of.keys) if key % 2]
    return asked, kind(folder / "peer").split(learned, asked)


def by_folds(kind: type[Peer], of: Corpus, folder: Path) -> tuple[list[Mail], Judged]:
    """Ten splits as one run: scores of all folds together, times added."""
    asked: list[Mail] = []
    parts: list[Judged] = []
    for fold in range(FOLDS):
        learned = [m for m, key in zip(of.told, of.keys) if key % FOLDS != fold]
        part = [m for m, key in zip(of.mail, of.keys) if key % FOLDS == fold]
        parts.append(kind(folder / f"fold{fold}").split(learned, part))
        asked += part
    probabilities = [p for part in parts for p in part.probabilities or []]
    return asked, Judged(
        sum(part.train_seconds for part in parts),
        sum(part.score_seconds for part in parts),
        max(part.peak_mb for part in parts),
        max(part.model_mb for part in parts),
        [score for part in parts for score in part.scores],
        {name: [call for part in parts for call in part.calls[name]] for name in parts[0].calls},
        probabilities or None,
    )


def by_stream(kind: type[Peer], of: Corpus, folder: Path) -> tuple[list[Mail], Judged]:
    return of.mail, kind(folder / "peer").stream(of.told)


PROTOCOLS: dict[str, Callable[[type[Peer], Corpus, Path], tuple[list[Mail], Judged]]] = {
    "split": by_split,
    "folds": by_folds,
    "online": by_stream,
}
COLUMNS = "train s,score s,peak MB,model MB,1-ROCA%,(95 %),hm%,sm%,sm% hm≤.1,ECE%,F1%".split(",")


def shown(row: Row) -> list[str]:
    """Format a row of the table."""
    span = f"{format_percent(row.one_minus_roca_low)}–{format_percent(row.one_minus_roca_high)}"
    figures = (row.hm, row.sm, row.sm_at_hm_01, row.calibration_error, row.f1)
    return [
        f"{row.filter}, {row.decision}",
        *(f"{value:.3g}" for value in (row.train_seconds, row.score_seconds)),
        *(f"{value:.3g}" if value else "–" for value in (row.peak_mb, row.model_mb)),
        format_percent(row.one_minus_roca),
        span,
        *map(format_percent, figures),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", required=True, help=f"{', '.join(CORPORA)}, a folder with ham/ and spam/, or an index"
    )
    parser.add_argument("--protocol", choices=PROTOCOLS, default="split")
    parser.add_argument("--filters", help="only those whose name holds one of these, comma-separated")
    parser.add_argument("--limit", type=int, help="only the first so many messages, in the protocol's order")
    parser.add_argument("--noise", type=float, default=0.0, help="share of the labels learned that are wrong")
    parser.add_argument("--json", type=Path, help="write the figures here")
    given = parser.parse_args()
    try:
        found, dated = corpus(given.corpus)
    except SpamnbError as error:
        hint = "; SPAMNB_CORPORA names the folder of the public corpora (corpora/README.md)"
        raise SystemExit(f"{error}{hint if given.corpus in CORPORA else ''}") from None
    if given.protocol == "online":
        found = sort_by_date(found, lambda what, error: None) if dated else sorted(found, key=md5)
    found = found[: given.limit]
    wanted = [p for p in PEERS if not given.filters or any(f in p.name for f in given.filters.split(","))]
    table: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="compare-") as work:
        (Path(work) / "mail").mkdir()
        mail, keys = as_files(found, Path(work) / "mail"), [md5(entry) for entry in found]
        of = Corpus(mail, mislabelled(mail, keys, given.noise), keys)
        spam = sum(m.label == "spam" for m in mail)
        print(f"{given.corpus}, {given.protocol}: {len(mail) - spam} ham, {spam} spam\n", flush=True)
        print("|".join(["", "", *COLUMNS, ""]))
        print("|".join(["", *["---"] * (len(COLUMNS) + 1), ""]), flush=True)
        for number, kind in enumerate(wanted):
            folder = Path(work) / str(number)
            folder.mkdir()
            if lacking := kind(folder / "look").missing():
                print(f"|{kind.name}: {lacking}|" + "|" * len(COLUMNS), flush=True)
                continue
            asked, judged = PROTOCOLS[given.protocol](kind, of, folder)
            for row in rows(kind.name, asked, judged):
                table.append(row)
                print("|".join(["", *shown(row), ""]), flush=True)
    if given.json:
        given.json.write_text(json.dumps([asdict(row) for row in table], indent=1, allow_nan=True) + "\n")


if __name__ == "__main__":
    main()
