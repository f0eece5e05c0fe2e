"""scripts/environment: an environment is made once, and anew when what is compiled has changed."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
(MODULE,) = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]["ext-modules"]
BUILD = ["pyproject.toml", "scripts/build_backend.py", "scripts/build_binding.py"]
COMPILED = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "spamnb/core").glob("*.[ch]"))]


def test_all_of_the_core_is_compiled() -> None:
    assert MODULE["sources"] == ["build/_core.c", *[name for name in COMPILED if name.endswith(".c")]]


# Makes an environment of itself, and does nothing else.
PYTHON = """#!/bin/sh
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; fi
"""


@pytest.mark.parametrize("changed", [*BUILD, *COMPILED])
def test_what_is_compiled_is_built_again_when_it_has_changed(tmp_path: Path, changed: str) -> None:
    for name in (*BUILD, *COMPILED):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(name)
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)

    def made() -> bool:
        command = ["bash", "-euc", f". '{ROOT}/scripts/environment'; environment .venv dev"]
        environment = {**os.environ, "PYTHON": str(python)}
        ran = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
        return "Making .venv" in ran.stderr

    assert made()
    assert not made()
    (tmp_path / changed).write_text("other")
    assert made()


def test_a_python_without_headers_is_not_used(tmp_path: Path) -> None:
    """Debian's Python has them in a package of its own."""
    (tmp_path / "sysconfig.py").write_text("def get_path(name):\n    return '/nowhere'\n")
    command = ["bash", "-euc", f". '{ROOT}/scripts/environment'; find_python"]
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    ran = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert ran.returncode == 1 and ran.stderr.count("\n") == 1 and "apt install python3-venv python3-dev" in ran.stderr


def test_the_tests_run_where_memory_cannot_be_written(tmp_path: Path) -> None:
    for name, program in (
        ("scripts/test", (ROOT / "scripts/test").read_text()),
        ("scripts/environment", f"environment() {{ bin={tmp_path}/bin; }}\n"),
        ("bin/python", '#!/bin/sh\necho "$TMPDIR:$@"\n'),
        ("bin/df", "#!/bin/sh\necho 9000000\n"),
        ("bin/mktemp", "#!/bin/sh\necho Permission denied >&2\nexit 1\n"),
    ):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(program)
        (tmp_path / name).chmod(0o755)
    kept = {name: value for name, value in os.environ.items() if name != "TMPDIR"}
    environment = {**kept, "PATH": f"{tmp_path}/bin:{os.environ['PATH']}"}
    ran = subprocess.run([tmp_path / "scripts/test"], env=environment, capture_output=True, text=True)
    assert (ran.returncode, ran.stderr) == (0, "") and ran.stdout.startswith(":-m pytest")
