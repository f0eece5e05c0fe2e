"""What the reader of HTML calls visible and hidden, beside what Chromium paints on made-up pages."""

import html
import subprocess
from pathlib import Path
from shutil import which

import pytest
from uncompiled import uncompiled

from spamnb.message.html import read_html

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html

# Each holds one word in the place of "{}"; "{{" and "}}" are braces.
HIDDEN = [
    "<style>p {{display: none}}</style><p>{}</p>",
    "<style>div b {{color: #fff}}</style><div><i><b>{}</b></i></div>",
    "<style>div > b {{color: white}}</style><div><b>{}</b></div>",
    "<style>@media screen {{.x {{display: none}}}}</style><b class=x>{}</b>",
    "<style>@import url(x.css); .x {{display: none}}</style><b class=x>{}</b>",
    "<style>@charset 'utf-8'; .x {{display: none}}</style><b class=x>{}</b>",
    "<style>@font-face {{font-family: x; src: url(x)}} .x {{display: none}}</style><b class=x>{}</b>",
    "<style>/* }} */ .x /* {{ */ {{display: /* block */ none}}</style><b class=x>{}</b>",
    "<style>.x {{\\64 isplay: n\\6fne}}</style><b class=x>{}</b>",
    "<style>.x {{color: white!important}} .x {{color: red}}</style><b class=x>{}</b>",
    "<style>b {{color: white!important}}</style><b style='color: red'>{}</b>",
    "<style>b.x {{color: white}} b {{color: red}}</style><b class=x>{}</b>",
    "<style>* {{color: white}}</style><b>{}</b>",
    "<style>a:link {{color: white}}</style><a href=x>{}</a>",
    "<style>.x {{content: '}}'}} .x {{display: none}}</style><b class=x>{}</b>",
    "<style>html {{background: black}}</style><p style='color: black'>{}</p>",
    "<b style='color: #fefefe01'>{}</b>",
    "<b style='color: rgba(0, 0, 0, .02)'>{}</b>",
    "<b style='color: hsl(0, 0%, 100%)'>{}</b>",
    "<b style='color: rgb(100%, 100%, 99%)'>{}</b>",
    "<b style='color: rgb(255 255 255)'>{}</b>",
    "<b style='opacity: .01'>{}</b>",
    "<div style='opacity: .2'><div style='opacity: .2'>{}</div></div>",
    "<div style='width: 1px; height: 1px; overflow: hidden'>{}</div>",
    "<div style='max-height: 0; overflow: clip'>{}</div>",
    "<div style='margin-left: -9999px'>{}</div>",
    "<div style='margin: 0 0 0 -9999px'>{}</div>",
    "<div style='position: relative; left: -9999px'>{}</div>",
    "<div style='position: fixed; top: -999em'>{}</div>",
    "<b style='-webkit-text-fill-color: transparent'>{}</b>",
    "<b style='-webkit-text-fill-color: white; color: red'>{}</b>",
    "<div style='background: #000'><div style='background: rgba(255, 255, 255, 1); color: white'>{}</div></div>",
    "<div style='font-size: 0'><span style='font-size: 2em'>{}</span></div>",
    "<details><summary>more</summary>{}</details>",
    "<dialog>{}</dialog>",
    "<datalist><option>{}</datalist>",
    "<video>{}</video>",
    "<audio>{}</audio>",
    "<canvas>{}</canvas>",
    "<iframe>{}</iframe>",
    "<a href=x style='color: white'>{}</a>",
    "<body link=white><a href=x>{}</a>",
    "<b style='visibility: hidden'>{}</b>",
    "<font color=#ffffff>{}</font>",
    "<p>{}</p><body bgcolor=black>",
    "<div style='color: transparent'>{}</div>",
    "<div style='font: 0/0 a'>{}</div>",
    "<div style='font-size: calc(0px)'>{}</div>",
    "<div style='opacity: calc(0)'>{}</div>",
    "<div style='height: calc( 0px ); overflow: hidden'>{}</div>",
    "<div style='max-width: 0; overflow: hidden; white-space: nowrap'>{}</div>",
    "<div style='height: 3px; overflow: hidden'>{}</div>",
    "<div style='position: absolute; bottom: 9999px'>{}</div>",
    "<div style='position: absolute; inset: -9999px auto auto auto'>{}</div>",
    "<div style='margin-left: 9999px'>{}</div>",
    "<div style='padding: 0 0 0 9999px'>{}</div>",
    "<div style='margin-top: 20000px'>{}</div>",
    "<table><tr style='visibility: collapse'><td>{}</table>",
    "<table><td style='height: 0; overflow: hidden'>x</table><div style='height: 0; overflow: hidden'>{}</div>",
    "<b style='background: black'><p style='color: white'>{}</p></b>",
    "<span style='background: black'><div><i style='color: white'>{}</i></div></span>",
    "<!doctype html><style>.A {{display: none}}</style><b class=A>{}</b>",
    "<style>B.x {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, b:hover {{display: none}}</style><b class=x>{}</b>",
    "<style>.x {{display: none; & b {{color: red}}}}</style><p class=x>{}</p>",
    "<style>.x {{& b {{color: red}} display: none}}</style><p class=x>{}</p>",
    "<b style='color: rgb(calc(255) 255 255)'>{}</b>",
    "<b style='color: hsl(.5turn 100% 100%)'>{}</b>",
    "<div style='height: 0; overflow: hidden; position: relative'><p style='position: absolute; top: 0'>{}</p></div>",
    "<div style='height: 0; overflow: auto'><i style='position: sticky'><b style='position: absolute'>{}</b></i></div>",
    "<div style='height: 0; overflow: hidden'><p style='position: relative'>{}</p></div>",
    "<div style='height: 0; overflow: hidden'><p style='position: relative; top: 20px'>{}</p></div>",
    "<div style='height: 0; overflow: hidden'><p style='float: left'>{}</p></div>",
    "<div style='display: none'><p style='position: fixed'>{}</p></div>",
    "<div style='height: 0; overflow: clip'><b style='position: absolute; height: 0; overflow: hidden'>{}</b></div>",
    "<b style='color: white; text-shadow: 0 0 2px white'>{}</b>",
    "<b style='color: white; text-shadow: 9999px 0 black'>{}</b>",
    "<b style='color: white; text-shadow: none'>{}</b>",
    "<div style='text-shadow: 0 0 2px black'><b style='color: white; text-shadow: none'>{}</b></div>",
    "<div style='color: white; text-shadow: 0 0 2px'>{}</div>",
    "<div style='opacity: 0; text-shadow: 0 0 2px black'>{}</div>",
    "<dialog open style='left: -9999px'>{}</dialog>",
    "<dialog open style='top: -9999px'>{}</dialog>",
    "<style>dialog {{top: -999em}}</style><dialog open>{}</dialog>",
    "<style>b {{all: initial; display: none}}</style><b class=x>{}</b>",
]
VISIBLE = [
    "<div style='background: black; color: black'><a href=x>{}</a></div>",
    "<body link=red><div style='background: black; color: black'><a href=x>{}</a></div>",
    "<style>@media print {{.x {{display: none}}}}</style><b class=x>{}</b>",
    "<style>@media (max-width: 20px) {{.x {{display: none}}}}</style><b class=x>{}</b>",
    "<style>@media not screen {{.x {{display: none}}}}</style><b class=x>{}</b>",
    "<style>@keyframes x {{from {{opacity: 0}}}} .x {{color: red}}</style><b class=x>{}</b>",
    "<style media=print>.x {{display: none}}</style><b class=x>{}</b>",
    "<!-- <style>.x {{display: none}}</style> --><b class=x>{}</b>",
    "<style>div > b {{display: none}}</style><div><i><b>{}</b></i></div>",
    "<style>p b {{display: none}}</style><div><b>{}</b></div>",
    "<style>.a.b {{display: none}}</style><div class=a>{}</div>",
    "<style>p:hover {{display: none}}</style><p>{}</p>",
    "<style>a:visited {{display: none}}</style><a href=x>{}</a>",
    "<style>}} .x {{display: none}}</style><b class=x>{}</b>",
    "<style>/* .x {{display: none}} */</style><b class=x>{}</b>",
    "<style>body {{background: #000}}</style><body bgcolor=white><p style='color: white'>{}</p>",
    "<b style='dis/**/play: none'>{}</b>",
    "<b style='color: red; color: no-such-color'>{}</b>",
    "<b style='color: red!important; color: white'>{}</b>",
    "<b style='display: none; display: inline!important'>{}</b>",
    "<b style='background: rgba(0, 0, 0, .01); color: black'>{}</b>",
    "<b style='background: #00000000; color: black'>{}</b>",
    "<div style='background: hsl(240, 100%, 20%)'><b style='color: white'>{}</b></div>",
    "<div style='background: #000f'><b style='color: white'>{}</b></div>",
    "<div style='background: rebeccapurple'><b style='color: white'>{}</b></div>",
    "<div bgcolor=x style='background: black'><b style='color: lavenderblush'>{}</b></div>",
    "<table bgcolor=chucknorris><td><font color=white>{}</font></table>",
    "<div style='font-size: 0'><span style='font-size: small'>{}</span></div>",
    "<div style='visibility: hidden'><b style='visibility: visible'>{}</b></div>",
    "<div style='opacity: .5'>{}</div>",
    "<div style='height: 0'>{}</div>",
    "<span style='height: 0; overflow: hidden'>{}</span>",
    "<div style='height: 0; padding-top: 30px; padding-bottom: 30px; overflow: hidden'>{}</div>",
    "<div style='height: 0; min-height: 40px; overflow: hidden'>{}</div>",
    "<table><td style='height: 0; overflow: hidden'>{}</table>",
    "<div style='left: -9999px'>{}</div>",
    "<div style='margin-left: -3px'>{}</div>",
    "<details open><summary>more</summary>{}</details>",
    "<details><summary>{}</summary>rest</details>",
    "<dialog open>{}</dialog>",
    "<div style='background: black; color: black'><mark>{}</mark></div>",
    "<div style='background: black; color: black'><button>{}</button></div>",
    "<b style='color: white; -webkit-text-fill-color: red'>{}</b>",
    "<object>{}</object>",
    "<object data=x type=no/such>{}</object>",
    "<p hidden style='display: block'>{}</p>",
    "<div style='mso-hide: all'>{}</div>",
    "<div style='margin: -9999px 0 0 -9999px; margin-top: 0; margin-left: 1px'>{}</div>",
    "<div style='bottom: 9999px; inset: -9999px'>{}</div>",
    "<div style='background: linear-gradient(black, #111); color: white'>{}</div>",
    "<div style='background-color: rgb(0 0 0 / 80%); color: white'>{}</div>",
    "<style>:root {{--x: #000}}</style><div style='background: var(--x); color: white'>{}</div>",
    "<style>@media (prefers-color-scheme: dark) {{.x {{display: none}}}}</style><b class=x>{}</b>",
    "<div style='height: 0; overflow: hidden'>x</div><table><td style='height: 0; overflow: hidden'>{}</table>",
    "<b style='background: black'><i style='color: white'>{}</i></b>",
    "<b style='background: black; display: inline-block'><p style='color: white'>{}</p></b>",
    "<style>p:first-child {{display: none}}</style><div>x<br><p>{}</p></div>",
    "<style>:where(p, .x) b {{color: white}} b {{color: red}}</style><p><b>{}</b>",
    "<!doctype html><style>.A {{display: none}}</style><b class=a>{}</b>",
    "<!doctype html><style>#A {{display: none}}</style><b id=a>{}</b>",
    "<!doctype html><style>[class=A] {{display: none}}</style><b class=a>{}</b>",
    "<!doctype html><style>[class*=SEC] {{display: none}}</style><b class=secret>{}</b>",
    "<style>.x, b:no-such {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, b::no-such {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, b:: {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, b::-moz-selection {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, 1b {{display: none}}</style><b class=x>{}</b>",
    "<style>.x, [1] {{display: none}}</style><b class=x>{}</b>",
    "<style>div {{> b {{display: none}}}}</style><div><i><b>{}</b></i></div>",
    "<style>.x {{@media print {{display: none}}}}</style><p class=x>{}</p>",
    "<style>.x {{&:hover {{display: none}}}}</style><p class=x>{}</p>",
    "<b style='color: lab(20 0 0)'>{}</b>",
    "<b style='color: lch(20 30 100)'>{}</b>",
    "<b style='color: color(srgb .1 1 1)'>{}</b>",
    "<b style='color: color-mix(in srgb, white, black)'>{}</b>",
    "<b style='color: light-dark(black, white)'>{}</b>",
    "<div style='background: color-mix(in srgb, black, black)'><b style='color: white'>{}</b></div>",
    "<div style='height: 0; overflow: hidden'><p style='position: absolute'>{}</p></div>",
    "<div style='height: 0; overflow: hidden'><p style='position: absolute; top: 0'>{}</p></div>",
    "<div style='height: 0; overflow: hidden; position: relative'><p style='position: fixed; top: 0'>{}</p></div>",
    "<div style='max-height: 0; overflow: hidden'><b style='position: absolute'>{}</b></div>",
    "<b style='color: white; text-shadow: 0 0 2px black'>{}</b>",
    "<b style='color: white; text-shadow: 1px 1px #000'>{}</b>",
    "<b style='color: transparent; text-shadow: 0 0 0 #000'>{}</b>",
    "<div style='text-shadow: 0 0 2px black'><b style='color: white'>{}</b></div>",
    "<div style='color: white; text-shadow: 0 0 2px black, 0 0 3px white'>{}</div>",
    "<div style='color: white; text-shadow: 0 0 2px white, 0 0 3px black'>{}</div>",
    "<div style='color: white; -webkit-text-stroke: 1px black'>{}</div>",
    "<dialog open style='left: -9999px; position: static'>{}</dialog>",
    "<dialog open style='right: 9999px'>{}</dialog>",
    "<div style='background: black; color: black'><dialog open>{}</dialog></div>",
]
# Visible: where it is in doubt what a rule matches, it hides nothing and shows what others hide.
IN_DOUBT = [
    "<style>.x {{display: none}} .x:not(.y) {{display: inline}}</style><b class=x>{}</b>",
    "<style>.x:last-child {{display: none}} .x {{color: red}}</style><p><b class=x>{}</b><i></i></p>",
    "<style>.x {{display: none}} .x:last-child {{display: inline}}</style><p><b class=x>{}</b></p>",
    "<style>.x {{display: none}} [class] {{display: inline!important}}</style><p><b class=x>{}</b></p>",
    "<style>.x {{display: none!important}} i + b {{display: inline!important}}</style><p><i></i><b class=x>{}</b></p>",
    "<style>.x {{color: white}} :is(p, div) > b.x {{color: red}}</style><p><b class=x>{}</b></p>",
    "<style>.x {{color: white}} p.x:nth-child(1) {{background: black}}</style><div><p class=x>{}</p></div>",
    "<style>.x {{color: white}} p:not(.y) {{text-shadow: 0 0 2px black}}</style><div><p class=x>{}</p></div>",
    "<style>.x {{height: 0; overflow: hidden}} p:not(.y) {{min-height: 30px}}</style><div><p class=x>{}</p></div>",
    "<style>.x {{opacity: 0}} @media (min-width: 10px) {{.x {{opacity: 1}}}}</style><b class=x>{}</b>",
    "<style>.x {{font-size: 0}} @supports (display: grid) {{.x {{font-size: 9px}}}}</style><b class=x>{}</b>",
    "<style>.x {{visibility: hidden}} p {{& .x {{visibility: visible}}}}</style><p><b class=x>{}</b></p>",
    "<style>.x {{left: -9999px; position: relative}} p {{.x {{left: 0}}}}</style><p><b class=x>{}</b></p>",
    "<style media='(min-width: 10px)'>.x {{color: red}}</style><p><b class=x>{}</b></p>",
    "<style>.x, p:no-such {{display: none}}</style><p><b class=x>{}</b></p>",
    "<style>{{display: none}}</style><p>{}</p>",
    "<style>.x {{color: white; color: oklch(50% .1 200)}}</style><p><b class=x>{}</b></p>",
]
PAGES = [(page, False) for page in HIDDEN] + [(page, True) for page in VISIBLE]
# Of every second one, with another one inside; some other shifts would join two moves that undo each other.
EVERY = [page for page, _ in PAGES]
PAIRS = [outside.replace("{}", inside) for outside, inside in zip(EVERY, EVERY[64:] + EVERY[:64], strict=True)][::2]


