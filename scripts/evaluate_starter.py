"""Measure a model that adds to a starter, on streams whose collection the starter has not seen.

    python scripts/evaluate_starter.py [--messages 0 5 20 100] [--streams enron2 ...]
    python scripts/evaluate_starter.py --week

A model learns consecutive messages of the first half of a stream, of both classes or of one; up to 700 messages of the
second half are classified. Beside it are a model without starter and bogofilter at .5 and at its own .99. The streams
are SpamAssassin by date, from the 1,000th message on, when both classes arrive; enron2; enron3; and modern phishing and
spam mixed into the newest good mail of SpamAssassin.

With --week an inbox of 800 good messages is learned. On each of seven days 80 good messages and 20 spams are classified
by the model of the morning; in the evening the lost ones and those let through are corrected.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from build_starter import find_collections, make_starter
from compare_filters import md5
from compare_streams import mix
from mail_corpora import complain, with_corpora
from peer import Mail
from peers import Bogofilter

from spamnb.api.train import train
from spamnb.evaluation.online import sort_by_date
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.store.snapshot import create_empty
from spamnb.store.starter import NAME

MAX_TEST = 700  # messages of each stream that are classified
NEWEST_GOOD = 1200  # good messages into which modern spam and phishing are mixed
FIRST = 1000  # messages of SpamAssassin that are nearly all spam, by date
CUTS = {"bogofilter .5": 0.5, "bogofilter .99": 0.99}
INBOX, GOOD_A_DAY, SPAM_A_DAY, DAYS = 800, 80, 20, 7

Stream = tuple[tuple[str, ...], list[Entry]]  # the collections of the starter, and the mail


def make_streams(root: Path, n_good: int) -> dict[str, Stream]:
    """Return the streams by name; modern spam is mixed into ``n_good`` good messages."""
    assassin = sort_by_date(find_collections(["spamassassin"], root)["spamassassin"], complain)
    good = [entry for entry in assassin if entry.label == "ham"][-n_good:]
    streams: dict[str, Stream] = {
        "SpamAssassin by date": (("enron1", "enron2", "modern-spam", "lingspam"), assassin[FIRST:])
    }
    for name in ("enron2", "enron3"):
        mail = sorted(find_collections([name], root)[name], key=lambda entry: Path(entry.path).name)
        streams[name] = ("spamassassin", "lingspam", "modern-spam"), mail
    for name in ("phishing", "spam"):
        spam = sorted(find_labelled_entries([f"spam={root}/modern/{name}"], complain), key=md5)
        streams[f"modern {name}"] = ("enron1", "enron2", "lingspam"), mix(good, spam)
    return streams


def split(stream: Sequence[Entry], label: str | None) -> tuple[list[Entry], list[Entry]]:
    """Return the messages to learn, of a class or of all, and those to classify."""
    half = len(stream) // 2
    places = random.Random(1).sample(range(half, len(stream)), min(MAX_TEST, len(stream) - half))
    return [each for each in stream[:half] if label in (None, each.label)], [stream[place] for place in sorted(places)]


def format_shares(is_spam: np.ndarray, called: np.ndarray) -> str:
    return f"{100 * called[~is_spam].mean():.2f}/{100 * (~called[is_spam]).mean():.0f}"


def call_spam(classifier: Classifier, mail: Sequence[Entry]) -> np.ndarray:
    """Return which messages have the verdict spam."""
    results = classifier.classify_all([each.read() for each in mail], 0, uncalibrated=False)
    return np.array([result.verdict == "spam" for result in results])


def evaluate(
    path: Path, starter: Path | None, stream: Sequence[Entry], label: str | None, numbers: Sequence[int]
) -> list[str]:
    """Return "good mail lost / spam let through" in percent after each number of learned messages."""
    lessons, test = split(stream, label)
    is_spam, cells, n_learned = np.array([each.label == "spam" for each in test]), [], 0
    if starter is None:
        create_empty(path, Settings().as_meta())
    else:
        with Classifier.open(starter) as classifier:
            create_empty(path, classifier.store.addition(path))
    with Classifier.open(path, writable=True) as classifier:
        for number in numbers:
            for each in lessons[n_learned:number]:
                classifier.learn(str(each.label), each.read())
            n_learned = number
            cells.append(format_shares(is_spam, call_spam(classifier, test)))
    return cells


def evaluate_bogofilter(
    folder: Path, stream: Sequence[Entry], label: str | None, numbers: Sequence[int]
) -> Iterator[tuple[str, list[str]]]:
    """Yield the same by bogofilter, for each of its cuts."""
    lessons, test = split(stream, label)
    is_spam, peer, n_learned = np.array([each.label == "spam" for each in test]), Bogofilter(folder), 0
    scores = []
    for number in numbers:
        peer.train([Mail(str(each.label), Path(each.path)) for each in lessons[n_learned:number]])
        n_learned = number
        scores.append(np.array(peer.score([Path(each.path) for each in test])))
    for name, cut in CUTS.items():
        yield name, [format_shares(is_spam, each > cut if cut == 0.5 else each >= cut) for each in scores]


def show(*cells: object) -> None:
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def simulate_week(work: Path, name: str, stream: Stream, root: Path) -> None:
    """Print the good mail lost and the spam let through on each day, by spamnb and by bogofilter."""
    collections, mail = stream
    good, spam = ([each for each in mail if each.label == label] for label in ("ham", "spam"))
    days = range(min(DAYS, (len(good) - INBOX) // GOOD_A_DAY, len(spam) // SPAM_A_DAY))
    week = [good[INBOX + GOOD_A_DAY * day :][:GOOD_A_DAY] + spam[SPAM_A_DAY * day :][:SPAM_A_DAY] for day in days]
    inbox = work / "inbox"
    inbox.mkdir()
    for number, each in enumerate(good[:INBOX]):
        (inbox / f"{number:04}.eml").write_bytes(each.read())
    make_starter(find_collections(collections, root), work / NAME).close()
    train(f"ham={inbox}", work / "model", tell=lambda line: None)
    figures: dict[str, list[np.ndarray]] = {"spamnb": []}
    with Classifier.open(work / "model", writable=True) as classifier:
        for mail in week:
            figures["spamnb"].append(called := call_spam(classifier, mail))
            for each, is_called in zip(mail, called):
                if is_called != (each.label == "spam"):
                    classifier.learn(str(each.label), each.read())
    for peer_name, cut in CUTS.items():
        peer, figures[peer_name] = Bogofilter(work / peer_name.replace(" ", "-")), []
        peer.train([Mail("ham", Path(each.path)) for each in good[:INBOX]])
        for mail in week:
            scores = np.array(peer.score([Path(each.path) for each in mail]))
            figures[peer_name].append(called := scores > cut if cut == 0.5 else scores >= cut)
            wrong = [each for each, is_called in zip(mail, called) if is_called != (each.label == "spam")]
            peer.train([Mail(str(each.label), Path(each.path)) for each in wrong])
    for filter_name, by_day in figures.items():
        lost = [int(called[:GOOD_A_DAY].sum()) for called in by_day]
        through = [int((~called[GOOD_A_DAY:]).sum()) for called in by_day]
        cells = [f"{a}/{b}" for a, b in zip(lost, through)]
        show(name, filter_name, *cells, f"{sum(lost)}/{sum(through)}", sum(lost) + sum(through))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[0, 5, 20, 100], help="learned; ascending")
    parser.add_argument("--streams", nargs="+", metavar="STREAM", help="[default: all]")
    parser.add_argument("--week", action="store_true", help="an inbox, and then a week of mail")
    arguments = with_corpora(parser, "spamassassin")
    n_good = INBOX + DAYS * GOOD_A_DAY if arguments.week else NEWEST_GOOD
    streams = make_streams(arguments.corpora, n_good)
    streams = {name: streams[name] for name in arguments.streams or streams}
    if arguments.week:
        show("stream", "filter", *(f"day {day + 1}" for day in range(DAYS)), "sum", "corrections")
        show(*["---"] * (DAYS + 4))
        for name, stream in streams.items():
            with tempfile.TemporaryDirectory(prefix="week-") as work:
                simulate_week(Path(work), name, stream, arguments.corpora)
        return
    show("stream", "learned", "", *arguments.messages)
    show(*["---"] * (len(arguments.messages) + 3))
    with tempfile.TemporaryDirectory(prefix="starter-") as folder:
        for name, (collections, stream) in streams.items():
            work = Path(folder) / name.replace(" ", "-")
            work.mkdir()
            make_starter(find_collections(collections, arguments.corpora), work / NAME).close()
            for label in (None, "ham", "spam"):
                cells = evaluate(work / f"model-{label}", work / NAME, stream, label, arguments.messages)
                show(name, label or "both", "starter", *cells)
            show(name, "both", "no starter", *evaluate(work / "alone", None, stream, None, arguments.messages))
            for peer, cells in evaluate_bogofilter(work / "bogofilter", stream, None, arguments.messages):
                show(name, "both", peer, *cells)


if __name__ == "__main__":
    main()
