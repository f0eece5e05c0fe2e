"""Logging in with OAuth 2 to a real Dovecot that asks a server of tokens on loopback whether each is good."""

import json
import threading
import urllib.parse
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from commands import run
from imap_account import Server, describe
from person import sides

pytestmark = pytest.mark.slow

CONF = """
auth_mechanisms = plain {mechanisms}
passdb {{
  driver = oauth2
  mechanisms = {mechanisms}
  args = {file}
}}
"""
OAUTH = """
introspection_mode = post
introspection_url = http://127.0.0.1:{port}/introspect
active_attribute = active
active_value = true
username_attribute = username
"""


class Tokens:
    """The good tokens, each with its user, and all that a server has asked about."""

    def __init__(self) -> None:
        self.good: dict[str, str] = {}
        self.asked: list[str] = []
        tokens = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"])).decode()
                token = urllib.parse.parse_qs(body)["token"][0]
                tokens.asked.append(token)
                user = tokens.good.get(token)
                answer = json.dumps({"active": True, "username": user} if user else {"active": False}).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


@pytest.fixture
def tokens() -> Iterator[Tokens]:
    made = Tokens()
    yield made
    made.server.shutdown()
    made.server.server_close()


def with_oauth(made: Callable[..., Server], place: Path, tokens: Tokens, mechanisms: str) -> Server:
    file = place / "oauth2.conf"
    file.write_text(OAUTH.format(port=tokens.server.server_port))
    return made(CONF.format(mechanisms=mechanisms, file=file))


@pytest.mark.parametrize("mechanisms", ["xoauth2", "oauthbearer"])
def test_a_token_is_asked_for_anew_and_one_that_is_no_longer_good_is_said(
    made, place, tokens, model, tmp_path, monkeypatch, mechanisms
):
    server = with_oauth(made, place, tokens, mechanisms)
    monkeypatch.delenv("SPAMNB_IMAP_PASSWORD")
    file = tmp_path / "token"
    describe(tmp_path, server.url, token_command=f"cat '{file}'")
    tokens.good = {"first": "ann", "of-bob": "bob"}
    file.write_text("first\n")
    with server.person() as person:
        person.arrive(range(500, 502))
        assert run("sort", "-m", model, server.url).exit_code == 0
        assert person.where() == sides(range(500, 502)) and tokens.asked == ["first"]
        person.arrive(range(502, 503))
        tokens.good = {"second": "ann", "of-bob": "bob"}
        for bad in ("first", "of-bob"):
            file.write_text(bad)
            refused = run("sort", "-m", model, server.url)
            assert refused.exit_code == 1 and "the server refused the login" in refused.stderr
            assert refused.stderr.count("\n") == 1 and bad not in refused.stderr
        file.write_text("second\n")
        assert run("sort", "-m", model, server.url).exit_code == 0
        assert person.where() == sides(range(500, 503)) and tokens.asked[-1] == "second"
