"""Whose mail is never spam, and what forged addresses come to."""

from __future__ import annotations

import itertools
import re
import time
from email.parser import BytesHeaderParser
from pathlib import Path

import pytest
from commands import run, stdout_of
from hypothesis import given
from hypothesis import strategies as st
from mail import message as mail

from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.mail_result import classify_mail
from spamnb.people import (
    BLOCKED,
    FORGED,
    KNOWN,
    MAX_RECIPIENTS_KEPT,
    People,
    SentMail,
    _read_fields,
    add_recipients,
    load_people,
    read_sent,
    recipients_path,
)
from spamnb.reader.spam_fields import section_length

PEOPLE = People(
    frozenset(["ann@example.org", "friends.example"]), frozenset(["shop@friends.example"]), "mx.home.example"
)


def said(*fields: str) -> str:
    return PEOPLE.classify_sender(
        "\r\n".join([*fields, "Subject: tea", "", "From: ann@example.org", ""]).encode("utf-8", "surrogateescape")
    )


@pytest.mark.parametrize(
    "field",
    [
        "From: ann@example.org",
        "from:ANN@Example.ORG ",
        "From: Ann <ann@example.org>",
        'From: "Ann, of \\"tea\\" <eve@evil.example>" <ann@example.org>',
        "From: =?utf-8?q?J=C3=BCrg?= <ann@example.org>",
        "From: Ann\r\n <ann@example.org>",
        "From: whoever@friends.example",
    ],
)
def test_the_address_of_from_is_known_however_it_is_written(field: str):
    assert said(field) == KNOWN


@pytest.mark.parametrize(
    "fields",
    [
        ["From: ann@example.org <eve@evil.example>"],
        ['From: "ann@example.org" <eve@evil.example>'],
        ['From: "Ann <ann@example.org>" <eve@evil.example>'],
        ["From: Ann <ann@example.org> <eve@evil.example>"],
        ["From: <ann@example.org> <eve@evil.example>"],
        ["From: eve@evil.example, ann@example.org"],
        ["From: ann@example.org, eve@evil.example"],
        ["From: friends: ann@example.org;"],
        ["From: eve@evil.example (ann@example.org)"],
        ["From: ann@example.org(@evil.example"],
        ["From: ann@example.org)eve@evil.example"],
        ["From: =?utf-8?q?ann=40example.org?= <eve@evil.example>"],
        ["From: =?utf-8?q?ann=40example.org?="],
        ["From: =?utf-8?q?=3Cann=40example.org=3E?= <eve@evil.example>"],
        ["From: eve@evil.example", "From: ann@example.org"],
        ["From: ann@example.org", "From: eve@evil.example"],
        ["From: ann@example.org", "FROM : eve@evil.example"],
        ["From : eve@evil.example", "From: ann@example.org"],
        ["X: y\rFrom: ann@example.org", "From: eve@evil.example"],
        ["From: ann@example.org\rFrom: eve@evil.example"],
        ["From: eve@evil.example", "Sender: ann@example.org", "Reply-To: ann@example.org"],
        ["From: ann@example.org.evil.example"],
        ["From: ann@evil.example.org"],
        ["From: xann@example.org"],
        ["From: ann@examp1e.org"],
        ["From: аnn@example.org"],  # Cyrillic а
        ["From: ann@friends.examp\N{LATIN SMALL LETTER L WITH STROKE}e"],
        ["From: \N{KELVIN SIGN}im@friends.example\N{ZERO WIDTH SPACE}"],
        ["From: a@b.friends.example"],
        ["From: ann@example.org\0"],
        ["From: ann@\udce9xample.org"],
        ["From: <>"],
        ["From:"],
        ["To: ann@example.org"],
        ['From: "' + "\\" * 9000 + "<ann@example.org>"],
    ],
    ids=lambda fields: fields[0][:60].encode("ascii", "backslashreplace").decode(),
)
def test_nobody_is_known_by_a_name_or_an_address_that_only_looks_like_it(fields: list[str]):
    assert said(*fields) == ""


