"""One judgement for a person: the verdict, how sure, and the tokens behind it with their counts."""

from __future__ import annotations

from spamnb.classifier import Judgement
from spamnb.settings import Settings
from spamnb.store import Found, Totals


def explanation(judgement: Judgement, settings: Settings, totals: Totals, found: Found, top: int) -> str:
    """Lines of text; ``found`` holds the counts of the judgement's ``top`` tokens in their order."""
    lines = [f"verdict: {judgement.verdict}"]
    ranked = sorted(judgement.probabilities, key=lambda name: -judgement.probabilities[name])[:5]
    lines += [
        f"  {name}: probability {judgement.probabilities[name]:.4f} (calibrated), "
        f"{judgement.posterior[name]:.4g} (textbook naive Bayes)"
        for name in ranked
    ]
    if not judgement.enough:
        lines.append("  the model has seen too few messages for these probabilities to mean much")
    lines += [f"  not read: {what}" for what in judgement.cut]
    if not judgement.evidence:
        return "\n".join([*lines, "no token of this message is evidence"])
    other = f" (+) against {ranked[1]} (−)" if len(ranked) > 1 else ""
    lines += ["", f"weight in nats for {ranked[0]}{other}; messages that hold the token, of all:"]
    classes = totals.classes if len(totals.classes) <= 4 else tuple(ranked[:2])
    rows = [totals.classes.index(name) for name in classes]
    heads = [f"{name} /{totals.documents[row]}" for name, row in zip(classes, rows)]
    lines.append(f"{'nats':>8}  " + "  ".join(f"{head:>12}" for head in heads) + "  token")
    for k, evidence in enumerate(judgement.evidence[:top]):
        counts = "  ".join(
            f"{found.document_counts[row, k]:>{max(12, len(head))}}" for row, head in zip(rows, heads)
        )
        lines.append(f"{evidence.weight:>+8.3f}  {counts}  {evidence.token}")
    if len(judgement.evidence) > top:
        lines.append(f"… and {len(judgement.evidence) - top} lighter ones")
    return "\n".join(lines)
