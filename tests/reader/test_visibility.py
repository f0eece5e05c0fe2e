"""Text that is shown plainly, text that may be hidden, and no text: pages that deceive, and what Chromium paints."""

from __future__ import annotations

import base64
import html
import io
import itertools
import random
import sys
from pathlib import Path

import pytest
from chromium import Chromium

from spamnb.reader.message import Message, Reader, parse

sys.path.insert(0, str(Path(__file__).parent))
from filling import LAYOUTS, fill_layout
from pages import made_page
from templates import made_template

BLANKS = "&nbsp;" * 30
DEEP = "(" * 1100 + ")" * 1100
BLACK_PICTURE = "data:image/gif;base64,R0lGODdhAQABAIAAAAAAAAAAACwAAAAAAQABAAACAkQBADs="
# A browser shows the word "secret" of all of these.
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


# What good mail does is plain.
PLAIN = [
    *(f"<style>.button {selector}{{color:white}}</style><p class=button>x</p><p class=a><a href=x class=b>secret</a>"
      for selector in ("a", "> a", ".b", ".a a", "p.a > .b")),
    "secret", "<p>secret", "<o:p>secret</o:p>", "<someone@host.example>secret", "<font color=red><b>secret</b></font>",
    *(f"<p style='{style}'>secret" for style in (
        "color:#777", "background:#fff url(http://a.example/x.png) repeat", "background-image:url(x.png)",
        "font:bold 12px/1.4 Arial", "font-size:80%", "margin:0 auto;padding:10px 20px", "mso-hide:all",
        "border:1px solid rgb(204, 204, 204);border-radius:4px", "color:#ff0000!important", "display:block;width:100%",
        "line-height:1.5;letter-spacing:-.5px;text-decoration:none", "overflow:hidden;max-width:600px",
        "background:none", "min-height:0;vertical-align:top", "position:relative;top:2px", "margin-top:-10px",
        "fcolor:#181717;margin-auto:0px;-webkit-align-self:center;: red;x", "mso-line-height-alt:0;-ms-x:1",
        "box-shadow:0 4px 40px rgba(0, 0, 0, .2)", "border:1px solid rgba(0,0,0,.1)", "opacity:1;visibility:visible")),
    "<div style='font-size:0;line-height:0'><span style='font-size:14px;line-height:20px'>secret</span></div>",
    "<table><td bgcolor=black><font color=white>secret</font></table>",
    "<table><tr><td bgcolor=#222222><a href=x style='color:#fff'>secret</a></table>",
    "<div style='color:white'><p style='color:black'>secret</div>",
    "<div style='background:#000;color:#fff'>x</div>secret", "<div style='display:none'>x</div>secret",
    "<style>.dark{background:#000;color:#fff}</style><p class=dark>secret",
    "<style>a{color:#00f} a:hover{color:#fff} .x{display:none}</style><a href=y>secret</a>",
    "<style>@font-face{font-family:a;src:url(https://a.example/x)}</style>secret",
    "<style>@media (prefers-color-scheme: dark){p{color:#fff!important}}</style><p>secret",
    "<style>@media print{p{display:none}}</style><p>secret",
    "<style>td[class=gone]{display:none} u + .body{font-size:0}</style><table><td class=here>secret</table>",
    "<style>@import url(https://fonts.example/a); p{margin:0}</style><p>secret",
    # rules for a class, an id or an attribute that the page does not have
    *(f"<style>{selector}{{display:none}}</style><img class=y src=z><div data-z><p>secret</div>" for selector in (
        "img.x + div", "#x ~ div", "[data-x] p", "[data-x=z] p", ".x:first-child p", "div[class='x'] p",
        "[id=x] ~ div", "[class*=x]", "[class^='x'] p", "[class$=x]", "[class|=x]", "div[id*=x]", ".x/**/.y")),
    "<style>[class*=x]{display:none}</style><b class=xy></b><p class=a>secret",
    *(f"<p style='color-scheme:{scheme}'>secret" for scheme in ("light dark", "dark light", "only light", "normal")),
    "<blockquote style='margin:0px 0px 0px 0.8ex;padding-left:1ex'>secret</blockquote>",
    "<div style='overflow:hidden'><table style='table-layout:fixed;width:100%'><td>"
    "<table><td style='white-space:nowrap'>secret</table></table></div>",
    "<p style='background:#fff url(x.png) no-repeat center center/cover'>secret",
    "<table><td bgcolor=#222222 style='background:#222 url(x.png) repeat-x 0 0;color:#fff'>secret</table>",
    "<p style='font:bold 12px/14px Arial'>secret",
    "<p style='font:350 14px Arial'>secret",
    "<p style='background:url(x.png) left 45px center no-repeat'>secret",
    *(f"<p style='{style}'>secret" for style in (
        "padding:-5px", "font:Arial 14px", "font:Arial, sans-serif", "font:condensed 14px Arial",
        "background:url(x.png) left 45px top 5px", "background:url(x.png) right 10px center",
        "background:#fff none repeat scroll 0 0/auto", "box-shadow:11px 11px 49px 0 rgba(0,0,0,.5)")),
    "<meta name=color-scheme content='light, dark'>secret",
    "<style>*{line-height:inherit}</style><div style='line-height:0'><p style='line-height:20px'>secret</div>",
    "<form><b></form>secret",
    "<style>:root{color-scheme:light dark;supported-color-schemes:light dark}</style>secret",
    "<p style='caret-color:#000;font-variant-caps:normal;-webkit-text-stroke-width:0px'>secret",
    "<style>v\\:* {behavior:url(#default#VML)} .a{page:b}</style><p class=a>secret",
    "<p><font color=white>x</p></font><p>secret", "<b><p>x</b> secret", "<i><div>x</i><p>secret",
    "<font color=white><table><tr><td><font color=red>secret</font></table></font>",
    "<body bgcolor=white link=#0000ff><a href=x>secret</a>", "<p>secret<img alt=x src=y>", "<title>x</title><p>secret",
    "<div style='overflow:hidden'><div style='padding:9px'>secret</div></div>",
    "<div style='overflow:hidden;border-radius:8px'><table><tr><td height=40 width=90 style='height:40px;width:90px;"
    "white-space:nowrap'>secret</table></div>", "<div dir=rtl style='direction:rtl'>secret</div>",
    "<p>secret<img style='position:absolute;visibility:hidden' src=y>",
    # buttons, large letters, and lines that are multiples of them
    "secret<br>y<br>" + "z <b style='background:#ff0;padding:3px'>x</b> " * 9,
    "<p>secret<p>y<p>z<div style='margin-top:-12px'>x</div>",
    "secret<br>x<br>E = mc<sup style='position:relative;top:-.5em'>2</sup>",
    "<style>li::before{content:'*';position:absolute;left:0}</style><ul><li>secret</ul>",
    "<p style='cellpaddin g:0'>secret",
    "<p style='font-color:black;-ms-hyphens:x;-premailer-width:9'>secret",
    "<p>secret<br>y<br><a style='background:#00f;color:#fff;padding:10px 20px'>x</a>",
    "<p>secret<br><a style='background:#00f;color:#fff;padding:30px;display:inline-block'>x</a>",
    "<style>.a a{background:#00f;color:#fff;padding:12px 24px}</style><p class=a>secret <a style='display:block'>x</a>",
    "<h1 style='font-size:40px;line-height:1.1'><span style='background:#ff0'>secret</span></h1>",
    *(f"<p style='{style}'>secret" for style in ("max-width:900px", "float:right", "margin:0 -10px", "direction:rtl")),
    "<style>p:before{content:'a'}</style><p>secret",
]  # fmt: skip
# Chromium shows no word of these, though it is far from the property, the tag or the rule that hides it.
FAR = [
    *(f"<style>{selector}{{display:none}}</style><div class='x y' id=i><section><b class=a>secret</b></section></div>"
      for selector in (".x b", "#i .a", ".x > section > b", "div.y section b", ".x:not(.z) .a",
                       ":is(.z, .x) b", ".x *")),
    "<p><font color=white>x</p><p>secret", "<div><b style='display:none'>x</div>secret",
    "<table><tr><td style='display:block;height:0;overflow:hidden'>secret</td></tr></table>",
    "<style>[id~=b]{display:none}</style><p id='a b'>secret</p>",
    "<b style='font-size:0'><p>x</b>y</p><p style='display:none'>secret",
    "<font color=black><div style='color:white'><i><p style='background:black'>secret</i></font>",
    "<font color=black><p style='background:black;color:white'><i>secret</i></font>",
    "<a href=x><div style='color:white;background:#00e'>secret</a>",
    "<a style='color:white'><p>x<a>y</a></p><p style='visibility:hidden'>secret",
    "<style>.a{color:#000!important}</style><p class=a style='background:#000;color:#fff'>secret",
    "<style>.a{background:#fff}.b{color:#fff}</style><div class=a style='color:#000'><p class=b>secret</div>",
    "<style>.a{color:#fff}</style><div style='background:#000'><p class=a style='background:#fff'>secret</div>",
    "<style>.a{background:#000;color:#fff}.b{background:#fff!important}</style><p class='a b'>secret",
    "<style>.a{background:#000;color:#fff}.b{color:#000!important}</style><p class='a b'>secret",
    "<style>.a{background:#000;color:#fff}</style><p style='color:#000' class=a>secret",
    "<style>.a{background:#fff;color:#000}</style><p style='background:#000' class=a>secret",
    "<style>[class~='b']{display:none}</style><p class='a b'>secret",
    *(f"<style>{selector}{{display:none}}</style><img class='x a@b' id=y DATA-Z=z>"
      "<div><b class='c d'>secret</b></div>" for selector in (
                       "img.x + div", "#y ~ div", "[data-z] + div", "[data-z=z] ~ div b", ".a\\@b + div", "[class^=c]",
                       "[class='c d']", "[class*=' ']", "div [class~=d]", "[*|class]", ":not([data-x]) b")),
    "<style>.\\61 {display:none}</style><p class=a>secret",
    "<style>@import 'data:text/css,p{display:none}';</style><p>secret",
    "<link rel=stylesheet href='data:text/css,p{display:none}'><p>secret",
    "<style>div{p{display:none}}</style><div><p>secret</div>", "<style>p{d\\69splay:none}</style><p>secret",
    "<p>secret</p><div style='margin-top:-60px;height:60px;background:#fff;position:relative'></div>",
    "<p>secret</p><div style='position:absolute;inset:0;background:#fff'></div>",
    *(f"<p style='margin:0'>secret</p><p style='margin:0;position:relative;{style}'>&nbsp;</p>" for style in (
        "margin-top:-18px;background:#fff", "background:#fff;top:-18px", "box-shadow:0 -18px #fff",
        "box-shadow:0 0 0 20px #fff", "outline:20px solid #fff")),
    "<p style='font-size:1.2em;font-size:0'>secret", "<p style='color:#fff!important;color:red'>secret",
    "<div style='opacity:.2'><p style='opacity:.05'>secret</div>",
    "<small>" * 12 + "secret", "<svg><defs><text>secret</text></defs></svg>", "<div popover>secret</div>",
    "<dialog>secret</dialog>", "<details><p>secret</details>", "<select><option>x<option>secret</select>",
    "<b style='display:none' alt=secret>x</b>", "<img width=0 height=0 alt=secret>",
    "<div bgcolor=black><font color=white>secret</font></div>",
    "<body link=white><a href=x>secret</a>", "<video>secret</video>", "<p style='font-size-adjust:0'>secret",
    # a box that clips around one that is small or pushed, and the other way round
    *(f"<div style='{outer}'><div style='{inner}'>secret</div></div>" for outer, inner in (
        ("overflow:hidden", "height:0"), ("height:0", "height:100%;overflow:hidden"), ("width:0", "overflow:hidden"),
        ("display:flex", "flex:0 0 0;overflow:hidden"), ("overflow:hidden", "width:900px;text-align:right"),
        ("overflow:clip", "float:left"), ("text-align:right;overflow:hidden;width:200px", "margin-left:400px"),
        ("text-align:right;overflow:hidden;width:200px", "padding-left:400px"),
        ("float:right;min-width:5000px", ""), ("float:right;width:5000px", ""),
        ("overflow:hidden", "text-indent:400px"), ("direction:rtl", "width:5000px;direction:ltr"),
        ("display:flex;justify-content:flex-end", "width:5000px;flex-shrink:0"))),
    # colors and backgrounds
    "<div style='background:#000;color:#fff'><b style='all:initial'>secret</b></div>",
    "<p style='color:#fff;background:#000;border:2px solid;border-image:linear-gradient(#fff,#fff) 1 fill'>secret",
    "<p style='background:currentcolor'>secret",
    f"<table background='{BLACK_PICTURE}'><td>secret</table>",
    "<div style='background:#fff'><p style='position:relative;z-index:-1'>secret</div>",
    "<p style='font-size:6px;text-decoration:line-through 12px white'>secret",
    f"<p style='content:url({BLACK_PICTURE})'>secret",
    # columns
    "<table><col style='visibility:collapse'><td>secret</table>", "<table><col bgcolor=black><td>secret</table>",
    "<table><colgroup style='background:#000'><td>secret</table>",
    # boxes without text that cover others
    *(f"<p>secret</p><{tag} style='position:fixed;top:0;left:0;width:900px;height:900px;background:#fff;border:0'>"
      for tag in ("hr", "input", "iframe")),
    # the unit rem, sheets in svg, letters of a font
    "<html style='font-size:1px'><p style='font-size:1rem'>secret",
    "<svg width=0 height=0><style>.a{display:none}</style></svg><p class=a>secret",
    "<style>@font-face{font-family:a;src:local('DejaVu Sans');size-adjust:0%}</style><p style='font-family:a'>secret",
    # comments in selectors
    *(f"<style>{selector}{{display:none}}</style><p class='a b'>secret" for selector in (
        ".a/**/.b", "p/*x*/.b", ".a/**/.b/**/,.c", "/**/.a/**/[class]", "[class*=a]", "[class^=a]", "[class$=b]")),
    "<style>[id*=b]{display:none}</style><p id='a b'>secret",
    # parts of tables that do not grow with their text
    *(f"<div style='overflow:hidden'><table>{rows}secret</table></div>" for rows in (
        "<tr style='display:flex'><td style='height:0;padding:0'>",
        "<tbody style='display:flex'><tr style='height:0'><td style='padding:0'>")),
    "<style>table{display:flex}</style>"
    "<div style='overflow:hidden'><table><caption style='height:0'>secret</table></div>",
    *(f"<b style='overflow:hidden;display:inline-block'><table style='{table}'><td style='{cell}'>secret</table></b>"
      for table, cell in (("", "display:block;height:0"), ("display:block;height:0", ""), ("", "float:left;height:0"),
                          ("table-layout:fixed;width:1px", ""), ("table-layout:fixed;width:10px", "width:1px"))),
    "<style>td{display:block;height:0}</style><div style='overflow:hidden'><table><td>secret</table></div>",
    # values that browsers do not read
    *(f"<div style='font-size:0'><p style='{style}'>secret</div>" for style in (
        "font-size:14", "font:12px", "font-size:14px!importan", "font-size:1/**/4px", "font-size:-14px",
        "font-size:larger", "font-size:1.5em", "font:12px!x", "font-size:14.px", "font-size:1.e1px",
        "font-size:1\\34 px",
        *(f"font:{font}" for font in (
            "12px 5a", "12px Arial,", "12px 12px", "12px ,a", "12px a,,b", "12px inherit", "12px #a", "12px a b!x",
            '12px "a" b', "initial a", "bold bold 12px a", "bold 700 12px a", "normal " * 5 + "12px a")))),
    *(f"<p style='color:white;{style}'>secret" for style in (
        "background:black!importan", "background:5 black", "background:white black", "background:0 0 0 black",
        "background:transparent black", "color:rgb(0,0 0)", "color:rgb(0 0,0)",
        "background-color:0 0 black",
        *(f"background-color:{color}" for color in (
            "black none", "black left", "rgb(0 0 0, 1)", "rgba(0 0 0,1)", "rgb(0.,0,0)")),
        *(f"background:black {rest}" for rest in (
            "//cover", "/ cover", "cover", "auto", "initial", "none none", "url(a) url(b)", "url(a)url(b)", ",",
            "0/-5px",
            "repeat repeat repeat", "left left", "left right", "top 5px", "left/", "fixed scroll", "5.px")))),
    # numbers that are weights of letters, and no sizes
    *(f"<p style='font:{font}'>secret" for font in ("20 1px a", "+20 1px a", "2e1 1px a", "italic 20 1px/1 a")),
    "<div style='line-height:0;overflow:hidden'><p style='line-height:inherit;margin:0'>secret</div>",
    "<style>p{line-height:unset!important}</style>"
    "<div style='line-height:0;overflow:hidden'><p style='line-height:1;margin:0'>secret</div>",
    "<p style='--x:0/0 a;font:var(--x)'>secret",
    "<div style='background:#000;color:#fff'>"
    "<table><td bgcolor=white style='color:#fff;background-color:none'>secret</table></div>",
    # the scheme of dark colors, and rules that look like other ones
    "<html style='color-scheme:dark xlight'><body bgcolor=white>secret",
    "<style>:root{color-scheme:dark xlight}</style><body bgcolor=white>secret",
    "<meta name=color-scheme content='dark xlight'><body bgcolor=white>secret",
    "<style>@layer keyframes{.a{display:none}}</style><p class=a>secret",
    # inner shadows, and lines that begin left of their box
    "<div style='background:#000;color:#fff;box-shadow:inset 0 12px #fff,inset 0 -12px #fff'>secret</div>",
    "<div style='background:#000;color:#fff;box-shadow:inset 12px 12px 0 12px #fff'>secret</div>",
    "<div style='box-shadow:0 12px 0 12px #000'>x</div><div>secret</div>",
    "<p style='text-indent:-80px'>secret",
    *(f"<p style='margin-left:80px;text-indent:-80px;{style}'>secret" for style in (
        "margin-left:0", "margin-inline-start:0", "display:table-cell", "margin:1px auto")),
    "<a style='margin-left:80px;text-indent:-80px'><p>secret</p></a>",
    "<p style='font-size:6px;margin-left:5em;text-indent:-80px'>secret",
    "<p style='margin-left:80px;text-indent:-80px'><span style='display:inline-block'>secret</span>",
    "<style>p{margin-left:0!important}</style><p style='margin-left:80px;text-indent:-80px'>secret",
    "<table><td style='margin-left:80px;text-indent:-80px'>secret</table>",
    # elements that other elements do not end
    "<audio><p>x<audio><p>secret", "<p>x<canvas><svg><summary>secret", "<form><audio></form>secret</audio>",
    "<form style='display:none'><table><tr><td></form>secret",
    "<div style='font-size:0'><form><form style='font-size:14px'>secret",
    "<div style='font-size:0'><form style='font-size:14px'><b></form></b>secret",
    *(f"<div style='font-size:0'><form><{tag} style='font-size:14px'></form>secret</div>"
      for tag in ("p", "li", "ul><li", "dd", "dt", "rb")),
    "<spacer style='display:none'>secret", "<frameset><p>secret",
    # boxes of a fixed size, whose text a later box covers
    *(f"<{tag} style='{style}'>secret </{tag}><{tag} style='display:inline-block;background:#fff;width:250px'>x</{tag}>"
      for tag, style in (("b", "display:inline-block;width:0"), ("div", "height:0"), ("div", "max-height:0"),
                         ("div", "float:left;width:0"), ("b", "display:inline-block;width:0;white-space:nowrap"))),
    "<div style='display:flex'><div style='width:0'>secret</div><div style='background:#fff;width:250px'>x</div></div>",
    # a color and a background by two rules
    *(f"<style>{rules}</style><p class='a b'>secret" for rules in (
        ".a{color:#111;background:#fff!important}.b{color:#fff!important;background:#111}",
        ".a{color:#111;background:#fff}.b{color:#fff;background:5 #111}")),
    *(f"<style>@scope(.a){{{rule}}}</style><div class=a><p>secret</div>" for rule in (
        "display:none", ":scope{display:none}", "p{display:none}")),
    # where browsers read on, and where they do not
    *(f"<p style='{style}'>secret" for style in (
        "@x{b:c} display:none", "color:red;@media screen{color:red}font-size:0", f"x:{DEEP};display:none",
        f"@x{{a:{DEEP}}} display:none")),
    f"<style>@media all and {DEEP}{{}} .a{{display:none}}</style><p class=a>secret",
    # boxes that are painted above later text
    *(f"<p>x<br>y<p style='margin:0'><b style='background:#fff;padding:20px;{style}'>{BLANKS}</b>"
      "<p style='margin:0'>secret" for style in (
        "isolation:isolate", "will-change:opacity", "clip-path:inset(-99px)", "clip-path:border-box",
        "mask:linear-gradient(#000,#000)", "view-transition-name:a")),
    "<div style='overflow:hidden'><table style='border-spacing:900px'><td>secret</table></div>",
    "<div style='overflow:hidden'><table style='-webkit-border-horizontal-spacing:900px'><td>secret</table></div>",
    "<p style='offset:border-box'>secret", "<p style='offset-path:padding-box'>secret",
    "<p style='scale:0'>secret", "<p style='outline:400px solid #fff;outline-offset:-400px'>secret",
    # boxes and letters that reach over the line before
    *(f"<p style='margin:0'>secret</p>{later}" for later in (
        f"<p style='margin:0'><b style='background:#fff;padding:20px'>{BLANKS}</b>",
        f"<b style='background:#fff;padding-block:20px'>{BLANKS}</b>",
        f"<b style='border:40px solid #fff'>{BLANKS}</b>",
        f"<style>.a{{padding:20px;background:#fff}} @media (min-width:9999px){{.a{{display:block}}}}</style>"
        f"<b class=a>{BLANKS}</b>",
        f"<p style='margin:0;line-height:8px'><b style='font-size:100px;background:#fff'>{BLANKS}</b>",
        "<style>i::first-letter{font-size:100px;line-height:8px;background:#fff}</style><i style='display:block'>M</i>",
        "<style>i::first-line{font-size:100px;line-height:8px;background:#fff}</style>"
        f"<i style='display:block'>{BLANKS}</i>",
        "<style>i::before{content:'" + "\xa0" * 30 + "';background:#fff;padding:20px}</style><i></i>",
        "<style>i::before{content:'';position:absolute;inset:0;background:#fff}</style><i></i>",
        "<b style='color:#111;-webkit-text-stroke:40px #fff'>xxxxxx</b>",
        "<div style='filter:drop-shadow(0 -20px 0 #fff)'><b style='background:#000;color:#fff'>MMMMMMM</b></div>",
        "<style>@keyframes k{from,to{position:relative;transform:translateY(-20px)}}</style>"
        f"<div style='background:#fff;animation:k 1s infinite'>{BLANKS}</div>",
        "<b style='text-shadow:" + ",".join([f"{x}px -18px #fff" for x in range(-10, 10, 2)]) + "'>MMMMMMM</b>",
        "<img style='position:absolute;inset:0;background:#fff;width:300px;height:100px'>",
        "<img style='margin-top:-30px;background:#fff;width:300px;height:100px'>")),
    "secret" + "<b style='margin-left:-12px'></b>" * 5 + f"<b style='background:#fff'>{BLANKS}</b>",
    f"<b style='position:relative;background:#fff;padding:20px'>{BLANKS}</b><p style='margin:0'>secret",
    f"<i style='position:relative'><b style='background:#fff;padding:20px'>{BLANKS}</b></i><p style='margin:0'>secret",
    "<p style='margin:0;line-height:7px'>secret<br><span style='font-size:60px;color:#fff'>██████████████</span>",
    f"<div style='font-size:1px;line-height:1em'><div style='font-size:16px'>secret<br>"
    f"<b style='background:#fff'>{BLANKS}</b></div></div>",
    "<div style='display:flex;overflow:hidden;width:200px'><i style='order:1'>secret</i>"
    "<b style='width:200px;flex-shrink:0'>x</b></div>",
]  # fmt: skip


