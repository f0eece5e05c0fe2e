"""The one compiled module, in C11: the reader of messages and the loops of the correction."""

from glob import glob

from setuptools import Extension, setup

# Hardened as Debian hardens its packages; sums are the same on all machines (-ffp-contract).
FLAGS = "-std=c11 -O2 -g0 -ffp-contract=off -fstack-protector-strong -D_FORTIFY_SOURCE=2 -fstack-clash-protection"

core = Extension(
    "spamnb.reader._core",
    sources=["spamnb/reader/_core.c", *sorted(glob("spamnb/reader/core/*.c"))],
    depends=sorted(glob("spamnb/reader/core/*.h")),
    extra_compile_args=FLAGS.split(),
    libraries=["m"],
    py_limited_api=True,
)
setup(ext_modules=[core])
