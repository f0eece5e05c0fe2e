"""What a start imports: a message on its way must not wait for libraries that it does not need.

Modules are watched, not seconds: scipy.sparse takes 0.1 s to import, nltk over 1 s, numpy 0.06 s, click 0.02 s.
"""

import ast
import functools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from mail import folders, mail, message

import spamnb
from spamnb.classifier import Classifier
from spamnb.cli import COMMANDS
from spamnb.counts.class_counts import ClassCounts, SparseRow
from spamnb.reader.token_array import TokenArray
from spamnb.settings import Settings
from spamnb.store.rows import Cells
from spamnb.store.snapshot import Snapshot, write_snapshot
from spamnb.store.store import Store

HEAVY = {"scipy", "nltk", "rich", "sklearn", "matplotlib", "multiprocessing", "asyncio", "email", "concurrent"}
HEAVY |= {"jinja2"}  # 0.04 s: for a page only
REPORT = """
import atexit, sys
atexit.register(lambda: sys.stderr.write("\\n" + " ".join({name.partition(".")[0] for name in sys.modules})))
"""
COMMAND = """
from spamnb.__main__ import main
sys.argv = ["spamnb", *sys.argv[1:]]
main()
"""
EVERY_HELP = f"""
from spamnb.__main__ import main
for words in (["--help"], ["--version"], *([name, "--help"] for name in {[*COMMANDS]})):
    sys.argv = ["spamnb", *words]
    try:
        main()
    except SystemExit as end:
        assert end.code == 0, words
"""
VERBS = "import spamnb; spamnb.train, spamnb.evaluate, spamnb.words, spamnb.explain, spamnb.read"
TOKENS = """
from spamnb.reader.message import Reader
Reader().tokens(b"\\n")
"""
EMBEDDINGS = """
import numpy as np
from spamnb.learners.embeddings import embed, parse_embedding, shares_of
embed(np.ones((1, 2)), np.array([1])); parse_embedding("lsa:2")
"""
FORMULAS = """
import numpy as np
import spamnb.counts.class_counts, spamnb.estimators, spamnb.formulas.mutual_information, spamnb.reader.vocabulary
from spamnb.formulas.naive_bayes import all_absent_log_probability, token_log_odds, token_log_probability
from spamnb.formulas.priors import class_log_prior
token_log_probability(np.ones((2, 1)), np.ones(2), 3.0, 1.0)
token_log_odds(np.ones((2, 1)), np.ones(2), 1.0)
all_absent_log_probability([{0: 1}, {1: 1}], np.ones(2), 1.0)
class_log_prior([1, 2])
"""
GAUSSIAN = """
import numpy as np
from spamnb import GaussianNB, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from spamnb.formulas.sums import Scatter
X, y = np.random.default_rng(0).standard_normal((20, 2)), np.arange(20) % 2
for model in GaussianNB(), LinearDiscriminantAnalysis(), QuadraticDiscriminantAnalysis():
    model.fit_sums(Scatter.from_rows(X, y, 2, None, isinstance(model, GaussianNB)), [0, 1]).class_scores(X)
"""
ESTIMATORS = """
from spamnb import HashingMailVectorizer, MailVectorizer, MultinomialNB, SpamClassifier
X, y = ["lunch", "pills", "tea", "offer"], ["ham", "spam", "ham", "spam"]
SpamClassifier().fit(X, y).evaluate(X, y)
MultinomialNB().fit(MailVectorizer().fit_transform(X), y), HashingMailVectorizer().transform(X)
"""
LEAN = {
    "every help": (EVERY_HELP, HEAVY | {"numpy", "sqlite3", "selectolax", "json"}),
    "the verbs": (VERBS, {"scipy", "pandas", "polars", "rich", "jinja2", "click"}),
    "tokens": (TOKENS, {"nltk", "scipy", "rich"}),
    "embeddings": (EMBEDDINGS, {"scipy", "nltk", "rich", "sklearn", "model2vec"}),
    "formulas": (FORMULAS, {"scipy"}),
    "Gaussian models": (GAUSSIAN, {"scipy", "sklearn"}),
    "estimators": (ESTIMATORS, {"sklearn"}),
}


THREADS = """
import os, sys
from spamnb.__main__ import main
sys.argv = ["spamnb", *sys.argv[1:]]
try:
    main()
finally:
    sys.stderr.write(f"\\n{'numpy' in sys.modules} {len(os.listdir('/proc/self/task'))}")
"""


@functools.cache
def bare() -> set[str]:
    ran = subprocess.run([sys.executable, "-c", "import sys; print(*sys.modules)"], capture_output=True, timeout=120)
    return {name.partition(".")[0] for name in ran.stdout.decode().split()}


def imported_by(program: str, *arguments: str, stdin: bytes = b"") -> set[str]:
    """Top-level packages that a program has imported, beyond those that Python itself starts with."""
    command = [sys.executable, "-c", REPORT + program, *arguments]
    ran = subprocess.run(command, input=stdin, capture_output=True, timeout=120)
    assert ran.returncode == 0, ran.stderr.decode()
    return set(ran.stderr.decode().splitlines()[-1].split()) - bare()