@pytest.mark.parametrize("page", SEEN + IN_DOUBT)
def test_what_a_browser_shows_is_read(page: str) -> None:
    message = read(page)
    assert "secret" in f"{' '.join(message.texts)} {message.doubtful}".split()


@pytest.mark.parametrize("page", PLAIN)
def test_what_good_mail_does_is_plain(page: str) -> None:
    assert "secret" in " ".join(read(page).texts).split()


@pytest.mark.parametrize("page", FAR)
def test_what_may_be_hidden_is_doubtful(page: str) -> None:
    message = read(page)
    assert "secret" not in " ".join(message.texts) and "secret" in message.doubtful


@pytest.mark.parametrize("page", ONE_WORD + TWO_WORDS)
def test_words_are_those_that_are_seen(page: str) -> None:
    found = Reader().tokens(b"Content-Type: text/html; charset=utf-8\n\n<p>" + page.encode(), doubtful=True)
    assert "secret" in found and ("other" in found or page in ONE_WORD)


def test_a_rule_inside_a_class_hides_nothing_inside_other_classes() -> None:
    page = "<style>.closed .more{display:none}</style>"
    others = " ".join(f"class{i}" for i in range(200))
    assert read(f"{page}<div class='{others}'><p class=more>offer</div>").texts == ("offer\n",)
    assert "offer" in read(f"{page}<div class='{others} closed'><p class=more>offer</div>").doubtful


