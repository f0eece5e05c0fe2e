"""Measure the processor time of reading a message, and of parsing it by the standard library's email package.

    python scripts/benchmark_message.py FOLDER...

Reading makes a row of token counts; email (policy compat32) only splits header and parts. The two take turns three
times, with the same messages in memory, and the best time counts. On a busy machine compare only the ratio.
"""

from __future__ import annotations

import email
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from spamnb.reader.message import Reader
from spamnb.reader.tokens import Vocabulary


def microseconds(read: Callable[[Sequence[bytes]], object], messages: Sequence[bytes]) -> float:
    started = time.process_time()
    read(messages)
    return (time.process_time() - started) / len(messages) * 1e6


def split_all(messages: Sequence[bytes]) -> None:
    for raw in messages:
        email.message_from_bytes(raw)


def main(folders: Sequence[str]) -> None:
    print(f"{'folder':32} {'messages':>8} {'bytes':>7} {'reading':>8} {'email':>8} {'ratio':>6}")
    for folder in folders:
        messages = [path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()]
        if not messages:
            sys.exit(f"{folder}: no messages")
        ours = theirs = float("inf")
        for _ in range(3):
            ours = min(ours, microseconds(lambda raws: Reader().read(raws, Vocabulary()), messages))
            theirs = min(theirs, microseconds(split_all, messages))
        mean = sum(map(len, messages)) / len(messages)
        print(f"{folder[-32:]:32} {len(messages):8} {mean:7.0f} {ours:8.1f} {theirs:8.1f} {ours / theirs:6.2f}")


if __name__ == "__main__":
    main(sys.argv[1:] or sys.exit(__doc__))
