"""Build the core with sanitizers, and feed it mutated messages for a time, or run tests with it.

    python tests/reader/fuzzing.py --seconds 60 --seed 7
    python tests/reader/fuzzing.py --tests tests/store/test_buckets.py

Seeds are the messages of ``hostile.py`` and of its folder, those below ``SPAMNB_CORPORA``, if it is set, and those of
the grammars in ``structures.py`` and ``pages.py``. Python answers the questions of the core as usual: charsets,
characters, hosts, documents. Exit with 1 if the core accessed memory out of bounds, raised, or broke a promise; the
message is then in ``failed-message``.
"""

from __future__ import annotations

import argparse
import encodings.aliases
import os
import random
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(Path(__file__).parent))
from hostile import NAMES, hostile, made  # noqa: E402
from pages import declarations, made_page, sheet  # noqa: E402
from structures import Structures  # noqa: E402

FLAGS = "-std=c11 -O1 -g -shared -fPIC -fsanitize=address,undefined -fno-sanitize-recover=all -Wall -Wextra".split()
MAX_SEEDS, MAX_SEED_BYTES = 1000, 40_000
PIECES = [piece.encode("latin-1") for piece in (
    "<style>.a{display:none}</style>", "<p class=a style='", "{", "}", '"', "'", "<table><tr>", "</b>", "<b><div>",
    "=?utf-8?q?", "=?iso-8859-1?b?", "?=", "\n--", "\nContent-Type: multipart/mixed; boundary=b\n\n--b\n",
    "\nContent-Type: text/html; charset=utf-7\n\n", "\nContent-Type: message/rfc822\n\n", "\n\n", "&#x", "&nGt;",
    "<!--", "-->", "<title>", "<textarea>", "http://", "%2e", "@", ":", "url(", "\\", "/*", "font-size:2e1px",
    "@media screen{", "\xe2\x80\xae", "\xed\xa0\x80", "\xff\xfe", "=\n", "\nContent-Transfer-Encoding: base64\n",
    "xn--a-", "[::1]", "0x7f.1", "filename*0*=", "<body text=white>", "<a href=//x.example>", "\r", "\0", "\x1b$B",
    "<svg>", "<![CDATA[", "]]>", "<iframe srcdoc='<p>x'>", "<template shadowrootmode=open>", "<input value=x>", "\x01",
    "<option hidden>", "<meta charset=utf-16>", "begin 644 x\n#86)C\n`\nend\n",
    "%PDF-1.4\n", "\x78\x9f\x3e\x22", "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02",
)]  # fmt: skip
# Names that mean something, each in its place.
CHARSETS = [*encodings.aliases.aliases, *sorted(set(encodings.aliases.aliases.values()))]
CHARSETS += "idna punycode undefined x-unknown iso-8859-8-i cp99999 unicode-1-1-utf-7 visual koi8 x-x-gbk".split()
TYPES = (
    "text/html text/plain text/x-amp-html text/calendar text/rtf multipart/mixed multipart/alternative "
    "multipart/digest message/rfc822 message/delivery-status application/pdf application/pkcs7-mime "
    "application/ms-tnef application/rtf application/msword application/octet-stream;name=x.docx "
    "application/octet-stream;name=winmail.dat image/svg+xml text/plain;format=flowed;delsp=yes html "
    "multipart/mixed;boundary=b (x)text/html"
).split()
FIELDS = (
    "Content-Type Content-Transfer-Encoding Content-Disposition From To Cc Subject Received Date Message-ID List-Id "
    "Reply-To DKIM-Signature X-Spam-Flag X-A Status MIME-Version References"
).split()
TAGS = "svg math p b div table td a img input select option style title textarea iframe noscript template br".split()
ATTRIBUTES = "style class hidden href src alt value label placeholder srcdoc type shadowrootmode color".split()
ENCODINGS = "base64 quoted-printable x-uuencode 8bit".split()


class NoSanitizer(Exception):
    """There is no compiler that builds with sanitizers."""


