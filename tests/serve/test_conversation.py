"""The parts of the server in this process: users' models, points, and conversations with models that misbehave."""

from __future__ import annotations

import asyncio
import gc
import shutil
import socket
import struct
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mail import message as mail

from spamnb import user_models
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.mail_result import (
    _MAX_REPORT_ROWS,
    class_of_label,
    classify_mail,
    format_report,
    format_symbol,
    header_fields,
)
from spamnb.model.classification import Classification, Evidence
from spamnb.reader import spam_fields
from spamnb.reader.binding import ReaderCore
from spamnb.serve.connections import Limits
from spamnb.serve.conversations import Conversations
from spamnb.serve.spamd_wire import SpamdWire
from spamnb.serve.workers import Workers
from spamnb.user_models import Models, NoSuchUser


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "users").mkdir()
    return tmp_path / "users"


def test_a_user_who_was_learned_from_has_a_model_that_adds_to_the_shared_one(model, folder):
    models = Models(model, folder, writable=True)
    shared, raw = models.for_classifying(""), mail("spam", 500)
    assert models.for_classifying("ann") is models.for_learning("") is models.find_for_learning("") is shared
    assert models.find_for_learning("ann") is None and list(folder.iterdir()) == []
    for name in (".", "..", ".a", "-a", "@a", "a/b", "../a", "a\0", "a\n", "ä", "A" * 129):
        assert models.for_classifying(name) is shared
        with pytest.raises(NoSuchUser):
            models.for_learning(name)
    own, before = models.for_learning("ann"), shared.classify(raw)
    assert (
        own
        is models.for_learning("ann")
        is models.find_for_learning("ann")
        is models.for_classifying("ann")
        is not shared
    )
    assert own.settings == shared.settings
    assert own.classify(raw).log_odds == before.log_odds
    own.learn("ham", raw)
    assert own.classify(raw).log_odds < before.log_odds
    assert models.for_classifying("bob") is shared and shared.classify(raw).log_odds == before.log_odds
    (folder / "ann.spamnb").unlink()
    assert models.for_classifying("ann") is shared and models.find_for_learning("ann") is None
    shutil.rmtree(folder)
    with pytest.raises(SpamnbError, match="users: no such folder"):
        models.for_learning("ann")
    models.close()


@pytest.mark.parametrize(
    ("classes", "called"), [(["work", "spam"], "work"), (["ham", "b", "spam"], "ham"), ([], "ham")]
)
def test_ham_is_the_other_class_where_there_is_one(classes, called):
    with Classifier.create(":memory:") as classifier:
        for name in classes:
            classifier.learn(name, mail("ham", len(name)) + name.encode())
        assert (class_of_label(classifier, "ham"), class_of_label(classifier, "spam")) == (called, "spam")


def result(verdict: str, log_odds: float, threshold: float, evidence: list[Evidence] | None = None) -> Classification:
    return Classification(
        verdict, {"ham": 0.5, "spam": 0.5}, {}, log_odds, evidence or [], np.zeros(2), "", (), threshold=threshold
    )


nats = st.floats(-1e6, 1e6)
thresholds = st.floats(-10, 20)


@given(nats, nats, thresholds)
def test_points_rise_with_the_log_odds(a, b, threshold):
    low, high = sorted((a, b))
    for verdict in ("spam", "ham"):
        assert result(verdict, low, threshold).points <= result(verdict, high, threshold).points
    assert result("spam", threshold, threshold).points == 5.0
    assert result("ham", 0.0, max(threshold, 1.0)).points == 0.0


@given(nats, thresholds, st.sampled_from(["spam", "ham", "unsure"]))
def test_printed_points_never_contradict_the_verdict(log_odds, threshold, verdict):
    classification = result(verdict, log_odds, threshold)
    assert classification.is_spam == (classification.points >= 5.0) == (verdict == "spam")
    assert classification.points == round(classification.points, 1) and str(classification.points) != "-0.0"
    if verdict == ("spam" if log_odds >= threshold else "ham"):
        points = min(max(5 + 5 * (log_odds - threshold) / max(threshold, 1), -99.9), 99.9)
        assert abs(classification.points - points) < 0.16  # its own points


@given(st.text())
def test_names_are_one_printable_word(token):
    name = format_symbol(token)
    assert name and all("!" <= c <= "~" and c != "," for c in name) and len(name) <= 480


@pytest.mark.parametrize("letter", ["a", "я", "😀"])
def test_the_fields_of_a_message_fit_into_lines_of_mail(letter):
    evidence = [Evidence(letter * 60, 1.0)] * 40
    fields = header_fields(result("spam", 9.0, 2.0, evidence))
    assert all(len(f"{name}: {value}") <= 998 for name, value in fields)
    assert letter in dict(fields)["X-Spam-Status"].encode("ascii").decode("unicode_escape"), "no token is left"


