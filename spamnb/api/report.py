"""Results that ``print`` and a notebook show as the command line does."""

from __future__ import annotations

from html import escape


class Report:
    """A result that has a text: a prompt shows its first line, a notebook all of it.

    >>> class Count(Report):
    ...     def __str__(self) -> str:
    ...         return "3 messages\\nall of them ham"
    >>> Count()
    <Count: 3 messages>
    """

    def __repr__(self) -> str:
        first = str(self).strip().splitlines()[0]
        return f"<{type(self).__name__}: {first.rstrip()}>"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def preformatted(text: str) -> str:
    """Return a text as HTML that keeps its columns: all notebooks show code in a font of fixed width."""
    return f"<pre><code>{escape(text)}</code></pre>"
