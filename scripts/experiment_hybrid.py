"""What settled logistic regression's penalty, and whether its sum with naive Bayes is better than both.

Half of each corpus (by md5 of the message's name) is learned, the other half judged: 1-ROCA% of naive Bayes, of
logistic regression under several penalties and least numbers of holders of a token, and of their sum on equal scales.

    SPAMNB_CORPORA=… python scripts/experiment_hybrid.py [--corpus NAME]...
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from mail_corpora import corpora_folder, sources

from spamnb.counts.training_set import Tally, tally
from spamnb.evaluate.roc import one_minus_roca
from spamnb.learners import logistic
from spamnb.learners.hybrid import _spread
from spamnb.learners.naive_bayes import NaiveBayes, base, log_likelihoods, score, totals_of
from spamnb.settings import Settings
from spamnb.sources.entries import Entry, entries
from spamnb.tokens.tokenizer import Tokenizer
from spamnb.tokens.vectorizer import views_of

CORPORA = ("spamassassin", "enron1", "enron2", "lingspam", "sms")


def odd(name: str) -> bool:
    return int(hashlib.md5((name.rsplit("/", 1)[-1] + "x").encode()).hexdigest(), 16) % 2 == 1


def half(specs: list[str], learned: bool) -> Iterator[tuple[int, Entry]]:
    for number, entry in enumerate(entries(specs, lambda name, error: print(name, error, file=sys.stderr))):
        if odd(entry.name) != learned:
            yield number, entry


def bayes_scores(settings: Settings, made: Tally, asked: Tally) -> np.ndarray:
    """Scores of the messages of ``asked``, whose columns are those of ``made``."""
    totals = totals_of(made.sums)
    start, views, out = base(settings, totals, ()), views_of(made.tokens), []
    counts = made.sums.counts.document_counts.toarray(), made.sums.counts.occurrences.toarray()
    for block in asked.blocks():
        told = log_likelihoods(settings, totals, counts[0][:, block.columns], counts[1][:, block.columns])
        out.append(score(settings, told, block.repeats, block.indptr, start, views[block.columns])[0])
    return np.concatenate(out)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    for name in parser.parse_args().corpus or CORPORA:
        specs = sources(name, corpora_folder())
        with tempfile.TemporaryDirectory() as folder:
            tallies = [
                tally(half(specs, learned), Tokenizer(), Path(folder) / f"{learned}", lambda n, e: print(n, e))
                for learned in (True, False)
            ]
            made, asked = tallies
            column = {token: j for j, token in enumerate(made.tokens)}
            mapping = np.array([column.get(token, -1) for token in asked.tokens])
            asked = asked._replace(rows=tuple(rows._replace(columns=mapping[rows.columns]) for rows in asked.rows))
            truth = np.concatenate([block.labels for block in asked.blocks()]) == 1
            settings = Settings()
            bayes = bayes_scores(settings, made, asked)
            spread = _spread(NaiveBayes(settings).train(made).scores)
            figures = {"naive Bayes": bayes[:, 1] - bayes[:, 0]}
            for logistic.PENALTY, logistic.HOLDERS in ((100.0, 1), (1000.0, 1), (100.0, 2), (1000.0, 2)):
                learner = logistic.Logistic(Settings(model_type="logistic"))
                fitted = learner.fit(made)
                linear = np.concatenate([fitted.score(block)[0] for block in asked.blocks()])
                both = bayes / spread + linear / _spread(learner.left_out(made)[1])
                what = f"C={logistic.PENALTY:g}, of {logistic.HOLDERS}"
                figures[f"logistic {what}"] = linear[:, 1] - linear[:, 0]
                figures[f"sum {what}"] = both[:, 1] - both[:, 0]
        print(name, len(truth), "messages judged; 1-ROCA%")
        for what, scores in figures.items():
            print(f"  {one_minus_roca(truth, scores):8.4f}  {what}", flush=True)


if __name__ == "__main__":
    main()
