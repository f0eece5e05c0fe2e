"""PostgreSQL in a folder of its own, on a Unix socket, for tests and measurements.

Its programs are those in the folder SPAMNB_POSTGRESQL_BIN names, or Debian's. It refuses root, so for root it runs as
nobody.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
from pathlib import Path

BIN = Path(os.environ.get("SPAMNB_POSTGRESQL_BIN", "/usr/lib/postgresql/15/bin"))
_QUIET = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Server:
    """A server with a database ``postgres`` and a user ``mail``, started; ``folder`` must be empty and its name short:
    a socket's path has at most 107 bytes."""

    def __init__(self, folder: Path, options: str = "-c fsync=off") -> None:
        """``fsync=off`` is for tests in which only processes are killed."""
        self.folder, self.options = folder, options
        self.as_user: list[str] = []
        # Programs that were unpacked and not installed bring their libraries along.
        self.environment = dict(os.environ)
        if not str(BIN).startswith("/usr/lib/") and len(BIN.parents) > 4:
            root = BIN.parents[4]
            libraries = [*root.glob("usr/lib/*-linux-*"), *root.glob("lib/*-linux-*")]
            self.environment["LD_LIBRARY_PATH"] = ":".join(map(str, libraries))
        if os.getuid() == 0:
            nobody = pwd.getpwnam("nobody")
            os.chown(folder, nobody.pw_uid, nobody.pw_gid)
            self.as_user = ["setpriv", f"--reuid={nobody.pw_uid}", f"--regid={nobody.pw_gid}", "--clear-groups"]
        self.run("initdb", "--no-sync", "-A", "trust", "-U", "mail", "-E", "UTF8", "--locale=C", "-D", "data")
        self.start()

    def command(self, program: str, *arguments: str) -> list[str]:
        """A command line of one of PostgreSQL's programs."""
        return [*self.as_user, str(BIN / program), *arguments]

    def run(self, program: str, *arguments: str) -> None:
        done = subprocess.run(
            self.command(program, *arguments),
            cwd=self.folder, env=self.environment, capture_output=True, text=True, timeout=120,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(f"{program}: {done.stderr}{done.stdout}")

    def start(self) -> None:
        # jit: what was unpacked has no LLVM beside it.
        options = f"-c listen_addresses='' -c jit=off {self.options} -k {self.folder}"
        command = self.command("pg_ctl", "-D", "data", "-o", options, "-l", "log", "-t", "120", "-w", "start")
        subprocess.run(command, cwd=self.folder, env=self.environment, check=True, timeout=150, **_QUIET)

    def stop(self, how: str = "immediate") -> None:
        self.run("pg_ctl", "-D", "data", "-m", how, "-t", "120", "-w", "stop")

    def pids(self) -> list[int]:
        """The server's processes, its first one first; none where it does not run."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            first = int((self.folder / "data" / "postmaster.pid").read_text().split("\n")[0])
            children = Path(f"/proc/{first}/task/{first}/children").read_text().split()
            return [first, *map(int, children)]
        return []

    def kill(self) -> None:
        """SIGKILL to all of its processes, as when the machine's memory ran out."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def seconds(self) -> float:
        """Processor time that the server used so far, that of ended processes included."""
        ticks = 0
        for place, pid in enumerate(self.pids()):
            with contextlib.suppress(FileNotFoundError, ProcessLookupError):
                found = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
                ticks += sum(map(int, found[11 : 13 if place else 15]))
        return ticks / os.sysconf("SC_CLK_TCK")

    def url(self, schema: str) -> str:
        """The name of a model."""
        return f"postgresql://mail@/postgres?host={self.folder}&schema={schema}"
