"""Compare the text that spamnb reads as visible with the text that headless Chromium paints, in real mail.

    python scripts/compare_chromium.py FOLDER... [--pages 391] [--each]

Each HTML part is painted twice, the second time with transparent letters: text is visible if its pixels differ. Text
that covers other text is painted alone. Three kinds of text are not compared: text of low contrast (pixels differ by 6
to 26 of 255), text that is not always shown (titles, options, input fields, marquees), and text more than 12,000 pixels
down the page. The browser runs no scripts and has no network; every picture is a gray point. The script prints the
share of the visible characters that are read as visible, the share of the hidden characters that are read as hidden,
and with --each the text on which the two differ.
"""

from __future__ import annotations

import argparse
import base64
import email
import io
import json
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from spamnb.reader.message import Message, parse

sys.path[:0] = [str(Path(__file__).resolve().parents[1] / "tests")]
from chromium import Chromium, Page  # noqa: E402

WIDTH, MAX_HEIGHT = 1200, 12_000  # pixels of a page; text further down is not compared
LOW_CONTRAST = (6, 26)  # of 255; text whose pixels differ by this from the background is neither visible nor hidden
MIN_LETTER = 2.5  # pixels; smaller letters are hidden
MAX_ALONE = 150  # text nodes of one page that are painted alone
BELOW = 256  # the difference of text below MAX_HEIGHT, which is not painted
NO_TEXT = frozenset("script style template iframe noembed noframes title".split())  # titles the reader puts last
NEITHER = frozenset("marquee option select textarea input".split())

GRAY_POINT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mOor6//DwAFhAKAUS+cWAAAAABJRU5ErkJggg=="
# The text nodes in order: text, names of the elements around it, size of its letters, and rectangles.
COLLECT = """(() => {
  const nodes = window.nodes = [], walker = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) nodes.push(walker.currentNode);
  const high = Math.max(document.documentElement.scrollHeight, document.body ? document.body.scrollHeight : 0);
  return JSON.stringify([high, nodes.map(node => {
    const parent = node.parentElement, range = document.createRange();
    range.selectNodeContents(node);
    const rects = [...range.getClientRects()].slice(0, 400);
    const around = [];
    for (let element = parent; element; element = element.parentElement) around.push(element.localName);
    const size = parent ? parseFloat(getComputedStyle(parent).fontSize) : 16;
    const places = rects.map(r => [r.left + scrollX, r.top + scrollY, r.right + scrollX, r.bottom + scrollY]);
    return [node.data, around, size, places];
  })]);
})()"""
ALONE = "::highlight(alone) { -webkit-text-fill-color: transparent; color: transparent }"
CLEAR = "*, *::before { -webkit-text-fill-color: transparent !important }"
HIGHLIGHT = """(() => {
  const range = document.createRange();
  range.selectNodeContents(window.nodes[%d]);
  CSS.highlights.set("alone", new Highlight(range));
})()"""


