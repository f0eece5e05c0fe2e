"""The whole way of an account once, as its owner would go it, on a real Dovecot with SpamAssassin's public mail.

    SPAMNB_CORPORA=DIR SPAMNB_MAIL_ROOT=DIR python scripts/walk_imap.py [--messages 3000] [--arriving 200]
                                                                       [--then COMMAND]

A fresh account with mail in inbox and Junk: train over IMAP, watch; new messages arrive by LMTP; three verdicts are put
right by moving mail in another client and three on the page of ``spamnb review``. Prints each step with its time.
COMMAND is run by a shell at the end, while server and watch still run, for what comes after; it finds WALK_URL,
WALK_MODEL and WALK_JOURNAL in its environment. A digest:

    spamnb review --digest -m "$WALK_MODEL" --journal "$WALK_JOURNAL" --to "$WALK_URL"

SPAMNB_MAIL_ROOT names the folder that Dovecot was unpacked into, as for the tests, with Debian's dovecot-lmtpd beside
it. Needs root, and the extras imap and review.
"""

from __future__ import annotations

import argparse
import contextlib
import http.cookiejar
import os
import random
import re
import smtplib
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(HERE), str(HERE / "tests" / "serve"), str(HERE / "tests")]

from imap_account import Server, account  # noqa: E402
from mail_corpora import corpora_folder, sources  # noqa: E402
from unpacked import free_port, wait_until  # noqa: E402

from spamnb.journal.journal import Journal  # noqa: E402
from spamnb.review.passwords import set_password  # noqa: E402
from spamnb.sources.entries import messages  # noqa: E402
from spamnb.sources.spec import entries  # noqa: E402

LMTP = """
protocols = imap lmtp
postmaster_address = postmaster@example.org
service lmtp {
  inet_listener lmtp {
    address = 127.0.0.1
    port = %d
  }
}
"""
SPAMNB = [sys.executable, "-u", "-m", "spamnb"]
_ID = re.compile(rb"^Message-ID:\s*<([!-~]{1,200})>\s*$", re.MULTILINE | re.IGNORECASE)


def print_step(begun: float, said: str) -> None:
    """A step that was done, and the seconds that it took."""
    print(f"{time.monotonic() - begun:7.2f} s  {said}", flush=True)


def mail_by_class(number: int) -> dict[str, list[tuple[str, bytes]]]:
    """As many messages of each class, by Message-ID, in a chance order that is the same in every run."""
    found: dict[str, dict[str, bytes]] = {"ham": {}, "spam": {}}

    def complain(name: str, error: Exception) -> None:
        sys.exit(f"{name}: {error}")

    for entry, raw in messages(entries(sources("spamassassin", corpora_folder()), complain), complain):
        head = raw.partition(b"\n\n")[0]
        if entry.label is not None and len(names := _ID.findall(head)) == 1 and b"\0" not in raw:
            found[entry.label][names[0].decode()] = raw
    both = found["ham"].keys() & found["spam"].keys()
    chosen = {}
    for label, by_name in found.items():
        names = sorted(by_name.keys() - both)
        random.Random(19).shuffle(names)
        if len(names) < number:
            sys.exit(f"SpamAssassin's corpus has {len(names)} messages of {label}, not {number}")
        chosen[label] = [(name, by_name[name]) for name in names[:number]]
    return chosen


class Folder:
    """A folder as another client of the account sees it."""

    def __init__(self, server: Server, name: str) -> None:
        self.server, self.name = server, name

    def names(self) -> set[str]:
        """The Message-IDs of what is in it."""
        with self.server.person() as person:
            count = int(person.client.select(self.name, readonly=True)[1][0])  # type: ignore[arg-type]
            if not count:
                return set()
            lines = person.client.fetch(f"1:{count}", "(BODY.PEEK[HEADER.FIELDS (MESSAGE-ID)])")[1]
        return {found[1].decode() for part in lines if isinstance(part, tuple) if (found := _ID.search(part[1]))}

    def follow(self, seen: dict[str, float], stop: threading.Event) -> None:
        """Note when each message that comes into it is first seen there."""
        with self.server.person() as person:
            known = int(person.client.select(self.name, readonly=True)[1][0])  # type: ignore[arg-type]
            while not stop.is_set():
                person.client.noop()
                count = int(person.client.response("EXISTS")[1][0] or known)
                if count > known:
                    now = time.monotonic()
                    for part in person.client.fetch(f"{known + 1}:{count}", "(BODY.PEEK[HEADER])")[1]:
                        if isinstance(part, tuple) and (found := _ID.search(part[1].replace(b"\r\n", b"\n"))):
                            seen.setdefault(found[1].decode(), now)
                    known = count
                stop.wait(0.05)


