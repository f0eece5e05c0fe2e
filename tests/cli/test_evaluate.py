"""``spamnb evaluate`` as a person runs it: every protocol, what it writes, and refusals in one line."""

import json
import shlex
from html import unescape
from pathlib import Path

import commands
import pytest
from click.testing import Result
from mail import add_dates, mail, write_folders

from spamnb.filter import Classifier

EACH = 40


def run(*arguments: object) -> Result:
    return commands.run("evaluate", *arguments)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folders(tmp_path_factory.mktemp("mail"), add_dates(mail(EACH)))


def test_text_scores_and_page(folder: Path, tmp_path: Path) -> None:
    one = run("--folds", 4, "--scores", tmp_path / "one.tsv", "--report", tmp_path / "page.html", folder)
    assert one.exit_code == 0 and "hm%" in one.output and "1-ROCA" in one.output
    assert (tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert one.stderr.endswith(f"wrote {tmp_path / 'page.html'}\n")
    _, *written = (tmp_path / "one.tsv").read_text().splitlines()
    assert len(written) == 2 * EACH and all(line.split("\t")[0].endswith(".eml") for line in written)
    modes = {(tmp_path / name).stat().st_mode & 0o777 for name in ("one.tsv", "page.html")}
    assert modes == {0o600}, "they are as private as mail"


def test_the_page_says_its_command_and_the_model(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page, model = tmp_path / "page.html", tmp_path / "a model"
    other = write_folders(tmp_path / "other", mail(20))
    assert commands.run("train", "--set", "model_type=multinomial", "-m", model, other).exit_code == 0
    for options, made in (
        (["--folds", "4", "--set", "alpha=0.5"], ["corrected, trained on parts of this mail", "0.5 (default 0.1)"]),
        (["-m", str(model)], [f"{model}, as it is", "multinomial (default corrected)"]),
    ):
        arguments = ["evaluate", *options, "--report", str(page), str(folder)]
        monkeypatch.setattr("sys.argv", ["/usr/bin/spamnb", *arguments])
        assert commands.run(*arguments).exit_code == 0
        written = unescape(page.read_text())
        assert all(text in written for text in [shlex.join(["spamnb", *arguments]), *made])


def test_figures_are_printed_where_the_disk_is_full(folder: Path) -> None:
    ran = run("--leave-one-out", "--report", "/dev/full", folder)
    assert ran.exit_code == 1 and "hm%" in ran.output and ran.output.count("Error: ") == 1


def test_the_page_shows_the_errors_of_a_stream_with_their_subjects(folder: Path, tmp_path: Path) -> None:
    # Classes that have nothing to do with the mail: about half of the verdicts are wrong.
    paths = sorted(folder.glob("*/*.eml"))
    lines = [f"{'spam' if n % 3 else 'ham'} {path}" for n, path in enumerate(paths)]
    (tmp_path / "index").write_text("\n".join(lines))
    for way in ("--online", "--folds=3"):
        ran = run(way, "--report", tmp_path / "page.html", f"index:{tmp_path / 'index'}")
        assert ran.exit_code == 0, ran.output
        page = (tmp_path / "page.html").read_text()
        assert '<b class="subject">' in page and 'class="evidence"' in page and "(no subject)" not in page


def test_a_model_is_measured_on_mail_that_it_has_not_learned(folder: Path, tmp_path: Path) -> None:
    model = tmp_path / "model"
    assert commands.run("train", "-m", model, write_folders(tmp_path / "some", add_dates(mail(20)))).exit_code == 0
    found = json.loads(run("-m", model, "--format", "json", folder).output)
    assert found["protocol"] == f"Model {model}, without 40 messages that it has learned"
    with Classifier.open(model) as classifier:
        verdicts = [(label, classifier.classify(raw).verdict) for label, raw in add_dates(mail(EACH))[40:]]
    names = [*found["classes"], "unsure"]
    confusion = [[verdicts.count((label, verdict)) for verdict in names] for label in names[:2]]
    assert found["messages"] == len(verdicts) == 2 * EACH - 40 and found["confusion"] == confusion
    (ham, *not_ham), (called_ham, spam, _) = confusion
    assert ham == EACH - 20 and not any(not_ham) and not called_ham and spam > 10, "unsure of spam, but never wrong"
    assert found["accuracy"]["value"] == pytest.approx(100 * (ham + spam) / len(verdicts))
    assert found["spam"]["one_minus_roca"]["value"] == 0
    swapped = run("-m", model, f"spam={folder / 'ham'}", f"ham={folder / 'spam'}")
    assert "are not swapped" in swapped.stderr


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (("--folds", 3, "--online"), 1, "exclude each other"),
        (("--report", "/no/such/page.html"), 1, "there is no folder /no/such"),
        (("--set", "alhpa=1"), 2, "no setting is called 'alhpa'; the settings are model_type, alpha, pooling, "),
        (("--set", "alpha"), 2, "write NAME=VALUE; the settings are"),
        (("--set", "model_type=boolean", "--set", "embedding=lsa:9"), 1, "a boolean model counts words"),
        (("-m", "missing", "--set", "alpha=3", "--set", "ngrams=1"), 1, "alpha, ngrams: --model uses the settings"),
    ],
)
def test_refusals_are_one_line(folder: Path, options: tuple[object, ...], code: int, said: str) -> None:
    ran = run(*options, folder)
    assert ran.exit_code == code
    (line,) = [line for line in ran.output.splitlines() if line.startswith("Error")]
    assert said in line