@pytest.mark.parametrize(("page", "visible"), [*PAGES, *[(page, True) for page in IN_DOUBT]])
def test_words_are_visible_or_hidden(page: str, visible: bool) -> None:
    octets = page.format("secret").encode()
    found = read_html(octets, [])
    assert ("secret" in found.text.split()) == visible
    assert ("secret" in found.hidden.split()) == (not visible and "<iframe" not in page)
    assert read_source(octets, []) == tuple(found)


def test_tables_of_old_pages_have_letters_of_usual_size() -> None:
    """Without a doctype, that is; the frames below are of the new kind whatever stands in them."""
    table = b"<div style='font-size: 0'><table><td>secret</table></div>"
    assert read_html(table, []).text.split() == ["secret"]
    assert read_html(b"<!doctype html>" + table, []).hidden.split() == ["secret"]


@pytest.mark.parametrize(
    ("start", "old"),
    [
        ("", True),
        ("<html>", True),
        ("<!DOCTYPE html>", False),
        ("<!-- x -- ><!DOCTYPE x>--><?xml version='1.0'?>\n<!DOCTYPE html>", False),
        ("x<!DOCTYPE html>", True),
        ('<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2//EN">', True),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.0 Transitional//EN" "http://x/loose.dtd">', True),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN">', True),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://x/loose.dtd">', False),
        ('<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Transitional//EN" "http://x/x.dtd">', False),
    ],
)
def test_tables_of_old_pages_have_letters_of_the_pages_color(start: str, old: bool) -> None:
    """So they are told from new ones by what a document begins with."""
    page = f"{start}<div style='background: black; color: white'><table><td>secret</table></div>".encode()
    found = read_html(page, [])
    assert (found.hidden if old else found.text).split() == ["secret"]
    assert read_source(page, []) == tuple(found)
    assert read_html(page.replace(b"<div", b"<body text=white><div"), []).text.split() == ["secret"]
    assert read_html(page.replace(b"<div", b"<body style='color: white'><div"), []).text.split() == ["secret"]


