"""What a person sees of HTML, and what not: pages that were made to deceive, and what Chromium paints of them."""

from __future__ import annotations

import html
import subprocess
from pathlib import Path
from shutil import which

import pytest

from spamnb.reader.message import Message, Reader, parse

# A browser shows the word "secret" of all of these. When in doubt text is visible.
SEEN = [
    # what looks like a style sheet or a <body>, and is none
    "<title><style>.a{display:none}</style></title><p class=a>secret",
    "<p title='<style>.a{display:none}</style>'>x</p><p class=a>secret",
    "<title><body text=white></title><p>secret",
    "<!-- <style>.a{display:none}</style> --><p class=a>secret",
    "</!-->secret", "</!--x>secret",
    "<style type=text/plain>.a{display:none}</style><p class=a>secret",
    "<style media=print>.a{display:none}</style><p class=a>secret",
    # declarations
    "<p style=\"font-family:';display:none;'\">secret",
    "<p hidden style='display:block'>secret",
    *(f"<p style='{style}'>secret" for style in (
        "font-size:2e1px", "font-size:1.2em", "font:12px/1 Arial", "display:none;display:block",
        "display:none;d\\69splay:block",
        "display:block!important;display:none", "dis/**/play:none", "color:red!important;color:white",
        "color:#fff!importan", "mso-hide:all", "display:none;all:unset")),
    # rules
    "<style>.a{display:none}</style><p class=a>secret<style>.a{display:block}</style>",
    "<!doctype html><style>.A{display:none} #B{display:none}</style><p class=a id=b>secret",
    "<style>.x0{display:none}.a{display:block}</style><p class='" + " ".join(f"x{i}" for i in range(40)) + " a'>secret",
    *(f"<style>{rule}</style><p class=a>secret" for rule in (
        ".a.b{display:none}", "b.a{display:none}", ".a{display:none} p.a{display:block}",
        ".a{display:none} .\\61{display:block}", "/*.a{display:none}*/", "} .a{display:none}",
        ".x{a:(} .a{display:none} )}")),
    # rules that say other things than they seem to
    "<style>.a{display:none} @media (x:" + "y" * 1000 + "), all{.a{display:block}}</style><p class=a>secret",
    "<style>.a{display:none}" + "@media screen{" * 12 + ".a{display:block}" + "}" * 12 + "</style><p class=a>secret",
    "<style>div{> b{display:none}}</style><div><i><b>secret</b></i></div>",
    *(f"<style>.a, {selector}{{display:none}}</style><p class=a>secret"
      for selector in ("", "b:no-such", "b::no-such", "b::", "b::-moz-selection", "1b", "[1]", "p >", "p:not(")),
    *(f"<style>.a{{display:none}} .b, {selector}{{display:block!important}}</style><div><i></i><p class=a>secret</div>"
      for selector in ("body .a", "body * .a", "div > .a", "i + p", "i ~ p", "[class]", "p:not(.y)", "p:is(.a)",
                       "p:last-child", ".a:nth-child(2)", "*|p")),
    "<style>.a{display:none} " + "b" * 5000 + ",.a{display:block}</style><p class=a>secret",
    *(f"<style>{rule}</style><p class=a>secret" for rule in (
        "@media print{.a{display:none}}", "@media (max-width:20px){.a{display:none}}",
        ".a{display:none} @media (min-width:1px){.a{display:block}}",
        "@keyframes x{from{opacity:0}} .a{color:red}", ".a{display:none;&{display:block}}",
        ".a, :no-such(x){display:none}")),
    *(f"<style>{rule}</style><div><p class=a>secret</div>" for rule in (
        ".a{color:white} p.a:nth-child(1){background:black}", ".a{color:white} p:not(.y){text-shadow:0 0 2px black}")),
    # colors
    *(f"<p style='color:{color}'>secret" for color in (
        "lab(20 0 0)", "color-mix(in srgb,white,black)", "white;color:oklch(50% .1 200)")),
    *(f"<div style='background:{color}'><b style='color:white'>secret</b></div>" for color in (
        "black", "#000f", "rebeccapurple", "hsl(240,100%,20%)", "color-mix(in srgb,black,black)")),
    *(f"<p style='color:white;{shadow}'>secret" for shadow in (
        "text-shadow:0 0 2px black", "text-shadow:1px 1px #000", "text-shadow:0 0 2px white,0 0 3px black",
        "-webkit-text-stroke:1px black", "-webkit-text-fill-color:red")),
    "<div style='text-shadow:0 0 2px black'><b style='color:white'>secret</b></div>",
    "<font color=white><font color=black>secret</font></font>",
    "<font color=black><p style='color:white'>secret</font>",
    "<font color=black><div style='color:white'><i>secret</i></font>",
    "<span style='height:0;overflow:hidden'>secret</span>",
    "<div style='height:0;overflow:hidden'><p style='position:absolute'>secret</div>",
    "<body style='height:0;overflow:hidden'>secret",
    *(f"<p style='{style}'>secret" for style in (
        "overflow:hidden;height:20px", "height:0%;overflow:hidden", "height:0;padding:9px;overflow:hidden",
        "height:0;min-height:40px;overflow:hidden", "width:0;padding:0 9px;overflow:hidden")),
    *(f"<table bgcolor={color}><td><font color=white>secret</font></table>" for color in ("chucknorris", "fff", "000")),
    "<p style='background-color:black;background-image:none;color:white'>secret",
    "<body bgcolor=black text=white><div style='all:unset'><b style='color:white'>secret</b></div>",
    "<body bgcolor=black text=white><p>secret",
    "<p>secret<body bgcolor=black text=white>",
    "<style>body{background:#000}</style><body bgcolor=white><p style='color:#fff'>secret",
    "<body bgcolor=black text=white><span style='background:white'><div>secret</div></span>",
    "<b style='background:black;display:inline-block'><p style='color:white'>secret</b>",
    *(f"<div style='background:black;color:black'>{own}</div>" for own in (
        "<a href=x>secret</a>", "<mark>secret</mark>", "<button>secret</button>", "<dialog open>secret</dialog>")),
    # sizes, opacity, visibility
    "<!doctype html><p style='font-size:1'>secret",
    "<div style='font-size:0'><span style='font-size:small'>secret</span></div>",
    "<div style='visibility:hidden'><p style='visibility:visible'>secret</div>",
    "<p style='opacity:50%'>secret",
    # properties that are not understood
    *(f"<div style='{style}'>secret</div>" for style in (
        "color:#fff;backdrop-filter:invert(1)", "color:#fff;box-shadow:inset 0 0 0 900px #000", "font-size:1px;zoom:16",
        "height:0;block-size:20px;overflow:hidden", "height:0;overflow:hidden;min-block-size:20px")),
    "<div style='zoom:16'><p style='font-size:1px'>secret</div>",
    "<div style='background:#000;height:50px'></div>"
    "<div style='margin-top:-40px;color:#fff;position:relative'>secret</div>",
    "<div style='display:flex;flex-flow:column;height:50px'><p style='height:0;overflow:hidden;flex:1'>secret</div>",
    "<meta name=color-scheme content=dark><p style='color:#fff'>secret",
    # elements
    "<div style='display:none'>x</div>secret",
    *(f"<svg width=9 height=9><{tag}><p>secret</svg>" for tag in "style iframe noscript template".split()),
    "<svg><foreignObject width=100 height=50><![CDATA[secret]]></foreignObject></svg>",
    "<iframe srcdoc='&lt;p>secret'></iframe>",
    "<div><template shadowrootmode=open><p>secret</template></div>",
    "<input value=secret>", "<input type=submit value=secret>", "<input placeholder=secret>",
    "<textarea placeholder=secret></textarea>", "<img alt=secret src=x width=100 height=50>",
    "<select multiple size=2><optgroup label=secret></optgroup></select>", "<select><option label=secret></select>",
]  # fmt: skip
# Words that a person sees as one.
ONE_WORD = [
    "sec<title></title>ret",
    "sec<input type=hidden>ret",
    "sec<option hidden></option>ret",
    "sec&#1;ret",
    "sec\x02ret",
    "sec&#x81;ret",
    "sec<img width=0>ret",
    "sec<br hidden>ret",
    "s<b>.</b>e<i>.</i>c.r.e.t",
]
# And words that he sees apart, by elements that may take room or none.
TWO_WORDS = [
    "<span style='display:block'>secret</span><span style='display:block'>other</span>",
    "<b style='margin-right:5px;display:inline-block'>secret</b>other",
    "secret<svg width=6 height=1></svg>other",
    "secret<img src=x>other",
]
# Seen where a picture is there, by a browser of tomorrow, or with good eyes.
IN_DOUBT = [
    "<p style='color:white;background:url(x.png)'>secret",
    "<table><tr><td background=x.png><font color=white>secret</font></table>",
    "<p style='opacity:.1'>secret",
    "<p style='font-size:3px'>secret",
    # Not followed: who hides good text gains no more than who shows it.
    *(f"<p style='{style}'>secret" for style in ("font:0/0 a", "clip-path:inset(100%)")),
    "<div style='height:0;overflow:hidden'><p style='position:relative'>secret</div>",
    "<div style='opacity:.2'><p style='opacity:.2'>secret</div>",
]
# And of these it shows none, or nothing that can be read.
HIDDEN = [
    *(f"<p style='{style}'>secret" for style in (
        "display:none", "DISPLAY : None !IMPORTANT", "/**/display:/**/none", "&#100;isplay:none", "visibility:hidden",
        "opacity:1e-9", "opacity:0;text-shadow:0 0 2px black", "font-size:0", "font-size:1e-1px",
        "color:white", "color:#fefefe", "color:transparent", "display:none;zoom:2;mso-hide:all", "color:white;margin:0",
        "max-height:0px;overflow-y:hidden", "max-height:0;overflow:clip;padding:0",
        "width:1px;height:1px;overflow:hidden",
        "background:black", "background:black;color:#010101", "color:white;text-shadow:none")),
    "<span style=display:none>secret</span>",
    "<p hidden>secret",
    "<font color=white>secret</font>",
    "<body bgcolor=black><p>secret",
    "<p>secret<body bgcolor=black>",
    "<table bgcolor=#f00><tr><td><font color=ff0000>secret</font></table>",
    "<table><tr style='visibility:collapse'><td>secret</table>",
    # what is inherited
    "<div style='display:none'><p style='display:block'>secret</div>",
    "<div style='font-size:0'><p>secret</div>",
    "<div style='opacity:0'><p style='opacity:1'>secret</div>",
    "<div style='background:#000'><div style='background:#fff;color:white'>secret</div></div>",
    # simple sheets
    *(f"<style>{rule}</style><p class='b a' id=i>secret" for rule in (
        ".a{display:none}", "p{display:none}", "P{display:none}", "#i{color:#fff}", "p.a{display:none}",
        "p#i{display:none}", ".x, .a{display:none}", "*{color:white}", ".a{color:white!important} .a{color:red}",
        "p.a{color:white} .a{color:red} p{color:red}", "<!-- .a{display:none} -->",
        "/*}*/.a/*{*/{display:/*block*/none}", ".x{content:'}'} .a{display:none}",
        "@import url(x.css); .a{display:none}", "@charset 'utf-8'; .a{display:none}",
        "@font-face{font-family:x;src:url(x)} .a{display:none}")),
    "<p title='<!--'></p><style>.a{display:none}</style><p class=a>secret",
    "<style>p{color:white!important}</style><p style='color:red'>secret",
    "<p class=a>secret<style>.a{display:none}</style>",
    # elements
    *(f"<{tag}>secret</{tag}>" for tag in ("datalist", "video", "audio", "canvas")),
]  # fmt: skip
NO_TEXT = ["<!--secret-->", *(f"<{tag}>secret</{tag}>" for tag in "template script style noframes iframe".split())]


