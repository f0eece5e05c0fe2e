"""What a start imports: a message on its way must not wait for libraries that it does not need.

Modules are watched, not seconds: scipy.sparse takes 0.1 s to import, nltk over 1 s, numpy 0.06 s, click 0.02 s.
"""

import ast
import functools
import subprocess
import sys
from pathlib import Path

import pytest
from mail import mail, message, write_folders

import spamnb
from spamnb.cli import COMMANDS

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
LEAN = {
    "every help": (EVERY_HELP, HEAVY | {"numpy", "sqlite3", "selectolax", "json"}),
    "the verbs": (VERBS, {"scipy", "pandas", "polars", "rich", "jinja2", "click"}),
}


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


@pytest.mark.parametrize(("program", "never"), LEAN.values(), ids=LEAN)
def test_a_program_imports_no_more_than_it_needs(program: str, never: set[str]) -> None:
    assert not imported_by(program) & never


def test_training_needs_no_scipy(tmp_path: Path) -> None:
    write_folders(tmp_path, mail(60))  # enough for a model of its own, with estimates and their intervals
    found = imported("train", "-m", str(tmp_path / "model"), *(f"{c}={tmp_path / c}" for c in ("ham", "spam")))
    assert "numpy" in found
    assert not found & {"scipy", "nltk"}


def test_models_of_vectors_classify_without_scikit_learn(tmp_path: Path) -> None:
    write_folders(tmp_path, mail(12))
    words = ["train", "-m", str(tmp_path / "model"), "--set", "model_type=lda", "--set", "embedding=lsa:2"]
    found = imported(*words, *(f"{c}={tmp_path / c}" for c in ("ham", "spam")))
    found |= imported("classify", "-m", str(tmp_path / "model"), stdin=message("spam", 77))
    assert "numpy" in found and "sklearn" not in found


@pytest.mark.parametrize("command", ["classify", "explain", "filter"])
def test_one_message_imports_little(trained: Path, command: str) -> None:
    found = imported(command, "-m", str(trained), stdin=message("spam", 77))
    assert "numpy" in found  # or this test sees nothing
    assert not found & (HEAVY | {"selectolax", "tomllib"})


def test_what_is_loaded_by_name_is_told_to_who_reads_types() -> None:
    assert spamnb.__file__ is not None
    read = ast.parse(Path(spamnb.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(read) if isinstance(node, ast.ImportFrom)]
    told = {(node.module, each.name, each.asname) for node in imports for each in node.names}
    names = {(f"spamnb.{place}", name, name) for name, place in spamnb._PUBLIC.items()}
    assert told - names == {("__future__", "annotations", None)} and names <= told


@pytest.mark.parametrize("command", ["classify", "train"])
def test_a_checkout_that_is_not_compiled_says_what_makes_it(command: str) -> None:
    missing = "import sys; sys.modules['spamnb.core._core'] = None\n"
    words = [sys.executable, "-c", missing + COMMAND, command, str(Path(__file__).parent)]
    ran = subprocess.run(words, capture_output=True, text=True, timeout=120)
    said = "Error: the compiled library of spamnb is missing: run 'pip install -e .' in the folder of spamnb's source\n"
    assert (ran.returncode, ran.stderr) == (1, said)


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


@pytest.mark.parametrize("module", ["click", "numpy", "spamnb.store.store"])
def test_ctrl_c_while_a_module_is_imported_ends_quietly(trained: Path, module: str) -> None:
    program = "import sys; started = set(sys.modules)\n" + INTERRUPTED
    command = [sys.executable, "-c", program, module, "classify", "-m", str(trained)]
    ran = subprocess.run(command, input=message("spam", 77), capture_output=True, timeout=120)
    assert (ran.returncode, ran.stdout) == (130, b"")
    assert ran.stderr in (b"", b"\nspamnb: interrupted\n")
