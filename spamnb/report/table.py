"""Tables of text for terminals and notebooks."""

from __future__ import annotations

import io
from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import rich.table


class Table(NamedTuple):
    """A table of text. The first cell of a row is the row's name.

    >>> Table("Classes", ("class", "messages"), [("ham", "65")]).html()
    '<table><caption>Classes</caption><tr><th>class</th><th>messages</th></tr><tr><td>ham</td><td>65</td></tr></table>'
    """

    title: str
    head: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]

    def html(self) -> str:
        """Return the table as plain HTML, which untrusted notebooks show, too."""

        def row(tag: str, cells: Sequence[str]) -> str:
            return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"

        caption = f"<caption>{escape(self.title)}</caption>" if self.title else ""
        return f"<table>{caption}{row('th', self.head)}{''.join(row('td', cells) for cells in self.rows)}</table>"

    def rich(self, number_columns: Sequence[int], **options: Any) -> rich.table.Table:
        """Return the table for a terminal. The columns at the positions ``number_columns`` are aligned to the right."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title) if self.title else None, title_justify="left", **options)
        for position, name in enumerate(self.head):
            is_number = position in number_columns
            table.add_column(Text(name), justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
        for row in self.rows:
            table.add_row(*map(Text, row))
        return table


def render_text(*renderables: Any, width: int | None = None) -> str:
    """Return what rich prints in a terminal of this width. The default is the width of the terminal."""
    from rich.console import Console

    out = io.StringIO()
    # In a notebook rich would display the output instead of writing to ``out``, and would add codes of colours.
    console = Console(file=out, width=width or Console().width, force_jupyter=False, color_system=None)
    for renderable in renderables:
        console.print(renderable)
    return out.getvalue().rstrip("\n")


def format_tables(tables: Sequence[Table]) -> str:
    """Return tables as text, as wide as the terminal."""
    return render_text(*(table.rich(range(1, len(table.head))) for table in tables))
