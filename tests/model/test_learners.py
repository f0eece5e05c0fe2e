"""model/learner.py: models of vectors, and what all kinds of model share."""

from pathlib import Path

import numpy as np
import pytest
from mail import count_messages, mail, message, train_file, without_calibration

from spamnb.core.score import Scores
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.reader.message import Reader
from spamnb.reader.rows import Rows
from spamnb.settings import MODELS, VECTOR_MODELS, Settings
from spamnb.store.jsonl import export


def _score(classifier: Classifier, rows: Rows) -> Scores:
    store = classifier.store
    return classifier.learner.score(store.model, store.look_up(rows.tokens), rows)


@pytest.mark.parametrize("model_type", MODELS)
def test_many_at_once_score_as_one_by_one(tmp_path: Path, model_type: str) -> None:
    settings = Settings(model_type=model_type)
    train_file(tmp_path / "m", count_messages(mail(20)), settings)
    with Classifier.open(tmp_path / "m") as classifier:
        reader = Reader()
        messages = [reader.tokens(message(label, n)) for label in ("ham", "spam") for n in range(90, 95)]
        rows = Rows.of([*messages, {}])
        many = _score(classifier, rows)
        for i, one in enumerate([*messages, {}]):
            alone = _score(classifier, Rows.of([one]))
            np.testing.assert_allclose(many.scores[i], alone.scores[0], atol=1e-12)
            given = many.weights[rows.begins[i] : rows.ends[i]]
            np.testing.assert_allclose(given, alone.weights, atol=1e-12)
        assert classifier.classify_all([]) == []
        spam, ham = (classifier.classify(message(label, 95)).probabilities["spam"] for label in ("spam", "ham"))
        assert spam > 0.5 > ham


@pytest.mark.parametrize("model_type", VECTOR_MODELS)
def test_gaussian_sums_forget_exactly_and_equal_training_on_the_rest(tmp_path: Path, model_type: str) -> None:
    settings = Settings(model_type, embedding="lsa:8")
    train_file(tmp_path / "m", count_messages(mail(30)), settings)
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        before = list(export(classifier.store))
        for raw in (message("spam", 300), b"", b"not one word it knows: zzzz"):
            for label in ("spam", "ham", "news"):
                assert classifier.learn(label, raw)
                assert list(export(classifier.store)) != before
                assert classifier.forget(label, raw)
                assert list(export(classifier.store)) == before
        assert classifier.forget("ham", message("ham", 3)), "a message of training"
        assert classifier.learn("ham", message("ham", 3))
        assert without_calibration(export(classifier.store)) == without_calibration(before)
        for label, raw in sorted(mail(30)):
            assert classifier.forget(label, raw)
        assert classifier.classify(raw).verdict == "unsure"


def test_too_few_messages_for_vectors_are_told_by_the_name_of_their_class(tmp_path: Path) -> None:
    with pytest.raises(SpamnbError, match="too few messages: the covariance of class spam from 1 samples"):
        train_file(tmp_path / "m", count_messages(mail(1)), Settings(model_type="qda", embedding="lsa:1"))


@pytest.mark.parametrize("model_type", VECTOR_MODELS)
def test_evidence_of_vectors_adds_up_to_the_score(tmp_path: Path, model_type: str) -> None:
    train_file(tmp_path / "m", count_messages(mail(30)), Settings(model_type=model_type, embedding="lsa:6"))
    with Classifier.open(tmp_path / "m") as classifier:
        raw = message("spam", 77)
        classification = classifier.classify(raw)
        constant = _score(classifier, Rows.of([{}])).scores[0]
        told = sum(evidence.weight for evidence in classification.evidence)
        sign = 1 if classification.probabilities["spam"] > 0.5 else -1
        difference = sign * ((classification.scores - constant)[1] - (classification.scores - constant)[0])
        assert told == pytest.approx(difference, abs=1e-6)


@pytest.mark.parametrize(
    ("model_type", "spoil", "says"),
    [
        ("lda", {"dense_documents": [1, 2, 3]}, "do not belong together"),
        ("lda", {"dense_documents": [1.0, 2.0]}, "do not belong together"),
        ("gaussian", {"dense_second": np.zeros((2, 2, 2), int)}, "do not belong together"),
        ("lda", {"dense_classes": ["ham"]}, "do not belong together"),
        ("lda", {"dense_classes": ["ham", "other"]}, "dense_classes in table meta lack"),
        ("lda", {"dense_classes": "ham"}, "dense_classes in table meta are not a list of names"),
        ("lda", {"dense_first": np.zeros((2, 10_000), int)}, "dense_first .* more than 9,999 dimensions"),
        ("lda", {"dense_first": np.zeros((0, 1 << 40), int)}, "dense_first .* more than 9,999 dimensions"),
        ("lda", {"vectors": []}, "truncated vectors in table tokens"),
    ],
)
def test_what_does_not_belong_together_is_told(
    tmp_path: Path, model_type: str, spoil: dict[str, list], says: str
) -> None:
    train_file(tmp_path / "m", count_messages(mail(20)), Settings(model_type=model_type, embedding="lsa:2"))
    with Classifier.open(tmp_path / "m", writable=True) as classifier:
        for name, value in spoil.items():
            if name == "vectors":
                with classifier.store.writing():
                    select = "SELECT bucket, length(hashes) / 8 FROM tokens"
                    for bucket, n in classifier.store.execute(select).fetchall():
                        vectors = np.ones((n, 3), np.float32).tobytes()
                        classifier.store.execute("UPDATE tokens SET vectors = ? WHERE bucket = ?", (vectors, bucket))
            elif name == "dense_classes":
                classifier.store.put_meta({name: value})
            else:
                classifier.store.put_arrays({name: np.array(value)})
        with pytest.raises(SpamnbError, match=says):
            classifier.classify(b"\nmeeting")
