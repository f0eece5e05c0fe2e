"""``serve --journal``: each verdict is noted with its user, each lesson of a client is a correction."""

from __future__ import annotations

from served import Server, mail

from spamnb.journal.journal import Journal


def test_verdicts_and_lessons_of_clients_are_noted(model, tmp_path):
    journal = tmp_path / "journal"
    server = Server(tmp_path, model, "--port", "0", "--allow-tell", "--workers", "2", "--journal", str(journal))
    try:
        for seed in range(20):
            server.about("CHECK", mail("spam", 700 + seed), "1.5", "User: ann")
        server.about("TELL", mail("spam", 700), "1.5", "User: ann", "Message-class: ham", "Set: local")
    finally:
        assert server.stop() == 0
    with Journal.at(journal) as kept:
        rows = kept.doubtful(0)
        assert kept.count() == 20 and len(rows) == 19, "what was corrected is no longer doubtful"
        assert {row.entry.user for row in rows} == {"ann"} and kept.doubtful(0, "bob") == []
        (made,) = kept.corrections(0)
        assert (made.label, made.verdict, made.source, made.user) == ("ham", "spam", "client", "ann")


def test_a_server_starts_and_answers_whatever_its_journal_is(serve, model, tmp_path):
    journal = tmp_path / "journal"
    journal.write_bytes(b"no database at all" * 100)
    server = serve(model, "--journal", str(journal))
    assert server.verdict(mail("spam", 900)).startswith("Spam: True")
    assert server.stop() == 0  # all that waited was written by then, or told
    told = [line["error"] for line in server.lines() if line["event"] == "journal"]
    assert len(told) == 2 and all("not a journal of verdicts" in line for line in told) and "(1 verdict" in told[1]
