"""The filters that spamnb is measured beside, each run as its own manual and a good operator would.

Every filter learns files and scores files; higher is more like spam. Work is done in child processes, so that the
peak memory the kernel tells of them is the filter's own. A filter that is not installed says so.
"""

from __future__ import annotations

import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

HERE = Path(__file__).parent.resolve()
STREAMS = ("stdin", "stdout", "stderr")


class Mail(NamedTuple):
    label: str  # "spam" or "ham"
    path: Path


class Judged(NamedTuple):
    """One run of one filter: ``calls`` holds per cut or verdict which messages it calls spam."""

    train_seconds: float
    score_seconds: float
    peak_mb: float
    model_mb: float
    scores: list[float]
    calls: dict[str, list[bool]]
    probabilities: list[float] | None = None


@cache
def _launcher() -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-S", HERE / "launch.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )


def _launch(command: list[str], where: str, files: list[str]) -> list:
    pipe = _launcher()
    assert pipe.stdin is not None and pipe.stdout is not None
    pipe.stdin.write(json.dumps([command, where, files]) + "\n")
    pipe.stdin.flush()
    return json.loads(pipe.stdout.readline())


class Peer:
    """A filter in a folder of its own. ``cuts``: name of a decision → score above which a message is called spam."""

    name = ""
    needs: Sequence[str] = ()
    codes: Sequence[int] = (0,)  # exit codes that are no failure
    cuts: Mapping[str, float] = MappingProxyType({"p > .5": 0.5})
    probable = True  # its scores are meant as probabilities of spam

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.peak = 0
        folder.mkdir(parents=True, exist_ok=True)

    def missing(self) -> str | None:
        """What is not installed, or None."""
        lacking = [program for program in self.needs if shutil.which(program) is None]
        return f"{', '.join(lacking)} not installed" if lacking else None

    def run(self, *command: str | Path, given: str | bytes = b"", where: Path | None = None) -> str:
        """Standard output of a child; its peak memory is noted. RuntimeError where it fails."""
        files = [str(self.folder / name) for name in STREAMS]
        Path(files[0]).write_bytes(given.encode("utf-8", "surrogateescape") if isinstance(given, str) else given)
        code, peak, *error = _launch([str(part) for part in command], str(where or self.folder), files)
        self.peak = max(self.peak, peak)
        if code not in self.codes:
            said = error or Path(files[2]).read_bytes()[-400:]
            raise RuntimeError(f"{self.name}: {command[0]} ended {code}: {said!r}")
        return Path(files[1]).read_bytes().decode("utf-8", "surrogateescape")

    def train(self, mail: Sequence[Mail]) -> None:
        raise NotImplementedError

    def score(self, paths: Sequence[Path]) -> list[float]:
        raise NotImplementedError

    def learn(self, mail: Mail) -> None:
        """One message, as in a stream."""
        self.train([mail])

    def model_mb(self) -> float:
        """What the filter keeps on disk."""
        kept = [p for p in self.folder.rglob("*") if p.is_file() and p.name not in (*STREAMS, "list")]
        return sum(path.stat().st_blocks * 512 for path in kept) / 1e6

    def split(self, learned: Sequence[Mail], asked: Sequence[Mail]) -> Judged:
        """Learn some messages, score others."""
        start = time.perf_counter()
        self.train(learned)
        between = time.perf_counter()
        scores = self.score([mail.path for mail in asked])
        return self.judged(scores, between - start, time.perf_counter() - between)

    def stream(self, mail: Sequence[Mail]) -> Judged:
        """Score each message, then learn it."""
        asking = learning = 0.0
        scores = []
        for message in mail:
            start = time.perf_counter()
            scores += self.score([message.path])
            between = time.perf_counter()
            self.learn(message)
            asking, learning = asking + between - start, learning + time.perf_counter() - between
        return self.judged(scores, learning, asking)

    def judged(self, scores: list[float], training: float, scoring: float) -> Judged:
        calls = {name: [score > cut for score in scores] for name, cut in self.cuts.items()}
        kept = scores if self.probable else None
        return Judged(training, scoring, self.peak / 1024, self.model_mb(), scores, calls, kept)


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
        # One file a call would be safest, but it prints one line a message, and every file here is one message.
        told = self.run(
            "xargs", "-d", "\n", "spamprobe", "-d", self.folder, "score", given="".join(f"{p}\n" for p in paths)
        )
        return [float(line.split()[1]) for line in told.splitlines()]


