"""Evaluate what lessons change: wrong ones, mail of a list, streams, orders, and their cost in time and bytes.

    SPAMNB_CORPORA=… python scripts/evaluate_lessons.py PART... [--corpus spamassassin] [--draws 2] [--tested 300]

Parts, each with a table:

    wrong    spam taught as good mail, and good mail as spam, after training on as many messages of each class
    lists    mail of one mailing list taught as spam, then as good mail
    streams  each message classified and then learned; 0 and 5 % of the lessons are wrong
    orders   250 good messages and 250 spams: mixed, one class after the other, in one call and in two
    cost     2,000 messages learned: time, and bytes and rows written for each lesson

Figures are means over draws of the messages. Mail is called spam, unsure or good; 1-ROCA% is of the scores. bogofilter,
where it is installed, calls mail spam above .5, and by its own cuts spam above .99 and good mail below .45.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from compare_filters import md5, read_corpus
from mail_corpora import complain
from peer import Mail
from peers import Bogofilter
from table import print_head, print_row

from spamnb.engines.counting import count_parallel
from spamnb.evaluation.metrics import one_minus_roca
from spamnb.evaluation.online import sort_by_date
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.store.store import Store
from spamnb.training import fit, prepare, write_model

OTHER = {"ham": "spam", "spam": "ham"}
SIZES = 100, 400, 1500  # messages of each class
WRONG = 0, 4, 8, 12, 20  # wrong lessons
LIST = 20, 50, 100  # mail of a list
COST = 9  # of a good message lost, in spams let through


class Figures(NamedTuple):
    """Shares in percent of the test mail of each class."""

    caught: float  # spam called spam
    spam_unsure: float
    lost: float  # good mail called spam
    good_unsure: float
    one_minus_roca: float

    @classmethod
    def of(cls, is_spam: np.ndarray, scores: np.ndarray, verdicts: np.ndarray) -> Figures:
        shares = [
            100 * float((verdicts[mask] == verdict).mean()) if mask.any() else np.nan
            for mask in (is_spam, ~is_spam)
            for verdict in ("spam", "unsure")
        ]
        has_both = is_spam.any() and not is_spam.all()
        return cls(*shares, one_minus_roca(is_spam, scores.tolist()) if has_both else np.nan)


def evaluate(classifier: Classifier, mail: Sequence[Entry]) -> Figures:
    """Classify mail."""
    results = classifier.classify_all([entry.read() for entry in mail], 0, uncalibrated=False)
    is_spam = np.array([entry.label == "spam" for entry in mail])
    return Figures.of(
        is_spam, np.array([result.log_odds for result in results]), np.array([result.verdict for result in results])
    )


def evaluate_bogofilter(peer: Bogofilter, mail: Sequence[Entry]) -> list[Figures]:
    """Return bogofilter's figures above .5, and by its own cuts."""
    scores = np.array(peer.score([Path(entry.path) for entry in mail]))
    is_spam = np.array([entry.label == "spam" for entry in mail])
    own = np.where(scores >= 0.99, "spam", np.where(scores <= 0.45, "ham", "unsure"))
    return [Figures.of(is_spam, scores, each) for each in (np.where(scores > 0.5, "spam", "ham"), own)]


def train_classifier(mail: Sequence[Entry], path: str | Path = ":memory:") -> Classifier:
    """Make a model of mail with the default settings."""
    settings = Settings()
    store = Store.create(path, settings.as_meta())
    write_model(store, fit(prepare(count_parallel(list(mail), settings, complain)), settings), settings)
    return Classifier(store)


def draw(mail: Sequence[Entry], seed: int) -> tuple[list[Entry], list[Entry]]:
    """Return good mail and spam, in an order that depends on the seed."""
    order = sorted(mail, key=md5)
    random.Random(seed).shuffle(order)
    return [each for each in order if each.label == "ham"], [each for each in order if each.label == "spam"]


def format_figures(figures: Sequence[Figures]) -> list[str]:
    means = Figures(*np.mean(figures, axis=0).tolist())
    return [
        f"{means.caught:.1f} ({means.spam_unsure:.1f})",
        f"{means.lost:.2f} ({means.good_unsure:.2f})",
        f"{means.one_minus_roca:.3f}",
    ]


HEADS = "spam caught (unsure) %", "good lost (unsure) %", "1-ROCA%"


