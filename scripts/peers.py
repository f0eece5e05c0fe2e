"""The filters that spamnb is compared with. Each is used as its documentation says."""

from __future__ import annotations

import csv
import json
import math
import os
import shutil
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from types import MappingProxyType

from peer import HERE, Mail, Peer, Run


def lines(mail: Sequence[Mail], label: str | None = None) -> str:
    return "".join(f"{message.path}\n" for message in mail if label in (None, message.label))


class Bogofilter(Peer):
    """bogofilter 1.2.5. Its own verdict is spam from .99 on; the table also has .9 and .5."""

    name = "bogofilter"
    needs = ("bogofilter",)
    codes = (0, 1, 2)  # the exit code is the verdict on one message
    thresholds = MappingProxyType({"its .99": 0.99, "p > .9": 0.9, "p > .5": 0.5})

    def train(self, mail: Sequence[Mail]) -> None:
        for label, option in (("spam", "-s"), ("ham", "-n")):
            if stdin := lines(mail, label):
                self.run("bogofilter", "-C", "-d", self.folder, option, "-b", stdin=stdin)

    def score(self, paths: Sequence[Path]) -> list[float]:
        if not (self.folder / "wordlist.db").exists():  # it does not score before it has learned
            return [0.5] * len(paths)
        stdin = "".join(f"{path}\n" for path in paths)
        output = self.run("bogofilter", "-C", "-d", self.folder, "-TT", "-b", stdin=stdin)
        return [float(line.rsplit(" ", 1)[1]) for line in output.splitlines()]


class SpamProbe(Peer):
    """SpamProbe 1.4d. Its own verdict is spam from .7 on."""

    name = "spamprobe"
    needs = ("spamprobe", "xargs")
    thresholds = MappingProxyType({"its .7": 0.7})

    def train(self, mail: Sequence[Mail]) -> None:
        for label, command in (("spam", "spam"), ("ham", "good")):
            if stdin := lines(mail, label):
                self.run("xargs", "-d", "\n", "spamprobe", "-d", self.folder, command, stdin=stdin)

    def score(self, paths: Sequence[Path]) -> list[float]:
        if not (self.folder / "sp_words").exists():  # it does not score before it has learned
            return [0.5] * len(paths)
        stdin = "".join(f"{path}\n" for path in paths)
        output = self.run("xargs", "-d", "\n", "spamprobe", "-d", self.folder, "score", stdin=stdin)
        return [float(line.split()[1]) for line in output.splitlines()]


class SpamAssassinBayes(Peer):
    """SpamAssassin with only its Bayes rules, in one process: ``spamassassin_bayes.pl``."""

    name = "SpamAssassin Bayes"
    needs = ("perl", "sa-learn")

    def train(self, mail: Sequence[Mail]) -> None:
        self._perl("train", mail)

    def score(self, paths: Sequence[Path]) -> list[float]:
        return self._perl("score", [Mail("ham", path) for path in paths])

    def stream(self, mail: Sequence[Mail]) -> Run:
        start = time.perf_counter()
        scores = self._perl("stream", mail)
        return self.make_run(scores, time.perf_counter() - start, 0.0)

    def _perl(self, what: str, mail: Sequence[Mail]) -> list[float]:
        stdin = "".join(f"{message.label} {message.path}\n" for message in mail)
        output = self.run("perl", HERE / "spamassassin_bayes.pl", what, self.folder, stdin=stdin)
        return [float(line) for line in output.splitlines()]


class ScikitLearn(Peer):
    """A pipeline of scikit-learn, in a process of its own: ``sklearn_pipelines.py``."""

    kind = ""
    thresholds = MappingProxyType({"p > .5": 0.0})  # scores are log-odds

    def describe_missing(self) -> str | None:
        import importlib.util

        return None if importlib.util.find_spec("sklearn") else "scikit-learn not installed"

    def split(self, train: Sequence[Mail], test: Sequence[Mail]) -> Run:
        return self._run("split", train, test)

    def stream(self, mail: Sequence[Mail]) -> Run:
        return self._run("stream", [], mail)

    def _run(self, what: str, train: Sequence[Mail], test: Sequence[Mail]) -> Run:
        stdin = json.dumps([[[m.label, str(m.path)] for m in part] for part in (train, test)])
        program = HERE / "sklearn_pipelines.py"
        output = self.run(sys.executable, program, self.kind, what, stdin=stdin, where=HERE.parent)
        result = json.loads(output)
        run = self.make_run(result["scores"], result["train"], result["score"])
        p = [1 / (1 + math.exp(-max(min(score, 700), -700))) for score in result["scores"]]
        return run._replace(model_mb=result["model_mb"], probabilities=p)


