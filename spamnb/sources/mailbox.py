"""Folders and messages of a mailbox, whatever its kind."""

from __future__ import annotations

from typing import Any, NamedTuple


class Folder(NamedTuple):
    """A folder: its name for people, where it is, and what it is for (`folder_names.role_of`'s words, or None)."""

    name: str
    place: Any  # what its kind of mailbox opens it by: a path, or the name that the server knows
    role: str | None = None


class MailboxMessage(NamedTuple):
    """A message where it lies. Its ``key`` stays the same as long as it lies in that folder, whatever its flags."""

    folder: Folder
    key: str
    name: str  # for people
    place: Any
