"""A result of an evaluation in which every name, subject and token is markup."""

import numpy as np
from scipy.special import log_softmax

from spamnb.evaluation.result import EvaluatedMessage, Result, make_result

SPITE = [
    "<script>document.title='owned'</script>",
    '"><img src="{0}/pixel.png" onerror="x">',
    "</style><link rel=stylesheet href={0}/style.css>",
    "</title></svg><iframe src='{0}/frame'></iframe>",
    "<svg onload=fetch('{0}/x')>",
    "\u202egnp.exe & &amp; \x00\x1b[31m",
]


MADE = {"Command": f"spamnb evaluate {SPITE[0]}", "Model": SPITE[1]}


def made_up(classes: tuple[str, ...], n: int = 300, home: str = "http://example.org") -> Result:
    rng = np.random.default_rng(len(classes))
    spite = [s.format(home) for s in SPITE]
    rows = []
    for i in range(n):
        true = int(rng.integers(len(classes)))
        log_p = log_softmax(rng.normal(size=len(classes)) + 2 * np.eye(len(classes))[true])
        p = dict(zip(classes, np.exp(log_p).tolist()))
        best = max(p, key=lambda c: p[c])
        verdict = best if p[best] > 0.4 else "unsure"
        evidence = [(s, 3.0 - k) for k, s in enumerate(spite)]
        scores = dict(zip(classes, log_p.tolist()))
        row = EvaluatedMessage(f"{spite[-i % len(spite)]}/{i}", classes[true], verdict, scores, p, evidence)
        rows.append(row._replace(sender=spite[0], subject=spite[i % len(spite)]))
    return make_result(rows, f"made up {spite[0]}")


TWO = ("ham", "spam")
TWENTY = tuple(f"comp.{SPITE[i % 5]}.{i}" for i in range(20))
