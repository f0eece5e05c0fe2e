"""docs/commands.md has the help text of every command, and deploying.md the header fields of the code."""

import re
import runpy

from documents import ROOT

from spamnb.cli import COMMANDS
from spamnb.reader.evidence import VOLATILE_FIELDS

REFERENCE = (ROOT / "docs" / "commands.md").read_text()


def test_the_reference_is_what_the_script_makes_of_the_help_texts() -> None:
    script = runpy.run_path(str(ROOT / "scripts" / "build_commands.py"))
    assert script["build"](REFERENCE) == REFERENCE, "run: python scripts/build_commands.py"


def test_the_reference_has_a_section_for_each_command_and_no_other() -> None:
    _, _, sections = REFERENCE.partition("\n## Shared options\n")
    assert sorted(re.findall(r"^## (.+)$", sections, re.MULTILINE)) == sorted(COMMANDS)


def test_the_header_fields_that_are_no_evidence_are_those_of_the_code() -> None:
    text = (ROOT / "docs" / "deploying.md").read_text().partition("\n## Header fields that are no evidence\n")[2]
    listed = re.findall(r"`([a-z][\w-]*\*?)`", text.partition("\n## ")[0])
    assert listed == sorted(VOLATILE_FIELDS, key=lambda name: ("*" in name, name))
