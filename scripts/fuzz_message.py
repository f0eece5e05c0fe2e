"""Spoilt messages for `spamnb.message.parse`: counts exceptions, broken promises and the slowest message.

    python scripts/fuzz_message.py FOLDER... [--count 100000] [--seed 0] [--model FILE]

Each message is a real one out of the folders, or a piece of syntax that hurts, after one to five mutations: cut short,
bits flipped, lines moved, repeated or deleted, pieces of other messages and of hostile syntax spliced in. Ends 1 when
a message raised or its result broke a promise (lone surrogates, bounds, other result from other line ends). With a
model each message gets its verdict too, and the time is that of both.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import time
import traceback
from collections import Counter

from spamnb.classifier import Classifier
from spamnb.message.headers import MAX_FIELDS
from spamnb.message.mime import MAX_PARTS, MAX_TEXT
from spamnb.message.parse import Message, parse

MAX_SEED_MESSAGE = 200_000  # bytes; larger ones only slow the run down

HURTFUL = [
    b"\r", b"\n\n", b"\0", b"\x1b$B", b"=", b"=?", b"?=", b"=?utf-8?Q?", b"=?x?B?====?=", b"--", b"\n--b\n", b";",
    b'"', b"\nContent-Type: multipart/mixed; boundary=b\n\n--b\n", b"\nContent-Type: message/rfc822\n\n",
    b"\nContent-Type: text/html; charset=utf-7\n\n", b"\nContent-Transfer-Encoding: base64\n",
    b"\nContent-Transfer-Encoding: quoted-printable\n", b"\nbegin 644 a.txt\n", b"\nend\n", b"<", b"<!--", b"-->",
    b"<div>", b"<table><tr><td>", b"<b id=1>", b"<p>", b"</p>", b"<font color=white>", b"<style>.a{", b"<script>",
    b'<span style="font-size:0;', b"&#xD800;", b"\xed\xa0\x80", b"+2AA-", b"\xff\xfe", b"charset=idna",
    b"filename*0*=utf-8''%ff", b"From a 1:11\n",
]  # fmt: skip
REPLACED = [(b"\n", b"\r\n"), (b"\n", b"\r"), (b"\n\n", b"\n"), (b";", b""), (b"=", b"==")]


def corpus(folders: list[str]) -> list[bytes]:
    """The messages of the folders, in the order of their names."""
    found = []
    for folder in folders:
        for root, below, names in os.walk(folder):
            below.sort()
            for name in sorted(names):
                path = os.path.join(root, name)
                if os.path.getsize(path) <= MAX_SEED_MESSAGE:
                    with open(path, "rb") as file:
                        found.append(file.read())
    return found


def mutated(rng: random.Random, messages: list[bytes]) -> bytes:
    """One message, spoilt."""
    raw = rng.choice(messages) if rng.random() < 0.95 else b"".join(rng.choices(HURTFUL, k=rng.randrange(200)))
    for _ in range(rng.randint(1, 5)):
        size = len(raw) + 1
        at, to = sorted((rng.randrange(size), rng.randrange(size)))
        match rng.randrange(9):
            case 0:
                raw = raw[:at]
            case 1:
                raw = raw[at:]
            case 2:
                raw = raw[:at] + raw[to:]
            case 3:
                flipped = bytearray(raw)
                for _ in range(rng.randint(1, 20)):
                    if flipped:
                        flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
                raw = bytes(flipped)
            case 4:
                raw = raw[:at] + raw[at : at + rng.randrange(2000)] * rng.randint(2, 50) + raw[at:]
            case 5:
                other = rng.choice(messages)
                start = rng.randrange(len(other) + 1)
                raw = raw[:at] + other[start : start + rng.randrange(5000)] + raw[at:]
            case 6:
                raw = raw[:at] + rng.choice(HURTFUL) * rng.choice((1, 1, 1, 2, 10, 1000)) + raw[at:]
            case 7:
                lines = raw.split(b"\n")
                head = lines[:40]
                rng.shuffle(head)
                raw = b"\n".join(head + lines[40:])
            case 8:
                raw = raw.replace(*rng.choice(REPLACED))
    return raw


def broken_promise(message: Message) -> str | None:
    """What of the documented bounds and guarantees a result breaks; None when nothing."""
    texts = [*message.texts, message.hidden, *message.links, *message.images, *message.forms, *message.truncations]
    texts += [text for pair in message.headers for text in pair]
    texts += [text for part in message.parts for text in part[:5]]
    try:
        "".join(texts).encode()
    except UnicodeEncodeError:
        return "a lone surrogate"
    if any("\r" in text for text in message.texts):
        return "a carriage return in the text"
    if len(message.headers) > MAX_FIELDS or len(message.parts) > 2 * MAX_PARTS:
        return "a bound"
    if sum(map(len, message.texts)) > 2 * MAX_TEXT:
        return "the bound of the text"
    if len(message.digest) != 16:
        return "no digest"
    return None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", metavar="FILE")
    arguments = parser.parse_args()
    messages = corpus(arguments.folders)
    if not messages:
        parser.error("no messages in these folders")
    classifier = Classifier.open(arguments.model) if arguments.model else None
    verdicts: Counter[str] = Counter()
    slowest = (0.0, 0)
    total = 0.0
    failures = 0
    for number in range(arguments.count):
        seed = arguments.seed * 1_000_003 + number  # one message can be had again: mutated(Random(seed), messages)
        raw = mutated(random.Random(seed), messages)
        started = time.process_time()
        try:
            what = broken_promise(message := parse(raw))
            if classifier is not None:
                verdicts[classifier.classify(raw).verdict] += 1
            took = time.process_time() - started
            if what is None and number % 10 == 0 and b"\r" not in raw:
                other = parse(raw.replace(b"\n", b"\r\n"))
                what = None if other == message else "CRLF gives another message"
        except Exception:
            took = time.process_time() - started
            what = traceback.format_exc()
        if what is not None:
            failures += 1
            print(f"seed {seed}: {what}", file=sys.stderr)
        total += took
        slowest = max(slowest, (took, seed))
    print(
        f"{arguments.count} messages, {failures} failures, mean {total / arguments.count * 1e6:.0f} µs,"
        f" slowest {slowest[0] * 1e3:.1f} ms (seed {slowest[1]})"
    )
    if classifier is not None:
        print(", ".join(f"{name} {count}" for name, count in sorted(verdicts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
