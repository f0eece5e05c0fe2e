"""Test an account on a real Dovecot for a long time: no message may be lost, doubled, moved twice or marked as read.

    python scripts/soak_imap.py [--minutes 60] [--kill-every 120]

While ``spamnb watch --sort`` runs, mail arrives, a person moves some messages, and the server is killed at random
times. At the end each message must be unread and in one folder: the folder to which the person moved it last, or else
the folder of its verdict in the ledger. SPAMNB_MAIL_ROOT names the folder with the unpacked Dovecot, as for the tests.
The script must run as root.
"""

from __future__ import annotations

import argparse
import imaplib
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE / "tests" / "mailbox"), str(HERE / "tests")]

from imap_account import Server  # noqa: E402
from mail import mail, message  # noqa: E402
from person import FoldersOfMail, Person, key_of  # noqa: E402
from programs import Watch, watching  # noqa: E402

from spamnb.filter import Classifier  # noqa: E402
from spamnb.ledger.ledger import Ledger  # noqa: E402
from spamnb.reader.message import digest  # noqa: E402

CONNECTION_ERRORS = (imaplib.IMAP4.error, OSError, AssertionError)  # of the person's client when the server is killed
FOLDERS = ("INBOX", "Junk", "Work", "Trash")


def deliver_and_move(
    server: Server, watch: Watch, minutes: float, kill_every: float
) -> tuple[dict[str, bytes], dict[str, str]]:
    """Return {Message-ID: message} of all mail, and {Message-ID: folder or "" if unknown} of the person's moves."""
    chance, counts = random.Random(19), Counter[str]()
    messages: dict[str, bytes] = {}
    folder_of: dict[str, str] = {}
    ends, next_kill = time.monotonic() + 60 * minutes, time.monotonic() + kill_every
    while time.monotonic() < ends:
        assert watch.process.poll() is None, watch.said[-2000:]
        try:
            with server.person() as person:
                while time.monotonic() < min(ends, next_kill):
                    for label in ("ham", "spam"):
                        raw = message(label, 10_000 + len(messages))
                        messages[key_of(raw)] = raw
                        folder_of[key_of(raw)] = ""  # unknown until the server confirms the delivery
                        person.deliver(raw)
                        del folder_of[key_of(raw)]
                    time.sleep(chance.expovariate(1.0))
                    if chance.random() < 0.3:
                        counts["moves by a person"] += move_one(person, chance, list(messages), folder_of)
        except CONNECTION_ERRORS:
            time.sleep(1)
        if time.monotonic() > next_kill:
            server.kill()
            server.start()
            counts["kills"] += 1
            next_kill = time.monotonic() + kill_every * chance.uniform(0.5, 1.5)
    print(f"{len(messages):,} messages, {dict(counts)}", flush=True)
    return messages, folder_of


def move_one(person: Person, chance: random.Random, names: list[str], folder_of: dict[str, str]) -> bool:
    """Move a random message to another folder; return whether it was moved, and not by the filter meanwhile."""
    name, target = chance.choice(names), chance.choice(FOLDERS)
    places = person.mail().get(name, [])
    if len(places) != 1 or places[0][0] == target:
        return False
    before, folder_of[name] = folder_of.get(name), ""
    try:
        person.move(name, places[0][0], target)
    except AssertionError:
        folder_of |= {name: before} if before is not None else {}
        return False
    folder_of[name] = target
    return True


def find_errors(
    mail_folders: FoldersOfMail, messages: dict[str, bytes], folder_of: dict[str, str], ledger: Path
) -> list[str]:
    """Return a line for each message that is lost, doubled, marked as read, or in the wrong folder."""
    errors = []
    with Ledger.open(ledger) as opened_ledger:
        for name, raw in messages.items():
            places, entry = mail_folders.get(name, []), opened_ledger.find(digest=digest(raw))
            # A message without an entry was moved to Junk just before the connection was lost.
            expected = folder_of.get(name) or ("INBOX" if entry is not None and entry.verdict != "spam" else "Junk")
            is_unknown = folder_of.get(name) == "" and len(places) < 2  # the server was killed before it answered
            if not is_unknown and places != [(expected, "")]:
                errors.append(f"{name}: {places}, not {expected}")
    return errors


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kill-every", type=float, default=120, metavar="SECONDS")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="spamnb-imap-"))
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o755)
        model, ledger = folder / "model.spamnb", folder / "ledger"
        with Classifier.create(model) as classifier:
            for label, raw in mail(60):
                classifier.learn(label, raw)
        server = Server(folder)
        server.start()
        stack.callback(server.kill)
        os.environ.update(server.login, HOME=str(folder), XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder))
        arguments = ["--sort", "--ledger", str(ledger), "-m", str(model), server.url]
        watch = stack.enter_context(watching(folder, *arguments))
        messages, folder_of = deliver_and_move(server, watch, options.minutes, options.kill_every)
        time.sleep(40)  # after a lost connection watch waits for at most half a minute
        with server.person() as person:
            mail_folders = person.mail()
        print("watch:", dict(Counter(line.split("\t")[0].split(":")[0] for line in watch.said.splitlines())))
        if errors := find_errors(mail_folders, messages, folder_of, ledger):
            sys.exit("\n".join(errors))
        print("each message is in its folder, and none is marked as read")


if __name__ == "__main__":
    main()
