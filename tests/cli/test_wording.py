"""What a caller may choose is called an argument in Python and an option on the command line."""

from pathlib import Path

import pytest
from commands import run
from mail import mail, message, write_folders

import spamnb
from spamnb.errors import SpamnbError


def test_an_error_names_options_on_the_command_line_alone(tmp_path: Path) -> None:
    empty, folder = tmp_path / "{m}", write_folders(tmp_path / "mail", mail(3))
    empty.touch()
    said = f"{empty}: no model, and only a model is replaced; %s names another"
    with pytest.raises(SpamnbError) as caught:
        spamnb.train(folder, empty, force=True)
    assert str(caught.value) == said % "model"
    assert run("train", "--force", folder, "-m", empty).stderr == f"Error: {said % '--model'}\n"


def test_the_error_of_a_missing_model_names_no_option(model: Path, tmp_path: Path) -> None:
    """The path may be that of an argument, as in 'merge', or of another option."""
    missing = tmp_path / "missing"
    said = f"{missing}: no model there; name another file, or make one with 'spamnb train'\n"
    raw = message("ham", 1)
    for command in ("words -m", f"merge -m {tmp_path / 'both'} {model}", f"learn ham -m {tmp_path / 'new'} --shared"):
        assert run(*command.split(), missing, stdin=raw).stderr == f"Error: {said}"
    mail_on = run("filter", "-m", missing, stdin=raw)
    assert (mail_on.exit_code, mail_on.stderr) == (0, f"spamnb: {said}")
    assert f"X-Spam-Warning: not classified: {said.strip()}" in " ".join(mail_on.stdout.split())


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
