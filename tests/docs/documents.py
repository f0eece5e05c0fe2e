"""The documents as data: their code blocks, and the command lines in them."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").glob("*.md")), ROOT / "corpora" / "README.md"]

_PROGRAMS = r"spamnb|scripts/\S+|\.ci/\S+|python scripts/\S+|python -m spamnb|pip install"
COMMAND = re.compile(rf"(?:\$ )?((?:{_PROGRAMS})(?:\s.*)?)")
_LIST = re.compile(r"\s*(?:[-*+]|\d+\.) ")


class Block(NamedTuple):
    """A fenced or indented block of code: its language ("" where none is named) and its lines, not indented."""

    language: str
    lines: list[str]


class CommandLine(NamedTuple):
    """A command line as a document shows it, and the output that is shown below it, if any."""

    text: str
    output: list[str]


def blocks(text: str) -> list[Block]:
    r"""Return the code blocks of a Markdown text, in order. Text that is indented below an item is the item's.

    >>> blocks("Try:\n\n    spamnb info\n\n```python\nimport spamnb\n```\n")
    [Block(language='', lines=['spamnb info']), Block(language='python', lines=['import spamnb'])]
    """
    found: list[Block] = []
    fence, indented, item = "", False, False
    for line in text.splitlines():
        if fence:
            if line.startswith(fence):
                fence = ""
            else:
                found[-1].lines.append(line)
        elif line.startswith("```"):
            fence, indented = "```", False
            found.append(Block(line[3:].strip(), []))
        elif line.startswith("    ") and not item:
            if not indented:
                found.append(Block("", []))
            indented = True
            found[-1].lines.append(line[4:])
        elif line.strip():
            indented, item = False, bool(_LIST.match(line)) or (item and line.startswith(" "))
        elif indented:
            found[-1].lines.append("")
    return [Block(language, "\n".join(lines).rstrip("\n").split("\n")) for language, lines in found]


def command_lines(text: str) -> list[CommandLine]:
    r"""Return the command lines in a text's code blocks, in order. The output follows a line that begins with ``$``.

    >>> command_lines("    $ spamnb info\n    a model\n")
    [CommandLine(text='spamnb info', output=['a model'])]
    """
    found: list[CommandLine] = []
    for block in blocks(text):
        if block.language == "python":
            continue
        shown: CommandLine | None = None
        for line in block.lines:
            if match := COMMAND.fullmatch(line):
                found.append(CommandLine(match[1], []))
                shown = found[-1] if line.startswith("$ ") else None
            elif shown is not None:
                shown.output.append(line)
    return found


def anchors(text: str) -> set[str]:
    r"""Return the anchors of a text's headings, as GitHub derives them.

    >>> anchors("# The file, and `spamnb`\n## How good\n")
    {...}
    """
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
