"""What a page says of its origin: the time where it was made, and the settings that are not as usual."""

from dataclasses import fields
from datetime import datetime, timedelta, timezone

from spamnb import __version__
from spamnb.formulas.decision import Loss
from spamnb.reader.options import TokenOptions
from spamnb.report.provenance import provenance
from spamnb.settings import Settings


def test_the_date_has_its_offset() -> None:
    there = datetime(2026, 3, 1, 9, 5, 59, tzinfo=timezone(timedelta(hours=-5)))
    assert provenance("", "", Settings(), there).date == "2026-03-01 09:05 -0500"
    now = datetime.strptime(provenance("", "", Settings()).date, "%Y-%m-%d %H:%M %z")
    assert timedelta(0) <= datetime.now().astimezone() - now < timedelta(minutes=2)


def test_every_setting_is_said_once_and_what_is_not_usual_beside_what_is() -> None:
    chosen = Settings(
        top_words=500,
        tokens=TokenOptions(stem="english", body_only=True, ignore_headers=()),
        loss=Loss(false_positive_cost=2.5),
    )
    made = provenance("spamnb evaluate", "here", chosen)
    names = [field.name for kind in (Settings, TokenOptions, Loss) for field in fields(kind)]
    assert sorted(name for name, _ in made.settings) == sorted(
        name.replace("_", " ") for name in names if name not in ("tokens", "loss")
    )
    said = dict(made.settings)
    assert said["top words"] == "500 (default none)" and said["stem"] == "english (default none)"
    assert said["body only"] == "yes (default no)" and said["false positive cost"] == "2.5 (default 9)"
    assert said["ignore headers"] == "none (default newsgroups, xref, path)"
    assert said["alpha"] == "0.1" and said["unsure cost"] == "none"
    assert (made.command, made.model, made.version) == ("spamnb evaluate", "here", __version__)
