"""An account on a real Dovecot for a long time: no message may be lost, doubled or moved twice.

    python scripts/soak_imap.py soak [--minutes 60] [--kill-every 120]
    python scripts/soak_imap.py kills [--number 50] [--without-move | --cyrus]

``soak`` lets mail arrive while ``spamnb watch --sort`` runs, moves some as a person would, kills the server now and
then with SIGKILL, and looks every minute whether each message is in exactly one folder, and how much memory watch has.
At the end each message that no person touched must lie where the verdict on it in the journal of watch sends it.
``kills`` runs ``spamnb sort`` and kills the server in the middle of its moves, again and again.
SPAMNB_MAIL_ROOT names the folder that Dovecot and Cyrus were unpacked into, as for the tests; both need root.
"""

from __future__ import annotations

import argparse
import contextlib
import imaplib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE / "tests" / "mailbox"), str(HERE / "tests")]

from cyrus_account import Cyrus  # noqa: E402
from imap_account import WITHOUT_MOVE, Server, account  # noqa: E402
from mail import message as mail  # noqa: E402
from mail import never  # noqa: E402
from person import key, key_of  # noqa: E402

from spamnb.classifier import Classifier  # noqa: E402
from spamnb.journal.journal import Journal  # noqa: E402
from spamnb.mailbox.imap import ImapBox  # noqa: E402
from spamnb.mailbox.memory import Memory  # noqa: E402
from spamnb.reader.message import digest  # noqa: E402
from spamnb.serve.score import score_message  # noqa: E402

LOST = (imaplib.IMAP4.error, OSError, AssertionError)  # of a person's client when the server is killed


@contextlib.contextmanager
def place() -> Iterator[tuple[Path, Path]]:
    """A folder for everything, and a model in it."""
    folder = Path(tempfile.mkdtemp(prefix="spamnb-imap-"))
    folder.chmod(0o755)
    model = folder / "model.spamnb"
    with Classifier.create(model) as classifier, classifier.store.writing():
        for seed in range(500):
            classifier.learn("ham", mail("ham", seed))
            classifier.learn("spam", mail("spam", seed))
    try:
        yield folder, model
    finally:
        shutil.rmtree(folder)


def environment(server: Server, folder: Path) -> None:
    """Lets spamnb, here and in processes, into the account."""
    os.environ.update(server.login)
    os.environ.update(HOME=str(folder), XDG_DATA_HOME=str(folder), XDG_CONFIG_HOME=str(folder), PYTHONPATH=str(HERE))


def on_disk(server: Server) -> dict[str, list[str]]:
    """{Message-ID: folders} by the files themselves, while no server runs."""
    found: dict[str, list[str]] = {}
    box = server.place / "mail" / "ann"  # of Dovecot
    for path in [*box.glob("*/*"), *box.glob(".*/*/*")]:
        if path.is_file() and path.parent.name in ("new", "cur"):
            folder = path.parent.parent.name if path.parent.parent != box else "INBOX"
            found.setdefault(key_of(path.read_bytes()), []).append(folder)
    return found


def settled(server: Server, expected: set[str]) -> tuple[dict[str, str], list[str]]:
    """Where each message is, and what is wrong; asked again for a while, since mail is moved while it is listed."""
    wrong: list[str] = []
    where: dict[str, str] = {}
    for _ in range(10):
        try:
            with server.person() as person:
                found = person.mail()
        except LOST:
            time.sleep(2)
            continue
        where = {name: places[0][0] for name, places in found.items()}
        wrong = [f"{name}: in {[folder for folder, _ in places]}" for name, places in found.items() if len(places) > 1]
        wrong += [f"{name}: lost" for name in sorted(expected - found.keys())]
        if not wrong:
            break
        time.sleep(2)
    return where, wrong


def misplaced(where: dict[str, str], expected: dict[str, str]) -> list[str]:
    """What is not where it should be."""
    return [f"{name}: {where.get(name)}, not {to}" for name, to in expected.items() if where.get(name) != to]


