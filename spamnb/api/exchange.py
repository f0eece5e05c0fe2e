"""What hosts that began with copies of one model tell each other: what each learned since, added to the others' models.

Each message counts once, whoever learned it and however often a host is told. Where hosts say different things of one,
store/delta.py says what it is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.formulas.calibration import bins_by_class
from spamnb.naming import pluralize
from spamnb.store.delta import (
    ChangedMessage,
    Delta,
    MessageState,
    TokenSum,
    added_units,
    changed_messages,
    difference,
    is_another,
    label_of,
    settled,
    without_messages,
)
from spamnb.store.lessons import KeptLesson, add_lessons, drop, kept_lessons, unpack
from spamnb.store.merging import check_settings
from spamnb.store.snapshot import read_snapshot

AT_ONCE = 100  # messages in one change: others may write in between


class Known(NamedTuple):
    """A message whose tokens a model can still tell."""

    tokens: Mapping[str, int]
    identity: bytes | None  # where it keeps tokens and not the message
    lesson: KeptLesson | None  # the message, where it keeps that


@dataclass(frozen=True, slots=True)
class TakenIn:
    """What another host's lessons changed here, in messages.

    - ``learned``: new ones
    - ``moved``: those that are in another class now
    - ``forgotten``: those that were taken out
    - ``known``: those that were as they should be

    >>> TakenIn(learned=12, moved=1, known=3)
    TakenIn(learned=12, moved=1, forgotten=0, known=3)
    """

    learned: int = 0
    moved: int = 0
    forgotten: int = 0
    known: int = 0


def learned_since(model: str | Path, base: str | Path) -> Delta:
    """What a model learned and forgot since it was ``base``, a copy of that time.

    SpamnbError where the model did not grow from it, was pruned since, or is no sum.
    """
    with Classifier.open(model) as now, Classifier.open(base) as then, now.store.reading(), then.store.reading():
        names = [str(base), str(model)]
        before, after = read_snapshot(then.store), read_snapshot(now.store)
        messages = changed_messages(before, after, names)
        wanted = {message.digest for message in messages}
        known = known_messages(then, wanted) | known_messages(now, wanted)
        return difference(before, after, [_with_tokens(message, known) for message in messages], names)


def known_messages(classifier: Classifier, wanted: Iterable[bytes]) -> dict[bytes, Known]:
    """Those of the ``wanted`` messages, by digest, whose tokens the model can tell: it keeps them, or the message."""
    wanted, store, found = frozenset(wanted), classifier.store, dict[bytes, Known]()
    with store.reading():
        for identity, digest, tokens in store.autolearned_messages():
            if digest in wanted:
                found[digest] = Known(tokens, identity, None)
        for _, lesson in kept_lessons(store) if wanted - found.keys() else ():
            if lesson.digest in wanted:
                found[lesson.digest] = Known(classifier.read(unpack(lesson.message)).counts, None, lesson)
    return found


def _with_tokens(message: ChangedMessage, known: Mapping[bytes, Known]) -> ChangedMessage:
    found = known.get(message.digest)
    return message._replace(tokens=found.tokens, identity=found.identity) if found else message


def take_in(classifier: Classifier, delta: Delta, name: str) -> TakenIn:
    """Add what another host learned since both began with copies of one model. What this model knows already stays, so
    a delta that is given twice, or whose taking in was interrupted, may be given again.

    ``name`` is that of the delta, for errors. SpamnbError, and nothing is changed, where the model has other settings,
    did not grow from the same base, or knows only some of the messages whose sum the delta has.
    """
    receiver = _Receiver(classifier, delta, name)
    with classifier.store.writing():
        receiver.check()
        known = receiver.add_rest()
    for first in range(0, len(known), AT_ONCE):
        with classifier.store.writing():
            for message in known[first : first + AT_ONCE]:
                receiver.add(message)
    return TakenIn(**receiver.counted)


class _Receiver:
    """A model that is told what another learned."""

    def __init__(self, classifier: Classifier, delta: Delta, name: str) -> None:
        self._classifier, self._delta, self._name = classifier, delta, name
        self._store = classifier.store
        self._corrected = classifier.settings.model_type == "corrected"
        self._known = known_messages(classifier, [message.digest for message in delta.messages])
        self.counted: Counter[str] = Counter()

    def check(self) -> None:
        """SpamnbError where the model is of another kind, or did not grow from the same base."""
        delta, meta = self._delta, self._store.meta()
        check_settings([meta, delta.meta], [self._store.path, self._name])
        if meta.get("pruned") != delta.meta.get("pruned"):
            what = "pruned, and the base of the two not; prune the base and give all hosts copies of that"
            raise SpamnbError(f"{self._store.path if 'pruned' in meta else self._name}: {what}")
        told = {message.digest for message in delta.messages}
        gone = sum(digest not in told and self._store.learned(digest) is None for digest in delta.sample)
        if is_another(gone, len(delta.sample)):
            lacks = f"{self._store.path} lacks {gone} of {len(delta.sample)} messages of it that it names"
            raise SpamnbError(f"{self._name}: of another base: {lacks}; both must have begun as copies of one model")
        for message in delta.messages:  # a class gets its number before anything is changed
            for state in filter(None, (message.before, message.after)):
                for label in (state.learned.label, *state.brought):
                    self._store.class_id(label)

    def state(self, digest: bytes) -> MessageState | None:
        """As what the model holds a message now."""
        learned = self._store.learned(digest)
        brought = self._store.corrections.brought(digest) if learned and self._corrected else {}
        return MessageState(learned, brought) if learned else None

    # -- messages whose tokens are known -----------------------------------------------------------------------

    def add(self, message: ChangedMessage) -> None:
        """Make of a message what its state here and that of the other host come to."""
        mine = self.state(message.digest)
        merged = settled(mine, message, self._classifier.settings.spam)
        self._count(mine, merged)
        if mine != merged and message.tokens is not None:
            self._replace(message, mine, merged, message.tokens)

    def _count(self, mine: MessageState | None, merged: MessageState | None) -> None:
        before, after = label_of(mine), label_of(merged)
        what = "known" if before == after else "learned" if before is None else "moved" if after else "forgotten"
        self.counted[what] += 1

    def _replace(
        self, message: ChangedMessage, mine: MessageState | None, merged: MessageState | None, tokens: Mapping[str, int]
    ) -> None:
        store, before, after = self._store, label_of(mine), label_of(merged)
        if self._corrected:
            if units := added_units(mine, merged):
                store.corrections.add(store.in_vocabulary(list(tokens)), units)
            self._keep_brought(message.digest, mine, merged)
        bins, scored = (state.learned.bins if state else None for state in (mine, merged))
        anew = before != after or (bins is None and scored is not None)
        if before is not None and anew:
            store.add(before, tokens, -1)
            if bins is None:  # one that training saw leaves by the score that it has now, as when it is forgotten
                bins = bins_by_class(self._classifier.scores_without(before, tokens))
        if before is not None:
            self._count_score(before, bins, -1)
        if after is not None:
            if anew:
                store.add(after, tokens)
            self._count_score(after, scored, 1)
        self._keep(message, merged)

    def _keep_brought(self, digest: bytes, mine: MessageState | None, merged: MessageState | None) -> None:
        corrections = self._store.corrections
        if label_of(mine) != label_of(merged):
            corrections.drop_brought(digest)
            corrections.hard.drop(digest)
        if merged and (merged.brought or corrections.brought(digest)):
            corrections.put_brought(digest, merged.brought)

    def _count_score(self, label: str, bins: Mapping[str, int] | None, sign: int) -> None:
        cells = [(name, int(name == label), bin_, sign) for name, bin_ in (bins or {}).items()]
        self._store.add_calibration(cells)

    def _keep(self, message: ChangedMessage, merged: MessageState | None) -> None:
        """Write as what a message was learned; what is kept of it follows."""
        store, digest, own = self._store, message.digest, self._known.get(message.digest)
        if merged is None or (merged.learned.taught and message.identity is None):
            store.delete_message(digest)
        if merged is None or not merged.learned.taught:  # whole messages are kept of what persons taught
            drop(store, digest)
        if merged is None:
            return
        store.add_messages([(digest, merged.learned)])
        if message.identity and message.tokens and merged == message.after and not (own and own.identity):
            store.put_autolearned_message(message.identity, digest, message.tokens)
        if merged.learned.taught and own and own.lesson and own.lesson.label != merged.learned.label:
            add_lessons(store, [own.lesson._replace(label=merged.learned.label)])

    # -- the sum of the others -----------------------------------------------------------------------------------

    def add_rest(self) -> list[ChangedMessage]:
        """Add the sum of the messages whose tokens the delta does not have, all or none; the messages that are to be
        added one by one, those of that sum whose tokens are known here among them."""
        single, found_here, unknown = [], [], []
        for message in self._delta.messages:
            if message.tokens is not None:
                single.append(message)
            elif known := self._known.get(message.digest):
                found_here.append(message._replace(tokens=known.tokens))
            else:
                unknown.append(message)
        new = [message for message in unknown if self._is_new(message)]
        if new and len(new) < len(unknown):
            of = f"of {pluralize(len(unknown), 'message')} that it has in one sum"
            known_ones = f"{self._store.path} knows {len(unknown) - len(new):,}, which cannot be told from the others"
            raise SpamnbError(f"{self._name}: {of} {known_ones}; give all hosts a new base")
        if new:
            self._add_sum(without_messages(self._delta.rest, found_here), new)
        self.counted["known"] += len(unknown) - len(new)
        return [*single, *found_here]

    def _is_new(self, message: ChangedMessage) -> bool:
        """Is a message here still what it was in the base?"""
        mine, (before, after) = self.state(message.digest), message.labels
        if before == after and mine and message.after:
            return mine.brought != message.after.brought
        return label_of(mine) == before

    def _add_sum(self, rest: Mapping[str, TokenSum], messages: Iterable[ChangedMessage]) -> None:
        store, documents = self._store, Counter[str]()
        for message in messages:
            mine, merged = self.state(message.digest), message.after
            self._count(mine, merged)
            for state, sign in ((mine, -1), (merged, 1)):
                if state:
                    self._count_score(state.learned.label, state.learned.bins, sign)
                    documents[state.learned.label] += sign
            if self._corrected:
                self._keep_brought(message.digest, mine, merged)
            self._keep(message, merged)
        for label, more in documents.items():
            cells = {token: of.counts[label] for token, of in rest.items() if label in of.counts}
            held, occurring = np.array(list(cells.values()), np.int64).reshape(-1, 2).T
            store.add_sum(label, list(cells), held, occurring, more)
        of_units: defaultdict[tuple[tuple[str, int], ...], list[str]] = defaultdict(list)
        for token, of in rest.items():
            if of.units:
                of_units[tuple(sorted(of.units.items()))].append(token)
        for units, tokens in of_units.items():
            store.corrections.add(store.in_vocabulary(tokens), dict(units))
