"""Microseconds of CPU per message of `spamnb.message.parse`, beside the standard library's email package.

    python scripts/benchmark_message.py FOLDER...

parse does more (texts decoded, HTML read, digest); email (policy compat32) only splits header and parts. The two take
turns over the same messages in memory, three times each; the best counts. On a busy machine look at the ratio.
"""

from __future__ import annotations

import email
import gc
import os
import sys
import time
from collections.abc import Callable

from spamnb.message.parse import parse


def once(function: Callable[[bytes], object], messages: list[bytes]) -> float:
    gc.collect()
    started = time.process_time()
    for raw in messages:
        function(raw)
    return (time.process_time() - started) / len(messages) * 1e6


def main(folders: list[str]) -> int:
    if not folders:
        print("give folders of messages", file=sys.stderr)
        return 2
    print(f"{'folder':32} {'messages':>8} {'bytes':>7} {'parse µs':>9} {'email µs':>9} {'ratio':>6}")
    for folder in folders:
        paths = [os.path.join(root, name) for root, _, names in os.walk(folder) for name in names]
        messages = []
        for path in paths:
            with open(path, "rb") as file:
                messages.append(file.read())
        if not messages:
            sys.exit(f"{folder}: no messages")
        ours = theirs = float("inf")
        for _ in range(3):
            ours = min(ours, once(parse, messages))
            theirs = min(theirs, once(email.message_from_bytes, messages))
        mean = sum(map(len, messages)) / len(messages)
        print(f"{folder[-32:]:32} {len(messages):8} {mean:7.0f} {ours:9.1f} {theirs:9.1f} {ours / theirs:6.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
