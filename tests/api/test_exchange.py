"""api/exchange.py: hosts that tell each other what they learned hold the same model in the end."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from mail import folders, mail, message

import spamnb
from spamnb.api.exchange import TakenIn, learned_since, take_in
from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.store.delta import Delta
from spamnb.store.delta_lines import delta_lines, parse_delta
from spamnb.store.jsonl import export
from spamnb.store.store import open_store

TRAINED, BASE_LESSONS = mail(12), [("spam", message("spam", n)) for n in range(100, 104)]
NEW = [message(label, n) for n in range(200, 204) for label in ("ham", "spam")]
MODELS = ["boolean", "multinomial", "bernoulli", "corrected"]


@pytest.fixture(scope="module", params=MODELS)
def base(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model that was trained on mail, and was taught a little."""
    folder = tmp_path_factory.mktemp(request.param)
    path = folder / "base.spamnb"
    spamnb.train(folders(folder / "mail", TRAINED), model=path, model_type=request.param, workers=1)
    with Classifier.open(path, writable=True) as classifier:
        for label, raw in BASE_LESSONS:
            classifier.learn(label, raw)
    return path


def copies(base: Path, folder: Path, names: str) -> list[Path]:
    return [Path(shutil.copy(base, folder / name)) for name in names]


def told(model: Path, base: Path) -> Delta:
    """What it learned since, written and read."""
    return parse_delta(list(delta_lines(learned_since(model, base))), "delta")


def add(model: Path, delta: Delta) -> TakenIn:
    with Classifier.open(model, writable=True) as classifier:
        return take_in(classifier, delta, "delta")


def lines(model: Path) -> list[str]:
    """All that a model holds; what filters learned by themselves stands in the order in which each was told."""
    with open_store(model) as store:
        return sorted(export(store))


def without_calibration(found: Iterable[str]) -> list[str]:
    return [line for line in found if "calibration" not in json.loads(line)]


def counts(model: Path) -> list[str]:
    """The sums, and the class of each message."""
    kept = ("class", "documents", "token", "counts", "message")
    records = [{key: value for key, value in json.loads(line).items() if key in kept} for line in lines(model)]
    return sorted(json.dumps(record) for record in records if record.keys() - {"message", "token"})


LESSON = st.tuples(
    st.sampled_from(["learn", "learn", "learn", "autolearn", "forget"]),
    st.sampled_from(["ham", "spam", "list"]),
    st.sampled_from([*NEW, *(raw for _, raw in BASE_LESSONS)]),
)
MOVES = st.lists(st.tuples(st.sampled_from(["ham", "spam", "list"]), st.sampled_from(TRAINED)), max_size=2)


def teach(model: Path, lessons: Iterable[tuple[str, str, bytes]]) -> None:
    with Classifier.open(model, writable=True) as classifier:
        for what, label, raw in lessons:
            if what == "forget":
                if known := classifier.learned(raw):
                    classifier.forget(known, raw)
            else:
                classifier.learn(label, raw, taught=what == "learn")


@settings(max_examples=5, deadline=None, derandomize=True, phases=[Phase.generate])  # one takes a second
@given(st.lists(st.lists(LESSON, max_size=8), min_size=3, max_size=3), MOVES, st.permutations(range(3)), st.data())
def test_hosts_that_told_each_other_hold_one_model(
    base: Path,
    tmp_path_factory: pytest.TempPathFactory,
    lessons: list[list[tuple[str, str, bytes]]],
    moves: list[tuple[str, tuple[str, bytes]]],
    order: list[int],
    data: st.DataObject,
) -> None:
    hosts = copies(base, tmp_path_factory.mktemp("hosts"), "abc")
    for host, of_host in zip(hosts, lessons):
        teach(host, of_host)
    teach(hosts[0], [("learn", label, raw) for label, (_, raw) in moves])
    deltas = [told(host, base) for host in hosts]
    for host in hosts:
        for n in data.draw(st.permutations(order)):
            add(host, deltas[n])
    again = base.with_name("again")
    shutil.copy(base, again)
    for n in order:
        add(again, deltas[n])
    expected = lines(hosts[0]) if not moves else without_calibration(lines(hosts[0]))
    for model in (*hosts[1:], again):
        assert (lines(model) if not moves else without_calibration(lines(model))) == expected
    known = {raw: label for label, raw in TRAINED}
    with Classifier.open(hosts[0]) as classifier:
        final = [(classifier.learned(raw), raw) for raw in [*known, *(raw for _, raw in BASE_LESSONS), *NEW]]
        settings_ = classifier.settings
    whole = base.with_name("whole")
    whole.unlink(missing_ok=True)
    with Classifier.create(whole, settings_) as classifier:
        for label, raw in final:
            if label:
                classifier.learn(label, raw)
    assert counts(whole) == counts(hosts[0])  # what a model that learned all of it counted
    before = lines(hosts[1])
    assert add(hosts[1], told(hosts[1], base)).learned == 0 and add(hosts[1], deltas[0]).moved == 0
    assert lines(hosts[1]) == before