def test_evidence_is_for_spam_whatever_is_likeliest():
    with Classifier.create(":memory:") as classifier:
        for number in range(20):
            for label in ("work", "spam"):
                classifier.learn(label, mail("spam" if label == "spam" else "ham", number) + label.encode())
        for label, sign in (("spam", 1), ("ham", -1)):
            raw = mail(label, 99)
            found, classification = classify_mail(classifier, raw), classifier.classify(raw)
            assert found.is_spam == (label == "spam") and found.log_odds == classification.log_odds
            strongest = classification.evidence[:_MAX_REPORT_ROWS]
            assert found.evidence == [(token, sign * weight) for token, weight in strongest]
            assert sign * sum(weight for _, weight in found.evidence) > 0


def test_the_longest_report_fits_exim():
    evidence = [Evidence("\U0001f4b0" * 100, float(n)) for n in range(_MAX_REPORT_ROWS)]
    assert len(format_report(result("spam", 9.0, 2.3, evidence))) < 32_000


class Stub:
    """Stands for the open models and for the one that answers."""

    store = property(lambda self: self)
    path, table = "stub", None

    def __init__(self, classify: Callable[[bytes], object]) -> None:
        self.classify = classify

    def classify_all(self, raws: Sequence[bytes], **options: object) -> list[object]:
        return [self.classify(raw) for raw in raws]

    def has_model(self, user: str) -> bool:
        return False

    def owner(self, user: str) -> str:
        return ""

    def for_classifying(self, user: str) -> Stub:
        return self

    def find_for_learning(self, user: str) -> Stub:
        raise SpamnbError("the model is busy")

    def check_spam(self) -> None:
        pass

    check_writable = check_spam

    def close(self) -> None:
        pass


def served_by(
    models: Stub, log: Callable[..., None] = lambda **facts: None, limits: Limits | None = None
) -> Conversations:
    """Conversations answered by these models."""
    workers = Workers(lambda writable, n_threads: models, 1, allow_tell=True, ledger=None)  # type: ignore[arg-type,return-value]
    return Conversations(workers, log, limits or Limits())


async def opened(
    spamd: Conversations, request: bytes
) -> tuple[asyncio.Task[None], asyncio.StreamReader, asyncio.StreamWriter]:
    """Begin a conversation with these bytes."""
    ours, theirs = socket.socketpair()
    served = asyncio.create_task(spamd.converse(SpamdWire(), *await asyncio.open_connection(sock=ours)))
    reader, writer = await asyncio.open_connection(sock=theirs)
    writer.write(request)
    return served, reader, writer


async def answered(spamd: Conversations, request: bytes, ends: bool = True) -> bytes:
    """Return the reply to one request, and end the server. A client that does not end sends a byte now and then."""
    served, reader, writer = await opened(spamd, request)
    if ends:
        writer.write_eof()
    while not ends and not served.done():
        writer.write(b"x")
        await asyncio.sleep(0.02)
    reply = await reader.read()
    writer.close()
    await served
    await spamd.close()
    return reply


def converse(
    request: bytes, classify: Callable[[bytes], object], ends: bool = True, **limits: float
) -> tuple[bytes, list[dict]]:
    """Return the reply to a request, and the log."""
    logged: list[dict] = []

    async def talk() -> bytes:
        spamd = served_by(Stub(classify), lambda **facts: logged.append(facts), Limits(**limits))  # type: ignore[arg-type]
        return await answered(spamd, request, ends)

    return asyncio.run(talk()), logged


CHECK = b"CHECK SPAMC/1.5\r\n\r\nSubject: x\r\n\r\nhi\r\n"


def hang(raw: bytes) -> object:
    while True:
        time.sleep(0.01)


@pytest.mark.parametrize("error", [ConnectionResetError("of the work"), TimeoutError("of the work")])
def test_a_connection_that_breaks_in_the_work_is_a_fault_and_no_lost_client(error: Exception):
    reply, logged = converse(CHECK, Mock(side_effect=error))
    assert reply.startswith(b"SPAMD/1.0 70 EX_SOFTWARE ") and [line["event"] for line in logged] == ["fault", "request"]


