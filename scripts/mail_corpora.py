"""The public corpora of the scripts, as SOURCEs of spamnb; corpora/README.md says how to get them."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

CORPORA: dict[str, tuple[str, ...]] = {
    "spamassassin": (
        *(f"ham=spamassassin/{part}" for part in ("easy_ham", "easy_ham_2", "hard_ham")),
        *(f"spam=spamassassin/{part}" for part in ("spam", "spam_2")),
    ),
    **{f"enron{n}": (f"enron-spam/enron{n}",) for n in (1, 2, 3)},
    "lingspam": ("ham=lingspam/ham", "spam=lingspam/spam"),
    "sms": ("sms_spam_collection/SMSSpamCollection",),
}


def corpora_folder() -> Path:
    """Return the folder of all corpora."""
    if not (folder := os.environ.get("SPAMNB_CORPORA")):
        raise SystemExit("SPAMNB_CORPORA is not set: it names the folder of the public corpora (corpora/README.md)")
    return Path(folder)


def sources(name: str, root: Path) -> list[str]:
    """Return the SOURCEs of a corpus below ``root``, the folder of all corpora."""
    parts = [spec.rpartition("=") for spec in CORPORA[name]]
    return [f"{label}{equals}{root}/{path}" for label, equals, path in parts]


def complain(name: str, error: Exception) -> None:
    """Report a message that cannot be read."""
    print(f"{name}: {error}; skipped", file=sys.stderr)


def with_corpora(parser: argparse.ArgumentParser, needed: str) -> argparse.Namespace:
    """Parse a command line in which ``--corpora`` or SPAMNB_CORPORA names a folder that contains ``needed``."""
    default = os.environ.get("SPAMNB_CORPORA")
    parser.add_argument("--corpora", type=Path, default=default, help="their folder [default: $SPAMNB_CORPORA]")
    arguments = parser.parse_args()
    if arguments.corpora is None:
        parser.error("name the folder of corpora: --corpora DIR, or SPAMNB_CORPORA")
    if not (arguments.corpora / needed).is_dir():
        parser.error(f"{arguments.corpora}: no folder {needed} there; scripts/fetch_corpora.py gets the corpora")
    return arguments
