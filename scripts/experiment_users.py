"""Measure a user's model that adds to a shared model of other people's mail.

    python scripts/experiment_users.py [--users 25] [--messages 1 5 20 100] [--mistakes]

The shared model is trained on SpamAssassin's mail. There are four streams: Enron's accounts in the order of time, and
modern phishing mixed with good mail of SpamAssassin that the shared model has not learned. A user teaches consecutive
messages of the first half of a stream, from a random message on; with --mistakes only those that the model classifies
wrongly. At most 600 messages of the second half are classified. Figures are means over the users. The last line of each
stream is a shared model that learned the messages of all users.
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
from compare_streams import mix
from mail_corpora import complain, sources, with_corpora

from spamnb.engines.counting import count_parallel
from spamnb.filter import Classifier
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import find_labelled_entries
from spamnb.store.snapshot import create_empty
from spamnb.store.store import Store
from spamnb.training import fit, prepare, write_model

MAX_TEST = 600  # messages of each account that are classified
MIN_REST = 300  # messages from a user's first message to the end of the first half, so that 100 can be taught

Message = tuple[str, bytes]


class Account(NamedTuple):
    """A stream of mail, and the mail of the shared model."""

    shared: list[Entry]
    first_half: list[Message]
    test: list[Message]


class Figures(NamedTuple):
    """Errors on the test mail."""

    lost: float  # share of good mail called spam
    let_through: float  # share of spam not called spam
    log_loss: float  # nats


def make_account(shared: list[Entry], stream: list[Entry]) -> Account:
    """Return the account whose mail is this stream."""
    half = len(stream) // 2
    mail = [(str(entry.label), entry.read()) for entry in stream]
    positions = sorted(random.Random(1).sample(range(half, len(mail)), min(MAX_TEST, len(mail) - half)))
    return Account(shared, mail[:half], [mail[position] for position in positions])


def accounts(root: Path) -> Iterator[tuple[str, Account]]:
    """Yield (name, account)."""
    assassin = sorted(find_labelled_entries(sources("spamassassin", root), complain), key=md5)
    learned, unlearned = ([entry for entry in assassin if md5(entry) % 2 == odd] for odd in (0, 1))
    phishing = sorted(find_labelled_entries([f"spam={root}/modern/phishing"], complain), key=md5)
    good = [entry for entry in unlearned if entry.label == "ham"]
    yield "phishing", make_account(learned, mix(good[: 2 * len(phishing)], phishing))
    for name in ("enron1", "enron2", "enron3"):
        mail = sorted(find_labelled_entries(sources(name, root), complain), key=lambda entry: Path(entry.path).name)
        yield name, make_account(assassin, mail)


def evaluate(classifier: Classifier, test: Sequence[Message]) -> Figures:
    """Classify the test mail of an account."""
    results = classifier.classify_all([raw for _, raw in test], 0, uncalibrated=False)
    is_spam = np.array([label == "spam" for label, _ in test])
    called = np.array([result.verdict == "spam" for result in results])
    losses = [-np.log(result.probabilities[label]) for result, (label, _) in zip(results, test)]
    return Figures(float(called[~is_spam].mean()), float((~called[is_spam]).mean()), float(np.mean(losses)))


def teach(classifier: Classifier, mail: Iterator[Message], number: int, mistakes: bool) -> None:
    """Teach this number of messages, or of messages that the model classifies wrongly."""
    while number and (message := next(mail, None)) is not None:
        label, raw = message
        if not mistakes or classifier.classify(raw, n_evidence=0, uncalibrated=False).verdict != label:
            number -= classifier.learn(label, raw)


def users_of(account: Account, users: int) -> list[list[Message]]:
    """Return the mail of each user, from a random message of the first half on."""
    first_half = account.first_half
    begins = [random.Random(user).randrange(max(len(first_half) - MIN_REST, 1)) for user in range(users)]
    return [first_half[begin:] for begin in begins]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--users", type=int, default=25, help="of each account")
    parser.add_argument("--messages", type=int, nargs="+", default=[1, 5, 20, 100], help="learned of a user; ascending")
    parser.add_argument("--mistakes", action="store_true", help="teach only messages that the model classifies wrongly")
    arguments = with_corpora(parser, "spamassassin")
    print("| account | learned messages | good mail lost | spam let through | log loss | users better off |")
    print("|---|---|---|---|---|---|", flush=True)

    def show(name: str, messages: str, figures: Sequence[Figures], before: Figures) -> None:
        lost, let_through, log_loss = np.mean(figures, axis=0)
        better = sum(user.log_loss < before.log_loss for user in figures)
        shares = f"{100 * lost:.2f} % | {100 * let_through:.2f} %"
        print(f"| {name} | {messages} | {shares} | {log_loss:.4f} | {better} of {len(figures)} |", flush=True)

    with tempfile.TemporaryDirectory(prefix="users-") as work:
        for name, account in accounts(arguments.corpora):
            path, settings = Path(work) / name, Settings()
            with Store.create(path, settings.as_meta()) as store:
                write_model(store, fit(prepare(count_parallel(account.shared, settings, complain)), settings), settings)
            with Classifier.open(path) as shared:
                before, addition = evaluate(shared, account.test), shared.store.addition(path)
            show(name, "0", [before], before)
            figures: dict[int, list[Figures]] = {number: [] for number in arguments.messages}
            for user, mail in enumerate(map(iter, users_of(account, arguments.users))):
                user_path = path.with_suffix(f".{user}")
                create_empty(user_path, addition)
                with Classifier.open(user_path, writable=True) as model:
                    for fewer, number in zip([0, *arguments.messages], arguments.messages):
                        teach(model, mail, number - fewer, arguments.mistakes)
                        figures[number].append(evaluate(model, account.test))
            for number, of_users in figures.items():
                show(name, str(number), of_users, before)
            with Classifier.open(path, writable=True) as shared:
                number = arguments.messages[len(arguments.messages) // 2]
                for mail in users_of(account, arguments.users):
                    teach(shared, iter(mail), number, arguments.mistakes)
                show(name, f"{number} of each user, in the shared model", [evaluate(shared, account.test)], before)


if __name__ == "__main__":
    main()
