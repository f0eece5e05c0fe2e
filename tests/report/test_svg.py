"""Scales and marks: positions by hand, ticks that lie inside, text that cannot become markup."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.report import svg


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(allow_nan=False))
def test_a_position_lies_on_the_scale_and_follows_the_value(low, extent, value):
    scale = svg.Scale(low, low + extent, 10, 90)
    assert 10 - 1e-6 <= scale.at(value) <= 90 + 1e-6
    assert all(low - 1e-6 * extent <= t <= low + extent * (1 + 1e-6) for t in scale.ticks())
    assert 2 <= len(scale.ticks()) <= 7


def test_logarithms_and_logits():
    assert svg.Scale(1, 100, 0, 10, "log").at(10) == pytest.approx(5)
    assert svg.Scale(1, 99, 0, 10, "logit").at(50) == pytest.approx(5)
    assert svg.Scale(0.01, 50, 0, 10, "logit").ticks() == [0.01, 0.1, 1, 10, 50]
    assert svg.Scale(50, 75_000, 0, 10, "log").ticks() == [100, 1000, 10_000]


def test_text_is_escaped():
    assert "<script>" not in svg.text(0, 0, "<script>") + svg.dot(0, 0, 1, "", "</title><script>")
    assert '"a"' not in svg.picture(1, 1, 'label "a"', [])
