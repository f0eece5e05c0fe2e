"""One conversation at a time, in this process, with models that misbehave as no real one does."""

from __future__ import annotations

import asyncio
import socket
import struct
import threading
import time
from collections.abc import Callable

import pytest
from served import mail

from spamnb.classifier import Classifier
from spamnb.errors import SpamnbError
from spamnb.serve.metrics import Metrics
from spamnb.serve.reception import Limits
from spamnb.serve.score import Score, score_message
from spamnb.serve.spamd import Autolearn, Spamd
from spamnb.serve.users import Models


class Stub:
    """Stands for the open models and for the one that answers."""

    def __init__(self, judge: Callable[[bytes], object]) -> None:
        self.judge = judge

    def classify(self, raw: bytes, of_spam: bool, posterior: bool) -> object:
        return self.judge(raw)

    def for_classifying(self, user: str) -> Stub:
        return self

    def for_learning(self, user: str) -> Stub:
        raise SpamnbError("the model is busy")

    def may_teach(self, user: str) -> bool:
        return True

    def close(self) -> None:
        pass


def converse(
    request: bytes, judge: Callable[[bytes], object], ends: bool = True, **limits: float
) -> tuple[bytes, list[dict]]:
    """The reply to a request, and what was logged. A client that does not end sends a byte now and then."""
    logged: list[dict] = []

    async def talk() -> bytes:
        spamd = Spamd(
            lambda writable: Stub(judge),  # type: ignore[arg-type,return-value]
            Metrics(1).counts(0),
            lambda **facts: logged.append(facts),
            Limits(**limits),  # type: ignore[arg-type]
            allow_tell=True,
        )
        ours, theirs = socket.socketpair()
        served = asyncio.create_task(spamd.converse(*await asyncio.open_connection(sock=ours)))
        reader, writer = await asyncio.open_connection(sock=theirs)
        writer.write(request)
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

    return asyncio.run(talk()), logged


CHECK = b"CHECK SPAMC/1.5\r\n\r\nSubject: x\r\n\r\nhi\r\n"


def fail(error: Exception) -> Callable[[bytes], object]:
    def judge(raw: bytes) -> object:
        raise error

    return judge


def hang(raw: bytes) -> object:
    while True:
        time.sleep(0.01)


def test_a_message_that_takes_too_long_is_given_up():
    reply, logged = converse(CHECK, hang, classify_time=0.1)
    assert reply == b"SPAMD/1.0 79 EX_TIMEOUT Timeout: classifying the message took too long\r\n"
    assert logged[-1]["code"] == 79


@pytest.mark.parametrize(
    ("request_", "said"),
    [
        (b"", b"the request's headers took too long"),
        (b"CHECK SPAMC/1.5\r\nX", b"the request's headers took too long"),
        (b"CHECK SPAMC/1.5\r\nContent-length: 999999\r\n\r\nX", b"the message took too long"),
    ],
)
def test_a_client_that_sends_a_byte_now_and_then_is_cut_off(request_: bytes, said: bytes):
    reply, _ = converse(request_, hang, ends=False, head_time=0.2, message_time=0.2)
    assert reply == b"SPAMD/1.0 79 EX_TIMEOUT Timeout: " + said + b"\r\n"


def test_a_model_that_cannot_be_read_is_a_temporary_failure():
    reply, _ = converse(CHECK, fail(SpamnbError("model.spamnb: another process keeps writing to it; try again")))
    assert reply == b"SPAMD/1.0 75 EX_TEMPFAIL model.spamnb: another process keeps writing to it; try again\r\n"


def test_a_fault_costs_one_reply_and_is_logged_whole():
    reply, logged = converse(CHECK, fail(ZeroDivisionError("division by zero")))
    assert reply.startswith(b"SPAMD/1.0 70 EX_SOFTWARE ") and b"division" not in reply
    assert [line["event"] for line in logged] == ["fault", "request"]
    assert "ZeroDivisionError: division by zero" in logged[0]["error"] and "in classify" in logged[0]["error"]


def test_a_lesson_that_cannot_be_kept_is_not_said_to_be():
    request = b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\nSubject: x\r\n\r\nhi\r\n"
    reply, _ = converse(request, hang)
    assert reply == b"SPAMD/1.0 75 EX_TEMPFAIL the model is busy\r\n"