class Crm114(Peer):
    """OSB with unique features, trained on error and on what is nearer than 10 pR to the border."""

    name = "crm114"
    needs = ("crm",)
    codes = (0, 1)
    cuts = MappingProxyType({"pR > 0": 0.0})
    probable = False

    _LEARN = "{ match (:f:) [:_arg2:] /.*/\n  learn <osb unique microgroom> (:*:f:) /[[:graph:]]+/ }\n"
    _CLASSIFY = (
        "{ isolate (:s:) // { classify <osb unique microgroom> (spam.css | ham.css) (:s:) /[[:graph:]]+/ }\n"
        "  output /:*:s:\\n/ }\n"
    )

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        (folder / "learn.crm").write_text(self._LEARN)
        (folder / "classify.crm").write_text(self._CLASSIFY)

    def train(self, mail: Sequence[Mail]) -> None:
        # In alternation: trained class by class the first class would have been learned against nothing.
        by_label = [[m for m in mail if m.label == label] for label in ("spam", "ham")]
        order = sorted((i / len(part), k, i) for k, part in enumerate(by_label) for i in range(len(part)))
        for _, k, i in order:
            self.learn(by_label[k][i])

    def learn(self, mail: Mail) -> None:
        (score,) = self.score([mail.path])
        if (score if mail.label == "spam" else -score) < 10:
            self.run("crm", "learn.crm", f"{mail.label}.css", given=mail.path.read_bytes())

    def score(self, paths: Sequence[Path]) -> list[float]:
        if not all((self.folder / f"{label}.css").exists() for label in ("spam", "ham")):
            return [0.0] * len(paths)
        told = [self.run("crm", "classify.crm", given=path.read_bytes()) for path in paths]
        return [float(said.split("pR:", 1)[1].split()[0]) if "pR:" in said else 0.0 for said in told]


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
    """This project through its own command line; ``options`` go to ``train``."""

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
        scores = [answer["score"] for answer in answers]
        return Judged(training, scoring, self.peak / 1024, self.model_mb(), scores, calls, p)

    def stream(self, mail: Sequence[Mail]) -> Judged:
        from spamnb.evaluate.scores import read_scores

        file = self.folder / "stdout.tsv"
        start = time.perf_counter()
        self._spamnb("evaluate", "--online", *self.options, "--scores", file, self._index(mail))
        taken = time.perf_counter() - start
        result = read_scores(file)
        file.unlink()
        spam = result.classes.index("spam")
        p = result.probabilities[:, spam].tolist()
        calls = {"default": (result.verdicts == spam).tolist(), "p > .5": [x > 0.5 for x in p]}
        return Judged(taken, 0.0, self.peak / 1024, 0.0, result.margin(spam).tolist(), calls, p)


class SpamnbBernoulli(Spamnb):
    name, options = "spamnb, Bernoulli textbook", ("--model-type", "bernoulli", "--pooling", "sum")


class SpamnbMultinomial(Spamnb):
    name, options = "spamnb, multinomial textbook", ("--model-type", "multinomial", "--pooling", "sum")


PEERS: tuple[type[Peer], ...] = (
    Spamnb,
    SpamnbMultinomial,
    SpamnbBernoulli,
    Bogofilter,
    SpamAssassinBayes,
    SpamProbe,
    Crm114,
    LogisticRaw,
    LogisticMail,
    MultinomialRaw,
    MultinomialMail,
)
