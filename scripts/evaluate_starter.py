"""Measure models that add to a shared model: the starter, on streams that it has not seen, or a mail server's model.

    python scripts/evaluate_starter.py [--messages 0 5 20 100] [--streams enron2 ...]
    python scripts/evaluate_starter.py --week
    python scripts/evaluate_starter.py --users 10

A model learns consecutive messages of the first half of a stream, of both classes or of one; up to 700 messages of the
second half are classified. Beside it are a model without starter and bogofilter at .5 and at its own .99. The streams
are SpamAssassin by date, from the 1,000th message on, when both classes arrive; enron2; enron3; and modern phishing and
spam mixed into the newest good mail of SpamAssassin.

With --week an inbox of 800 good messages is learned. On each of seven days 80 good messages and 20 spams are classified
by the model of the morning; in the evening the lost ones and those let through are corrected.

With --users the shared model is trained on SpamAssassin's mail. The streams are Enron's accounts in the order of time,
and modern phishing mixed with good mail of SpamAssassin that the shared model has not learned. Each user teaches
messages from a random one of the first half on; figures are means over the users. The last line of each stream is a
shared model that learned the messages of all users.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from build_starter import find_collections, make_starter
from compare_filters import md5
from compare_streams import mix
from evaluate_lessons import train_classifier
from mail_corpora import complain, corpora_folder
from peer import Mail
from peers import Bogofilter
from table import print_head, print_row

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
MIN_REST = 300  # messages from a user's first message to the end of the first half, so that 100 can be taught
CUTS = {"bogofilter .5": 0.5, "bogofilter .99": 0.99}
INBOX, GOOD_A_DAY, SPAM_A_DAY, DAYS = 800, 80, 20, 7

Stream = tuple[tuple[str, ...], list[Entry]]  # the collections of the starter, and the mail


class Errors(NamedTuple):
    """Errors on the messages that were classified."""

    lost: float  # share of good mail called spam
    through: float  # share of spam not called spam
    log_loss: float = 0.0  # nats

    def __str__(self) -> str:
        return f"{100 * self.lost:.2f}/{100 * self.through:.0f}"


def read_enron(name: str, root: Path) -> list[Entry]:
    """Return the mail of an account in the order of time."""
    return sorted(find_collections([name], root)[name], key=lambda entry: Path(entry.path).name)


def read_modern(name: str, root: Path) -> list[Entry]:
    return sorted(find_labelled_entries([f"spam={root}/modern/{name}"], complain), key=md5)


def make_streams(root: Path, n_good: int) -> dict[str, Stream]:
    """Return the streams by name; modern spam is mixed into ``n_good`` good messages."""
    assassin = sort_by_date(find_collections(["spamassassin"], root)["spamassassin"], complain)
    good = [entry for entry in assassin if entry.label == "ham"][-n_good:]
    streams: dict[str, Stream] = {
        "SpamAssassin by date": (("enron1", "enron2", "modern-spam", "lingspam"), assassin[FIRST:])
    }
    for name in ("enron2", "enron3"):
        streams[name] = ("spamassassin", "lingspam", "modern-spam"), read_enron(name, root)
    for name in ("phishing", "spam"):
        streams[f"modern {name}"] = ("enron1", "enron2", "lingspam"), mix(good, read_modern(name, root))
    return streams


def make_accounts(root: Path) -> dict[str, tuple[list[Entry], list[Entry]]]:
    """Return by name the mail of the shared model, and the stream of an account."""
    assassin = sorted(find_collections(["spamassassin"], root)["spamassassin"], key=md5)
    learned, unlearned = ([entry for entry in assassin if md5(entry) % 2 == odd] for odd in (0, 1))
    phishing = read_modern("phishing", root)
    good = [entry for entry in unlearned if entry.label == "ham"][: 2 * len(phishing)]
    enron = {name: (assassin, read_enron(name, root)) for name in ("enron1", "enron2", "enron3")}
    return {"phishing": (learned, mix(good, phishing)), **enron}


def split(stream: Sequence[Entry], label: str | None = None) -> tuple[list[Entry], list[Entry]]:
    """Return the messages to learn, of a class or of all, and those to classify."""
    half = len(stream) // 2
    places = random.Random(1).sample(range(half, len(stream)), min(MAX_TEST, len(stream) - half))
    return [each for each in stream[:half] if label in (None, each.label)], [stream[place] for place in sorted(places)]


def measure(test: Sequence[Entry], called: np.ndarray, log_loss: float = 0.0) -> Errors:
    """Return the errors, if these messages were called spam."""
    is_spam = np.array([each.label == "spam" for each in test])
    return Errors(float(called[~is_spam].mean()), float((~called[is_spam]).mean()), log_loss)


def classify(classifier: Classifier, mail: Sequence[Entry]) -> tuple[np.ndarray, float]:
    """Return which messages have the verdict spam, and the log loss."""
    results = classifier.classify_all([each.read() for each in mail], 0, uncalibrated=False)
    losses = [-np.log(result.probabilities.get(str(each.label), 1.0)) for result, each in zip(results, mail)]
    return np.array([result.verdict == "spam" for result in results]), float(np.mean(losses))


def evaluate(
    path: Path, shared: Path | None, lessons: Sequence[Entry], test: Sequence[Entry], numbers: Sequence[int]
) -> list[Errors]:
    """Return the errors after each number of lessons of a new model at ``path``."""
    errors, n_learned = [], 0
    if shared is None:
        create_empty(path, Settings().as_meta())
    else:
        with Classifier.open(shared) as classifier:
            create_empty(path, classifier.store.addition(path))
    with Classifier.open(path, writable=True) as classifier:
        for number in numbers:
            for each in lessons[n_learned:number]:
                classifier.learn(str(each.label), each.read())
            n_learned = number
            errors.append(measure(test, *classify(classifier, test)))
    return errors


def evaluate_bogofilter(
    folder: Path, stream: Sequence[Entry], numbers: Sequence[int]
) -> Iterator[tuple[str, list[Errors]]]:
    """Yield the same by bogofilter, for each of its cuts."""
    lessons, test = split(stream)
    peer, n_learned, scores = Bogofilter(folder), 0, []
    for number in numbers:
        peer.train([Mail(str(each.label), Path(each.path)) for each in lessons[n_learned:number]])
        n_learned = number
        scores.append(np.array(peer.score([Path(each.path) for each in test])))
    for name, cut in CUTS.items():
        yield name, [measure(test, each > cut if cut == 0.5 else each >= cut) for each in scores]


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
            called, _ = classify(classifier, mail)
            figures["spamnb"].append(called)
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
        print_row(name, filter_name, *cells, f"{sum(lost)}/{sum(through)}", sum(lost) + sum(through))


def evaluate_starter(work: Path, name: str, stream: Stream, root: Path, numbers: Sequence[int]) -> None:
    """Print the errors of a model beside a starter, of one without, and of bogofilter."""
    collections, mail = stream
    make_starter(find_collections(collections, root), work / NAME).close()
    for label in (None, "ham", "spam"):
        errors = evaluate(work / f"model-{label}", work / NAME, *split(mail, label), numbers)
        print_row(name, label or "both", "starter", *errors)
    print_row(name, "both", "no starter", *evaluate(work / "alone", None, *split(mail), numbers))
    for peer, errors in evaluate_bogofilter(work / "bogofilter", mail, numbers):
        print_row(name, "both", peer, *errors)


def evaluate_users(
    work: Path, name: str, shared_mail: list[Entry], stream: list[Entry], numbers: Sequence[int], n_users: int
) -> None:
    """Print the errors of users beside a shared model, and of a shared model that all users teach."""
    path = work / "shared"
    train_classifier(shared_mail, path).close()
    lessons, test = split(stream)
    begins = [random.Random(user).randrange(max(len(lessons) - MIN_REST, 1)) for user in range(n_users)]
    of_users = [evaluate(work / f"{user}", path, lessons[begin:], test, numbers) for user, begin in enumerate(begins)]
    means = [Errors(*np.mean(errors, axis=0)) for errors in zip(*of_users)]
    print_row(name, *(f"{each}, {each.log_loss:.3f}" for each in means))
    with Classifier.open(path, writable=True) as shared:
        number = numbers[len(numbers) // 2]
        for begin in begins:
            for each in lessons[begin:][:number]:
                shared.learn(str(each.label), each.read())
        errors = measure(test, *classify(shared, test))
    print_row(f"{name}, {number} of each user in the shared model", f"{errors}, {errors.log_loss:.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, nargs="+", default=[0, 5, 20, 100], help="learned; ascending")
    parser.add_argument("--streams", nargs="+", metavar="STREAM", help="[default: all]")
    parser.add_argument("--week", action="store_true", help="an inbox, and then a week of mail")
    parser.add_argument("--users", type=int, help="number of users beside a shared model")
    arguments = parser.parse_args()
    root, numbers = corpora_folder("spamassassin"), arguments.messages
    if arguments.users:
        print_head("stream", *numbers)
        streams = make_accounts(root)
    elif arguments.week:
        print_head("stream", "filter", *(f"day {day + 1}" for day in range(DAYS)), "sum", "corrections")
        streams = make_streams(root, INBOX + DAYS * GOOD_A_DAY)
    else:
        print_head("stream", "learned", "", *numbers)
        streams = make_streams(root, NEWEST_GOOD)
    for name in arguments.streams or streams:
        with tempfile.TemporaryDirectory(prefix="starter-") as folder:
            if arguments.users:
                evaluate_users(Path(folder), name, *streams[name], numbers, arguments.users)
            elif arguments.week:
                simulate_week(Path(folder), name, streams[name], root)
            else:
                evaluate_starter(Path(folder), name, streams[name], root, numbers)


if __name__ == "__main__":
    main()