def test_an_address_goes_before_its_domain_and_block_before_allow():
    assert said("From: shop@friends.example") == BLOCKED
    both = People(frozenset(["ann@example.org", "bob@example.org"]), frozenset(["example.org", "bob@example.org"]))
    assert (
        both.classify_sender(b"From: ann@example.org\n\n") == KNOWN
        and both.classify_sender(b"From: x@example.org\n\n") == BLOCKED
    )
    assert both.classify_sender(b"From: bob@example.org\n\n") == BLOCKED


@pytest.mark.parametrize(
    ("results", "found"),
    [
        ("mx.home.example; dmarc=pass; spf=pass; dkim=pass", KNOWN),
        ("mx.home.example; dmarc=fail (p=none) header.from=example.org", FORGED),
        ("MX.home.example 1;\r\n\tspf=pass;\r\n\tDMARC = Fail", FORGED),
        ("mx.home.example; spf=fail smtp.mailfrom=x; dkim=fail", FORGED),
        ("mx.home.example; spf=softfail; dkim=none", FORGED),
        ("mx.home.example; spf=fail; dkim=fail header.d=a; dkim=pass header.d=example.org", KNOWN),
        ("mx.home.example; spf=pass; dkim=fail", KNOWN),
        ("mx.home.example; none", KNOWN),
        ('mx.home.example; spf=fail smtp.mailfrom="; dkim=pass; "@evil.example; dkim=none', FORGED),
        ("mx.home.example; spf=fail (x; dkim=pass) smtp.mailfrom=a", FORGED),
        ("mx.evil.example; dmarc=fail", KNOWN),  # not a word of the own server
        ("mx.home.example.evil.example; dmarc=fail", KNOWN),
    ],
)
def test_a_known_address_is_not_believed_where_the_own_server_found_it_forged(results: str, found: str):
    assert said("From: ann@example.org", f"Authentication-Results: {results}") == found


def test_what_a_sender_wrote_below_the_servers_own_results_changes_nothing():
    own = [
        "Authentication-Results: mx.home.example; spf=fail; dkim=none",
        "Authentication-Results: mx.home.example; dmarc=fail",
    ]
    forged = "Authentication-Results: mx.home.example; dmarc=pass; spf=pass; dkim=pass"
    for fields in itertools.permutations(own):
        assert said(*fields, forged, "From: ann@example.org") == FORGED
    assert said(own[0], forged, "From: ann@example.org") == FORGED


def test_without_a_server_nobodys_results_are_read():
    people = People(frozenset(["ann@example.org"]))
    assert people.classify_sender(b"Authentication-Results: ; dmarc=fail\nFrom: ann@example.org\n\n") == KNOWN


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "config.toml"
    monkeypatch.setenv("SPAMNB_CONFIG", str(path))
    return path


def write(file: Path, text: str) -> None:
    """Write the settings of the table [people]."""
    file.write_text(f"[people]\n{text}\n")
    file.chmod(0o600)


def from_ann(raw: bytes) -> bytes:
    return b"From: Ann <ann@example.org>\n" + b"\n".join(
        line for line in raw.split(b"\n") if not line.startswith(b"From:")
    )