def test_a_rule_with_too_many_classes_may_hide_text() -> None:
    page = "<style>" + "".join(f".class{i} p{{display:none}}" for i in range(65)) + "</style>"
    others = " ".join(f"class{i}" for i in range(65))
    assert "offer" in read(f"{page}<i class='{others}'></i><p>offer").doubtful
    assert read(f"{page}<p>offer").texts == ("offer",)


def test_titles_do_not_use_up_the_words_that_are_read() -> None:
    assert "secret" in Reader().tokens(b"Content-Type: text/html\n\n<title>" + b"good " * 2000 + b"</title><p>secret")


@pytest.mark.parametrize("page", HIDDEN)
def test_what_a_browser_hides_is_kept_apart(page: str) -> None:
    message = read(page)
    assert "secret" not in " ".join(message.texts) and "secret" in message.doubtful


@pytest.mark.parametrize("page", NO_TEXT)
def test_what_is_no_text_is_not_read(page: str) -> None:
    assert "".join(read(f"{page}<p>x").texts).split() == ["x"]


def test_a_person_sees_both_sides_of_hidden_text() -> None:
    message = read("<body><p>seen <span hidden>secret <b>too</b></span> shown</p>")
    assert " ".join(message.texts).split() == ["seen", "shown"] and message.doubtful.split() == ["secret", "too"]


