"""What becomes of a move that a lost connection broke off: each state that a server can have left is made whole."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from imap_account import Person, Server, key
from served import mail

from spamnb.message.parse import digest
from spamnb.serve.imap_memory import ImapMemory
from spamnb.serve.imap_record import AccountRecord, Move, kin_of
from spamnb.sources.imap import ImapMailbox
from spamnb.sources.imap_connection import Denied
from spamnb.sources.imap_login import Login
from spamnb.sources.imap_reading import Uid
from spamnb.sources.imap_url import parsed
from spamnb.sources.mailbox import Folder

pytestmark = pytest.mark.slow

INBOX, JUNK = Folder("INBOX", "INBOX", "inbox"), Folder("Junk", "Junk", "junk")


def fail(name: str, error: Exception) -> None:
    pytest.fail(f"{name}: {error}")


@contextmanager
def remembering(server: Server) -> Iterator[tuple[ImapMailbox, ImapMemory]]:
    url = parsed(server.url)
    box = ImapMailbox(url, Login())
    try:
        with AccountRecord.of(url) as record:
            yield box, ImapMemory(box, record, None, fail, str(server.place / "lock"))
    finally:
        box.close()


def begin(box: ImapMailbox, memory: ImapMemory, raws: list[bytes]) -> None:
    """Note moves of all that is in the inbox, as just before they are made."""
    state = box.state(JUNK)
    messages = box.messages(INBOX)
    memory.record.begin_sorting("INBOX", box.opened(INBOX), [message.place.uid for message in messages])
    memory.record.begin(
        Move("INBOX", message.place, kin_of(head), digest(raw), "Junk", state.validity, state.next_uid)
        for (message, head), raw in zip(box.heads(messages), raws, strict=True)
    )


def everywhere(person: Person) -> list[tuple[str, str]]:
    return sorted((name, folder) for name, places in person.mail().items() for folder, _ in places)


def test_what_was_copied_and_not_removed_is_removed_and_the_rest_stays(made: Callable[..., Server]):
    server = made()
    raws = [mail("spam", seed) for seed in range(500, 504)]
    with server.person() as person, remembering(server) as (box, memory):
        for raw in raws:
            person.deliver(raw)
        begin(box, memory, raws)
        person.client.select("INBOX")
        person.client.uid("COPY", "1", "Junk")  # not removed
        person.client.uid("MOVE", "2", "Junk")  # done
        person.client.uid("COPY", "3", "Junk")
        person.client.uid("STORE", "3", "+FLAGS", r"(\Deleted)")  # not expunged
        memory.recover()
        assert person.where() == {key("spam", seed): "Junk" for seed in (500, 501, 502)} | {key("spam", 503): "INBOX"}
        assert memory.record.begun() == [] and memory.record.waiting() == {4}
        assert [memory.judged(digest(raw)) for raw in raws] == [True, True, True, False]
        memory.recover()
        assert len(everywhere(person)) == 4


def test_of_two_messages_that_are_the_same_both_stay(made: Callable[..., Server]):
    server = made()
    raw = mail("spam", 510)
    with server.person() as person, remembering(server) as (box, memory):
        person.deliver(raw)
        person.deliver(raw)
        begin(box, memory, [raw, raw])
        person.client.select("INBOX")
        person.client.uid("MOVE", "1", "Junk")  # the one in Junk is this one, and no copy of the other
        memory.recover()
        assert everywhere(person) == [(key("spam", 510), "INBOX"), (key("spam", 510), "Junk")]
        assert memory.record.begun() == []


def test_another_message_of_the_same_headers_is_no_copy(made: Callable[..., Server]):
    server = made()
    raw = mail("spam", 520)
    with server.person() as person, remembering(server) as (box, memory):
        person.deliver(raw)
        begin(box, memory, [raw])
        other = bytearray(raw)
        other[-3:-1] = b"zz"
        person.deliver(bytes(other), "Junk")
        memory.recover()
        assert everywhere(person) == [(key("spam", 520), "INBOX"), (key("spam", 520), "Junk")]


def test_a_copy_that_was_there_before_the_move_is_none_of_it(made: Callable[..., Server]):
    server = made()
    raw = mail("spam", 530)
    with server.person() as person, remembering(server) as (box, memory):
        person.deliver(raw, "Junk")
        person.deliver(raw)
        begin(box, memory, [raw])
        memory.recover()
        assert everywhere(person) == [(key("spam", 530), "INBOX"), (key("spam", 530), "Junk")]


def test_folders_that_were_numbered_anew_meanwhile(made: Callable[..., Server]):
    server = made()
    raws = [mail("spam", seed) for seed in (540, 541)]
    with server.person() as person, remembering(server) as (box, memory):
        for raw in raws:
            person.deliver(raw)
        begin(box, memory, raws)
        person.client.select("INBOX")
        person.client.uid("COPY", "1", "Junk")
    server.renumber()
    with server.person() as person, remembering(server) as (box, memory):
        memory.recover()
        assert person.where() == {key("spam", 540): "Junk", key("spam", 541): "INBOX"}


def test_a_move_of_what_is_gone_is_done_with(made: Callable[..., Server]):
    server = made()
    raw = mail("spam", 550)
    with server.person() as person, remembering(server) as (box, memory):
        person.deliver(raw)
        begin(box, memory, [raw])
        person.client.select("INBOX")
        person.client.uid("MOVE", "1", "Trash")
        memory.recover()
        assert person.where() == {key("spam", 550): "Trash"}
        assert memory.record.begun() == [] and not memory.judged(digest(raw))
        assert not list(box.sized([box.message(INBOX, Uid(box.state(INBOX).validity, 1))]))


def test_what_the_server_would_not_move_is_tried_again_later_and_later(made: Callable[..., Server], monkeypatch):
    server = made()
    raw = mail("spam", 560)
    told: list[str] = []
    now = [1000.0]
    with server.person() as person, remembering(server) as (box, memory):
        person.deliver(raw)
        monkeypatch.setattr(memory, "_on_unreadable", lambda name, error: told.append(str(error)))
        monkeypatch.setattr("spamnb.serve.imap_memory.time.monotonic", lambda: now[0])

        def refuse(*_: object) -> None:
            raise Denied("over quota")

        with monkeypatch.context() as patched:
            patched.setattr(box, "move", refuse)
            for pause in (60, 120, 240):
                (message,) = memory.unjudged(False)
                assert memory.move([(message, raw, digest(raw))], JUNK) is None
                now[0] += pause - 1
                assert memory.unjudged(False) == []
                now[0] += 2
        (message,) = memory.unjudged(False)
        assert memory.move([(message, raw, digest(raw))], JUNK) == [] and told == ["over quota"] * 3
        assert person.where() == {key("spam", 560): "Junk"} and memory.unjudged(False) == []
