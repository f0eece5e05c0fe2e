"""Messages that may stand in the wrong folder: which, why, and how a person knows them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from spamnb.naming import escape, pluralize
from spamnb.reader.meaning import meaning
from spamnb.sources.spec import ReadOptions

if TYPE_CHECKING:
    from spamnb.evaluation.result import Result
    from spamnb.sources.entries import Entry

LONGEST = 70  # characters of a sender or a subject
REASONS = 6  # tokens of each message


class Doubtful(NamedTuple):
    """A message labelled as one class that looks like another; sender and subject where it could be read again."""

    name: str
    label: str
    likeliest: str
    probability: float  # of the likeliest
    evidence: Sequence[tuple[str, float]]  # (token, nats), heaviest first; above 0 speaks for the likeliest
    sender: str | None = None
    subject: str | None = None


class Mislabelled(NamedTuple):
    """Messages that look as if they stood in the wrong folder, the surest first."""

    found: list[Doubtful]

    def to_dict(self) -> list[dict[str, Any]]:
        """The same for programs: name, label, likeliest, probability, evidence, sender and subject of each."""
        return [{**each._asdict(), "evidence": [list(pair) for pair in each.evidence]} for each in self.found]

    def lines(self) -> list[str]:
        """Three lines a message: why it looks mislabelled; who sent it, and what about; and what says so."""
        from spamnb.report.numbers import percent

        if not self.found:
            return ["No message looks mislabelled."]
        lines = [f"{pluralize(len(self.found), 'message')} may stand in the wrong folder, the surest first:"]
        for each in self.found:
            sure = percent(100 * each.probability)
            lines.append(f"  {escape(each.name)}: labelled {each.label}, looks like {each.likeliest} ({sure} %)")
            if each.sender is not None and each.subject is not None:
                sender, subject = (shortened(text) or "(none)" for text in (each.sender, each.subject))
                lines.append(f"    From: {sender}   Subject: {subject}")
            reasons = [shortened(meaning(token) or token) for token, weight in each.evidence if weight > 0][:REASONS]
            if reasons:
                lines.append(f"    because of {'; '.join(reasons)}")
        return lines


def shortened(text: str) -> str:
    """One line of text for a terminal, of at most LONGEST characters.

    >>> shortened("caf\\x1b[2J  \\n au lait"), len(shortened("x" * 99))
    ('caf\\\\x1b[2J au lait', 70)
    """
    text = escape(" ".join(text[: 4 * LONGEST].split())[: LONGEST + 1])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def mislabelled(sources: Sequence[str], options: ReadOptions, result: Result, limit: int) -> Mislabelled | None:
    """At most ``limit`` messages of a result that look mislabelled, the surest first; None where nobody asked.

    Evidence is there for those that ``result.details`` explains. Sender and subject are read from the sources again.
    """
    from spamnb.evaluation.metrics import surest

    if not limit:
        return None
    rows = surest(result.scores, result.probabilities, result.truth, result.verdicts)[:limit].tolist()
    found = []
    for row in rows:
        label, said = result.classes[result.truth[row]], result.verdicts[row]
        evidence = result.details[row].evidence if row in result.details else ()
        p = float(result.probabilities[row, said])
        found.append(Doubtful(result.names[row], label, result.classes[said], p, evidence))
    heads = _heads(again(sources, options), {(each.name, each.label) for each in found})
    return Mislabelled([each._replace(**heads.get((each.name, each.label), {})) for each in found])


def _heads(entries: Iterable[Entry], missing: set[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
    """Sender and subject of the messages with these names and labels, as far as they are still there. No more of the
    sources is gone through than that takes, and no other message is read."""
    from spamnb.reader.message import header_of

    found: dict[tuple[str, str], dict[str, Any]] = {}
    for entry in entries if missing else ():
        key = entry.name, entry.label or ""
        if key in missing:
            missing.discard(key)
            with suppress(OSError):  # it has gone since
                raw = entry.read()
                found[key] = {"sender": header_of(raw, "from"), "subject": header_of(raw, "subject")}
            if not missing:
                break
    return found


def again(sources: Sequence[str], options: ReadOptions) -> Iterator[Entry]:
    """The messages once more; what is wrong with some was told the first time."""
    from spamnb.sources.spec import entries

    return entries(sources, lambda name, error: None, options)
