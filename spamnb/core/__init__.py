"""The one compiled library, in C11: the reader of messages, and the loops that fit corrections and calibrations.

library      loads it, and checks the arguments of calls
fit          calls the fit of the correction, for ``formulas/correction.py``

``reader/tokens.py`` and ``reader/binding.py`` call the reader. ``python.c`` has the functions that Python calls, and
each header file describes its part.
"""
