"""Compare tokens, pooling, smoothing and the correction with alternatives, on every corpus.

    SPAMNB_CORPORA=… python scripts/experiment_model.py KIND... [--corpus NAME]... [--halvings 3]

KIND is one of correction, pooling, groups, alpha, pairs and tokens. Each corpus is halved several times, by md5 of a
number and the message's name. One half is learned, the other half is classified. Figures are means over the halvings,
and the standard deviation of 1-ROCA%. Seconds are CPU time of training and classifying without reading mail. "by
chance" is the expected calibration error that the same probabilities would have if they were true. 20 Newsgroups is
split by date, once, and its figure is accuracy. All but the models of the correction are boolean naive Bayes.
"""

from __future__ import annotations

import argparse
import hashlib
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

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
from spamnb.evaluation.protocols import Mail, classify_parts, make_mail
from spamnb.evaluation.result import Result
from spamnb.model import corrected, pooling
from spamnb.reader.tokens import TokenArray
from spamnb.settings import Settings
from spamnb.sources.spec import find_labelled_entries

CORPORA = ("spamassassin", "enron1", "enron2", "enron3", "lingspam", "sms", "20news")
BOOLEAN, CORRECTED = Settings(model_type="boolean"), Settings()
ALL_GROUPS = "01234"


class Variant(NamedTuple):
    """A model: its settings, constants of the modules, and its tokens."""

    settings: Settings = BOOLEAN
    constants: dict[str, Any] = {}  # noqa: RUF012 (never changed)
    without: str = ""  # the tokens that begin with this are left out, unless it is empty
    new_groups: str = ALL_GROUPS  # the number of the group that replaces each group


LEFT_OUT = "p: caps: length: line: capitals: subject:p: # received: header: url: html: from: to: x-mailer: message-id:"
VARIANTS: dict[str, dict[str, Variant]] = {
    "correction": {
        "naive Bayes": Variant(),
        "corrected": Variant(CORRECTED),
        **{f"penalty {C:g}": Variant(CORRECTED, {"PENALTY": C}) for C in (15.0, 50.0, 150.0, 1500.0)},
        **{f"passes {n}": Variant(CORRECTED, {"PASSES": (n, 10, 3)}) for n in (3, 30)},
        **{f"{n} many-class passes": Variant(CORRECTED, {"MANY_PASSES": (n, 2, 1)}) for n in (1, 5)},
    },
    "pooling": {
        "default": Variant(),
        "sum": Variant(Settings(model_type="boolean", pooling="sum")),
        **{f"weights I^{a:g}": Variant(BOOLEAN, {"INFORMATION_EXPONENT": a}) for a in (0.0, 1.0, 2.0, 3.0)},
        **{f"groups to the power of {b:g}": Variant(BOOLEAN, {"GROUP_EXPONENT": b}) for b in (0.0, 0.5, 0.8, 1.0)},
        **{f"prior weight {w:g}": Variant(BOOLEAN, {"PRIOR_WEIGHT": w}) for w in (0.0, 1.0, 5.0, 10.0)},
    },
    "groups": {
        "five groups": Variant(),
        "one": Variant(new_groups="00000"),
        "text and headers": Variant(new_groups="00110"),
        "pairs with the text": Variant(new_groups="00234"),
        "subject with the text": Variant(new_groups="01034"),
        "subject with the headers": Variant(new_groups="01334"),
        "structure with the text": Variant(new_groups="01230"),
        "structure with the headers": Variant(new_groups="01233"),
    },
    "alpha": {f"alpha {alpha:g}": Variant(replace(BOOLEAN, alpha=alpha)) for alpha in (0.01, 0.03, 0.1, 0.3, 1.0)},
    "pairs": {
        name: Variant(replace(BOOLEAN, ngrams=n)) for name, n in (("no pairs", 1), ("pairs", 2), ("and triples", 3))
    },
    "tokens": {
        "all": Variant(),
        **{f"without {beginning}": Variant(without=beginning) for beginning in LEFT_OUT.split()},
        "text only": Variant(replace(BOOLEAN, body_only=True)),
    },
}


