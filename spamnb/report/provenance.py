"""What a page says of its own origin: when it was made, by which command, of which model and settings."""

from __future__ import annotations

from datetime import datetime
from typing import Any, NamedTuple

from spamnb import __version__
from spamnb.settings import Settings


class Provenance(NamedTuple):
    """When, how and of what a page was made; ``settings`` are pairs of name and value, both text."""

    date: str
    command: str
    model: str
    settings: list[tuple[str, str]]
    version: str


def provenance(command: str, model: str, settings: Settings, at: datetime | None = None) -> Provenance:
    """The origin of a page made by ``command`` at ``at`` (now), in local time with its offset.

    >>> made = provenance("spamnb evaluate mail", "trained here", Settings(alpha=1), datetime(2026, 3, 1, 9, 30))
    >>> made.date, made.settings[:2]
    ('2026-03-01 09:30', [('model type', 'corrected'), ('alpha', '1 (default 0.1)')])
    """
    date = f"{at or datetime.now().astimezone():%Y-%m-%d %H:%M %z}".strip()
    usual = Settings().by_name()
    said = [
        (name.replace("_", " "), _text(value) + ("" if value == usual[name] else f" (default {_text(usual[name])})"))
        for name, value in settings.by_name().items()
    ]
    return Provenance(date, command, model, said, __version__)


def _text(value: Any) -> str:
    """
    >>> _text(None), _text(False), _text(9.0), _text(("path", "xref"))
    ('none', 'no', '9', 'path, xref')
    """
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"
    return ", ".join(value) or "none" if isinstance(value, tuple | list) else str(value)