def painted(
    browser: Chromium, pages: list[str], word: str, folder: Path, size: tuple[int, int] = (300, 100)
) -> list[bytes]:
    """Return the pixels of each page, in a window of this size, with ``word`` in the place of "secret"."""
    image = pytest.importorskip("PIL.Image", reason="the extra spamnb[plot] is not installed")
    (wide, high), n_beside, n_rows = size, 1200 // size[0], 3000 // size[1]
    places = [(row * high, column * wide) for row in range(n_rows) for column in range(n_beside)]
    window, pixels = browser.new_page(), []
    window.look(wide * n_beside, height=high * n_rows)
    for begin in range(0, len(pages), len(places)):
        frames = "".join(
            f'<iframe srcdoc="{html.escape(page.replace("secret", word))}" style="position:absolute;border:0;'
            f'width:{wide}px;height:{high}px;left:{x}px;top:{y}px"></iframe>'
            for page, (y, x) in zip(pages[begin:], places)
        )
        (folder / "page.html").write_text(f"<!doctype html><meta charset=utf-8><body style='margin:0'>{frames}")
        window.go(f"file://{folder}/page.html")
        # The first frame lays out the pages, and their own frames are painted in the second.
        window.run("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
        shot = base64.b64decode(window.ask("Page.captureScreenshot")["data"])
        picture = image.open(io.BytesIO(shot)).convert("RGB")
        pixels += [picture.crop((x, y, x + wide, y + high)).tobytes() for _, (y, x) in zip(pages[begin:], places)]
    return pixels


@pytest.mark.slow
def test_chromium_paints_what_is_plain(tmp_path: Path, browser: Chromium) -> None:
    """Pages differ in nothing but a word as wide; where no pixel tells them apart, the word is not seen."""
    every = [
        page for page in SEEN + HIDDEN + FAR + PLAIN if (len(page) < 1000 or DEEP in page) and "1px" not in page
    ]  # too small letters
    pairs = [one.replace("secret", other) for one, other in zip(every, every[64:] + every[:64])]
    start = "<!doctype html><style>a{text-decoration:none}</style>"  # a line under a word goes around its letters
    pages = [page if page.startswith("<html>") else start + page for page in every + pairs]
    one, other = painted(browser, pages, "secret", tmp_path), painted(browser, pages, "terces", tmp_path)
    seen = [x != y and any(abs(a - b) > 12 for a, b in zip(x, y, strict=True)) for x, y in zip(one, other, strict=True)]
    # Painted, but not read: letters of 2 pixels, and the text of a picture without a size.
    painted_alike = ["<small>" * 12 + "secret", "<img width=0 height=0 alt=secret>"]
    unseen = [page for page in HIDDEN + FAR if page not in painted_alike]
    checked = [(page, is_seen) for page, is_seen in zip(every, seen) if page not in painted_alike]
    assert [page for page, is_seen in checked if is_seen == (page in unseen)] == []
    assert [page for page, is_seen in zip(pages, seen) if not is_seen and "secret" in " ".join(read(page).texts)] == []


@pytest.mark.slow
def test_no_page_of_a_grammar_hides_plain_text_from_chromium(tmp_path: Path, browser: Chromium) -> None:
    rng = random.Random(7)
    pages = [page for page in (made_page(rng) for _ in range(250)) if "secret" in " ".join(read(page).texts)]
    assert len(pages) > 40
    size = (600, 600)  # text beneath a smaller window is plain, because people scroll to it
    one, other = painted(browser, pages, "secret", tmp_path, size), painted(browser, pages, "terces", tmp_path, size)
    assert [page for page, x, y in zip(pages, one, other) if x == y] == []


@pytest.mark.slow
def test_nearly_all_words_that_chromium_shows_of_mail_of_today_are_plain(tmp_path: Path, browser: Chromium) -> None:
    page, shares = browser.new_page(), {}
    page.look(800)
    for name, seed in itertools.product((*LAYOUTS, "made"), range(4)):
        rng = random.Random(f"{name} {seed}")
        words = (f"word{rng.randrange(10**6)}" for _ in itertools.count())
        mail = made_template(rng, words, "preheader") if name == "made" else fill_layout(name, rng, words, "preheader")
        (tmp_path / "page.html").write_text(mail)
        page.go(f"file://{tmp_path}/page.html")
        plain = set(" ".join(read(mail).texts).split())
        assert "preheader" not in plain
        shown = [word for word in page.text().split() if word != "preheader"]  # text that a box clips is in it
        shares[name, seed] = sum(word in plain for word in shown) / len(shown)
    assert len(shares) == 48 and {key: share for key, share in shares.items() if share < 0.95} == {}