def test_mail_of_a_known_sender_is_never_spam_and_everything_says_why(model: Path, file: Path):
    spam, ham = from_ann(mail("spam", 1001)), from_ann(mail("ham", 1001))

    with Classifier.open(model) as classifier:
        write(file, "")
        before = classify_mail(classifier, spam), classify_mail(classifier, ham)
        assert before[0].is_spam and not before[1].is_spam
        write(file, 'allow = ["ann@example.org"]')
        found = classify_mail(classifier, spam)
        assert found.verdict == "ham" and found.points < 0 and found.reasons[0].token == KNOWN
        assert repr(classify_mail(classifier, classifier.read(spam))) == repr(found)
        assert classify_mail(classifier, ham).log_odds == before[1].log_odds  # what is surer of it stands
        filtered = stdout_of("filter", "-m", model, stdin=spam)
        assert not filtered.startswith("X-Spam-Flag") and "you_know_this_sender" in filtered
        assert stdout_of("explain", "-m", model, stdin=spam).startswith("verdict: ham\n  you know this sender\n")
        write(file, 'block = ["example.org"]')
        blocked = classify_mail(classifier, ham)
        assert blocked.is_spam and blocked.points >= 5 and blocked.reasons[0].token == BLOCKED
        assert stdout_of("explain", "-m", model, stdin=ham).startswith("verdict: spam\n  you blocked this sender\n")
        write(file, 'allow = ["ann@example.org"]\nserver = "mx.example"')
        forged = b"Authentication-Results: mx.example; dmarc=fail\n" + spam
        found = classify_mail(classifier, forged)
        assert found.is_spam and found.reasons[0].token == FORGED


def test_a_star_is_all_addresses_of_a_domain_or_all_its_subdomains(file: Path):
    write(file, 'allow = ["*@example.net", "*.example.org"]')
    people = load_people()
    senders = {"a@example.net": KNOWN, "a@sub.example.net": "", "a@x.example.org": KNOWN, "a@y.x.example.org": KNOWN}
    senders |= {"a@example.org": "", "a@badexample.org": ""}
    assert {name: people.classify_sender(f"From: {name}\n\n".encode()) for name in senders} == senders


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('allow = ["@example.net"]', ": people.allow: '@example.net': no address; for all of a domain write 'exam"),
        ('allow = [\n  "ann@example.org",\n  "*ann@example.net"]', ": people.allow: '*ann@example.net': neither"),
        ('allow = ["*"]', ": people.allow: '*': neither"),
        ("allow = [", ": not TOML: "),
        ('allow = "ann@example.org"', ": people.allow: must be a list of texts in brackets"),
        ('\nblock = ["ann @example.org"]', ": people.block: 'ann @example.org': neither an address nor a domain"),
        ("allow = [1]", ": people.allow: must be a list of texts"),
        ('allowed = ["a@b"]', ": people.allowed: unknown setting; the settings are allow, block"),
        ("server = 1", ": people.server: must be a text in quotes"),
        ('[users."ann@a"]\nallow = ["x y"]', ": users.'ann@a'.allow: 'x y': neither"),
        ('[users.ann]\nserver = "mx.a"', ": users.ann.server: unknown setting"),
        ("[users]\nann = 1", ": users.ann: must be a table; write [users.ann] above its settings"),
        ("[person]\nallow = []", ": person: unknown; the tables are [accounts], [people], [users]"),
        ('address_books = ["none.vcf"]', "/none.vcf: the address book cannot be read: No such file"),
        ("# " + "x" * (2 << 20), ": has more than 2 MiB"),
    ],
    ids=lambda text: text[:30],
)
def test_a_mistake_in_the_file_is_one_line_with_which_serve_does_not_start_and_filter_passes_mail_on(
    file: Path, model: Path, text: str, line: str
):
    write(file, text)
    with pytest.raises(SpamnbError) as caught:
        load_people("ann")
    assert line in str(caught.value) and str(file.parent) in str(caught.value) and "\n" not in str(caught.value)
    passed = run("filter", "-m", model, stdin=mail("spam", 1))
    assert passed.exit_code == 0 and b"X-Spam-Warning: not classified" in passed.stdout_bytes
    assert passed.stdout_bytes.endswith(mail("spam", 1))
    refused = run("serve", "--port", "0", "-m", model)
    assert refused.exit_code == 1 and line in refused.stderr and "listening" not in refused.stderr


def test_a_file_that_others_can_write_is_refused(file: Path):
    write(file, "")
    file.chmod(0o660)
    with pytest.raises(SpamnbError, match="other users can write this file"):
        load_people()


