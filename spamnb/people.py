"""People in the configuration file: senders whose mail is never spam, and senders whose mail is spam.

[people]
allow = ["ann@example.org", "example.net"]      # addresses and domains whose mail is never spam
block = ["offers@shop.example"]                 # addresses and domains whose mail is spam
address_books = ["~/contacts.vcf"]              # files with further addresses, as in allow
server = "mx.example.com"                       # the server whose Authentication-Results can show a forged address

[users.ann]                                     # in addition, for mail of this user of 'serve --models'
allow = ["*.example.org"]                       # all subdomains

Recipients of sent mail are people, too: 'watch' and 'train' write them into a file beside the configuration file, which
is read as one more address book.
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

from spamnb.address_books import Book, find_book, read_addresses
from spamnb.configuration import Document, Keys, configuration_path, read_document, replace_text
from spamnb.model.classification import Classification, Evidence
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape

# The texts of a sender's evidence. They differ from all tokens, because no token has four words.
KNOWN, BLOCKED = "you know this sender", "you blocked this sender"
FORGED = "you know this sender, but your server found the address forged"
MIN_LOG_ODDS = 4.6  # nats; more than ln 99, the threshold of the verdict spam with strictness cautious
MAX_RECIPIENTS_KEPT = 1_000  # newest recipients that stay in the file
_MAX_RECIPIENTS = 50  # recipients of a message that are added; a message with more is left out as a mailing
_MAX_FIELD = 8000  # characters of a header field, more than any mail server writes
_MAX_DOMAIN = 255  # characters of a domain (RFC 1035)
_MAX_RESULTS = 50  # uppermost fields Authentication-Results that are read; the user's server writes the first ones
_SETTINGS: dict[str, type] = {"allow": list, "block": list, "address_books": list, "server": str}
_USER_SETTINGS: dict[str, type] = {"allow": list, "block": list, "address_books": list}
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
    """Addresses and domains in lower case, and the name of the user's mail server."""

    allow: frozenset[str] = frozenset()
    block: frozenset[str] = frozenset()
    server: str = ""  # "" for none
    address_books: tuple[str, ...] = ()  # paths of files whose addresses are not in ``allow``

    def classify_sender(self, raw: bytes) -> str:
        """Return KNOWN, BLOCKED or FORGED for the sender of a message, or "" if the sender is none of these people.

        An entry for an address overrides an entry for its domain, and ``block`` overrides ``allow``.

        >>> people = People(frozenset(["ann@example.org"]), frozenset(["example.org"]))
        >>> [people.classify_sender(b"From: %s@example.org\\n\\n" % name) for name in (b"ann", b"bob")]
        ['you know this sender', 'you blocked this sender']
        """
        if not (self.allow or self.block):
            return ""
        fields = _read_fields(raw[: section_length(raw)])
        address = _parse_from([value for name, value in fields if name == "from"])
        domain = address.partition("@")[2]
        parents = [f"*{domain[n:]}" for n, character in enumerate(domain) if character == "." and n]
        for name in (address, domain, *parents) if address else ():
            if name in self.block:
                return BLOCKED
            if name in self.allow:
                results = [value for name, value in fields if name != "from"][:_MAX_RESULTS]
                return FORGED if self.server and self._is_forged(results) else KNOWN
        return ""

    def override(self, classification: Classification, raw: bytes) -> Classification:
        """Return the classification of a message, changed if its sender is one of these people."""
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


def _check_names(document: Document, keys: Keys, names: Iterable[str]) -> tuple[str, ...]:
    """Return addresses and domains in lower case. Raise SpamnbError for a text that is neither."""
    names = [name.removeprefix("*@") for name in names]  # all addresses of a domain
    for name in names:
        address = name if "@" in name else f"a@{name.removeprefix('*.')}"
        if name.startswith("@"):
            raise document.error(keys, f"no address; for all of a domain write {escape(name[1:80])!r}", name)
        if not re.fullmatch(_ADDRESS, address) or "*" in address.partition("@")[0]:
            raise document.error(keys, "neither an address nor a domain; '*.example.org' is all subdomains", name)
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


def add_recipients(sent: Sequence[SentMail]) -> int:
    """Add the recipients of sent mail to their file, and return the number of new recipients.

    The senders of this mail are left out, because spam often has the address of its recipient as its sender.
    """
    with _WRITE_LOCK:
        people, path = load_people(), recipients_path()
        old_recipients = path.read_text("latin-1").split() if path.exists() else []
        senders = {mail.sender for mail in sent}
        others = {*people.allow, *people.block, *senders}
        new_recipients = list(dict.fromkeys(name for mail in sent for name in mail.recipients if name not in others))
        recipients = [*(name for name in old_recipients if name not in senders), *new_recipients][-MAX_RECIPIENTS_KEPT:]
        if recipients != old_recipients:
            replace_text(path, "".join(f"{name}\n" for name in recipients))
    return len(new_recipients)


def recipients_path() -> Path:
    """Return the path of the file of recipients, an address a line, the oldest first."""
    path = configuration_path()
    return path.with_name(f"{path.name}.recipients.txt")


def load_people(user: str = "") -> People:
    """Return the people in the configuration file, for the mail of a user of ``serve`` also those of the user.

    Raise SpamnbError if the file, or an address book in it, has a mistake.
    """
    people = _read_people(read_document())
    parts = [people[name] for name in dict.fromkeys(("", user)) if name in people]
    books = [path for part in parts for path in part.address_books]
    if os.path.exists(path := recipients_path()):  # False without the permission to enter the folder
        books.append(str(path))
    return _merge(*parts, *map(find_book, books))


@lru_cache(1)
def _read_people(document: Document) -> dict[str, People]:
    """Return the people of a document, by the name of a user; the people of all users have the name ""."""
    tables = {user: _make_people(document, ("users", user), _USER_SETTINGS) for user in document.table("users")}
    return tables | {"": _make_people(document, ("people",), _SETTINGS)}


def _make_people(document: Document, keys: Keys, kinds: dict[str, type]) -> People:
    settings = document.settings(keys, kinds)
    allow, block = (_check_names(document, (*keys, key), settings.get(key, ())) for key in ("allow", "block"))
    folder, books = document.path.parent, settings.get("address_books", ())
    books = tuple(os.path.join(folder, os.path.expanduser(path)) for path in books)
    return People(frozenset(allow), frozenset(block), settings.get("server", "").lower(), books)


@lru_cache(64)
def _merge(*parts: People | Book) -> People:
    """Return the union of people, and of the addresses in address books."""
    people = [part for part in parts if isinstance(part, People)]
    addresses = {name for book in parts if isinstance(book, Book) for name in read_addresses(book)}
    return People(
        frozenset(addresses.union(*(part.allow for part in people))),
        frozenset().union(*(part.block for part in people)),
        next((part.server for part in people if part.server), ""),
    )