def build(folder: Path) -> dict[str, str]:
    """Build the package in ``folder`` with sanitizers, and return the environment in which Python imports it."""
    compiler = os.environ.get("CC", "cc")
    shutil.copytree(ROOT / "spamnb", folder / "spamnb", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    core = folder / "spamnb" / "core"
    binding = folder / "build" / "_core.c"
    write = [sys.executable, str(ROOT / "scripts" / "build_binding.py"), str(binding)]
    subprocess.run(write, check=True, capture_output=True)
    sources = map(str, [binding, *sorted(core.glob("*.c"))])
    includes = [f"-I{core}", f"-I{sysconfig.get_path('include')}"]
    try:
        asked = [compiler, "-print-file-name=libasan.so"]
        runtime = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        command = [compiler, *FLAGS, *includes, *sources, "-o", str(core / "_core.abi3.so"), "-lm"]
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise NoSanitizer(f"no C compiler with sanitizers: {getattr(error, 'stderr', error)!s:.500}") from error
    sanitizers = {"LD_PRELOAD": runtime, "ASAN_OPTIONS": "detect_leaks=0", "PYTHONMALLOC": "malloc"}
    return {**os.environ, **sanitizers, "PYTHONPATH": str(folder)}


def fuzz(seconds: float, seed: int) -> tuple[int, str]:
    """Read mutated messages for this processor time in seconds, and return their number and the failures."""
    with tempfile.TemporaryDirectory() as name:
        command = [sys.executable, __file__, "--read-in", name, f"--seconds={seconds}", f"--seed={seed}"]
        run = subprocess.run(command, env=build(Path(name)), capture_output=True, text=True, cwd=name)
        if run.returncode:
            shutil.copy(Path(name, "message"), "failed-message")
        failure = f"exit status {run.returncode}\n{run.stderr[-5000:]}" if run.returncode else ""
        return int(run.stdout or 0), failure


def run_tests(paths: list[Path]) -> int:
    """Run tests with sanitizers, and return the exit status of pytest."""
    with tempfile.TemporaryDirectory() as name:
        options = ["-q", "--capture=sys", "-p", "no:cacheprovider", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT]
        command = [sys.executable, "-m", "pytest", *options, *[path.resolve() for path in paths]]
        return subprocess.run(command, env=build(Path(name)), cwd=name).returncode


def seeds() -> list[bytes]:
    """Messages to begin with."""
    found = [hostile(name, MAX_SEED_BYTES // 4) for name in NAMES]
    found += [raw[:MAX_SEED_BYTES] for raw in made().values()]
    if corpora := os.environ.get("SPAMNB_CORPORA"):
        paths = [path for name in ("mime", "modern") for path in sorted(Path(corpora, name).rglob("*"))]
        small = [path for path in paths if path.is_file() and path.stat().st_size < MAX_SEED_BYTES]
        found += [path.read_bytes() for path in small[: MAX_SEEDS - len(found)]]
    return found


def meaningful(rng: random.Random) -> bytes:
    """Return a line or word with a name that the reader knows."""
    charset = rng.choice(CHARSETS)
    return rng.choice([
        f"\n{rng.choice(FIELDS)}: x", f"\nContent-Type: {rng.choice(TYPES)}; charset={charset}",
        f"=?{charset}?{rng.choice('qb')}?=E9=C3abcd?=", f"\nContent-Transfer-Encoding: {rng.choice(ENCODINGS)}",
        f"<meta charset={charset}>", f"<{rng.choice(TAGS)} {rng.choice(ATTRIBUTES)}=x>", f"</{rng.choice(TAGS)}>",
        f"<{rng.choice(TAGS)} style='{declarations(rng)}'>", sheet(rng),
        chr(rng.randrange(0xD800)), f"http://{chr(rng.randrange(0xE000, 0x110000))}.example",
    ]).encode()  # fmt: skip


def mutated(rng: random.Random, messages: list[bytes]) -> bytes:
    """One of the messages, or one that grammars of structures or pages make, spoilt."""
    match rng.randrange(10):
        case 0:
            raw = Structures(rng.randrange(1 << 30)).message()
        case 1:
            raw = b"Content-Type: text/html\n\n" + "<p>x".join([made_page(rng) for _ in range(4)]).encode()
        case _:
            raw = rng.choice(messages)
    for _ in range(rng.randint(1, 12)):
        at, length = rng.randrange(len(raw) + 1), rng.randrange(40)
        match rng.randrange(6):
            case 0:
                raw = raw[:at] + rng.randbytes(1) + raw[at + 1 :]
            case 1:
                raw = raw[:at] + raw[at + length :]
            case 2:
                raw = raw[: at + length] + raw[at:]
            case 3:
                other = rng.choice(messages)
                begin = rng.randrange(len(other) + 1)
                raw = raw[:at] + other[begin : begin + 10 * length] + raw[at:]
            case 4:
                raw = raw[:at] + rng.choice(PIECES) + raw[at:]
            case _:
                raw = raw[:at] + meaningful(rng) + raw[at:]
    return raw


def read_mutated(folder: str, seconds: float, seed: int) -> int:
    """Read messages in this process, and return their number. The file ``read`` has the number so far."""
    import numpy as np

    from spamnb.reader.message import Reader
    from spamnb.reader.tokens import Vocabulary
    from spamnb.settings import Settings

    os.environ.pop("LD_PRELOAD", None)  # the process that reads PDF documents has less memory than sanitizers want
    rng, messages, done = random.Random(seed), seeds(), 0
    options = Settings(), Settings(), Settings(ngrams=3), Settings(ngrams=1, body_only=True)
    every, vocabulary = [Reader(each) for each in options], Vocabulary()
    end = time.process_time() + seconds
    with open(Path(folder, "message"), "wb", buffering=0) as last:
        while time.process_time() < end:
            raw, reader = mutated(rng, messages), rng.choice(every)
            os.pwrite(last.fileno(), raw, 0)
            os.truncate(last.fileno(), len(raw))
            if done % 8:
                reader.read([raw], vocabulary, identify=done % 2 == 0, doubtful=done % 4 > 0, with_origin=done % 3 == 0)
            else:
                check(reader.parse(raw))
            if len(vocabulary) > 200_000:
                assert all(vocabulary.take(np.arange(len(vocabulary))))  # which are UTF-8, and none is empty
                vocabulary = Vocabulary()
            done += 1
            if done % 10_000 == 0:
                Path(folder, "read").write_text(str(done))
    return done


def check(message: Any) -> None:
    """Check the promises of a message."""
    texts = (*message.texts, message.doubtful, *message.links)
    "".join([*texts, *(text for field in message.headers for text in field)]).encode()
    if any("\0" in text or "\1" in text for text in message.texts) or "\r" in "".join(message.texts):
        raise AssertionError("NUL or another line end in a text")
    if len(message.digest) != 16 or sum(map(len, message.texts)) > 3_000_000:
        raise AssertionError("a bound")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--tests", type=Path, nargs="+", help="run these tests instead of reading messages")
    parser.add_argument("--read-in", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.read_in:
        print(read_mutated(chosen.read_in, chosen.seconds, chosen.seed))
    elif chosen.tests:
        sys.exit(run_tests(chosen.tests))
    else:
        number, failure = fuzz(chosen.seconds, chosen.seed)
        print(f"{number} messages", failure)
        sys.exit(bool(failure))
