"""The compiled kernel, where Cython and a C compiler are at hand; all else is in pyproject.toml."""

from setuptools import Extension, setup

try:
    from Cython.Build import cythonize
except ImportError:
    extensions = []
else:
    # -g0: 0.4 MB instead of 2.
    kernel = Extension("spamnb._kernel", ["spamnb/_kernel.pyx"], extra_compile_args=["-g0"])
    extensions = cythonize([kernel], build_dir="build")
    for extension in extensions:
        extension.optional = True  # where it does not compile spamnb is installed without it

setup(ext_modules=extensions)
