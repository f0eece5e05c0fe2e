"""A model of few messages says so, and stays sensible."""

from pathlib import Path

from commands import done

from spamnb.classifier import Classifier

SAMPLES = Path(__file__).parents[2] / "corpora"


def test_five_of_each_is_said_and_no_good_mail_is_lost(tmp_path: Path) -> None:
    for label in ("ham", "spam"):
        (tmp_path / "mail" / label).mkdir(parents=True)
        for path in sorted((SAMPLES / "mail" / label).iterdir())[::13]:
            (tmp_path / "mail" / label / path.name).write_bytes(path.read_bytes())
    output = done("train", "-m", tmp_path / "model", tmp_path / "mail")
    assert "few messages of class 'ham' (5), 'spam' (5)" in output
    with Classifier.open(tmp_path / "model") as classifier:
        ham, spam = (
            [classifier.classify(path.read_bytes()) for path in (SAMPLES / "unseen" / label).iterdir()]
            for label in ("ham", "spam")
        )
        assert not classifier.classify(b"").enough
    assert "spam" not in {judgement.verdict for judgement in ham}
    p = [[judgement.probabilities["spam"] for judgement in of_class] for of_class in (ham, spam)]
    assert sum(p[1]) / len(spam) > sum(p[0]) / len(ham) + 0.1
    assert all(0.01 < each < 0.99 for of_class in p for each in of_class), "nobody is that sure from ten messages"
