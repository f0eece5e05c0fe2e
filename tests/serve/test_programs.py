"""Mail software as it is: spamc, procmail, Exim, Postfix with spamass-milter, Dovecot's IMAPSieve.

``SPAMNB_MAIL_ROOT`` names a folder that Debian's packages of the servers were unpacked into with ``dpkg -x``; .ci/run
lists them. Their programs find themselves where they were compiled to be, since each runs with that folder laid over
/usr in a mount namespace of its own. That needs root.
"""

import getpass
import os
import re
import shutil
import smtplib
import subprocess
import textwrap
from pathlib import Path

import pytest
from imap_account import account
from mail import learned_class
from mail import message as mail
from person import key_of
from served import Server
from unpacked import command_of_unpacked, command_with_user, free_port, running, wait_until

pytestmark = pytest.mark.slow

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


def program(name: str) -> str:
    """Return the path of a program, or skip the test with a hint how to get it."""
    path = shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin")
    if path is None:
        pytest.skip(f"{name} is not installed (Debian package {name})")
    return path


def spamc(server: Server, *options: str, raw: bytes = SPAM) -> subprocess.CompletedProcess[bytes]:
    command = [program("spamc"), "-d", "127.0.0.1", "-p", str(server.port), *options]
    return subprocess.run(command, input=raw, capture_output=True, timeout=120)


def test_spamc_checks(server: Server):
    for raw, spam in ((SPAM, True), (HAM, False)):
        found = spamc(server, "-c", raw=raw)
        points, _, threshold = found.stdout.decode().strip().partition("/")
        assert found.returncode == spam and (float(points) >= 5.0) == spam and threshold == "5.0"
        assert spamc(server, "-E", "-x", raw=raw).returncode == spam


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_spamc_processes(server: Server, newline: str):
    raw = mail("spam", 3).replace(b"\n", newline.encode())
    whole = spamc(server, "-x", raw=raw).stdout
    assert whole.startswith(b"X-Spam-Flag: YES") and whole.endswith(raw)
    assert spamc(server, "-x", "--headers", raw=raw).stdout == whole


def test_spamc_reports(server: Server):
    names = spamc(server, "-y").stdout.decode().strip()
    assert names and " " not in names
    report = spamc(server, "-R").stdout.decode()
    assert report.partition("/")[2].startswith("5.0\n") and all(name in report for name in names.split(","))
    assert spamc(server, "-r").stdout.decode() == report
    assert spamc(server, "-r", raw=HAM).stdout.decode().rpartition("\n")[2] == ""
    assert b"SPAMD/1.5 0" in spamc(server, "-K").stdout


def test_spamc_teaches(serve, model):
    server = serve(model, "--allow-tell")
    for options, said in [
        (("-L", "ham"), "successfully"),
        (("-L", "ham"), "already"),
        (("-L", "spam"), "successfully"),
        (("-L", "forget"), "successfully"),
        (("-L", "forget"), "already"),
    ]:
        told = spamc(server, *options)
        assert told.returncode == 0 and said in told.stdout.decode(), (options, told)
    for options, learned in ((("-C", "report"), "spam"), (("-C", "revoke"), "ham")):
        spamc(server, *options)  # it complains that no network was told, as none was; the model has learned
        assert learned_class(model, SPAM) == learned
    refused = spamc(serve(model), "-L", "ham")
    assert refused.returncode == os.EX_IOERR and not refused.stdout


def test_spamc_passes_mail_on_when_it_is_refused(serve, model):
    server = serve(model, "--max-size", "100")
    assert spamc(server).stdout == SPAM
    # An error line ends the reply, as with SpamAssassin's own server; spamc then names an input/output error.
    assert spamc(server, "-x").returncode == os.EX_IOERR and not spamc(server, "-x").stdout


