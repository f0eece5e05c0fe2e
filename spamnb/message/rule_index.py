# cython: language_level=3, annotation_typing=False
"""Which rules of style sheets match an element, by what is known of the elements around it.

The left part of a selector is a state: "some element around has matched thus far". An element knows the states that
those around it have reached as bits, so that no selector is ever compared with them again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from .selectors import Compound, Formula, compare
from .url_attributes import UNSTYLED

MAX_STATES = 2000  # of the rules of one document
MAX_FORMULAS = 16  # of places among siblings
MAX_KNOWN = 1000  # combinations of tag, class and id whose candidates are remembered
MAX_MATCHES = 100  # rules that count for one element, the strongest ones

# Its weight, compounds and combinators from the right to the left, and declarations.
Rule = tuple[tuple[int, int, int], tuple[Any, ...], str]
# Bits of the states that the elements around one have reached, by combinator: those that it stands in, its parent, the
# sibling right before it, and all siblings before it.
States = tuple[int, int, int, int]
LISTS = frozenset([":is", ":not"])  # conditions that have compounds inside
COMBINATORS = {"": 0, ">": 1, "+": 2, "~": 3}
new_tuple = tuple.__new__  # a third of what Candidate(...) takes


class Candidate(NamedTuple):
    """A compound of a selector; the last one of a rule (``state`` is 0) has its declarations."""

    before: int  # the state that has to be reached
    combinator: int
    asked: tuple[tuple[str, str, Any], ...]
    state: int
    declarations: str
    steps: int


class Candidates(NamedTuple):
    """What may match an element with a certain tag, class and id."""

    always: bool  # neither its other attributes nor the elements around decide
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
        self.masks = [0, 0, 0, 0]  # the states that count, by the combinator that follows
        self.cut = cut  # there are more
        self.old = old
        self.asked: tuple[str, ...] = ()  # attributes that selectors ask for and that say nothing of style
        self.formulas: tuple[Formula, ...] = ()  # of places among siblings that they ask for
        states: dict[tuple[Any, ...], int] = {}
        asked: set[str] = set()
        formulas: dict[Formula, None] = {}
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
                    self._add(parts[at], (), before, combinator, state, "")
                before, combinator = state, COMBINATORS[parts[at - 1]]
                self.masks[combinator] |= state
            else:
                self._add(parts[0], (*weight, count), before, combinator, 0, declarations)
            for part in parts[::2]:
                if part[3]:
                    _collect(part, asked, formulas)
        self.asked = tuple(sorted(asked))
        self.cut = self.cut or len(formulas) > MAX_FORMULAS
        self.formulas = tuple(formulas)[:MAX_FORMULAS]
        self.by_any = "*" in self.by_key
        self.tags = frozenset([key for key in self.by_key if key[0] not in "#."])  # that rules are for
        self.by_siblings = self.masks[2] + self.masks[3] > 0
        self.by_parent = self.masks[1] > 0 or self.by_siblings

    def _add(
        self, compound: Compound, order: tuple[int, ...], before: int, combinator: int, state: int, declarations: str
    ) -> None:
        tag, name, classes, asked = compound
        steps = 1 + _steps(asked) if asked else 1
        candidate = new_tuple(Candidate, (before, combinator, asked, state, declarations, steps))
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
        name, words = names_of(class_value, id_value, self.old)
        for word in dict.fromkeys(words[:20]):
            found += by_key.get("." + word, ())
        if name:
            found += by_key.get("#" + name[:100], ())
        classes = set(words)
        steps = sum([entry[2][5] for entry in found])
        found = [entry for entry in found if _fits(entry[0], tag, name, classes)]
        found.sort(key=_order)
        fitting = tuple([entry[2] for entry in found])
        always = not any([before or asked for before, _, asked, _, _, _ in fitting])
        if not always:
            return new_tuple(Candidates, (False, (), 0, fitting, steps))
        declared = tuple([candidate.declarations for candidate in fitting if not candidate.state][-MAX_MATCHES:])
        state = sum([candidate.state for candidate in fitting])
        return new_tuple(Candidates, (True, declared, state, (), steps))

    def place(self, counts: dict[str, int], tag: str) -> tuple[Formula, ...]:
        """The formulas that hold for the next element with this tag in its parent, which ``counts`` those before it.

        >>> rules = [((0, 1, 0), (("*", "", (), ((":nth", "", (2, 1, False)),)),), "color: red")]
        >>> index, counts = RuleIndex(rules, False, False), {}
        >>> index.place(counts, "p"), index.place(counts, "p")
        (((2, 1, False),), ())
        """
        of_all = counts[""] = counts.get("", 0) + 1
        of_tag = counts[tag] = counts.get(tag, 0) + 1
        found = []
        for formula in self.formulas:
            step, first, of_type = formula
            after = (of_tag if of_type else of_all) - first
            if after == 0 or (step and after % step == 0 and after // step > 0):
                found.append(formula)
        return tuple(found)


def _steps(asked: tuple[tuple[str, str, Any], ...]) -> int:
    """How much work it is to ask for this."""
    inside = [compound for key, _, value in asked if key in LISTS for compound in value]
    return len(asked) + sum([1 + len(compound[2]) + _steps(compound[3]) for compound in inside])


def _collect(compound: Compound, asked: set[str], formulas: dict[Formula, None]) -> None:
    """The attributes and formulas that a compound asks for, within its pseudo-classes too."""
    for key, _, value in compound[3]:
        if key in UNSTYLED:
            asked.add(key)
        elif key == ":nth":
            formulas[value] = None
        elif key in LISTS:
            for inside in value:
                _collect(inside, asked, formulas)


def names_of(class_value: str | None, id_value: str | None, old: bool) -> tuple[str, list[str]]:
    """The id and the classes of an element, as they are compared."""
    name, words = id_value or "", (class_value or "")[:1000]
    return (name.lower(), words.lower().split()) if old else (name, words.split())


def match(
    candidates: Candidates,
    tag: str,
    attributes: Mapping[str, str],
    around: States,
    place: tuple[Formula, ...],
    old: bool,
) -> tuple[tuple[str, ...], int]:
    """The declarations for an element, the strongest last, and the states that it reaches; ``place`` has the formulas
    that hold for its place among its siblings."""
    if candidates.always:
        return candidates.declared, candidates.state
    declared: list[str] = []
    reached = 0
    element = None
    for before, combinator, asked, state, declarations, _ in candidates.others:
        if before and not around[combinator] & before:
            continue
        if asked:
            if element is None:
                name, words = names_of(attributes.get("class"), attributes.get("id"), old)
                element = (tag, name, set(words), attributes, place)
            if not _holds(asked, element):
                continue
        if state:
            reached |= state
        else:
            declared.append(declarations)
    return tuple(declared[-MAX_MATCHES:]), reached


def _holds(asked: tuple[tuple[str, str, Any], ...], element: tuple[Any, ...]) -> bool:
    """Is an element (tag, id, classes, attributes, place) as this asks?"""
    tag, name, classes, attributes, place = element
    for key, how, value in asked:
        if key == ":nth":
            if value not in place:
                return False
        elif key in LISTS:
            found = any([_fits(inside, tag, name, classes) and _holds(inside[3], element) for inside in value])
            if found != (key == ":is"):
                return False
        elif not compare(attributes.get(key), how, value):
            return False
    return True


def _fits(compound: Compound, tag: str, name: str, classes: set[str]) -> bool:
    asked_tag, asked_name, asked_classes, _ = compound
    if asked_tag != "*" and asked_tag != tag:
        return False
    if asked_name and asked_name != name:
        return False
    return not asked_classes or classes.issuperset(asked_classes)


def _order(entry: tuple[Any, tuple[int, ...], Candidate]) -> tuple[int, ...]:
    return entry[1]
