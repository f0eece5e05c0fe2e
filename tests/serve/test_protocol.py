"""The protocol of spamd: how requests are read, bounded and answered."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spamnb.serve.protocol import Refusal, Request, parse_request, parse_request_line, refusal_reply, verdict_reply


@given(st.binary(max_size=400))
def test_an_error_is_one_printable_line_whatever_was_sent(line):
    try:
        parse_request_line(line)
    except Refusal as refusal:
        reply = refusal_reply(refusal)
        assert reply.endswith(b"\r\n") and reply.count(b"\n") == reply.count(b"\r") == 1
        assert all(32 <= byte < 127 for byte in reply[:-2]) and len(reply) < 300


def test_headers_in_any_case_and_unknown_ones():
    lines = [b"content-length:12", b"USER: ann", b"X-Whatever: y", b"Empty:"]
    asked = parse_request("PROCESS", (1, 5), lines)
    assert asked == Request("PROCESS", (1, 5), user="ann", content_length=12)


def test_tell_says_what_to_learn():
    lines = [b"Message-class: spam", b"Set: local,remote"]  # spamc -C report
    assert parse_request("TELL", (1, 5), lines).set_local
    lines = [b"Message-class: ham", b"Set: local", b"Remove: remote"]  # spamc -C revoke
    asked = parse_request("TELL", (1, 5), lines)
    assert asked.set_local and not asked.remove_local and asked.message_class == "ham"
    assert parse_request("TELL", (1, 5), [b"Remove: local"]).remove_local
    for more in ([], [b"Message-class: eggs"], [b"Message-class: ham", b"Remove: local"]):
        wrong = [b"Set: local", *more]
        with pytest.raises(Refusal):
            parse_request("TELL", (1, 5), wrong)


# What SpamAssassin 4.0.1's spamd replied to each method and version, with its body taken as given.
SPAM = b"Spam: True ; 9.5 / 5.0\r\n"
OK = b"SPAMD/1.1 0 EX_OK\r\n"


@pytest.mark.parametrize("method", ["PROCESS", "HEADERS", "SYMBOLS", "REPORT", "REPORT_IFSPAM"])
def test_replies_to_each_version(method):
    def reply(version):
        return verdict_reply(Request(method, version), True, "9.5", "5.0", b"body")

    assert reply((1, 3)) == reply((1, 5)) == OK + b"Content-length: 4\r\n" + SPAM + b"\r\nbody"
    of_message = method in ("PROCESS", "HEADERS")
    assert reply((1, 2)) == OK + (b"Content-length: 4\r\n" if of_message else SPAM) + b"\r\nbody"
