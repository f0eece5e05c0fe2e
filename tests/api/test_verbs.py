"""The verbs from Python do what the commands do, and hand back what the commands print."""

import json
import sys
import threading
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from commands import printed
from mail import folders, mail, message
from selectolax.lexbor import LexborHTMLParser

import spamnb
from spamnb.errors import SpamnbError, SpamnbWarning

EACH = 30
HOSTILE = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return folders(tmp_path_factory.mktemp("mail"), mail(EACH))


@pytest.fixture(scope="module")
def model(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "m.spamnb"
    spamnb.train(folder, path)
    return path


def test_a_model_from_python_is_the_command_lines(folder: Path, tmp_path: Path) -> None:
    report = spamnb.train([folder], tmp_path / "one", model_type="multinomial", alpha=1, doubtful=3, command="by hand")
    chosen = ("--set", "model_type=multinomial", "--set", "alpha=1")
    ran = printed("train", "-m", tmp_path / "two", *chosen, "--doubtful", 3, folder)
    assert str(report).replace(str(tmp_path / "one"), "") == ran.rstrip("\n").replace(str(tmp_path / "two"), "")
    exported = [printed("export", "-m", tmp_path / name).splitlines()[1:] for name in ("one", "two")]
    assert exported[0] == exported[1]
    assert "by hand" in printed("info", "-m", tmp_path / "one")


def test_a_training_reports_cells_add_up(folder: Path, tmp_path: Path) -> None:
    report = spamnb.train(folder, tmp_path / "m")
    told = report.to_dict()
    assert json.loads(json.dumps(told)) == told
    assert told["messages"] == report.to_frame()["messages"].sum() == 2 * EACH
    verdicts = np.array(report.left_out.verdicts)
    truth = np.array(report.left_out.classes)[report.left_out.labels]
    for name, row in told["confusion"].items():
        assert row == {said: int((verdicts[truth == name] == said).sum()) for said in row}


@pytest.mark.parametrize(
    ("chosen", "options"),
    [
        ({"folds": 3}, ["--folds", 3]),
        ({"split": 0.5}, ["--split", 0.5]),
        ({"split": "md5"}, ["--split", "md5"]),
        ({"leave_one_out": True, "doubtful": 2}, ["--leave-one-out", "--doubtful", 2]),
        ({"online": True, "spam": "ham"}, "--online --set spam=ham".split()),
    ],
    ids=lambda value: next(iter(value), "") if isinstance(value, dict) else "",
)
def test_an_evaluation_from_python_has_the_figures_of_the_command(
    folder: Path, chosen: dict[str, Any], options: list[object]
) -> None:
    found = spamnb.evaluate(folder, **chosen)
    ours = json.loads(json.dumps(found.to_dict()))
    theirs = json.loads(printed("evaluate", "--format", "json", *options, folder))
    assert theirs.pop("mcnemar") is None and ours == theirs
    assert found.figures.protocol in str(found)


def test_an_evaluation_of_a_model_as_it_is(folder: Path, model: Path) -> None:
    found = spamnb.evaluate(folder, model=model)
    assert found.model == model and found.figures.accuracy.value == 100 and "had learned 60" in found.figures.protocol
    with pytest.raises(SpamnbError, match="alpha: model takes the model as it was trained"):
        spamnb.evaluate(folder, model=model, alpha=1)


def test_the_tables_of_an_evaluation_are_its_answers(folder: Path, tmp_path: Path) -> None:
    found = spamnb.evaluate(folder, folds=3)
    messages = found.to_frame("messages")
    assert len(messages) == 2 * EACH
    assert 100 * (messages["truth"] == messages["verdict"]).mean() == pytest.approx(found.figures.accuracy.value)
    confusion = found.to_frame("confusion")
    assert confusion["messages"].sum() == 2 * EACH
    figures = found.to_frame().set_index("figure")
    assert figures.loc["hm%", "high"] == found.figures.spam.hm.high  # type: ignore[union-attr]
    assert found.to_frame("classes")["class"].tolist() == ["ham", "spam"]
    with pytest.raises(SpamnbError, match="no table is called 'hams'"):
        found.to_frame("hams")  # type: ignore[arg-type]
    found.write_scores(tmp_path / "scores.tsv")
    assert found.compare(tmp_path / "scores.tsv") == found.compare(found) == (0, 0, 1.0)
    with pytest.raises(SpamnbError, match="different messages"):
        found.compare(spamnb.evaluate(folder, split=0.5))


def test_words_from_python_are_the_commands(model: Path) -> None:
    report = spamnb.words(model, 4, everything=True)
    asked = ("words", "-m", model, "--top", 4, "--all")
    assert str(report) == printed(*asked)
    assert report.to_dict() == json.loads(printed(*asked, "--format", "json"))
    assert report.to_csv() == printed(*asked, "--format", "csv")
    frame = report.to_frame()
    assert len(frame) == 12 and set(frame["list"]) == {"ham", "spam", "mutual information"}
    with pytest.raises(SpamnbError, match="top is 0"):
        spamnb.words(model, 0)


def test_an_explanation_from_python_is_the_commands(folder: Path, model: Path) -> None:
    path = folder / "spam" / "0001.eml"
    found = spamnb.explain(path, model, top=5)
    assert str(found) + "\n" == printed("explain", "-m", model, "--top", 5, path)
    assert spamnb.explain(path.read_bytes(), model, 5).to_dict() == found.to_dict()
    evidence = found.to_dict()["evidence"]
    frame = found.to_frame()
    assert frame["token"].tolist() == [each["token"] for each in evidence] and len(frame) == 5
    assert frame["messages:spam"].tolist() == [each["messages"]["spam"] for each in evidence]


def test_messages_are_read_with_their_classes(folder: Path) -> None:
    found = list(spamnb.read(folder))
    assert sorted((each.label, each.raw) for each in found) == sorted(mail(EACH))
    assert found[0].parse() == spamnb.parse(found[0].raw)


def test_a_source_that_is_none_is_told_at_once(tmp_path: Path) -> None:
    for ask in (spamnb.read, spamnb.evaluate, lambda source: spamnb.train(source, tmp_path / "m")):
        with pytest.raises(SpamnbError, match="no such file or folder"):
            ask(tmp_path / "none")
        with pytest.raises(SpamnbError, match="no SOURCE"):
            ask([])


def test_what_is_left_out_is_a_warning_or_what_one_wants(folder: Path, tmp_path: Path) -> None:
    mixed = folders(tmp_path / "mixed", mail(4))
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
    ("settings", "said"),
    [
        ({"alhpa": 1}, "no setting is called 'alhpa'"),
        ({"alpha": 0}, "alpha is 0"),
        ({"stem": "klingon"}, "klingon"),
        ({"ignore_headers": ["Received:"]}, "neither colon nor space"),
        ({"model_type": "lda", "embedding": "none"}, "none"),
        ({"ngrams": "two"}, "a whole number"),
    ],
)
def test_settings_that_cannot_be_are_refused_before_mail_is_read(
    folder: Path, tmp_path: Path, settings: dict[str, Any], said: str
) -> None:
    for ask in (lambda: spamnb.train(folder, tmp_path / "m", **settings), lambda: spamnb.evaluate(folder, **settings)):
        with pytest.raises(SpamnbError, match=said):
            ask()
    assert not (tmp_path / "m").exists()