def wrong_lessons(mail: list[Entry], arguments: argparse.Namespace) -> None:
    print_head("trained", "wrong lessons", "filter", *HEADS)
    peer = Bogofilter.name if Bogofilter(Path(tempfile.mkdtemp(prefix="look-"))).describe_missing() is None else ""
    for size in arguments.sizes:
        for wrong in ("spam", "ham"):
            figures: dict[tuple[int, str], list[Figures]] = {}
            for seed in range(arguments.draws):
                parts = draw(mail, seed)
                taught = parts[wrong == "spam"][size : size + max(WRONG)]
                first = size + max(WRONG)
                tested = [each for part in parts for each in part[first : first + arguments.tested]]
                learned = [each for part in parts for each in part[:size]]
                with train_classifier(learned) as classifier, tempfile.TemporaryDirectory() as folder:
                    bogofilter = Bogofilter(Path(folder, "bogofilter"))
                    if peer:
                        bogofilter.train([Mail(str(each.label), Path(each.path)) for each in learned])
                    for before, n in zip((0, *WRONG), WRONG):
                        for each in taught[before:n]:
                            classifier.learn(OTHER[wrong], each.read())
                            if peer:
                                bogofilter.train([Mail(OTHER[wrong], Path(each.path))])
                        figures.setdefault((n, "spamnb"), []).append(evaluate(classifier, tested))
                        if peer:
                            by_half, by_own = evaluate_bogofilter(bogofilter, tested)
                            figures.setdefault((n, "bogofilter .5"), []).append(by_half)
                            figures.setdefault((n, "bogofilter, its own"), []).append(by_own)
            for (n, name), of_draws in figures.items():
                print_row(f"{size} + {size}", f"{n} {wrong} as {OTHER[wrong]}", name, *format_figures(of_draws))


def find_lists(mail: Sequence[Entry], least: int) -> list[list[Entry]]:
    """Return the good mail of the mailing lists with at least this number of messages, the largest list first."""
    lists: dict[bytes, list[Entry]] = {}
    for entry in mail:
        head = entry.read().partition(b"\n\n")[0]
        if entry.label == "ham" and (field := re.search(rb"(?im)^(?:List-Id|X-BeenThere): *(.*)$", head)):
            lists.setdefault(field[1], []).append(entry)
    return sorted((each for each in lists.values() if len(each) >= least), key=len, reverse=True)


def list_lessons(mail: list[Entry], arguments: argparse.Namespace) -> None:
    print_head("mail of the list taught", "its other mail called spam %", *HEADS)
    lists = find_lists(sorted(mail, key=md5), max(LIST) + 30)[: arguments.draws]
    rows: dict[str, list[tuple[float, Figures]]] = {}
    for of_list in lists:
        ids = {id(each) for each in of_list}
        ham, spam = ([each for each in part if id(each) not in ids] for part in draw(mail, 0))
        tested = ham[400 : 400 + arguments.tested] + spam[400 : 400 + arguments.tested]
        rest = of_list[max(LIST) :][: arguments.tested]
        with train_classifier(ham[:400] + spam[:400]) as classifier:
            for label in ("spam", "ham"):
                for before, n in zip((0, 0, *LIST), (0, *LIST)):
                    for each in of_list[before:n]:
                        classifier.learn(label, each.read())
                    row = f"{n} as {label}" + (", moved" if label == "ham" and n else "")
                    rows.setdefault(row, []).append((evaluate(classifier, rest).lost, evaluate(classifier, tested)))
    for row, figures in rows.items():
        print_row(
            row, f"{np.mean([share for share, _ in figures]):.1f}", *format_figures([each for _, each in figures])
        )


def count_errors(is_spam: np.ndarray, scores: np.ndarray, verdicts: np.ndarray) -> tuple[int, int, float]:
    """Return the good mail called spam, the spam not called spam, and 1-ROCA%."""
    lost, through = int((verdicts[~is_spam] == "spam").sum()), int((verdicts[is_spam] != "spam").sum())
    return lost, through, one_minus_roca(is_spam, scores)


