"""Fixtures: a PostgreSQL server, and the name of a model on it."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "scripts"))
from postgresql_server import BIN, Server


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if not (BIN / "initdb").exists():
        pytest.skip(f"no PostgreSQL in {BIN} (Debian: apt-get install postgresql-15)")
    pytest.importorskip("psycopg")
    folder = Path(tempfile.mkdtemp(prefix="pg", dir="/tmp"))  # a socket's path has at most 107 bytes
    server = Server(folder)
    yield server
    server.stop()
    shutil.rmtree(folder)


@pytest.fixture
def url(server: Server, request: pytest.FixtureRequest) -> str:
    return server.url(f"s{abs(hash(request.node.name)) % 10**9}")
