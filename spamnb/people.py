"""Senders whom a person knows, whose mail is never spam, and senders who are blocked, in one file.

allow = ["ann@example.org", "example.net"]      # in ~/.config/spamnb/people.toml: addresses, and whole domains
block = ["offers@shop.example"]
server = "mx.example.com"                       # whose Authentication-Results say that an address was forged
wrote_to = ["bob@example.org"]                  # added by 'watch' and 'train': to whom you sent mail; as ``allow``
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from spamnb.classification import Classification, Evidence
from spamnb.errors import SpamnbError, reason
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape

KNOWN, BLOCKED = "you know this sender", "you blocked this sender"  # as evidence: no token has four words
FORGED = "you know this sender, but your server found the address forged"
CERTAINTY = 4.6  # nats, 99 to 1: what a person's word counts at least
MAX_WROTE_TO = 1_000  # addresses, the newest: a file of so many is read in 3 ms, for each message that 'filter' gets
_MAX_RECIPIENTS = 50  # of one message: nobody knows all of a longer list
_MAX_FIELD = 8000  # characters of a header field
_WROTE_TO = re.compile(r"(?m)^wrote_to\s*=\s*\[[^\]]*\]\n?")
_ADDRESS = r"([A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+)"
# One address alone, or behind a name that holds none: whatever else may stand there is nobody whom a person knows.
_FROM = re.compile(rf'(?:"(?:[^"\\]|\\.)*+"|[^"<>@,:;()\\]*+) ?<{_ADDRESS}>|{_ADDRESS}')
_FROM_LINE = re.compile(rb"(?i)(?:^|[\r\n])from[ \t]*:")
_RESULT = re.compile(r"(?i);\s*(dmarc|spf|dkim)\s*=\s*([a-z]+)")
_QUOTED = re.compile(r'\([^()]*\)|"(?:[^"\\]|\\.)*+"')  # comments too: a sender may have chosen what is in them


_WRITING = threading.Lock()  # 'watch' has a thread for each account


class SentMail(NamedTuple):
    """A message that was sent: the address it came from, and those that it went to, in small letters."""

    sender: str
    recipients: tuple[str, ...]


@dataclass(frozen=True)
class People:
    """Addresses and domains in small letters, and the server whose word on forgery counts ("": none).

    ``wrote_to`` are those to whom mail was sent, the newest last: they count as those of ``allow``.
    """

    allow: frozenset[str] = frozenset()
    block: frozenset[str] = frozenset()
    server: str = ""
    wrote_to: tuple[str, ...] = ()

    def say(self, raw: bytes) -> str:
        """Return KNOWN, BLOCKED or FORGED for the sender of a message; "" for anybody else.

        An address's own entry goes before its domain's, and ``block`` before ``allow``.

        >>> people = People(frozenset(["ann@example.org"]), frozenset(["example.org"]))
        >>> people.say(b"From: Ann <Ann@example.org>\\n\\n"), people.say(b"From: bob@example.org\\n\\n")
        ('you know this sender', 'you blocked this sender')
        """
        if not (self.allow or self.block or self.wrote_to):
            return ""
        from email.parser import BytesHeaderParser

        header = raw[: section_length(raw)]
        fields = BytesHeaderParser().parsebytes(header)
        one = len(_FROM_LINE.findall(header)) == 1  # of more, each reader of mail shows another
        address = _address_of([str(value) for value in fields.get_all("From", [])]) if one else ""
        for name in (address, address.partition("@")[2]) if address else ():
            if name in self.block:
                return BLOCKED
            if name in self.allow or name in self.wrote_to:
                results = [str(value) for value in fields.get_all("Authentication-Results", [])]
                return FORGED if self.server and self._forged(results) else KNOWN
        return ""

    def decide(self, classification: Classification, raw: bytes) -> Classification:
        """Return the classification of a message with a person's word on its sender, which goes before the model's."""
        word, verdict, log_odds = self.say(raw), classification.verdict, classification.log_odds
        if not word:
            return classification
        if word == BLOCKED:
            verdict, log_odds = classification.spam, max(log_odds, CERTAINTY)
        elif word == KNOWN:
            good = {name: p for name, p in classification.probabilities.items() if name != classification.spam}
            if verdict not in good:
                verdict = max(good, key=good.__getitem__, default="ham")
            log_odds = min(log_odds, -CERTAINTY)
        sender = Evidence(word, log_odds - classification.log_odds)
        return classification._replace(verdict=verdict, log_odds=log_odds, sender=sender)

    def _forged(self, fields: list[str]) -> bool:
        """Return whether the user's own server found the address forged.

        Of each method its uppermost result counts, because a sender may have written those below.
        """
        results_of_server: dict[str, set[str]] = {}
        for field in reversed(fields):
            name, _, results = _QUOTED.sub(" ", field[:_MAX_FIELD]).partition(";")
            results_of_field: dict[str, set[str]] = {}
            for method, result in _RESULT.findall(";" + results):
                results_of_field.setdefault(method.lower(), set()).add(result.lower())
            if name.lower().split()[:1] == [self.server]:
                results_of_server |= results_of_field
        spf_fails = bool(results_of_server.get("spf", set()) & {"fail", "softfail"})
        return "fail" in results_of_server.get("dmarc", ()) or (
            spf_fails and "pass" not in results_of_server.get("dkim", ())
        )


def _check_names(names: object, where: str) -> tuple[str, ...]:
    if not isinstance(names, list):
        raise SpamnbError(f"{where} is a list of texts in brackets")
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(_ADDRESS, name if "@" in name else f"a@{name}"):
            raise SpamnbError(f"{where}: {escape(str(name)[:80])!r} is neither an address nor a domain")
    return tuple(name.lower() for name in names)


def _address_of(values: list[str]) -> str:
    """Return the address of the one From field, undecoded, in small letters; "" if the field has anything else."""
    if len(values) != 1 or len(values[0]) > _MAX_FIELD:
        return ""
    match = _FROM.fullmatch(" ".join(values[0].split()))
    return (match[1] or match[2]).lower() if match else ""


def people_path() -> Path:
    """Return the file that SPAMNB_PEOPLE names, or the user's own."""
    from spamnb.sources.accounts import settings_file

    return Path(os.environ.get("SPAMNB_PEOPLE") or settings_file("people.toml"))


