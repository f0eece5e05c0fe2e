"""The pages as a browser gets them.

Who may see them, teaching, undoing, refusals, and that hostile mail cannot do anything.
"""

import re
import time
from dataclasses import replace

import pytest
from commands import output_of
from mail import learned_class, message, write_ledger
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from spamnb.api.words import word_of, words_of
from spamnb.filter import Classifier
from spamnb.ledger.ledger import Ledger
from spamnb.mailbox import maildir
from spamnb.review.app import MAX_BODY, Review
from spamnb.shown_text import format_share
from spamnb.user_models import Models

OWN = {"sec-fetch-site": "same-origin"}


def browser(review: Review) -> TestClient:
    client = TestClient(review.app(), f"http://127.0.0.1:8765/{review.key}", headers=OWN)
    assert client.get("/").status_code == 200
    return client


def positions(client: TestClient, page: str = "/") -> list[str]:
    boxes = LexborHTMLParser(client.get(page).text).css("input[name=ticked]")
    return [box.attributes["value"] or "" for box in boxes]


def send(client: TestClient, where: str, **fields: object) -> tuple[int, str]:
    reply = client.post(where, data=fields)
    return reply.status_code, reply.text


def batch_of(page: str) -> str:
    return LexborHTMLParser(page).css_first("#undo").attributes["value"] or ""


def test_without_the_key_nothing_is_shown(review, tmp_path, model):
    write_ledger(tmp_path, model, message("spam", 900))
    for key in ("", "other/", "é/", "secre/", "secret2/", "x/../"):
        client = TestClient(review.app(), "http://127.0.0.1", headers=OWN)
        for path in ("", "?q=prize", "message/0", "statistics", "words", "?key=secret"):
            reply = client.get(f"/{key}{path}", headers={"cookie": "spamnb_review=secret"})
            assert reply.status_code in (403, 404) and "prize" not in reply.text and "/words" not in reply.text
        assert client.post(f"/{key}teach", data={"one": "spam:0"}).status_code in (403, 404, 405)
    assert client.get("/").status_code == 403 and learned_class(model, message("spam", 900)) is None
    let_in = client.get("/secret/")
    assert let_in.status_code == 200 and "set-cookie" not in let_in.headers
    assert let_in.headers["referrer-policy"] == "no-referrer"
    none = TestClient(replace(review, key="").app(), "http://127.0.0.1")
    assert none.get("//").status_code in (403, 404), "no key is not an empty one"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8765", "127.0.0.1.evil.example", ""])
def test_a_name_that_is_not_this_machine_is_refused(review, host):
    client = browser(review)
    for path in ("/", "/words"):
        assert client.get(path, headers={"host": host}).status_code == 400
    assert client.get("/", headers={"host": "localhost:1"}).status_code == 200, "as through ssh -L"


def test_each_reply_has_the_policy_and_no_page_needs_an_exception(review, tmp_path, model):
    write_ledger(tmp_path, model, message("spam", 900))
    client = browser(review)
    shown = ["/", "/?show=spam", "/message/0", "/statistics", "/words?word=prize"]
    for path in (*map("/secret{}".format, shown), "/none", "/static/style.css", "/static/keys.js", "/secret/none"):
        reply = client.get(f"http://127.0.0.1{path}")
        policy = reply.headers["content-security-policy"]
        assert policy.startswith("default-src 'none'") and "unsafe" not in policy and "*" not in policy
        assert reply.headers["x-content-type-options"] == "nosniff"
        if "html" in reply.headers["content-type"]:
            tree = LexborHTMLParser(reply.text)
            assert not tree.css("style, [style], script:not([src]), iframe, img")
            assert not re.search(r"<[^>]* on\w+=", reply.text)
            assert {node.attributes["src"] for node in tree.css("script")} == {"/static/keys.js"}


