"""If the variable HIDE_SCIKIT_LEARN is set, the estimators are plain classes; the tests still have their oracle."""

import importlib
import os
import sys

from hypothesis import settings

if os.environ.get("HIDE_SCIKIT_LEARN"):
    assert "spamnb.estimators.interface" not in sys.modules
    sys.modules["sklearn"] = None  # type: ignore[assignment]  # an import of it raises ImportError
    importlib.import_module("spamnb.estimators.interface")
    del sys.modules["sklearn"]
    settings.register_profile("plain", settings.get_profile("spamnb"), max_examples=5)
    settings.load_profile("plain")
