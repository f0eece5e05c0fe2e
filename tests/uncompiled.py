"""The package's modules as Python runs them where nothing is compiled."""

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import FileFinder, SourceFileLoader
from types import ModuleType
from typing import Any


class _SourceFinder:
    """Finds modules of the package as source alone, so that what lies compiled beside it is not seen."""

    @staticmethod
    def find_spec(name: str, path: Any = None, target: object = None) -> Any:
        if not name.startswith("spamnb.") or path is None:
            return None
        for folder in path:
            if found := FileFinder(folder, (SourceFileLoader, [".py"])).find_spec(name):
                return found
        return None


ROOMS = ("spamnb.formulas",)  # in which modules are compiled from the one source


@contextmanager
def uncompiled(*names: str) -> Iterator[list[ModuleType]]:
    """The modules of these names, imported anew as source; those that were imported are back afterwards."""
    before = {name: sys.modules.pop(name) for name in list(sys.modules) if name.startswith(ROOMS)}
    finder: Any = _SourceFinder
    sys.meta_path.insert(0, finder)
    try:
        yield [importlib.import_module(name) for name in names]
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name in sys.modules if name.startswith(ROOMS)]:
            del sys.modules[name]
        sys.modules.update(before)
        for name, module in before.items():
            parent, _, child = name.rpartition(".")
            if parent in sys.modules:
                setattr(sys.modules[parent], child, module)
