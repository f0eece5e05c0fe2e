"""Compare spamnb with other filters on a corpus, and print the table of the README.

    python scripts/compare_filters.py --corpus spamassassin [--protocol split|folds|online] [--noise SHARE]
    python scripts/compare_filters.py --corpus DIR          # a folder with ham/ and spam/, or a TREC index

SPAMNB_CORPORA names the folder of all corpora. Protocols: "split" learns the files whose md5 of the name is even, and
scores the others. "folds" has ten folds, by the same md5. "online" scores each message and then learns it, in the order
of the topmost Received fields if the corpus has them, else in the order of md5. With --noise a share of the learned
labels is wrong, the same ones for every filter; figures use the right labels. "unlearned", for SpamAssassin's corpus,
scores good mail of a kind of which none was learned (all kinds, or one --kind), and the spam of the files with an odd
md5; --limit is then the number of learned messages of each class. Unsure counts as not spam. Programs run one at a
time. Seconds are wall time, so compare only ratios of one run. Peak memory is that of the largest process.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import re
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from mail_corpora import CORPORA, complain, corpora_folder, sources
from peer import Mail, Peer, Run
from peers import PEERS
from table import print_head, print_row

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
    """A row of the table: a filter with a decision rule. Percentages, seconds, megabytes; NaN if there is no figure."""

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


def read_corpus(name: str) -> tuple[list[Entry], bool]:
    """Return the messages of a corpus, and whether they have dates."""
    if name in CORPORA:
        specs = sources(name, corpora_folder())
    else:
        specs = [f"index:{name}" if Path(name).is_file() else name]
    return list(find_labelled_entries(specs, complain)), name == "spamassassin" or name not in CORPORA


def md5(entry: Entry) -> int:
    """Return the md5 of the file's name; of the content for a message that is not a file."""
    name = Path(entry.path).name.encode() if entry.content is None else entry.content
    return int.from_bytes(hashlib.md5(name).digest()[-4:], "big")


def as_files(entries: Sequence[Entry], folder: Path) -> list[Mail]:
    """Return the messages as files; a message that is not a file of the corpus is written to ``folder``."""
    mail = []
    for number, entry in enumerate(entries):
        path = Path(entry.path)
        if entry.content is not None:
            path = folder / f"{number:06}.eml"
            path.write_bytes(entry.read())
        mail.append(Mail("spam" if entry.label == "spam" else "ham", path))
    return mail


def rows(name: str, test: Sequence[Mail], run: Run) -> list[Row]:
    """Return the figures of one run, a row for each decision rule."""
    is_spam = np.array([mail.label == "spam" for mail in test])
    if len(run.scores) != len(test):
        raise RuntimeError(f"{name}: {len(run.scores)} scores of {len(test)} messages")
    one_minus_roca, sm_at_hm = roc_estimates(roc_counts(is_spam, run.scores))
    calibration = math.nan
    if run.probabilities is not None:
        p = np.array(run.probabilities)
        calibration = expected_calibration_error(reliability_table(is_spam, np.c_[1 - p, p], positive=1))
    out = []
    for decision, calls in run.calls.items():
        hm, sm = error_rates(is_spam, calls)
        f1 = precision_recall(confusion_matrix(is_spam, np.array(calls, dtype=int), 2)).f1[1]
        costs = run.train_seconds, run.score_seconds, run.peak_mb, run.model_mb
        figures = (*one_minus_roca, hm.value, sm.value, sm_at_hm.value, calibration, 100 * float(f1))
        out.append(Row(name, decision, *costs, *figures))
    return out


def mislabelled(mail: list[Mail], keys: list[int], share: float) -> list[Mail]:
    """Return the mail with a share of its labels wrong; the choice depends on the keys only."""
    chance = random.Random(len(mail))
    order = sorted(range(len(mail)), key=keys.__getitem__)
    wrong = set(chance.sample(order, round(share * len(mail))))
    other = {"ham": "spam", "spam": "ham"}
    return [m._replace(label=other[m.label]) if i in wrong else m for i, m in enumerate(mail)]


def _has_field(pattern: bytes) -> Callable[[Path], bool]:
    return lambda path: bool(re.search(rb"(?im)^(" + pattern + rb")", path.read_bytes().partition(b"\n\n")[0]))


