"""A mailbox of each kind with its person; the servers are real ones, for each test its own."""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from spamnb.sources import imap_reading

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not: the tests share these
from cyrus_account import Cyrus
from imap_account import WITHOUT_MOVE, Server, account
from person import MaildirPerson, Person

SERVERS = {"Dovecot": (Server, ""), "Dovecot without MOVE": (Server, WITHOUT_MOVE), "Cyrus": (Cyrus, "")}


@pytest.fixture
def made(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Server]]:
    """Make a server with its account, and let spamnb trust it."""
    with ExitStack() as servers:

        def make(more: str = "", junk: str = "Junk", kind: type[Server] = Server) -> Server:
            server = servers.enter_context(account(place, junk, more, kind))
            homes = dict.fromkeys(("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"), str(tmp_path))
            for name, value in {**server.login, **homes}.items():
                monkeypatch.setenv(name, value)
            monkeypatch.setattr(imap_reading, "PAUSES", (0.1, 0.2, 0.5, 1.0))
            return server

        yield make


@pytest.fixture(params=["Maildir", pytest.param("Dovecot", marks=pytest.mark.slow)])
def person(request: pytest.FixtureRequest, tmp_path: Path, model: Path) -> Iterator[Person]:
    """Who has a mailbox of this kind; tests that ask for more kinds name them."""
    if request.param not in SERVERS:
        yield MaildirPerson(tmp_path, model, beside="beside" in request.param)
        return
    kind, more = SERVERS[request.param]
    with request.getfixturevalue("made")(more, kind=kind).person(model) as found:
        yield found
