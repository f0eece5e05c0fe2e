# cython: language_level=3, annotation_typing=False
"""Which rules of style sheets match an element, by what is known of the elements around it.

The left part of a selector is a state: "some element around has matched thus far". An element knows the states that
those around it have reached as bits, so that no selector is ever compared with them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .selectors import Compound

MAX_STATES = 2000  # of the rules of one document
MAX_KNOWN = 1000  # combinations of tag, class and id whose candidates are remembered
MAX_MATCHES = 100  # rules that count for one element, the strongest ones

# Its weight, compounds and combinators from the right to the left, and declarations.
Rule = tuple[tuple[int, int, int], tuple[Any, ...], str]
# Bits of the states that the elements around one have reached, by combinator: those that it stands in, and its parent.
States = tuple[int, int]
COMBINATORS = {"": 0, ">": 1}
new_tuple = tuple.__new__  # a third of what Candidate(...) takes


class Candidate(NamedTuple):
    """A compound of a selector; the last one of a rule (``state`` is 0) has its declarations."""

    before: int  # the state that has to be reached
    combinator: int
    state: int
    declarations: str


class Candidates(NamedTuple):
    """What may match an element with a certain tag, class and id."""

    always: bool  # the elements around do not decide
    declared: tuple[str, ...]
    state: int
    others: tuple[Candidate, ...]  # where they do: all, those of rules in the order of their weight
    steps: int


class RuleIndex:
    """The rules of one document by what an element must have for them to match; on ``old`` pages classes and ids are
    compared without regard to case."""

    def __init__(self, rules: Iterable[Rule], cut: bool, old: bool) -> None:
        self.by_key: dict[str, list[tuple[Compound, tuple[int, ...], Candidate]]] = {}
        self.known: dict[tuple[str, str | None, str | None], Candidates] = {}
        self.masks = [0, 0]  # the states that count, by the combinator that follows
        self.cut = cut  # there are more
        self.old = old
        states: dict[tuple[Any, ...], int] = {}
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
                    self._add(parts[at], (), new_tuple(Candidate, (before, combinator, state, "")))
                before, combinator = state, COMBINATORS[parts[at - 1]]
                self.masks[combinator] |= state
            else:
                self._add(parts[0], (*weight, count), new_tuple(Candidate, (before, combinator, 0, declarations)))
        self.by_any = "*" in self.by_key
        self.tags = frozenset([key for key in self.by_key if key[0] not in "#."])  # that rules are for
        self.by_parent = self.masks[1] > 0

    def _add(self, compound: Compound, order: tuple[int, ...], candidate: Candidate) -> None:
        tag, name, classes = compound
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
        name, words = id_value or "", (class_value or "")[:1000]
        if self.old:
            name, words = name.lower(), words.lower()
        classes = words.split()
        for word in dict.fromkeys(classes[:20]):
            found += by_key.get("." + word, ())
        if name:
            found += by_key.get("#" + name[:100], ())
        steps = len(found)
        has = set(classes)
        found = [entry for entry in found if _fits(entry[0], tag, name, has)]
        found.sort(key=_order)
        fitting = tuple([entry[2] for entry in found])
        if any([candidate.before for candidate in fitting]):
            return new_tuple(Candidates, (False, (), 0, fitting, steps))
        declared = tuple([candidate.declarations for candidate in fitting if not candidate.state][-MAX_MATCHES:])
        state = sum([candidate.state for candidate in fitting])
        return new_tuple(Candidates, (True, declared, state, (), steps))


def match(candidates: Candidates, around: States) -> tuple[tuple[str, ...], int]:
    """The declarations for an element, the strongest last, and the states that it reaches."""
    if candidates.always:
        return candidates.declared, candidates.state
    declared: list[str] = []
    reached = 0
    for before, combinator, state, declarations in candidates.others:
        if before and not around[combinator] & before:
            continue
        if state:
            reached |= state
        else:
            declared.append(declarations)
    return tuple(declared[-MAX_MATCHES:]), reached


def _fits(compound: Compound, tag: str, name: str, classes: set[str]) -> bool:
    asked_tag, asked_name, asked_classes = compound
    if asked_tag != "*" and asked_tag != tag:
        return False
    if asked_name and asked_name != name:
        return False
    return not asked_classes or classes.issuperset(asked_classes)


def _order(entry: tuple[Any, tuple[int, ...], Candidate]) -> tuple[int, ...]:
    return entry[1]
