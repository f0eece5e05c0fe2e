"""The pages in a real browser.

A person opens them, teaches, undoes and moves mail back; hostile mail does nothing; axe-core checks accessibility.
"""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("uvicorn", reason="uvicorn is not installed")

import uvicorn
from chromium import Chromium, Page
from commands import output_of
from mail import learned_class, message, write_ledger
from unpacked import wait_until

from spamnb.mailbox import maildir
from spamnb.review.app import Review

pytestmark = pytest.mark.slow


@pytest.fixture
def url(review: Review) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(review.app(), log_level="critical", proxy_headers=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    wait_until(lambda: server.started)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = server.force_exit = True
    thread.join()
    listening.close()


def opened(browser: Chromium, url: str, path: str = "/") -> Page:
    page = browser.new_page()
    page.go(url)
    assert "Open the address" in page.text(".problem")
    page.go(f"{url}/secret{path}")
    return page


def test_a_person_teaches_with_keys_and_buttons_undoes_and_moves_back(browser, url, tmp_path, model):
    box = maildir.make_folder(tmp_path / "Mail")
    raws = [message("spam", 900), message("spam", 901)]
    for number, raw in enumerate(raws):
        (box / "new" / f"{number}.spam").write_bytes(raw)
    output_of("sort", "--ledger", tmp_path / "ledger", "-m", model, box)
    assert len(maildir.files(box / ".Junk" / "new")) == 2
    page = opened(browser, url, "/?show=spam")
    assert len(page.texts(".mail a.subject")) == 2
    page.press("j")
    page.wait("document.querySelectorAll('.row.current').length === 1")
    page.leave_by(lambda: page.press("g"))
    assert page.text(".done span") == "1 message taught as good mail." and len(page.texts(".mail a.subject")) == 1
    assert sorted(filter(None, (learned_class(model, raw) for raw in raws))) == ["ham"]
    assert len(maildir.files(box / "new")) == 1, "it is in the inbox again"
    page.leave_by(lambda: page.press("u"))
    assert [learned_class(model, raw) for raw in raws] == [None, None]
    assert len(maildir.files(box / ".Junk" / "new")) == 2
    page.press("a")
    page.run("document.querySelector('input[name=move]').click()")
    page.click(".all button.spam")
    assert page.text(".done span") == "2 messages taught as spam."
    assert page.texts(".mail .verdict") == ["spam taught"] * 2
    assert [learned_class(model, raw) for raw in raws] == ["spam", "spam"]
    page.click(".mail button.undo")
    page.click(".mail a.subject")
    assert "Folder: Junk of" in page.text(".location") and "The message has no text that may be hidden" in page.text()
    page.leave_by(lambda: page.press("m"))
    assert "Folder: the inbox of" in page.text(".location") and len(maildir.files(box / "new")) == 1


def test_hostile_mail_changes_nothing(browser, url, hostile):
    page = opened(browser, url)
    page.look(390)
    links = page.run("[...document.querySelectorAll('.mail a.subject')].map((each) => each.href)")
    assert len(links) == hostile
    for link in [url + "/secret/", *links, url + "/secret/words?word=" + "%3Cscript%3E"]:
        page.go(link)
        assert page.run("window.pwned") is None and page.run("document.scripts.length") == 1
        assert page.run("document.querySelectorAll('img, iframe, base, [onfocus], main form form').length") == 0
        assert page.run("document.documentElement.scrollWidth <= window.innerWidth"), f"{link} is wider than that"
        assert not set("\u202e\u2066") & set(page.text())
    asked = {event["request"]["url"] for event in page.events_named("Network.requestWillBeSent")}
    assert all(each.startswith((url, "about:")) for each in asked), asked
    assert page.events_named("Page.javascriptDialogOpening") == []
    assert page.events_named("Runtime.exceptionThrown") == []
    assert [each for each in page.events_named("Log.entryAdded") if each["entry"]["source"] == "security"] == []


def test_everybody_can_use_the_pages(browser, url, tmp_path, model):
    axe_file = Path(pytest.importorskip("axe_core_python", reason="axe-core is not installed").__file__)
    axe = (axe_file.parent / "axe.min.js").read_text("utf-8")
    write_ledger(tmp_path, model, *(message("spam", 920 + k) for k in range(3)))
    page = browser.new_page()
    page.ask("Page.setBypassCSP", enabled=True)  # axe makes functions out of text; the pages do not
    page.go(url)
    found = {"refused": problems(page, axe)}
    page.go(f"{url}/secret/")
    page.click(".row button.good")
    message_page = page.run("new URL(document.querySelector('a.subject').href).pathname")
    message_page = message_page.removeprefix("/secret")
    lists = "/", "/?show=spam", "/?show=taught", "/?q=none"
    for path in (*lists, message_page, "/words", "/words?word=prize", "/statistics", "/message/999999"):
        for width, dark in ((390, False), (1280, True)):
            page.look(width, dark)
            page.go(f"{url}/secret{path}")
            assert page.run("document.documentElement.scrollWidth <= window.innerWidth")
            found[f"{path} {width}"] = problems(page, axe)
    assert {path: told for path, told in found.items() if told} == {}


def problems(page: Page, axe: str) -> list[str]:
    page.run(axe + "; undefined")
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"]
    result = "(found) => [found.passes.length, found.violations]"
    passed, violations = page.run(f"axe.run(document, {{runOnly: {json.dumps(tags)}}}).then({result})")
    assert passed > 5
    return [f"{each['id']}: {node['html'][:200]}" for each in violations for node in each["nodes"]]
