"""The one compiled library, in C11: the reader of messages, and the loops of the correction's fit.

library      loads it; what every call of it needs
fit          the calls of ``formulas/correction.py``

The reader's calls are in ``reader/tokens.py`` and ``reader/binding.py``. ``python.c`` has the functions that Python
calls; each header file says what its part does.
"""
