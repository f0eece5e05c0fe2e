"""A model on a server is the same model: Debian's PostgreSQL, on a Unix socket."""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from spamnb.api.train import train
from spamnb.classifier import Classifier
from spamnb.errors import InTheWay, SpamnbError
from spamnb.serve.users import Models
from spamnb.settings import Settings
from spamnb.store import server_changes, server_tokens
from spamnb.store.jsonl import export, parse_export
from spamnb.store.pruning import Rule, give_room_back, prune, survey
from spamnb.store.server_name import ServerModel, user_model
from spamnb.store.snapshot import atomic_replace, create_empty, read_snapshot, write_snapshot
from spamnb.store.store import open_store

pytestmark = pytest.mark.slow

NAIVE_BAYES = Settings(model_type="boolean")
WORDS = [f"word{n}" for n in range(60)] + ["nul\0in", "café", "pills", "meeting"]


def letter(chance: random.Random, number: int) -> bytes:
    words = " ".join(chance.choices(WORDS, k=12))
    return f"Subject: letter {number}\nMessage-ID: <{number}@x>\n\n{words}\n".encode()


def lines(name: str) -> list[str]:
    with open_store(name) as store:
        return list(export(store))


def created(name: str, settings: Settings | None = None) -> str:
    create_empty(name, (settings or NAIVE_BAYES).as_meta())
    return name


def copy_model(source: str, target: str) -> None:
    snapshot = parse_export(lines(source), "lines")
    with atomic_replace(target, snapshot.meta, force=True) as store:
        write_snapshot(store, snapshot)


def run(*arguments: str, given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "spamnb", *arguments], input=given, capture_output=True, timeout=120)


@pytest.mark.parametrize(
    ("model_type", "log"),
    [("boolean", 100), ("multinomial", server_changes.MAX_LOG), ("bernoulli", 100), ("corrected", 100)],
)
def test_random_operations_leave_the_same_lines_in_a_file_and_on_a_server(url, tmp_path, model_type, log, monkeypatch):
    monkeypatch.setattr(server_changes, "MAX_LOG", log)
    settings = replace(Settings(), model_type=model_type)
    file = created(str(tmp_path / "m"), settings)
    created(url, settings)
    chance = random.Random(model_type)
    letters = [letter(chance, n) for n in range(40)]
    with (
        Classifier.open(file, writable=True) as there,
        Classifier.open(url, writable=True) as first,
        Classifier.open(url, writable=True) as second,
    ):
        for _ in range(100):
            raw, label = chance.choice(letters), chance.choice(["ham", "spam", "work"])
            here = chance.choice([first, second])  # each has to follow what the other changed
            what = chance.choice(["learn", "learn", "autolearn", "forget", "classify"])
            if what == "forget":
                assert there.forget(label, raw) == here.forget(label, raw)
            elif what == "classify":
                expected, found = there.classify(raw), here.classify(raw)
                assert expected.probabilities == found.probabilities and expected.evidence == found.evidence
            else:
                taught = what == "learn"
                assert there.learn(label, raw, taught=taught) == here.learn(label, raw, taught=taught)
    assert lines(url) == lines(file)
    with open_store(url) as store:
        read_snapshot(store, lessons=True)  # which checks that the sums add up


def test_export_and_import_go_both_ways_byte_for_byte(server, url, tmp_path):
    source, back = str(tmp_path / "m"), str(tmp_path / "back")
    train("corpora/mail", source, workers=1, model_type="boolean")
    copy_model(source, url)
    copy_model(url, back)
    assert lines(source) == lines(url) == lines(back)


def test_training_into_a_server_makes_the_model_that_a_file_gets(url, tmp_path):
    for name in (str(tmp_path / "m"), url):
        train("corpora/mail", name, top_words=500, workers=1, model_type="boolean")
    assert lines(str(tmp_path / "m")) == lines(url)
    again = run("train", "corpora/mail", "-m", url)
    assert again.returncode == 1 and b"--force" in again.stderr
    assert run("learn", "spam", "-m", url, given=b"Subject: new pills\n\nbuy").returncode == 0
    forced = run("train", "corpora/mail", "-m", url, "--force")
    assert forced.returncode == 0 and b"taught again 1 message" in forced.stderr
    for command in (["info"], ["words"]):
        assert run(*command, "-m", url).returncode == 0
    told = run("classify", "-m", url, given=b"Subject: new pills\n\nbuy")
    assert told.returncode == 0 and b"spam" in told.stdout


