"""What a caller may choose is called an argument in Python and an option on the command line."""

from pathlib import Path

import pytest
from commands import run
from mail import message, write_folders

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
    assert f"X-Spam-Warning: not classified: {said % '--model'}" in " ".join(mail_on.stdout.split())


def test_words_of_mail_without_a_word_says_how_to_see_the_rest(tmp_path: Path) -> None:
    model, told = tmp_path / "m", list[str]()
    headers = [(label, f"From: {label}{n}@{label}.example\n\n".encode()) for label in ("ham", "spam") for n in range(3)]
    spamnb.train(write_folders(tmp_path / "mail", headers), model, starter=False)
    said = f"{model}: no token is a word of text; %s shows all kinds of evidence"
    report = spamnb.words(model, tell=told.append)
    assert told == [said % "everything=True"]
    assert report.to_dict() == {"likeliest": {"ham": [], "spam": []}, "informative": []}
    printed = run("words", "-m", model)
    assert (printed.exit_code, printed.stderr) == (0, f"spamnb: {said % '--all'}\n"), printed.output
    assert str(report) == printed.stdout
    assert "from:" in run("words", "--all", "-m", model).stdout
