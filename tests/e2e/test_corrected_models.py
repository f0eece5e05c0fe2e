"""What a corrected model says of a message: what naive Bayes gives, and what its correction."""

import json
from pathlib import Path

import numpy as np
import pytest
from commands import done
from mail import folders, mail, message

from spamnb.classifier import Classifier
from spamnb.learners.corrected import offset_of
from spamnb.reader.meaning import meaning

LESSONS = [("spam", message("spam", 70)), ("ham", message("ham", 71)), ("spam", message("ham", 0))]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Trained on 40 messages, and taught three, one of them another class than that of its folder."""
    path = tmp_path / "model"
    done("train", "-m", path, "--set", "model_type=corrected", folders(tmp_path / "mail", mail(20)))
    for label, raw in LESSONS:
        done("learn", "-m", path, label, stdin=raw)
    return path


def test_an_explanation_says_which_part_spoke_and_the_parts_add_up(model: Path, tmp_path: Path) -> None:
    (tmp_path / "letter").write_bytes(message("spam", 500))
    told = json.loads(done("classify", "-m", model, "--format", "json", "--explain", "1000", tmp_path / "letter"))
    done("train", "-m", tmp_path / "plain", "--set", "model_type=boolean", tmp_path / "mail")
    for label, raw in LESSONS:
        done("learn", "-m", tmp_path / "plain", label, stdin=raw)
    scores = []
    for path in (model, tmp_path / "plain"):
        with Classifier.open(path) as classifier:
            scores.append(np.ptp(classifier.classify(message("spam", 500)).scores))
    correction, whole = (sum(each[of] for each in told["evidence"]) for of in ("correction", "weight"))
    assert whole == pytest.approx(scores[0]) and correction != 0
    assert whole - correction == pytest.approx(offset_of(2) * scores[1]), "naive Bayes' part is what it says by itself"
    said = done("explain", "--verbose", "-m", model, tmp_path / "letter")
    assert f"naive Bayes gives {whole - correction:+.3f} nats, its correction {correction:+.3f}" in said
    text = done("classify", "-m", model, "--explain", "1", tmp_path / "letter")
    first = told["evidence"][0]
    assert text.splitlines()[1] == f"    for spam: {meaning(first['token']) or first['token']}" and first["weight"] > 0
