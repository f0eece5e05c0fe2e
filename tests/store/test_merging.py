"""merging.py: a model of all mail is the sum of the models of its parts."""

import numpy as np
import pytest
from mail import mail, make_model, message, same_counts

from spamnb.errors import SpamnbError
from spamnb.store.merging import merge_models
from spamnb.store.snapshot import read_snapshot


def test_merging_is_learning_both() -> None:
    first, second = mail(4), [*[("spam", message("spam", n)) for n in range(20, 24)], ("list", message("ham", 30))]
    parts = [read_snapshot(make_model(part).store) for part in (first, second)]
    merged, repeated = merge_models(parts, ["a", "b"])
    whole = read_snapshot(make_model([*first, *second]).store)
    assert repeated == 0
    assert list(merged.block.tokens) == list(whole.block.tokens)
    assert same_counts(merged, whole)
    for name, histogram in zip(merged.model.class_ids, merged.model.histogram):
        models = [part.model for part in parts if name in part.model.class_ids]
        own = [model.histogram[model.class_ids[name]] for model in models]
        assert np.array_equal(histogram, np.sum(own, axis=0)), name
    assert merged.model.histogram.any()
    assert sorted(digest for digest, _ in merged.messages) == [digest for digest, _ in whole.messages]


def test_merging_tells_what_was_learned_twice_and_refuses_other_kinds() -> None:
    model = read_snapshot(make_model(mail(2)).store)
    assert merge_models([model, model], ["a", "b"])[1] == 4
    with pytest.raises(SpamnbError, match="b: its alpha differs from the alpha of a"):
        merge_models([model, read_snapshot(make_model(mail(2), alpha=1.0).store)], ["a", "b"])
