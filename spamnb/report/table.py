"""Tables of text, as a terminal and as a notebook shows them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import NamedTuple


class Table(NamedTuple):
    """A table; the first cell of a row is its name.

    >>> Table("Classes", ("class", "messages"), [("ham", "65")]).html()
    '<table><caption>Classes</caption><tr><th>class</th><th>messages</th></tr><tr><td>ham</td><td>65</td></tr></table>'
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def html(self) -> str:
        """The table as HTML without style, script or frame, which a notebook shows whether or not it is trusted."""

        def row(tag: str, cells: Sequence[str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}{row('th', self.head)}{''.join(row('td', cells) for cells in self.rows)}</table>"


def drawn(tables: Sequence[Table]) -> str:
    """Tables as wide as the terminal allows."""
    from rich import table as rich
    from rich.console import Console
    from rich.text import Text

    out = io.StringIO()
    # A notebook would get the output instead of ``out``, and its kernel asks for colours, which are codes in a text.
    console = Console(file=out, width=Console().width, force_jupyter=False, color_system=None)
    for each in tables:
        made = rich.Table(title=Text(each.title), title_justify="left")
        for place, name in enumerate(each.head):
            made.add_column(Text(name), justify="right" if place else "left", overflow="fold")
        for row in each.rows:
            made.add_row(*map(Text, row))
        console.print(made)
    return out.getvalue().rstrip("\n")
