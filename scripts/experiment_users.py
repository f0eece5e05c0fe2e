"""What a user's lessons do on top of a shared model of other people's mail.

    python scripts/experiment_users.py [--users 25] [--lessons 0 1 5 20 100] [--mistakes]

The shared model is of SpamAssassin's mail. Enron's accounts are read in the order of time; modern phishing is mixed
with the half of SpamAssassin's good mail that the shared model has not seen. The first half of each stream teaches, the
second is judged, at most 600 messages of it. A user begins anywhere in the first half and teaches the messages from
there on, or with --mistakes those of them that the model gets wrong. Figures are means over the users; the last lines
are of one shared model that all users taught.
"""

from __future__ import annotations

import argparse
import random
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from compare_filters import md5
from compare_streams import mixed
from mail_corpora import complain, sources, with_corpora

from spamnb.classifier import Classifier
from spamnb.engines.counting import count_parallel
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.store.snapshot import create_empty
from spamnb.store.store import Store
from spamnb.training import fit, prepare, write_model

MAX_JUDGED = 600
ROOM = 300  # messages at least between a user's first lesson and the end of the first half

Message = tuple[str, bytes]


class Account(NamedTuple):
    """A stream of mail, and the mail of the shared model."""

    shared: list[Entry]
    first: list[Message]
    judged: list[Message]


class Figures(NamedTuple):
    """Errors on the judged mail."""

    lost: float  # share of good mail called spam
    let_through: float  # share of spam
    log_loss: float  # nats


def account(shared: list[Entry], stream: list[Entry]) -> Account:
    """Return the account whose mail is this stream."""
    half = len(stream) // 2
    mail = [(str(entry.label), entry.read()) for entry in stream]
    chosen = sorted(random.Random(1).sample(range(half, len(mail)), min(MAX_JUDGED, len(mail) - half)))
    return Account(shared, mail[:half], [mail[place] for place in chosen])


def accounts(root: Path) -> Iterator[tuple[str, Account]]:
    """Return the accounts by name."""
    assassin = sorted(find_labelled_entries(sources("spamassassin", root), complain), key=md5)
    seen, unseen = ([entry for entry in assassin if md5(entry) % 2 == odd] for odd in (0, 1))
    phishing = sorted(find_labelled_entries([f"spam={root}/modern/phishing"], complain), key=md5)
    good = [entry for entry in unseen if entry.label == "ham"]
    yield "phishing", account(seen, mixed(good[: 2 * len(phishing)], phishing))
    for name in ("enron1", "enron2", "enron3"):
        mail = sorted(find_labelled_entries(sources(name, root), complain), key=lambda entry: Path(entry.path).name)
        yield name, account(assassin, mail)


def figures(classifier: Classifier, judged: Sequence[Message]) -> Figures:
    """Judge the mail of an account."""
    results = classifier.classify_all([raw for _, raw in judged], 0, posterior=False)
    is_spam = np.array([label == "spam" for label, _ in judged])
    called = np.array([result.verdict == "spam" for result in results])
    losses = [-np.log(result.probabilities[label]) for result, (label, _) in zip(results, judged)]
    return Figures(float(called[~is_spam].mean()), float((~called[is_spam]).mean()), float(np.mean(losses)))


def teach(classifier: Classifier, mail: Iterator[Message], lessons: int, mistakes: bool) -> None:
    """Teach so many messages; all that come, or those that the model gets wrong."""
    while lessons and (message := next(mail, None)) is not None:
        label, raw = message
        if not mistakes or classifier.classify(raw, tokens=0, posterior=False).verdict != label:
            lessons -= classifier.learn(label, raw)


def users_of(own: Account, users: int) -> list[list[Message]]:
    """Return the mail of each user, from the first lesson on."""
    return [own.first[random.Random(user).randrange(max(len(own.first) - ROOM, 1)) :] for user in range(users)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=25, help="of each account")
    parser.add_argument("--lessons", type=int, nargs="+", default=[1, 5, 20, 100], help="ascending")
    parser.add_argument("--mistakes", action="store_true", help="teach what the model gets wrong alone")
    given = with_corpora(parser, "spamassassin")
    print("| account | lessons | good mail lost | spam let through | log loss | users better off |")
    print("|---|---|---|---|---|---|", flush=True)

    def show(name: str, lessons: str, each: Sequence[Figures], before: Figures) -> None:
        lost, let_through, log_loss = np.mean(each, axis=0)
        better = sum(of_user.log_loss < before.log_loss for of_user in each)
        shares = f"{100 * lost:.2f} % | {100 * let_through:.2f} %"
        print(f"| {name} | {lessons} | {shares} | {log_loss:.4f} | {better} of {len(each)} |", flush=True)

    with tempfile.TemporaryDirectory(prefix="users-") as work:
        for name, own in accounts(given.corpora):
            path, settings = Path(work) / name, Settings()
            with Store.create(path, settings.as_meta()) as store:
                write_model(
                    store, fit(prepare(count_parallel(own.shared, settings.tokens, complain)), settings), settings
                )
            with Classifier.open(path) as shared:
                before, addition = figures(shared, own.judged), shared.store.addition()
            show(name, "0", [before], before)
            found: dict[int, list[Figures]] = {lessons: [] for lessons in given.lessons}
            for number, mail in enumerate(map(iter, users_of(own, given.users))):
                create_empty(path.with_suffix(f".{number}"), addition)
                with Classifier.open(path.with_suffix(f".{number}"), writable=True) as user:
                    for fewer, lessons in zip([0, *given.lessons], given.lessons):
                        teach(user, mail, lessons - fewer, given.mistakes)
                        found[lessons].append(figures(user, own.judged))
            for lessons, each in found.items():
                show(name, str(lessons), each, before)
            with Classifier.open(path, writable=True) as shared:
                lessons = given.lessons[len(given.lessons) // 2]
                for first in users_of(own, given.users):
                    teach(shared, iter(first), lessons, given.mistakes)
                show(name, f"{lessons} of each user, in the shared model", [figures(shared, own.judged)], before)


if __name__ == "__main__":
    main()
