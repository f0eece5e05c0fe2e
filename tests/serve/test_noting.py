"""What ``sort`` and ``watch`` note in a journal."""

from __future__ import annotations

import sys
from pathlib import Path

from served import mail

from spamnb.classifier import Classifier
from spamnb.cli.mailboxes import Target
from spamnb.cli.noting import noting


def test_messages_whose_moves_were_not_made_are_not_kept_in_memory(model: Path, tmp_path: Path):
    raws = [mail("spam", seed) for seed in range(500, 510)]
    before = [sys.getrefcount(raw) for raw in raws]
    target = Target("here", model, None, path=tmp_path)
    with Classifier.open(model) as classifier, noting(classifier, tmp_path / "journal", target) as notes:
        assert notes is not None
        assert {notes.judge(raw).verdict for raw in raws} == {"spam"}
        assert all(sys.getrefcount(raw) > count for raw, count in zip(raws, before))
        notes.begin()
        after = [sys.getrefcount(raw) for raw in raws]
        assert after[:-1] == before[:-1]  # a classifier keeps the last that it read
