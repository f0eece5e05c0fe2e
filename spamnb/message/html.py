"""HTML → what its reader sees, what he does not see, and the facts of its structure that betray a sender.

lexbor (selectolax) parses. Its tree is read with few calls; only a document that could hide text is walked node by node.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from .style import SKIPPED, State, child_state, hiding_rules, may_hide

MAX_HTML = 1 << 18  # bytes of HTML in one message
MAX_TAGS = 10_000  # lexbor takes quadratic time in open tags: 10,000 nested <div> 0.09 s, 100,000 nearly 10 s
MAX_NAMES = 12_000  # … in attributes of one tag: 10,000 take 0.1 s, 40,000 1.8 s
MAX_REOPENED = 500_000  # … and reopens unclosed <b id=…> in each paragraph: 3,000 × 3,000 take 8 s and 3 GB
MAX_LINKS = 1000

BLOCK = re.compile(
    rb"<(?=/?(?:b(?:r|lockquote|ody)|p|d(?:iv|d|l|t)|t(?:d|r|h|able|itle|extarea)|h[1-6r]|li|[uo]l|center|form|option"
    rb"|img|pre|address|article|aside|section|header|footer|main|nav|fieldset|legend|caption|marquee|input|button)"
    rb"[\s/>])",
    re.IGNORECASE,
)
TAG = re.compile(rb"<([a-z][a-z0-9]*)")
WORD = re.compile(rb"[^\s/>=]+")
FORMATTING = re.compile(
    rb"<(b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)\b[^>]*+>?", re.IGNORECASE
)
EMPTY_PAIR = re.compile(rb"></([a-z][a-z0-9]*)\s{0,9}>(?=[a-z])")
LETTERS = frozenset(b"abcdefghijklmnopqrstuvwxyz")
SHOWN_HOST = re.compile(r"\s*(?:https?://)?([a-z0-9-]+(?:\.[a-z0-9-]+)+)(?:[/:?#\s]|\Z)", re.IGNORECASE)
HOST = re.compile(r"\s*[a-z]{2,9}:/{2,3}(?:[^/?#@\s]{0,200}@)?([^/?#:\s]+)", re.IGNORECASE)

HTML_TAGS = frozenset(
    b"a abbr acronym address applet area article aside audio b base basefont bdo bgsound big blink blockquote body br"
    b" button canvas caption center cite code col colgroup dd del details dfn dir div dl dt em embed fieldset figure"
    b" font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe ilayer img input ins kbd label"
    b" layer legend li link main map marquee menu meta nav nobr noembed noframes noscript object ol optgroup option p"
    b" param picture pre q s samp script section select small source spacer span strike strong style sub summary sup"
    b" svg table tbody td textarea tfoot th thead title tr tt u ul var video wbr xml".split()
)


class Html(NamedTuple):
    """What one HTML part says."""

    text: str
    hidden: str
    links: list[str]
    images: list[str]
    forms: list[str]
    facts: list[str]


def read(html: bytes, cut: list[str], max_tags: int = MAX_TAGS) -> Html:
    """Visible and hidden text, URLs and structural facts of ``html`` (UTF-8).

    >>> read(b"<p>V<b></b>iagra<!-- x -->!<a href=http://a.example>here</a><i style='display:none'>zq</i>", [])
    Html(text='Viagra!here', hidden='zq', links=['http://a.example'], images=[], forms=[],
         facts=['hidden', 'tag-split', 'tag:a', 'tag:b', 'tag:i', 'tag:p'])
    """
    from selectolax.lexbor import LexborHTMLParser

    html = bounded(html, cut, max_tags)
    low = html.lower()
    names = set(TAG.findall(low))
    facts = {"tag:" + name.decode("ascii") if name in HTML_TAGS else "tag:unknown" for name in names}
    facts.update(splits(low))
    tree = LexborHTMLParser(BLOCK.sub(b"\n<", html))
    links: list[str] = []
    images: list[str] = []
    forms: list[str] = []
    if b"href" in low or b"src" in low or b"action" in low or b"background" in low:
        collect(tree, links, images, forms, facts)
    root = tree.root
    hidden = ""
    if root is None:
        text = ""
    elif may_hide(low):
        text, hidden = walk(root, low)
        if hidden.strip():
            facts.add("hidden")
    else:
        if not names.isdisjoint(SKIPPED_BYTES):
            for node in tree.css(",".join(SKIPPED)):
                node.decompose()
        text = root.text()
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Html(text, hidden, links, images, forms, sorted(facts))


SKIPPED_BYTES = frozenset(name.encode() for name in SKIPPED)


def bounded(html: bytes, cut: list[str], max_tags: int = MAX_TAGS) -> bytes:
    """``html`` without what would take lexbor more than about a tenth of a second."""
    if len(html) > MAX_HTML:
        cut.append(f"HTML after {MAX_HTML} bytes")
        html = html[:MAX_HTML]
    tags = html.count(b"<")
    if tags > max_tags:
        cut.append(f"HTML after {max_tags} tags")
        html = b"<".join(html.split(b"<", max_tags)[:-1])
        tags = max_tags
    if len(html) > 1 << 16 and len(set(WORD.findall(html))) > MAX_NAMES:
        cut.append(f"HTML after {1 << 16} bytes: too many names")
        html = html[: 1 << 16]
    if tags * tags > MAX_REOPENED and tags * len(FORMATTING.findall(html)) > MAX_REOPENED:
        cut.append("attributes of formatting tags: too many such tags")
        html = FORMATTING.sub(rb"<\1>", html)
    return html


def splits(low: bytes) -> list[str]:
    """Whether comments or empty elements stand inside words: they fool filters, readers see nothing of them."""
    found = []
    at = low.find(b"<!")
    while at >= 0:
        stop = low.find(b">" if low[at + 2 : at + 4] != b"--" else b"-->", at) + 1
        if stop <= 0:
            break
        if low[at : at + 4] == b"<!--":
            stop += 2
        if at and low[at - 1] in LETTERS and stop < len(low) and low[stop] in LETTERS:
            found.append("comment-split")
            break
        at = low.find(b"<!", stop)
    for pair in EMPTY_PAIR.finditer(low):
        start = low.rfind(b"<", max(0, pair.start() - 200), pair.start())
        if start > 0 and low[start - 1] in LETTERS and low.startswith(pair.group(1), start + 1):
            found.append("tag-split")
            break
    return found


def collect(tree: Any, links: list[str], images: list[str], forms: list[str], facts: set[str]) -> None:
    """Fill in the URLs that the document names, and whether a link shows another host than it leads to."""
    for node in tree.css("[href],[src],[action],[background]")[: 4 * MAX_LINKS]:
        attributes = node.attributes
        tag = node.tag
        if url := attributes.get("href"):
            if tag != "link" and tag != "base" and len(links) < MAX_LINKS:
                links.append(clean(url))
                if tag == "a" and "://" in url and "link-mismatch" not in facts:
                    shown, leads = SHOWN_HOST.match(node.text()[:300]), HOST.match(url)
                    if shown and leads and site(shown.group(1)) != site(leads.group(1)):
                        facts.add("link-mismatch")
        url = attributes.get("src") or attributes.get("background")
        if url and tag != "script" and len(images) < MAX_LINKS:
            images.append(clean(url))
        if (url := attributes.get("action")) and len(forms) < MAX_LINKS:
            forms.append(clean(url))


def clean(url: str) -> str:
    """A URL as browsers take it: without line breaks, tabs and surrounding blanks; no more than 2000 characters."""
    url = url[:2000].strip()
    if "\n" in url or "\t" in url or "\r" in url:
        url = url.translate({9: None, 10: None, 13: None})
    return url


def site(host: str) -> str:
    """The last two labels of a host name, in lower case."""
    return ".".join(host.lower().rstrip(".").split(".")[-2:])


def walk(root: Any, low: bytes) -> tuple[str, str]:
    """Visible and hidden text, node by node with the inherited style."""
    rules = hiding_rules(low)
    seen: list[str] = []
    unseen: list[str] = []
    stack: list[tuple[Any, State]] = [(root, State())]
    while stack:
        node, state = stack.pop()
        while node is not None:
            tag = node.tag
            if tag == "-text":
                (seen if state.visible else unseen).append(node.text_content)
            elif tag is not None and tag[0] != "-" and tag not in SKIPPED:
                child = node.first_child
                if child is not None:
                    stack.append((node.next, state))
                    state = child_state(state, tag, node.attributes, rules)
                    node = child
                    continue
            node = node.next
    return "".join(seen), "".join(unseen)