def test_a_model_stays_whole_until_the_new_one_is_there(url):
    created(url)
    with Classifier.open(url, writable=True) as reader:
        reader.learn("ham", b"Subject: tea")
        before = lines(url)
        with pytest.raises(RuntimeError), atomic_replace(url, NAIVE_BAYES.as_meta(), force=True):
            reader.learn("spam", b"Subject: pills")  # nobody waits for the new one
            raise RuntimeError("ended on the way")
        assert reader.learned(b"Subject: pills") == "spam" and lines(url) != before
        with atomic_replace(url, NAIVE_BAYES.as_meta(), force=True):
            pass
        assert reader.learned(b"Subject: tea") is None and not reader.store.totals().classes
        assert reader.learn("ham", b"Subject: coffee") and reader.learned(b"Subject: coffee") == "ham"
    with pytest.raises(InTheWay), atomic_replace(url, NAIVE_BAYES.as_meta()):
        pass


def test_what_is_taught_while_a_new_model_is_made_reaches_it(url):
    created(url)

    def catch_up(store):
        Classifier(store).learn("ham", b"Subject: late")

    with atomic_replace(url, NAIVE_BAYES.as_meta(), force=True, catch_up=catch_up) as fresh:
        Classifier(fresh).learn("spam", b"Subject: early")
    with Classifier.open(url) as reader:
        assert reader.learned(b"Subject: late") == "ham" and reader.learned(b"Subject: early") == "spam"


LEARNER = """
import sys
from spamnb.classifier import Classifier
url, number, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
with Classifier.open(url, writable=True) as classifier:
    for n in range(count):
        raw = f"Subject: {number} {n}\\n\\nshared word{n % 7} own{number}".encode()
        classifier.learn("spam" if n % 2 else "ham", raw)
        print(n, flush=True)
"""


def test_no_lesson_that_was_acknowledged_is_lost_when_learners_and_the_server_are_killed(server, url, tmp_path):
    created(url)
    learners = []
    for number in range(4):
        out = (tmp_path / str(number)).open("wb")
        command = [sys.executable, "-c", LEARNER, url, str(number), "60" if number else "5000"]
        learners.append(subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL))
        out.close()
    try:
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and any(not (tmp_path / str(n)).stat().st_size for n in range(4)):
            time.sleep(0.05)
        for learner in learners[2:]:
            learner.send_signal(signal.SIGKILL)
        time.sleep(0.5)
        server.stop()  # as SIGKILL would: it recovers from its log
    finally:
        for learner in learners:
            learner.wait(timeout=120)
        server.start()
    acknowledged = Counter()
    with Classifier.open(url, writable=True) as classifier:
        read_snapshot(classifier.store)  # the sums are those of the messages
        every = 0
        for number in range(4):
            told = (tmp_path / str(number)).read_text().split("\n")[:-1]
            for n in map(int, told):
                raw = f"Subject: {number} {n}\n\nshared word{n % 7} own{number}".encode()
                assert classifier.learned(raw) == ("spam" if n % 2 else "ham")
                assert not classifier.learn("spam" if n % 2 else "ham", raw)  # sent again, it counts once
            acknowledged[number] = len(told)
            every += len(told)
        held = classifier.store.totals().documents.sum()
        assert every <= held <= every + 4 and min(acknowledged.values()) > 0
        assert len(classifier.store.messages()) == held


