"""Tables of text, as a terminal and as a notebook shows them."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import rich.table


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

    def rich(self, numbers: Sequence[int], **options: Any) -> rich.table.Table:
        """The table for a terminal, with ``numbers`` as the columns that are aligned to the right."""
        from rich.table import Table
        from rich.text import Text

        made = Table(title=Text(self.title) if self.title else None, title_justify="left", **options)
        for place, name in enumerate(self.head):
            made.add_column(Text(name), justify="right" if place in numbers else "left", overflow="fold")
        for row in self.rows:
            made.add_row(*map(Text, row))
        return made


def printed(*shown: Any, width: int | None = None) -> str:
    """What rich prints of these in a terminal of this width, by default as wide as the one there is."""
    from rich.console import Console

    out = io.StringIO()
    # A notebook would get the output instead of ``out``, and its kernel asks for colours, which are codes in a text.
    console = Console(file=out, width=width or Console().width, force_jupyter=False, color_system=None)
    for each in shown:
        console.print(each)
    return out.getvalue().rstrip("\n")


def drawn(tables: Sequence[Table]) -> str:
    """Tables as wide as the terminal allows."""
    return printed(*(table.rich(range(1, len(table.head))) for table in tables))
