"""What the reader of HTML calls visible and hidden in real mail, beside what headless Chromium paints.

    python scripts/compare_chromium.py FOLDER... [--pages 391] [--each]

Each HTML part is shown twice, once with all its letters transparent: text is seen where pixels differ. Text that covers
other text is looked at by itself. Left out is what is hardly seen (pixels differ by 6 to 26 of 255), what no page shows
as text of its own or all the time (titles, options, input fields, marquees), and what stands 12,000 pixels down. The
browser runs no scripts and reaches no network; every picture is a gray point. It prints the share of the visible
characters that are read as visible, the share of the hidden characters that are kept out, and with --each the text that
the two see differently.
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

WIDTH, MAX_HEIGHT = 1200, 12_000  # pixels of a page; what stands below is left out
HARDLY = (6, 26)  # of 255; text whose pixels differ by so much from what is under it is neither seen nor hidden
MIN_LETTER = 2.5  # pixels; smaller letters are hidden
MAX_ALONE = 150  # pieces of text of one page that are looked at by themselves
BELOW = 256  # stands for the difference of what is too far below
NO_TEXT = frozenset("script style template iframe noembed noframes title".split())  # titles the reader puts last
NEITHER = frozenset("marquee option select textarea input".split())

GRAY_POINT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mOor6//DwAFhAKAUS+cWAAAAABJRU5ErkJggg=="
# The text nodes in order: text, tag of what is around, size of its letters, and rectangles.
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
    """Characters, blanks left out, and the pieces of text on which the two differ."""

    seen: int = 0
    seen_read: int = 0
    hidden: int = 0
    hidden_kept: int = 0
    hardly: int = 0
    missed: list[str] = field(default_factory=list)
    leaked: list[str] = field(default_factory=list)

    def add(self, other: Agreement) -> None:
        for name in ("seen", "seen_read", "hidden", "hidden_kept", "hardly", "missed", "leaked"):
            setattr(self, name, getattr(self, name) + getattr(other, name))

    def __str__(self) -> str:
        read, kept = self.seen_read / max(self.seen, 1), self.hidden_kept / max(self.hidden, 1)
        return (
            f"visible characters {self.seen}, read {100 * read:.3f} %; hidden {self.hidden},"
            f" kept out {100 * kept:.3f} %; hardly seen {self.hardly}"
        )


class Browser(Chromium):
    """A browser that fetches nothing: every picture is a gray point, and no script runs."""

    def _next(self) -> dict[str, Any]:
        message = super()._next()
        if message.get("method") == "Fetch.requestPaused":
            self._answer(message["params"], message["sessionId"])
        return message

    def _answer(self, asked: dict[str, Any], session: str) -> None:
        url, request, kind = asked["request"]["url"], asked["requestId"], asked["resourceType"]
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
    """Return the HTML documents of a message in UTF-8."""
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
    """Without blanks and what has no width."""
    return "".join([letter for letter in text if not (letter.isspace() or letter in NO_WIDTH)])


def most(difference: np.ndarray, rects: list[list[float]]) -> int:
    """Return the largest difference of pixels in rectangles. Their left and right edges may show other text."""
    found = 0
    for left, top, right, bottom in rects:
        edge = 2 if right - left > 8 else 0
        columns = slice(max(0, int(left) + edge), max(0, int(right) + 1 - edge))
        part = difference[max(0, int(top)) : max(0, int(bottom) + 1), columns]
        found = max(found, int(part.max(initial=0)))
    return found


def painted(page: Page, html: bytes, path: Path) -> list[tuple[str, list[str], int]]:
    """Return a page's text nodes: text, tags around it, and the difference of its pixels from the background."""
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
    covered = np.zeros(difference.shape, np.int16)
    found: list[tuple[str, list[str], int]] = []
    seen: list[int] = []
    for number, (text, around, size, rects) in enumerate(nodes):
        by = most(difference, rects) if (size or 0) >= MIN_LETTER and characters(text) else 0
        if rects and min(rect[1] for rect in rects) >= MAX_HEIGHT:
            by = BELOW
        found.append((text, around, by))
        if HARDLY[0] < by < BELOW:
            seen.append(number)
            for left, top, right, bottom in rects:
                rows = slice(max(0, int(top) + 2), max(0, int(bottom) - 1))
                columns = slice(max(0, int(left) + 2), max(0, int(right) - 1))
                covered[rows, columns] += 1
    left = MAX_ALONE
    for number in seen:
        text, around, _ = found[number]
        rects = nodes[number][3]
        if left and most(covered, rects) > 1:
            left -= 1
            boxes = [rect for rect in rects if rect[2] > 0 and rect[3] > 0 and rect[1] < high]
            x, y = max(0, min(rect[0] for rect in boxes)), max(0, min(rect[1] for rect in boxes))
            width = min(WIDTH, max(rect[2] for rect in boxes)) - x
            height = min(high, max(rect[3] for rect in boxes)) - y
            if width <= 0 or height <= 0:
                found[number] = (text, around, 0)
                continue
            page.run('CSS.highlights.delete("alone")')
            before = pixels(page, x, y, width, height)
            page.run(HIGHLIGHT % number)
            by = int(np.abs(before - pixels(page, x, y, width, height)).max(initial=0))
            found[number] = (text, around, by)
    return found


