"""The examples that hypothesis makes: those of one run are those of the next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st


def test_the_same_examples_are_tested_in_every_run() -> None:
    runs: list[list[str]] = []

    @given(st.text())
    def run(text: str) -> None:
        runs[-1].append(text)

    for _ in range(2):
        runs.append([])
        run()
    assert len(runs[0]) > 9 and runs[0] == runs[1]
