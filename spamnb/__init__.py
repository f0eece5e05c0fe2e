"""spamnb: naive Bayes for mail and text. A model is a sum.

    sources → message → tokens → vocabulary → counts → models → evidence → calibration → decision
    mailbox   bytes     text      columns      sums     P(x|c)    score       P(c|x)       verdict

``store`` keeps the sums in one SQLite file, ``classifier`` is the whole way as one object.
"""

from __future__ import annotations

__version__ = "0.1.0"
