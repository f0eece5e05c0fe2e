"""Three years of mail, taught lesson by lesson: does the model stay good, and does it stay small?

    python scripts/simulate_years.py ~/corpora                     36 months of Enron-Spam's mail, in order of date
    python scripts/simulate_years.py ~/corpora --months 0          the same without pruning
    python scripts/simulate_years.py ~/corpora --upgrades 0        without new versions of the tokens

The mail of three people, good mail of 1999 to 2002 and spam of 2003 to 2005, is cut into 36 months of equal size, each
class in the order of its dates. Each message is judged and then taught. Each quarter the model is pruned. At the end of
each of the first two years there is a new version of the tokens, which calls the words of the Subject field otherwise,
and ``spamnb upgrade`` makes the model anew: of the lessons that it keeps and, with ``--archive``, of the mail so far.
``--keep-lessons`` is chosen so that the bound is reached in the first year. The mail of the last three months is only
judged: by this model, and by one that is trained at once on all that was taught. Whether the two differ more than by
luck tell McNemar's test of right verdicts and a bootstrap of the difference in (1-ROCA) %, on the same messages.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shlex
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from click.testing import CliRunner

import spamnb.settings
from spamnb.classifier import Classifier
from spamnb.cli import cli
from spamnb.engines.side_process import SideProcess
from spamnb.evaluation.mcnemar import mcnemar
from spamnb.evaluation.roc import one_minus_roca
from spamnb.formulas.calibration import margins
from spamnb.store import compaction, pruning, store
from spamnb.store.lessons import holding, set_bound
from spamnb.tokens import header_rules, tokenizer

MONTHS = 36
JUDGED = 3  # months at the end that are not taught
FIRST = 12 * 2023  # the first month of the simulation
LAST_OF_YEARS = (11, 23)
NEWEST_TOKENS = tokenizer.TOKENS_VERSION
REPLICATES = 1000
Mail = list[tuple[str, Path]]


class Judged(NamedTuple):
    """What a model says of n messages."""

    right: np.ndarray  # (n,) bool; unsure is not right
    unsure: int
    scores: np.ndarray  # (n,) of spam, nats


def by_month(root: Path, every: int) -> list[Mail]:
    """Class and file of Enron-Spam's mail; a file's name tells its date: 0001.1999-12-10.farmer.ham.txt."""
    months: list[Mail] = [[] for _ in range(MONTHS)]
    for label in ("ham", "spam"):
        found = [path for n in (1, 2, 3) for path in (root / f"enron{n}/{label}").iterdir()]
        found = sorted(found, key=lambda path: (path.name.split(".")[1], path.name))[::every]
        for m, month in enumerate(months):
            month += [(label, path) for path in found[m * len(found) // MONTHS : (m + 1) * len(found) // MONTHS]]
    for month in months:
        random.Random(1).shuffle(month)
    return months


def set_month(month: int) -> None:
    """Let the program believe that it is this month, counted from year 0."""
    for module in (compaction, pruning, store):
        module.this_month = lambda: month  # type: ignore[attr-defined]


def set_tokens(version: int) -> None:
    """Be the spamnb of an older version of the tokens, or the present one."""
    spamnb.settings.TOKENS_VERSION = tokenizer.TOKENS_VERSION = version
    header_rules.SHARED_PREFIXES.pop("subject", None)
    if version < NEWEST_TOKENS:
        header_rules.SHARED_PREFIXES["subject"] = f"title{version}"


def apart(call: Callable[..., Any], *arguments: Any) -> Any:
    """Call in a process of its own: what it takes of memory is not the filter's."""
    with SideProcess() as executor:
        return executor.submit(call, *arguments).result()


