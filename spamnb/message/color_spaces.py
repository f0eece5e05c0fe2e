"""Colors in other spaces than red, green and blue: ``oklch()``, ``lab()``, ``color()``, ``color-mix()``.

The formulas are those of https://www.w3.org/TR/css-color-4/#color-conversion-code. Colors that a screen cannot show are
cut to what it can.
"""

from __future__ import annotations

import math
import re

from .colors import UNKNOWN, WHITE, Color, parse_color, turn

Channels = tuple[float, float, float]

MIXED = re.compile(r"(?:[^,()]|\((?:[^()]|\([^()]*+\))*+\))++")  # what commas part
SHARE = re.compile(r"(?:^|\s)([0-9]{0,3}\.?[0-9]{1,6})%(?=\s|$)")
D50 = (0.3457 / 0.3585, 1.0, (1 - 0.3457 - 0.3585) / 0.3585)
# From D50's white to linear red, green and blue of sRGB with D65's, both steps in one.
SRGB_OF_D50 = (
    (3.1341359, -1.6173863, -0.4906619),
    (-0.9787955, 1.9162543, 0.0334427),
    (0.0719553, -0.2289768, 1.4053860),
)
SRGB_OF_D65 = (
    (3.2409699, -1.5373832, -0.4986108),
    (-0.9692436, 1.8759675, 0.0415551),
    (0.0556301, -0.2039770, 1.0569715),
)
SRGB_OF_P3 = (
    (1.2249402, -0.2249402, 0.0),
    (-0.0420570, 1.0420570, 0.0),
    (-0.0196376, -0.0786361, 1.0982737),
)
LMS_OF_OKLAB = (
    (1.0, 0.3963378, 0.2158038),
    (1.0, -0.1055613, -0.0638542),
    (1.0, -0.0894842, -1.2914855),
)
SRGB_OF_LMS = (
    (4.0767417, -3.3077116, 0.2309699),
    (-1.2684380, 2.6097574, -0.3413194),
    (-0.0041961, -0.7034186, 1.7076147),
)
# What a percentage of 100 is: lightness, the two others, and the second one where it is a distance from gray.
WHOLE = {"lab": (100.0, 125.0, 150.0), "oklab": (1.0, 0.4, 0.4)}
WHOLE |= {"lch": WHOLE["lab"], "oklch": WHOLE["oklab"]}


def function_color(text: str) -> Color | None:
    """The color of a function, in lower case; UNKNOWN where it depends on what is not read, None where it is none.

    >>> function_color("oklch(100% 0 0)"), function_color("lab(0 0 0 / 50%)")
    ((255, 255, 255, 1.0), (0, 0, 0, 0.5))
    >>> function_color("color-mix(in srgb, red, blue 25%)"), function_color("light-dark(white, black)")
    ((191, 0, 64, 1.0), (255, 255, 255, 1.0))
    """
    name, _, inside = text.partition("(")
    inside, closed, _ = inside.rpartition(")")
    if not closed or "calc(" in inside or "var(" in inside or inside.startswith("from "):
        return UNKNOWN
    try:
        if name == "color-mix":
            return _mixed([part.strip() for part in MIXED.findall(inside[:400])])
        if name == "light-dark":
            return parse_color(MIXED.findall(inside[:400])[0])
        numbers, _, opacity = inside.partition("/")
        words = numbers.split()
        alpha = min(1.0, max(0.0, _number(opacity.strip(), 1.0))) if opacity else 1.0
        linear = _of_color(words) if name == "color" else _of_lab(name, words)
    except (ValueError, IndexError, OverflowError):  # no number, or too few
        return None
    if linear is None:
        return UNKNOWN
    red, green, blue = [round(255 * _encoded(min(1.0, max(0.0, channel)))) for channel in linear]
    return red, green, blue, alpha


def _of_lab(name: str, words: list[str]) -> Channels:
    """Linear red, green and blue of a lightness and two more, at right angles or as distance and angle."""
    light, first, chroma = WHOLE[name]
    a = _number(words[1], chroma if name.endswith("ch") else first)
    if name.endswith("ch"):
        angle = 2 * math.pi * turn(words[2])
        a, b = a * math.cos(angle), a * math.sin(angle)
    else:
        b = _number(words[2], first)
    lightness = _number(words[0], light)
    if name.startswith("ok"):
        red, green, blue = [max(-8.0, min(8.0, root)) ** 3 for root in _times(LMS_OF_OKLAB, (lightness, a, b))]
        return _times(SRGB_OF_LMS, (red, green, blue))
    high = (max(0.0, min(100.0, lightness)) + 16) / 116
    x, y, z = [
        white * (root**3 if root > 6 / 29 else 3 * (6 / 29) ** 2 * (root - 4 / 29))
        for white, root in zip(D50, (high + a / 500, high, high - b / 200), strict=True)
    ]
    return _times(SRGB_OF_D50, (x, y, z))


def _of_color(words: list[str]) -> Channels | None:
    """Linear red, green and blue of ``color()``; None in spaces that nobody uses."""
    red, green, blue = [_number(word, 1.0) for word in words[1:4]]
    if words[0] == "srgb-linear":
        return red, green, blue
    if words[0].startswith("xyz"):
        return _times(SRGB_OF_D50 if words[0] == "xyz-d50" else SRGB_OF_D65, (red, green, blue))
    if words[0] not in ("srgb", "display-p3"):
        return None
    red, green, blue = [_decoded(min(1.0, max(0.0, channel))) for channel in (red, green, blue)]
    return (red, green, blue) if words[0] == "srgb" else _times(SRGB_OF_P3, (red, green, blue))


def _mixed(parts: list[str]) -> Color | None:
    """A mixture of two colors. Every space is taken for sRGB: two that are alike come to the same in each."""
    shares, colors = [], []
    for part in parts[1:3]:
        share = SHARE.search(part)
        shares.append(float(share[1]) / 100 if share else None)
        color = parse_color(SHARE.sub("", part))
        if color is None or color == UNKNOWN:
            return color
        colors.append(color)
    first, second = shares
    if first is None:
        first = 0.5 if second is None else 1 - second
    second = 1 - first if second is None else second
    total = first + second
    if not parts[0].startswith("in ") or total <= 0:
        return None
    one, other = colors
    weights = first / total * one[3], second / total * other[3]
    alpha = sum(weights)
    if not alpha:
        return (*WHITE[:3], 0.0)
    red, green, blue = [
        round((weights[0] * x + weights[1] * y) / alpha) for x, y in zip(one[:3], other[:3], strict=True)
    ]
    return red, green, blue, alpha * min(1.0, total)


def _number(word: str, whole: float) -> float:
    if word == "none":
        return 0.0
    number = float(word[:-1]) * whole / 100 if word.endswith("%") else float(word)
    return max(-1e4, min(1e4, number))


def _times(matrix: tuple[Channels, Channels, Channels], channels: Channels) -> Channels:
    x, y, z = channels
    red, green, blue = [row[0] * x + row[1] * y + row[2] * z for row in matrix]
    return red, green, blue


def _encoded(linear: float) -> float:
    return 12.92 * linear if linear <= 0.0031308 else 1.055 * linear ** (1 / 2.4) - 0.055


def _decoded(channel: float) -> float:
    return channel / 12.92 if channel <= 0.04045 else ((channel + 0.055) / 1.055) ** 2.4
