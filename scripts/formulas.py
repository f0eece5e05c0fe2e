"""Formulas in plain text → MathML, which browsers show without a program.

Docstrings and documents have formulas as plain text, for terminals: θ_jc = (N_jc + α) / (N_c + 2α). Here ``_`` and
``^`` are scripts, a slash between two terms is a fraction, and Σ_j has its index below.

>>> to_mathml("1 / N_c")[-78:]
'<mfrac><mn>1</mn><msub><mi>N</mi><mrow><mi>c</mi></mrow></msub></mfrac></math>'
"""

from __future__ import annotations

import re
from html import escape, unescape

SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ᵀ", "0123456789−T")
SUBSCRIPTS = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
SCRIPT = r"\{[^{}]*\}|[a-zα-ω0-9](?:[a-z0-9]?[a-z0-9]?\u0304?)(?![A-Za-z_])"  # at most three letters without braces
TOKEN = re.compile(
    rf"(?P<script>_(?:{SCRIPT})|[₀-₉]+)|(?P<power>\^(?:{SCRIPT})|\^[A-Z]|\^(?=\()|[⁰¹²³⁴-⁹⁻ᵀ]+)|(?P<bars>\|[^|()\s]+\|)"
    r"|(?P<word>[A-Za-z]{2,}(?:-[a-z]+)*)|(?P<name>[A-Za-zα-ωΑ-ΡΤ-Ω∇][\u0302\u0304]?)|(?P<number>\d*\.?\d+|½)"
    r"|(?P<open>[(\[])|(?P<close>[)\]])|(?P<space>\s+)|(?P<operator>.)"
)
SUMS = ("Σ", "Π")  # with an index and something behind; otherwise Σ is a covariance
NO_TEXT = "code|pre|script|style|svg|math|a|title"  # elements whose text stays as it is
FORMULA_COLUMNS = "formula", "estimate", "posterior"
IS_FORMULA = re.compile(r"^(?!.*<).*[=_|/∝~]")
INLINE = re.compile(rf"(?<![\w.])([A-Za-zα-ωΑ-Ω∇]_(?:{SCRIPT}))(?![\w(])")


def to_mathml(text: str, display: str = "inline") -> str:
    """Return a formula in plain text as an element of MathML."""
    terms, _ = _parse([*_tokens(text)], 0)
    namespace = 'xmlns="http://www.w3.org/1998/Math/MathML"'
    return f'<math {namespace} display="{display}" displaystyle="true">{"".join(terms)}</math>'


def typeset(html: str) -> str:
    """Return a page of HTML with its formulas as MathML: blocks of code without a prompt, and variables in the text."""
    html = re.sub(r"<pre><code>((?:(?!&gt;&gt;&gt;|</code>).)*)</code></pre>", _block, html, flags=re.DOTALL)
    parts = re.split(rf"(<({NO_TEXT})\b.*?</\2>|<[^>]*>)", html, flags=re.DOTALL)
    parts = [part for n, part in enumerate(parts) if n % 3 != 2]  # without the names of elements
    return "".join(part if part.startswith("<") else INLINE.sub(lambda m: to_mathml(m[1]), part) for part in parts)


def typeset_columns(table: str) -> str:
    """Return a table of HTML in which the cells of the columns "formula", "estimate" and "posterior" are MathML."""
    rows = re.findall(r"<tr>(.*?)</tr>", table, re.DOTALL)
    heads = re.findall(r"<th[^>]*>(.*?)</th>", rows[0], re.DOTALL) if rows else []
    columns = [n for n, head in enumerate(heads) if head in FORMULA_COLUMNS]

    def row(match: re.Match[str]) -> str:
        cells = re.findall(r"(<td[^>]*>)(.*?)</td>", match[1], re.DOTALL)
        shown = [
            begin + (to_mathml(unescape(cell)) if n in columns and IS_FORMULA.search(cell) else cell) + "</td>"
            for n, (begin, cell) in enumerate(cells)
        ]
        return f"<tr>{''.join(shown)}</tr>" if cells else match[0]

    return re.sub(r"<tr>(.*?)</tr>", row, table, flags=re.DOTALL)


