"""Spoilt messages for `spamnb.message.parse`: counts exceptions, broken promises and the slowest message.

    python scripts/fuzz_message.py FOLDER... [--count 100000] [--seed 0] [--seconds 0.25] [--mb 200] [--model FILE]

Each message is a real one out of the folders, or a piece of syntax that hurts, after one to five mutations: cut short,
bits flipped, lines moved, repeated or deleted, pieces of other messages and of hostile syntax spliced in, boundaries,
charsets and encodings changed, put into other messages. Ends 1 when a message raised, its result broke a promise (lone
surrogates, bounds, other result from other line ends), or it took more processor time or memory than it may. The time
is that of parsing and of making tokens; with a model that of a verdict too.
"""

from __future__ import annotations

import argparse
import binascii
import os
import random
import re
import resource
import sys
import time
import traceback
from collections import Counter

from spamnb.message.headers import MAX_FIELDS
from spamnb.message.mime import MAX_PARTS, MAX_TEXT
from spamnb.message.parse import Message, parse
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import Vectorizer

from spamnb.classifier import Classifier

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
MAX_NESTED = 40
NEW_VOCABULARY = 2000  # messages after which the words met are forgotten: their memory is none of the next message's
CHARSETS = b"utf-8 utf-16 utf-7 iso-2022-jp hz big5 idna cp037 x-x-big5 windows-874 us-ascii".split()
ENCODINGS = [*b"base64 quoted-printable x-uuencode binary 7bit base-64".split(), b"quoted printable", b"BASE64 (x)"]
# What stands in a message's structure, and what takes its place: nothing at all is among it.
STRUCTURE = [
    (re.compile(rb"(?i)boundary=[^\n;]{0,80}"), [b"boundary=b", b'boundary=""', b"", b'boundary="--b--"']),
    (re.compile(rb"\n--[^\n]{3,80}\n"), [b"\n--b\n", b"\n", b"\n--b--\n", b"\n \n--b  \n"]),
    (re.compile(rb"(?i)charset=[^\n;]{0,40}"), [b"charset=" + name for name in CHARSETS]),
    (re.compile(rb"(?i)(?<=transfer-encoding:)[^\n]{0,60}"), [b" " + name for name in ENCODINGS]),
    (re.compile(rb"(?i)(?<=content-type:)[^\n;]{0,60}"), [b" text/html", b" multipart/mixed", b" message/rfc822",
     b" application/octet-stream", b" image/svg+xml", b" application/pdf", b" application/ms-tnef", b" text/plain"]),
    (re.compile(rb"(?i)style="), [b"style='--x:1;", b"style=\"background:rgb(", b"class="]),
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
        match rng.randrange(12):
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
            case 9:
                pattern, values = rng.choice(STRUCTURE)
                value, count = rng.choice(values), rng.choice((0, 1, 2))
                raw = pattern.sub(lambda found, value=value: value, raw, count)
            case 10:
                raw = nested(rng, raw)
            case 11:
                other = rng.choice(messages)  # the head of one and the body of another
                raw = raw[: raw.find(b"\n\n") + 1] + other[other.find(b"\n\n") + 1 :]
    return raw


def nested(rng: random.Random, raw: bytes) -> bytes:
    """A message inside others, forwarded or a part of several, and perhaps encoded."""
    if len(raw) > MAX_SEED_MESSAGE:
        return raw
    for depth in range(rng.choice((1, 1, 2, 3, MAX_NESTED))):
        match rng.randrange(3):
            case 0:
                raw = b"Subject: forwarded\nContent-Type: message/rfc822\n\n" + raw
            case 1:
                mark = b"%d" % depth
                head = b"Content-Type: multipart/mixed; boundary=" + mark + b"\n\n--" + mark + b"\n"
                raw = head + raw + b"\n--" + mark + b"\n\ntext\n--" + mark + b"--\n"
            case _ if len(raw) < MAX_SEED_MESSAGE:
                head = b"Content-Type: message/rfc822\nContent-Transfer-Encoding: base64\n\n"
                raw = head + binascii.b2a_base64(raw)
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


def peak() -> float:
    """The most memory that this process has had, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "linux" else 1 << 20)


def seconds(raw: bytes) -> float:
    """Processor time of a message, read and made tokens of."""
    vectorizer = Vectorizer(Tokenizer())
    started = time.process_time()
    vectorizer.read(raw)
    return time.process_time() - started


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=0.25, help="processor time that a message may take")
    parser.add_argument("--mb", type=float, default=200, help="memory that a message may take")
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
    start_mb, allowed_mb = peak(), arguments.mb
    for number in range(arguments.count):
        seed = arguments.seed * 1_000_003 + number  # one message can be had again: mutated(Random(seed), messages)
        raw = mutated(random.Random(seed), messages)
        if number % NEW_VOCABULARY == 0:
            vectorizer = Vectorizer(Tokenizer())
        started = time.process_time()
        try:
            what = broken_promise(message := parse(raw))
            vectorizer.read(raw)
            if classifier is not None:
                verdicts[classifier.classify(raw).verdict] += 1
            took = time.process_time() - started
            if what is None and took > arguments.seconds:
                took = min(took, *[seconds(raw) for _ in range(3)])  # without what the machine or a first time takes
                what = f"{took:.3f} s for {len(raw)} bytes" if took > arguments.seconds else None
            if what is None and peak() - start_mb > allowed_mb:
                allowed_mb = peak() - start_mb
                what = f"{allowed_mb:.0f} MB for {len(raw)} bytes"
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
        f" slowest {slowest[0] * 1e3:.1f} ms (seed {slowest[1]}), peak {peak() - start_mb:.0f} MB above the start"
    )
    if classifier is not None:
        print(", ".join(f"{name} {count}" for name, count in sorted(verdicts.items())))
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