def pair_that_resets() -> tuple[socket.socket, socket.socket]:
    """Return a client and its connection at the server, which is reset if the client closes."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        return client, listening.accept()[0]


def test_a_client_that_breaks_off_is_answered_nothing_and_is_no_fault():
    logged: list[dict] = []

    async def talk() -> None:
        spamd = served_by(Stub(hang), lambda **facts: logged.append(facts))
        client, ours = pair_that_resets()
        client.sendall(b"CHECK SPAMC/1.5\r\nContent-length: 99\r\n\r\nSubject")
        served = asyncio.create_task(spamd.converse(SpamdWire(), *await asyncio.open_connection(sock=ours)))
        await asyncio.sleep(0.1)
        client.close()
        await served
        await spamd.close()

    asyncio.run(talk())
    assert logged == []


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (b"", b"the request's headers took too long"),
        (b"CHECK SPAMC/1.5\r\nX", b"the request's headers took too long"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 999999\r\n\r\nX", b"the message took too long"),
    ],
)
def test_a_client_that_sends_a_byte_now_and_then_is_cut_off(request_: bytes, said: bytes):
    reply, _ = converse(request_, hang, ends=False, head_seconds=0.2, message_seconds=0.2)
    assert reply == b"SPAMD/1.0 79 EX_TIMEOUT Timeout: " + said + b"\r\n"


def test_a_model_that_cannot_be_read_or_written_is_a_temporary_failure():
    reply, _ = converse(CHECK, Mock(side_effect=SpamnbError("model.spamnb: the disk is full")))
    assert reply == b"SPAMD/1.0 75 EX_TEMPFAIL model.spamnb: the disk is full\r\n"
    lesson = b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\nSubject: x\r\n\r\nhi\r\n"
    reply, _ = converse(lesson, hang)
    assert reply == b"SPAMD/1.0 75 EX_TEMPFAIL the model is busy\r\n"


def test_a_fault_costs_one_reply_and_is_logged_whole():
    reply, logged = converse(CHECK, lambda raw: 1 / 0)
    assert reply.startswith(b"SPAMD/1.0 70 EX_SOFTWARE ") and b"division" not in reply
    assert [line["event"] for line in logged] == ["fault", "request"]
    assert "ZeroDivisionError: division by zero" in logged[0]["error"] and "in classify_all" in logged[0]["error"]


def test_a_client_that_hangs_up_is_no_fault():
    async def talk() -> None:
        client, ours = pair_that_resets()
        spamd = served_by(Stub(hang), lambda **facts: client.close())
        client.sendall(b"SKIP SPAMC/1.2\r\n")
        await spamd.converse(SpamdWire(), *await asyncio.open_connection(sock=ours))
        await spamd.close()

    asyncio.run(talk())


def test_large_messages_at_once_are_bounded():
    reply, _ = converse(b"CHECK SPAMC/1.5\r\n\r\n" + b"x" * 100_000, hang, total_bytes=50_000)
    assert reply.startswith(b"SPAMD/1.0 69 EX_UNAVAILABLE Service Unavailable: too many large messages at once")
    reply, _ = converse(CHECK, hang, connections=0)
    assert reply == b"SPAMD/1.0 69 EX_UNAVAILABLE Service Unavailable: too many connections\r\n"


def test_slow_connections_use_up_neither_all_places_nor_all_memory():
    slow = [b"", b"CHECK SPAMC/1.5\r\nX", b"CHECK SPAMC/1.5\r\nContent-length: 999999\r\n\r\n" + b"x" * 99_000]

    async def talk() -> None:
        limits = Limits(connections=6, total_bytes=250_000)
        spamd = served_by(Stub(Mock(side_effect=SpamnbError("classified"))), limits=limits)
        clients = []
        for number in range(60):
            clients.append(await opened(spamd, slow[number % 3]))
            await asyncio.sleep(0.02)
            _, reader, writer = await opened(spamd, CHECK)
            writer.write_eof()
            assert await reader.read() == b"SPAMD/1.0 75 EX_TEMPFAIL classified\r\n", number
            writer.close()
            assert sum(not served.done() for served, _, _ in clients) <= 6
        for _, _, writer in clients:
            writer.close()
        await asyncio.gather(*(served for served, _, _ in clients))
        assert spamd._connections._message_bytes == 0 and not spamd._connections._waiting
        await spamd.close()

    asyncio.run(talk())


def test_whoever_is_classified_keeps_its_place():
    begun, goes_on = threading.Event(), threading.Event()

    def wait(raw: bytes) -> object:
        begun.set()
        goes_on.wait(120)
        raise SpamnbError("classified")

    async def talk() -> None:
        spamd = served_by(Stub(wait), limits=Limits(connections=1))
        served, reader, writer = await opened(spamd, CHECK)
        writer.write_eof()
        await asyncio.to_thread(begun.wait, 120)
        _, other, other_writer = await opened(spamd, b"PING SPAMC/1.5\r\n\r\n")
        assert b"too many connections" in await other.read()
        goes_on.set()
        assert await reader.read() == b"SPAMD/1.0 75 EX_TEMPFAIL classified\r\n"
        writer.close(), other_writer.close()
        await served
        await spamd.close()

    asyncio.run(talk())


@pytest.mark.parametrize("method", [b"CHECK", b"PROCESS", b"HEADERS", b"REPORT", b"TELL"])
def test_the_event_loop_reads_nothing_of_a_message(model: Path, monkeypatch: pytest.MonkeyPatch, method: bytes):
    threads: dict[str, set[str]] = {}

    def note_thread(owner: object, name: str) -> None:
        function = getattr(owner, name)

        def noted(*given: object, **named: object) -> object:
            threads.setdefault(name, set()).add(threading.current_thread().name.partition("_")[0])
            return function(*given, **named)

        monkeypatch.setattr(owner, name, noted)

    note_thread(ReaderCore, "_read")
    for name in ("replace_spam_fields", "strip_envelope"):
        note_thread(spam_fields, name)
    head = method + b" SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\n"
    field = b"Message-ID: =?idna?q?caf=E9?= " + b"=?utf-16?q?x?= " * 2_000
    logged: list[dict] = []

    async def talk() -> bytes:
        workers = Workers(partial(Models, model, None), 1, allow_tell=True, ledger=None)
        spamd = Conversations(workers, lambda **facts: logged.append(facts), Limits())
        return await answered(spamd, head + field + b"\n" + mail("spam", 5000))

    assert asyncio.run(talk()).startswith(b"SPAMD/1.")
    assert threads["_read"] and set.union(*threads.values()) <= {"classify", "change"}
    assert [line["id"] for line in logged if line["event"] == "request"] == ["=?idna?q?caf=E9?="]


def test_no_model_is_made_for_whom_nobody_teaches_and_a_folder_has_a_bound(model, folder, monkeypatch):
    def ask(method: bytes, user: str, raw: bytes, allow_tell: bool = True) -> bytes:
        async def talk() -> bytes:
            workers = Workers(partial(Models, model, folder), 1, allow_tell, ledger=None)
            spamd = Conversations(workers, lambda **facts: None, Limits())
            head = method + f" SPAMC/1.5\r\nUser: {user}\r\nMessage-class: spam\r\n".encode()
            return await answered(spamd, head + b"Set: local\r\n\r\n" + raw)

        return asyncio.run(talk())

    raw = mail("spam", 5000)
    ask(b"CHECK", "ann", raw)
    assert ask(b"TELL", "ann", raw, allow_tell=False).startswith(b"SPAMD/1.0 69 ")
    with monkeypatch.context() as patched:
        patched.setattr(ReaderCore, "_read", Mock(side_effect=MemoryError))
        assert ask(b"TELL", "ann", raw).startswith(b"SPAMD/1.0 70 ")
    assert list(folder.iterdir()) == []
    monkeypatch.setattr(user_models, "MAX_MODELS", 2)
    for user in ("ann", "bob", "ann"):
        assert ask(b"TELL", user, raw + user.encode()).startswith(b"SPAMD/1.1 0 EX_OK")
    full = ask(b"TELL", "eve", raw)
    assert full.startswith(b"SPAMD/1.0 75 ") and b"has models of 2 users" in full
    assert {path.name for path in folder.glob("*.spamnb")} == {"ann.spamnb", "bob.spamnb"}


def open_models_of(models):
    return set(models._user_models)


def test_the_bounds_of_open_models_are_for_all_users_together(model, folder, monkeypatch):
    models = Models(model, folder, writable=True)
    for user in "abcdef":
        models.for_learning(user).learn("spam", mail("spam", 600 + ord(user)))
    models.close()
    monkeypatch.setattr(user_models, "MAX_OPEN_MODELS", 8)
    models = Models(model, folder, writable=False, n_threads=2)
    for user in "abcdaef":
        models.for_classifying(user)
    assert open_models_of(models) == set("daef")  # those used last
    models.for_classifying("a").classify(mail("ham", 650))
    monkeypatch.setattr(models, "_max_cached", models.for_classifying("a").store.n_cached_tokens)
    models.for_classifying("f").classify(mail("ham", 650))
    models.for_classifying("b")
    assert open_models_of(models) == set("fb")
    large = models.for_classifying("b")
    for number in range(660, 670):
        large.classify(mail("ham", number))
    again = models.for_classifying("b")
    assert again is not large and again.store.n_cached_tokens == 0  # a model that is over the bound alone
    models.close()


def test_a_closed_model_is_freed_at_once(model, folder, monkeypatch):
    monkeypatch.setattr(user_models, "MAX_OPEN_MODELS", 1)
    models = Models(model, folder, writable=True)
    stores = []
    gc.disable()
    try:
        for user in "abc":
            own = models.for_learning(user)
            own.learn("spam", mail("spam", 700))
            own.classify(mail("spam", 701))
            stores.append(weakref.ref(own.store))
            del own
        assert [store() is None for store in stores] == [True, True, False]
    finally:
        gc.enable()
        models.close()
