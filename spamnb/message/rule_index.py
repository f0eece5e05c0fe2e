# cython: language_level=3, annotation_typing=False
"""Which rules of style sheets match an element, by what is known of the elements around it.

The left part of a selector is a state: "some element around has matched thus far". An element knows the states that
those around it have reached as bits, so that no selector is ever compared with them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .selectors import compare
from .url_attributes import UNSTYLED

MAX_STATES = 2000  # of the rules of one document
MAX_KNOWN = 1000  # combinations of tag, class and id whose candidates are remembered
MAX_MATCHES = 100  # rules that count for one element, the strongest ones

# Its weight, compounds and combinators from the right to the left, and declarations.
Rule = tuple[tuple[int, int, int], tuple[Any, ...], str]
# Bits of the states that the elements around one have reached, by combinator: those that it stands in, its parent, the
# sibling right before it, and all siblings before it.
States = tuple[int, int, int, int]
COMBINATORS = {"": 0, ">": 1, "+": 2, "~": 3}
new_tuple = tuple.__new__  # a third of what Candidate(...) takes


class Candidate(NamedTuple):
    """A compound of a selector; the last one of a rule (``state`` is 0) has its declarations."""

    before: int  # the state that has to be reached
    combinator: int
    attributes: tuple[tuple[str, str, str], ...]
    state: int
    declarations: str


class Candidates(NamedTuple):
    """What may match an element with a certain tag, class and id."""

    always: bool  # neither its other attributes nor the elements around decide
    declared: tuple[str, ...]
    state: int
    others: tuple[Candidate, ...]  # where they do: all, those of rules in the order of their weight
    steps: int


class RuleIndex:
    """The rules of one document by what an element must have for them to match."""

    def __init__(self, rules: Iterable[Rule], cut: bool) -> None:
        self.by_key: dict[str, list[tuple[Any, tuple[int, ...], Candidate]]] = {}
        self.known: dict[tuple[str, str | None, str | None], Candidates] = {}
        self.masks = [0, 0, 0, 0]  # the states that count, by the combinator that follows
        self.cut = cut  # there are more
        self.asked: tuple[str, ...] = ()  # attributes that selectors ask for and that say nothing of style
        states: dict[tuple[Any, ...], int] = {}
        asked: set[str] = set()
        for count, (weight, parts, declarations) in enumerate(rules):
            before = combinator = 0
            for at in range(len(parts) - 1, 0, -2):
                key = before, combinator, parts[at]
                state = states.get(key, 0)
                if not state:
                    if len(states) == MAX_STATES:
                        self.cut = True
                        break
                    state = states[key] = 1 << len(states)
                    self._add(parts[at], (), new_tuple(Candidate, (before, combinator, parts[at][3], state, "")))
                before, combinator = state, COMBINATORS[parts[at - 1]]
                self.masks[combinator] |= state
            else:
                order = (*weight, count)
                candidate = new_tuple(Candidate, (before, combinator, parts[0][3], 0, declarations))
                self._add(parts[0], order, candidate)
            asked.update([found[0] for part in parts[::2] for found in part[3] if found[0] in UNSTYLED])
        self.asked = tuple(sorted(asked))
        self.by_any = "*" in self.by_key
        self.tags = frozenset([key for key in self.by_key if key[0] not in "#."])  # that rules are for
        self.by_siblings = self.masks[2] + self.masks[3] > 0
        self.by_parent = self.masks[1] > 0 or self.by_siblings

    def _add(self, compound: Any, order: tuple[int, ...], candidate: Candidate) -> None:
        tag, name, classes, _ = compound
        key = "#" + name if name else "." + classes[0] if classes else tag
        self.by_key.setdefault(key, []).append((compound, order, candidate))

    def candidates(self, tag: str, attributes: Mapping[str, str]) -> Candidates:
        """What may match an element, as far as its tag, class and id tell."""
        key = (tag, attributes.get("class"), attributes.get("id"))
        known = self.known.get(key)
        if known is None:
            known = self._candidates(*key)
            if len(self.known) < MAX_KNOWN:
                self.known[key] = known
        return known

    def _candidates(self, tag: str, class_value: str | None, id_value: str | None) -> Candidates:
        by_key = self.by_key
        found = [*by_key.get(tag, ()), *by_key.get("*", ())]
        classes: set[str] = set()
        name = (id_value or "").lower()
        if class_value:
            words = class_value[:1000].lower().split()
            classes = set(words)
            for word in dict.fromkeys(words[:20]):
                found += by_key.get("." + word, ())
        if id_value:
            found += by_key.get("#" + name[:100], ())
        steps = len(found)
        found = [entry for entry in found if _fits(entry[0], tag, name, classes)]
        found.sort(key=_order)
        fitting = tuple([entry[2] for entry in found])
        always = not any([candidate.before or candidate.attributes for candidate in fitting])
        if not always:
            return Candidates(False, (), 0, fitting, steps)
        declared = tuple([candidate.declarations for candidate in fitting if not candidate.state][-MAX_MATCHES:])
        state = sum([candidate.state for candidate in fitting])
        return Candidates(True, declared, state, (), steps)


def match(candidates: Candidates, attributes: Mapping[str, str], around: States) -> tuple[tuple[str, ...], int]:
    """The declarations for an element, the strongest last, and the states that it reaches."""
    if candidates.always:
        return candidates.declared, candidates.state
    declared: list[str] = []
    reached = 0
    for before, combinator, asked, state, declarations in candidates.others:
        if before and not around[combinator] & before:
            continue
        if asked and not all([compare(attributes.get(key), how, value) for key, how, value in asked]):
            continue
        if state:
            reached |= state
        else:
            declared.append(declarations)
    return tuple(declared[-MAX_MATCHES:]), reached


def _fits(compound: Any, tag: str, name: str, classes: set[str]) -> bool:
    asked_tag, asked_name, asked_classes, _ = compound
    if asked_tag != "*" and asked_tag != tag:
        return False
    if asked_name and asked_name != name:
        return False
    return not asked_classes or classes.issuperset(asked_classes)


def _order(entry: tuple[Any, tuple[int, ...], Candidate]) -> tuple[int, ...]:
    return entry[1]
