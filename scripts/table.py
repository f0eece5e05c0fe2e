"""Tables in Markdown, a row at a time: each is printed as soon as it is measured."""

from __future__ import annotations


def print_row(*cells: object) -> None:
    """Print a row."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_head(*heads: object) -> None:
    """Print the first row of a table, and the line below it."""
    print_row(*heads)
    print_row(*["---"] * len(heads))
