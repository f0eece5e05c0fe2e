"""HTML → what its reader sees, what he does not see, and the facts of its structure that betray a sender.

lexbor (selectolax) parses. Its tree is read with few calls; only a document that hides text is walked node by node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from . import css
from .css import UNSEEN_TAGS, Style, StyleChange
from .tags import FORMATTING, Tags, scan, words_of

MAX_HTML = 1 << 18  # bytes of HTML in one message
# Bounds on what lexbor would take too long for; what each keeps away: docs/experiments.md#hostile-html
MAX_TAGS = 10_000  # in one message: open tags take quadratic time
MAX_NAMES = 12_000  # of attributes in one tag: each is compared with those before it
MAX_REOPENED = 500_000  # formatting tags × tags: those that are never closed are opened again in each paragraph
MAX_COPIED = 48_000_000  # weight of formatting tags × tags: they are opened again with all their attributes
MAX_LINKS = 1000
MAX_COMPARED = 100_000  # characters of link texts that are compared with where the links lead

WORD = re.compile(rb"[^\s/>=]+")
OPENING = re.compile(rb"<(%b)\b[^>]*+>?" % b"|".join(sorted(FORMATTING)), re.IGNORECASE)
LINK = re.compile(rb"<(a)\b[^>]*+>?", re.IGNORECASE)
META_CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
SHOWN_HOST = re.compile(r"\s*+(?:https?://)?([a-z0-9-]++(?:\.[a-z0-9-]++)++)(?:[/:?#\s]|\Z)", re.IGNORECASE)
LINKED_HOST = re.compile(r"\s*+https?:/{2,3}(?:[^/?#@\s]{0,200}@)?([^/?#:\s]++)", re.IGNORECASE)
URLS = frozenset([b"href", b"src", b"action", b"background"])
UNSEEN_NAMES = frozenset(name.encode() for name in UNSEEN_TAGS)

HTML_TAGS = """
    a abbr acronym address applet area article aside audio b base basefont bdo bgsound big blink
    blockquote body br button canvas caption center cite code col colgroup dd del details dfn dir div dl dt em embed
    fieldset figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe ilayer img input
    ins kbd label layer legend li link main map marquee menu meta nav nobr noembed noframes noscript object ol
    optgroup option p param picture pre q s samp script section select small source spacer span strike strong style
    sub summary sup svg table tbody td textarea tfoot th thead title tr tt u ul var video wbr xml"""
FACT_OF_TAG = {name.encode(): f"tag:{name}" for name in HTML_TAGS.split()}


class Html(NamedTuple):
    """What one HTML part says, and its length in bytes and in tags."""

    text: str
    hidden: str
    links: list[str]
    images: list[str]
    forms: list[str]
    facts: set[str]
    size: int
    tags: int


def read_html(html: bytes, truncations: list[str], before: Sequence[Html] = ()) -> Html:
    """Visible and hidden text, URLs and structural facts of ``html`` (UTF-8); ``before`` are the message's earlier HTML
    parts, which the bounds include.

    >>> page = read_html(b"<p>V<b></b>iagra<br><a href=http://a.example>here</a><i style='display:none'>zq</i>", [])
    >>> page.text, page.hidden, page.links, sorted(page.facts)
    ('Viagra\\nhere', 'zq', ['http://a.example'],
     ['hidden', 'tag-split', 'tag:a', 'tag:b', 'tag:br', 'tag:i', 'tag:p'])
    """
    from selectolax.lexbor import LexborHTMLParser

    found = scan(html[:MAX_HTML])
    tags = found.total
    if before or len(html) > 1 << 16 or tags > MAX_TAGS or copies_too_much(found, tags):
        html, tags, found = within_bounds(html, truncations, before)
    low = html.lower()
    facts = {FACT_OF_TAG.get(name, "tag:unknown") for name in found.names}
    facts.update(found.splits)
    words, colors, backgrounds = words_of(html)
    tree = LexborHTMLParser(found.marked)
    root: Any = tree.root  # never None: of any bytes lexbor makes an element "html"
    links: list[str] = []
    images: list[str] = []
    forms: list[str] = []
    hidden = ""
    if not words.isdisjoint(URLS):
        collect_urls(tree, words, links, images, forms, facts)
    suspect = {} if (hiding := css.may_hide_text(low, words)) else css.suspect_colors(low, words, colors, backgrounds)
    styled = b"style" in words
    rules = css.style_rules(low) if styled and (hiding or suspect) else {}
    if hiding or (suspect and css.on_like_background(tree, suspect, rules, styled)):
        text, hidden = visible_and_hidden(root, rules)
    else:
        for name in UNSEEN_NAMES & found.names:
            for node in tree.tags(name.decode()):
                node.decompose(recursive=False)
        text = root.text()
    hidden = "" if hidden.isspace() else hidden.replace("\r", "\n")
    if hidden:
        facts.add("hidden")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return Html(text, hidden, links, images, forms, facts, len(html), tags)


def declared_charset(octets: bytes) -> str:
    """The charset that a document's ``meta`` element declares, as far as it matters."""
    found = None if octets.isascii() else META_CHARSET.search(octets, 0, 2048)
    return found.group(1).decode("ascii") if found else ""