class Page:
    """``spamnb review`` and a browser that is logged in."""

    def __init__(self, folder: Path, model: Path, journal: Path) -> None:
        set_password(folder / "passwords", "admin", "correct horse")
        port = free_port()
        more = ["-m", str(model), "--journal", str(journal), "--passwords", str(folder / "passwords")]
        with (folder / "review.log").open("wb") as log:
            self.process = subprocess.Popen([*SPAMNB, "review", *more, "--port", str(port)], stdout=log, stderr=log)
        self.address = f"http://127.0.0.1:{port}"
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        wait_until(self._answers, self.process)
        self.send("/login", user="admin", password="correct horse")

    def _answers(self) -> bool:
        with contextlib.suppress(OSError):
            return bool(self.get("/login"))
        return False

    def get(self, path: str) -> str:
        with self.browser.open(self.address + path, timeout=60) as reply:
            return reply.read().decode()

    def send(self, path: str, **fields: str) -> str:
        token = re.search(r'name="token" value="([^"]+)"', self.get("/"))
        assert token is not None
        data = urllib.parse.urlencode({"token": token[1], **fields}).encode()
        with self.browser.open(self.address + path, data, timeout=60) as reply:
            return reply.read().decode()

    def doubtful(self) -> list[str]:
        """The numbers of the messages on the first page, the most doubtful first."""
        return re.findall(r'name="entry" value="(\d+)"', self.get("/"))


@contextlib.contextmanager
def running(command: list[str], log: Path) -> Iterator[Callable[[], str]]:
    """A process, and what it has said so far."""
    with log.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        yield log.read_text
    finally:
        process.terminate()
        assert process.wait(60) == 0, log.read_text()