def test_a_classifier_comes_back_with_the_server_and_says_in_one_line_that_it_is_gone(server, url):
    created(url)
    raw = b"Subject: tea\n\nat noon"
    with Classifier.open(url, writable=True) as classifier:
        classifier.learn("ham", raw)
        server.stop("fast")
        try:
            with pytest.raises(SpamnbError, match="the server cannot be reached") as told:
                classifier.classify(raw)
            assert "\n" not in str(told.value)
            passed = run("filter", "-m", url, given=raw)
            assert passed.returncode == 0 and raw in passed.stdout and b"cannot be reached" in passed.stderr
            refused = run("classify", "-m", url, given=raw)
            assert refused.returncode == 1 and refused.stderr.count(b"\n") == 1
        finally:
            server.start()
        assert classifier.learned(raw) == "ham" and classifier.forget("ham", raw)


def ask_spamd(port: int, command: str, raw: bytes, *fields: str) -> bytes:
    with socket.create_connection(("127.0.0.1", port), timeout=120) as connection:
        head = [f"{command} SPAMC/1.5", f"Content-length: {len(raw)}", *fields, "", ""]
        connection.sendall("\r\n".join(head).encode() + raw)
        connection.shutdown(socket.SHUT_WR)
        with connection.makefile("rb") as answer:
            return answer.read()


def test_serve_answers_with_an_error_while_the_server_is_away_and_goes_on_after(server, url):
    created(url)
    with Classifier.open(url, writable=True) as classifier:
        classifier.learn("ham", b"Subject: tea\n\nat noon")
        classifier.learn("spam", b"Subject: pills\n\ncheap")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "spamnb", "serve", "-m", url, "--port", str(port), "--allow-tell"]
    served = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while True:
            try:
                assert b"PONG" in ask_spamd(port, "PING", b"")
                break
            except ConnectionRefusedError:
                assert time.monotonic() < deadline and served.poll() is None
                time.sleep(0.1)
        teach = "Message-class: spam", "Set: local"
        assert b"DidSet: local" in ask_spamd(port, "TELL", b"Subject: more pills\n\ncheap", *teach)
        server.stop()
        try:
            told = ask_spamd(port, "CHECK", b"Subject: more pills\n\ncheap")
            assert b"EX_TEMPFAIL" in told
        finally:
            server.start()
        assert b"EX_OK" in ask_spamd(port, "CHECK", b"Subject: more pills\n\ncheap")
        with Classifier.open(url) as classifier:
            assert classifier.learned(b"Subject: more pills\n\ncheap") == "spam"
    finally:
        served.terminate()
        served.wait(timeout=120)


def test_watch_waits_for_the_server_and_learns_what_was_moved_meanwhile(server, url, tmp_path):
    created(url)
    for folder in (".", ".Junk"):
        for part in ("cur", "new", "tmp"):
            (tmp_path / "box" / folder / part).mkdir(parents=True, exist_ok=True)
    raws = [f"Subject: pills {n}\n\ncheap".encode() for n in range(2)]
    for n, raw in enumerate(raws):
        (tmp_path / "box" / "cur" / f"{n}.x:2,S").write_bytes(raw)

    def move(n: int) -> None:
        name = f"cur/{n}.x:2,S"
        (tmp_path / "box" / name).rename(tmp_path / "box" / ".Junk" / name)

    command = [sys.executable, "-m", "spamnb", "watch", "--interval", "0.2", "-m", url, str(tmp_path / "box")]
    with (tmp_path / "said").open("wb") as said:
        watching = subprocess.Popen(command, stderr=said, stdout=subprocess.DEVNULL)
    try:
        wait_for(lambda: b"2 messages noted" in (tmp_path / "said").read_bytes(), watching)
        server.stop()
        try:
            move(0)
            wait_for(lambda: b"cannot be reached" in (tmp_path / "said").read_bytes(), watching)
        finally:
            server.start()
        move(1)
        with Classifier.open(url) as classifier:
            wait_for(lambda: [classifier.learned(raw) for raw in raws] == ["spam", "spam"], watching)
        assert watching.poll() is None
    finally:
        watching.terminate()
        assert watching.wait(timeout=60) == 0


def wait_for(condition, process: subprocess.Popen) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline and process.poll() is None
        time.sleep(0.05)