def test_a_fault_in_teaching_is_answered_and_logged_too(monkeypatch):
    def for_learning(self: Stub, user: str) -> Stub:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Stub, "for_learning", for_learning)
    request = b"TELL SPAMC/1.5\r\nMessage-class: spam\r\nSet: local\r\n\r\nSubject: x\r\n\r\nhi\r\n"
    reply, logged = converse(request, hang)
    assert reply.startswith(b"SPAMD/1.0 70 EX_SOFTWARE ")
    assert [line["event"] for line in logged] == ["fault", "request"]


def test_a_client_that_hangs_up_is_no_fault():
    async def talk() -> None:
        with socket.create_server(("127.0.0.1", 0)) as listening:
            client = socket.create_connection(listening.getsockname())
            ours, _ = listening.accept()
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closing resets
        counts = Metrics(1).counts(0)
        spamd = Spamd(lambda writable: Stub(hang), counts, lambda **facts: client.close(), Limits())  # type: ignore
        client.sendall(b"SKIP SPAMC/1.2\r\n")
        await spamd.converse(*await asyncio.open_connection(sock=ours))
        await spamd.close()

    asyncio.run(talk())


def test_large_messages_at_once_are_bounded():
    reply, _ = converse(b"CHECK SPAMC/1.5\r\n\r\n" + b"x" * 100_000, hang, held=50_000)
    assert reply.startswith(b"SPAMD/1.0 69 EX_UNAVAILABLE Service Unavailable: too many large messages at once")


@pytest.mark.parametrize(
    ("verdict", "log_odds", "label"),
    [("spam", 5.52, "spam"), ("spam", 5.0, None), ("ham", -5.6, "ham"), ("ham", -5.0, None), ("unsure", 9.0, None)],
)
def test_autolearn_is_beyond_both_thresholds_only(verdict, log_odds, label):
    found = Score.of(verdict, log_odds, 2.3)
    assert Autolearn(spam=12.0, ham=-12.0).label(found) == label


def test_lessons_that_wait_are_bounded_and_what_is_not_learned_is_not_told_as_learned(model, monkeypatch):
    monkeypatch.setattr("spamnb.serve.spamd.MAX_WAITING_LESSONS", 2)
    go_on, learn = threading.Event(), Spamd._learn_from_itself
    logged: list[dict] = []

    def when_told(spamd: Spamd, *lesson: str) -> None:
        go_on.wait(120)
        learn(spamd, *lesson)  # type: ignore[arg-type]

    async def asked(spamd: Spamd, raw: bytes) -> bytes:
        ours, theirs = socket.socketpair()
        served = asyncio.create_task(spamd.converse(*await asyncio.open_connection(sock=ours)))
        reader, writer = await asyncio.open_connection(sock=theirs)
        writer.write(b"PROCESS SPAMC/1.5\r\nContent-length: %d\r\n\r\n" % len(raw) + raw)
        reply = await reader.read()
        writer.close()
        await served
        return reply

    async def talk() -> list[bytes]:
        spamd = Spamd(
            lambda writable: Models(model, None, 1, writable=writable),
            Metrics(1).counts(0),
            lambda **facts: logged.append(facts),
            Limits(),
            autolearn=Autolearn(5.0, -99.0),
        )
        replies = [await asked(spamd, raw) for raw in sure[:4]]
        go_on.set()
        await asyncio.to_thread(spamd._learner.submit(int).result)  # the lessons are done
        replies += [await asked(spamd, sure[4])]
        await spamd.close()
        return replies

    monkeypatch.setattr(Spamd, "_learn_from_itself", when_told)
    with Classifier.open(model) as classifier:
        mails = [mail("spam", n) for n in range(5000, 5200)]
        sure = [raw for raw in mails if score_message(classifier, raw).points >= 6][:5]
    told = [b"autolearn=spam" in reply for reply in asyncio.run(talk())]
    assert told == ["autolearn" in line for line in logged] == [True, True, False, False, True]
    with Classifier.open(model) as classifier:
        assert [classifier.learned(raw) == "spam" for raw in sure] == told
