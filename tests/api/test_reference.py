"""Every public name is explained and shown: a docstring with an example, and pages that are made of these."""

import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import spamnb

ROOT = Path(__file__).resolve().parents[2]
NAMES = [name for name in spamnb.__all__ if name != "__version__"]


def methods(cls: type) -> Iterator[tuple[str, Any]]:
    """Return the public functions and properties that a class defines, without those of its base classes."""
    for name in dir(cls):
        static = inspect.getattr_static(cls, name)
        inner = getattr(static, "__func__", static)
        if not name.startswith("_") and (inspect.isfunction(inner) or isinstance(static, property)):
            home = (static.fget if isinstance(static, property) else inner).__module__ or ""
            if home.startswith("spamnb"):
                yield name, static


@pytest.mark.parametrize("name", NAMES)
def test_a_public_name_has_a_docstring_with_an_example(name: str) -> None:
    text = inspect.getdoc(getattr(spamnb, name)) or ""
    assert len(text.split("\n")[0]) > 20 and ">>> " in text


@pytest.mark.parametrize("name", [name for name in NAMES if inspect.isclass(getattr(spamnb, name))])
def test_a_public_method_has_a_docstring_and_an_example_of_its_own_or_its_familys(name: str) -> None:
    cls = getattr(spamnb, name)
    texts = "\n".join(base.__doc__ or "" for base in cls.__mro__)
    shown = set(re.findall(r"\.(\w+)\(", "\n".join(re.findall(r"^ *(?:>>>|\.\.\.) .*$", texts, re.MULTILINE))))
    seen = 0
    for method, static in methods(cls):
        text = inspect.getdoc(getattr(cls, method)) or ""
        assert len(text) > 20, f"{name}.{method} has no docstring"
        assert isinstance(static, property) or ">>> " in text or method in shown, f"{name}.{method}: no example"
        seen += 1
    assert seen or issubclass(cls, Exception | tuple | dict)


def test_what_a_function_takes_is_explained() -> None:
    for name in ("train", "evaluate", "words", "explain", "read"):
        function = getattr(spamnb, name)
        for parameter in inspect.signature(function).parameters:
            documented = (
                rf"``{parameter}``|^ *(?:\w+, )*[*]*{parameter}(?:, \w+)* : "  # numpydoc's test checks the sections
            )
            assert re.search(documented, function.__doc__, re.MULTILINE) or parameter == "model", f"{name}: {parameter}"


@pytest.mark.slow
def test_the_pages_are_built_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("pdoc", reason="the extra docs is not installed")
    built = subprocess.run(
        [sys.executable, str(ROOT / "scripts" / "build_reference.py"), str(tmp_path)], capture_output=True, text=True
    )
    assert (built.returncode, built.stderr) == (0, "")
    page = (tmp_path / "spamnb.html").read_text(encoding="utf-8")
    ids = set(re.findall(r'id="([\w.]+)"', page))
    assert not {*NAMES} - ids and {"Evaluation.to_dict", "Classifier.learn"} <= ids
    course = (tmp_path / "course.html").read_text(encoding="utf-8")
    assert page.count("<math") > 30 and course.count("<math") > 30 and "θ_jc" not in re.sub("<code.*?</code>", "", page)
    assert not re.search(r'(src|href)="https?:[^"]*\.(js|css)"', page + course)  # no network to read them
    for file in tmp_path.rglob("*.html"):
        for target in re.findall(r'href="([\w./]+\.html)(?:#[\w.]*)?"', file.read_text(encoding="utf-8")):
            assert (file.parent / target).exists(), f"{file.name}: {target} leads nowhere"