_is_list = _has_field(rb"List-Id|List-Post|Precedence: *(list|bulk)|Mailing-List|List-Unsubscribe")
# Kinds of good mail by the path of a message: of the others some are learned, of these none.
KINDS: dict[str, Callable[[Path], bool]] = {
    "hard_ham": lambda path: path.parent.name == "hard_ham",
    "lists": _is_list,
    "no-lists": lambda path: not _is_list(path),
    "html": lambda path: bool(re.search(rb"(?im)^Content-Type: *(text/html|multipart/alternative)", path.read_bytes())),
}


def leave_kind_out(corpus: Corpus, kind: str, limit: int | None) -> tuple[list[Mail], list[Mail]]:
    """Return the learned messages, at most ``limit`` of each class, and those to classify."""
    order = sorted(range(len(corpus.mail)), key=lambda i: hashlib.md5(corpus.mail[i].path.name.encode()).digest())
    ham, spam = ([i for i in order if corpus.mail[i].label == label] for label in ("ham", "spam"))
    is_kind = {i: KINDS[kind](corpus.mail[i].path) for i in ham}
    learned = [
        *[i for i in ham if not is_kind[i]][:limit],
        *[i for i in spam if corpus.keys[i] % 2 == 0][:limit],
    ]
    tested = [i for i in ham if is_kind[i]] + [i for i in spam if corpus.keys[i] % 2]
    return [corpus.noisy_mail[i] for i in learned], [corpus.mail[i] for i in tested]


class UnlearnedRow(NamedTuple):
    """A row of the table of unlearned kinds: messages classified, and errors. A good message lost costs nine spams."""

    filter: str
    kind: str
    good: int
    spam: int
    good_lost: int
    spam_through: int
    cost: int


class Corpus(NamedTuple):
    mail: list[Mail]
    noisy_mail: list[Mail]  # the same mail, with the labels that filters learn
    keys: list[int]  # md5 of each message


def compare_unlearned(
    corpus: Corpus, filters: Sequence[type[Peer]], kinds: Sequence[str], limit: int | None, folder: Path
) -> list[UnlearnedRow]:
    """Print and return the errors of filters on kinds of good mail that they have not learned."""
    table: list[UnlearnedRow] = []
    print_head("", *(field.replace("_", " ") for field in UnlearnedRow._fields[1:]))
    for kind in kinds:
        learned, tested = leave_kind_out(corpus, kind, limit)
        good = sum(message.label == "ham" for message in tested)
        for number, peer in enumerate(filters):
            run = peer(folder / f"{kind}{number}").split(learned, tested)
            for decision, calls in run.calls.items():
                lost = sum(called and message.label == "ham" for message, called in zip(tested, calls))
                through = sum(not called and message.label == "spam" for message, called in zip(tested, calls))
                counts = good, len(tested) - good, lost, through, 9 * lost + through
                table.append(UnlearnedRow(f"{peer.name}, {decision}", kind, *counts))
                print_row(*table[-1])
    return table


def by_split(kind: type[Peer], corpus: Corpus, folder: Path) -> tuple[list[Mail], Run]:
    train = [m for m, key in zip(corpus.noisy_mail, corpus.keys) if key % 2 == 0]
    test = [m for m, key in zip(corpus.mail, corpus.keys) if key % 2]
    return test, kind(folder / "peer").split(train, test)


def by_folds(kind: type[Peer], corpus: Corpus, folder: Path) -> tuple[list[Mail], Run]:
    """Return ten splits as one run, with the scores of all folds and the sums of their seconds."""
    test: list[Mail] = []
    runs: list[Run] = []
    for fold in range(FOLDS):
        train = [m for m, key in zip(corpus.noisy_mail, corpus.keys) if key % FOLDS != fold]
        part = [m for m, key in zip(corpus.mail, corpus.keys) if key % FOLDS == fold]
        runs.append(kind(folder / f"fold{fold}").split(train, part))
        test += part
    probabilities = [p for run in runs for p in run.probabilities or []]
    return test, Run(
        sum(run.train_seconds for run in runs),
        sum(run.score_seconds for run in runs),
        max(run.peak_mb for run in runs),
        max(run.model_mb for run in runs),
        [score for run in runs for score in run.scores],
        {name: [call for run in runs for call in run.calls[name]] for name in runs[0].calls},
        probabilities or None,
    )