def read_sent(header: bytes) -> SentMail | None:
    """Read sender and recipients of a message in a Sent folder.

    None for mail that was delivered, and has only been moved there, and where the sender is not one address.

    >>> read_sent(b"From: me@a.example\\nTo: Ann <Ann@b.example>, x\\nCc: bob@c.example\\n\\n")
    SentMail(sender='me@a.example', recipients=('ann@b.example', 'bob@c.example'))
    """
    from email.parser import BytesHeaderParser
    from email.utils import getaddresses

    fields = BytesHeaderParser().parsebytes(header)
    sender = _address_of([str(value) for value in fields.get_all("From", [])])
    if not sender or "Delivered-To" in fields or "Authentication-Results" in fields:
        return None
    values = [str(value)[:_MAX_FIELD] for name in ("To", "Cc", "Bcc") for value in fields.get_all(name, [])]
    addresses = [address.lower() for _, address in getaddresses(values) if re.fullmatch(_ADDRESS, address)]
    return SentMail(sender, tuple(addresses)) if len(addresses) <= _MAX_RECIPIENTS else None


def add_recipients(sent: Iterable[SentMail]) -> int:
    """Add those to whom mail was sent to the file of people; return how many are new.

    The addresses that mail was sent from are left out: spam often bears its recipient's own as its sender.
    """
    with _WRITING:
        return _add_recipients(list(sent), people_path())


def _add_recipients(sent: Sequence[SentMail], path: Path) -> int:
    before = read_people(path, *_state(path)) if path.exists() else People()
    senders = {mail.sender for mail in sent}
    addresses = [name for name in before.wrote_to if name not in senders]
    others = {*before.allow, *before.block, *senders, *addresses}
    new = list(dict.fromkeys(name for mail in sent for name in mail.recipients if name not in others))
    wrote_to = [*addresses, *new][-MAX_WROTE_TO:]
    if wrote_to != list(before.wrote_to):
        _write_recipients(path, wrote_to)
    return len(new)


def _write_recipients(path: Path, addresses: Iterable[str]) -> None:
    """Write the list ``wrote_to``; all else in the file stays as a person wrote it."""
    place, rows = path.resolve(), "".join(f'    "{name}",\n' for name in addresses)
    try:
        text = place.read_text() if place.exists() else ""
        others = _WROTE_TO.sub("", text).rstrip("\n")
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = place.stat().st_mode & 0o777 if text else 0o600
        new = place.with_name(f"{place.name}.{os.getpid()}")
        with open(new, "w", opener=lambda file, flags: os.open(file, flags | os.O_EXCL, mode)) as file:
            file.write(others + "\n" * bool(others) + f"wrote_to = [\n{rows}]\n")
        new.replace(place)
    except OSError as error:
        raise SpamnbError(f"{escape(str(path))}: cannot be written: {reason(error)}") from None


def _state(path: Path) -> tuple[int, int]:
    """Return what changes with a file: its time and its size."""
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def own_people() -> People:
    """Return the people of the file that SPAMNB_PEOPLE names, or of the user's own file, as it is now."""
    named_path, path = os.environ.get("SPAMNB_PEOPLE"), people_path()
    try:
        state = _state(path)
    except OSError as error:
        if named_path:
            raise SpamnbError(f"{escape(named_path)}: cannot be read: {reason(error)}") from None
        return People()  # there is none, or a service may not enter its home
    return read_people(path, *state)


@lru_cache(1)
def read_people(path: Path, _changed: int = 0, _size: int = 0) -> People:
    """Return the people of a file. Raise SpamnbError for what is wrong in it. The file is read again if it changes."""
    import tomllib

    shown = escape(str(path))
    try:
        entries = tomllib.loads(path.read_text())
    except OSError as error:
        raise SpamnbError(f"{shown}: cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise SpamnbError(f"{shown}: no TOML: {escape(str(error)[:200])}") from None
    if unknown := entries.keys() - {"allow", "block", "server", "wrote_to"}:
        names = "allow, block, server and wrote_to"
        raise SpamnbError(f"{shown}: unknown setting {escape(min(unknown))!r}; there are {names}")
    server = entries.get("server", "")
    if not isinstance(server, str):
        raise SpamnbError(f"{shown}: server is a text in quotes")
    allow, block, wrote_to = (
        _check_names(entries.get(key, []), f"{shown}: {key}") for key in ("allow", "block", "wrote_to")
    )
    return People(frozenset(allow), frozenset(block), server.lower(), wrote_to)
