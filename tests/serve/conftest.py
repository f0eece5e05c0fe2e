"""A real server process on loopback, for every test of the service."""

import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # pytest's importlib mode does not: the tests share served.py
from served import Server


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers, on a free port by default, and end them after the test."""
    started: list[Server] = []

    def start(model: Path, *options: str) -> Server:
        if not {"--port", "--socket", "--http"} & set(options):
            options = ("--port", "0", *options)
        started.append(Server(tmp_path, model, *options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="module")
def server(trained: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start a server that learns, shared by a file's tests."""
    folder = tmp_path_factory.mktemp("served")
    model = shutil.copy(trained, folder / "model.spamnb")
    started = Server(folder, Path(model), "--port", "0", "--workers", "2", "--allow-tell")
    yield started
    assert started.stop() == 0
