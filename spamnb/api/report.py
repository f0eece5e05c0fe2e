"""What the functions hand back: ``print`` shows what the command line does, and so does a notebook."""

from __future__ import annotations

from html import escape


class Report:
    """A result whose text a notebook shows as it is."""

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"
