"""Senders whom a person knows, whose mail is never spam, and senders who are blocked, in one file.

allow = ["ann@example.org", "example.net"]      # in ~/.config/spamnb/people.toml: addresses, and whole domains
block = ["offers@shop.example"]
server = "mx.example.com"                       # whose Authentication-Results say that an address was forged
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from spamnb.classification import Classification, Evidence
from spamnb.errors import SpamnbError, reason
from spamnb.reader.spam_fields import section_length
from spamnb.shown_text import escape

KNOWN, BLOCKED = "you know this sender", "you blocked this sender"  # as evidence: no token has four words
FORGED = "you know this sender, but your server found the address forged"
CERTAINTY = 4.6  # nats, 99 to 1: what a person's word counts at least
_MAX_FIELD = 8000  # characters of a header field
_ADDRESS = r"([A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]+@[A-Za-z0-9.-]+)"
# One address alone, or behind a name that holds none: whatever else may stand there is nobody whom a person knows.
_FROM = re.compile(rf'(?:"(?:[^"\\]|\\.)*+"|[^"<>@,:;()\\]*+) ?<{_ADDRESS}>|{_ADDRESS}')
_FROM_LINE = re.compile(rb"(?i)(?:^|[\r\n])from[ \t]*:")
_RESULT = re.compile(r"(?i);\s*(dmarc|spf|dkim)\s*=\s*([a-z]+)")
_QUOTED = re.compile(r'\([^()]*\)|"(?:[^"\\]|\\.)*+"')  # comments too: a sender may have chosen what is in them


@dataclass(frozen=True)
class People:
    """Addresses and domains in small letters, and the server whose word on forgery counts ("": none)."""

    allow: frozenset[str] = frozenset()
    block: frozenset[str] = frozenset()
    server: str = ""

    def say(self, raw: bytes) -> str:
        """Return KNOWN, BLOCKED or FORGED for the sender of a message; "" for anybody else.

        An address's own entry goes before its domain's, and ``block`` before ``allow``.

        >>> people = People(frozenset(["ann@example.org"]), frozenset(["example.org"]))
        >>> people.say(b"From: Ann <Ann@example.org>\\n\\n"), people.say(b"From: bob@example.org\\n\\n")
        ('you know this sender', 'you blocked this sender')
        """
        if not (self.allow or self.block):
            return ""
        from email.parser import BytesHeaderParser

        header = raw[: section_length(raw)]
        fields = BytesHeaderParser().parsebytes(header)
        one = len(_FROM_LINE.findall(header)) == 1  # of more, each reader of mail shows another
        address = _address_of([str(value) for value in fields.get_all("From", [])]) if one else ""
        for name in (address, address.partition("@")[2]) if address else ():
            if name in self.block:
                return BLOCKED
            if name in self.allow:
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


def _check_names(names: object, where: str) -> frozenset[str]:
    if not isinstance(names, list):
        raise SpamnbError(f"{where} is a list of texts in brackets")
    for name in names:
        if not isinstance(name, str) or not re.fullmatch(_ADDRESS, name if "@" in name else f"a@{name}"):
            raise SpamnbError(f"{where}: {escape(str(name)[:80])!r} is neither an address nor a domain")
    return frozenset(name.lower() for name in names)


def _address_of(values: list[str]) -> str:
    """Return the address of the one From field, undecoded, in small letters; "" if the field has anything else."""
    if len(values) != 1 or len(values[0]) > _MAX_FIELD:
        return ""
    match = _FROM.fullmatch(" ".join(values[0].split()))
    return (match[1] or match[2]).lower() if match else ""


def own_people() -> People:
    """Return the people of the file that SPAMNB_PEOPLE names, or of the user's own file, as it is now."""
    from spamnb.sources.accounts import settings_file

    named_path = os.environ.get("SPAMNB_PEOPLE")
    path = Path(named_path or settings_file("people.toml"))
    try:
        status = path.stat()
    except OSError as error:
        if named_path:
            raise SpamnbError(f"{escape(named_path)}: cannot be read: {reason(error)}") from None
        return People()  # there is none, or a service may not enter its home
    return read_people(path, status.st_mtime_ns, status.st_size)


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
    if unknown := entries.keys() - {"allow", "block", "server"}:
        raise SpamnbError(f"{shown}: unknown setting {escape(min(unknown))!r}; there are allow, block and server")
    server = entries.get("server", "")
    if not isinstance(server, str):
        raise SpamnbError(f"{shown}: server is a text in quotes")
    allow, block = (_check_names(entries.get(key, []), f"{shown}: {key}") for key in ("allow", "block"))
    return People(allow, block, server.lower())
