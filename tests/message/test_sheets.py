"""Style sheets: rules within rules, and bounds."""

from __future__ import annotations

import pytest
from uncompiled import uncompiled

from spamnb.message.html import read_html
from spamnb.message.sheets import MAX_ALL, MAX_AROUND, MAX_RULES, MAX_SHEET, sheet_rules

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html
HIDE = "{display: none}"


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        (".a {& b {display: none}}", ".a b {display: none}"),
        (".a {b, > i {display: none}}", ".a b, .a > i {display: none}"),
        (".a, p {&.b, b & {display: none}}", ".a.b, b .a, p.b, b p {display: none}"),
        (".a {color: red; & b {color: white} opacity: 0}", ".a {color: red} .a b {color: white} .a {opacity: 0}"),
        (".a {@media screen {color: red; & b {color: white}}}", ".a {color: red} .a b {color: white}"),
        (".a {@media print {color: red; & b {color: white}} & b {opacity: 0}}", ".a b {opacity: 0}"),
        ("@media screen {.a {& b {display: none}} .b {display: none}}", ".a b {display: none} .b {display: none}"),
        (".a {& .b {& i {display: none}} color: red}", ".a .b i {display: none} .a {color: red}"),
        (".a {color: red} } .b {color: red} .c {color: red}", ".a {color: red} } .b {color: red} .c {color: red}"),
        (".a {--x: {color: red}; opacity: 0}", ".a {opacity: 0}"),
    ],
)
def test_rules_in_rules_are_those_that_they_stand_for(nested: str, flat: str) -> None:
    def told(sheet: str) -> list[tuple[object, str]]:
        return [(rule[:2], rule[2].strip(" ;")) for rule in sheet_rules(sheet.encode())[0]]

    assert sorted(told(nested)) == sorted(told(flat)) and told(flat)


@pytest.mark.parametrize(
    "sheet",
    [
        "b{" * 50_000 + "display:none",
        "&,& &{" * 20_000 + "display:none" + "}" * 20_000,
        "@media screen{" * 10_000 + "b{display:none}",
        "p:not(" * 30_000 + "b" + ")" * 30_000 + HIDE,
        ("p" + ":not(.x)" * 24 + HIDE) * 1200,
        "".join([f".c{number}{HIDE}" for number in range(20_000)]),
        "p:nth-child(2n+1 of b)" + HIDE,
        ("&,&,&,&,&,&,&,&,&,.x{" * 8 + "color:red" + "}" * 8) * 300,
        ":is(" + "b," * 90_000 + HIDE,
        "@supports (" * 9000 + HIDE,
        "a{color:color-mix(in srgb," * 5000 + "}",
        "a{mask:linear-gradient(" + "(" * 100_000 + "}",
        "a{text-shadow:" + "rgb(" * 900 + "}",
        "[a=" * 60_000 + HIDE,
        "\\" * 100_000 + HIDE,
    ],
)
def test_hostile_sheets_are_read(sheet: str) -> None:
    octets = f"<style>{sheet}</style><p class=x>w</p>".encode()
    truncations: list[str] = []
    assert read_html(octets, truncations).text.strip() == "w"
    assert truncations == [] or truncations == ["HTML's style sheets beyond their bounds"]


def test_rules_deep_within_others_do_not_count() -> None:
    for depth in (MAX_AROUND - 1, MAX_AROUND + 1):
        sheet = "p{" + "&{" * depth + "display:none" + "}" * depth + "} b{display:none}"
        octets = f"<style>{sheet}</style><p>w1</p><b>w2</b>".encode()
        found = read_html(octets, [])
        assert found.hidden.split() == (["w1", "w2"] if depth < MAX_AROUND else ["w2"])
        assert read_source(octets, []) == tuple(found)


def test_beyond_their_bounds_sheets_are_cut() -> None:
    filled = f"<style>{'/**/' * (MAX_SHEET // 4)}</style>"
    within, beyond = MAX_ALL // MAX_SHEET - 1, MAX_ALL // MAX_SHEET
    for sheets, hidden in ((within, ["w"]), (beyond, [])):
        truncations: list[str] = []
        page = filled * sheets + f"<style>p{HIDE}</style><p>w"
        assert read_html(page.encode(), truncations).hidden.split() == hidden
        assert len(truncations) == (not hidden)
    many = "".join([f".c{number}{HIDE}" for number in range(MAX_RULES + 1)])
    read_html(f"<style>{many}</style>".encode(), truncations := [])
    assert truncations == ["HTML's style sheets beyond their bounds"]