def test_a_message_asks_the_server_once_for_all_its_tokens(url, monkeypatch):
    created(url)
    with Classifier.open(url, writable=True) as classifier:
        classifier.learn("ham", b"Subject: tea\n\nat noon with milk")
        classifier.learn("spam", b"Subject: pills\n\ncheap and more")
    with Classifier.open(url) as classifier:
        asked = []
        whole = classifier.store.execute
        monkeypatch.setattr(classifier.store, "execute", lambda *a: asked.append(a[0]) or whole(*a))
        classifier.classify(b"Subject: tea\n\nand cheap milk")
        assert sum(" tokens " in statement for statement in asked) == 1
        asked.clear()
        begin, waited = classifier.store._ask, []
        monkeypatch.setattr(classifier.store, "_ask", lambda *a: waited.append(a) or begin(*a))
        classifier.classify(b"Subject: tea\n\nand cheap milk")
        # All of it is in memory, and the number of the last change says that it is right.
        assert asked == [] and len(waited) == 1


def test_pruning_leaves_the_same_lines_in_a_file_and_on_a_server(url, tmp_path, monkeypatch):
    monkeypatch.setattr(server_changes, "MAX_ROWS", 6)
    monkeypatch.setattr(server_tokens, "PART_ROWS", 4000)
    file, chance = str(tmp_path / "m"), random.Random(3)
    more = [(chance.choice(["ham", "spam"]), letter(chance, n)) for n in range(10)]
    for name in (file, url):
        train("corpora/mail", name, model_type="boolean", workers=1)
        with Classifier.open(name, writable=True) as classifier:
            for lesson in more:
                classifier.learn(*lesson)
    found = [survey_of(name, Rule(1, 1)) for name in (file, url)]
    assert found[0] == found[1] and 0 < found[0][1] < found[0][0]
    with Classifier.open(url) as reader:
        reader.classify(more[0][1])
        for name in (file, url):
            with open_store(name, writable=True) as store:
                assert prune(store, Rule(1, 1)) == found[0][1]
                assert give_room_back(store) == (name == file)
        with Classifier.open(file) as there:
            assert reader.classify(more[0][1]).probabilities == there.classify(more[0][1]).probabilities
    assert lines(file) == lines(url)
    for name in (file, url):
        with Classifier.open(name, writable=True) as classifier:
            assert all(classifier.forget(*lesson) for lesson in more)
            assert classifier.learn("spam", b"Subject: after that\n\nmore")
    assert lines(file) == lines(url)
    told = run("prune", "--yes", "--months", "0", "-m", url, "corpora/mail")
    assert told.returncode == 0 and b"taken out" in told.stdout and b"1-ROCA" in told.stdout
    assert b"the server keeps the room" in told.stderr


def survey_of(name: str, rule: Rule) -> tuple:
    with open_store(name) as store:
        found = survey(store, rule)
        return found.tokens, found.pruned, found.frequencies, found.candidates.tolist()


def test_weights_that_were_changed_before_the_others_lesson_was_seen_are_written(url):
    created(url, replace(Settings(), model_type="corrected"))
    with Classifier.open(url, writable=True) as classifier, open_store(url, writable=True) as store:
        classifier.learn("ham", b"Subject: tea\n\nat noon")
        with store.writing():
            corrections = store.corrections  # in hand before anything was read
            corrections.add(["noon"], {"ham": -5})
        assert store.corrections.look_up(["noon"], ["ham"]).tolist() == [[-5]]
        with open_store(url) as fresh:
            assert fresh.corrections.look_up(["noon"], ["ham"]).tolist() == [[-5]]