def test_a_click_teaches_and_undo_takes_it_back(review, tmp_path, model):
    raw = message("spam", 900)
    write_ledger(tmp_path, model, raw)
    client = browser(review)
    status, page = send(client, "/teach", one="good:0")
    assert status == 200 and "1 message taught as good mail" in page and not positions(client, "/?show=spam")
    assert learned_class(model, raw) == "ham"
    batch = batch_of(page)
    status, page = send(client, "/undo", batch=batch)
    assert status == 200 and "1 correction undone." in page and positions(client) == ["0"]
    status, page = send(client, "/undo", batch=batch)
    assert status == 404 and "Nothing was undone" in page and learned_class(model, raw) is None


def words(tree: LexborHTMLParser) -> list[str]:
    return [node.text() for node in tree.css(".mail .verdict b")]


def test_the_one_list_has_all_mail_and_shows_a_part_of_it(review, tmp_path, model):
    verdicts = [(0.98, ""), (0.92, ""), (0.5, ""), (0.899, ""), (0.3, ""), (0.2, "unsure"), (0.97, "")]
    for number, (p, verdict) in enumerate(verdicts):
        date = b"Date: Thu, 22 Aug 2002 12:36:23 +0000\n" if number == 1 else b"Date: soon\n"
        write_ledger(tmp_path, model, date + message("spam", 900 + number), p=p, verdict=verdict)
    client = browser(review)
    tree = LexborHTMLParser(client.get("/").text)
    assert words(tree) == ["spam", "unsure", "good", "good", "good", "spam", "spam"], "the newest first"
    *_, dated = [node.text() for node in tree.css(".mail .meta")]
    undated = tree.css_first(".mail .meta").text()
    assert "22 Aug 2002" in dated and time.strftime("%a") in undated and "Above 90 %" in tree.text()
    parts = {show: words(LexborHTMLParser(client.get(f"/?show={show}").text)) for show in ("spam", "good", "doubtful")}
    assert parts["spam"] == ["spam"] * 3 and parts["good"] == ["unsure", "good", "good", "good"]
    assert parts["doubtful"] == ["unsure", "good", "good", "spam"]
    oldest = LexborHTMLParser(client.get("/?show=spam&order=oldest").text).css(".mail .verdict")
    assert [float(node.text().split()[1]) for node in oldest] == pytest.approx([92, 98, 97], abs=0.1)
    cards = " ".join(LexborHTMLParser(client.get("/statistics").text).css_first(".cards").text().split())
    assert cards.startswith("7 messages classified 57.1 % doubtful"), "what the list shows"
    for nonsense in ("?show=x&order=y&page=-1&user=%00", "?page=99999999999", "?q=" + "%27" * 500):
        assert client.get("/" + nonsense).status_code == 200


def test_a_search_leads_back_to_itself(review, tmp_path, model):
    for number, user in enumerate(("ann", "bob")):
        write_ledger(tmp_path, model, message("spam", 900 + number), user=user)
    client = browser(review)
    tree = LexborHTMLParser(client.get("/?q=SPAM901&show=spam").text)
    assert len(tree.css("li.row")) == 1 and "spam901@" in tree.css_first(".meta").text()
    assert [node.attributes["value"] for node in tree.css("input[name=user] + datalist option")] == ["ann", "bob"]
    (bobs,) = positions(client, "/?user=bob")
    shown = LexborHTMLParser(client.get(f"/message/{bobs}?q=spam901").text)
    assert shown.css_first("input[name=list]").attributes["value"] == "?q=spam901"
    reply = client.post("/teach", data={"list": "?q=spam901&page=7//x", "one": f"good:{bobs}"}, follow_redirects=False)
    assert reply.headers["location"].startswith("/secret/?q=spam901&done="), "and nowhere else"
    assert (
        "No message of this list has “nobody”"
        in LexborHTMLParser(client.get("/?q=nobody").text).css_first(".none").text()
    )


def test_a_page_offers_a_bounded_number_of_users_and_any_can_be_typed(review, tmp_path, model, monkeypatch):
    monkeypatch.setattr("spamnb.review.pages.MAX_USERS", 2)
    for number, user in enumerate(("carl", "ann", "bob")):
        write_ledger(tmp_path, model, message("spam", 900 + number), user=user)
    client = browser(review)
    for page in ("/", "/statistics"):
        options = LexborHTMLParser(client.get(page).text).css("datalist option")
        assert [option.attributes["value"] for option in options] == ["ann", "bob"]
    tree = LexborHTMLParser(client.get("/?user=carl").text)
    assert len(tree.css("li.row")) == 1 and tree.css_first("input[name=user]").attributes["value"] == "carl"


