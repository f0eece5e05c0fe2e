"""The base class of the results of ``spamnb.api``: ``print`` and a notebook show what the command prints."""

from __future__ import annotations

from html import escape


class Report:
    """A result with a text. A Python prompt shows the first line of the text, and a notebook shows the whole text.

    >>> class Count(Report):
    ...     def __str__(self) -> str:
    ...         return "3 messages\\nall of them ham"
    >>> Count()
    <Count: 3 messages>
    """

    def __repr__(self) -> str:
        first_line, _, _ = str(self).strip().partition("\n")
        return f"<{type(self).__name__}: {first_line.rstrip()}>"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def preformatted(text: str) -> str:
    """Return a text as HTML in a font of fixed width. All notebooks use such a font for code."""
    return f"<pre><code>{escape(text)}</code></pre>"