def test_two_ways_exclude_each_other(folder: Path) -> None:
    for chosen in ({"folds": 3, "online": True}, {"by_date": True}, {"split": "half"}, {"feedback_delay": 1}):
        with pytest.raises(SpamnbError):
            spamnb.evaluate(folder, **chosen)  # type: ignore[arg-type]


def test_numbers_that_cannot_be_are_refused(folder: Path, tmp_path: Path, model: Path) -> None:
    for ask in (
        lambda: spamnb.train(folder, tmp_path / "m", workers=0),
        lambda: spamnb.train(folder, tmp_path / "m", keep_lessons=-1),
        lambda: spamnb.evaluate(folder, seed=-1),
        lambda: spamnb.explain(b"", model, top=0),
    ):
        with pytest.raises(SpamnbError, match="at least"):
            ask()


def test_a_model_is_not_replaced_unasked(folder: Path, model: Path) -> None:
    before = model.read_bytes()
    with pytest.raises(SpamnbError):
        spamnb.train(folder, model)
    assert model.read_bytes() == before
    spamnb.train(folder, model, force=True)


def test_training_in_a_thread_leaves_signals_alone(folder: Path, tmp_path: Path) -> None:
    failed: list[BaseException] = []

    def work() -> None:
        try:
            spamnb.train(folder, tmp_path / "m", workers=2)
        except BaseException as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert not failed and (tmp_path / "m").exists()


def test_hostile_mail_is_text_in_a_notebook(tmp_path: Path) -> None:
    hostile = [(label, raw + f"{HOSTILE} </style>\n".encode()) for label, raw in mail(6)]
    hostile += [(HOSTILE.replace("/", ""), message("ham", n)) for n in range(60, 64)]
    root = folders(tmp_path / "mail", hostile)
    report = spamnb.train(root, tmp_path / "m")
    shown = [
        report,
        spamnb.words(tmp_path / "m", everything=True),
        spamnb.explain(hostile[0][1], tmp_path / "m"),
        spamnb.evaluate(root, folds=2, spam="spam"),
    ]
    for each in shown:
        html = each._repr_html_()
        tree = LexborHTMLParser(html)
        assert not tree.css("script") and not tree.css("[onerror]") and len(tree.css("style")) <= 1
        html.encode()


def test_a_notebook_shows_bars_and_curves(folder: Path, model: Path) -> None:
    explained = LexborHTMLParser(spamnb.explain(message("spam", 99), model, top=7)._repr_html_())
    assert len(explained.css(".evidence svg")) == 7 and "Verdict: spam" in explained.text()
    evaluated = LexborHTMLParser(spamnb.evaluate(folder, online=True)._repr_html_())
    assert {figure.css_first("h2").text() for figure in evaluated.css("figure")} == {
        "Receiver operating characteristic",
        "Scores",
        "Reliability of the probabilities",
        "Learning curve",
        "Confusion matrix",
    }
    listed = LexborHTMLParser(spamnb.words(model, top=5)._repr_html_())
    assert [len(table.css("tbody tr")) for table in listed.css("table")] == [5, 5, 5]


def test_without_pandas_a_frame_is_refused_in_one_line(model: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(spamnb.SpamnbError, match="a data frame needs pandas: pip install pandas"):
        spamnb.words(model).to_frame()
