"""engines/cluster.py: parts make the model of one machine, and what is said where schedulers and workers fail."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.utils import formatdate
from pathlib import Path
from threading import Thread, Timer, get_ident
from typing import Any, NamedTuple

import numpy as np
import pytest
from mail import export_lines, mail, message, write_folders
from unpacked import wait_until

from spamnb.api.evaluate import evaluate
from spamnb.api.train import train
from spamnb.engines import cluster as module
from spamnb.engines.cluster import count_part, token_versions
from spamnb.errors import SpamnbError
from spamnb.filter import Classifier
from spamnb.settings import ORIGIN, Settings
from spamnb.sources.entries import Entry

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")
BEGIN = 1_600_000_000


class Running(NamedTuple):
    cluster: Any
    client: Any


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Mail of several months with copies within classes and between them, in no order of time."""
    found = []
    for number, (label, raw) in enumerate(mail(150)):
        received = b"Received: from there by here; %s\n" % formatdate(BEGIN + number * 3600).encode()
        if number > 150 and number % 3 == 0:
            raw = message("ham" if label == "spam" else "spam", 10_000 + number)
        found.append((label, received + raw))
    rng = random.Random(1)
    found += rng.sample(found, 10)
    found += [("ham" if label == "spam" else "spam", raw) for label, raw in rng.sample(found, 5)]
    rng.shuffle(found)
    # A class of which only a copy of another's message is there.
    return write_folders(tmp_path_factory.mktemp("mail"), [("lost", found[150][1]), *found, found[150]])


def in_parts_of(monkeypatch: pytest.MonkeyPatch, messages: int) -> None:
    monkeypatch.setattr(module, "MAX_PART_MESSAGES", messages)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[Running]:
    cluster: Any = distributed.LocalCluster
    client: Any = distributed.Client
    how = {"threads_per_worker": 1, "processes": False, "protocol": "tcp", "dashboard_address": "127.0.0.1:0"}
    with (
        cluster(n_workers=2, **how) as made,
        client(made, set_as_default=False) as asking,
    ):
        yield Running(made, asking)


def sums(model: Path) -> list[str]:
    """Return the export without the origin of the model."""
    first, *lines = export_lines(model)
    meta = json.loads(first)["meta"]
    return [json.dumps({key: value for key, value in meta.items() if key not in ORIGIN}), *lines]


def quiet(line: str) -> None:
    """Ignore the messages of training."""


@pytest.mark.parametrize(
    ("how", "messages"),
    [
        ({"model_type": "boolean"}, 20),
        ({"model_type": "bernoulli"}, 80),
        ({}, 45),
        ({"model_type": "lda", "embedding": "lsa:5"}, 45),
        ({"model_type": "boolean"}, 1000),
    ],
    ids=str,
)
def test_parts_in_any_order_make_the_model_and_the_estimate_of_one_machine(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any], messages: int
) -> None:
    one = train(folder, tmp_path / "one", workers=1, **how)
    count = module.count_part

    def in_any_order(*arguments: Any) -> Any:
        time.sleep(random.uniform(0, 0.1))
        return count(*arguments)

    monkeypatch.setattr(module, "count_part", in_any_order)
    in_parts_of(monkeypatch, messages)
    address = scheduler.cluster.scheduler_address
    other = train(folder, tmp_path / "parts", dask=address, tell=quiet, **how)
    assert sums(tmp_path / "one") == sums(tmp_path / "parts")
    assert str(other).splitlines()[1:] == str(one).splitlines()[1:]
    assert other.conflicts == one.conflicts > 0
    assert np.array_equal(other.estimates.left_out.scores, one.estimates.left_out.scores)


