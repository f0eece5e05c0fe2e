"""A grammar of HTML pages around one word. Neither the reader nor the grammar knows which of them hide the word."""

from __future__ import annotations

import random

LENGTHS = "0 1px 2px 20px 400px -400px 50% -1em 5000px 100% auto 1e-3px calc(1px) 3vw".split()
PAINTS = (
    "white black #fff #000 #fefefe #333 red transparent rgb(255,255,255) inherit initial currentcolor hsl(0,0%,100%)"
).split()
VALUES = {
    **dict.fromkeys("color background background-color -webkit-text-fill-color".split(), PAINTS),
    **dict.fromkeys("font-size height max-height width max-width top left margin margin-left margin-top padding "
                    "padding-left text-indent margin-inline-start block-size inset min-width flex-basis "
                    "gap".split(), LENGTHS),
    "display": "none block inline inline-block flex grid contents list-item bogus".split(),
    "visibility": "hidden visible collapse".split(), "opacity": "0 .01 .2 1 0%".split(),
    "font": ["0/0 a", "12px/1 Arial", "1px a", "inherit"], "line-height": "0 1 1.4 1px normal".split(),
    "overflow": "hidden visible auto clip".split(), "position": "absolute fixed relative static".split(),
    "letter-spacing": ["-20px", "0", "-1em"], "clip-path": ["inset(100%)", "none"], "clip": ["rect(0,0,0,0)", "auto"],
    "transform": ["scale(0)", "translateX(-999px)", "none"], "filter": ["opacity(0)", "none"], "zoom": ["0.01", "1"],
    "white-space": ["nowrap", "normal"], "content-visibility": ["hidden", "auto"], "vertical-align": ["top", "-900px"],
    "outline": ["400px solid white", "0"], "outline-offset": ["-400px"],
    "border": ["0", "1px solid black", "300px solid white"],
    "box-shadow": ["inset 0 0 0 900px black", "none"], "text-decoration": ["none", "line-through 60px white"],
    "all": ["unset", "initial"], "scale": ["0"], "translate": ["-900px"], "font-size-adjust": ["0"],
    "background-clip": ["text"],
    "background-image": ["linear-gradient(black,black)", "none", "url(x.png)"], "border-left": ["900px solid white"],
    "contain": ["strict"], "text-shadow": ["none"], "float": ["left", "right"], "flex": ["0 0 0", "1"],
    "content": ["url(x.png)", "''"],
    "border-image": ["linear-gradient(#fff,#fff) 1 fill"], "d\\69splay": ["none"], "z-index": ["-1"],
}  # fmt: skip
ELEMENTS = (
    "div p span b i font a table td center section details dialog svg select option template noscript small sub "
    "big h1 ul li xyz o:p hr col colgroup iframe input button textarea object marquee q em rp datalist "
    "progress math blockquote nobr pre mark address"
).split()
MARKS = (
    "hidden popover color=white color=#000 bgcolor=white bgcolor=black background=x.png width=0 height=0 class=a "
    "class='a_b' id=i text=white href=# size=1 open inert"
).replace("a_b", "a b").split(" ")  # fmt: skip
SELECTORS = (
    ".a p div .b #i * span td .a.b [class] [class=a] [class~='b'] p.a :not(.z) .a:hover font body b,.a a html hr"
).split()


def declarations(rng: random.Random) -> str:
    names = rng.choices(list(VALUES), k=rng.randint(1, 3))
    return ";".join([f"{name}:{rng.choice(VALUES[name])}{rng.choice(['', '', '', '!important'])}" for name in names])


def sheet(rng: random.Random) -> str:
    rules = "".join([f"{rng.choice(SELECTORS)}{{{declarations(rng)}}}" for _ in range(rng.randint(1, 3))])
    condition = rng.choice(
        ["", "", "", "@media screen", "@media print", "@media (max-width:99px)", "@supports (color:red)"]
    )
    return f"<style>{condition}{{{rules}}}</style>" if condition else f"<style>{rules}</style>"


def made_page(rng: random.Random) -> str:
    """Return a page with the word "secret"."""
    parts, tags = [sheet(rng) if rng.random() < 0.4 else ""], rng.choices(ELEMENTS, k=rng.randint(1, 4))
    for tag in tags:
        style = f' style="{declarations(rng)}"' if rng.random() < 0.5 else ""
        mark = f" {rng.choice(MARKS)}" if rng.random() < 0.4 else ""
        parts.append(f"<{tag}{style}{mark}>" + "<tr><td>" * (tag == "table"))
        parts.append(f"</{rng.choice(tags)}>" * (rng.random() < 0.15))
    return "".join([*parts, "secret", f"</{rng.choice(tags)}>" * (rng.random() < 0.3)])