@dataclass
class Agreement:
    """Numbers of characters without spaces, and the texts on which the two differ."""

    visible: int = 0
    visible_read: int = 0  # visible characters that are read as visible
    hidden: int = 0
    hidden_read: int = 0  # hidden characters that are read as hidden, or not at all
    low_contrast: int = 0
    missed: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)

    def add(self, other: Agreement) -> None:
        for name in ("visible", "visible_read", "hidden", "hidden_read", "low_contrast", "missed", "leaked"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        visible, hidden = self.visible_read / max(self.visible, 1), self.hidden_read / max(self.doubtful, 1)
        return (
            f"visible characters {self.visible}, read as visible {100 * visible:.3f} %; hidden {self.doubtful},"
            f" not read as visible {100 * hidden:.3f} %; of low contrast {self.low_contrast}"
        )


class Browser(Chromium):
    """A browser that fetches nothing: every picture is a gray point, and no script runs."""

    def _next(self) -> dict[str, Any]:
        message = super()._next()
        if message.get("method") == "Fetch.requestPaused":
            self._answer(message["params"], message["sessionId"])
        return message

    def _answer(self, paused: dict[str, Any], session: str) -> None:
        url, request, kind = paused["request"]["url"], paused["requestId"], paused["resourceType"]
        if url.startswith(("file:", "data:", "about:")) and kind == "Document":
            self.send("Fetch.continueRequest", session, requestId=request)
        elif kind == "Image":
            headers = [{"name": "Content-Type", "value": "image/png"}]
            options = {"responseCode": 200, "responseHeaders": headers, "body": GRAY_POINT}
            self.send("Fetch.fulfillRequest", session, requestId=request, **options)
        else:
            self.send("Fetch.failRequest", session, requestId=request, errorReason="BlockedByClient")


@contextmanager
def open_page() -> Iterator[Page]:
    """Open a page of a browser with a new profile."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(Path(folder))
        try:
            page = browser.new_page()
            page.ask("DOM.enable")
            page.ask("CSS.enable")
            page.ask("Fetch.enable", patterns=[{"urlPattern": "*"}])
            page.ask("Emulation.setScriptExecutionDisabled", value=True)
            yield page
        finally:
            browser.close()


def pixels(page: Page, x: float, y: float, width: float, height: float) -> np.ndarray:
    """Return the pixels of a part of the page, (height, width, 3)."""
    clip = {"x": x, "y": y, "width": width, "height": height, "scale": 1}
    shot = page.ask("Page.captureScreenshot", format="png", clip=clip, captureBeyondViewport=True)["data"]
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(shot))).convert("RGB")).astype(np.int16)


def html_parts(raw: bytes) -> Iterator[bytes]:
    """Yield the HTML documents of a message in UTF-8."""
    for part in email.message_from_bytes(raw).walk():
        if part.get_content_type() == "text/html":
            octets = part.get_payload(decode=True)
            assert isinstance(octets, bytes)
            try:
                yield octets.decode(part.get_content_charset("utf-8")).encode("utf-8", "replace")
            except (LookupError, UnicodeError):
                yield octets.decode("cp1252", "replace").encode()


NO_WIDTH = frozenset("\u200b\u200c\u200d\u200e\u200f\u034f\ufeff\u00ad\0\u2060\u202d\u202e\u202c")


def characters(text: str) -> str:
    """Return the text without spaces and characters without width."""
    return "".join([letter for letter in text if not (letter.isspace() or letter in NO_WIDTH)])


def max_in(difference: np.ndarray, rects: list[list[float]]) -> int:
    """Return the largest value in rectangles, without their left and right edges, which may show other text."""
    largest = 0
    for left, top, right, bottom in rects:
        edge = 2 if right - left > 8 else 0
        columns = slice(max(0, int(left) + edge), max(0, int(right) + 1 - edge))
        part = difference[max(0, int(top)) : max(0, int(bottom) + 1), columns]
        largest = max(largest, int(part.max(initial=0)))
    return largest


def paint(page: Page, html: bytes, path: Path) -> list[tuple[str, list[str], int]]:
    """Return a page's text nodes: text, names of the elements around it, and its difference from the background."""
    path.write_bytes(b"\xef\xbb\xbf" + html.replace(b"cid:", b"http://x/"))
    page.look(WIDTH)
    page.go(path.as_uri())
    high, nodes = json.loads(page.run(COLLECT))
    high = max(1, min(high, MAX_HEIGHT))
    frame = page.ask("Page.getFrameTree")["frameTree"]["frame"]["id"]
    sheet = page.ask("CSS.createStyleSheet", frameId=frame)["styleSheetId"]
    with_text = pixels(page, 0, 0, WIDTH, high)
    page.ask("CSS.setStyleSheetText", styleSheetId=sheet, text=CLEAR)
    difference = np.abs(with_text - pixels(page, 0, 0, WIDTH, high)).max(axis=2)
    page.ask("CSS.setStyleSheetText", styleSheetId=sheet, text=ALONE)
    n_texts = np.zeros(difference.shape, np.int16)  # visible texts at each pixel
    results: list[tuple[str, list[str], int]] = []
    visible: list[int] = []
    for number, (text, around, size, rects) in enumerate(nodes):
        contrast = max_in(difference, rects) if (size or 0) >= MIN_LETTER and characters(text) else 0
        if rects and min(rect[1] for rect in rects) >= MAX_HEIGHT:
            contrast = BELOW
        results.append((text, around, contrast))
        if LOW_CONTRAST[0] < contrast < BELOW:
            visible.append(number)
            for left, top, right, bottom in rects:
                rows = slice(max(0, int(top) + 2), max(0, int(bottom) - 1))
                columns = slice(max(0, int(left) + 2), max(0, int(right) - 1))
                n_texts[rows, columns] += 1
    n_left = MAX_ALONE
    for number in visible:
        text, around, _ = results[number]
        rects = nodes[number][3]
        if n_left and max_in(n_texts, rects) > 1:
            n_left -= 1
            boxes = [rect for rect in rects if rect[2] > 0 and rect[3] > 0 and rect[1] < high]
            x, y = max(0, min(rect[0] for rect in boxes)), max(0, min(rect[1] for rect in boxes))
            width = min(WIDTH, max(rect[2] for rect in boxes)) - x
            height = min(high, max(rect[3] for rect in boxes)) - y
            if width <= 0 or height <= 0:
                results[number] = (text, around, 0)
                continue
            page.run('CSS.highlights.delete("alone")')
            before = pixels(page, x, y, width, height)
            page.run(HIGHLIGHT % number)
            contrast = int(np.abs(before - pixels(page, x, y, width, height)).max(initial=0))
            results[number] = (text, around, contrast)
    return results


def compare(nodes: list[tuple[str, list[str], int]], page: Message) -> Agreement:
    """Compare Chromium's text nodes with the reader's visible and hidden text, which have the same order."""
    agreement = Agreement()
    texts = [characters("".join(page.texts)), characters(page.doubtful)]
    positions = [0, 0]  # in the two texts
    for data, around, contrast in nodes:
        text = characters(data)
        if not text or not NO_TEXT.isdisjoint(around):
            continue
        is_ignored = not NEITHER.isdisjoint(around)
        order = (0, 1) if contrast > LOW_CONTRAST[1] or is_ignored else (1, 0)
        which = next((i for i in order if texts[i].startswith(text, positions[i])), None)
        if which is None:  # the reader has other text in between, so search further on
            distance = min(3000, 100 + 40 * len(text))  # shorter for a short text, which occurs more often
            matches = {i: texts[i].find(text, positions[i], positions[i] + len(text) + distance) for i in order}
            which = min((i for i in order if matches[i] >= 0), key=lambda i: matches[i] - positions[i], default=None)
            if which is not None:
                positions[which] = matches[which]
        if which is not None:
            positions[which] += len(text)
        if is_ignored or contrast == BELOW:
            continue
        if LOW_CONTRAST[0] <= contrast <= LOW_CONTRAST[1]:
            agreement.low_contrast += len(text)
        elif contrast > LOW_CONTRAST[1]:
            agreement.visible += len(text)
            agreement.visible_read += len(text) * (which == 0)
            if which != 0:
                reading = "hidden" if which == 1 else "absent"
                agreement.missed.append(f"{contrast} <{'<'.join(around[:3])}> {reading}: {data.strip()}")
        else:
            agreement.doubtful += len(text)
            agreement.hidden_read += len(text) * (which != 0)
            if which == 0:
                agreement.leaked.append(f"{contrast} <{'<'.join(around[:3])}>: {data.strip()}")
    return agreement


def messages(folders: list[str], count: int) -> list[Path]:
    """Return ``count`` files, evenly from all folders."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    count = min(count, len(paths))
    return [paths[i * len(paths) // count] for i in range(count)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--pages", type=int, default=391, help="number of messages, evenly from all folders")
    parser.add_argument("--each", action="store_true", help="print the texts on which the two differ")
    arguments = parser.parse_args()
    total = Agreement()
    pages = 0
    with open_page() as browser_page, tempfile.TemporaryDirectory() as folder:
        for path in messages(arguments.folders, arguments.pages):
            for html in html_parts(path.read_bytes()):
                pages += 1
                page = parse(b"Content-Type: text/html; charset=utf-8\n\n" + html)
                agreement = compare(paint(browser_page, html, Path(folder) / "page.html"), page)
                total.add(agreement)
                if arguments.each and (agreement.missed or agreement.leaked):
                    print(f"{path}: {agreement}")
                    print("".join([f"  not read: {text[:150]!r}\n" for text in agreement.missed[:8]]), end="")
                    print("".join([f"  read as visible: {text[:150]!r}\n" for text in agreement.leaked[:8]]), end="")
    print(f"{pages} pages: {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
