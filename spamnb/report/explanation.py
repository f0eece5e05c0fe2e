"""One judgement for a person: the verdict, how sure, and the tokens behind it with their counts."""

from __future__ import annotations

from spamnb.counts.class_counts import ClassTotals, TokenCounts
from spamnb.judgement import Judgement
from spamnb.naming import escape, pluralize
from spamnb.settings import BAYES_MODELS, COUNT_MODELS, Settings


def explanation(
    judgement: Judgement,
    settings: Settings,
    totals: ClassTotals,
    found: TokenCounts,
    top: int,
    verbose: bool = False,
) -> str:
    """Lines of text; ``found`` holds the counts of the judgement's ``top`` tokens in their order.

    Where ``verbose``, also the probabilities before calibration, and which part of a weight is correction.
    """
    own = "textbook naive Bayes" if settings.model_type in BAYES_MODELS else "the model's own"
    lines = [f"verdict: {judgement.verdict}"]
    not_read = [f"  not read: {what}" for what in judgement.truncations]
    if len(totals.classes) < 2:  # a single class has probability 1 whatever the message holds, which says nothing
        known = "nothing yet; 'spamnb learn' adds messages"
        for name in totals.classes:
            known = f"class {name!r} alone, and nothing to tell it from; 'spamnb learn' adds another class"
        return "\n".join([*lines, f"  the model has learned {known}", *not_read])
    ranked = sorted(judgement.probabilities, key=lambda name: -judgement.probabilities[name])[:5]
    lines += [
        f"  {name}: probability {judgement.probabilities[name]:.4f}"
        + (f", before calibration {judgement.posterior[name]:.4g} ({own})" if verbose else "")
        for name in ranked
    ]
    if not judgement.enough:
        lines.append("  the model has seen too few messages for these probabilities to mean much")
    lines += not_read
    if not judgement.evidence:
        return "\n".join([*lines, "no token of this message is evidence"])
    other = f" (+) against {ranked[1]} (−)" if len(ranked) > 1 else ""
    whereof = ""
    if settings.model_type in COUNT_MODELS and settings.pooling == "mean":
        whereof = " (its share of the message's weighted mean)"
    elif settings.model_type == "corrected" and verbose:
        whereof = " (naive Bayes and its correction, then the latter alone)"
        own_part = sum(weight for _, weight in judgement.evidence) - sum(judgement.corrections)
        lines += ["", f"naive Bayes gives {own_part:+.3f} nats, its correction {sum(judgement.corrections):+.3f}"]
    lines += ["", f"weight in nats for {ranked[0]}{other}{whereof}; messages that hold the token, of all:"]
    classes = totals.classes if len(totals.classes) <= 4 else tuple(ranked[:2])
    rows = [totals.classes.index(name) for name in classes]
    heads = [f"{name} /{totals.documents[row]}" for name, row in zip(classes, rows)]
    corrections = judgement.corrections if verbose else []
    corrected = f"{'correction':>10}  " if corrections else ""
    lines.append(f"{'nats':>8}  {corrected}" + "  ".join(f"{head:>12}" for head in heads) + "  token")
    for k, evidence in enumerate(judgement.evidence[:top]):
        counts = "  ".join(
            f"{found.document_counts[row, k]:>{max(12, len(head))}}" for row, head in zip(rows, heads)
        )
        part = f"{corrections[k]:>+10.3f}  " if corrections else ""
        lines.append(f"{evidence.weight:>+8.3f}  {part}{counts}  {escape(evidence.token)}")
    if len(judgement.evidence) > top:
        lines.append(f"… and {pluralize(len(judgement.evidence) - top, 'lighter one')}")
    return "\n".join(lines)
