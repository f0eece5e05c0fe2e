"""Style sheets: rules within rules, and bounds."""

import pytest
from uncompiled import uncompiled

from spamnb.message.html import read_html
from spamnb.message.sheets import MAX_ALL, MAX_RULES, MAX_SHEET, sheet_rules

with uncompiled("spamnb.message.html") as (source,):
    read_source = source.read_html
HIDE = "{display: none}"


@pytest.mark.parametrize(
    ("nested", "flat"),
    [
        (".a {color: red; & b {display: none} opacity: 0}", ".a {color: red} .a {opacity: 0}"),
        (".a {@media screen {display: none}}", ""),
        (".a {@media print {color: red} opacity: 0}", ".a {opacity: 0}"),
        ("@media screen {.a {color: red} .b {display: none}}", ".a {color: red} .b {display: none}"),
        (".a {color: red} } .b {color: red} .c {color: red}", ".a {color: red} } .b {color: red} .c {color: red}"),
        (".a {--x: {color: red}; opacity: 0}", ".a {opacity: 0}"),
    ],
)
def test_rules_in_rules_hide_nothing(nested: str, flat: str) -> None:
    def told(sheet: str) -> list[tuple[object, str]]:
        rules = sheet_rules(sheet.encode())[0]
        return [(weight, declared.strip(" ;")) for weight, _, declared in rules if weight < (1000, 0, 0)]

    assert told(nested) == told(flat)


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