def test_a_named_file_must_be_there_and_the_usual_one_need_not(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with pytest.raises(SpamnbError, match="cannot be read"):
        load_people()
    monkeypatch.delenv("SPAMNB_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert load_people() == People()
    (tmp_path / "spamnb").mkdir()
    write(tmp_path / "spamnb/config.toml", 'allow = ["Example.ORG"]')
    assert load_people().allow == {"example.org"}


@pytest.mark.parametrize(("name", "table"), [("people", "[people]"), ("accounts", "[accounts.NAME]")])
def test_a_file_of_an_earlier_version_stops_what_would_have_read_it(
    tmp_path: Path, model: Path, monkeypatch: pytest.MonkeyPatch, name: str, table: str
):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("SPAMNB_CONFIG", raising=False)
    old = tmp_path / "spamnb" / f"{name}.toml"
    old.parent.mkdir()
    old.touch()
    with pytest.raises(SpamnbError, match=re.escape(f"{old}: no longer read; move its content to {table}")):
        load_people()
    filtered = run("filter", "-m", model, stdin=b"Subject: tea\n\nAt four?\n")
    assert "X-Spam-Warning: not classified" in filtered.stdout and filtered.stdout.endswith("At four?\n")


def test_a_user_of_a_server_knows_further_people(file: Path):
    write(file, 'allow = ["a@x.example"]\nblock = ["z.example"]\n[users.ann]\nallow = ["b@x.example", "c@z.example"]')
    senders = ("a@x.example", "b@x.example", "c@z.example", "d@z.example")

    def of(user: str) -> list[str]:
        return [load_people(user).classify_sender(f"From: {name}\n\n".encode()) for name in senders]

    assert of("") == of("bob") == [KNOWN, "", BLOCKED, BLOCKED]
    assert of("ann") == [KNOWN, KNOWN, KNOWN, BLOCKED]


def test_those_to_whom_mail_was_sent_are_known_and_the_configuration_stays(file: Path):
    by_hand = (
        '# mine\n[people] # known\nallow = ["ann@example.org"]\nblock = ["eve@example.org"]\nserver = "mx.example"\n'
    )
    file.write_text(by_hand)
    file.chmod(0o640)
    sent = SentMail("me@a.example", ("bob@b.example", "ann@example.org", "eve@example.org", "me@a.example"))
    assert add_recipients([sent]) == 1 and add_recipients([sent]) == 0
    assert file.read_text() == by_hand and recipients_path().read_text() == "bob@b.example\n"
    assert recipients_path().stat().st_mode & 0o777 == 0o600
    header = b"From: Bob <bob@b.example>\n\n"
    assert (
        load_people().classify_sender(header) == KNOWN and load_people().classify_sender(b"From: x@b.example\n\n") == ""
    )
    assert load_people().classify_sender(b"Authentication-Results: mx.example; dmarc=fail\n" + header) == FORGED
    assert load_people().classify_sender(b"From: me@a.example\n\n") == ""
    assert add_recipients([SentMail("bob@b.example", ("carl@c.example",))]) == 1, "an address of one's own is dropped"
    assert recipients_path().read_text() == "carl@c.example\n" and file.read_text() == by_hand


def test_two_configuration_files_of_one_stem_have_two_lists_of_recipients(file: Path, monkeypatch):
    paths = [file.with_name(name) for name in ("home.toml", "home.conf")]
    for number, path in enumerate(paths):
        path.touch(0o600)
        monkeypatch.setenv("SPAMNB_CONFIG", str(path))
        add_recipients([SentMail("me@a.example", (f"n{number}@b.example",))])
    for path, known in zip(paths, ([KNOWN, ""], ["", KNOWN])):
        monkeypatch.setenv("SPAMNB_CONFIG", str(path))
        assert [load_people().classify_sender(b"From: n%d@b.example\n\n" % n) for n in range(2)] == known


def test_a_list_of_recipients_in_the_configuration_is_not_lost_without_a_word(file: Path):
    file.write_text('[people]\nwrote_to = ["bob@b.example"]\n')
    file.chmod(0o600)
    with pytest.raises(SpamnbError, match="wrote_to: unknown setting; move its addresses to allow"):
        load_people()


def test_the_list_of_recipients_is_bounded_and_keeps_the_newest(file: Path):
    file.touch(0o600)
    numbers = range(MAX_RECIPIENTS_KEPT + 10)
    assert add_recipients([SentMail("me@a.example", (f"n{n}@b.example",)) for n in numbers]) == len(numbers)
    assert recipients_path().read_text().split() == [f"n{n}@b.example" for n in numbers[10:]]
    assert load_people().classify_sender(b"From: n10@b.example\n\n") == KNOWN
    assert load_people().classify_sender(b"From: n9@b.example\n\n") == ""


@pytest.mark.parametrize(
    ("header", "recipients"),
    [
        (b"From: me@a.example\nTo: x@b\nCc: Y <y@b>\nBcc: z@b\nReply-To: r@b", ("x@b", "y@b", "z@b")),
        (b"From: me@a.example\nTo: undisclosed-recipients:;", ()),
        (b'From: me@a.example\nTo: "eve@b.example" <ann@b.example>', ("ann@b.example",)),
        (b'From: me@a.example\nTo: "a\\"b"@b.example, =?utf-8?q?eve=40b.example?=', ()),
        (b"From: eve@b.example\nDelivered-To: me@a.example\nTo: me@a.example", None),
        (b"From: eve@b.example\nAuthentication-Results: mx.a.example; dmarc=pass\nTo: me@a.example", None),
        (b"From: me@a.example\nTo: " + b",".join(b"n%d@b" % n for n in range(51)), None),
        (b"To: ann@b.example", None),
    ],
)
def test_of_sent_mail_only_plain_addresses_count_and_delivered_mail_is_none(header: bytes, recipients: tuple | None):
    mail = read_sent(header + b"\n\n")
    assert (mail and mail.recipients) == recipients


@pytest.mark.parametrize(
    "field",
    [
        b"Authentication-Results: mx.example.com; " + b'"\\' * 3900 + b"\n",
        b"Authentication-Results: mx.example.com; " + b"((" * 3900 + b"\n",
        b"Authentication-Results: mx.example.com; dmarc" + b" " * 7900 + b"\n",
        b"X: a" + b"\n " * 3900 + b"\n",
        b"From" + b" " * 7900 + b"x\n",
    ],
)
def test_a_megabyte_of_hostile_header_fields_is_read_in_linear_time(field: bytes) -> None:
    """It took 17 seconds; the bound is ten times what a busy machine takes."""
    people = People(frozenset(["ann@example.org"]), server="mx.example.com")
    raw = b"From: ann@example.org\n" + field * (1_000_000 // len(field)) + b"\nhi\n"
    begun = time.process_time()
    assert people.classify_sender(raw) == KNOWN
    assert time.process_time() - begun < 2


@given(
    st.lists(st.sampled_from([b"From: a@b.c", b"from\t:x", b"Fromage: y", b" From: z", b"\r\n", b"\n", b"\r", b"X: 1"]))
)
def test_fields_are_those_of_pythons_email(parts: list[bytes]) -> None:
    header = b"".join(parts) + b"\n\n"
    header = header[: section_length(header)]
    expected = [str(value) for value in BytesHeaderParser().parsebytes(b"A: b\n" + header).get_all("From", [])]
    mine = [value for _, value in _read_fields(b"A: b\n" + header)]
    assert len(mine) >= len(expected), "a From field that another reader sees is seen here"
    if len(mine) == len(expected):
        assert [" ".join(value.split()) for value in mine] == [" ".join(value.split()) for value in expected]
