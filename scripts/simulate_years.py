"""Three years of mail, taught lesson by lesson: does the model stay good, and does it stay small?

    python scripts/simulate_years.py ~/corpora                     36 months of Enron-Spam's mail, in order of date
    python scripts/simulate_years.py ~/corpora --no-prune          the same without pruning
    python scripts/simulate_years.py ~/corpora --upgrades 0        without new versions of the tokens

The mail of three people, good mail of 1999 to 2002 and spam of 2003 to 2005, is cut into 36 months of equal size, each
class in the order of its dates. Each message is judged and then taught. Each quarter the model is pruned; after each of
the first two years there is a new version of the tokens, and ``spamnb upgrade`` makes the model anew. The mail of the
last three months is only judged: by this model, and by one that is trained at once on all that was taught.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import shlex
import tempfile
from pathlib import Path

from click.testing import CliRunner

import spamnb.settings
from spamnb.classifier import Classifier
from spamnb.cli import cli
from spamnb.evaluate.roc import one_minus_roca
from spamnb.formulas.calibration import margins
from spamnb.store import compaction, pruning, store

MONTHS = 36
JUDGED = 3  # months at the end that are not taught
FIRST = 12 * 2023  # the first month of the simulation
Mail = list[tuple[str, Path]]


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


def run(*arguments: object) -> str:
    """A command of spamnb in this process; what it printed."""
    result = CliRunner().invoke(cli, [str(argument) for argument in arguments])
    if result.exit_code:
        raise SystemExit(f"spamnb {shlex.join(map(str, arguments))}: {result.output}")
    return result.output


def judged(model: Path, mail: Mail) -> tuple[int, int, float]:
    """Wrong and unsure verdicts on the mail, and (1-ROCA) %."""
    with Classifier.open(model) as classifier:
        found = [classifier.classify(path.read_bytes(), tokens=0, posterior=False) for _, path in mail]
        spam = classifier.store.totals().classes.index("spam")
    wrong = sum(one.verdict not in (label, "unsure") for one, (label, _) in zip(found, mail))
    scores = [float(margins(one.scores[None])[0, spam]) for one in found]
    unsure = sum(one.verdict == "unsure" for one in found)
    return wrong, unsure, one_minus_roca([label == "spam" for label, _ in mail], scores)


def teach(model: Path, mail: Mail) -> tuple[int, int]:
    """Judge each message, then teach it; wrong and unsure verdicts."""
    wrong = unsure = 0
    with Classifier.open(model, writable=True) as classifier:
        for label, path in mail:
            read = classifier.read(path.read_bytes())
            verdict = classifier.classify(read, tokens=0, posterior=False).verdict
            unsure += verdict == "unsure"
            wrong += verdict not in (label, "unsure")
            classifier.learn(label, read)
    return wrong, unsure


def new_tokens(model: Path) -> None:
    """There is a new version of spamnb, whose tokens are others; the user follows."""
    spamnb.settings.TOKENS_VERSION += 1
    run("upgrade", "-m", model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", type=Path)
    parser.add_argument("--no-prune", action="store_true")
    parser.add_argument("--upgrades", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, metavar="N", help="only every Nth message")
    arguments = parser.parse_args()
    months = by_month(arguments.corpora / "enron-spam", arguments.every)
    with tempfile.TemporaryDirectory() as folder:
        model, at_once = Path(folder, "model.spamnb"), Path(folder, "at-once.spamnb")
        Classifier.create(model).close()
        for m, month in enumerate(months[:-JUDGED]):
            set_month(FIRST + m)
            wrong, unsure = teach(model, month)
            if m % 3 == 2 and not arguments.no_prune:
                run("prune", "--yes", "-m", model)
            if m in (11, 23) and m // 12 < arguments.upgrades:
                new_tokens(model)
            with Classifier.open(model) as classifier:
                tokens = classifier.store.totals().vocabulary_size
            line = {"month": m + 1, "messages": len(month), "wrong": wrong, "unsure": unsure, "tokens": tokens}
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
            size = round(model.stat().st_size / 1e6, 2)
            print(json.dumps({**line, "file_mb": size, "peak_mb": round(peak)}), flush=True)
        index = Path(folder, "index")
        index.write_text("".join(f"{label} {path}\n" for month in months[:-JUDGED] for label, path in month))
        run("train", "-m", at_once, f"index:{index}")
        last = [message for month in months[-JUDGED:] for message in month]
        for name, path in (("taught", model), ("trained at once", at_once)):
            wrong, unsure, area = judged(path, last)
            found = {"model": name, "messages": len(last), "wrong": wrong, "unsure": unsure, "1-roca%": round(area, 4)}
            print(json.dumps({**found, "file_mb": round(path.stat().st_size / 1e6, 2)}), flush=True)


if __name__ == "__main__":
    main()
