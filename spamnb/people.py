"""The people file, ~/.config/spamnb/people.toml: senders whose mail is never spam, and senders whose mail is spam.

allow = ["ann@example.org", "example.net"]      # addresses and domains whose mail is never spam
block = ["offers@shop.example"]                 # addresses and domains whose mail is spam
server = "mx.example.com"                       # the server whose Authentication-Results can show a forged address
wrote_to = ["bob@example.org"]                  # the same as allow; 'watch' and 'train' add recipients of sent mail
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

from spamnb.errors import SpamnbError, reason
from spamnb.model.classification import Classification, Evidence
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape

# The texts of a sender's evidence. They differ from all tokens, because no token has four words.
KNOWN, BLOCKED = "you know this sender", "you blocked this sender"
FORGED = "you know this sender, but your server found the address forged"
MIN_LOG_ODDS = 4.6  # nats; more than ln 99, the threshold of the verdict spam with strictness cautious
MAX_WROTE_TO = 1_000  # newest recipients that stay in the file; 'filter' reads 1,000 in 3 ms for each message
_MAX_RECIPIENTS = 50  # recipients of a message that are added; a message with more is left out as a mailing
_MAX_FIELD = 8000  # characters of a header field, more than any mail server writes
_MAX_DOMAIN = 255  # characters of a domain (RFC 1035)
_MAX_RESULTS = 50  # uppermost fields Authentication-Results that are read; the user's server writes the first ones
_WROTE_TO = re.compile(r"(?m)^wrote_to\s*=\s*\[[^\]]*\]\n?")
_ADDRESS = r"([A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+)"
# One address, alone or after a name without an address. In any other From field mail programs could show an address
# that is not the address of the sender.
_FROM = re.compile(rf'(?:"(?:[^"\\]|\\.)*+"|[^"<>@,:;()\\]*+) ?<{_ADDRESS}>|{_ADDRESS}')
# Fields whose text is not decoded, because an encoded word could contain an address. Each byte is read once.
_FIELD = re.compile(
    rb"(?i)(?:^|(?<=[\r\n]))(from|authentication-results)[ \t]*+:([^\r\n]*+(?:(?:\r\n|\r|\n)[ \t][^\r\n]*+)*+)"
)
_RESULT = re.compile(r"(?i);\s*(dmarc|spf|dkim)\s*=\s*([a-z]+)")
# Comments and quoted texts, which a sender may have written. A quote without an end is matched up to the end of the
# field, so that the time is linear, and it stays.
_QUOTED = re.compile(r'(?s)\([^()]*+\)|"(?:[^"\\]|\\.)*+("?)')
_WRITE_LOCK = threading.Lock()  # the threads of 'watch' write to the file


class SentMail(NamedTuple):
    """A message that was sent: the address of its sender and the addresses of its recipients, in lower case."""

    sender: str
    recipients: tuple[str, ...]


@dataclass(frozen=True)
class People:
    """The content of the people file, with addresses and domains in lower case."""

    allow: frozenset[str] = frozenset()
    block: frozenset[str] = frozenset()
    server: str = ""  # "" for none
    wrote_to: tuple[str, ...] = ()  # the oldest first

    def classify_sender(self, raw: bytes) -> str:
        """Return KNOWN, BLOCKED or FORGED for the sender of a message, or "" if the sender is not in the file.

        An entry for an address overrides an entry for its domain, and ``block`` overrides ``allow``.

        >>> people = People(frozenset(["ann@example.org"]), frozenset(["example.org"]))
        >>> [people.classify_sender(b"From: %s@example.org\\n\\n" % name) for name in (b"ann", b"bob")]
        ['you know this sender', 'you blocked this sender']
        """
        if not (self.allow or self.block or self.wrote_to):
            return ""
        fields = _read_fields(raw[: section_length(raw)])
        address = _parse_from([value for name, value in fields if name == "from"])
        domain = address.partition("@")[2]
        parents = [f"*{domain[n:]}" for n, character in enumerate(domain) if character == "." and n]
        for name in (address, domain, *parents) if address else ():
            if name in self.block:
                return BLOCKED
            if name in self.allow or name in self.wrote_to:
                results = [value for name, value in fields if name != "from"][:_MAX_RESULTS]
                return FORGED if self.server and self._is_forged(results) else KNOWN
        return ""

    def override(self, classification: Classification, raw: bytes) -> Classification:
        """Return the classification of a message, changed if its sender is in the file."""
        status, verdict, log_odds = self.classify_sender(raw), classification.verdict, classification.log_odds
        if not status:
            return classification
        if status == BLOCKED:
            verdict, log_odds = classification.spam, max(log_odds, MIN_LOG_ODDS)
        elif status == KNOWN:
            others = {name: p for name, p in classification.probabilities.items() if name != classification.spam}
            if verdict not in others:
                verdict = max(others, key=others.__getitem__, default="ham")
            log_odds = min(log_odds, -MIN_LOG_ODDS)
        sender = Evidence(status, log_odds - classification.log_odds)
        return classification._replace(verdict=verdict, log_odds=log_odds, sender=sender)

    def _is_forged(self, fields: list[str]) -> bool:
        """Return whether ``server`` found the address forged, by the values of Authentication-Results.

        The uppermost result of each method counts, because the sender may have written the lower ones.
        """
        results_of_server: dict[str, set[str]] = {}
        for field in reversed(fields):
            server, _, results = _QUOTED.sub(_blank, field[:_MAX_FIELD]).partition(";")
            results_of_field: dict[str, set[str]] = {}
            for method, result in _RESULT.findall(";" + results):
                results_of_field.setdefault(method.lower(), set()).add(result.lower())
            if server.lower().split()[:1] == [self.server]:
                results_of_server |= results_of_field
        spf_fails = bool(results_of_server.get("spf", set()) & {"fail", "softfail"})
        return "fail" in results_of_server.get("dmarc", ()) or (
            spf_fails and "pass" not in results_of_server.get("dkim", ())
        )


def _check_names(names: object, where: str) -> tuple[str, ...]:
    if not isinstance(names, list):
        raise SpamnbError(f"{where} must be a list of texts in brackets")
    names = [name.removeprefix("*@") if isinstance(name, str) else name for name in names]  # all of a domain
    for name in names:
        shown_name = escape(str(name)[:80])
        if isinstance(name, str) and name.startswith("@"):
            raise SpamnbError(
                f"{where}: {shown_name!r} is no address; for all addresses of a domain write {shown_name[1:]!r}"
            )
        address = name if "@" in str(name) else f"a@{str(name).removeprefix('*.')}"
        if not isinstance(name, str) or not re.fullmatch(_ADDRESS, address) or "*" in address.partition("@")[0]:
            problem = "is neither an address nor a domain; '*.example.org' is all subdomains"
            raise SpamnbError(f"{where}: {shown_name!r} {problem}")
    return tuple(name.lower() for name in names)


def _read_fields(header: bytes) -> list[tuple[str, str]]:
    """Return the fields From and Authentication-Results of a header, with their names in lower case."""
    return [(name.decode().lower(), value.decode("latin-1")) for name, value in _FIELD.findall(header)]


def _blank(match: re.Match[str]) -> str:
    """Return a blank in place of a comment or of a quoted text; a quote without an end stays."""
    return match[0] if match[1] == "" else " "


def _parse_from(values: list[str]) -> str:
    """Return the address of the only From field in lower case, or "" if the field is not one address.

    With several From fields, mail programs differ in which one they show.
    """
    if len(values) != 1 or len(values[0]) > _MAX_FIELD:
        return ""
    match = _FROM.fullmatch(" ".join(values[0].split()))
    address = (match[1] or match[2]).lower() if match else ""
    return address if len(address.partition("@")[2]) <= _MAX_DOMAIN else ""


def people_path() -> Path:
    """Return the path of the people file: SPAMNB_PEOPLE, or people.toml in the user's configuration folder."""
    from spamnb.sources.accounts import settings_file

    return Path(os.environ.get("SPAMNB_PEOPLE") or settings_file("people.toml"))


