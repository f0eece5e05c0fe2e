"""The filters that spamnb is measured beside, each run as its own manual and a good operator would."""

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

from peer import HERE, Judged, Mail, Peer


def lines(mail: Sequence[Mail], label: str | None = None) -> str:
    return "".join(f"{message.path}\n" for message in mail if label in (None, message.label))


class Bogofilter(Peer):
    """1.2.5. Its own verdict is spam from .99 on; .5 is quoted beside."""

    name = "bogofilter"
    needs = ("bogofilter",)
    codes = (0, 1, 2)  # of one message, the verdict
    cuts = MappingProxyType({"its .99": 0.99, "p > .5": 0.5})

    def train(self, mail: Sequence[Mail]) -> None:
        for label, option in (("spam", "-s"), ("ham", "-n")):
            if given := lines(mail, label):
                self.run("bogofilter", "-C", "-d", self.folder, option, "-b", given=given)

    def score(self, paths: Sequence[Path]) -> list[float]:
        if not (self.folder / "wordlist.db").exists():  # it will not score before it has learned
            return [0.5] * len(paths)
        given = "".join(f"{path}\n" for path in paths)
        told = self.run("bogofilter", "-C", "-d", self.folder, "-TT", "-b", given=given)
        return [float(line.rsplit(" ", 1)[1]) for line in told.splitlines()]


class SpamProbe(Peer):
    """1.4d; its own verdict is spam from .7 on."""

    name = "spamprobe"
    needs = ("spamprobe", "xargs")
    cuts = MappingProxyType({"its .7": 0.7})

    def train(self, mail: Sequence[Mail]) -> None:
        for label, command in (("spam", "spam"), ("ham", "good")):
            if given := lines(mail, label):
                self.run("xargs", "-d", "\n", "spamprobe", "-d", self.folder, command, given=given)

    def score(self, paths: Sequence[Path]) -> list[float]:
        if not (self.folder / "sp_words").exists():  # it will not score before it has learned
            return [0.5] * len(paths)
        # One file a call would be safest, but it prints one line a message, and every file here is one message.
        told = self.run(
            "xargs", "-d", "\n", "spamprobe", "-d", self.folder, "score", given="".join(f"{p}\n" for p in paths)
        )
        return [float(line.split()[1]) for line in told.splitlines()]


class SpamAssassinBayes(Peer):
    """SpamAssassin with nothing but its Bayes rules, in one process: ``spamassassin_bayes.pl``."""

    name = "SpamAssassin Bayes"
    needs = ("perl", "sa-learn")

    def train(self, mail: Sequence[Mail]) -> None:
        self._perl("train", mail)

    def score(self, paths: Sequence[Path]) -> list[float]:
        return self._perl("score", [Mail("ham", path) for path in paths])

    def stream(self, mail: Sequence[Mail]) -> Judged:
        start = time.perf_counter()
        scores = self._perl("stream", mail)
        return self.judged(scores, time.perf_counter() - start, 0.0)

    def _perl(self, what: str, mail: Sequence[Mail]) -> list[float]:
        given = "".join(f"{message.label} {message.path}\n" for message in mail)
        told = self.run("perl", HERE / "spamassassin_bayes.pl", what, self.folder, given=given)
        return [float(line) for line in told.splitlines()]


class ScikitLearn(Peer):
    """A pipeline of scikit-learn, in a process of its own: ``sklearn_pipelines.py``."""

    kind = ""
    cuts = MappingProxyType({"p > .5": 0.0})  # scores are log-odds

    def missing(self) -> str | None:
        import importlib.util

        return None if importlib.util.find_spec("sklearn") else "scikit-learn not installed"

    def split(self, learned: Sequence[Mail], asked: Sequence[Mail]) -> Judged:
        return self._run("split", learned, asked)

    def stream(self, mail: Sequence[Mail]) -> Judged:
        return self._run("stream", [], mail)

    def _run(self, what: str, learned: Sequence[Mail], asked: Sequence[Mail]) -> Judged:
        given = json.dumps([[[m.label, str(m.path)] for m in part] for part in (learned, asked)])
        told = self.run(sys.executable, HERE / "sklearn_pipelines.py", self.kind, what, given=given, where=HERE.parent)
        found = json.loads(told)
        judged = self.judged(found["scores"], found["train"], found["score"])
        p = [1 / (1 + math.exp(-max(min(score, 700), -700))) for score in found["scores"]]
        return judged._replace(model_mb=found["model_mb"], probabilities=p)


