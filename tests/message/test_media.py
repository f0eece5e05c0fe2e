"""Conditions in style sheets; that they are what Chromium says is among test_rendering.py's pages."""

from __future__ import annotations

import pytest

from spamnb.message.media import applies, supported


@pytest.mark.parametrize(
    ("media", "holds"),
    [
        ("screen", True), ("print", False), ("not print", True), ("not all", False), ("only screen", True),
        ("print, screen", True), ("screen and (min-width: 600px)", True), ("(max-width:600px)", False),
        ("(min-width: 600px) and (max-width: 700px)", False), ("(width >= 600px)", True), ("(600px < width)", True),
        ("(600px <= width < 700px)", False), ("(width: 1280px)", True), ("(min-width: 100dpi)", False),
        ("not (max-width: 600px)", True), ("(max-width: 600px) or (color)", True), ("((color) and (color))", True),
        ("(orientation: landscape)", True), ("(max-resolution: 1.5dppx)", True), ("(monochrome)", False),
        ("(-webkit-min-device-pixel-ratio: 1.5)", False), ("(no-such)", False), ("not (no-such)", False),
        ("(no-such) or (color)", True), ("(color) and (color) or (color)", False), ("screen (color)", False),
        ("(prefers-color-scheme: dark)", False), ("(prefers-color-scheme: light)", True),
        ("((((((((((color))))))))))", False),
        ("(" * 900, False), ("(min-width: " + 500 * "9" + "px)", False),
    ],
)  # fmt: skip
def test_media_hold_or_not(media: str, holds: bool) -> None:
    assert applies(media) == holds


@pytest.mark.parametrize(
    ("condition", "holds"),
    [
        ("(display: grid)", True), ("(display:grid) and (not (display:no-such))", True), ("(no: such)", False),
        ("not (no: such)", True), ("(color: no-such)", False), ("(--x: y)", True), ("(display)", False),
        ("(no: such) or (gap: 1px)", True), ("", False), ("selector(a > b)", False),
    ],
)  # fmt: skip
def test_declarations_are_supported_or_not(condition: str, holds: bool) -> None:
    assert supported(condition) == holds
