"""The one compiled library, in C11: the reader of messages, and the loops of fits and of model files.

library      loads it, and checks the arguments of calls
fit          calls the fit of the correction, for ``formulas/correction.py``
curve        calls the fit of the calibration, for ``formulas/calibration.py``

``reader/tokens.py`` and ``reader/binding.py`` call the reader. ``python.c`` has the functions that Python calls, and
each header file describes its part.
"""
