"""The starter: a small model of public mail, to which a person's own messages are added from the first one on.

docs/starter.md says what is in it. scripts/build_starter.py makes the export that is read here.
"""

from __future__ import annotations

import contextlib
import lzma
from pathlib import Path

from spamnb.errors import ModelExists
from spamnb.model.model import STARTER
from spamnb.store.jsonl import parse_export
from spamnb.store.snapshot import atomic_replace, write_snapshot

EXPORT = Path(__file__).with_name("starter.jsonl.xz")
NAME = "starter.spamnb"  # of its model file, beside the model that adds to it


def write_starter(folder: Path, *, force: bool = False) -> Path:
    """Write the starter as a model file into ``folder``, and return its path. With ``force``, replace an older one."""
    path = folder / NAME
    if force or not path.exists():
        with lzma.open(EXPORT, "rt", encoding="utf-8") as lines:
            starter = parse_export(lines, str(EXPORT))
        meta = {**starter.meta, STARTER: True}
        with contextlib.suppress(ModelExists), atomic_replace(path, meta, force=force) as store:
            write_snapshot(store, starter._replace(meta=meta))
    return path
