"""settings.py: what is refused, and that the model file gives back what was put in."""

import json
from typing import Any

import pytest

from spamnb.errors import SpamnbError
from spamnb.settings import COST_SETTINGS, SETTINGS, TOKEN_SETTINGS, Settings


def stored(settings: Settings) -> Any:
    """Return the settings that a model file has stored."""
    return json.loads(json.dumps(settings.as_meta()))


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"model_type": "hybrid"}, "model_type is 'hybrid': it must be "),
        ({"alpha": None}, "alpha is None: it must be "),
        ({"loss": {"strictness": 9}}, "strictness is 9: it must be "),
    ],
)
def test_settings_of_another_version_say_what_to_do(change: dict[str, object], found: str) -> None:
    with pytest.raises(SpamnbError, match=rf"^m: its settings do not fit this version of spamnb \({found}"):
        Settings.from_meta(stored(Settings()) | change, "m")
    with pytest.raises(SpamnbError, match=r"its tokens are of version 0.*'spamnb upgrade'"):
        Settings.from_meta(stored(Settings()) | {"tokens_version": 0}, "m")
    assert Settings.from_meta(stored(Settings()) | {"tokens_version": 0}, "m", any_tokens=True) == Settings()


def test_round_trip_through_json_and_what_follows_from_other_settings() -> None:
    all_chosen = Settings("bernoulli", 1.0, "sum", spam="junk", ngrams=2, strictness="strict", unsure_cost=0.2)
    summed, lda = Settings(pooling="sum"), Settings(model_type="lda")
    assert summed.model_type == "boolean", "a corrected model corrects the pooled mean"
    assert lda.embedding == "lsa:100"
    for settings in (all_chosen, summed, lda):
        assert Settings.from_meta(stored(settings), "m") == settings


def test_settings_of_an_older_file_with_a_prior_and_in_two_dictionaries_are_read() -> None:
    new, tokens = stored(Settings(alpha=3, ngrams=1, unsure_cost=0.2)), {}
    for name in TOKEN_SETTINGS:
        tokens[name] = new.pop(name)
    old = {**new, "prior": "uniform", "tokens": tokens, "loss": {name: new.pop(name) for name in COST_SETTINGS}}
    old = {key: value for key, value in old.items() if key not in COST_SETTINGS}
    assert Settings.from_meta(old, "m") == Settings(alpha=3, ngrams=1, unsure_cost=0.2)
    with pytest.raises(SpamnbError, match="do not fit this version"):
        Settings.from_meta({**old, "tokens": 5}, "m")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"model_type": "svm"}, "model_type is 'svm': it must be corrected, boolean, "),
        ({"alpha": float("nan")}, "above 0"),
        ({"alpha": 1e10}, "at most 1e"),
        ({"alpha": "1"}, "alpha is '1': it must be a number"),
        ({"model_type": "boolean", "embedding": "lsa:5"}, "has no embedding"),
        ({"model_type": "corrected", "pooling": "sum"}, "for pooling sum use model_type boolean"),
    ],
)
def test_refused_in_one_line(change: dict[str, object], says: str) -> None:
    with pytest.raises(SpamnbError, match=says) as error:
        Settings(**change)  # type: ignore[arg-type]
    assert "\n" not in str(error.value)


def test_every_default_may_be_given_as_text_and_so_may_other_values() -> None:
    usual = Settings().to_dict()
    assert {name: each.parse(each.shown_default) for name, each in SETTINGS.items()} == usual
    others = {"ngrams": "7", "alpha": "1e-3", "body_only": "true", "ignore_headers": "List-Id,xref", "spam": "a=b"}
    found = {name: SETTINGS[name].parse(text) for name, text in others.items()}
    assert list(found.values()) == [7, 0.001, True, ("List-Id", "xref"), "a=b"]