EXIM_CONF = """
primary_hostname = test.example
spool_directory = {place}/spool
log_file_path = {place}/%slog
exim_user = {user}
exim_group = {user}
never_users =
keep_environment =
queue_only
host_lookup =
rfc1413_query_timeout = 0s
message_size_limit = 20M
smtp_enforce_sync = false
spamd_address = 127.0.0.1 {port}
acl_smtp_rcpt = accept_rcpt
acl_smtp_data = check_data
begin acl
accept_rcpt:
  accept
check_data:
{acl}
  accept
begin routers
discard:
  driver = redirect
  data = :blackhole:
"""


def test_exim_refuses_spam_and_accepts_ham_and_what_cannot_be_classified(serve, model, tmp_path: Path):
    server = serve(model)
    path = tmp_path / "exim.conf"
    acl = documented("in acl_check_data", tmp_path)
    path.write_text(EXIM_CONF.format(place=tmp_path, user=getpass.getuser(), port=server.port, acl=acl))
    path.chmod(0o600)
    # Its package makes the user whom Debian's Exim asks for at its start.
    programs = [*command_of_unpacked("usr/sbin/exim4"), *command_with_user("Debian-exim", tmp_path)]

    def answer(raw: bytes) -> bytes:
        talk = b"EHLO client.example\nMAIL FROM:<a@client.example>\nRCPT TO:<b@test.example>\nDATA\n%s\n.\nQUIT\n" % raw
        command = [*programs, "/usr/sbin/exim4", "-C", str(path), "-bs", "-oMa", "192.0.2.1"]
        done = subprocess.run(command, input=talk.replace(b"\n", b"\r\n"), capture_output=True, timeout=120)
        answers = [line for line in done.stdout.split(b"\r\n") if line[:4] not in (b"250-", b"")]
        return answers[5] if len(answers) > 5 else done.stdout + done.stderr

    points = server.verdict(SPAM).split()[3]
    assert answer(SPAM) == f"550 This message scored {points} spam points.".encode()
    assert answer(HAM).startswith(b"250 OK")
    queued = b"".join(path.read_bytes() for path in tmp_path.glob("spool/input/*-H"))
    assert b"X-Spam-Score: " + server.verdict(HAM).split()[3].encode() + b" (" in queued
    assert answer(SPAM + b"attached\n" * (12 << 20 >> 3)).startswith(b"250 OK"), "it is over --max-size"
    assert {line["size"] for line in server.requests()} < set(range(1 << 20)), "and was not asked about"
    server.stop()
    assert answer(SPAM).startswith(b"250 OK"), "and all mail is, while the server is away"


MAIN_CF = """
compatibility_level = 3.6
queue_directory = {place}/spool
data_directory = {place}/data
mail_owner = news
setgid_group = games
myhostname = test.example
mydestination =
inet_interfaces = 127.0.0.1
mynetworks = 127.0.0.0/8
maillog_file = {place}/log
maillog_file_prefixes = /tmp
virtual_mailbox_domains = test.example
virtual_mailbox_base = {place}/mail
virtual_mailbox_maps = static:box/
virtual_uid_maps = static:65534
virtual_gid_maps = static:65534
alias_maps =
alias_database =
smtpd_milters = unix:{place}/milter
milter_default_action = tempfail
smtpd_peername_lookup = no
"""
MASTER_CF = """
{port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
error unix - - n - - error
virtual unix - n n - - virtual
anvil unix - - n - 1 anvil
postlog unix-dgram n - n - 1 postlogd
"""


