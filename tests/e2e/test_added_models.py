"""A model that adds to another, by the commands: how it is made, what each says of it, and how it is made again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import output_of, run
from mail import count_messages, mail, message, train_file

from spamnb import SpamClassifier
from spamnb.errors import SpamnbError
from spamnb.settings import Settings


def test_upgrade_learns_the_models_of_all_users_again_though_one_fails(shared: Path, tmp_path: Path) -> None:
    users, raw = tmp_path / "users", message("ham", 99)
    users.mkdir()
    for name in ("ann", "bob"):
        output_of("learn", "-m", users / f"{name}.spamnb", "--shared", shared, "spam", stdin=raw)
    (users / "eve.spamnb").write_text("no model")
    train_file(shared, count_messages(mail(30)), Settings(ngrams=1), force=True)
    result = run("upgrade", "-m", shared, "--models", users)
    assert result.exit_code == 1 and [line for line in result.stderr.splitlines() if "eve" in line]
    lines = [f"{users}/{name}.spamnb: trained again on 1 lesson that it keeps" for name in ("ann", "bob")]
    assert result.stdout.splitlines()[1:] == lines
    (users / "eve.spamnb").unlink()
    result = run("upgrade", "-m", shared, "--models", users)
    assert result.exit_code == 0 and result.stdout.count("nothing to do") == 3
    assert spam_probability(users / "ann.spamnb", raw) > spam_probability(shared, raw)


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    train_file(tmp_path / "shared", count_messages(mail(30)), Settings())
    return tmp_path / "shared"


def spam_probability(model: Path, raw: bytes) -> float:
    return float(json.loads(output_of("classify", "-m", model, "--format", "json", stdin=raw))["probabilities"]["spam"])


def test_a_file_of_lessons_is_made_read_set_and_moved_like_any_model(shared: Path, tmp_path: Path) -> None:
    user, raw, content = tmp_path / "user", message("ham", 99), shared.read_bytes()
    made = run("learn", "-m", user, "--shared", shared, "spam", stdin=raw)
    assert made.exit_code == 0 and f"a new model, {user}, that adds to {shared}" in made.stderr
    assert output_of("learn", "-m", user, "spam", stdin=raw) == "learned 0 of 1 as spam; 1 already learned\n"
    before, after = (spam_probability(model, raw) for model in (shared, user))
    assert after > before
    said = output_of("info", "-m", user)
    assert f"adds to: {shared}; a lesson counts as 1 message there" in said
    assert "  ham: 0 messages; of the other model: 30\n" in said
    assert "  spam: 1 message; lessons: 1; of the other model: 30\n" in said
    found = json.loads(output_of("info", "-m", user, "--format", "json"))
    assert found["messages"].get("spam") == 1 and found["adds_to"]["messages"] == {"ham": 30, "spam": 30}
    output_of("set", "-m", user, "strictness=cautious")
    assert "strictness" in output_of("info", "-m", user) and "strictness" not in output_of("info", "-m", shared)
    (tmp_path / "lines").write_text(output_of("export", "-m", user))
    output_of("import", "-m", tmp_path / "copy", tmp_path / "lines")
    assert output_of("classify", "-m", tmp_path / "copy", stdin=raw) == output_of("classify", "-m", user, stdin=raw)
    assert output_of("forget", "-m", user, "spam", stdin=raw) == "forgot 1 of 1 from spam\n"
    assert spam_probability(user, raw) == before
    assert shared.read_bytes() == content


def test_what_cannot_be_added_is_told_in_a_line(shared: Path, tmp_path: Path) -> None:
    user, raw = tmp_path / "user", message("ham", 99)
    assert run("learn", "-m", user, "--shared", shared, "spma", stdin=raw).exit_code == 1 and not user.exists()
    output_of("learn", "-m", user, "--shared", shared, "spam", stdin=raw)
    assert "--shared is for a new model" in run("learn", "-m", user, "--shared", shared, "spam", stdin=raw).stderr
    with pytest.raises(SpamnbError, match=r"adds to another model; load that model instead: ."):
        SpamClassifier.load(user)
    shared.rename(tmp_path / "gone")
    assert "shared, where no model is; restore that model" in run("classify", "-m", user, stdin=raw).stderr


def test_upgrade_learns_again_what_was_taught_once_the_shared_model_has_other_tokens(
    shared: Path, tmp_path: Path
) -> None:
    user, raw = tmp_path / "user", message("ham", 99)
    output_of("learn", "-m", user, "--shared", shared, "spam", stdin=raw)
    assert "nothing to do" in output_of("upgrade", "-m", user)
    train_file(shared, count_messages(mail(30)), Settings(ngrams=1), force=True)
    assert "'spamnb upgrade' trains it again" in run("classify", "-m", user, stdin=raw).stderr
    assert output_of("upgrade", "-m", user) == f"{user}: trained again on 1 lesson that it keeps\n"
    assert output_of("learn", "-m", user, "spam", stdin=raw) == "learned 0 of 1 as spam; 1 already learned\n"
    fresh = tmp_path / "fresh"
    output_of("learn", "-m", fresh, "--shared", shared, "spam", stdin=raw)
    assert output_of("classify", "-m", fresh, stdin=raw) == output_of("classify", "-m", user, stdin=raw)