def read(page: str) -> Message:
    return parse(b"Content-Type: text/html; charset=utf-8\n\n" + page.encode())


@pytest.mark.parametrize("page", SEEN + IN_DOUBT)
def test_what_a_browser_shows_is_seen(page: str) -> None:
    message = read(page)
    assert "secret" in " ".join(message.texts).split() and "secret" not in message.hidden


@pytest.mark.parametrize("page", ONE_WORD + TWO_WORDS)
def test_words_are_those_that_are_seen(page: str) -> None:
    found = Reader().tokens(b"Content-Type: text/html; charset=utf-8\n\n<p>" + page.encode())
    assert "secret" in found and ("other" in found or page in ONE_WORD)


def test_titles_do_not_use_up_the_words_that_are_read() -> None:
    assert "secret" in Reader().tokens(b"Content-Type: text/html\n\n<title>" + b"good " * 2000 + b"</title><p>secret")


@pytest.mark.parametrize("page", HIDDEN)
def test_what_a_browser_hides_is_kept_apart(page: str) -> None:
    message = read(page)
    assert "secret" not in " ".join(message.texts) and "secret" in message.hidden


@pytest.mark.parametrize("page", NO_TEXT)
def test_what_is_no_text_is_not_read(page: str) -> None:
    assert "".join(read(f"{page}<p>x").texts).split() == ["x"]


