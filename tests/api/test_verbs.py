"""The verbs from Python do what the commands do, and hand back what the commands print."""

import json
import warnings
from concurrent.futures import ThreadPoolExecutor
from csv import DictReader
from pathlib import Path
from typing import Any

import pytest
from commands import stdout_of
from mail import add_dates, mail, message, write_folders
from scipy.stats import binomtest
from selectolax.lexbor import LexborHTMLParser

import spamnb
from spamnb.api.arguments import SettingValues
from spamnb.errors import SpamnbError, SpamnbWarning
from spamnb.settings import SETTINGS

EACH = 30
HOSTILE = "<script>alert(1)</script>"
PROTOCOLS = {"": "10 folds", "split": "", "leave_one_out": "Each of 10 parts", "online": "On-line"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folders(tmp_path_factory.mktemp("mail"), add_dates(mail(EACH)))


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.spamnb"
    spamnb.train(folder, path, starter=False)
    return path


def test_a_model_from_python_is_the_command_lines(folder: Path, tmp_path: Path) -> None:
    report = spamnb.train([folder], tmp_path / "one", model_type="multinomial", alpha=1, command="by hand")
    chosen = ("--set", "model_type=multinomial", "--set", "alpha=1")
    ran = stdout_of("train", "-m", tmp_path / "two", *chosen, folder)
    assert str(report).replace(str(tmp_path / "one"), "") == ran.rstrip("\n").replace(str(tmp_path / "two"), "")
    exported = [stdout_of("export", "-m", tmp_path / name).splitlines()[1:] for name in ("one", "two")]
    assert exported[0] == exported[1]
    assert "by hand" in stdout_of("info", "-m", tmp_path / "one")


def test_type_checkers_know_all_settings() -> None:
    assert [*SettingValues.__annotations__] == [*SETTINGS]


@pytest.mark.parametrize(
    ("chosen", "options"),
    [
        ({}, []),
        ({"split": 0.25}, ["--split", 0.25]),
        ({"split": 0.25, "by_date": True}, ["--split", 0.25, "--by-date"]),
        ({"online": True, "by_date": True}, ["--online", "--by-date"]),
        ({"leave_one_out": True, "mislabelled": 2}, ["--leave-one-out", "--mislabelled", 2]),
        ({"online": True, "spam": "ham"}, "--online --set spam=ham".split()),
    ],
    ids=lambda value: next(iter(value), "") if isinstance(value, dict) else "",
)
def test_an_evaluation_from_python_has_the_figures_of_the_command(
    folder: Path, chosen: dict[str, Any], options: list[object]
) -> None:
    found = spamnb.evaluate(folder, **chosen)
    ours = json.loads(json.dumps(found.to_dict()))
    theirs = json.loads(stdout_of("evaluate", "--format", "json", *options, folder))
    assert ours == theirs
    protocol = next((name for name in PROTOCOLS if name in chosen), "")
    assert PROTOCOLS[protocol] in found.figures.protocol and found.figures.protocol in str(found)
    assert ours["messages"] == sum(map(sum, ours["confusion"]))
    assert ours["spam"]["hm"].keys() == {"value", "low", "high"}


def test_an_evaluation_of_a_model_as_it_is(folder: Path, model: Path) -> None:
    with pytest.raises(SpamnbError, match="has learned all 60 messages"):
        spamnb.evaluate(folder, model=model)
    with pytest.raises(SpamnbError, match="alpha: model uses the settings of the model"):
        spamnb.evaluate(folder, model=model, alpha=1)


def test_two_evaluations_are_compared(folder: Path, tmp_path: Path) -> None:
    one, other = spamnb.evaluate(folder, folds=3), spamnb.evaluate(folder, folds=3, unsure_cost=0.01)
    right = []
    for n, found in enumerate((one, other)):
        found.write_scores(tmp_path / f"{n}.tsv")
        with open(tmp_path / f"{n}.tsv", newline="") as file:
            right.append({row["name"]: row["truth"] == row["verdict"] for row in DictReader(file, delimiter="\t")})
    only = [sum(mine[name] and not his[name] for name in mine) for mine, his in (right, right[::-1])]
    assert sum(only) > 0 and len(right[0]) == 2 * EACH
    oracle = (*only, pytest.approx(binomtest(only[0], sum(only)).pvalue))
    assert one.compare(other) == oracle
    assert other.compare(one)[:2] == tuple(only[::-1])
    with pytest.raises(SpamnbError, match="different messages"):
        one.compare(spamnb.evaluate(folder, split=0.5))


def test_words_and_an_explanation_from_python_are_the_commands(folder: Path, model: Path) -> None:
    report = spamnb.words(model, 4, everything=True)
    asked = ("words", "-m", model, "--top", 4, "--all")
    assert str(report) == stdout_of(*asked)
    assert report.to_dict() == json.loads(stdout_of(*asked, "--format", "json"))
    path = folder / "spam" / "0001.eml"
    found = spamnb.explain(path, model, top=5)
    assert str(found) + "\n" == stdout_of("explain", "-m", model, "--top", 5, path)
    assert spamnb.explain(path.read_bytes(), model, 5).to_dict() == found.to_dict()


def test_messages_are_read_with_their_classes(folder: Path) -> None:
    found = list(spamnb.read(folder))
    assert len(found) == 2 * EACH
    assert all((folder / each.label / Path(each.name).name).read_bytes() == each.raw for each in found)
    assert found[0].parse() == spamnb.parse(found[0].raw)


def test_a_source_that_is_none_is_told_at_once(tmp_path: Path) -> None:
    for ask in (spamnb.read, spamnb.evaluate, lambda source: spamnb.train(source, tmp_path / "m")):
        with pytest.raises(SpamnbError, match="no such file or folder"):
            ask(tmp_path / "none")
        with pytest.raises(SpamnbError, match="no SOURCE"):
            ask([])


def test_what_is_left_out_is_a_warning_or_what_one_wants(folder: Path, tmp_path: Path) -> None:
    mixed = write_folders(tmp_path / "mixed", mail(4))
    (mixed / "ham" / "broken.eml").write_bytes(b"\x1f\x8bno gzip")
    with pytest.warns(SpamnbWarning, match=r"broken\.eml: .*; left out"):
        report = spamnb.train(mixed, tmp_path / "m")
    assert report.unreadable == 1 and report.to_dict()["unreadable"] == 1
    told: list[str] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(list(spamnb.read(mixed, tell=told.append))) == 8
        assert spamnb.evaluate(mixed, folds=2, tell=told.append).unreadable == 1
    assert len(told) == 2 and all("broken.eml" in line for line in told)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (lambda mail, model: spamnb.evaluate(mail, alhpa=1), "no setting is called 'alhpa'"),
        (lambda mail, model: spamnb.evaluate(mail, folds=3, online=True), "folds, split, leave_one_out=True, "),
        (lambda mail, model: spamnb.evaluate(mail, by_date=True), "by_date=True needs online=True"),
        (lambda mail, model: spamnb.evaluate(mail, split="half"), "split is 'half': give a fraction"),
        (lambda mail, model: spamnb.evaluate(mail, folds=999), "give folds from 2"),
        (lambda mail, model: spamnb.evaluate(mail, spam="trian"), "spam is 'trian': no class has this name"),
        (lambda mail, model: spamnb.evaluate(mail, online=True, dask="local"), "dask: with online=True or model"),
        (lambda mail, model: spamnb.train(mail, "m", workers=2, dask="tcp://x:1"), "workers is for threads"),
        (lambda mail, model: spamnb.train(mail, model), "exists already; force=True replaces it"),
        (lambda mail, model: spamnb.train(mail, "/dev/null/m"), "there is no folder /dev/null"),
        (lambda mail, model: spamnb.words(model, 0), "top is 0: at least 1"),
        (lambda mail, model: spamnb.evaluate(mail, folds="5"), "folds is '5': a whole number"),
        (lambda mail, model: spamnb.evaluate(mail, model=5), "model is 5: give the path"),
        (lambda mail, model: spamnb.evaluate(mail, folds=0), "folds is 0: at least 2"),
        (lambda mail, model: spamnb.evaluate(mail, online="yes"), "online is 'yes': give True or False"),
        (lambda mail, model: spamnb.evaluate(mail, folds=2).compare("1.tsv"), "other is '1.tsv': give an Eval"),
        (lambda mail, model: spamnb.evaluate(mail, folds=2).write_page(None), "path is None: give the path"),
        (lambda mail, model: spamnb.train(mail, "m", tell=3), "tell is 3: give a function"),
        (lambda mail, model: spamnb.train(mail, "m", dask=3), "dask is 3: give the address"),
        (lambda mail, model: spamnb.train(mail, "m", command=3), "command is 3: give a text"),
        (lambda mail, model: spamnb.train(mail, "m", text_column=3), "text_column is 3: give the name"),
        (lambda mail, model: spamnb.read(mail, recursive="yes"), "recursive is 'yes': give True or False"),
        (lambda mail, model: spamnb.train(mail, "no/model"), "there is no folder .*/no$"),
        (lambda mail, model: spamnb.train(mail, "m", force="yes"), "force is 'yes': give True or False"),
        (lambda mail, model: spamnb.SpamClassifier.load(model).save("no/model"), "there is no folder .*/no$"),
        (lambda mail, model: spamnb.train(mail, "m", ignore_headers=5), "ignore_headers is 5: it must be names"),
        (lambda mail, model: spamnb.train(mail, ":memory:"), "model is ':memory:': this is not the name of a file"),
        (lambda mail, model: spamnb.evaluate(mail, folds=2).write_page("a\0b"), "path is 'a.x00b': this is not"),
        (lambda mail, model: spamnb.evaluate(mail, folds=2).write_page(model), "is a model: name another file"),
        (lambda mail, model: spamnb.explain(["a"], model), r"message is \['a'\]: give the path of a file"),
        (lambda mail, model: spamnb.Classifier(model), r"Classifier.open\(path\) opens one"),
        (lambda mail, model: spamnb.train(None, "m"), "sources is a NoneType: give a path"),
        (lambda mail, model: spamnb.evaluate([b"Subject: tea"]), r"sources\[0\] is a bytes: give a path"),
    ],
)
def test_what_cannot_be_is_refused_in_the_words_of_python(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model: Path, ask: Any, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    before = model.read_bytes()
    with pytest.raises(SpamnbError, match=said) as told:
        ask(folder, model)
    assert "\n" not in str(told.value) and "--" not in str(told.value)
    assert model.read_bytes() == before and not list(tmp_path.iterdir())


def test_a_name_that_is_none_says_which_may_be_meant() -> None:
    with pytest.raises(AttributeError) as told:
        spamnb.trian  # noqa: B018
    assert (told.value.name, told.value.obj) == ("trian", spamnb)  # of which Python makes "Did you mean: 'train'?"


def test_training_in_a_thread_leaves_signals_alone(folder: Path, tmp_path: Path) -> None:
    with ThreadPoolExecutor(1) as executor:
        executor.submit(spamnb.train, folder, tmp_path / "m", workers=2).result()
    assert (tmp_path / "m").exists()


def test_hostile_mail_is_text_in_a_notebook(tmp_path: Path) -> None:
    hostile = [(label, raw + f"{HOSTILE} </style>\n".encode()) for label, raw in mail(6)]
    hostile += [(HOSTILE.replace("/", ""), message("ham", n)) for n in range(60, 64)]
    root, path = write_folders(tmp_path / "mail", hostile), tmp_path / "m"
    shown = [spamnb.train(root, path), spamnb.words(path, everything=True), spamnb.explain(hostile[0][1], path)]
    for each in [*shown, spamnb.evaluate(root, folds=2, spam="spam")]:
        tree = LexborHTMLParser(each._repr_html_())
        assert not tree.css("script") and not tree.css("[onerror]") and not tree.css("style")


def test_a_notebook_shows_tables_without_script_or_frame(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as the kernel of a notebook sets it
    report = spamnb.train(folder, tmp_path / "m")
    found, words = spamnb.evaluate(folder, online=True, mislabelled=1), spamnb.words(tmp_path / "m", 3)
    for each in (report, found, words):
        assert "\x1b" not in each._repr_html_() + str(each)
    tree = LexborHTMLParser(found._repr_html_())
    assert not tree.css("iframe, style, script") and len(tree.css("table")) == 2
    assert "accuracy %" in [cell.text() for cell in tree.css("td")]
    (table,) = LexborHTMLParser(words._repr_html_()).css("table")
    heads = [cell.text() for cell in table.css("th")]
    assert heads == ["ham", "p", "spam", "p", "highest MI", "bits", "speaks for"]
    assert [len(row.css("td")) for row in table.css("tr")] == [0, 7, 7, 7]
