# cython: language_level=3, annotation_typing=False
"""What HTML elements are to a reader: which end a word, nest, close others, or hold text that is never shown.

The groups are those of the HTML standard's tree construction (https://html.spec.whatwg.org/#parsing).
"""

from __future__ import annotations

# How a start tag is treated; an end tag is treated by the same kind.
ORDINARY, BLOCK, HEADING, ITEM, FORMATTING, VOID, TABLE, ROWS, ROW, CELL, FORM, BODY, SCOPE, IGNORED, OPTION = range(15)
# Where the text in an element goes.
NORMAL, RAW, REFERENCES, NOWHERE, REST = range(5)

# By byte: what it is in a tag.
LETTER, SPACE, ENDS_NAME = 1, 2, 4
KIND = bytes(
    (LETTER if chr(i).isalpha() and i < 128 else 0)
    | (SPACE if i in b" \t\n\f\r" else 0) | (ENDS_NAME if i in b" \t\n\f\r/>" else 0)
    for i in range(256)
)  # fmt: skip

# Tags that end a word.
ENDS_WORD = frozenset("""
    address article aside blockquote body br button caption center dd details dialog div dl dt fieldset footer form h1
    h2 h3 h4 h5 h6 header hr img input legend li main marquee nav ol option p pre section summary table td textarea th
    title tr ul""".split())
KINDS = {
    BLOCK: """address article aside blockquote center details dialog dir div dl fieldset figcaption figure footer header
        hgroup listing main menu nav ol p pre search section summary ul""",
    HEADING: "h1 h2 h3 h4 h5 h6",
    ITEM: "li dd dt",
    FORMATTING: "a b big code em font i nobr s small strike strong tt u",
    VOID: """area base basefont bgsound br col embed hr image img input link meta param source track wbr frame keygen
        spacer""",
    TABLE: "table",
    ROWS: "caption colgroup tbody tfoot thead",
    ROW: "tr",
    CELL: "td th",
    FORM: "form",
    BODY: "body html",
    SCOPE: "applet marquee object template button select",
    IGNORED: "head frameset",
    OPTION: "option optgroup",
}
TEXTS = {
    RAW: "script style iframe noembed noframes xmp",
    REFERENCES: "title textarea",
    NOWHERE: "template",
    REST: "plaintext",
}
# Elements that have a style of their own; links have too.
STYLED = frozenset("a audio button canvas datalist details dialog mark select summary textarea video".split())
SHOWN_RAW = frozenset(["xmp"])
# Elements that end the search of an end tag for its start tag.
SPECIAL = frozenset(" ".join(KINDS[kind] for kind in KINDS if kind != FORMATTING).split()) - {"option", "optgroup"}
BARRIERS = frozenset("applet caption table td th marquee object template html".split())
KEEPS_FORMATTING = frozenset("applet caption td th marquee object template".split())  # within itself

HTML_TAGS = """
    a abbr acronym address applet area article aside audio b base basefont bdo bgsound big blink
    blockquote body br button canvas caption center cite code col colgroup dd del details dfn dir div dl dt em embed
    fieldset figure font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe ilayer img input
    ins kbd label layer legend li link main map marquee menu meta nav nobr noembed noframes noscript object ol
    optgroup option p param picture pre q s samp script section select small source spacer span strike strong style
    sub summary sup svg table tbody td textarea tfoot th thead title tr tt u ul var video wbr xml"""
FACTS = {name: f"tag:{name}" for name in HTML_TAGS.split()}
UNKNOWN = "tag:unknown"
MAX_COUNTED = 200  # names of tags that are counted apart; the rest are counted as one


class Tag:
    """What is known of the elements of one name."""

    def __init__(self, name: str, number: int) -> None:
        self.name = name
        self.number = min(number, MAX_COUNTED - 1)
        self.kind = next((kind for kind, names in KINDS.items() if name in names.split()), ORDINARY)
        self.text = next((text for text, names in TEXTS.items() if name in names.split()), NORMAL)
        self.ends_word = name in ENDS_WORD
        self.special = name in SPECIAL
        self.barrier = name in BARRIERS
        self.styled = name in STYLED
        self.marker = name in KEEPS_FORMATTING
        self.holds_rows = name in ("table", "tbody", "thead", "tfoot", "tr")


KNOWN = {name.encode(): Tag(name, number) for number, name in enumerate(sorted(
    {*HTML_TAGS.split(), *(" ".join([*KINDS.values(), *TEXTS.values()])).split()}
))}  # fmt: skip
