"""The file of passwords: private, hashed, and refused where it is not."""

from __future__ import annotations

import pytest
from commands import run

from spamnb.errors import SpamnbError
from spamnb.review.passwords import Passwords, set_password


def test_a_password_is_kept_as_a_hash_that_only_it_fits(tmp_path):
    path = tmp_path / "folder" / "passwords"
    set_password(path, "ann", "correct horse")
    set_password(path, "bob", "correct horse")
    assert "correct" not in path.read_text() and path.stat().st_mode & 0o777 == 0o600
    known = Passwords(path)
    assert known.check("ann", "correct horse") and not known.check("ann", "correct hors")
    assert not known.check("eve", "correct horse") and not known.check("ann", "")
    set_password(path, "ann", "battery staple")
    assert known.check("ann", "battery staple") and known.check("bob", "correct horse")


def test_a_file_that_others_read_is_refused(tmp_path):
    path = tmp_path / "passwords"
    set_password(path, "ann", "correct horse")
    path.chmod(0o640)
    with pytest.raises(SpamnbError, match="chmod 600"):
        Passwords(path)
    path.chmod(0o600)
    path.write_text('{"ann": {"salt": "x"}}')
    with pytest.raises(SpamnbError, match="no file of passwords"):
        Passwords(path)


def test_the_command_sets_one_and_refuses_what_would_not_be_safe(tmp_path):
    path = tmp_path / "passwords"
    journal = ("review", "--journal", tmp_path / "journal", "--passwords", path)
    assert "--set-password" in run(*journal).stderr
    assert run("review", "--set-password", "--passwords", path, stdin=b"short\n").exit_code == 1
    assert run("review", "--set-password", "--user", "../x", "--passwords", path, stdin=b"long enough\n").exit_code == 1
    assert not path.exists()
    assert run("review", "--set-password", "--passwords", path, stdin=b"long enough\n").exit_code == 0
    assert Passwords(path).check("admin", "long enough")
    for wrong in (["--host", "0.0.0.0"], ["--key", "x"], ["--user", "ann"]):
        assert run(*journal, *wrong).exit_code == 2
    assert run("review").exit_code == 2
    assert run(*journal, "-m", tmp_path / "none").exit_code == 1