def test_evaluations_are_those_of_one_machine(folder: Path, scheduler: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    in_parts_of(monkeypatch, 40)
    address = scheduler.cluster.scheduler_address
    ways: list[dict[str, Any]] = [{"folds": 3, "model_type": "boolean"}, {"leave_one_out": True, "mislabelled": 2}]
    for way in ways:
        alone, shared = evaluate(folder, workers=1, **way), evaluate(folder, dask=address, tell=quiet, **way)
        assert shared.to_dict() == alone.to_dict()
        assert shared.mislabelled == alone.mislabelled


def test_mailboxes_and_lessons_are_counted_and_what_cannot_be_read_is_told(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_parts_of(monkeypatch, 60)
    shutil.copytree(folder, tmp_path / "mail")
    mailbox = b"".join(b"From a 1:00\n" + message("ham", 6_000 + seed) + b"\n" for seed in range(70))
    (tmp_path / "box").write_bytes(mailbox)
    sources = [f"{tmp_path}/mail", f"ham={tmp_path}/box"]
    (tmp_path / "mail" / "ham" / "odd").write_bytes(b"%PDF-1.7")
    exports, told = [], []
    for way in ({"workers": 1}, {"dask": scheduler.cluster.scheduler_address}):
        lines: list[str] = []
        model = tmp_path / f"model{len(exports)}"
        train(sources, model, tell=lines.append, **way)
        with Classifier.open(model, writable=True) as classifier:
            classifier.learn("spam", message("ham", 5_000))
        assert train(sources, model, tell=lines.append, force=True, **way).unreadable == 1
        exports.append(sums(model))
        told.append([line for line in lines if "progress of the cluster" not in line])
    assert exports[0] == exports[1] and told[0] == told[1]


def test_a_file_that_only_the_client_sees_ends_the_training(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = module.count_part

    def elsewhere(part: list[Entry], *rest: Any) -> Any:
        rows, unread = count([entry._replace(path=f"{entry.path}.gone") for entry in part], *rest)
        return rows, [message._replace(path=message.path.removesuffix(".gone")) for message in unread]

    monkeypatch.setattr(module, "count_part", elsewhere)
    with pytest.raises(SpamnbError, match="all workers must see the mail's files under the same names"):
        train(folder, tmp_path / "model", dask=scheduler.cluster.scheduler_address, tell=quiet)
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("what", ["spamnb", "tokens", "Unicode", "PDF attachments"])
def test_a_worker_by_other_rules_counts_nothing(what: str) -> None:
    expected = {**token_versions(), what: "another"}
    with pytest.raises(SpamnbError, match=f"^{what}: .* on the worker .*, another here; install the same"):
        count_part([], Settings(), expected)


def test_a_scheduler_file_names_the_scheduler(folder: Path, scheduler: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": scheduler.cluster.scheduler_address}))
    assert sum(train(folder, tmp_path / "model", dask=str(file), tell=quiet).classes.values()) > 290


@pytest.mark.parametrize(
    ("written", "said"),
    [(None, "No such file or directory; dask is tcp://"), ("{}", "no scheduler file"), ("no", "no scheduler file")],
)
def test_what_is_no_scheduler_is_told(folder: Path, tmp_path: Path, written: str | None, said: str) -> None:
    file = tmp_path / "scheduler.json"
    if written is not None:
        file.write_text(written)
    with pytest.raises(SpamnbError, match=said):
        train(folder, tmp_path / "model", dask=str(file))


def test_no_scheduler_no_certificates_and_no_workers_are_told(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "CONNECT_SECONDS", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(SpamnbError, match=f"^tcp://{address}: no scheduler answers"):
            train(folder, tmp_path / "model", dask=f"tcp://{address}")
        with pytest.raises(
            SpamnbError, match=f"^tls://{address}: failed .TypeError: TLS expects .*; docs/cluster.md says what"
        ):
            train(folder, tmp_path / "model", dask=f"tls://{address}")
    untyped: Any = distributed.LocalCluster
    with (
        untyped(n_workers=0, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0") as made,
        pytest.raises(SpamnbError, match="the scheduler has no workers"),
    ):
        train(folder, tmp_path / "model", dask=made.scheduler_address, tell=quiet)
    assert not list(tmp_path.iterdir())


def test_what_answers_and_is_no_scheduler_is_told(folder: Path, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            connection, _ = server.accept()
            with connection:
                connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n" * 20)
                connection.recv(1 << 16)

        answering = Thread(target=answer)
        answering.start()
        address = f"tcp://127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(SpamnbError, match=f"^{address}: (failed .(MemoryError|EOFError)|no scheduler answers)"):
            train(folder, tmp_path / "model", dask=address)
        answering.join()


def test_a_worker_without_this_spamnb_is_told(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*arguments: Any) -> Any:
        raise ModuleNotFoundError("No module named 'spamnb'")

    monkeypatch.setattr(module, "count_part", missing)
    with pytest.raises(SpamnbError, match=r"failed \(ModuleNotFoundError: No module named .*spamnb.*; docs/cluster.md"):
        train(folder, tmp_path / "model", dask=scheduler.cluster.scheduler_address, tell=quiet)


def test_without_the_extra_it_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SpamnbError, match=r"pip install distributed"):
        train(folder, tmp_path / "model", dask="tcp://127.0.0.1:1")


def test_what_a_cluster_cannot_do_is_refused_before_it_is_asked(folder: Path, tmp_path: Path) -> None:
    nowhere = "tcp://127.0.0.1:1"
    with pytest.raises(SpamnbError, match="workers is for threads of this machine"):
        train(folder, tmp_path / "model", dask=nowhere, workers=2)
    with pytest.raises(SpamnbError, match="workers is for threads of this machine"):
        evaluate(folder, dask=nowhere, workers=2)
    with pytest.raises(SpamnbError, match="dask: with online=True or model messages are classified one by one"):
        evaluate(folder, dask=nowhere, online=True)


def test_ctrl_c_leaves_the_cluster_nothing_to_do_and_the_old_model_whole(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    train(folder, model, workers=1)
    before = model.read_bytes()
    count = module.count_part
    monkeypatch.setattr(module, "count_part", lambda *arguments: time.sleep(1) or count(*arguments))
    in_parts_of(monkeypatch, 2)
    presser = Timer(1.5, signal.pthread_kill, (get_ident(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        presser.start()
        train(folder, model, dask=scheduler.cluster.scheduler_address, force=True, tell=quiet)
    presser.join()
    assert model.read_bytes() == before and list(tmp_path.iterdir()) == [model]
    wait_until(lambda: not scheduler.cluster.scheduler.tasks)


def test_a_scheduler_that_dies_is_told_and_the_old_model_is_whole(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    train(folder, model, workers=1)
    before = model.read_bytes()
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with ending(monkeypatch, process.kill), pytest.raises(SpamnbError, match=GONE.format(address)):
            train(folder, model, dask=address, force=True, tell=quiet)
    assert model.read_bytes() == before and list(tmp_path.iterdir()) == [model]


SCHEDULER = """
import distributed, time
cluster = distributed.LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0")
print(cluster.scheduler_address, flush=True)
time.sleep(600)
"""
GONE = "^{}: failed .(FutureCancelledError|CancelledError|CommClosedError|TimeoutError).*; docs/cluster.md"


@contextmanager
def ending(monkeypatch: pytest.MonkeyPatch, end: Callable[[], Any]) -> Iterator[None]:
    """Call ``end`` when the second part is handed out; parts are small."""
    parts_of = module.parts_of

    def watched(*arguments: Any) -> Any:
        for number, part in enumerate(parts_of(*arguments)):
            if number == 1:
                end()
            yield part

    with monkeypatch.context() as patch:
        patch.setattr(module, "parts_of", watched)
        in_parts_of(patch, 40)
        yield


def test_a_worker_that_is_killed_changes_nothing_and_a_part_that_kills_all_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask import config

    model = tmp_path / "model"
    train(folder, tmp_path / "one", workers=1)
    untyped: Any = distributed.LocalCluster
    untyped_client: Any = distributed.Client
    with (
        config.set({"distributed.scheduler.allowed-failures": 1}),
        untyped(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as made,
    ):
        killed: list[int] = []

        def kill() -> None:
            killed.append(made.workers[0].pid)
            os.kill(killed[0], signal.SIGKILL)

        with ending(monkeypatch, kill):
            train(folder, model, dask=made.scheduler_address, tell=quiet)
        assert killed and sums(model) == sums(tmp_path / "one")
        before = model.read_bytes()
        monkeypatch.setattr(module, "count_part", lambda *arguments: os._exit(1))
        said = r"failed \(KilledWorker: Attempted to run task .*the part of the mail from \S+\.eml to \S+\.eml"
        with pytest.raises(SpamnbError, match=said):
            train(folder, model, dask=made.scheduler_address, force=True, tell=quiet)
        assert model.read_bytes() == before
        with untyped_client(made) as client:  # Dask cannot close a worker that it is just starting again
            client.wait_for_workers(2)