def painted(pages: list[str], word: str, folder: Path) -> list[bytes]:
    """The pixels of each page with this word in it."""
    image = pytest.importorskip("PIL.Image", reason="the extra spamnb[plot] is not installed")
    frames = "".join(
        f'<iframe srcdoc="{html.escape(page.format(word))}" style="position:absolute;border:0;width:200px;height:100px;'
        f'left:{number % 6 * 200}px;top:{number // 6 * 100}px"></iframe>'
        for number, page in enumerate(pages)
    )
    (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body style='margin:0'>{frames}")
    high = (len(pages) // 6 + 1) * 100
    chromium = [which("chromium") or "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    shot = folder / f"{word}.png"
    options = [f"--screenshot={shot}", f"--window-size=1200,{high}", f"--user-data-dir={folder}/profile"]
    subprocess.run([*chromium, *options, f"file://{folder}/page.html"], check=True, capture_output=True, timeout=120)
    picture = image.open(shot).convert("RGB")
    places = [(number % 6 * 200, number // 6 * 100) for number in range(len(pages))]
    return [picture.crop((x, y, x + 200, y + 100)).tobytes() for x, y in places]


@pytest.mark.slow
@pytest.mark.skipif(which("chromium") is None, reason="chromium is not installed")
def test_chromium_paints_what_is_called_visible(tmp_path: Path) -> None:
    """Pages differ in nothing but a word; where no pixel tells them apart, the word is not seen."""
    pages = [*EVERY, *PAIRS]
    one, other = painted(pages, "secret", tmp_path), painted(pages, "terces", tmp_path)  # they are as wide
    seen = [max(abs(a - b) for a, b in zip(x, y, strict=True)) > 12 for x, y in zip(one, other, strict=True)]
    assert [page for (page, visible), is_seen in zip(PAGES, seen, strict=False) if is_seen != visible] == []
    wrong = []
    for page, is_seen in zip(PAIRS, seen[len(PAGES) :], strict=True):
        octets = ("<!doctype html>" + page.format("secret")).encode()  # as frames are
        found = read_html(octets, [])
        assert read_source(octets, []) == tuple(found)
        if ("secret" in found.text.split()) != is_seen:
            wrong.append(page)
    assert len(pages) > 200 and wrong == []
