"""The month in which a token was last taught goes with the token, out of one file and into another."""

import json

import pytest
from mail import import_store, make_counts, make_store, rewrite_as_trained

from spamnb.errors import SpamnbError
from spamnb.store.jsonl import export
from spamnb.store.merging import merge_models
from spamnb.store.pruning import count_prunable, prune, read_months
from spamnb.store.snapshot import read_snapshot, write_snapshot
from spamnb.store.store import Store
from spamnb.store.token_table import this_month


@pytest.fixture
def taught(monkeypatch: pytest.MonkeyPatch) -> Store:
    """Training has "a" and "b"; "c" was taught seven months ago, "d" three, and "e" now."""
    store, now = rewrite_as_trained(make_store([("ham", {"a": 1, "b": 1}), ("spam", {"b": 1})])), this_month()
    for ago, token in ((7, "c"), (3, "d"), (0, "e")):
        monkeypatch.setattr("spamnb.store.token_table.this_month", lambda ago=ago: now - ago)
        store.add("ham", make_counts({token: 1}))
        store.write_changes()
    return store


def left(store: Store, months: int) -> list[str]:
    """Return the model after pruning."""
    said = count_prunable(store, months)
    assert prune(store, months) == said
    return sorted(read_snapshot(store).tokens)


def test_pruning_after_an_export_and_import_is_pruning_before(taught: Store) -> None:
    again = import_store(export(taught))
    assert read_months(again) == read_months(taught) and len(read_months(again)) == 3
    assert left(again, 6) == left(taught, 6) == ["b", "d", "e"]


def test_a_merged_token_was_taught_when_the_last_of_its_models_was(taught: Store) -> None:
    now, other = this_month(), make_store([("ham", {"c": 1})])
    merged = Store.create(":memory:", read_snapshot(taught).meta)
    write_snapshot(merged, merge_models([read_snapshot(taught), read_snapshot(other)], ["a", "b"])[0])
    held = dict(zip(read_snapshot(merged).tokens, read_snapshot(merged).tokens.hashes.tolist()))
    assert read_months(merged) == {held["c"]: now, held["d"]: now - 3, held["e"]: now}
    assert left(merged, 2) == ["b", "c", "e"]  # two messages hold "c"


@pytest.mark.parametrize("month", [-1, 1 << 63, "24000", True, None])
def test_a_month_that_is_none_is_refused(taught: Store, month: object) -> None:
    lines = [json.loads(line) for line in export(taught)]
    next(line for line in lines if "month" in line)["month"] = month
    with pytest.raises(SpamnbError, match=r"line 6 .*a month that is not a whole number"):
        import_store(map(json.dumps, lines))
