#!/usr/bin/env python3
"""Write the help texts of the commands, and the settings, into docs/commands.md. What is written there by hand stays.

A section of a command begins with its help text and ends with what is written by hand, after "Shared options".
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections import Counter
from pathlib import Path

import click

from spamnb.cli import COMMANDS, cli
from spamnb.settings import SETTINGS

PAGE = Path(__file__).resolve().parents[1] / "docs" / "commands.md"
_HEAD = "| option | |\n|---|---|\n"


def get_command(name: str) -> click.Command:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return command


def format_prose(text: str) -> str:
    """Return a text of a help page as Markdown: what stands in single quotes is code."""
    escaped = " ".join(text.split()).replace("*", r"\*")
    return re.sub(r"(?<!\w)'([^']+)'(?!\w)", r"`\1`", escaped)


def format_help(text: str) -> str:
    """Return the description of a command. A paragraph marked with a backspace is a line of text and lines of code."""
    paragraphs = []
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if paragraph.startswith("\b\n"):
            head, *lines = paragraph.split("\n")[1:]
            code = "\n".join(f"    {line.removeprefix('  ')}".rstrip() for line in lines)
            paragraphs.append(f"{format_prose(head)}\n\n{code}")
        else:
            paragraphs.append(textwrap.fill(format_prose(paragraph), 140, break_on_hyphens=False))
    return "\n\n".join(paragraphs)


def list_options(name: str) -> dict[str, str]:
    """Return a row of a table for each option of a command, by the option's name."""
    command = get_command(name)
    context = click.Context(command, click.Context(cli, **cli.context_settings), name, **command.context_settings)
    rows = {}
    for param in command.get_params(context):
        record = param.get_help_record(context)
        if isinstance(param, click.Option) and record is not None:
            option, text = record[0].replace("|", r"\|"), format_prose(record[1]).replace("|", r"\|")
            rows[max(param.opts, key=len)] = f"| `{option}` | {text} |\n"
    return rows


def replace(page: str, pattern: str, text: str) -> str:
    """Return the page with ``text`` in place of the match of ``pattern`` after its first group."""
    match = re.search(pattern, page, re.MULTILINE | re.DOTALL)
    assert match is not None, f"docs/commands.md has no section like {pattern}"
    return page[: match.end(1)] + text + page[match.end() :]


def build(page: str) -> str:
    """Return the page with the help texts and settings of today."""
    options = {name: list_options(name) for name in COMMANDS}
    n_commands = Counter(item for rows in options.values() for item in rows.items())
    shared: dict[str, str] = {}  # the commonest text of an option that several commands have
    for (option, row), number in n_commands.most_common():
        if number > 1:
            shared.setdefault(option, row)
    tables = {"Shared options": _HEAD + "".join(shared[option] for option in sorted(shared))}
    settings = (f"| `{s.name}` | `{s.shown_default}` | {s.values} | {s.help} |\n" for s in SETTINGS.values())
    tables["Settings of a model"] = "| setting | default | values | |\n|---|---|---|---|\n" + "".join(settings)
    for title, table in tables.items():
        page = replace(page, rf"(?<=^## {title}\n)(.*?)(?:^\|[^\n]*\n)+", table)
    for name, rows in options.items():
        own = "".join(row for option, row in rows.items() if row != shared.get(option))
        parts = [format_help(get_command(name).help or ""), *([_HEAD + own.rstrip("\n")] if own else [])]
        names = ", ".join(f"`{option}`" for option, row in rows.items() if row == shared.get(option))
        text = "\n\n".join([*parts, f"[Shared options](#shared-options): {names}."])
        page = replace(page, rf"(?<=^## {name}\n)(\n).*?^\[Shared options\][^\n]*", text)
    return page


if __name__ == "__main__":
    PAGE.write_text(build(PAGE.read_text()))
