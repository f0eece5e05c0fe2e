"""An account on a real Dovecot for a long time: no message may be lost, doubled, moved twice or marked as read.

    python scripts/soak_imap.py [--minutes 60] [--kill-every 120]

Mail arrives while ``spamnb watch --sort`` runs, a person moves some of it, and the server is killed now and then. At
the end each message must be in one folder and unread: where the person put it last, or else where the verdict on it in
the journal of watch sends it. SPAMNB_MAIL_ROOT names the folder that Dovecot was unpacked into, as for the tests; needs
root.
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

from spamnb.classifier import Classifier  # noqa: E402
from spamnb.journal.journal import Journal  # noqa: E402
from spamnb.reader.message import digest  # noqa: E402

LOST = (imaplib.IMAP4.error, OSError, AssertionError)  # of a person's client when the server is killed
FOLDERS = ("INBOX", "Junk", "Work", "Trash")


def at_work(server: Server, watch: Watch, minutes: float, kill_every: float) -> tuple[dict[str, bytes], dict[str, str]]:
    """All mail that arrived by its Message-ID; and where a person put some of it, or "" where that is not known."""
    chance, counts = random.Random(19), Counter[str]()
    arrived: dict[str, bytes] = {}
    put: dict[str, str] = {}
    ends, next_kill = time.monotonic() + 60 * minutes, time.monotonic() + kill_every
    while time.monotonic() < ends:
        assert watch.process.poll() is None, watch.said[-2000:]
        try:
            with server.person() as person:
                while time.monotonic() < min(ends, next_kill):
                    for label in ("ham", "spam"):
                        raw = message(label, 10_000 + len(arrived))
                        arrived[key_of(raw)] = raw
                        put[key_of(raw)] = ""  # until the server has said that it has it
                        person.deliver(raw)
                        del put[key_of(raw)]
                    time.sleep(chance.expovariate(1.0))
                    if chance.random() < 0.3:
                        counts["moves by a person"] += moved(person, chance, list(arrived), put)
        except LOST:
            time.sleep(1)
        if time.monotonic() > next_kill:
            server.kill()
            server.start()
            counts["kills"] += 1
            next_kill = time.monotonic() + kill_every * chance.uniform(0.5, 1.5)
    print(f"{len(arrived):,} messages, {dict(counts)}", flush=True)
    return arrived, put


def moved(person: Person, chance: random.Random, names: list[str], put: dict[str, str]) -> bool:
    """Move a message from where it is to another folder; False where the filter moved it meanwhile."""
    name, target = chance.choice(names), chance.choice(FOLDERS)
    places = person.mail().get(name, [])
    if len(places) != 1 or places[0][0] == target:
        return False
    before, put[name] = put.get(name), ""
    try:
        person.move(name, places[0][0], target)
    except AssertionError:
        put |= {name: before} if before is not None else {}
        return False
    put[name] = target
    return True


def wrong_with(found: FoldersOfMail, arrived: dict[str, bytes], put: dict[str, str], journal: Path) -> list[str]:
    """Each message that is lost, doubled, marked as read, or not where it should be."""
    wrong = []
    with Journal.open(journal) as kept:
        for name, raw in arrived.items():
            places, noted = found.get(name, []), kept.last_verdict(digest(raw))
            # Without a note its connection was lost when it had been moved.
            expected = put.get(name) or ("INBOX" if noted is not None and noted.verdict != "spam" else "Junk")
            nobody_knows = put.get(name) == "" and len(places) < 2  # the server was killed before it answered
            if not nobody_knows and places != [(expected, "")]:
                wrong.append(f"{name}: {places}, not {expected}")
    return wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--kill-every", type=float, default=120, metavar="SECONDS")
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(tempfile.mkdtemp(prefix="spamnb-imap-"))
        stack.callback(shutil.rmtree, folder)
        folder.chmod(0o755)
        model, journal = folder / "model.spamnb", folder / "journal"
        with Classifier.create(model) as classifier:
            for label, raw in mail(60):
                classifier.learn(label, raw)
        server = Server(folder)
        server.start()
        stack.callback(server.kill)
        os.environ.update(server.login, HOME=str(folder), XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder))
        arguments = ["--sort", "--journal", str(journal), "-m", str(model), server.url]
        watch = stack.enter_context(watching(folder, *arguments))
        arrived, put = at_work(server, watch, options.minutes, options.kill_every)
        time.sleep(40)  # the pause of watch after a server that was lost is half a minute at most
        with server.person() as person:
            found = person.mail()
        print("watch:", dict(Counter(line.split("\t")[0].split(":")[0] for line in watch.said.splitlines())))
        if wrong := wrong_with(found, arrived, put, journal):
            sys.exit("\n".join(wrong))
        print("each message is in its folder, and none is marked as read")


if __name__ == "__main__":
    main()
