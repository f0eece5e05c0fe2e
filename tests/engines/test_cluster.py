"""engines/cluster.py: Dask's schedulers and workers, and what is said where they fail."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread, Timer, get_ident
from typing import Any, NamedTuple

import pytest
from mail import folders, mail, message

from spamnb.api.evaluate import evaluate
from spamnb.api.train import train
from spamnb.classifier import Classifier
from spamnb.engines import cluster as module
from spamnb.engines import cluster_counting
from spamnb.engines.cluster import Cluster, rules
from spamnb.errors import SpamnbError
from spamnb.settings import ORIGIN
from spamnb.store.jsonl import export

pytestmark = pytest.mark.slow

distributed = pytest.importorskip("distributed")


class Running(NamedTuple):
    cluster: Any
    client: Any


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    messages = [*mail(100), ("spam", message("ham", 7)), ("ham", message("ham", 8))]
    return folders(tmp_path_factory.mktemp("mail"), messages)


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
    """The export without what says when and how the model was made."""
    with Classifier.open(model) as classifier:
        first, *lines = export(classifier.store)
    meta = json.loads(first)["meta"]
    return [json.dumps({key: value for key, value in meta.items() if key not in ORIGIN}), *lines]


def quiet(line: str) -> None:
    """What training tells on the way is not asked for."""


def test_workers_in_any_order_make_the_model_of_one_machine(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = train(folder, tmp_path / "one", workers=1, model_type="boolean")
    count = cluster_counting.count_part

    def in_any_order(*arguments: Any) -> Any:
        time.sleep(random.uniform(0, 0.2))
        return count(*arguments)

    monkeypatch.setattr(cluster_counting, "count_part", in_any_order)
    monkeypatch.setattr(cluster_counting, "FIRST_PART", 40)
    address = scheduler.cluster.scheduler_address
    other = train(folder, tmp_path / "parts", dask=address, tell=quiet, model_type="boolean")
    assert sums(tmp_path / "one") == sums(tmp_path / "parts")
    assert str(other).splitlines()[1:] == str(one).splitlines()[1:]
    assert other.conflicts == one.conflicts > 0


def test_a_corrected_model_and_evaluations_are_those_of_one_machine(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cluster_counting, "FIRST_PART", 40)
    address = scheduler.cluster.scheduler_address
    one = train(folder, tmp_path / "one", workers=1, model_type="corrected")
    other = train(folder, tmp_path / "parts", dask=address, model_type="corrected", tell=quiet)
    assert sums(tmp_path / "one") == sums(tmp_path / "parts")
    assert str(other).splitlines()[1:] == str(one).splitlines()[1:]
    ways: list[dict[str, Any]] = [{"folds": 3, "model_type": "boolean"}, {"leave_one_out": True, "doubtful": 2}]
    for way in ways:
        alone, shared = evaluate(folder, workers=1, **way), evaluate(folder, dask=address, tell=quiet, **way)
        assert shared.to_dict() == alone.to_dict()
        assert shared.mislabelled == alone.mislabelled


def test_a_scheduler_file_names_the_scheduler(folder: Path, scheduler: Any, tmp_path: Path) -> None:
    file = tmp_path / "scheduler.json"
    file.write_text(json.dumps({"address": scheduler.cluster.scheduler_address}))
    assert sum(train(folder, tmp_path / "model", dask=str(file), tell=quiet).classes.values()) == 200


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
        with pytest.raises(SpamnbError, match=f"^tls://{address}: no certificates are named for TLS"):
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
        with pytest.raises(SpamnbError, match=f"^{address}: (what answers there is no scheduler|no scheduler answers)"):
            train(folder, tmp_path / "model", dask=address)
        answering.join()


def test_a_worker_by_other_rules_or_without_spamnb_is_named_before_the_mail_is_read(
    scheduler: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, worker = Cluster(scheduler.client, "here"), "tcp://10.0.0.7:4"
    for there, said in (
        ({**rules(), "tokens": "5"}, f"the worker {worker} has tokens 5, here it is"),
        ({**rules(), "PDF attachments": "?"}, f"the worker {worker} has PDF attachments"),
        (ModuleNotFoundError("No module named 'spamnb'"), f"the worker {worker} cannot run this spamnb \\(No module"),
        (RuntimeError("odd\nlines"), f"the worker {worker} cannot run this spamnb \\(odd\\); install the same"),
        (TimeoutError("late"), f"the worker {worker} does not answer: late"),
    ):
        answers = {worker: there}
        monkeypatch.setattr(scheduler.client, "run", lambda function, on_error, answers=answers: answers)
        with pytest.raises(SpamnbError, match=said):
            found.check_workers()
    monkeypatch.setattr(scheduler.client, "run_on_scheduler", lambda function: {**rules(), "tokens": "5"})
    with pytest.raises(SpamnbError, match="the scheduler here has tokens 5"):
        found.check_workers()


def test_without_the_extra_it_says_what_to_install(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(SpamnbError, match=r"pip install distributed"):
        train(folder, tmp_path / "model", dask="local")


def test_what_a_cluster_cannot_do_is_refused_before_it_is_asked(folder: Path, tmp_path: Path) -> None:
    nowhere = "tcp://127.0.0.1:1"
    with pytest.raises(SpamnbError, match="workers is for threads of this machine"):
        train(folder, tmp_path / "model", dask=nowhere, workers=2)
    with pytest.raises(SpamnbError, match="workers is for threads of this machine"):
        evaluate(folder, dask=nowhere, workers=2)
    with pytest.raises(SpamnbError, match="dask: with online=True and model messages are judged one by one"):
        evaluate(folder, dask=nowhere, online=True)


def test_ctrl_c_leaves_the_cluster_nothing_to_do_and_the_old_model_whole(
    folder: Path, scheduler: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    train(folder, model, workers=1)
    before = model.read_bytes()
    count = cluster_counting.count_part
    monkeypatch.setattr(cluster_counting, "count_part", lambda *arguments: time.sleep(1) or count(*arguments))
    monkeypatch.setattr(cluster_counting, "FIRST_PART", 2)
    presser = Timer(1.5, signal.pthread_kill, (get_ident(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        presser.start()
        train(folder, model, dask=scheduler.cluster.scheduler_address, force=True, tell=quiet)
    presser.join()
    assert model.read_bytes() == before and list(tmp_path.iterdir()) == [model]
    for _ in range(100):
        if not scheduler.cluster.scheduler.tasks:
            break
        time.sleep(0.1)
    assert not scheduler.cluster.scheduler.tasks


def test_a_scheduler_that_dies_is_told_and_the_old_model_is_whole(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = tmp_path / "model"
    train(folder, model, workers=1)
    before = model.read_bytes()
    with subprocess.Popen([sys.executable, "-c", SCHEDULER], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        with ending(monkeypatch, "count-40", process.kill), pytest.raises(SpamnbError, match=GONE.format(address)):
            train(folder, model, dask=address, force=True, tell=quiet)
    assert model.read_bytes() == before and list(tmp_path.iterdir()) == [model]


SCHEDULER = """
import distributed, time
cluster = distributed.LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address="127.0.0.1:0")
print(cluster.scheduler_address, flush=True)
time.sleep(600)
"""
GONE = "^{}: the scheduler is gone; what it had worked out is lost, train again when it is back$"


@contextmanager
def ending(monkeypatch: pytest.MonkeyPatch, name: str, end: Callable[[], Any]) -> Iterator[None]:
    """Call ``end`` when the task of this name is handed out; parts are small."""
    submit = Cluster.submit

    def watched(self: Cluster, told_name: str, *arguments: Any, **named: Any) -> Any:
        if told_name == name:
            end()
        return submit(self, told_name, *arguments, **named)

    with monkeypatch.context() as patch:
        patch.setattr(Cluster, "submit", watched)
        patch.setattr(cluster_counting, "FIRST_PART", 40)
        yield


def test_a_worker_that_is_killed_changes_nothing_and_a_part_that_kills_all_is_named(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dask import config

    model = tmp_path / "model"
    train(folder, tmp_path / "one", workers=1)
    untyped: Any = distributed.LocalCluster
    with (
        config.set({"distributed.scheduler.allowed-failures": 1}),
        untyped(n_workers=2, threads_per_worker=1, dashboard_address="127.0.0.1:0") as made,
    ):
        killed: list[int] = []

        def kill() -> None:
            killed.append(made.workers[0].pid)
            os.kill(killed[0], signal.SIGKILL)

        with ending(monkeypatch, "count-40", kill):
            train(folder, model, dask=made.scheduler_address, tell=quiet)
        assert killed and sums(model) == sums(tmp_path / "one")
        before = model.read_bytes()
        monkeypatch.setattr(cluster_counting, "count_part", lambda *arguments: os._exit(1))
        said = r"the part of the mail from \S+0000\.eml to \S+\.eml ended 2 workers that took it"
        with pytest.raises(SpamnbError, match=said):
            train(folder, model, dask=made.scheduler_address, force=True, tell=quiet)
        assert model.read_bytes() == before


def test_a_cluster_of_this_machine_makes_the_same_model(folder: Path, tmp_path: Path) -> None:
    train(folder, tmp_path / "one", workers=1)
    result = run("train", "--dask", "local", "--workers", "2", "-m", str(tmp_path / "local"), str(folder))
    assert result.returncode == 0 and not result.stderr
    assert sums(tmp_path / "one") == sums(tmp_path / "local")


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The command in a process of its own: workers are started by importing its main module."""
    return subprocess.run(
        [sys.executable, "-m", "spamnb", *arguments], capture_output=True, text=True, timeout=120, check=False
    )