def streams(mail: list[Entry], arguments: argparse.Namespace) -> None:
    print_head("wrong lessons", "lost", "let through", f"{COST} · lost + through", "unsure", "1-ROCA%")
    is_dated = arguments.corpus == "spamassassin"
    ordered = sort_by_date(mail, complain) if is_dated else sorted(mail, key=md5)
    ordered = ordered[:: max(1, len(ordered) // arguments.stream)][: arguments.stream]
    for share in (0.0, 0.05):
        chance, rows = random.Random(1), []
        with Classifier.create(":memory:") as classifier, classifier.store.writing():
            for entry in ordered:
                message = classifier.read(entry.read())
                result = classifier.classify(message, n_evidence=0, uncalibrated=False)
                rows.append((entry.label == "spam", result.log_odds, result.verdict))
                label = OTHER[str(entry.label)] if chance.random() < share else str(entry.label)
                classifier.learn(label, message, classification=result)
        is_spam, scores, verdicts = (np.array(column) for column in zip(*rows))
        lost, through, area = count_errors(is_spam, scores, verdicts)
        print_row(f"{100 * share:.0f} %", lost, through, COST * lost + through, int((verdicts == "unsure").sum()),
             f"{area:.4f}")  # fmt: skip


def orders(mail: list[Entry], arguments: argparse.Namespace) -> None:
    print_head("order", "calls", "lost", "let through", f"{COST} · lost + through", "1-ROCA%")
    table: dict[tuple[str, str], list[tuple[int, int, float]]] = {}
    for seed in range(arguments.draws):
        ham, spam = draw(mail, seed)
        tested = ham[250:750] + spam[250:750]
        mixed = [each for pair in zip(ham[:250], spam[:250]) for each in pair]
        for name, order in (
            ("mixed", mixed),
            ("good first", ham[:250] + spam[:250]),
            ("spam first", spam[:250] + ham[:250]),
        ):
            for calls, parts in (("one", [order]), ("two", [order[:250], order[250:]])):
                with Classifier.create(":memory:") as classifier:
                    for part in parts:
                        classifier.learn_all([str(each.label) for each in part], [each.read() for each in part])
                    results = classifier.classify_all([each.read() for each in tested], 0, uncalibrated=False)
                is_spam = np.array([each.label == "spam" for each in tested])
                scores, verdicts = (np.array(column) for column in zip(*((r.log_odds, r.verdict) for r in results)))
                table.setdefault((name, calls), []).append(count_errors(is_spam, scores, verdicts))
    for (name, calls), rows in table.items():
        lost, through, area = np.mean(rows, axis=0).tolist()
        print_row(name, calls, f"{lost:.1f}", f"{through:.1f}", f"{COST * lost + through:.0f}", f"{area:.4f}")


def cost(mail: list[Entry], arguments: argparse.Namespace) -> None:
    print_head("lessons", "commands", "seconds", "rows changed a lesson")
    ham, spam = draw(mail, 0)
    taught = [each for pair in zip(ham[400:1400], spam[400:1400]) for each in pair]
    for name, size in (("one", len(taught)), ("one a message", 1)):
        lessons = taught if size > 1 else taught[:200]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model")
            train_classifier(ham[:400] + spam[:400], path).close()
            with Classifier.open(path, writable=True) as classifier:
                store = classifier.store
                raws = [each.read() for each in lessons]
                changes, started = store.execute("SELECT total_changes()").fetchone()[0], time.process_time()
                for first in range(0, len(lessons), size):
                    part = slice(first, first + size)
                    classifier.learn_all([str(each.label) for each in lessons[part]], raws[part])
                seconds = time.process_time() - started
                rows = store.execute("SELECT total_changes()").fetchone()[0] - changes
        print_row(len(lessons), name, f"{seconds:.2f}", f"{rows / len(lessons):.0f}")


PARTS = {"wrong": wrong_lessons, "lists": list_lessons, "streams": streams, "orders": orders, "cost": cost}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="+", choices=PARTS, metavar="PART")
    parser.add_argument("--corpus", default="spamassassin", help="a corpus of mail_corpora.py")
    parser.add_argument("--draws", type=int, default=2)
    parser.add_argument("--tested", type=int, default=300, help="messages of each class that are classified")
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="messages of each class of a training")
    parser.add_argument("--stream", type=int, default=3000, help="messages of a stream")
    arguments = parser.parse_args()
    mail = [each for each in read_corpus(arguments.corpus)[0] if each.label in OTHER]
    for part in arguments.parts:
        print(f"\n{arguments.corpus}: {part}\n", flush=True)
        PARTS[part](mail, arguments)


if __name__ == "__main__":
    main()
