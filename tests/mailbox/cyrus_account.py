"""An account on a real Cyrus that speaks TLS."""

import subprocess

from imap_account import PASSWORD, Server
from unpacked import command_of_unpacked

_BIN = "/usr/lib/cyrus/bin"
_IMAPD = """
configdirectory: {place}/config
partition-default: {place}/spool
defaultpartition: default
cyrus_user: nobody
cyrus_group: nogroup
servername: localhost
sasl_pwcheck_method: auxprop
sasl_auxprop_plugin: sasldb
sasl_sasldb_path: {place}/sasldb2
sasl_mech_list: PLAIN
allowplaintext: no
tls_server_cert: {place}/cert.pem
tls_server_key: {place}/key.pem
autocreate_quota: 0
autocreate_inbox_folders: {junk}|Work|Trash
autocreate_subscribe_folders: {junk}|Work|Trash
xlist-junk: {junk}
xlist-trash: Trash
idlesocket: {place}/config/socket/idle
"""
_CYRUS = """
START {{
  recover cmd="{bin}/ctl_cyrusdb -C {place}/imapd.conf -r"
}}
SERVICES {{
  imaps cmd="{bin}/imapd -C {place}/imapd.conf -s" listen="127.0.0.1:{port}"
  imap cmd="{bin}/imapd -C {place}/imapd.conf" listen="127.0.0.1:{plain}"
}}
EVENTS {{
}}
DAEMON {{
  idled cmd="{bin}/idled -C {place}/imapd.conf"
}}
"""


class Cyrus(Server):
    def _make(self, more: str) -> None:
        self._overlaid = command_of_unpacked("usr/lib/cyrus/bin/imapd", "usr/sbin/saslpasswd2")
        conf = ["-C", f"{self.place}/imapd.conf", "-M", f"{self.place}/cyrus.conf", "-p", f"{self.place}/master.pid"]
        self._command = [*self._overlaid, f"{_BIN}/master", *conf]
        for folder in ("config/socket", "config/proc", "spool"):
            (self.place / folder).mkdir(parents=True)
        self.set_password(PASSWORD)
        self.configure(more)
        subprocess.run(["chown", "-R", "nobody:nogroup", str(self.place)], check=True)

    def configure(self, more: str) -> None:
        named = {"place": self.place, "port": self.port, "plain": self.plain, "junk": self.junk, "bin": _BIN}
        (self.place / "imapd.conf").write_text(_IMAPD.format(**named) + more)
        (self.place / "cyrus.conf").write_text(_CYRUS.format(**named))

    def set_password(self, password: str) -> None:
        command = ["/usr/sbin/saslpasswd2", "-p", "-f", f"{self.place}/sasldb2", "-c", "-u", "localhost", "ann"]
        subprocess.run([*self._overlaid, *command], input=password.encode(), check=True, capture_output=True)