def test_copies_on_servers_and_in_files_merge_into_what_all_were_taught(server, url, tmp_path):
    base, first, second, merged = str(tmp_path / "base"), url, url + "x", url + "y"
    train("corpora/mail", base, model_type="boolean", workers=1)
    chance = random.Random(4)
    more = [(chance.choice(["ham", "spam"]), letter(chance, n)) for n in range(8)]
    for n, name in enumerate((first, second)):
        copy_model(base, name)
        with Classifier.open(name, writable=True) as classifier:
            for lesson in more[n::2]:
                assert classifier.learn(*lesson)
    done = run("merge", "--base", base, first, second, "-m", merged)
    assert done.returncode == 0, done.stderr
    assert run("merge", "--base", base, first, second, "-m", str(tmp_path / "there")).returncode == 0
    assert lines(merged) == lines(str(tmp_path / "there"))
    with Classifier.open(merged, writable=True) as classifier:
        assert all(classifier.forget(*lesson) for lesson in more)
        assert lines(merged)[1:] == lines(base)[1:]


def test_users_models_are_schemas_of_their_own(server, url):
    train("corpora/mail", url, model_type="boolean", workers=1)
    names = ["ann", "bob@example.org", "a" * 128, "a" * 127 + "b", 'x";DROP SCHEMA public;--', "../ann"]
    models = Models(ServerModel(url), ServerModel(url), 1, writable=True)
    for n, name in enumerate(names[:4]):
        assert models.taught(name) is None and models.for_classifying(name) is models.for_classifying("")
        raw = f"Subject: lesson {n}".encode()
        assert models.may_teach(name) and models.for_learning(name).learn("spam", raw)
        assert models.taught(name).learned(raw) == "spam"
    for n, name in enumerate(names[:4]):
        learned = [models.taught(name).learned(f"Subject: lesson {k}".encode()) for k in range(4)]
        assert learned == ["spam" if k == n else None for k in range(4)]
    assert not any(map(models.may_teach, names[4:])) and models.taught(names[4]) is None
    schemas = {models.taught(name).store.schema for name in names[:4]}
    assert len(schemas) == 4 and max(map(len, schemas)) <= 50
    models.reopen()
    assert models.taught("ann").learned(b"Subject: lesson 0") == "spam"
    server.stop()
    server.start()
    assert models.taught("ann").learned(b"Subject: lesson 0") == "spam"
    models.close()
    asked = run("info", "-m", user_model(url, "bob@example.org"))
    assert asked.returncode == 0 and b"spam" in asked.stdout


def test_what_a_server_does_not_hold_is_refused_in_one_line(url, server, tmp_path):
    with pytest.raises(SpamnbError, match="a logistic model needs a file"):
        created(url, replace(Settings(), model_type="logistic"))
    with pytest.raises(SpamnbError, match=r"~/\.pgpass") as told:
        open_store("postgresql://mail:geheim@/postgres")
    assert "geheim" not in str(told.value)
    passed = run("filter", "-m", "postgresql://mail:geheim@/postgres", given=b"Subject: tea\n\nnoon")
    assert passed.returncode == 0 and b"Subject: tea" in passed.stdout and b"geheim" not in passed.stderr
    with pytest.raises(SpamnbError, match="no model there"):
        open_store(url)
    add_foreign_table(server)
    with pytest.raises(SpamnbError, match="and no model"):
        created(server.url("public"))


def add_foreign_table(server) -> None:
    import psycopg

    with psycopg.connect(f"host={server.folder} user=mail dbname=postgres", autocommit=True) as connection:
        connection.execute("CREATE TABLE IF NOT EXISTS public.invoices (n integer)")


SCRIPT = Path(__file__).parents[2] / "scripts" / "soak_postgresql.py"


@pytest.mark.usefixtures("server")  # or it is skipped
def test_every_acknowledged_lesson_is_there_once_when_servers_and_postgresql_are_killed():
    if shutil.which("spamc") is None:
        pytest.skip("no spamc (Debian: apt-get install spamc)")
    options = ["--kills", "3", "--every", ".5", "--clients", "2", "--model-type", "corrected"]
    environment = {**os.environ, "PYTHONPATH": str(SCRIPT.parents[1])}
    command = [sys.executable, str(SCRIPT), *options]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert found["wrong"] == [] and found["killed"] == {"serve": 2, "PostgreSQL": 1}
    assert found["lessons"] > 0 and found["taught"] >= found["lessons"]