def test_postfix_with_spamass_milter(server: Server, place: Path):
    overlaid = command_of_unpacked("usr/sbin/spamass-milter", "usr/lib/postfix/sbin/master")
    port = free_port()
    for folder in ("conf", "data", "mail", "spool/pid"):
        (place / folder).mkdir(parents=True)
    queues = "active bounce corrupt defer deferred flush hold incoming private saved trace maildrop public"
    for folder in queues.split():
        (place / "spool" / folder).mkdir(mode=0o700)
        shutil.chown(place / "spool" / folder, "news")
    shutil.chown(place / "data", "news")
    shutil.chown(place / "mail", "nobody")
    for folder, mode in (("maildrop", 0o730), ("public", 0o710)):
        shutil.chown(place / "spool" / folder, group="games")
        (place / "spool" / folder).chmod(mode)
    (place / "conf/main.cf").write_text(MAIN_CF.format(place=place))
    (place / "conf/master.cf").write_text(MASTER_CF.format(port=port))
    milter = ["/usr/sbin/spamass-milter", "-p", f"{place}/milter", "-r", "-1", "--"]
    with running([*overlaid, *milter, "-d", "127.0.0.1", "-p", str(server.port)], path=place / "milter"):
        (place / "milter").chmod(0o666)
        postfix = ["/usr/lib/postfix/sbin/master", "-c", f"{place}/conf", "-d"]
        with running([*overlaid, *postfix], port=port):
            with smtplib.SMTP("127.0.0.1", port, timeout=120) as client:
                client.sendmail("a@client.example", ["b@test.example"], HAM)
                with pytest.raises(smtplib.SMTPDataError) as refusal:
                    client.sendmail("a@client.example", ["b@test.example"], SPAM)
            assert refusal.value.smtp_code == 550
            wait_until(lambda: bool(list((place / "mail/box/new").glob("*"))))
    (delivered,) = (place / "mail/box/new").iterdir()
    status = next(line for line in delivered.read_bytes().split(b"\n") if line.startswith(b"X-Spam-Status:"))
    assert status.split(b",")[0] == b"X-Spam-Status: No"
    alone = float(server.verdict(HAM).split()[3])
    # As if it had come alone, but that a field which the milter adds makes each token of the correction lighter.
    assert float(status.split()[2].removeprefix(b"score=")) == pytest.approx(alone, abs=0.3)


def documented(path: str, place: Path) -> str:
    """Return a file of docs/deploying.md, with *place* as Dovecot's folder."""
    text = (Path(__file__).parents[2] / "docs" / "deploying.md").read_text()
    shown = re.search(rf"^    # {path}\b.*\n((?:    .+\n)+)", text, re.MULTILINE)
    assert shown is not None
    return textwrap.dedent(shown[1]).replace("/etc/dovecot", str(place))


def test_dovecot_learns_what_is_moved_into_junk_and_out_of_it(serve, model, place):
    server = serve(model, "--allow-tell")
    for folder in ("sieve", "sieve-bin"):
        (place / folder).mkdir()
    (place / "sieve").chmod(0o777)
    (place / "sieve-bin/spamc").write_text(f'#!/bin/sh\nexec {program("spamc")} -p {server.port} "$@"\n')
    (place / "sieve-bin/spamc").chmod(0o755)
    for name in ("learn-spam", "learn-ham"):
        (place / f"sieve/{name}.sieve").write_text(documented(f"/etc/dovecot/sieve/{name}.sieve", place))

    def learned() -> str | None:
        return learned_class(model, SPAM)

    conf = documented("/etc/dovecot/conf.d/90-imapsieve.conf", place)
    with account(place, more=conf) as dovecot, dovecot.person() as person:
        person.deliver(SPAM)
        for source, target, label in (("INBOX", "Junk", "spam"), ("Junk", "INBOX", "ham"), ("INBOX", "Junk", "spam")):
            person.move(key_of(SPAM), source, target)
            wait_until(lambda label=label: learned() == label)
        person.move(key_of(SPAM), "Junk", "Work")
        wait_until(lambda: learned() == "ham")
        person.move(key_of(SPAM), "Work", "Junk")
        wait_until(lambda: learned() == "spam")
        person.move(key_of(SPAM), "Junk", "Trash")
        person.deliver(SPAM + b"uploaded, as Outlook moves it\n", "Junk")
        wait_until(lambda: len([line for line in server.requests() if line["method"] == "TELL"]) == 6)
    told = [line for line in server.requests() if line["method"] == "TELL"]
    # And nothing for what went to Trash, or was put into the inbox.
    assert [line["learned"] for line in told] == ["spam", "ham", "spam", "ham", "spam", "spam"]
    assert {line["user"] for line in told} == {"ann"}
