"""class_names.py: what may name a class."""

import pytest

from spamnb.class_names import check_class_name


def test_class_names() -> None:
    for name in ("ham", "comp.windows.x", "Спам", "a b", "x" * 100):
        assert check_class_name(name) == name
    for name in ("", " ham", "a\tb", "\ud800", "unsure", "x" * 101):
        with pytest.raises(ValueError, match="cannot name a class"):
            check_class_name(name)
