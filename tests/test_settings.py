"""settings.py: what is refused, and that the model file gives back what was put in."""

from __future__ import annotations

import json

import pytest

from spamnb.errors import SpamnbError
from spamnb.formulas.decision import Loss
from spamnb.settings import Settings
from spamnb.tokens.tokenizer import TokenOptions


def test_a_model_of_a_type_that_is_no_longer_made_says_what_to_do() -> None:
    meta = json.loads(json.dumps(Settings(alpha=2).as_meta()))
    with pytest.raises(SpamnbError, match="m: a hybrid model, which spamnb no longer makes"):
        Settings.from_meta({**meta, "model_type": "hybrid"}, "m")
    anew = Settings.from_meta({**meta, "model_type": "hybrid", "tokens_version": 1}, "m", any_tokens=True)
    assert anew == Settings(alpha=2)
    for kind in ("", "bayes", 7):
        with pytest.raises(SpamnbError, match=f"^m: its settings are not those of this spamnb \\(model type '{kind}'"):
            Settings.from_meta({**meta, "model_type": kind}, "m")


def test_round_trip_through_json() -> None:
    settings = Settings(
        "bernoulli", 1.0, "uniform", "sum", 50, spam="junk", tokens=TokenOptions(ngrams=2), loss=Loss(3, 0.2)
    )
    rare = Settings(model_type="boolean", min_messages=3)
    assert Settings.from_meta(json.loads(json.dumps(rare.as_meta())), "m") == rare
    assert "min_messages" not in settings.as_meta(), "a file that knows of no choice is the same"
    assert Settings(model_type="lda").embedding == "lsa:100"
    assert Settings.from_meta(json.loads(json.dumps(settings.as_meta())), "m") == settings


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "svm"}, "model type 'svm' is not one of"),
        ({"alpha": 0.0}, "must be above 0"),
        ({"alpha": float("nan")}, "must be above 0"),
        ({"alpha": float("inf")}, "at most 1e"),
        ({"alpha": 1e10}, "at most 1e"),
        ({"tokens": TokenOptions(ngrams=10**9)}, "at most 75"),
        ({"prior": "flat"}, "prior 'flat' is not one of"),
        ({"pooling": "max"}, "pooling 'max' is not one of"),
        ({"top_words": 0}, "at least 1"),
        ({"model_type": "boolean", "embedding": "lsa:5"}, "has no embedding"),
        ({"min_messages": 0}, "1 to 1,000"),
        ({"min_messages": 2, "model_type": "corrected"}, "have weights beside their counts.*--model-type boolean, mul"),
        ({"min_messages": 2, "model_type": "boolean", "top_words": 9}, "both choose tokens"),
    ],
)
def test_refused_in_one_line(change: dict[str, object], says: str) -> None:
    with pytest.raises(SpamnbError, match=says) as error:
        Settings(**change)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_other_tokens_are_refused() -> None:
    meta = Settings().as_meta() | {"tokens_version": 0}
    with pytest.raises(SpamnbError, match="trained with tokens of version 0"):
        Settings.from_meta(meta, "m")