def memory(pid: int) -> float:
    """Resident MB of a process."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6


def drop(server: Server, raw: bytes, name: str) -> None:
    """A message arrives, as a mail server delivers it: a file, in one step."""
    box = server.place / "mail" / "ann"
    for part in () if (box / "new").is_dir() else ("", "tmp", "new", "cur"):
        (box / part).mkdir(mode=0o700)
        shutil.chown(box / part, "nobody", "nogroup")
    path = box / "tmp" / name
    path.write_bytes(raw)
    shutil.chown(path, "nobody", "nogroup")
    path.rename(box / "new" / name)


class Soak:
    """An hour, or as long as is asked for."""

    def __init__(self, server: Server, folder: Path, model: Path) -> None:
        self.server, self.chance = server, random.Random(19)
        self.expected: set[str] = set()
        self.put: dict[str, str] = {}  # where a person put a message
        self.mistakes: list[tuple[str, str]] = []  # what a person is to move back, and to where
        self.touched: set[str] = set()  # what a person moved, or tried to
        self.model = model.with_name("before.spamnb")
        shutil.copy(model, self.model)
        self.journal = folder / "journal.sqlite"
        self.counts: Counter[str] = Counter()
        self.log = folder / "watch.log"
        more = ["-m", str(model), "--journal", str(self.journal)]
        command = [sys.executable, "-u", "-m", "spamnb", "watch", "--sort", *more, server.url]
        with self.log.open("wb") as log:
            self.watch = subprocess.Popen(command, stdout=log, stderr=log)
        self.seed = 10_000

    def run(self, minutes: float, kill_every: float) -> list[str]:
        begun = time.monotonic()
        next_look, next_kill = begun + 60, begun + kill_every
        wrong: list[str] = []
        while (now := time.monotonic()) < begun + 60 * minutes and not wrong:
            assert self.watch.poll() is None, self.log.read_text()[-2000:]
            self.arrive()
            if self.chance.random() < 0.15:
                self.move()
            if now > next_kill:
                self.server.kill()
                self.server.start()
                self.counts["kills"] += 1
                next_kill = now + kill_every * self.chance.uniform(0.5, 1.5)
            if now > next_look:
                where, wrong = settled(self.server, self.expected)
                wrong += misplaced(where, self.put)
                folders = dict(sorted(Counter(where.values()).items()))
                print(
                    f"{(now - begun) / 60:5.1f} min: {len(self.expected):,} messages, {folders}, {dict(self.counts)},"
                    f" {memory(self.watch.pid):.1f} MB",
                    flush=True,
                )
                next_look = time.monotonic() + 60
            time.sleep(self.chance.expovariate(2.0))
        time.sleep(20)
        where, last = settled(self.server, self.expected)
        last += misplaced(where, self.put) + self.not_as_judged(where)
        self.watch.send_signal(signal.SIGTERM)
        print(
            "watch ended with",
            self.watch.wait(60),
            "and said",
            Counter(line.split("\t")[0].split(":")[0] for line in self.log.read_text().splitlines()),
        )
        return wrong + last

    def not_as_judged(self, where: dict[str, str]) -> list[str]:
        """What no person touched and lies elsewhere than its verdict says; who judged wrongly is printed."""
        wrong: list[str] = []
        counts: Counter[str] = Counter()
        with (
            Journal.at(self.journal) as journal,
            Memory.of(ImapBox(self.server.url), never) as record,
            Classifier.open(self.model) as before,
        ):
            for name in where.keys() - self.touched:
                label, seed = name[1 : name.index("@")].split(".")
                raw = mail(label, int(seed))
                noted = journal.of_message(digest(raw))
                counts["messages that no person touched"] += 1
                if noted is None:  # the connection was lost when it had been moved
                    counts["of them without a note"] += 1
                    wrong += [] if record.judged(digest(raw)) else [f"{name}: in {where[name]}, never judged"]
                elif where[name] != ("Junk" if noted.verdict == "spam" else "INBOX"):
                    wrong.append(f"{name}: in {where[name]}, judged {noted.verdict}")
                elif noted.verdict != label:
                    counts[f"{label} that the model judged wrongly when it came"] += 1
                    said = score_message(before, raw).verdict
                    counts[f"{label} of these that it judged {said} before the hour's lessons"] += 1
        print("at the end:", dict(counts))
        return wrong

    def arrive(self) -> None:
        self.seed += 1
        label = self.chance.choice(["ham", "spam"])
        drop(self.server, mail(label, self.seed), f"{self.seed}.{label}.host")
        self.expected.add(key(label, self.seed))
        self.counts["arrived"] += 1

    def move(self) -> None:
        """A person moves a message of some time ago; one time in five to the wrong side, which is a lesson, and later
        back. Wrong lessons that stay would add up: after 64 in 34 minutes this model called no spam so."""
        if self.mistakes and self.chance.random() < 0.2:
            name, to = self.mistakes.pop(0)
        else:
            seed = self.chance.randrange(10_000, max(self.seed - 20, 10_001))
            label = self.chance.choice(["ham", "spam"])
            right, wrong = ("INBOX", "Junk") if label == "ham" else ("Junk", "INBOX")
            name, to = key(label, seed), wrong if self.chance.random() < 0.2 else self.chance.choice([right, "Work"])
            if label == "spam" and to == "Work":
                return
            if to == wrong and name in self.expected:
                self.mistakes.append((name, right))
        if name not in self.expected:
            return
        self.touched.add(name)
        try:
            with self.server.person() as person:
                for source in ("INBOX", "Junk", "Work"):
                    person.client.select(source)
                    uids = person.client.uid("SEARCH", "HEADER", "Message-ID", name)[1][0].split()
                    if len(uids) == 1 and source != to:
                        assert person.client.uid("MOVE", uids[0].decode(), to)[0] == "OK"
                        self.put[name] = to
                        self.counts["moved by a person"] += 1
                        return
        except LOST:
            self.put.pop(name, None)  # it may be in either folder
            self.counts["moves of a person lost"] += 1


def kills(server: Server, folder: Path, model: Path, number: int) -> list[str]:
    """Kill the server in the middle of moves; what it left on the disk, and what sort made of that."""
    chance = random.Random(50)
    counts: Counter[str] = Counter()
    expected: dict[str, str] = {}
    seed = 100_000
    for round_ in range(number):
        new = {(label, each): mail(label, each) for each in range(seed, seed + 64) for label in ("ham", "spam")}
        seed += 64
        expected |= {key(label, each): "INBOX" if label == "ham" else "Junk" for label, each in new}
        if isinstance(server, Cyrus):  # whose folders are no Maildirs
            with server.person() as person:
                for raw in new.values():
                    person.deliver(raw)
        else:
            for (label, each), raw in new.items():
                drop(server, raw, f"{each}.{label}.host")
        command = [sys.executable, "-m", "spamnb", "sort", "--quiet", "-m", str(model), server.url]
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        with Memory.of(ImapBox(server.url), never) as record:
            skip = chance.randrange(3)  # batches of moves that are let through
            seen: tuple = ()
            while process.poll() is None and skip >= 0:
                if (begun := tuple(move.key for move in record.begun())) and begun != seen:
                    skip, seen = skip - 1, begun
        time.sleep(chance.uniform(0, 0.02))
        counts["killed while it sorted"] += process.poll() is None
        server.kill()
        doubles = sum(len(folders) > 1 for folders in on_disk(server).values())
        with Memory.of(ImapBox(server.url), never) as record:
            left = len(record.begun())
        counts["moves left undecided"] += left
        counts["kills that left some undecided"] += left > 0
        counts["messages left in two folders"] += doubles
        counts["kills that left some in two folders"] += doubles > 0
        server.start()
        told = process.communicate(timeout=300)[1]
        if process.returncode:
            return [f"sort ended with {process.returncode}: {told}"]
        where, wrong = settled(server, set(expected))
        wrong += misplaced(where, expected)
        if wrong:
            return [f"after kill {round_ + 1}", *wrong, told]
        if round_ % 10 == 9:
            print(f"{round_ + 1} kills, {len(expected):,} messages, each in its folder: {dict(counts)}", flush=True)
    return []


def main() -> None:
    """Exit status 1 where a message was lost, doubled, or not left where a person put it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["soak", "kills"])
    parser.add_argument("--minutes", type=float, default=60.0, help="how long to soak (60)")
    parser.add_argument("--kill-every", type=float, default=120.0, help="seconds between kills, about (120)")
    parser.add_argument("--number", type=int, default=50, help="how many kills (50)")
    servers = parser.add_mutually_exclusive_group()
    servers.add_argument("--without-move", action="store_true", help="a server without MOVE: COPY and EXPUNGE by UID")
    servers.add_argument("--cyrus", action="store_true", help="Cyrus, with kills; not what it left on the disk")
    options = parser.parse_args()
    more = WITHOUT_MOVE if options.without_move else ""
    kind = Cyrus if options.cyrus and options.what == "kills" else Server
    with place() as (folder, model), account(folder, more=more, kind=kind) as server:
        environment(server, folder)
        with server.person() as person:  # makes the Maildir
            person.mail()
        if options.what == "soak":
            soak = Soak(server, folder, model)
            try:
                wrong = soak.run(options.minutes, options.kill_every)
            finally:
                soak.watch.kill()
                soak.watch.wait()
        else:
            wrong = kills(server, folder, model, options.number)
    print("\n".join(wrong) if wrong else "each message was in exactly one folder")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
