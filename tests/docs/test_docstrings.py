"""The public names have the docstrings that scikit-learn's have: numpydoc's validation accepts them."""

import inspect
from collections.abc import Iterator

import pytest

import spamnb

# The summary may stand in the line of the quotes (GL01, GL02, GL03). An extended summary, related names and an example
# are written where they help (ES01, SA01, EX01). Parameters that are keywords may be in any order (PR03).
_OPTIONAL = {"GL01", "GL02", "GL03", "ES01", "SA01", "EX01", "PR03"}


def members(name: str) -> Iterator[str]:
    """Yield the name, and a class's public methods and properties that do not inherit their docstrings."""
    yield name
    for member, value in inspect.getmembers_static(getattr(spamnb, name)):
        function = getattr(value, "__func__", None) or getattr(value, "fget", value)
        is_ours = not member.startswith("_") and (getattr(function, "__module__", None) or "").startswith("spamnb")
        if is_ours and (function.__doc__ or not inspect.getdoc(getattr(getattr(spamnb, name), member))):
            yield f"{name}.{member}"


@pytest.mark.parametrize("name", [name for name in spamnb.__all__ if callable(getattr(spamnb, name))])
def test_numpydoc_accepts_the_docstrings_of_public_names(name: str) -> None:
    validate = pytest.importorskip("numpydoc.validate").validate
    errors = {
        f"spamnb.{member}": [text for code, text in validate(f"spamnb.{member}")["errors"] if code not in _OPTIONAL]
        for member in members(name)
    }
    assert not {member: texts for member, texts in errors.items() if texts}
