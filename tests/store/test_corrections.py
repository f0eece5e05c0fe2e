"""store/corrections.py and correction_sums.py: weights of tokens in a file, against a plain dictionary of sums."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from spamnb.errors import SpamnbError
from spamnb.settings import Settings
from spamnb.store import store as stores
from spamnb.store.correction_sums import CorrectionSums, MessageUnits, TokenUnits
from spamnb.store.store import Store
from spamnb.tokens.token_array import TokenArray

META = Settings(model_type="corrected").as_meta()
NAMES = ("ham", "list", "spam")
TOKENS = [f"t{i}" for i in range(2_000)]


def filled(path: Path, rng: np.random.Generator) -> tuple[Store, dict[str, np.ndarray]]:
    """A file with weights as training writes them, and the same as a dictionary."""
    units = rng.integers(-1_000_000, 1_000_000, (len(TOKENS), 3))
    units[:, 0] = -units[:, 1:].sum(axis=1)
    found = TokenArray.of(TOKENS)
    order = np.argsort(found.hashes)
    store = Store.create(path, META)
    with store.writing():
        for name in NAMES:
            store.class_id(name)
        digests = [bytes([i]) * 16 for i in range(5)]
        weights = TokenUnits(found.hashes[order], units[order])
        store.corrections.put_whole(CorrectionSums(NAMES, weights, MessageUnits(digests, units[:5])))
    return store, dict(zip(TOKENS, units))


@pytest.mark.parametrize("cached", [None, 50])
def test_weights_are_sums_whatever_is_kept_in_memory(
    tmp_path: Path, cached: int | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if cached:
        monkeypatch.setattr(stores, "MAX_CACHED_TOKENS", cached)
    rng = np.random.default_rng(0)
    store, expected = filled(tmp_path / "m", rng)
    with store:
        for step in range(60):
            some = [TOKENS[i] for i in rng.choice(len(TOKENS), 20, replace=False)] + ["unheard"]
            found = store.corrections.look_up(some, NAMES)
            assert np.array_equal(found.T, [expected.get(token, np.zeros(3)) for token in some])
            change = {"ham": step - 30, "spam": 30 - step} if step % 2 else {"list": 5, "spam": -5}
            store.corrections.add(some, change)
            for token in some:
                expected[token] = expected.get(token, 0) + np.array([change.get(name, 0) for name in NAMES])
    with Store.open(tmp_path / "m") as store:
        store.preload()
        some = [*TOKENS, "unheard"]
        assert np.array_equal(store.corrections.look_up(some, NAMES).T, [expected[token] for token in some])
        assert np.array_equal(store.corrections.look_up(some, ("spam",))[0], [expected[token][2] for token in some])


def test_a_class_that_comes_later_has_no_weight_yet(tmp_path: Path) -> None:
    store, expected = filled(tmp_path / "m", np.random.default_rng(1))
    with store:
        store.corrections.add(TOKENS[:3], {"ham": 7, "spam": -7})
        store.class_id("new")
        found = store.corrections.look_up(TOKENS[:4], (*NAMES, "new"))
        assert not found[3].any() and found[0, 3] == expected["t3"][0] and found[0, 0] == expected["t0"][0] + 7
        store.corrections.add(TOKENS[:3], {"ham": -7, "spam": 7})
        keys, units = store.corrections.whole().weights
        found = TokenArray.of(TOKENS)
        order = np.argsort(found.hashes)
        assert np.array_equal(keys, found.hashes[order]), "what was taken back leaves nothing"
        assert np.array_equal(units[:, :3], [expected[TOKENS[i]] for i in order]) and not units[:, 3].any()


def test_what_a_message_brought_is_kept_by_its_digest(tmp_path: Path) -> None:
    store, expected = filled(tmp_path / "m", np.random.default_rng(2))
    with store:
        assert store.corrections.brought(bytes([3]) * 16) == dict(zip(NAMES, expected["t3"].tolist()))
        store.corrections.put_brought(b"x" * 16, {"ham": -2, "spam": 2})
        assert store.corrections.brought(b"x" * 16) == {"ham": -2, "spam": 2}
        store.corrections.put_brought(b"x" * 16, {})
        assert store.corrections.brought(b"x" * 16) == {}
        with pytest.raises(SpamnbError, match="brought more than a model file holds"):
            store.corrections.put_brought(b"x" * 16, {"ham": -(1 << 40), "spam": 1 << 40})


def test_the_sum_of_corrections_goes_by_the_names_of_classes() -> None:
    parts = [
        CorrectionSums(names, TokenUnits(np.array([1, key]), units), MessageUnits([digest], units[:1]))
        for names, key, units, digest in (
            (("ham", "spam"), 2, np.array([[1, -1], [2, -2]]), b"a" * 16),
            (("ham", "list"), 3, np.array([[10, -10], [20, -20]]), b"b" * 16),
        )
    ]
    names, weights, brought = CorrectionSums.sum(parts)
    assert names == ("ham", "list", "spam")
    of_keys = dict(zip(weights.keys.tolist(), weights.units.tolist()))
    assert of_keys == {1: [11, -10, -1], 2: [2, 0, -2], 3: [20, -20, 0]}
    assert dict(zip(brought.digests, brought.units.tolist())) == {b"a" * 16: [1, 0, -1], b"b" * 16: [10, -10, 0]}
    assert CorrectionSums.sum(parts).of_classes(names).used().classes == names