def read_sent(header: bytes) -> SentMail | None:
    """Return the sender and the recipients of a message in a Sent folder.

    Return None if the message was delivered to the user and moved to the folder, or if its sender is not one address.

    >>> read_sent(b"From: me@a.example\\nTo: Ann <Ann@b.example>, x\\nCc: bob@c.example\\n\\n")
    SentMail(sender='me@a.example', recipients=('ann@b.example', 'bob@c.example'))
    """
    from email.parser import BytesHeaderParser
    from email.utils import getaddresses

    fields = BytesHeaderParser().parsebytes(header)
    sender = _parse_from([str(value) for value in fields.get_all("From", [])])
    if not sender or "Delivered-To" in fields or "Authentication-Results" in fields:
        return None
    values = [str(value)[:_MAX_FIELD] for name in ("To", "Cc", "Bcc") for value in fields.get_all(name, [])]
    addresses = [address.lower() for _, address in getaddresses(values) if re.fullmatch(_ADDRESS, address)]
    return SentMail(sender, tuple(addresses)) if len(addresses) <= _MAX_RECIPIENTS else None


def add_recipients(sent: Iterable[SentMail]) -> int:
    """Add the recipients of sent mail to the people file, and return the number of new recipients.

    The senders of this mail are left out, because spam often has the address of its recipient as its sender.
    """
    with _WRITE_LOCK:
        return _add_recipients(list(sent), people_path())