class Walk:
    """The account, its model, and the way."""

    def __init__(self, server: Server, folder: Path, lmtp: int) -> None:
        self.server, self.folder, self.lmtp = server, folder, lmtp
        self.model, self.journal = folder / "model.spamnb", folder / "journal"
        self.labels: dict[str, str] = {}  # of what arrives

    def fill(self, old: dict[str, list[tuple[str, bytes]]]) -> None:
        begun = time.monotonic()
        with self.server.person() as person:
            for label, into in (("ham", "INBOX"), ("spam", "Junk")):
                for _, raw in old[label]:
                    person.deliver(raw, into, r"(\Seen)")
        print_step(begun, f"{sum(map(len, old.values())):,} messages put into the account")

    def train(self) -> None:
        begun = time.monotonic()
        sources = [f"ham={self.server.url}", f"spam={self.server.url}/Junk"]
        subprocess.run([*SPAMNB, "train", "-m", str(self.model), *sources], check=True, capture_output=True)
        print_step(begun, "spamnb train ham=URL spam=URL/Junk")

    def arrive(self, new: list[tuple[str, str, bytes]]) -> set[str]:
        """Messages come by LMTP, three a second; those that went to Junk."""
        seen: dict[str, float] = {}
        stop = threading.Event()
        follower = threading.Thread(target=Folder(self.server, "Junk").follow, args=(seen, stop))
        follower.start()
        begun = time.monotonic()
        arrived: dict[str, float] = {}
        for number, (label, name, raw) in enumerate(new):
            time.sleep(max(0.0, begun + number / 3 - time.monotonic()))
            with smtplib.LMTP("127.0.0.1", self.lmtp) as client:
                client.sendmail("list@example.com", ["ann"], raw)
            arrived[name], self.labels[name] = time.monotonic(), label
        time.sleep(10)
        stop.set()
        follower.join()
        seconds = sorted(seen[name] - arrived[name] for name in seen if name in arrived)
        print_step(begun, f"{len(new)} messages delivered by LMTP, three a second")
        junk, inbox = Folder(self.server, "Junk").names(), Folder(self.server, "INBOX").names()
        assert all((name in junk) != (name in inbox) for name in arrived), "a message is in no folder or in two"
        late = [name for name in junk & arrived.keys() if name not in seen]
        counts = Counter(self.labels[name] for name in junk & arrived.keys())
        print(f"{'':11}in Junk: {counts['spam']} spam and {counts['ham']} good, {len(late)} after more than 10 s")
        print(
            f"{'':11}seconds from the end of the delivery to Junk: median {statistics.median(seconds):.2f},"
            f" longest {seconds[-1]:.2f}"
        )
        return junk & arrived.keys()

    def move(self, in_junk: set[str], said: Callable[[], str], number: int = 3) -> None:
        """Put verdicts right in another client: wrong ones first, then spam that its reader wants after all."""
        missed = [name for name, label in self.labels.items() if label == "spam" and name not in in_junk]
        caught = sorted(in_junk, key=lambda name: self.labels[name])  # good mail first
        moves = [(name, "INBOX", "Junk") for name in missed][: number - 1]
        moves += [(name, "Junk", "INBOX") for name in caught][: number - len(moves)]
        for name, source, target in moves:
            before = said().count("learned\t")
            begun = time.monotonic()
            with self.server.person() as person:
                person.move(f"<{name}>", source, target)
            wait_until(lambda before=before: said().count("learned\t") > before)  # type: ignore[misc]
            print_step(begun, f"moved from {source} to {target} by a person, and learned: {self.labels[name]}")

    def correct(self, page: Page, number: int = 3) -> None:
        """The same on the page: the most doubtful ones are what a person says that they are."""
        for _ in range(number):
            position = page.doubtful()[0]
            with Journal.at(self.journal) as journal:
                row = journal.row(int(position))
            assert row is not None
            label = self.labels[row.entry.message_id.strip("<>")]
            begun = time.monotonic()
            page.send("/teach", one=f"{'spam' if label == 'spam' else 'good'}:{position}")
            assert position not in page.doubtful()
            print_step(begun, f"taught on the page, and no longer among the doubtful: {label}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=3000, help="in the account at first, half of them spam (3000)")
    parser.add_argument("--arriving", type=int, default=200, help="that arrive, half of them spam (200)")
    parser.add_argument("--then", metavar="COMMAND", help="what is run at the end, while watch still runs")
    options = parser.parse_args()
    half = options.messages // 2
    mail = mail_by_class(half + options.arriving // 2)
    new = [(label, *each) for label, all_of_it in mail.items() for each in all_of_it[half:]]
    random.Random(20).shuffle(new)
    lmtp = free_port()
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="spamnb-walk-")))
        folder.chmod(0o755)
        server = stack.enter_context(account(folder, more=LMTP % lmtp))
        os.environ.update(server.login)
        os.environ.update({name: str(folder) for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME")})
        os.environ["PYTHONPATH"] = str(HERE)
        walk = Walk(server, folder, lmtp)
        walk.fill({label: all_of_it[:half] for label, all_of_it in mail.items()})
        walk.train()
        begun = time.monotonic()
        more = ["-m", str(walk.model), "--journal", str(walk.journal)]
        said = stack.enter_context(running([*SPAMNB, "watch", "--sort", *more, server.url], folder / "watch.log"))
        wait_until(lambda: "noted" in said())
        print_step(begun, "spamnb watch --sort: the first look")
        in_junk = walk.arrive(new)
        walk.move(in_junk, said)
        page = Page(folder, walk.model, walk.journal)
        stack.callback(page.process.terminate)
        walk.correct(page)
        if options.then:
            begun = time.monotonic()
            known = {"WALK_URL": server.url, "WALK_MODEL": str(walk.model), "WALK_JOURNAL": str(walk.journal)}
            subprocess.run(["/bin/sh", "-c", options.then], check=True, env={**os.environ, **known})
            print_step(begun, options.then)


if __name__ == "__main__":
    main()
