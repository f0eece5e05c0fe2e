"""Measure seconds and memory of spamnb, bogofilter and a scikit-learn pipeline on the same files, as whole processes.

    SPAMNB_CORPORA=… python scripts/benchmark.py [--sizes 1000,28098] [--runs 7]   mail
    SPAMNB_CORPORA=… python scripts/benchmark.py --of posts                        newsgroup posts instead
    SPAMNB_CORPORA=… python scripts/benchmark.py --latency                         one message, one process

The corpora are ``spamassassin``, ``modern`` and ``20news-bydate`` (corpora/README.md); benchmark_corpora.py describes
the two collections. Programs take turns, A B C A B C …, because the speed of a machine drifts. Ratios are
computed in each turn, and figures are medians of all turns. Files are in the page cache. Peak memory is that of the
largest process, and at least the 35 MB of this script.
"""

from __future__ import annotations

import argparse
import os
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmark_corpora import CORPORA, build
from mail_corpora import corpora_folder

PYTHON = [sys.executable]
SPAMNB = [*PYTHON, "-m", "spamnb"]


def tasks(folder: Path, work: Path) -> dict[str, dict[str, list[str]]]:
    """Return {task: {program: command line}}; "train" makes the model that "classify" uses."""
    ham, spam = f"{folder}/ham.list", f"{folder}/spam.list"
    lexicon = work / "bogofilter"
    commands: dict[str, dict[str, list[str]]] = {"train": {}, "classify": {}}
    for name, options in {"spamnb": [], "spamnb, boolean": ["--set", "model_type=boolean"]}.items():
        model = f"{work}/{'-'.join(['m', *options[1:]])}"
        train = shlex.join([*SPAMNB, "train", *options, "-m", model, f"ham={folder}/ham", f"spam={folder}/spam"])
        commands["train"][name] = ["sh", "-c", f"rm -f {model} && exec {train}"]
        commands["classify"][name] = [*SPAMNB, "classify", "-m", model, f"{folder}/ham", f"{folder}/spam"]
    if bogofilter := shutil.which("bogofilter"):
        learn = f"rm -rf {lexicon} && mkdir {lexicon} && {bogofilter} -C -d {lexicon} -s -b < {spam}"
        commands["train"]["bogofilter"] = ["sh", "-c", f"{learn} && {bogofilter} -C -d {lexicon} -n -b < {ham}"]
        commands["classify"]["bogofilter"] = ["sh", "-c", f"cat {ham} {spam} | {bogofilter} -C -d {lexicon} -TT -b"]
    pipeline = [*PYTHON, __file__, "--scikit-learn"]
    commands["train"]["scikit-learn"] = [*pipeline, "train", f"{folder}", f"{work}/pipeline"]
    commands["classify"]["scikit-learn"] = [*pipeline, "classify", f"{folder}", f"{work}/pipeline"]
    return commands


def scikit_learn(task: str, folder: str, model: str) -> None:
    """Train or use a pipeline of the standard library's parser, a CountVectorizer and a MultinomialNB."""
    import email
    import re

    import joblib
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.naive_bayes import MultinomialNB
    from sklearn.pipeline import make_pipeline

    tag = re.compile("<[^>]*>")

    def text(path: str) -> str:
        message = email.message_from_bytes(Path(path).read_bytes())
        parts = [str(message["subject"] or "")]
        for part in message.walk():
            if part.get_content_maintype() == "text":
                body = (part.get_payload(decode=True) or b"").decode("latin-1")
                parts.append(tag.sub(" ", body) if part.get_content_subtype() == "html" else body)
        return "\n".join(parts)

    of_label = {label: Path(folder, f"{label}.list").read_text().splitlines() for label in ("ham", "spam")}
    paths = [path for label in of_label for path in of_label[label]]
    if task == "train":
        y = [label for label in of_label for _ in of_label[label]]
        joblib.dump(make_pipeline(CountVectorizer(), MultinomialNB()).fit(map(text, paths), y), model)
    else:
        for path, verdict in zip(paths, joblib.load(model).predict(map(text, paths))):
            print(path, verdict)