def copies_too_much(found: Tags, tags: int) -> bool:
    """Would lexbor make formatting tags anew too often, or copy too much with them, in a document of so many tags?"""
    return tags * found.formatting > MAX_REOPENED or tags * found.weight > MAX_COPIED


def within_bounds(html: bytes, truncations: list[str], before: Sequence[Html]) -> tuple[bytes, int, Tags]:
    """``html`` without what would take lexbor more than about a tenth of a second, its number of tags, and these."""
    max_bytes = MAX_HTML - sum([page.size for page in before])
    max_tags = MAX_TAGS - sum([page.tags for page in before])
    if len(html) > max_bytes:
        truncations.append(f"HTML after {MAX_HTML} bytes")
        html = html[:max_bytes]
    tags = html.count(b"<")
    if tags > max_tags:
        truncations.append(f"HTML after {MAX_TAGS} tags")
        html = b"<".join(html.split(b"<", max_tags + 1)[: max_tags + 1])
        tags = max_tags
    if len(html) > 1 << 16:
        names = WORD.findall(html)
        if len(names) * len(set(names)) > MAX_NAMES**2:  # each is compared with those before it: 2.6 s for 256 kB
            truncations.append(f"HTML after {1 << 16} bytes: too many names")
            html = html[: 1 << 16]
    found = scan(html)
    if copies_too_much(found, tags):
        truncations.append("attributes of formatting tags: too many such tags")
        html = OPENING.sub(rb"<\1>", html)
        found = scan(html)
        if tags * found.weight > MAX_COPIED:
            truncations.append("attributes of links: too many or too long")
            html = LINK.sub(rb"<\1>", html)
            found = scan(html)
    return html, tags, found


def collect_urls(
    tree: Any, words: Set[bytes], links: list[str], images: list[str], forms: list[str], facts: set[str]
) -> None:
    """Fill in the URLs that the document names, and whether a link shows another host than it leads to."""
    compared = 0
    compare = b">http" in words or b">www." in words
    selectors = [f"[{word.decode()}]" for word in sorted(URLS & words)]  # each takes 1.5 µs
    for node in tree.css(",".join(selectors))[: 4 * MAX_LINKS]:
        attributes = node.attributes
        if (url := attributes.get("href")) and node.tag in ("a", "area") and len(links) < MAX_LINKS:
            links.append(clean_url(url))
            if compare and compared < MAX_COMPARED and (leads := LINKED_HOST.match(url)):
                text = node.text()
                compared += len(text)
                shown = SHOWN_HOST.match(text[:300])
                if shown and last_labels(shown.group(1)) != last_labels(leads.group(1)):
                    facts.add("link-mismatch")
        url = attributes.get("src") or attributes.get("background")
        if url and len(images) < MAX_LINKS and node.tag != "script":
            images.append(clean_url(url))
        if (url := attributes.get("action")) and len(forms) < MAX_LINKS:
            forms.append(clean_url(url))


def clean_url(url: str) -> str:
    """A URL as browsers take it: without line breaks, tabs and blanks around it; at most 2000 characters."""
    url = url[:2000].strip()
    if "\n" in url or "\t" in url or "\r" in url:
        url = url.translate({9: None, 10: None, 13: None})
    return url


def last_labels(host: str) -> str:
    """The last two labels of a host name, in lower case."""
    return ".".join(host.lower().rstrip(".").split(".")[-2:])


def visible_and_hidden(root: Any, rules: Mapping[str, StyleChange]) -> tuple[str, str]:
    """Visible and hidden text, node by node with the inherited style."""
    seen: list[str] = []
    unseen: list[str] = []
    stack: list[tuple[Any, Style]] = [(root, css.page_style(rules))]
    while stack:
        node, inherited = stack.pop()
        while node is not None:
            text = node.text_content
            if text is not None:
                (seen if inherited.visible else unseen).append(text)
            elif (child := node.first_child) is not None:
                tag = node.tag
                if tag is not None and tag[0] != "-" and tag not in UNSEEN_TAGS:
                    stack.append((node.next, inherited))
                    inherited = css.inherited_style(inherited, tag, node.attributes, rules)
                    node = child
                    continue
            node = node.next
    return "".join(seen), "".join(unseen)