def _block(match: re.Match[str]) -> str:
    lines = unescape(match[1]).strip().splitlines()
    return "".join(f"<p>{to_mathml(line, 'block')}</p>" for line in lines if line.strip())


def _tokens(text: str) -> list[tuple[str, str, bool]]:
    """Return (kind, text, whether a space comes before) of each token."""
    tokens, has_space = [], False
    for match in TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind != "space":
            tokens.append((kind, match[0], has_space))
        has_space = kind == "space"
    return tokens


def _parse(tokens: list[tuple[str, str, bool]], start: int) -> tuple[list[str], int]:
    """Return the terms from a token on, up to a closing bracket, and the position of that bracket."""
    terms: list[str] = []
    n = start
    while n < len(tokens) and tokens[n][0] != "close":
        if tokens[n][1] == "/" and terms and n + 1 < len(tokens):
            below, n = _term(tokens, n + 1)
            if below.startswith("<munder>") and n < len(tokens):
                summand, n = _term(tokens, n)
                below = f"<mrow>{below}{summand}</mrow>"
            terms.append(f"<mfrac>{_without_brackets(terms.pop())}{_without_brackets(below)}</mfrac>")
        else:
            term, n = _term(tokens, n)
            terms.append(term)
    return terms, n


def _term(tokens: list[tuple[str, str, bool]], n: int) -> tuple[str, int]:
    """Return one term with its scripts, and an argument in brackets if a name has one, and the next position."""
    kind, text, _ = tokens[n]
    base, n = _base(tokens, n)
    below = above = ""
    while n < len(tokens) and tokens[n][0] in ("script", "power") and not tokens[n][2]:
        script_kind, script, _ = tokens[n]
        n += 1
        if script == "^":
            content, n = _base(tokens, n)
            content = _without_brackets(content)
        else:
            plain = script.lstrip("_^").strip("{}").translate(SUPERSCRIPTS).translate(SUBSCRIPTS)
            if " " not in plain and "_" not in plain:
                plain = " ".join(re.findall(".\u0304?", plain))  # jc are two indices, not a word
            content = f"<mrow>{''.join(_parse([*_tokens(plain)], 0)[0])}</mrow>"
        below, above = (content, above) if script_kind == "script" else (below, content)
    if text in SUMS and below and not above and n < len(tokens):
        base = f"<munder><mo>{text}</mo>{below}</munder>"
        below = ""
    if below and above:
        base = f"<msubsup>{base}{below}{above}</msubsup>"
    elif below or above:
        base = f"<msub>{base}{below}</msub>" if below else f"<msup>{base}{above}</msup>"
    if kind in ("name", "word") and n < len(tokens) and tokens[n][0] == "open" and not tokens[n][2]:
        argument, n = _term(tokens, n)
        base = f"<mrow>{base}{argument}</mrow>"
    return base, n


def _base(tokens: list[tuple[str, str, bool]], n: int) -> tuple[str, int]:
    kind, text, has_space = tokens[n]
    if kind == "open":
        terms, end = _parse(tokens, n + 1)
        close = tokens[end][1] if end < len(tokens) else ""
        content, stretch = "".join(terms), ' stretchy="false"'
        if "<mfrac>" in content or "<munder>" in content:
            stretch = ""
        return f"<mrow><mo{stretch}>{text}</mo>{content}<mo{stretch}>{close}</mo></mrow>", end + 1
    if kind == "bars":
        return f"<mrow><mo>|</mo>{''.join(_parse(_tokens(text[1:-1]), 0)[0])}<mo>|</mo></mrow>", n + 1
    if text == "½":
        return "<mfrac><mn>1</mn><mn>2</mn></mfrac>", n + 1
    if kind == "number":
        return f"<mn>{text}</mn>", n + 1
    if kind == "word":
        return f"<mtext>{'&#160;' * has_space}{escape(text)}&#160;</mtext>", n + 1
    if kind == "name" or text in SUMS:
        return f"<mi>{text}</mi>", n + 1
    return f'<mo stretchy="false">{escape(text)}</mo>', n + 1


def _without_brackets(term: str) -> str:
    match = re.fullmatch(r"<mrow><mo[^>]*>\(</mo>(.*)<mo[^>]*>\)</mo></mrow>", term, re.DOTALL)
    return f"<mrow>{match[1]}</mrow>" if match else term
