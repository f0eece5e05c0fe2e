"""Pictures of words: what is drawn is what the model says, whatever the words hold."""

import numpy as np
import pytest
from sklearn.calibration import CalibrationDisplay
from sklearn.metrics import ConfusionMatrixDisplay, RocCurveDisplay

from spamnb import BernoulliNB, ExplanationDisplay, MultinomialNB, SpamClassifier, WordsDisplay, mutual_information

pyplot = pytest.importorskip("matplotlib.pyplot", reason="the extra plot is not installed")
HOSTILE = r"$\frac{a}{$"
TEXTS = [f"{what} {n}" for n in range(20) for what in ("cheap pills", "lunch at")]
LABELS = ["spam", "ham"] * 20


@pytest.fixture(autouse=True)
def _closed_figures() -> None:
    pyplot.switch_backend("agg")
    yield
    pyplot.close("all")


def bars(ax: object) -> dict[str, tuple[float, str]]:
    """Of each word its bar's length and the class whose colour it has."""
    labels = [label.get_text() for label in ax.get_yticklabels()]
    return {
        labels[round(bar.get_y() + bar.get_height() / 2)]: (bar.get_width(), group.get_label().strip())
        for group in ax.containers
        for bar in group
    }


def test_bars_are_the_words_report() -> None:
    model = SpamClassifier().fit(TEXTS, LABELS)
    display = WordsDisplay.from_estimator(model, 5)
    drawn = bars(display.ax_)
    assert drawn == {word.token: (word.value, word.label) for word in model.words(5).informative}
    first = display.ax_.transData.transform([(0, 0), (0, 4)])[:, 1]
    assert first[0] > first[1], "the first word stands on top"


def test_bars_of_rows_are_their_mutual_information() -> None:
    rng = np.random.default_rng(0)
    X, y, names = rng.integers(0, 2, (50, 4)), rng.integers(0, 2, 50), ["a", "b", "c", HOSTILE]
    _, ax = pyplot.subplots()
    display = WordsDisplay.from_estimator(BernoulliNB().fit(X, y), 4, feature_names=names, ax=ax)
    assert display.ax_ is ax
    drawn = bars(ax)
    np.testing.assert_allclose([drawn[name][0] for name in names], mutual_information(X, y, alpha=1))
    shares = [X[y == c].mean(axis=0) for c in (0, 1)]
    assert [drawn[name][1] for name in names] == ["1" if b > a else "0" for a, b in zip(*shares)]


def test_an_explanation_has_the_weights_and_hostile_words_are_no_formulas(tmp_path: object) -> None:
    model = SpamClassifier(tokenizer="treebank").fit([f"{text} {HOSTILE}" for text in TEXTS], LABELS)
    message = f"cheap lunch {HOSTILE} \N{RIGHT-TO-LEFT OVERRIDE}"
    display = ExplanationDisplay.from_estimator(model, message, top=8)
    explanation = model.explain(message, 100)
    is_common = (explanation.counts.document_counts == explanation.counts.totals.documents).all(axis=1)
    evidence = [each for each, common in zip(explanation.classification.evidence, is_common) if not common][:8]
    assert is_common.sum() >= 3 and evidence
    widths = sorted(bar.get_width() for group in display.ax_.containers for bar in group)
    assert widths == pytest.approx(sorted(each.weight for each in evidence))
    assert {name for _, name in bars(display.ax_).values()} <= {"ham", "spam"}
    display.figure_.savefig(tmp_path / "picture.png")


def test_scikit_learns_displays_take_a_spam_classifier() -> None:
    model = SpamClassifier().fit(TEXTS, LABELS)
    matrix = ConfusionMatrixDisplay.from_estimator(model, TEXTS, LABELS).confusion_matrix
    assert matrix.tolist() == [[20, 0], [0, 20]]
    assert RocCurveDisplay.from_estimator(model, TEXTS, LABELS).roc_auc == 1
    assert len(CalibrationDisplay.from_estimator(model, TEXTS, LABELS).prob_true)


def test_a_model_without_words_is_refused() -> None:
    rows, y = [[1, 0], [0, 1]], ["ham", "spam"]
    with pytest.raises(TypeError, match="MultinomialNB has no words"):
        WordsDisplay.from_estimator(MultinomialNB().fit(rows, y))
    with pytest.raises(TypeError, match="int explains no message: give a SpamClassifier"):
        ExplanationDisplay.from_estimator(3, "tea")
    with pytest.raises(ValueError, match="not fitted"):
        WordsDisplay.from_estimator(BernoulliNB())
    with pytest.raises(ValueError, match="1 names for 2 columns"):
        WordsDisplay.from_estimator(BernoulliNB().fit(rows, y), feature_names=["a"])
