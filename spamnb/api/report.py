"""What the functions hand back: ``print`` shows what the command line does, and so does a notebook."""

from __future__ import annotations

from html import escape


class Report:
    """A result that has a text: a prompt shows its first line, a notebook all of it.

    >>> class Found(Report):
    ...     def __str__(self) -> str:
    ...         return "3 messages\\nall of them ham"
    >>> Found()
    <Found: 3 messages>
    """

    def __repr__(self) -> str:
        first = str(self).strip().splitlines()[0]
        return f"<{type(self).__name__}: {first.rstrip()}>"

    def _repr_html_(self) -> str:
        return preformatted(str(self))


def preformatted(text: str) -> str:
    """A text as HTML that keeps its columns: notebooks give code a font for that, and not all give it to others."""
    return f"<pre><code>{escape(text)}</code></pre>"