def test_a_person_sees_both_sides_of_hidden_text() -> None:
    message = read("<body><p>seen <span hidden>secret <b>too</b></span> shown</p>")
    assert " ".join(message.texts).split() == ["seen", "shown"] and message.hidden.split() == ["secret", "too"]


def painted(pages: list[str], word: str, folder: Path) -> list[bytes]:
    """Return the pixels of each page with ``word`` in the place of "secret"."""
    image = pytest.importorskip("PIL.Image", reason="the extra spamnb[plot] is not installed")
    places = [(number % 6 * 200, number // 6 * 100) for number in range(len(pages))]
    frames = "".join(
        f'<iframe srcdoc="{html.escape(page.replace("secret", word))}" style="position:absolute;border:0;width:200px;'
        f'height:100px;left:{x}px;top:{y}px"></iframe>'
        for page, (x, y) in zip(pages, places)
    )
    (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body style='margin:0'>{frames}")
    chromium = [which("chromium") or "chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars"]
    shot, high = folder / f"{word}.png", places[-1][1] + 100
    options = [f"--screenshot={shot}", f"--window-size=1200,{high}", f"--user-data-dir={folder}/profile"]
    subprocess.run([*chromium, *options, f"file://{folder}/page.html"], check=True, capture_output=True, timeout=300)
    picture = image.open(shot).convert("RGB")
    return [picture.crop((x, y, x + 200, y + 100)).tobytes() for x, y in places]


@pytest.mark.slow
@pytest.mark.skipif(which("chromium") is None, reason="chromium is not installed")
def test_chromium_paints_what_is_called_visible(tmp_path: Path) -> None:
    """Pages differ in nothing but a word as wide; where no pixel tells them apart, the word is not seen."""
    every = [page for page in SEEN + HIDDEN if len(page) < 1000 and "1px" not in page]  # these letters are too small
    pairs = [one.replace("secret", other) for one, other in zip(every, every[64:] + every[:64])]
    start = "<!doctype html><style>a{text-decoration:none}</style>"  # a line under a word goes around its letters
    pages = [start + page for page in every + pairs]
    one, other = painted(pages, "secret", tmp_path), painted(pages, "terces", tmp_path)
    seen = [max(abs(a - b) for a, b in zip(x, y, strict=True)) > 12 for x, y in zip(one, other, strict=True)]
    assert [page for page, is_seen in zip(every, seen) if is_seen == (page in HIDDEN)] == []
    kept_out = [page for page, is_seen in zip(pages, seen) if is_seen and "secret" not in " ".join(read(page).texts)]
    assert kept_out == []
