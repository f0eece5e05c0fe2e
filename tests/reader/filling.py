"""Layouts of mail as the usual frameworks, shops and mail programs write it today, filled with words.

Each is a page of the folder ``layouts`` with fields. ``{text}`` is replaced by a passage, ``{few}`` by two words, and
``{hidden}`` by the text of the preheader, which no mail reader shows.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from pathlib import Path

_PREHEADERS = (
    '<div style="display:none;font-size:1px;color:{ground};line-height:1px;max-height:0px;max-width:0px;opacity:0;'
    'overflow:hidden">{hidden}</div>',
    '<div style="max-height:0;overflow:hidden;mso-hide:all" aria-hidden="true">{hidden}</div>'
    '<div style="display:none;font-size:1px;line-height:1px;max-height:0px">&zwnj;&nbsp;&zwnj;&nbsp;</div>',
    '<span class="preheader" style="display:none!important;visibility:hidden;font-size:1px;height:0;width:0">'
    "{hidden}</span>",
)
_COUNTERS = (
    "",
    '<img src="https://track.example/o.gif" width="1" height="1" alt="" style="display:block;border:0">',
    '<img src="https://track.example/o.gif" style="position:absolute;visibility:hidden;width:1px!important;'
    'height:1px!important;border:0" alt="">',
)
_DARK = """@media (prefers-color-scheme: dark) {
  .ground { background: #111111 !important; }
  h1, p, li, .text { color: #f1f1f1 !important; } .light-only { display: none !important; }
}
[data-ogsc] h1, [data-ogsc] .text { color: #ffffff !important; }
u + .body .gmail { display: block !important; }"""
_BUTTON = (
    '<!--[if mso]><v:roundrect xmlns:v="urn:schemas-microsoft-com:vml" href="https://shop.example/" arcsize="8%" '
    'style="height:40px;v-text-anchor:middle;width:200px" fillcolor="{dark}"><w:anchorlock/><center>Order</center>'
    '</v:roundrect><![endif]--><!--[if !mso]><!-- --><a href="https://shop.example/" style="background-color:{dark};'
    "border-radius:4px;color:{ground};display:inline-block;font-family:sans-serif;font-size:13px;font-weight:bold;"
    "line-height:40px;text-align:center;text-decoration:none;width:200px;-webkit-text-size-adjust:none;mso-hide:all"
    '">{few}</a><!--<![endif]-->'
)
_PASSAGE = re.compile(r"\{(text|few)\}")

LAYOUTS = {path.stem: path.read_text() for path in sorted((Path(__file__).parent / "layouts").glob("*.html"))}


def fill_layout(name: str, rng: random.Random, words: Iterator[str], hidden: str) -> str:
    """Return a page of this layout with words of ``words``, and the text ``hidden`` where mail readers show nothing."""
    fields = {
        "preheader": rng.choice(_PREHEADERS), "button": _BUTTON, "counter": rng.choice(_COUNTERS), "dark_scheme": _DARK,
        "width": rng.choice(("560", "600", "640")), "dark": rng.choice(("#333333", "#1f2328", "#0b5394")),
        "ground": rng.choice(("#f4f4f4", "#ffffff", "#fafafa")), "hidden": hidden,
    }  # fmt: skip
    page = LAYOUTS[name]
    for field, value in fields.items():
        page = page.replace(f"{{{field}}}", value)
    return _PASSAGE.sub(
        lambda match: " ".join([next(words) for _ in range(rng.randint(20, 60) if match[1] == "text" else 2)]), page
    )
