"""Builds the core with sanitizers and feeds it mutated messages: fuzzing.py SECONDS [SEED [MESSAGES]]

Seeds are messages below ``SPAMNB_CORPORA``, where that is set, and the hostile ones of ``hostile.py``. Exits with 1
where the core read or wrote where it must not, or broke a promise.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))
from hostile import MESSAGES  # noqa: E402

FLAGS = "-std=c11 -O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra -Werror".split()
MAX_SEEDS, MAX_SEED_BYTES = 1000, 40_000


def build(folder: Path) -> Path:
    """The fuzzer, compiled in ``folder``. CalledProcessError where there is no compiler with sanitizers."""
    program = folder / "fuzz"
    core = ROOT / "spamnb" / "reader" / "core"
    sources = [str(ROOT / "tests" / "reader" / "fuzz.c"), *map(str, sorted(core.glob("*.c")))]
    subprocess.run([os.environ.get("CC", "cc"), *FLAGS, f"-I{core}", *sources, "-o", str(program), "-lm"], check=True)
    return program


def seeds(folder: Path) -> list[str]:
    """Names of files to begin with."""
    names: list[str] = []
    for number, message in enumerate(MESSAGES.values()):
        path = folder / f"seed-{number}"
        path.write_bytes(message[:MAX_SEED_BYTES])
        names.append(str(path))
    if corpora := os.environ.get("SPAMNB_CORPORA"):
        found = [path for name in ("mime", "modern") for path in sorted((Path(corpora) / name).rglob("*"))]
        small = [str(path) for path in found if path.is_file() and path.stat().st_size < MAX_SEED_BYTES]
        names += small[: MAX_SEEDS - len(names)]
    return names


def fuzz(seconds: float, seed: int, most: int) -> subprocess.CompletedProcess[str]:
    """Reads mutated messages for so many seconds of the processor, or so many."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        command = [str(build(folder)), str(seconds), str(seed), str(most), *seeds(folder)]
        return subprocess.run(command, capture_output=True, text=True)


if __name__ == "__main__":
    numbers = [float(argument) for argument in sys.argv[1:]]
    found = fuzz(numbers[0], int((numbers[1:2] or [1])[0]), int((numbers[2:3] or [1e12])[0]))
    print(found.stdout, found.stderr, sep="")
    sys.exit(found.returncode != 0)
