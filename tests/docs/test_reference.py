"""docs/commands.md names every command and every option, and no others."""

import re

import click
import pytest
from documents import ROOT

from spamnb.cli import COMMANDS, cli
from spamnb.reader.evidence import VOLATILE_FIELDS
from spamnb.settings import SETTINGS

REFERENCE = (ROOT / "docs" / "commands.md").read_text()
SECTIONS = dict(re.findall(r"^## (.+)\n((?:(?!## ).*\n)*)", REFERENCE, re.MULTILINE))
SHARED = SECTIONS["Shared options"]
_OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")


def options(name: str) -> set[str]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    every = [option for option in command.params if isinstance(option, click.Option)]
    words = [word for option in every for word in (*option.opts, *option.secondary_opts)]
    return {word for word in words if word.startswith("--")}


def rows(section: str) -> set[str]:
    return {option for row in re.findall(r"^\| (`-.*?) \|", section, re.MULTILINE) for option in _OPTION.findall(row)}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_reference_has_the_options_of_a_command_and_no_others(name: str) -> None:
    assert name in SECTIONS, f"docs/commands.md has no section on {name}"
    own, text = options(name), SECTIONS[name]
    assert not own - rows(text) - rows(SHARED) and not rows(text) - own
    assert ("[settings](#settings-of-a-model)" in text) == ("--set" in own)
    assert ("`-m`" in text) == ("--model" in own)
    for shared in ("--force", "--workers", "--format", "--recursive", "--text-column", "--label-column"):
        assert (f"`{shared}`" in text) == (shared in own), shared


def test_the_reference_lists_the_settings_that_a_model_has() -> None:
    rows = [f"| `{s.name}` | `{s.shown_default}` | {s.values} | {s.help} |" for s in SETTINGS.values()]
    assert "\n".join(rows) + "\n" in SECTIONS["Settings of a model"]


def test_the_header_fields_that_are_no_evidence_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "deploying.md").read_text().partition("\n## Header fields that are no evidence\n")[2]
    listed = re.findall(r"`([a-z][\w-]*\*?)`", text.partition("\n## ")[0])
    assert listed == sorted(VOLATILE_FIELDS, key=lambda name: ("*" in name, name))