class LogisticRaw(ScikitLearn):
    name, kind = "scikit-learn logistic, raw", "logistic-raw"


class LogisticMail(ScikitLearn):
    name, kind = "scikit-learn logistic, mail", "logistic-mail"


class MultinomialRaw(ScikitLearn):
    name, kind = "scikit-learn MultinomialNB, raw", "multinomial-raw"


class MultinomialMail(ScikitLearn):
    name, kind = "scikit-learn MultinomialNB, mail", "multinomial-mail"


class Spamnb(Peer):
    """Run the command line of this checkout; ``options`` go to ``train``."""

    name = "spamnb"
    options: Sequence[str] = ()

    def _spamnb(self, *command: str | Path) -> str:
        return self.run(sys.executable, "-m", "spamnb", *command, where=HERE.parent)

    def _index(self, mail: Sequence[Mail]) -> str:
        index = self.folder / "list"
        index.write_bytes(os.fsencode("".join(f"{message.label} {message.path}\n" for message in mail)))
        return f"index:{index}"

    def split(self, learned: Sequence[Mail], asked: Sequence[Mail]) -> Judged:
        model, links = self.folder / "model", self.folder / "links"
        index = self._index(learned)
        links.mkdir()
        for number, mail in enumerate(asked):
            (links / f"{number:06}").symlink_to(mail.path.resolve())
        start = time.perf_counter()
        self._spamnb("train", "-m", model, *self.options, index)
        between = time.perf_counter()
        told = self._spamnb("classify", "-m", model, "--format", "json", links)
        end = time.perf_counter()
        shutil.rmtree(links)
        answers = [json.loads(line) for line in told.splitlines()]
        return self._judged(answers, between - start, end - between)

    def _judged(self, answers: list[dict], training: float, scoring: float) -> Judged:
        p = [answer["probabilities"].get("spam", 0.0) for answer in answers]
        calls = {"default": [a["verdict"] == "spam" for a in answers], "p > .5": [x > 0.5 for x in p]}
        scores = [answer["log_odds"] for answer in answers]
        return Judged(training, scoring, self.peak / 1024, self.model_mb(), scores, calls, p)

    def stream(self, mail: Sequence[Mail]) -> Judged:
        file = self.folder / "stdout.tsv"
        start = time.perf_counter()
        self._spamnb("evaluate", "--online", *self.options, "--scores", file, self._index(mail))
        taken = time.perf_counter() - start
        with file.open(encoding="utf-8", errors="surrogateescape", newline="") as stream:
            rows = list(csv.DictReader(stream, delimiter="\t"))
        file.unlink()
        p, scores = ([float(row["p:spam"]) for row in rows], [float(row["score:spam"]) for row in rows])
        margins = [spam - float(row["score:ham"]) for spam, row in zip(scores, rows)]
        calls = {"default": [row["verdict"] == "spam" for row in rows], "p > .5": [x > 0.5 for x in p]}
        return Judged(taken, 0.0, self.peak / 1024, 0.0, margins, calls, p)


class SpamnbBernoulli(Spamnb):
    name, options = "spamnb, Bernoulli textbook", ("--set", "model_type=bernoulli", "--set", "pooling=sum")


class SpamnbMultinomial(Spamnb):
    name, options = "spamnb, multinomial textbook", ("--set", "model_type=multinomial", "--set", "pooling=sum")


class SpamnbNaiveBayes(Spamnb):
    name, options = "spamnb, naive Bayes", ("--set", "model_type=boolean")


PEERS: tuple[type[Peer], ...] = (
    Spamnb,
    SpamnbNaiveBayes,
    SpamnbMultinomial,
    SpamnbBernoulli,
    Bogofilter,
    SpamAssassinBayes,
    SpamProbe,
    LogisticRaw,
    LogisticMail,
    MultinomialRaw,
    MultinomialMail,
)
