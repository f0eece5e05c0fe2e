"""What a model learned since another that it grew from, to be added to any model that grew from that one.

A model is a sum over its messages, and so is the difference of two: a row for each message that only one of them holds,
or that they hold in different classes. Of most of these the words are known. What is left of the difference is the sum
of the others, which is added as a whole or not at all.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spamnb.counts.class_counts import ClassCounts
from spamnb.errors import SpamnbError
from spamnb.naming import pluralize
from spamnb.store.correction_sums import CorrectionSums
from spamnb.store.learned import LearnedMessage
from spamnb.store.merging import OF_ONE_FILE, check_alike
from spamnb.store.snapshot import Snapshot
from spamnb.tokens.token_array import merge_vocabularies

SAMPLE = 256  # digests of the base, by which another model is told that did not grow from it
MAX_GONE = 0.25  # of the base's messages: a model that lacks more did not grow from it, for people forget few


class MessageState(NamedTuple):
    """As what a model holds a message."""

    learned: LearnedMessage
    brought: Mapping[str, int]  # to the weights of its tokens in a corrected model, by class, without 0


class ChangedMessage(NamedTuple):
    """A message that is not what it was in the base; None is one that is not there."""

    digest: bytes
    before: MessageState | None
    after: MessageState | None
    tokens: Mapping[str, int] | None = None  # with their occurrences; None where they are not known
    identity: bytes | None = None  # of one whose tokens the model keeps, to know it again

    @property
    def labels(self) -> tuple[str | None, str | None]:
        """Its class before and after."""
        return label_of(self.before), label_of(self.after)


class TokenSum(NamedTuple):
    """What a sum of messages changes at one token, by class."""

    counts: Mapping[str, tuple[int, int]]  # messages that hold it, and its occurrences
    units: Mapping[str, int]  # of a correction


class Delta(NamedTuple):
    """What was learned and forgotten since a base."""

    meta: Mapping[str, Any]  # the settings of both
    base_messages: int
    sample: Sequence[bytes]  # some digests of the base
    messages: Sequence[ChangedMessage]  # ascending by digest
    rest: Mapping[str, TokenSum]  # the sum of those whose tokens are not known


def label_of(state: MessageState | None) -> str | None:
    """Its class; None where it is not there."""
    return state.learned.label if state else None


def changed_messages(base: Snapshot, model: Snapshot, names: Sequence[str]) -> list[ChangedMessage]:
    """The messages that ``model`` holds otherwise than ``base``, without their tokens, ascending by digest.

    ``names`` are those of the two. SpamnbError where the difference is no sum, or the one did not grow from the other.
    """
    check_alike([base, model], names)
    if base.meta.get("pruned") != model.meta.get("pruned"):
        raise SpamnbError(f"{names[1]}: pruned since {names[0]}: what it learned cannot be told from what it dropped")
    before, after = states_of(base), states_of(model)
    gone = len(before.keys() - after.keys())
    if is_another(gone, len(before)):
        missing = f"{gone:,} of its {pluralize(len(before), 'message')} are not in {names[1]}"
        raise SpamnbError(f"{names[0]}: {missing}, which did not grow from it; --since names the model that it was")
    changed = [digest for digest in before.keys() | after.keys() if before.get(digest) != after.get(digest)]
    return [ChangedMessage(digest, before.get(digest), after.get(digest)) for digest in sorted(changed)]


def is_another(gone: int, messages: int) -> bool:
    """Do so many of a base's messages that a model lacks mean that it did not grow from it?"""
    return gone > max(2, MAX_GONE * messages)


def states_of(model: Snapshot) -> dict[bytes, MessageState]:
    """As what a model holds each message, by digest."""
    brought: dict[bytes, dict[str, int]] = {}
    if model.correction is not None:
        names, _, (digests, units) = model.correction
        for digest, row in zip(digests, units.tolist()):
            brought[digest] = {name: n for name, n in zip(names, row) if n}
    return {digest: MessageState(learned, brought.get(digest, {})) for digest, learned in model.messages}


def difference(base: Snapshot, model: Snapshot, messages: Sequence[ChangedMessage], names: Sequence[str]) -> Delta:
    """``model`` less ``base``: the ``messages`` of ``changed_messages``, with their tokens where these are known."""
    rest = without_messages(_less(base, model), messages)
    unknown = [message for message in messages if message.tokens is None]
    if not _may_be_of(rest, unknown):  # a message was read otherwise than when it was learned, as with pypdf elsewhere
        messages = [message._replace(tokens=None, identity=None) for message in messages]
        rest = _less(base, model)
    if rest and not messages:
        raise SpamnbError(f"{names[1]}: other counts than {names[0]} for the same messages; it did not grow from it")
    meta = {key: value for key, value in model.meta.items() if key not in OF_ONE_FILE or key == "pruned"}
    digests = [digest for digest, _ in base.messages]
    return Delta(meta, len(digests), sorted(digests)[:SAMPLE], messages, rest)