def test_a_click_that_a_kill_cut_short_is_learned_at_the_next_start(review, tmp_path, model):
    raw, other = message("spam", 900), message("spam", 901)
    write_ledger(tmp_path, model, raw, other)
    client = browser(review)
    assert send(client, "/teach", one=f"good:{positions(client)[0]}")[0] == 200
    status, page = send(client, "/teach", one="good:0")
    with Classifier.open(model, writable=True) as classifier:  # as if the process had been killed before it learned
        for each in (raw, other):
            assert classifier.forget("ham", each)
    assert status == 200 and review.finish_last_request() == []
    assert learned_class(model, raw) == "ham" and learned_class(model, other) is None, "only the last request"
    assert send(client, "/undo", batch=batch_of(page))[0] == 200 and learned_class(model, raw) is None
    assert review.finish_last_request() == [] and learned_class(model, raw) is None, "what was undone stays undone"


def test_several_at_once_and_how_it_does(review, tmp_path, model):
    write_ledger(tmp_path, model, *(message("spam", 900 + k) for k in range(4)))
    client = browser(review)
    status, page = send(client, "/teach", list="?show=spam", **{"as": "good", "ticked": positions(client)[:3]})
    assert status == 200 and "3 messages taught as good" in page and len(positions(client, "/?show=spam")) == 1
    assert LexborHTMLParser(page).css_first("h1").text() == "Spam mail"
    figures = LexborHTMLParser(client.get("/statistics").text).css_first(".cards").text()
    assert "3 good mail called spam 0 spam let through" in " ".join(figures.split())
    taught = positions(client, "/?show=taught")
    assert send(client, "/undo", position=taught[0])[0] == 200 and len(positions(client, "/?show=taught")) == 2


@pytest.mark.parametrize("site", ["cross-site", "same-site", "none"])
def test_forms_of_other_sites_change_nothing(review, tmp_path, model, site):
    write_ledger(tmp_path, model, message("spam", 900))
    client = browser(review)
    for where in ("/teach", "/undo", "/move"):
        reply = client.post(where, data={"one": "good:0"}, headers={"sec-fetch-site": site})
        assert reply.status_code == 403
    assert positions(client, "/?show=spam") == ["0"] and client.get("/teach").status_code == 405
    del client.headers["sec-fetch-site"]  # of an old browser: who knows the key has the page
    assert client.post("/teach", data={"one": "good:0"}).status_code == 200
    assert positions(client, "/?show=spam") == []


@pytest.mark.parametrize(
    "fields", [{}, {"as": "spam"}, {"one": "other:0"}, {"one": "spam:x"}, {"one": "spam:" + "9" * 40}]
)
def test_nonsense_is_refused_in_one_line(review, tmp_path, model, fields):
    write_ledger(tmp_path, model, message("spam", 900))
    client = browser(review)
    status, page = send(client, "/teach", **fields)
    assert status in (400, 404) and LexborHTMLParser(page).css_first("[role=alert]") and positions(client) == ["0"]
    assert send(client, "/teach", one="good:" + "9" * 18)[0] == 409
    for number in ("9" * 30, "9" * 5_000, "-1", "x"):
        reply = client.get(f"/message/{number}")
        assert reply.status_code == 404 and len(reply.text) < 2_000
    assert client.post("/teach", content=b"x" * (MAX_BODY + 1)).status_code == 413
    assert send(client, "/teach", ticked=["1"] * 1_000)[0] == 400


