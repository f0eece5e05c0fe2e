"""Writes the C source of the module ``spamnb.core._core``, by which Python calls the core, from core/interface.h.

python scripts/build_binding.py FILE
"""

from __future__ import annotations

import sys
from pathlib import Path

INTERFACE = Path(__file__).parents[1] / "spamnb" / "core" / "interface.h"


def write_binding(path: Path) -> None:
    from cffi import FFI  # only builds need it

    lines = [line for line in INTERFACE.read_text("utf-8").splitlines() if not line.startswith("#")]
    binding = FFI()
    binding.cdef("\n".join(lines).replace("PYTHON_FUNCTION", 'extern "Python+C"'))
    binding.set_source("spamnb.core._core", '#include "interface.h"\n')
    path.parent.mkdir(exist_ok=True)
    binding.emit_c_code(str(path))


if __name__ == "__main__":
    write_binding(Path(sys.argv[1]))