class LogisticRaw(ScikitLearn):
    name, kind = "scikit-learn logistic, raw", "logistic-raw"


class LogisticMail(ScikitLearn):
    name, kind = "scikit-learn logistic, mail", "logistic-mail"


class MultinomialRaw(ScikitLearn):
    name, kind = "scikit-learn MultinomialNB, raw", "multinomial-raw"


class MultinomialMail(ScikitLearn):
    name, kind = "scikit-learn MultinomialNB, mail", "multinomial-mail"


class Spamnb(Peer):
    """The command line of this checkout; ``options`` are options of ``train``."""

    name = "spamnb"
    options: Sequence[str] = ()

    def _spamnb(self, *command: str | Path) -> str:
        return self.run(sys.executable, "-m", "spamnb", *command, where=HERE.parent)

    def _index(self, mail: Sequence[Mail]) -> str:
        index = self.folder / "list"
        index.write_bytes(os.fsencode("".join(f"{message.label} {message.path}\n" for message in mail)))
        return f"index:{index}"

    def split(self, train: Sequence[Mail], test: Sequence[Mail]) -> Run:
        model, links = self.folder / "model", self.folder / "links"
        index = self._index(train)
        links.mkdir()
        for number, mail in enumerate(test):
            (links / f"{number:06}").symlink_to(mail.path.resolve())
        start = time.perf_counter()
        self._spamnb("train", "-m", model, *self.options, index)
        between = time.perf_counter()
        output = self._spamnb("classify", "-m", model, "--format", "json", links)
        end = time.perf_counter()
        shutil.rmtree(links)
        results = [json.loads(line) for line in output.splitlines()]
        return self._make_run(results, between - start, end - between)

    def _make_run(self, results: list[dict], training: float, scoring: float) -> Run:
        p = [result["probabilities"].get("spam", 0.0) for result in results]
        calls = {"default": [result["verdict"] == "spam" for result in results], "p > .5": [x > 0.5 for x in p]}
        scores = [result["log_odds"] for result in results]
        return Run(training, scoring, self.peak / 1024, self.model_mb(), scores, calls, p)

    def stream(self, mail: Sequence[Mail]) -> Run:
        file = self.folder / "stdout.tsv"
        start = time.perf_counter()
        self._spamnb("evaluate", "--online", *self.options, "--scores", file, self._index(mail))
        seconds = time.perf_counter() - start
        with file.open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t"))
        file.unlink()
        p, scores = ([float(row["p:spam"]) for row in rows], [float(row["score:spam"]) for row in rows])
        margins = [spam - float(row["score:ham"]) for spam, row in zip(scores, rows)]
        calls = {"default": [row["verdict"] == "spam" for row in rows], "p > .5": [x > 0.5 for x in p]}
        return Run(seconds, 0.0, self.peak / 1024, 0.0, margins, calls, p)


class SpamnbMultinomial(Spamnb):
    name, options = "spamnb, multinomial textbook", ("--set", "model_type=multinomial", "--set", "pooling=sum")


class SpamnbNaiveBayes(Spamnb):
    name, options = "spamnb, naive Bayes", ("--set", "model_type=boolean")


PEERS: tuple[type[Peer], ...] = (
    Spamnb,
    SpamnbNaiveBayes,
    SpamnbMultinomial,
    Bogofilter,
    SpamAssassinBayes,
    SpamProbe,
    LogisticRaw,
    LogisticMail,
    MultinomialRaw,
    MultinomialMail,
)
