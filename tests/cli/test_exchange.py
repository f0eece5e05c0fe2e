"""``export --since`` and ``import``: what hosts that began with one model tell each other."""

from __future__ import annotations

from pathlib import Path

from commands import run
from mail import learned_model, message


def test_hosts_tell_each_other_and_hold_the_same_lines(tmp_path: Path) -> None:
    base, one, other = (learned_model(tmp_path / name) for name in ("base", "one", "other"))
    assert run("learn", "spam", "-m", one, stdin=message("spam", 70)).exit_code == 0
    assert run("learn", "list", "-m", one, "--new-class", stdin=message("ham", 1)).exit_code == 0
    assert run("forget", "ham", "-m", other, stdin=message("ham", 2)).exit_code == 0
    told = run("export", "-m", one, "--since", base).stdout_bytes
    answer = run("export", "-m", other, "--since", base).stdout_bytes
    assert len(told) < len(run("export", "-m", one).stdout_bytes) / 2
    assert run("import", "-m", other, stdin=told).output == f"{other}: learned 1 message, moved 1 message\n"
    assert run("import", "-m", other, stdin=told).output == f"{other}: 2 messages known already\n"
    (tmp_path / "answer.jsonl").write_bytes(answer)
    # What the forgotten message had changed in the weights of another one is taken back, too.
    assert run("import", "-m", one, tmp_path / "answer.jsonl").output.startswith(f"{one}: forgot 1 message")
    assert run("export", "-m", one).stdout_bytes == run("export", "-m", other).stdout_bytes
    nothing = run("export", "-m", base, "--since", base).stdout_bytes
    assert run("import", "-m", base, stdin=nothing).output == f"{base}: nothing new\n"


def test_what_cannot_be_told_or_added_is_said_in_one_line(tmp_path: Path) -> None:
    base = learned_model(tmp_path / "base")
    told = run("export", "-m", base, "--since", base).stdout_bytes
    assert run("export", "-m", base, "--since", base, "--lessons").exit_code == 2
    assert run("import", "-m", base, "--force", stdin=told).exit_code == 2
    for arguments, given, said in [
        (("export", "-m", base, "--since", tmp_path / "none"), b"", "none: no model there"),
        (("import", "-m", tmp_path / "none"), told, "none: no model there"),
        (("import", "-m", base), told.splitlines()[0], "cut short"),
        (("import", "-m", base), told + b"\xff", "not text"),
        (("import", "-m", base), told.replace(b"tokens_version", b"tokens_edition"), "only models of one kind add up"),
    ]:
        result = run(*arguments, stdin=given)
        assert (result.exit_code, result.output.count("\n")) == (1, 1) and said in result.output, result.output
