"""Postfix with spamass-milter, Dovecot's IMAPSieve with spamc: real servers on loopback, unpacked and not installed.

``SPAMNB_MAIL_ROOT`` names a folder that Debian's packages postfix, spamass-milter, libmilter1.0.1, dovecot-core,
dovecot-imapd, dovecot-sieve, libexttextcat-2.0-0, libexttextcat-data and liblua5.4-0 were unpacked into with
``dpkg -x``. Their programs find themselves where they were compiled to be, since each runs with that folder laid over
/usr in a mount namespace of its own. Both need root.
"""

import re
import shutil
import smtplib
import textwrap
from pathlib import Path

import pytest
from imap_account import account
from person import key_of
from served import Server, mail
from unpacked import command_of_unpacked, free_port, running, wait_until

from spamnb.classifier import Classifier

pytestmark = pytest.mark.slow

SPAM, HAM = mail("spam", 1001), mail("ham", 1001)


@pytest.fixture(scope="module")
def overlaid() -> list[str]:
    if not shutil.which("spamc"):
        pytest.skip("no spamc: install it")
    return command_of_unpacked("usr/sbin/dovecot", "usr/sbin/spamass-milter")


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


def test_postfix_with_spamass_milter(server: Server, overlaid: list[str], place: Path):
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
    """A file as docs/deploying.md shows it, with *place* as Dovecot's folder."""
    text = (Path(__file__).parents[2] / "docs" / "deploying.md").read_text()
    shown = re.search(rf"^    # {path}\b.*\n((?:    .+\n)+)", text, re.MULTILINE)
    assert shown is not None
    return textwrap.dedent(shown[1]).replace("/etc/dovecot", str(place))


def test_dovecot_learns_what_is_moved_into_junk_and_out_of_it(serve, model, overlaid, place):
    server = serve(model, "--allow-tell")
    for folder in ("sieve", "sieve-bin"):
        (place / folder).mkdir()
    (place / "sieve").chmod(0o777)
    (place / "sieve-bin/spamc").write_text(f'#!/bin/sh\nexec {shutil.which("spamc")} -p {server.port} "$@"\n')
    (place / "sieve-bin/spamc").chmod(0o755)
    for name in ("learn-spam", "learn-ham"):
        (place / f"sieve/{name}.sieve").write_text(documented(f"/etc/dovecot/sieve/{name}.sieve", place))

    def learned() -> str | None:
        with Classifier.open(model) as classifier:
            return classifier.learned(SPAM)

    conf = documented("/etc/dovecot/conf.d/90-imapsieve.conf", place)
    with account(place, more=conf) as dovecot, dovecot.person() as person:
        person.deliver(SPAM)
        for source, target, label in (("INBOX", "Junk", "spam"), ("Junk", "INBOX", "ham"), ("INBOX", "Junk", "spam")):
            person.move(key_of(SPAM), source, target)
            wait_until(lambda label=label: learned() == label)
        person.move(key_of(SPAM), "Junk", "Trash")
    told = [line for line in server.requests() if line["method"] == "TELL"]
    assert [line["learned"] for line in told] == ["spam", "ham", "spam"]  # and nothing for what went to Trash
    assert {line["user"] for line in told} == {"ann"}
