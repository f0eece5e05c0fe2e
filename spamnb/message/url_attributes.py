"""Which attributes of HTML hold URLs, and the URLs in those that hold more than one."""

from __future__ import annotations

import re

from .links import MAX_URL

MAX_URLS = 1000  # of a kind in one page: the first half of them and the last
MAX_URLS_OF_VALUE = 50  # in one attribute or style sheet

# By attribute: where a click or the page itself leads (links), what is shown (images), where a form sends (forms).
LINKS, IMAGES, FORMS = "links", "images", "forms"
KINDS = {
    "href": LINKS, "xlink:href": LINKS, "data": LINKS, "content": LINKS, "ping": LINKS,
    "src": IMAGES, "srcset": IMAGES, "imagesrcset": IMAGES, "background": IMAGES, "poster": IMAGES, "lowsrc": IMAGES,
    "dynsrc": IMAGES, "style": IMAGES,
    "action": FORMS, "formaction": FORMS,
}  # fmt: skip
UNSTYLED = frozenset(KINDS.keys() - {"style", "background"} | {"http-equiv", "dir"})  # say nothing of style
# What leads a reader somewhere or is a page itself: elsewhere href names style sheets, and src of a script no picture.
_LINKING = frozenset(("a", "area", "base"))
_FRAMES = frozenset(("iframe", "frame", "embed"))
_IN_SVG = frozenset(("image", "feimage", "use"))

_REFRESH = re.compile(r"[\d.\s]*+(?:[;,]\s*+)?(?:url\s*+=\s*+)?(?:\"([^\"]*)|'([^']*)|(.*))", re.IGNORECASE | re.DOTALL)
_CANDIDATE = re.compile(r"[\s,]*+(\S++)(?:[^,(]|\([^)]*+\)?)*+")
_CSS_URL = re.compile(
    r"url\(\s*+(?:\"([^\"]*+)|'([^']*+)|([^)\s]*+))|@import\s*+(?:\"([^\"]*+)|'([^']*+))", re.IGNORECASE
)


def urls_of(tag: str, attribute: str, value: str) -> tuple[str, list[str]]:
    """The kind of URLs in an attribute, "links", "images" or "forms", and these; of others "" and none.

    ``tag`` and ``attribute`` are in lower case. For ``content`` ask only where ``http-equiv`` is "refresh".

    >>> urls_of("a", "href", "http://a.example"), urls_of("link", "href", "style.css")
    (('links', ['http://a.example']), ('', []))
    >>> urls_of("meta", "content", "0; URL='http://a.example/x'"), urls_of("iframe", "src", "//a.example")
    (('links', ['http://a.example/x']), ('links', ['//a.example']))
    >>> urls_of("img", "srcset", "a.png 1x, http://a.example/b.png 2x"), urls_of("td", "style", "background:url(c.png)")
    (('images', ['a.png', 'http://a.example/b.png']), ('images', ['c.png']))
    """
    kind = KINDS.get(attribute, "")
    if attribute == "href":
        kind = LINKS if tag in _LINKING else IMAGES if tag in _IN_SVG else ""
    elif attribute == "xlink:href" and tag in _IN_SVG:
        kind = IMAGES
    elif attribute == "src":
        kind = LINKS if tag in _FRAMES else "" if tag == "script" else IMAGES
    elif attribute == "data" and tag != "object":
        kind = ""
    elif attribute == "content":
        return (LINKS, refresh_urls(value)) if tag == "meta" else ("", [])
    elif attribute in ("srcset", "imagesrcset"):
        return IMAGES, srcset_urls(value)
    elif attribute == "style":
        return IMAGES, css_urls(value)
    return (kind, [value]) if kind and value else ("", [])


def clean_url(url: str) -> str:
    """A URL as browsers take it: without line breaks, tabs and blanks around it; at most MAX_URL characters."""
    url = url[:MAX_URL].strip()
    if "\n" in url or "\t" in url or "\r" in url:
        url = url.translate({9: None, 10: None, 13: None})
    return url


def add_url(urls: list[str], url: str) -> bool:
    """Add a URL; whether one in the middle had to go.

    >>> urls = [str(number) for number in range(MAX_URLS)]
    >>> add_url(urls, "http://real.example"), len(urls), urls[0], urls[-1]
    (True, 1000, '0', 'http://real.example')
    """
    full = len(urls) >= MAX_URLS
    if full:
        del urls[MAX_URLS // 2]
    urls.append(clean_url(url))
    return full


def refresh_urls(value: str) -> list[str]:
    """Where a page goes by itself: the URL in a ``meta`` refresh, none where it only loads itself again.

    >>> refresh_urls("5;url=http://a.example"), refresh_urls("0,http://a.example"), refresh_urls("30")
    (['http://a.example'], ['http://a.example'], [])
    """
    found = _REFRESH.match(value)
    url = (found.group(1) or found.group(2) or found.group(3) or "").strip() if found else ""
    return [url] if url else []


def srcset_urls(value: str) -> list[str]:
    """The URLs of a ``srcset``, of which a browser shows one; a comma may stand inside of them.

    >>> srcset_urls("a,b.png 1x, c.png, d.png 640w")
    ['a,b.png', 'c.png', 'd.png']
    """
    urls: list[str] = []
    at = 0
    while len(urls) < MAX_URLS_OF_VALUE and (found := _CANDIDATE.match(value, at)):
        url = found.group(1)
        at = found.end(1) if url[-1] == "," else found.end()
        if url := url.rstrip(","):
            urls.append(url)
    return urls


def css_urls(sheet: str) -> list[str]:
    """The URLs that a style or a style sheet names: ``url(…)`` and ``@import``.

    >>> css_urls("@import 'http://a.example/s.css'; p {background: URL( \\"b.png\\" )} q {cursor: url(c.cur)}")
    ['http://a.example/s.css', 'b.png', 'c.cur']
    """
    low = sheet.lower()
    if "url(" not in low and "@import" not in low:  # most parentheses in styles are those of colors
        return []
    urls: list[str] = []
    for found in _CSS_URL.finditer(sheet):
        if url := next(filter(None, found.groups()), ""):
            urls.append(url)
            if len(urls) == MAX_URLS_OF_VALUE:
                break
    return urls
