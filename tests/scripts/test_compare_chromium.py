"""What Chromium shows of real mail is what is read of it."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from shutil import which
from types import ModuleType

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "compare_chromium.py"


@pytest.fixture(scope="module")
def script() -> ModuleType:
    pytest.importorskip("PIL.Image", reason="the extra spamnb[plot] is not installed")
    spec = importlib.util.spec_from_file_location("compare_chromium", SCRIPT)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare_chromium"] = module
    spec.loader.exec_module(module)
    return module


def test_texts_are_compared_in_their_order(script: ModuleType) -> None:
    """Here as if the browser showed the letters of the second and of the last node, and none of the third."""
    around = ["p", "body", "html"]
    nodes = [("Title", ["title", "head"], 0), ("one two", around, 200), ("salad", around, 0), ("faint", around, 20),
             ("three", around, 200)]  # fmt: skip
    read = script.reader.read_html
    agreed = script.compare(nodes, read(b"<title>Title</title>one two<p hidden>salad</p>faint three", []))
    assert (agreed.seen, agreed.seen_read, agreed.hidden, agreed.hidden_kept, agreed.hardly) == (11, 11, 5, 5, 5)
    other = script.compare(nodes, read(b"<title>Title</title>one two<p>salad</p>faint<p hidden>three", []))
    assert (other.seen_read, other.hidden_kept) == (6, 0)
    assert other.missed == ["200 <p<body<html> hidden: three"] and other.leaked == ["0 <p<body<html>: salad"]


@pytest.mark.slow
@pytest.mark.skipif(which("chromium") is None, reason="chromium is not installed")
def test_chromium_and_the_reader_agree_on_modern_mail(script: ModuleType, corpora: Path, tmp_path: Path) -> None:
    total = script.Agreement()
    with script.browser() as chromium:
        for path in script.messages([corpora / "modern" / "phishing"], 12):
            for html, page in script.html_parts(path.read_bytes()):
                total.add(script.compare(script.painted(chromium, html, tmp_path / "page.html"), page))
    assert total.seen > 2000 and total.hidden > 2000, total
    assert total.seen_read >= 0.999 * total.seen, (str(total), total.missed)
    assert total.hidden_kept >= 0.999 * total.hidden, (str(total), total.leaked)