def test_hostile_mail_is_text_and_bounded(review, hostile):
    client = browser(review)
    lists = client.get("/")
    subjects = [node.text() for node in LexborHTMLParser(lists.text).css("a.subject")]
    assert any(subject.startswith("<script>") for subject in subjects) and len(lists.text) < 30_000
    assert any("\\u2066" in subject for subject in subjects) and len(positions(client)) == hostile
    for page in [lists, *(client.get(f"/message/{position}") for position in positions(client))]:
        tree = LexborHTMLParser(page.text)
        assert page.status_code == 200 and len(page.text) < 60_000
        assert len(tree.css("script")) == 1 and not tree.css("[onfocus], [onerror], img, main b b")
        assert not set(page.text) & set("\u202e\u2066") and "\u0301" * 4 not in page.text


def test_a_word_is_looked_up_in_the_model(review, model):
    client = browser(review)
    tree = LexborHTMLParser(client.get("/words?word=Prize").text)
    with Classifier.open(model) as classifier:
        found = word_of(classifier.store, "prize")
    shown = {row.css_first("td").text(): [cell.text() for cell in row.css("td.number")] for row in tree.css("tbody tr")}
    assert len(shown) == len(found.shares)
    assert shown["prize"] == [format_share(share) for share in found.shares["prize"].values()]
    shown_at_once = LexborHTMLParser(client.get("/words").text).css("table.top tbody tr")
    with Classifier.open(model) as classifier:
        telling = words_of(classifier.store, 30, False, print).informative
    assert [[cell.text() for cell in row.css("td")] for row in shown_at_once] == [[w.token, w.label] for w in telling]
    link = shown_at_once[0].css_first("a").attributes["href"].removeprefix("/secret")
    assert client.get(link).text.count("Share of") == 2
    for typed in ("<script>x</script>\" onload='x'", "\u202e", "x" * 5_000, "%", "\x00"):
        text = client.get("/words", params={"word": typed}).text
        tree = LexborHTMLParser(text)
        assert len(tree.css("script")) == 1 and not tree.css("[onload]") and "\u202e" not in text
        assert "No message of the model has this word" in text


def test_the_pages_of_a_users_model_have_the_words_of_both_models_and_its_own_training(review, tmp_path, model):
    with Classifier.open(model, writable=True) as classifier:
        classifier.store.put_meta({"trained_at": "2026-11-22T05:48:07+01:00"})
    output_of("learn", "ham", "--shared", model, "-m", tmp_path / "user", stdin=message("ham", 900))
    write_ledger(tmp_path, model, message("spam", 900))
    for path, trained_on, n_ham in ((model, "2026-11-22", 120), (tmp_path / "user", None, 121)):
        client = browser(replace(review, models=Models(path, None, writable=False)))
        assert LexborHTMLParser(client.get("/words").text).css("table.top tbody tr")
        statistics = client.get("/statistics").text
        assert f"<b>{trained_on}</b> trained" in statistics if trained_on else "</b> trained" not in statistics
        assert f"<b>{n_ham}</b> messages of <bdi>ham" in statistics, "a lesson is one message, whatever it weighs"
        assert ("240 messages of these are of the model to which" in statistics) == (path != model)


def test_what_was_hidden_stands_apart_from_what_was_read(review, tmp_path, model):
    raw = b"Content-Type: text/html\n\n<p>seen</p><p style='display:none'>unseen words</p>"
    box = maildir.make_folder(tmp_path / "Mail")
    (box / "new" / "1").write_bytes(raw)
    write_ledger(tmp_path, model, raw, place=str(box / "new" / "1"))
    client = browser(review)
    tree = LexborHTMLParser(client.get("/message/0").text)
    assert "unseen words" in tree.css_first("pre.hidden").text() and "unseen" not in tree.css_first("pre.text").text()
    (box / "new" / "1").unlink()
    page = LexborHTMLParser(client.get("/message/0").text)
    assert "This message cannot be shown" in page.text()
    assert "no longer in this folder" in page.css_first(".location").text()
    assert not page.css(".location button"), "what is gone cannot be moved"