def test_what_only_one_sum_tells_is_added_as_a_whole(base: Path, tmp_path: Path) -> None:
    one, other, third = copies(base, tmp_path, "abc")
    teach(one, [("forget", "", raw) for _, raw in TRAINED[:3]])  # whose words nobody has any more
    teach(one, [("learn", "spam", NEW[0])])
    delta = told(one, base)
    assert [message.tokens is None for message in delta.messages].count(True) == 3 and delta.rest
    assert add(other, delta) == TakenIn(learned=1, forgotten=3)
    assert add(other, delta) == TakenIn(known=4)
    assert without_calibration(lines(other)) == without_calibration(lines(one))
    teach(third, [("forget", "", TRAINED[0][1])])
    before = lines(third)
    with pytest.raises(SpamnbError, match=r"of 3 messages that it has in one sum .*c knows 1, which cannot be told"):
        add(third, delta)
    assert lines(third) == before


def test_what_a_model_does_not_keep_is_told_in_one_sum(base: Path, tmp_path: Path) -> None:
    one, other = copies(base, tmp_path, "ab")
    one.chmod(0o644)  # whole letters are not kept where everybody may read them
    teach(one, [("learn", "spam", NEW[0]), ("learn", "ham", NEW[2]), ("learn", "spam", NEW[2])])
    teach(other, [("learn", "spam", NEW[0])])  # of which this one can tell the words
    delta = told(one, base)
    assert all(message.tokens is None for message in delta.messages)
    assert add(other, delta) == TakenIn(learned=1, known=1)
    add(one, told(other, base))
    assert lines(one) == lines(other)


def test_a_new_base_is_what_all_were_told(base: Path, tmp_path: Path) -> None:
    one, other, newer = copies(base, tmp_path, "abn")
    teach(one, [("learn", "spam", NEW[0])])
    teach(other, [("learn", "ham", NEW[1])])
    deltas = [told(one, base), told(other, base)]
    for model in (one, other, newer):
        for delta in deltas:
            add(model, delta)
    teach(one, [("forget", "", NEW[0]), ("learn", "spam", NEW[1])])
    delta = told(one, newer)
    assert len(delta.messages) == 2
    assert add(other, delta) == TakenIn(moved=1, forgotten=1)
    assert without_calibration(lines(one)) == without_calibration(lines(other))


def test_models_of_another_base_are_refused_in_one_line(base: Path, tmp_path: Path) -> None:
    one, other = copies(base, tmp_path, "ab")
    teach(one, [("learn", "spam", NEW[0])])
    stranger = tmp_path / "stranger"
    with Classifier.open(base) as classifier:
        own, settings_ = classifier.settings.model_type, classifier.settings
    with Classifier.create(stranger, settings_) as classifier:
        for label, raw in mail(3):
            classifier.learn(label, raw)
    with pytest.raises(SpamnbError, match=r"delta: of another base: .*stranger lacks 22 of 28 messages"):
        add(stranger, told(one, base))
    with pytest.raises(SpamnbError, match=r"base.spamnb: 22 of its 28 messages are not in .*stranger, which did not"):
        learned_since(stranger, base)
    with open_store(other, writable=True) as store:
        store.put_meta({"pruned": {"month": 1}})
    with pytest.raises(SpamnbError, match=r"b: pruned since .*base.spamnb"):
        learned_since(other, base)
    with pytest.raises(SpamnbError, match=r"b: pruned, and the base of the two not"):
        add(other, told(one, base))
    different = tmp_path / "different"
    Classifier.create(different, replace(settings_, model_type="boolean" if own != "boolean" else "bernoulli")).close()
    with pytest.raises(SpamnbError, match="delta: its model_type differs"):
        add(different, told(one, base))
