"""Compare constants of the correction: penalty and passes.

Each corpus is halved several times, by md5 of a number and the message's name. One half is learned, the other half is
classified. Figures are means over the halvings, and the standard deviation of 1-ROCA%. Seconds are CPU time of training
and classifying without reading mail. "by chance" is the expected calibration error that the same probabilities would
have if they were true. 20 Newsgroups is split by date, once, and its figure is accuracy.

    SPAMNB_CORPORA=… python scripts/experiment_correction.py [--corpus NAME]... [--halvings 3] [--only WORDS]
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from mail_corpora import complain, corpora_folder, sources

from spamnb.engines.counting import count_parallel
from spamnb.evaluation.intervals import error_rates
from spamnb.evaluation.metrics import (
    expected_calibration_error,
    least_missed_spam,
    one_minus_roca,
    reliability_table,
    roc_counts,
)
from spamnb.evaluation.protocols import Mail, evaluate_positions, make_mail
from spamnb.evaluation.result import Result, make_result
from spamnb.model import corrected
from spamnb.settings import Settings
from spamnb.sources.spec import find_labelled_entries

CORPORA = ("spamassassin", "enron1", "enron2", "enron3", "lingspam", "sms", "20news")
MODELS: dict[str, tuple[Settings, dict[str, Any]]] = {
    "naive Bayes": (Settings(model_type="boolean"), {}),
    "corrected": (Settings(model_type="corrected"), {}),
    **{f"penalty {C:g}": (Settings(model_type="corrected"), {"PENALTY": C}) for C in (15.0, 50.0, 150.0, 1500.0)},
    **{f"passes {n}": (Settings(model_type="corrected"), {"PASSES": (n, 10, 3)}) for n in (3, 30)},
    **{f"{n} many-class passes": (Settings(model_type="corrected"), {"MANY_PASSES": (n, 2, 1)}) for n in (1, 5)},
}


@contextmanager
def change_constants(constants: dict[str, Any]) -> Iterator[None]:
    """Change constants of the learner's module within the context."""
    before = {name: getattr(corrected, name) for name in constants}
    for name, value in constants.items():
        setattr(corrected, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(corrected, name, value)


def read_mail(name: str, root: Path) -> Mail:
    specs = [f"{root}/20news-bydate/{part}" for part in ("train", "test")] if name == "20news" else sources(name, root)
    entries = list(find_labelled_entries(specs, complain))
    return make_mail(count_parallel(entries, Settings(), complain), [entry.name for entry in entries])


def test_half(name: str, mail: Mail, halving: int) -> np.ndarray:
    """Return whether each message is classified and not learned."""
    if name == "20news":
        return np.array(["20news-bydate/test" in path for path in mail.names])
    digests = [hashlib.md5(f"{halving}:{path.rsplit('/', 1)[-1]}".encode()).digest() for path in mail.names]
    return np.array([digest[0] % 2 == 1 for digest in digests])


def evaluate(mail: Mail, is_test: np.ndarray, settings: Settings) -> tuple[Result, float]:
    started = time.process_time()
    results = evaluate_positions(mail, settings, mail.training_set.minus(is_test), is_test)
    seconds = time.process_time() - started
    return make_result([results[position] for position in sorted(results)], "", settings.spam), seconds


def by_chance(p: np.ndarray, draws: int = 200) -> float:
    """Return the mean expected calibration error if messages are spam with exactly these probabilities (n,)."""
    truths = np.random.default_rng(0).random((draws, len(p))) < p
    errors = [expected_calibration_error(reliability_table(truth, np.c_[1 - p, p], positive=1)) for truth in truths]
    return float(np.mean(errors))


def figures(result: Result) -> list[float]:
    if len(result.classes) > 2:
        return [100 * float((result.probabilities.argmax(axis=1) == result.truth).mean())]
    spam = result.classes.index("spam")
    truth, scores = result.truth == spam, result.margins[:, spam]
    p = result.probabilities[:, spam]
    errors = error_rates(truth, result.verdicts == spam)
    missed = 100 * float(least_missed_spam(roc_counts(truth, scores), 0.001))
    calibration = expected_calibration_error(reliability_table(truth, np.c_[1 - p, p], positive=1))
    return [one_minus_roca(truth, scores), missed, calibration, by_chance(p), errors.hm.value, errors.sm.value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    parser.add_argument("--halvings", type=int, default=3)
    parser.add_argument("--only", help="parts of models' names, comma-separated")
    arguments = parser.parse_args()
    models = [name for name in MODELS if not arguments.only or any(word in name for word in arguments.only.split(","))]
    for name in arguments.corpus or CORPORA:
        mail = read_mail(name, corpora_folder())
        halvings = range(1 if name == "20news" else arguments.halvings)
        heads = "accuracy %" if name == "20news" else "1-ROCA%, sm% at hm% ≤ .1, ECE%, by chance, hm%, sm%"
        print(f"{name}, {len(halvings)} halvings: {heads}; CPU seconds; ± of the first", flush=True)
        for model in models:
            settings, constants = MODELS[model]
            with change_constants(constants):
                rows = []
                for halving in halvings:
                    result, seconds = evaluate(mail, test_half(name, mail, halving), settings)
                    rows.append([*figures(result), seconds])
            print(
                f"  {model:18}", *(f"{value:8.4f}" for value in np.mean(rows, axis=0)),
                f"  ± {np.std(np.array(rows)[:, 0]):.4f}", flush=True,
            )  # fmt: skip


if __name__ == "__main__":
    main()