def _may_be_of(rest: Mapping[str, TokenSum], messages: Sequence[ChangedMessage]) -> bool:
    """May that be the sum of these messages?"""
    if not messages:
        return not rest
    most = Counter(label for message in messages for label in set(message.labels))
    return all(abs(held) <= most[name] for of in rest.values() for name, (held, _) in of.counts.items())


def _less(base: Snapshot, model: Snapshot) -> dict[str, TokenSum]:
    """The sums of ``model`` less those of ``base``, where they differ."""
    classes = tuple(sorted({*base.counts.classes, *model.counts.classes}))
    tokens, places = merge_vocabularies([base.tokens, model.tokens])
    aligned = [of.counts.reindex(at, len(tokens), classes) for of, at in zip((base, model), places)]
    counts = ClassCounts.sum([-aligned[0], aligned[1]])
    units: dict[int, dict[str, int]] = {}
    if base.correction is not None and model.correction is not None:
        names, weights, _ = CorrectionSums.sum([-base.correction, model.correction])
        held = np.isin(weights.keys, tokens.hashes)
        place = np.searchsorted(tokens.hashes, weights.keys[held]).tolist()
        units = {j: _without_0(zip(names, row)) for j, row in zip(place, weights.units[held].tolist())}
    of_token: defaultdict[int, dict[str, tuple[int, int]]] = defaultdict(dict)
    for name, row in zip(classes, counts.rows):
        for j, *pair in zip(*(values.tolist() for values in row)):
            of_token[j][name] = (pair[0], pair[1])
    differing = np.array(sorted(of_token.keys() | units.keys()), np.intp)
    text = list(tokens.take(differing))
    return {token: TokenSum(of_token.get(j, {}), units.get(j, {})) for token, j in zip(text, differing.tolist())}


def _without_0(units: Iterator[tuple[str, int]]) -> dict[str, int]:
    return {name: n for name, n in units if n}


def without_messages(rest: Mapping[str, TokenSum], messages: Sequence[ChangedMessage]) -> dict[str, TokenSum]:
    """A sum without those of ``messages`` whose tokens are known.

    >>> ham = MessageState(LearnedMessage("ham", True, {}), {})
    >>> one = ChangedMessage(bytes(16), None, ham, {"tea": 2})
    >>> without_messages({"tea": TokenSum({"ham": (2, 3)}, {})}, [one])
    {'tea': TokenSum(counts={'ham': (1, 1)}, units={})}
    """
    counts = {token: dict(of.counts) for token, of in rest.items()}
    units = {token: dict(of.units) for token, of in rest.items()}
    for message in messages:
        before, after = message.labels
        by = added_units(message.before, message.after)
        for token, n in (message.tokens or {}).items():
            for label, sign in ((before, 1), (after, -1)) if before != after else ():
                if label is not None:
                    of_token = counts.setdefault(token, {})
                    held, occurring = of_token.get(label, (0, 0))
                    of_token[label] = held + sign, occurring + sign * n
            for name, added in by.items():
                units.setdefault(token, {})[name] = units.get(token, {}).get(name, 0) - added
    found = {}
    for token in sorted(counts.keys() | units.keys()):
        held_by = {name: pair for name, pair in counts.get(token, {}).items() if any(pair)}
        of = TokenSum(held_by, _without_0(iter(units.get(token, {}).items())))
        if any(of):
            found[token] = of
    return found


def added_units(before: MessageState | None, after: MessageState | None) -> dict[str, int]:
    """By how much what a message brings to each of its tokens grows, by class."""
    gone, come = (state.brought if state else {} for state in (before, after))
    return _without_0((name, come.get(name, 0) - gone.get(name, 0)) for name in sorted(gone.keys() | come.keys()))


def settled(mine: MessageState | None, message: ChangedMessage, spam: str) -> MessageState | None:
    """What a message is where it was ``mine`` and another host tells of a change.

    Who changed its class stands against who did not. Where both did, that it was learned beats that it was forgotten, a
    person beats the filter, good mail beats ``spam``, and then the first name. This is an order of states, so all hosts
    come to the same one, in whatever order they are told.

    >>> spam, ham = (MessageState(LearnedMessage(label, True, {}), {}) for label in ("spam", "ham"))
    >>> label_of(settled(None, ChangedMessage(bytes(16), None, spam), "spam"))
    'spam'
    >>> label_of(settled(ham, ChangedMessage(bytes(16), None, spam), "spam"))
    'ham'
    """
    return min(mine, message.after, key=lambda state: _rank(state, message.before, spam))


def _rank(state: MessageState | None, before: MessageState | None, spam: str) -> tuple[Any, ...]:
    unchanged = state == before, label_of(state) == label_of(before)
    if state is None:
        return *unchanged, True
    label, taught, bins = state.learned
    facts = bins is None, sorted((bins or {}).items()), sorted(state.brought.items())
    return *unchanged, False, not taught, label == spam, label, *facts
