"""HTML → what its reader sees, what he does not see, and the facts of its structure that betray a sender.

lexbor (selectolax) parses. Its tree is read with few calls; only a document that hides text is walked node by node.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from typing import Any, NamedTuple

from .css import SKIPPED, Change, State, child_state, hides, hiding_rules, on_own_ground, page_state, risky_colours
from .tags import FORMATTING, Tags, scan, words_of

MAX_HTML = 1 << 18  # bytes of HTML in one message
MAX_TAGS = 10_000  # lexbor takes quadratic time in open tags: 10,000 nested <div> 0.09 s, 100,000 nearly 10 s,
MAX_NAMES = 12_000  # in attributes of one tag: 10,000 take 0.1 s, 40,000 1.8 s,
MAX_REOPENED = 500_000  # and reopens unclosed <b id=…> in each paragraph: 3,000 in 3,000 take 8 s and 3 GB,
MAX_COPIED = 48_000_000  # with its attributes: one of 6,000 in 7,500, a message of 60 kB, 4 s and 5.7 GB
MAX_LINKS = 1000
MAX_COMPARED = 100_000  # characters of link texts that are compared with where the links lead

WORD = re.compile(rb"[^\s/>=]+")
OPENING = re.compile(rb"<(%b)\b[^>]*+>?" % b"|".join(sorted(FORMATTING)), re.IGNORECASE)
LINK = re.compile(rb"<(a)\b[^>]*+>?", re.IGNORECASE)
META_CHARSET = re.compile(rb"charset\s{0,9}=\s{0,9}[\"']?\s{0,9}([A-Za-z0-9_.:-]{1,40})", re.IGNORECASE)
SHOWN_HOST = re.compile(r"\s*+(?:https?://)?([a-z0-9-]++(?:\.[a-z0-9-]++)++)(?:[/:?#\s]|\Z)", re.IGNORECASE)
LINKED_HOST = re.compile(r"\s*+https?:/{2,3}(?:[^/?#@\s]{0,200}@)?([^/?#:\s]++)", re.IGNORECASE)
URLS = frozenset([b"href", b"src", b"action", b"background"])
SKIPPED_NAMES = frozenset(name.encode() for name in SKIPPED)

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


def read(html: bytes, truncations: list[str], before: Sequence[Html] = ()) -> Html:
    """Visible and hidden text, URLs and structural facts of ``html`` (UTF-8); ``before`` are the message's earlier HTML
    parts, which the bounds include.

    >>> page = read(b"<p>V<b></b>iagra<br><a href=http://a.example>here</a><i style='display:none'>zq</i>", [])
    >>> page.text, page.hidden, page.links, sorted(page.facts)
    ('Viagra\\nhere', 'zq', ['http://a.example'],
     ['hidden', 'tag-split', 'tag:a', 'tag:b', 'tag:br', 'tag:i', 'tag:p'])
    """
    from selectolax.lexbor import LexborHTMLParser

    found = scan(html[:MAX_HTML])
    tags = found.total
    if before or len(html) > 1 << 16 or tags > MAX_TAGS or copied(found, tags):
        html, tags, found = bounded(html, truncations, before)
    low = html.lower()
    facts = {FACT_OF_TAG.get(name, "tag:unknown") for name in found.names}
    facts.update(found.splits)
    words, inks, grounds = words_of(html)
    tree = LexborHTMLParser(found.marked)
    root: Any = tree.root  # never None: of any bytes lexbor makes an element "html"
    links: list[str] = []
    images: list[str] = []
    forms: list[str] = []
    hidden = ""
    if not words.isdisjoint(URLS):
        collect(tree, words, links, images, forms, facts)
    risky = {} if (hiding := hides(low, words)) else risky_colours(low, words, inks, grounds)
    styled = b"style" in words
    rules = hiding_rules(low) if styled and (hiding or risky) else {}
    if hiding or (risky and on_own_ground(tree, risky, rules, styled)):
        text, hidden = walk(root, rules)
    else:
        for name in SKIPPED_NAMES & found.names:
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


def copied(found: Tags, tags: int) -> bool:
    """Would lexbor make formatting tags anew too often, or copy too much with them, in a document of so many tags?"""
    return tags * found.formatting > MAX_REOPENED or tags * found.weight > MAX_COPIED


def bounded(html: bytes, truncations: list[str], before: Sequence[Html]) -> tuple[bytes, int, Tags]:
    """``html`` without what would take lexbor more than about a tenth of a second, its number of tags, and these."""
    most = MAX_HTML - sum([page.size for page in before])
    most_tags = MAX_TAGS - sum([page.tags for page in before])
    if len(html) > most:
        truncations.append(f"HTML after {MAX_HTML} bytes")
        html = html[:most]
    tags = html.count(b"<")
    if tags > most_tags:
        truncations.append(f"HTML after {MAX_TAGS} tags")
        html = b"<".join(html.split(b"<", most_tags + 1)[: most_tags + 1])
        tags = most_tags
    if len(html) > 1 << 16:
        names = WORD.findall(html)
        if len(names) * len(set(names)) > MAX_NAMES**2:  # each is compared with those before it: 2.6 s for 256 kB
            truncations.append(f"HTML after {1 << 16} bytes: too many names")
            html = html[: 1 << 16]
    found = scan(html)
    if copied(found, tags):
        truncations.append("attributes of formatting tags: too many such tags")
        html = OPENING.sub(rb"<\1>", html)
        found = scan(html)
        if tags * found.weight > MAX_COPIED:
            truncations.append("attributes of links: too many or too long")
            html = LINK.sub(rb"<\1>", html)
            found = scan(html)
    return html, tags, found


def collect(
    tree: Any, words: Set[bytes], links: list[str], images: list[str], forms: list[str], facts: set[str]
) -> None:
    """Fill in the URLs that the document names, and whether a link shows another host than it leads to."""
    compared = 0
    compare = b">http" in words or b">www." in words
    selectors = [f"[{word.decode()}]" for word in sorted(URLS & words)]  # each takes 1.5 µs
    for node in tree.css(",".join(selectors))[: 4 * MAX_LINKS]:
        attributes = node.attributes
        if (url := attributes.get("href")) and node.tag in ("a", "area") and len(links) < MAX_LINKS:
            links.append(clean(url))
            if compare and compared < MAX_COMPARED and (leads := LINKED_HOST.match(url)):
                text = node.text()
                compared += len(text)
                shown = SHOWN_HOST.match(text[:300])
                if shown and site(shown.group(1)) != site(leads.group(1)):
                    facts.add("link-mismatch")
        url = attributes.get("src") or attributes.get("background")
        if url and len(images) < MAX_LINKS and node.tag != "script":
            images.append(clean(url))
        if (url := attributes.get("action")) and len(forms) < MAX_LINKS:
            forms.append(clean(url))


def clean(url: str) -> str:
    """A URL as browsers take it: without line breaks, tabs and blanks around it; at most 2000 characters."""
    url = url[:2000].strip()
    if "\n" in url or "\t" in url or "\r" in url:
        url = url.translate({9: None, 10: None, 13: None})
    return url


def site(host: str) -> str:
    """The last two labels of a host name, in lower case."""
    return ".".join(host.lower().rstrip(".").split(".")[-2:])


def walk(root: Any, rules: Mapping[str, Change]) -> tuple[str, str]:
    """Visible and hidden text, node by node with the inherited style."""
    seen: list[str] = []
    unseen: list[str] = []
    stack: list[tuple[Any, State]] = [(root, page_state(rules))]
    while stack:
        node, state = stack.pop()
        while node is not None:
            text = node.text_content
            if text is not None:
                (seen if state.visible else unseen).append(text)
            elif (child := node.first_child) is not None:
                tag = node.tag
                if tag is not None and tag[0] != "-" and tag not in SKIPPED:
                    stack.append((node.next, state))
                    state = child_state(state, tag, node.attributes, rules)
                    node = child
                    continue
            node = node.next
    return "".join(seen), "".join(unseen)