@contextmanager
def change_constants(constants: dict[str, Any]) -> Iterator[None]:
    """Change constants of the modules of pooling and of the correction within the context."""
    modules = {name: pooling if hasattr(pooling, name) else corrected for name in constants}
    before = {name: getattr(module, name) for name, module in modules.items()}
    for name, value in constants.items():
        setattr(modules[name], name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(modules[name], name, value)


@lru_cache(1)
def read_mail(name: str, root: Path, body_only: bool, ngrams: int) -> Mail:
    specs = [f"{root}/20news-bydate/{part}" for part in ("train", "test")] if name == "20news" else sources(name, root)
    entries = list(find_labelled_entries(specs, complain))
    training_set = count_parallel(entries, Settings(body_only=body_only, ngrams=ngrams), complain)
    return make_mail(training_set, [entry.name for entry in entries])


def change_tokens(mail: Mail, variant: Variant) -> Mail:
    """Return the mail with the tokens and the groups of a variant."""
    training_set = mail.training_set
    if variant.without:
        columns = [n for n, token in enumerate(training_set.tokens) if not token.startswith(variant.without)]
        training_set = training_set.select_columns(np.array(columns))
    if variant.new_groups != ALL_GROUPS:
        tokens, groups = training_set.tokens, np.array([*map(int, variant.new_groups)], np.int8)
        tokens = TokenArray(tokens.text, tokens.offsets, tokens.lengths, tokens.hashes, groups[tokens.groups])
        training_set = training_set._replace(rows=replace(training_set.rows, tokens=tokens))
    return make_mail(training_set, mail.names)


def test_half(name: str, mail: Mail, halving: int) -> np.ndarray:
    """Return whether each message is classified and not learned."""
    if name == "20news":
        return np.array(["20news-bydate/test" in path for path in mail.names])
    digests = [hashlib.md5(f"{halving}:{path.rsplit('/', 1)[-1]}".encode()).digest() for path in mail.names]
    return np.array([digest[0] % 2 == 1 for digest in digests])


def evaluate(mail: Mail, is_test: np.ndarray, settings: Settings) -> tuple[Result, float]:
    started = time.process_time()
    result = classify_parts(mail, settings, np.where(is_test[mail.rows.positions], 0, -1), "")
    return result, time.process_time() - started


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
    hm, sm = error_rates(truth, result.verdicts == spam)
    missed = 100 * float(least_missed_spam(roc_counts(truth, scores), 0.001))
    calibration = expected_calibration_error(reliability_table(truth, np.c_[1 - p, p], positive=1))
    return [one_minus_roca(truth, scores), missed, calibration, by_chance(p), hm.value, sm.value]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kinds", choices=VARIANTS, nargs="+", metavar="KIND")
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    parser.add_argument("--halvings", type=int, default=3)
    arguments = parser.parse_args()
    for name in arguments.corpus or CORPORA:
        halvings = range(1 if name == "20news" else arguments.halvings)
        heads = "accuracy %" if name == "20news" else "1-ROCA%, sm% at hm% ≤ .1, ECE%, by chance, hm%, sm%"
        print(f"{name}, {len(halvings)} halvings: {heads}; CPU seconds; ± of the first", flush=True)
        for title, variant in (item for kind in arguments.kinds for item in VARIANTS[kind].items()):
            settings = variant.settings
            mail = read_mail(name, corpora_folder(), settings.body_only, settings.ngrams)
            mail, rows = change_tokens(mail, variant), []
            with change_constants(variant.constants):
                for halving in halvings:
                    result, seconds = evaluate(mail, test_half(name, mail, halving), settings)
                    rows.append([*figures(result), seconds])
            cells = [*(f"{value:8.4f}" for value in np.mean(rows, axis=0)), f"  ± {np.std(np.array(rows)[:, 0]):.4f}"]
            print(f"  {title:26}", *cells, flush=True)


if __name__ == "__main__":
    main()