def run(*arguments: object) -> None:
    """A command of spamnb."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if result.exit_code:
        raise SystemExit(f"spamnb {shlex.join(map(str, arguments))}: {result.output}{result.exception!r}")


def judged(model: Path, mail: Mail) -> Judged:
    """What the model says of the mail."""
    with Classifier.open(model) as classifier:
        found = [classifier.classify(path.read_bytes(), tokens=0, posterior=False) for _, path in mail]
        spam = classifier.store.totals().classes.index("spam")
    right = np.array([one.verdict == label for one, (label, _) in zip(found, mail)])
    unsure = sum(one.verdict == "unsure" for one in found)
    return Judged(right, unsure, margins(np.array([one.scores for one in found]))[:, spam])


def teach(model: Path, mail: Mail) -> dict[str, object]:
    """Judge each message, then teach it; wrong and unsure verdicts, and what the model holds then."""
    wrong = unsure = 0
    with Classifier.open(model, writable=True) as classifier:
        for label, path in mail:
            read = classifier.read(path.read_bytes())
            verdict = classifier.classify(read, tokens=0, posterior=False).verdict
            unsure += verdict == "unsure"
            wrong += verdict not in (label, "unsure")
            classifier.learn(label, read)
        kept = holding(classifier.store).lessons
        tokens = classifier.store.totals().vocabulary_size
    return {"messages": len(mail), "wrong": wrong, "unsure": unsure, "tokens": tokens, "kept": kept}


def index_of(mail: Mail, folder: Path) -> str:
    """A SOURCE that names this mail."""
    index = folder / "index"
    index.write_text("".join(f"{label} {path}\n" for label, path in mail))
    return f"index:{index}"


def difference(labels: list[bool], first: Judged, second: Judged) -> dict[str, object]:
    """Do two models differ on the same messages by more than luck?"""
    rng, spam = np.random.default_rng(1), np.array(labels)
    differences = []
    while len(differences) < REPLICATES:
        drawn = rng.integers(0, len(spam), len(spam))
        areas = [one_minus_roca(spam[drawn], one.scores[drawn]) for one in (first, second)]
        differences.append(areas[0] - areas[1])
    only_first, only_second, p = mcnemar(first.right, second.right)
    low, high = np.percentile(differences, [2.5, 97.5]).round(4).tolist()
    right = {"only_taught_right": only_first, "only_at_once_right": only_second, "mcnemar_p": round(p, 3)}
    return {**right, "1-roca%_difference_95%": [low, high]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--months", type=int, help="of 'prune' (0: it is not pruned)")
    parser.add_argument("--upgrades", type=int, default=2)
    parser.add_argument("--archive", action="store_true", help="'upgrade' is given all mail so far")
    parser.add_argument("--keep-lessons", type=float, default=2.5, metavar="MB", help="of all mail; a part of a part")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth message")
    arguments = parser.parse_args()
    months = by_month(arguments.corpora / "enron-spam", arguments.every)
    rule = [] if arguments.months is None else ["--months", arguments.months]
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        model, at_once = folder / "model.spamnb", folder / "at-once.spamnb"
        set_tokens(NEWEST_TOKENS - arguments.upgrades)
        with Classifier.create(model) as classifier:
            set_bound(classifier.store, arguments.keep_lessons / arguments.every)
        taught: Mail = []
        for m, month in enumerate(months[:-JUDGED]):
            set_month(FIRST + m)
            line = teach(model, month)
            taught += month
            if m in LAST_OF_YEARS[2 - arguments.upgrades :]:
                set_tokens(tokenizer.TOKENS_VERSION + 1)
                sources = [index_of(taught, folder)] if arguments.archive else []
                apart(run, "upgrade", "--incomplete", "--workers", 1, "-m", model, *sources)
            if m % 3 == 2 and arguments.months != 0:
                apart(run, "prune", "--yes", *rule, "-m", model)
            memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            size = {"file_mb": round(model.stat().st_size / 1e6, 2), "peak_mb": round(memory)}
            print(json.dumps({"month": m + 1, **line, **size}), flush=True)
        apart(run, "train", "--workers", 1, "-m", at_once, index_of(taught, folder))
        last = [message for month in months[-JUDGED:] for message in month]
        spam = [label == "spam" for label, _ in last]
        found = {name: judged(path, last) for name, path in (("taught", model), ("trained at once", at_once))}
        for name, one in found.items():
            wrong = len(last) - int(one.right.sum()) - one.unsure
            area = round(one_minus_roca(spam, one.scores), 4)
            line = {"model": name, "messages": len(last), "wrong": wrong, "unsure": one.unsure, "1-roca%": area}
            print(json.dumps(line), flush=True)
        print(json.dumps(difference(spam, *found.values())))


if __name__ == "__main__":
    main()
