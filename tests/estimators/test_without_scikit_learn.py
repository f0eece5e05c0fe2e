"""The estimators without scikit-learn: plain classes, for which the other tests of this folder hold too."""

import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
PLAIN = """
import sys
sys.modules["sklearn"] = None
import numpy as np
import spamnb
model = spamnb.MultinomialNB(alpha=0.5, loss="balanced").fit([[2, 0], [1, 0], [0, 3]], ["ham", "ham", "spam"])
print(model, model.predict([[0, 1]]).tolist(), model.score([[1, 0], [0, 1]], ["ham", "spam"]))
print(spamnb.LinearDiscriminantAnalysis(n_components=1))
for X, error in (([[1.0, np.nan]], "NaN"), ([[1.0, np.inf]], "infinity"), ([1, 2], "shape"), ([[1]], "1 features")):
    try:
        model.predict(X)
    except ValueError as message:
        assert error in str(message), message
    else:
        raise AssertionError(X)
rows = spamnb.MailVectorizer().fit_transform(["cheap pills", "lunch at noon"])
print(rows.shape[0], spamnb.SpamClassifier().fit(["cheap pills", "lunch"], ["spam", "ham"]).classes_.tolist())
"""


def test_plain_classes_learn_and_predict() -> None:
    run = subprocess.run([sys.executable, "-c", PLAIN], capture_output=True, text=True, timeout=120)
    assert run.stderr == ""
    assert run.stdout.splitlines() == [
        "MultinomialNB(alpha=0.5, loss='balanced') ['spam'] 1.0",
        "LinearDiscriminantAnalysis(n_components=1)",
        "2 ['ham', 'spam']",
    ]


def test_the_tests_of_the_estimators_hold() -> None:
    others = ["test_conformance.py", Path(__file__).name]
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "-p", "no:xdist", str(HERE)]
    command += [f"--ignore={HERE / name}" for name in others]
    environment = {**os.environ, "HIDE_SCIKIT_LEARN": "1"}
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment, cwd=HERE.parents[1])
    assert run.returncode == 0, run.stdout[-3000:]
