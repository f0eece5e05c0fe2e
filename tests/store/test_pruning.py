"""pruning.py: what is taken out is what the rule says, to the last sum, and a pruned model still learns and forgets."""

from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from mail import make_counts, make_store, rewrite_as_trained, without_months

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.store import hard_examples
from spamnb.store.jsonl import export
from spamnb.store.pruning import count_prunable, prune
from spamnb.store.records import read_all_learned
from spamnb.store.snapshot import read_snapshot
from spamnb.store.store import Store
from spamnb.store.token_table import this_month

WORDS = list("abcdefghij")
LESSON = st.tuples(st.sampled_from(["ham", "spam"]), st.dictionaries(st.sampled_from(WORDS), st.integers(1, 3)))


def sums_of(store: Store) -> list[str]:
    return [line for line in without_months(export(store)) if '"meta"' not in line]


@settings(max_examples=30, deadline=None)
@given(st.lists(LESSON, max_size=8), st.lists(LESSON, max_size=8))
def test_pruned_is_what_a_model_of_messages_without_the_rare_tokens_is(first: list, then: list) -> None:
    store = rewrite_as_trained(make_store(first))
    for label, tokens in then:
        store.add(label, make_counts(tokens))
    held = Counter(token for _, tokens in [*first, *then] for token in tokens)
    rare = {token for token, n in held.items() if n == 1}
    without = [(label, {t: n for t, n in tokens.items() if t not in rare}) for label, tokens in [*first, *then]]
    told = count_prunable(store, 0)
    assert prune(store, 0) == told == len(rare)
    oracle = make_store(without)
    assert sums_of(store) == sums_of(oracle)
    assert store.frequencies() == oracle.frequencies()
    assert store.look_up(WORDS).positions.tolist() == oracle.look_up(WORDS).positions.tolist()


def test_tokens_of_lessons_of_the_last_months_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    store = rewrite_as_trained(make_store([("ham", {"a": 1, "b": 1}), ("spam", {"b": 1})]))
    now = this_month()
    for ago, token in ((7, "c"), (3, "d"), (0, "e")):
        monkeypatch.setattr("spamnb.store.token_table.this_month", lambda ago=ago: now - ago)
        store.add("ham", make_counts({token: 1}))
    assert count_prunable(store, 6) == 2  # "a" of training and "c"
    assert prune(store, 6) == 2
    assert sorted(read_snapshot(store).tokens) == ["b", "d", "e"]
    assert prune(store, 1) == 1
    assert sorted(read_snapshot(store).tokens) == ["b", "e"]


@settings(max_examples=30, deadline=None)
@given(st.lists(LESSON, min_size=1, max_size=6), st.lists(LESSON, max_size=4), st.data())
def test_forgetting_in_a_pruned_model_leaves_sums_that_can_be(first: list, then: list, data: st.DataObject) -> None:
    store = rewrite_as_trained(make_store(first))
    prune(store, 0)
    for label, tokens in then:
        store.add(label, make_counts(tokens))
    messages = [*first, *then]
    for n in data.draw(st.lists(st.sampled_from(range(len(messages))), unique=True)):
        store.add(messages[n][0], make_counts(messages[n][1]), -1)
        read_snapshot(store)  # Damaged where the sums do not add up, or are below 0
        store.look_up(WORDS)


def letter(words: list[str]) -> bytes:
    return f"Subject: {words[0] if words else 'none'}\n\n{' '.join(words)}\n".encode()


LETTER = st.tuples(st.sampled_from(["ham", "spam"]), st.lists(st.sampled_from(WORDS), min_size=1, max_size=5))


def weights_of(store: Store) -> dict[int, list[int]]:
    hashes, classes = store.cells()[0].tolist(), list(store.class_ids())
    weights = store.weights(store.cells()[0], classes).T.tolist()
    return {key: units for key, units in zip(hashes, weights) if any(units)}


def contributions(store: Store) -> dict[bytes, dict[str, int]]:
    return {digest: {**learned.contribution} for digest, learned in read_all_learned(store) if learned.contribution}


@settings(max_examples=25, deadline=None)
@given(st.lists(LETTER, min_size=4, max_size=14), st.lists(LETTER, max_size=6))
@example(  # a pruned token that came back keeps the contributions of others than the first message
    [
        *((label, [*words, f"{label}{n}"]) for n in range(3) for label, words in (("ham", "ab"), ("spam", "cd"))),
        ("spam", ["a", "c", "rare"]),
    ],
    [("ham", ["b", "d", "rare"])],
)
def test_weights_of_a_correction_go_with_their_tokens(first: list, then: list) -> None:
    """What stays is as it was, what is forgotten afterwards leaves, and after the last message nothing is left."""
    classifier = Classifier.create(":memory:", Settings(model_type="corrected"))
    store, known = classifier.store, {}
    for label, words in first:
        known[letter(words)] = label
        classifier.learn(label, letter(words))
    before, each = weights_of(store), contributions(store)
    told = count_prunable(store, 0)
    assert prune(store, 0) == told
    kept = set(read_snapshot(store).tokens.hashes.tolist())
    assert weights_of(store) == {key: units for key, units in before.items() if key in kept}
    assert contributions(store) == each, "a contribution is kept once a message"
    for number in range(1, 20):
        hard = hard_examples.read_example(store, number)
        assert hard is None or set(hard.hashes.tolist()) <= kept
    for label, words in then:
        known[letter(words)] = label
        classifier.learn(label, letter(words))
    for raw, label in known.items():
        classifier.forget(label, raw)
        assert set(weights_of(store)) <= set(read_snapshot(store).tokens.hashes.tolist())
    assert not weights_of(store) and not contributions(store)


def test_models_whose_tokens_are_more_than_sums_are_refused() -> None:
    with pytest.raises(SpamnbError, match="a lda model cannot be pruned"):
        count_prunable(make_store([], **Settings("lda", embedding="lsa:5").as_meta()), 0)
