"""What settled logistic regression's penalty.

Half of each corpus (by md5 of the message's name) is learned, the other half judged: 1-ROCA% of logistic regression
under several penalties and least numbers of holders of a token.

    SPAMNB_CORPORA=… python scripts/experiment_logistic.py [--corpus NAME]...
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

from spamnb.counts.training_set import count_messages
from spamnb.evaluation.roc import one_minus_roca
from spamnb.learners import logistic
from spamnb.reader.message import Reader
from spamnb.settings import Settings
from spamnb.sources.entries import Entry
from spamnb.sources.spec import entries

CORPORA = ("spamassassin", "enron1", "enron2", "lingspam", "sms")


def odd(name: str) -> bool:
    return int(hashlib.md5((name.rsplit("/", 1)[-1] + "x").encode()).hexdigest(), 16) % 2 == 1


def half(specs: list[str], learned: bool) -> Iterator[tuple[int, Entry]]:
    for number, entry in enumerate(entries(specs, lambda name, error: print(name, error, file=sys.stderr))):
        if odd(entry.name) != learned:
            yield number, entry


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpus", choices=CORPORA, action="append")
    for name in parser.parse_args().corpus or CORPORA:
        specs = sources(name, corpora_folder())
        with tempfile.TemporaryDirectory() as folder:
            parts = [
                count_messages(half(specs, learned), Reader(), Path(folder) / f"{learned}", lambda n, e: print(n, e))
                for learned in (True, False)
            ]
            made, asked = parts
            column = {token: j for j, token in enumerate(made.tokens)}
            mapping = np.array([column.get(token, -1) for token in asked.tokens])
            asked = asked._replace(
                shards=tuple(shard._replace(columns=mapping[shard.columns]) for shard in asked.shards)
            )
            truth = np.concatenate([batch.labels for batch in asked.batches()]) == 1
            figures = {}
            for logistic.C, logistic.MIN_DF in ((100.0, 1), (1000.0, 1), (100.0, 2), (1000.0, 2)):
                learner = logistic.Logistic(Settings(model_type="logistic"))
                fitted = learner.fit(made)
                linear = np.concatenate([fitted.score(batch.rows)[0] for batch in asked.batches()])
                figures[f"C={logistic.C:g}, of {logistic.MIN_DF}"] = linear[:, 1] - linear[:, 0]
        print(name, len(truth), "messages judged; 1-ROCA%")
        for what, scores in figures.items():
            print(f"  {one_minus_roca(truth, scores):8.4f}  {what}", flush=True)


if __name__ == "__main__":
    main()
