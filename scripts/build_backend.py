"""Builds spamnb: setuptools, with the C compiler that PyPI has (ziglang) where the machine has none."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
import sysconfig
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from build_binding import write_binding
from setuptools import build_meta
from setuptools.build_meta import *  # noqa: F403  the hooks that compile nothing


def _compiler() -> str | None:
    """Return the command of a C compiler: $CC, that of Python's build, or any other; None if there is none."""
    commands = [os.environ.get("CC"), sysconfig.get_config_var("CC"), "cc", "gcc", "clang"]
    return next((command for command in commands if command and shutil.which(shlex.split(command)[0])), None)


def _check_headers() -> None:
    """Exit with one line if Python's headers are missing, before a compiler is downloaded."""
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        raise SystemExit("spamnb: a build needs Python's headers (Debian: apt install python3-dev); a wheel needs none")


def get_requires_for_build_wheel(config_settings: Any = None) -> list[str]:
    _check_headers()
    return [*build_meta.get_requires_for_build_wheel(config_settings), *([] if _compiler() else ["ziglang"])]


def get_requires_for_build_editable(config_settings: Any = None) -> list[str]:
    _check_headers()
    return [*build_meta.get_requires_for_build_editable(config_settings), *([] if _compiler() else ["ziglang"])]


def _prepare() -> None:
    """Write the C source of the binding, and choose a compiler."""
    write_binding(Path("build", "_core.c"))
    if compiler := _compiler():
        os.environ["CC"] = compiler
    else:
        ziglang = f"{shlex.quote(sys.executable)} -m ziglang cc"
        # Its linker refuses flags with which Debian's Python was built, such as -Bsymbolic-functions. With -nostdlib it
        # links the C library, for which the core asks (-lm), and does not first compile a runtime for half a minute;
        # that has long division, which machines of 64 bits do themselves.
        libraries = " -nostdlib" if sys.maxsize > 1 << 32 else ""
        os.environ.update(CC=ziglang, LDSHARED=f"{ziglang} -shared{libraries}")
        # Otherwise its files go to the home, which the user of a service may not have, or may not write.
        os.environ.setdefault("ZIG_GLOBAL_CACHE_DIR", str(Path("build", "zig").resolve()))


def build_wheel(wheel_directory: str, *args: Any) -> str:
    """Build the wheel, and copy its compiled part beside the C code, as an editable build does.

    Python that is started in the checkout imports ``spamnb/`` from there, and not the package that pip installed.
    """
    _prepare()
    name = build_meta.build_wheel(wheel_directory, *args)
    with ZipFile(Path(wheel_directory, name)) as wheel:
        for member in wheel.namelist():
            if member.startswith("spamnb/core/_core."):
                Path(member).unlink(missing_ok=True)  # a program that runs keeps the file that it has loaded
                wheel.extract(member)
    return name


def build_editable(*args: Any) -> str:
    _prepare()
    return build_meta.build_editable(*args)
