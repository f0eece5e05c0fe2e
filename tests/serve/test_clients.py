"""Mail software as it is: spamc, procmail and Exim against the server."""

import getpass
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from served import Server, mail
from unpacked import command_of_unpacked, command_with_user

from spamnb.classifier import Classifier

pytestmark = pytest.mark.slow

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


def program(name: str) -> str:
    """The path of a program, or a skip that says how to get it."""
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
    raw = mail("spam", 3, newline=newline)
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
        with Classifier.open(model) as classifier:
            assert classifier.learned(SPAM) == learned
    refused = spamc(serve(model), "-L", "ham")
    assert refused.returncode == os.EX_IOERR and not refused.stdout


def test_spamc_passes_mail_on_when_it_is_refused(serve, model):
    server = serve(model, "--max-size", "100")
    assert spamc(server).stdout == SPAM
    # An error line ends the reply, as with SpamAssassin's own server; spamc then names an input/output error.
    assert spamc(server, "-x").returncode == os.EX_IOERR and not spamc(server, "-x").stdout


def test_procmail_with_spamc(server: Server, tmp_path):
    maildir = tmp_path / "Maildir"
    maildir.mkdir()
    (tmp_path / "rc").write_text(
        f'PATH=/usr/bin:/bin\nMAILDIR="{tmp_path}"\nDEFAULT="{maildir}/"\n'
        f":0fw\n| {program('spamc')} -x -d 127.0.0.1 -p {server.port}\n\n"
        ":0\n* ^X-Spam-Flag: YES\nMaildir/.Junk/\n"
    )
    for raw in (SPAM, HAM):
        command = [program("procmail"), "-m", str(tmp_path / "rc")]
        subprocess.run(command, input=raw, check=True, timeout=120, env={**os.environ, "HOME": str(tmp_path)})
    (junk,) = (maildir / ".Junk" / "new").iterdir()
    (inbox,) = (maildir / "new").iterdir()
    # procmail ends every message with an empty line, as mboxes need it
    assert junk.read_bytes().endswith(SPAM + b"\n") and inbox.read_bytes().endswith(HAM + b"\n")


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
  warn   spam = nobody:true
         add_header = X-Spam-Score: $spam_score ($spam_bar)
  deny   message = spam scored $spam_score
         spam = nobody
  accept
begin routers
discard:
  driver = redirect
  data = :blackhole:
"""


def test_exim_refuses_spam_and_accepts_ham(server: Server, tmp_path: Path):
    path = tmp_path / "exim.conf"
    path.write_text(EXIM_CONF.format(place=tmp_path, user=getpass.getuser(), port=server.port))
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
    assert answer(SPAM) == f"550 spam scored {points}".encode()
    assert answer(HAM).startswith(b"250 OK")
    queued = b"".join(path.read_bytes() for path in tmp_path.glob("spool/input/*-H"))
    assert b"X-Spam-Score: " + server.verdict(HAM).split()[3].encode() + b" (" in queued