def _add_recipients(sent: Sequence[SentMail], path: Path) -> int:
    people = read_people(path, *_time_and_size(path)) if path.exists() else People()
    senders = {mail.sender for mail in sent}
    old_recipients = [name for name in people.wrote_to if name not in senders]
    others = {*people.allow, *people.block, *senders, *old_recipients}
    new_recipients = list(dict.fromkeys(name for mail in sent for name in mail.recipients if name not in others))
    wrote_to = [*old_recipients, *new_recipients][-MAX_WROTE_TO:]
    if wrote_to != list(people.wrote_to):
        _write_recipients(path, wrote_to)
    return len(new_recipients)


def _write_recipients(path: Path, addresses: Iterable[str]) -> None:
    """Replace the list ``wrote_to`` in the people file. The other lines stay as the user wrote them."""
    target, rows = path.resolve(), "".join(f'    "{name}",\n' for name in addresses)
    try:
        text = target.read_text() if target.exists() else ""
        other_lines = _WROTE_TO.sub("", text).rstrip("\n")
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        mode = target.stat().st_mode & 0o777 if text else 0o600
        new_file = target.with_name(f"{target.name}.{os.getpid()}")
        with open(new_file, "w", opener=lambda file, flags: os.open(file, flags | os.O_EXCL, mode)) as file:
            file.write(other_lines + "\n" * bool(other_lines) + f"wrote_to = [\n{rows}]\n")
        new_file.replace(target)
    except OSError as error:
        raise SpamnbError(f"{escape(str(path))}: cannot be written: {reason(error)}") from None


def _time_and_size(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size


def load_people() -> People:
    """Return the content of the user's people file, or of the file that SPAMNB_PEOPLE names."""
    variable, path = os.environ.get("SPAMNB_PEOPLE"), people_path()
    try:
        time_and_size = _time_and_size(path)
    except OSError as error:
        if variable:
            raise SpamnbError(f"{escape(variable)}: cannot be read: {reason(error)}") from None
        return People()  # there is no file, or a service has no permission to enter the home folder
    return read_people(path, *time_and_size)


@lru_cache(1)
def read_people(path: Path, _time: int = 0, _size: int = 0) -> People:
    """Return the content of a people file. Raise SpamnbError if it has mistakes.

    The result is cached until the time or the size of the file changes.
    """
    import tomllib

    name = escape(str(path))
    try:
        entries = tomllib.loads(path.read_text())
    except OSError as error:
        raise SpamnbError(f"{name}: cannot be read: {reason(error)}") from None
    except (ValueError, RecursionError) as error:
        raise SpamnbError(f"{name}: not TOML: {escape(str(error)[:200])}") from None
    if unknown_keys := entries.keys() - {"allow", "block", "server", "wrote_to"}:
        keys = "allow, block, server and wrote_to"
        raise SpamnbError(f"{name}: unknown setting {escape(min(unknown_keys))!r}; the settings are {keys}")
    server = entries.get("server", "")
    if not isinstance(server, str):
        raise SpamnbError(f"{name}: server must be a text in quotes")
    allow, block, wrote_to = (
        _check_names(entries.get(key, []), f"{name}: {key}") for key in ("allow", "block", "wrote_to")
    )
    return People(frozenset(allow), frozenset(block), server.lower(), wrote_to)