def run(command: Sequence[str], stdin: Path | None = None) -> dict[str, float]:
    """Run a command; return its seconds, its processor seconds with those of its children, and its peak memory."""
    with open(stdin or os.devnull, "rb") as source:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdin=source, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        assert process.stderr
        message = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stderr.close()
    if process.returncode > 2:  # bogofilter's verdicts are exit codes
        raise SystemExit(f"{' '.join(command)[:200]}: ended with {process.returncode}\n{message.decode()[-2000:]}")
    return {"seconds": seconds, "cpu": usage.ru_utime + usage.ru_stime, "MB": usage.ru_maxrss / 1024}


def in_turn(commands: dict[str, list[str]], runs: int, stdin: Path | None = None) -> dict[str, Any]:
    """Run all commands in each turn; return each program's medians, and its seconds relative to the first program."""
    turns: dict[str, list[dict[str, float]]] = {name: [] for name in commands}
    for _ in range(runs):
        for name, command in commands.items():
            turns[name].append(run(command, stdin))
    first = next(iter(commands))
    return {
        name: {
            **{figure: statistics.median(turn[figure] for turn in program_turns) for figure in program_turns[0]},
            "times": statistics.median(a["seconds"] / b["seconds"] for a, b in zip(program_turns, turns[first])),
        }
        for name, program_turns in turns.items()
    }


def sizes(corpora: Path, of: str, numbers: Iterable[int], runs: int) -> Iterator[dict[str, Any]]:
    for size in numbers:
        with tempfile.TemporaryDirectory(prefix="benchmark-") as temporary:
            folder = build(corpora, of, Path(temporary) / "collection", size)
            paths = [path for label in ("ham", "spam") for path in (folder / f"{label}.list").read_text().splitlines()]
            octets = sum(len(Path(path).read_bytes()) for path in paths)  # this also fills the page cache
            start = time.perf_counter()
            for path in paths:
                Path(path).read_bytes()
            reading = time.perf_counter() - start
            for task, commands in tasks(folder, Path(temporary)).items():
                yield {
                    "messages": size, "MB": octets / 1e6, "reading": reading, "task": task,
                    "programs": in_turn(commands, runs),
                }  # fmt: skip


def latency(corpora: Path, of: str, runs: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="benchmark-") as temporary:
        folder = build(corpora, of, Path(temporary) / "mail", 2000)
        training = tasks(folder, Path(temporary))["train"]
        message = Path((folder / "spam.list").read_text().split("\n", 1)[0])
        for program in ("spamnb", "bogofilter"):
            if program in training:
                run(training[program])
        commands = {"spamnb classify": [*SPAMNB, "classify", "-m", f"{temporary}/m"]}
        if bogofilter := shutil.which("bogofilter"):
            commands["bogofilter"] = [bogofilter, "-d", f"{temporary}/bogofilter", "-T"]
        commands["spamnb --help"] = [*SPAMNB, "--help"]
        commands["python: import click, numpy"] = [*PYTHON, "-c", "import click, numpy"]
        commands["python: import click"] = [*PYTHON, "-c", "import click"]
        return in_turn(commands, runs, message)


def format_result(result: dict[str, Any]) -> str:
    lines = []
    for name, figures in result["programs"].items():
        rate = result["messages"] / figures["seconds"]
        lines.append(
            f"{result['messages']:>8,} {result['task']:<9} {name:<16} {figures['seconds']:8.2f} s {rate:9,.0f}/s"
            f" {figures['cpu']:8.2f} s cpu {figures['MB']:7.0f} MB  × {figures['times']:.2f}"
        )
    lines.append(f"{'':18} reading alone {result['reading']:7.2f} s")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--of", choices=sorted(CORPORA), default="mail")
    parser.add_argument("--sizes", default="1000,28098")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--latency", action="store_true")
    parser.add_argument("--scikit-learn", nargs=3, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.scikit_learn:
        scikit_learn(*arguments.scikit_learn)
        return
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # programs are installed, so their modules are compiled
    corpora = corpora_folder("spamassassin")
    if arguments.latency:
        for name, figures in latency(corpora, arguments.of, arguments.runs).items():
            print(f"{name:<28} {1000 * figures['seconds']:7.1f} ms  {figures['MB']:5.0f} MB  × {figures['times']:.2f}")
        return
    for result in sizes(corpora, arguments.of, map(int, arguments.sizes.split(",")), arguments.runs):
        print(format_result(result), flush=True)


if __name__ == "__main__":
    main()
