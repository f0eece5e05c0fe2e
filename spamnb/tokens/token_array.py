"""For the compiled modules of this package, which go with it."""

from spamnb.reader.token_array import FNV_OFFSET, FNV_PRIME, MIX, TokenArray  # noqa: F401