def imported(*arguments: str, stdin: bytes = b"") -> set[str]:
    return imported_by(COMMAND, *arguments, stdin=stdin)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("model") / "m"
    with Classifier.create(path) as classifier, classifier.store.writing():
        for label, raw in mail(20):
            classifier.learn(label, raw)
    return str(path)


@pytest.mark.parametrize(("program", "never"), LEAN.values(), ids=LEAN)
def test_a_program_imports_no_more_than_it_needs(program: str, never: set[str]) -> None:
    assert not imported_by(program) & never


def test_training_needs_no_scipy(tmp_path: Path) -> None:
    folders(tmp_path, mail(4))
    found = imported("train", "-m", str(tmp_path / "model"), *(f"{c}={tmp_path / c}" for c in ("ham", "spam")))
    assert "numpy" in found
    assert not found & {"scipy", "nltk"}


@pytest.mark.parametrize("command", ["classify", "explain", "filter"])
def test_one_message_imports_little(model: str, command: str) -> None:
    found = imported(command, "-m", model, stdin=message("spam", 77))
    assert "numpy" in found  # or this test sees nothing
    assert not found & (HEAVY | {"selectolax"})


def test_one_message_imports_of_the_standard_library_what_it_needs(model: str) -> None:
    modules = "import click, numpy, sqlite3, sys; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", modules], capture_output=True, timeout=120)
    libraries = set(ran.stdout.decode().split())  # an old numpy imports some of these itself
    assert "numpy" in libraries
    found = imported("classify", "-m", model, stdin=message("spam", 77))
    assert not found & ({"gzip", "random", "secrets", "string", "_hashlib"} - libraries)


def test_a_page_imports_little(model: str) -> None:
    page = b"Subject: x\nContent-Type: text/html\n\n<p>cheap <b>pills</b>&hearts;</p>"
    found = imported("classify", "-m", model, stdin=page)
    assert "html" in found  # for a character reference that few pages have
    assert not found & (HEAVY | {"selectolax"})


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="threads are counted in /proc")
def test_no_threads_are_started_for_a_message(model: str) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    ran = subprocess.run(
        [sys.executable, "-c", THREADS, "info", "-m", model], capture_output=True, timeout=120, env=environment
    )
    assert ran.stderr.decode().splitlines()[-1] == "True 1"


def steps(path: Path) -> int:
    """How many steps SQLite's machine takes to open a model and judge one message."""
    taken = 0

    def count() -> int:
        nonlocal taken
        taken += 1
        return 0

    with Classifier.open(path) as classifier:
        classifier.store._connection.set_progress_handler(count, 1)
        classifier.classify(message("spam", 77))
    return taken


def test_the_cost_of_one_message_does_not_grow_with_the_vocabulary(tmp_path: Path) -> None:
    def made(size: int) -> Path:
        path = tmp_path / f"{size}"
        named = TokenArray.of({*message("spam", 77).decode().split(), *(f"token{n}" for n in range(size))})
        tokens = named.take(np.argsort(named.hashes))
        ones = np.ones(len(tokens), np.int64)
        cells = SparseRow(np.arange(len(tokens)), ones, ones)
        sums = ClassCounts(("ham", "spam"), np.array([3, 3]), len(tokens), (cells, cells))
        content = Snapshot(Settings().as_meta(), sums.classes, sums.documents, tokens, Cells.of_counts(sums), [])
        with Store.create(path, content.meta) as store:
            write_snapshot(store, content)
        return path

    few, many = steps(made(60_000)), steps(made(240_000))
    assert few > 100
    assert many <= 1.1 * few  # some more of the tokens are on pages of their own


def test_what_is_loaded_by_name_is_told_to_who_reads_types() -> None:
    assert spamnb.__file__ is not None
    read = ast.parse(Path(spamnb.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(read) if isinstance(node, ast.ImportFrom)]
    told = {(node.module, each.name, each.asname) for node in imports for each in node.names}
    names = {(f"spamnb.{place}", name, name) for name, place in spamnb._PUBLIC.items()}
    assert told - names == {("__future__", "annotations", None)} and names <= told


INTERRUPTED = """
import os, signal, sys
wanted = sys.argv.pop(1)
class Interrupting:
    def find_spec(self, name, *more):
        if name == wanted:
            os.kill(os.getpid(), signal.SIGINT)
import spamnb
for name in [name for name in sys.modules if name.partition(".")[0] in ("gc", "io", "os", "re", "typing", "enum")]:
    assert name in started, f"{name} is imported before main() can end quietly"
sys.meta_path.insert(0, Interrupting())
from spamnb.__main__ import main
main()
"""


@pytest.mark.parametrize("module", ["spamnb.cli", "click", "spamnb.cli.classify", "numpy", "spamnb.store.store"])
def test_ctrl_c_while_a_module_is_imported_ends_quietly(model: str, module: str) -> None:
    program = "import sys; started = set(sys.modules)\n" + INTERRUPTED
    command = [sys.executable, "-c", program, module, "classify", "-m", model]
    ran = subprocess.run(command, input=message("spam", 77), capture_output=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (130, b"")
    assert ran.stderr in (b"", b"\nspamnb: interrupted\n")
