"""The public corpora of the scripts, as SOURCEs of spamnb; corpora/README.md says how to get them."""

from __future__ import annotations

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


def corpora_folder(needed: str = "") -> Path:
    """Return the folder of all corpora, in which there is a folder ``needed``."""
    if not (folder := os.environ.get("SPAMNB_CORPORA")):
        raise SystemExit("SPAMNB_CORPORA is not set: it names the folder of the public corpora (corpora/README.md)")
    if not Path(folder, needed).is_dir():
        raise SystemExit(f"{folder}: no folder {needed} there; scripts/fetch_corpora.py gets the corpora")
    return Path(folder)


def sources(name: str, root: Path) -> list[str]:
    """Return the SOURCEs of a corpus below ``root``, the folder of all corpora."""
    parts = [spec.rpartition("=") for spec in CORPORA[name]]
    return [f"{label}{equals}{root}/{path}" for label, equals, path in parts]


def complain(name: str, error: Exception) -> None:
    """Report a message that cannot be read."""
    print(f"{name}: {error}; skipped", file=sys.stderr)
