"""The core, in C11: the reader of messages, and the loops of scores and fits.

interface.h  what Python calls; scripts/build_binding.py makes the module ``_core`` of it
library      loads the module, and checks the arrays that are passed to it
score        scores messages, for ``model/bayes_model.py``
fit          fits the correction, for ``model/correction.py``
curve        fits the calibration, for ``model/calibration.py``

``reader/tokens.py`` and ``reader/binding.py`` call the reader.
"""