def compare(nodes: list[tuple[str, list[str], int]], page: Message) -> Agreement:
    """Chromium's text nodes beside the reader's two texts, which stand in the same order."""
    found = Agreement()
    texts = [characters("".join(page.texts)), characters(page.hidden)]
    at = [0, 0]
    for data, around, by in nodes:
        text = characters(data)
        if not text or not NO_TEXT.isdisjoint(around):
            continue
        neither = not NEITHER.isdisjoint(around)
        order = (0, 1) if by > HARDLY[1] or neither else (1, 0)
        which = next((i for i in order if texts[i].startswith(text, at[i])), None)
        if which is None:  # somewhat later, where the two differ on what is in between
            ahead = min(3000, 100 + 40 * len(text))  # a short text stands in many places
            places = {i: texts[i].find(text, at[i], at[i] + len(text) + ahead) for i in order}
            which = min((i for i in order if places[i] >= 0), key=lambda i: places[i] - at[i], default=None)
            if which is not None:
                at[which] = places[which]
        if which is not None:
            at[which] += len(text)
        if neither or by == BELOW:
            continue
        if HARDLY[0] <= by <= HARDLY[1]:
            found.hardly += len(text)
        elif by > HARDLY[1]:
            found.seen += len(text)
            found.seen_read += len(text) * (which == 0)
            if which != 0:
                what = "hidden" if which == 1 else "absent"
                found.missed.append(f"{by} <{'<'.join(around[:3])}> {what}: {data.strip()}")
        else:
            found.hidden += len(text)
            found.hidden_kept += len(text) * (which != 0)
            if which == 0:
                found.leaked.append(f"{by} <{'<'.join(around[:3])}>: {data.strip()}")
    return found


def messages(folders: list[str], count: int) -> list[Path]:
    """As many files as asked for, evenly from all of the folders."""
    paths = sorted(path for folder in folders for path in Path(folder).rglob("*") if path.is_file())
    count = min(count, len(paths))
    return [paths[i * len(paths) // count] for i in range(count)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+")
    parser.add_argument("--pages", type=int, default=391, help="messages, evenly from all")
    parser.add_argument("--each", action="store_true", help="print what the two see differently")
    arguments = parser.parse_args()
    total = Agreement()
    pages = 0
    with open_page() as shown, tempfile.TemporaryDirectory() as folder:
        for path in messages(arguments.folders, arguments.pages):
            for html in html_parts(path.read_bytes()):
                pages += 1
                page = parse(b"Content-Type: text/html; charset=utf-8\n\n" + html)
                found = compare(painted(shown, html, Path(folder) / "page.html"), page)
                total.add(found)
                if arguments.each and (found.missed or found.leaked):
                    print(f"{path}: {found}")
                    print("".join([f"  not read: {text[:150]!r}\n" for text in found.missed[:8]]), end="")
                    print("".join([f"  not kept out: {text[:150]!r}\n" for text in found.leaked[:8]]), end="")
    print(f"{pages} pages: {total}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
