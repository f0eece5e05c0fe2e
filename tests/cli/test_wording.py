"""What a caller may choose is called an argument in Python and an option on the command line."""

from pathlib import Path

import pytest
from commands import run
from mail import message

import spamnb
from spamnb.errors import SpamnbError


def test_an_error_names_options_on_the_command_line_alone(tmp_path: Path) -> None:
    missing = tmp_path / "{m}"
    said = f"{missing}: no model there; 'spamnb train' makes one, %s names another"
    with pytest.raises(SpamnbError) as caught:
        spamnb.words(missing)
    assert str(caught.value) == said % "model"
    assert run("words", "-m", missing).stderr == f"Error: {said % '--model'}\n"
    mail_on = run("filter", "-m", missing, stdin=message("ham", 1))
    assert (mail_on.exit_code, mail_on.stderr) == (0, f"spamnb: {said % '--model'}\n")
    assert f"X-Spam-Warning: not judged: {said % '--model'}" in " ".join(mail_on.stdout.split())