def by_stream(kind: type[Peer], corpus: Corpus, folder: Path) -> tuple[list[Mail], Run]:
    return corpus.mail, kind(folder / "peer").stream(corpus.noisy_mail)


PROTOCOLS: dict[str, Callable[[type[Peer], Corpus, Path], tuple[list[Mail], Run]]] = {
    "split": by_split,
    "folds": by_folds,
    "online": by_stream,
}
COLUMNS = "train s,score s,peak MB,model MB,1-ROCA%,(95 %),hm%,sm%,sm% hm≤.1,ECE%,F1%".split(",")


def format_row(row: Row) -> list[str]:
    """Format a row of the table."""
    interval = f"{format_percent(row.one_minus_roca_low)}–{format_percent(row.one_minus_roca_high)}"
    figures = (row.hm, row.sm, row.sm_at_hm_01, row.calibration_error, row.f1)
    return [
        f"{row.filter}, {row.decision}",
        *(f"{value:.3g}" for value in (row.train_seconds, row.score_seconds)),
        *(f"{value:.3g}" if value else "–" for value in (row.peak_mb, row.model_mb)),
        format_percent(row.one_minus_roca),
        interval,
        *map(format_percent, figures),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--corpus", required=True, help=f"{', '.join(CORPORA)}, a folder with ham/ and spam/, or an index"
    )
    parser.add_argument("--protocol", choices=[*PROTOCOLS, "unlearned"], default="split")
    parser.add_argument("--kind", choices=KINDS, help="kind of good mail for the protocol unlearned")
    parser.add_argument("--filters", help="parts of filters' names, comma-separated")
    parser.add_argument("--limit", type=int, help="number of messages, in the protocol's order")
    parser.add_argument("--noise", type=float, default=0.0, help="share of wrong labels among the learned messages")
    parser.add_argument("--json", type=Path, help="file for the figures")
    arguments = parser.parse_args()
    try:
        entries, has_dates = read_corpus(arguments.corpus)
    except SpamnbError as error:
        hint = "; SPAMNB_CORPORA names the folder of the public corpora (corpora/README.md)"
        raise SystemExit(f"{error}{hint if arguments.corpus in CORPORA else ''}") from None
    if arguments.protocol == "online":
        entries = sort_by_date(entries, lambda name, error: None) if has_dates else sorted(entries, key=md5)
    if arguments.protocol == "unlearned" and arguments.corpus != "spamassassin":
        parser.error("--protocol unlearned needs --corpus spamassassin")
    if arguments.protocol != "unlearned":
        entries = entries[: arguments.limit]
    chosen = [p for p in PEERS if not arguments.filters or any(f in p.name for f in arguments.filters.split(","))]
    table: list[Row | UnlearnedRow] = []
    with tempfile.TemporaryDirectory(prefix="compare-") as work:
        (Path(work) / "mail").mkdir()
        mail, keys = as_files(entries, Path(work) / "mail"), [md5(entry) for entry in entries]
        corpus = Corpus(mail, mislabelled(mail, keys, arguments.noise), keys)
        spam = sum(m.label == "spam" for m in mail)
        print(f"{arguments.corpus}, {arguments.protocol}: {len(mail) - spam} ham, {spam} spam\n", flush=True)
        filters = []
        for kind in chosen:
            if problem := kind(Path(work) / "look").describe_missing():
                print(f"{kind.name}: {problem}\n", flush=True)
            else:
                filters.append(kind)
        if arguments.protocol == "unlearned":
            kinds = [arguments.kind] if arguments.kind else list(KINDS)
            table += compare_unlearned(corpus, filters, kinds, arguments.limit, Path(work))
        else:
            print_head("", *COLUMNS)
            for number, kind in enumerate(filters):
                folder = Path(work) / str(number)
                folder.mkdir()
                for row in rows(kind.name, *PROTOCOLS[arguments.protocol](kind, corpus, folder)):
                    table.append(row)
                    print_row(*format_row(row))
    if arguments.json:
        figures = [row._asdict() if isinstance(row, UnlearnedRow) else asdict(row) for row in table]
        arguments.json.write_text(json.dumps(figures, indent=1, allow_nan=True) + "\n")


if __name__ == "__main__":
    main()
