"""Measure a model that adds to a starter, on streams whose collection the starter has not seen.

    python scripts/evaluate_starter.py [--messages 0 5 20 100] [--shared]

A model learns consecutive messages of the first half of a stream, of both classes or of one; up to 700 messages of the
second half are classified. With --shared the starter is treated as any shared model. The streams are SpamAssassin by
date, enron2, and modern phishing and spam mixed into the newest good mail of SpamAssassin.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from build_starter import find_collections, make_starter
from compare_filters import md5
from compare_streams import mix
from mail_corpora import complain, with_corpora

from spamnb.evaluation.online import sort_by_date
from spamnb.filter import Classifier
from spamnb.model.model import STARTER
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.store.snapshot import create_empty

MAX_TEST = 700  # messages of each stream that are classified
NEWEST_GOOD = 1200  # good messages into which modern spam and phishing are mixed


def make_streams(root: Path) -> dict[str, tuple[tuple[str, ...], list[Entry]]]:
    """Return the collections of the starter and the stream, by name."""
    assassin = sort_by_date(find_collections(["spamassassin"], root)["spamassassin"], complain)
    enron = sorted(find_collections(["enron2"], root)["enron2"], key=lambda entry: Path(entry.path).name)
    good = [entry for entry in assassin if entry.label == "ham"][-NEWEST_GOOD:]
    streams = {
        "SpamAssassin by date": (("enron1", "enron2", "modern-spam", "lingspam"), assassin),
        "enron2": (("spamassassin", "lingspam", "modern-spam"), enron),
    }
    for name in ("phishing", "spam"):
        spam = sorted(find_labelled_entries([f"spam={root}/modern/{name}"], complain), key=md5)
        streams[f"modern {name}"] = ("enron1", "enron2", "lingspam"), mix(good, spam)
    return streams


def evaluate(starter: Path, stream: Sequence[Entry], label: str | None, numbers: Sequence[int]) -> list[str]:
    """Return "good mail lost / spam let through" in percent after each number of learned messages of a class, or all.

    The model is beside the starter.
    """
    mail = [(str(entry.label), entry.read()) for entry in stream]
    half, cells, n_learned = len(mail) // 2, [], 0
    places = random.Random(1).sample(range(half, len(mail)), min(MAX_TEST, len(mail) - half))
    test = [mail[place] for place in sorted(places)]
    is_spam = np.array([each == "spam" for each, _ in test])
    lessons = [message for message in mail[:half] if label in (None, message[0])]
    path = starter.with_suffix(f".{label}")
    with Classifier.open(starter) as classifier:
        create_empty(path, classifier.store.addition())
    with Classifier.open(path, writable=True) as classifier:
        for number in numbers:
            for each, raw in lessons[n_learned:number]:
                classifier.learn(each, raw)
            n_learned = number
            results = classifier.classify_all([raw for _, raw in test], 0, uncalibrated=False)
            called = np.array([result.verdict == "spam" for result in results])
            cells.append(f"{100 * called[~is_spam].mean():.2f}/{100 * (~called[is_spam]).mean():.0f}")
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[0, 5, 20, 100], help="learned; ascending")
    parser.add_argument("--shared", action="store_true", help="with the rules of any shared model")
    arguments = with_corpora(parser, "spamassassin")
    print(f"| stream | learned | {' | '.join(map(str, arguments.messages))} |")
    print(f"|---|---|{'---|' * len(arguments.messages)}", flush=True)
    with tempfile.TemporaryDirectory(prefix="starter-") as work:
        for number, (name, (collections, stream)) in enumerate(make_streams(arguments.corpora).items()):
            path = Path(work) / str(number)
            with make_starter(find_collections(collections, arguments.corpora), path) as store:
                store.put_meta({STARTER: not arguments.shared})
            for label in (None, "ham", "spam"):
                cells = " | ".join(evaluate(path, stream, label, arguments.messages))
                print(f"| {name} | {label or 'both'} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