def test_attachments_are_listed_and_no_more_than_text(review, tmp_path, model):
    files = b"".join(b'\n--x\nContent-Type: application/zip; name="<b>%d.zip"\n\nAA' % n for n in range(3))
    raw = b"Content-Type: multipart/mixed; boundary=x\n\n" + files + b"\n--x--\n"
    box = maildir.make_folder(tmp_path / "Mail")
    (box / "new" / "1").write_bytes(raw)
    write_ledger(tmp_path, model, raw, place=str(box / "new" / "1"))
    tree = LexborHTMLParser(browser(review).get("/message/0").text)
    assert [node.text() for node in tree.css("ul.files li")] == [f"<b>{n}.zip application/zip" for n in range(3)]


def test_a_lesson_goes_to_the_model_of_whom_the_message_was_for(review, tmp_path, model):
    raw = message("spam", 901)
    write_ledger(tmp_path, model, raw, user="bob")
    client = browser(review)
    (of_bob,) = positions(client)
    assert "for bob" in " ".join(LexborHTMLParser(client.get("/").text).css_first(".meta").text().split())
    status, page = send(client, "/teach", one=f"good:{of_bob}")
    assert status == 200 and learned_class(model, raw) is None
    own = tmp_path / "users" / "bob.spamnb"
    assert learned_class(own, raw) == "ham" and send(client, "/undo", batch=batch_of(page))[0] == 200
    assert learned_class(own, raw) is None


@pytest.mark.parametrize("has_folder", [False, True])
def test_what_was_taught_is_listed_and_counted_for_each_user_whose_mail_the_model_classifies(
    tmp_path, model, has_folder
):
    (tmp_path / "users").mkdir()
    raw, folder = message("spam", 902), tmp_path / "users" if has_folder else None
    for user in ("ann", "bob"):
        write_ledger(tmp_path, model, raw, user=user)
    client = browser(Review(tmp_path / "ledger", Models(model, folder, writable=True), "secret"))
    (of_ann,), (of_bob,) = positions(client, "/?user=ann"), positions(client, "/?user=bob")
    assert send(client, "/teach", one=f"good:{of_ann}")[0] == 200
    taught = [of_ann] if has_folder else [of_bob, of_ann]
    assert sorted(positions(client, "/?show=taught")) == sorted(taught)
    n_errors = {}
    for user in ("ann", "bob", "carl", ""):
        cards = LexborHTMLParser(client.get(f"/statistics?user={user}").text).css_first(".cards").text()
        (n_errors[user],) = re.findall(r"(\d+) good mail called spam", " ".join(cards.split()))
    assert n_errors == {"ann": "1", "bob": "0" if has_folder else "1", "carl": "0", "": "1" if has_folder else "2"}
    for position in (of_ann, of_bob):
        assert ("as you taught" in client.get(f"/message/{position}").text) == (position in taught)
    assert send(client, "/undo", position=of_bob)[0] == (404 if has_folder else 200)
    assert positions(client, "/?show=taught") == ([of_ann] if has_folder else [])


def test_a_correction_of_a_users_model_is_not_undone_without_the_folder_of_models(review, tmp_path, model):
    raw = message("spam", 901)
    write_ledger(tmp_path, model, raw, user="bob")
    assert send(browser(review), "/teach", one="good:0")[0] == 200
    shared_only = replace(review, models=Models(model, None, writable=True))
    with Ledger.open(tmp_path / "ledger") as ledger:
        batch = ledger.corrections()[0].batch
    for fields in ({"position": "0"}, {"batch": batch}):
        status, page = send(browser(shared_only), "/undo", **fields)
        assert status == 409 and "--models names the folder" in page
    (problem,) = shared_only.finish_last_request()  # a line, and the pages open
    assert "--models names the folder" in problem
    assert learned_class(model, raw) is None and positions(browser(review), "/?show=taught") == ["0"]


def test_what_was_taught_twice_is_undone_at_once(review, tmp_path, model):
    raw = message("spam", 903)
    write_ledger(tmp_path, model, raw)
    client = browser(review)
    for _ in range(2):  # a double click
        status, page = send(client, "/teach", one="good:0")
        assert status == 200
    assert learned_class(model, raw) == "ham"
    assert send(client, "/undo", batch=batch_of(page))[0] == 200 and learned_class(model, raw) is None
