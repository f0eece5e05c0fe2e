"""Responsive mail as newsletters write it: nested tables, media queries, conditional comments, a hidden preheader."""

from __future__ import annotations

import random
from collections.abc import Iterator

SHEET = """<style type="text/css">
body, table, td, a {{ -webkit-text-size-adjust: 100%; -ms-text-size-adjust: 100%; }}
table, td {{ mso-table-lspace: 0pt; mso-table-rspace: 0pt; }}
img {{ -ms-interpolation-mode: bicubic; border: 0; height: auto; line-height: 100%; outline: none; }}
.button a {{ background: {dark}; color: #ffffff; padding: 12px 24px; text-decoration: none; }}
@media only screen and (max-width: {width}px) {{
  .container {{ width: 100% !important; }} .column {{ display: block !important; width: 100% !important; }}
  .wide {{ display: none !important; }} .text {{ font-size: 18px !important; line-height: 24px !important; }}
}}
</style><!--[if mso]><style>.text {{ font-family: Arial !important; }}</style><![endif]-->"""
PREHEADERS = (
    '<div style="display:none;max-height:0;overflow:hidden">{}</div>',
    '<div style="display:none;font-size:1px;color:{light};line-height:1px;max-height:0px;max-width:0px;opacity:0;'
    'overflow:hidden;mso-hide:all">{}</div>',
    '<span style="display:none!important;visibility:hidden;opacity:0;height:0;width:0">{}</span>',
)


def cell(rng: random.Random, text: str, dark: str) -> str:
    style = rng.choice((
        "padding:20px;font-family:Helvetica,Arial,sans-serif;font-size:16px;line-height:24px;color:{}",
        "padding:0 24px 16px 24px;font:400 15px/22px Arial,sans-serif;color:{};text-align:left",
        "color:{};font-size:14px;line-height:1.5;mso-line-height-rule:exactly;word-break:break-word",
    )).format(dark)  # fmt: skip
    middle = rng.choice((
        f'<p style="margin:0 0 12px 0">{text}</p>', f'<h2 style="margin:0;font-size:22px">{text}</h2>',
        f'<font face="Arial" size="2" color="{dark}">{text}</font>', f"<div>{text}</div>",
        f'<span style="font-weight:bold">{text}</span><br>',
        f'<a href="https://shop.example/a" style="color:{dark};text-decoration:underline">{text}</a>',
    ))  # fmt: skip
    return f'<td class="text" valign="top" style="{style}">{middle}</td>'


def made_template(rng: random.Random, words: Iterator[str], hidden: str) -> str:
    """Return a page with words of ``words`` in its cells, and the text ``hidden`` in its preheader."""
    dark, light = (
        rng.choice(("#333333", "#222", "#4a4a4a", "black")),
        rng.choice(("#ffffff", "#f4f4f4", "white", "#fafafa")),
    )
    width, rows = rng.choice((480, 600, 620)), []
    for _ in range(rng.randint(3, 8)):
        n = rng.choice((1, 1, 2, 3))
        cells = [cell(rng, " ".join([next(words) for _ in range(rng.randint(5, 40))]), dark) for _ in range(n)]
        columns = "".join([
            f'<td class="column" width="{600 // n}" valign="top"><table role="presentation" width="100%" border="0" '
            f'cellpadding="0" cellspacing="0"><tr>{each}</tr></table></td>' for each in cells
        ])  # fmt: skip
        between = f'<!--[if mso]><table width="{width}"><tr><td><![endif]-->' if rng.random() < 0.3 else ""
        rows.append(f'{between}<table role="presentation" width="100%" cellspacing="0"><tr>{columns}</tr></table>')
        if rng.random() < 0.3:
            rows.append('<div style="height:24px;line-height:24px;font-size:24px">&nbsp;</div>')
        if rng.random() < 0.3:
            button = f'<a href="https://shop.example/b" style="display:inline-block">{next(words)} {next(words)}</a>'
            rows.append(
                f'<table class="button"><tr><td bgcolor="{dark}" style="border-radius:4px">{button}</td></tr></table>'
            )
    preheader = rng.choice(PREHEADERS).replace("{light}", light).format(hidden)
    body = "".join(rows)
    return (
        "<!DOCTYPE html><html><head><meta name=viewport content='width=device-width'>"
        f"{SHEET.format(dark=dark, width=width)}"
        f'</head><body style="margin:0;padding:0;background-color:{light}" bgcolor="{light}">{preheader}<center>'
        f'<table class="container" align="center" width="{width}" style="width:{width}px;max-width:100%;margin:0 auto;'
        f'background-color:{light}"><tr><td style="padding:10px">{body}</td></tr></table></center></body></html>'
    )
