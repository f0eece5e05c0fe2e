"""Train, ask and measure from Python. Run it in a folder with corpora/: it writes model.spamnb and page.html there.

A test runs this page, and mypy and pyright check its types.
"""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import spamnb


def made(sources: list[str], model: Path) -> dict[str, int]:
    """Train a model on labelled mail, and return the number of messages of each class."""
    report = spamnb.train(sources, model, force=True, model_type="boolean", alpha=0.1, ngrams=2)
    print(report)  # what 'spamnb train' prints
    return report.classes


def telling(model: Path) -> list[tuple[str, float]]:
    """List the words that tell the classes apart, with their mutual information in bits."""
    report = spamnb.words(model, top=10)
    return [(word.token, word.value) for word in report.informative]


def reasons(message: bytes, model: Path) -> tuple[str, list[str]]:
    """Classify a message, and list the tokens that decided."""
    explanation = spamnb.explain(message, model, top=5)
    classification: spamnb.Classification = explanation.classification
    return classification.verdict, [token for token, _ in classification.evidence[: explanation.top]]


def compared(sources: list[str]) -> float:
    """Two kinds of model on the same mail: the probability that their difference is luck."""
    one = spamnb.evaluate(sources, folds=5)
    other = spamnb.evaluate(sources, folds=5, model_type="multinomial")
    one.write_page("page.html")
    if one.figures.spam is not None:
        print(f"good mail lost: {one.figures.spam.hm.value:.2f} %")
    print(json.dumps(one.to_dict()["accuracy"]))
    return one.compare(other).p_value


def corrected(model: Path, raw: bytes) -> str | None:
    """Learn a message as spam, and return the class that it was learned as."""
    with spamnb.Classifier.open(model, writable=True) as classifier:
        classifier.learn("spam", raw)
        return classifier.learned(raw)


def main() -> None:
    """Run all functions on the sample mail."""
    mail, model = ["corpora/mail"], Path("model.spamnb")
    try:
        print(made(mail, model))
    except spamnb.SpamnbError as error:  # one line: what, where, what to do
        raise SystemExit(f"spamnb: {error}") from None
    print(telling(model))
    first = next(spamnb.read(mail))
    print(first.label, reasons(first.raw, model))
    print(Counter(message.label for message in spamnb.read(mail)))
    print(compared(mail))
    print(corrected(model, first.raw))


if __name__ == "__main__":
    main()
