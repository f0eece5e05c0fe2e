"""``spamnb review``: what was filtered and why, in a browser."""

from __future__ import annotations

import contextlib
import re
import sys
from pathlib import Path

import click

from spamnb.cli.options import (
    ModelPath,
    default_model,
    model_option,
    on_command_line,
    tell,
)


def default_passwords() -> Path:
    """The file of passwords in the user's data directory."""
    return default_model().with_name("review-passwords.json")


@click.command("review", short_help="Show in a browser what was filtered and why; correct it.")
@model_option
@click.option("--journal", type=ModelPath(), help="The journal that filter, sort, watch or serve write.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="TCP port.")
@click.option("--certificate", type=ModelPath(), help="TLS certificate, PEM, with its chain.")
@click.option("--key", type=ModelPath(), help="The certificate's private key, PEM.")
@click.option("--socket", type=ModelPath(), help="Listen on this Unix socket, for a proxy, and on no port.")
@click.option("--proxy-user", metavar="HEADER", help="Believe a proxy on this machine who the user is, by this field.")
@click.option("--models", type=ModelPath(), help="Folder with a model for each user, as for 'serve'.")
@click.option(
    "--passwords",
    type=ModelPath(),
    default=default_passwords,
    show_default="review-passwords.json in the user's data directory",
    help="The file of passwords.",
)
@click.option("--set-password", is_flag=True, help="Ask for a password, keep it and end.")
@click.option("--user", default="admin", show_default=True, help="Whose password or digest; admin sees all mail.")
@click.option("--digest", is_flag=True, help="Send what was filtered since the last digest, and end.")
@click.option("--to", metavar="WHERE", help="Where a digest goes: a Maildir, an account, an address, or -.")
@click.option("--url", help="Where the pages are, for a digest's links.  [default: http://127.0.0.1:8765]")
def review_command(
    model: Path,
    journal: Path | None,
    host: str,
    port: int,
    certificate: Path | None,
    key: Path | None,
    socket: Path | None,
    proxy_user: str | None,
    models: Path | None,
    passwords: Path,
    set_password: bool,
    user: str,
    digest: bool,
    to: str | None,
    url: str | None,
) -> None:
    """Show in a browser what was filtered this week, the most doubtful first, and why; teach it with a click.

    Needs the extra 'review'. To listen on an address other than this machine's own, it needs a certificate.

    \b
    Example:
      spamnb review --set-password
      spamnb review --journal ~/mail.journal
      spamnb review --journal ~/mail.journal --digest --to ~/Maildir
    """
    from spamnb.errors import SpamnbError
    from spamnb.naming import is_loopback
    from spamnb.review.passwords import Passwords
    from spamnb.review.passwords import set_password as keep

    if set_password:
        keep(passwords, user, _asked())
        tell(f"spamnb: {user} may log in with this password; {passwords} keeps its hash")
        return
    if on_command_line("user") and not digest:
        raise click.UsageError("--user goes with --set-password and --digest")
    if not digest and (to or url):
        raise click.UsageError("--to and --url go with --digest")
    if journal is None:
        raise click.UsageError("--journal FILE says what to show: the one that filter, sort, watch or serve write")
    if digest:
        _send(journal, model, models, user, to, url)
        return
    if (certificate is None) != (key is None):
        raise click.UsageError("--certificate and --key go together")
    if proxy_user is not None and not re.fullmatch("[A-Za-z0-9-]{1,100}", proxy_user):
        raise click.UsageError(f"--proxy-user {proxy_user!r}: no name of a header field, as X-Remote-User is one")
    if socket is not None and (certificate is not None or on_command_line("host") or on_command_line("port")):
        raise click.UsageError("--socket stands in the place of --host, --port and --certificate")
    try:
        import uvicorn

        from spamnb.review.app import Review
    except ImportError as error:
        raise SpamnbError(f"'review' needs {error.name}: pip install starlette uvicorn") from None
    if socket is None and not is_loopback(host):
        if proxy_user is not None:
            raise click.UsageError(f"{host} is not this machine alone: anybody there could say who they are")
        if certificate is None:
            raise click.UsageError(f"{host} is not this machine alone: passwords need --certificate and --key there")
    known = Passwords(passwords) if proxy_user is None else None
    from spamnb.classifier import Classifier
    from spamnb.journal.journal import Journal
    from spamnb.review.lessons import Teacher
    from spamnb.serve.sockets import listen_tcp, listen_unix

    if models is not None and not models.is_dir():
        raise SpamnbError(f"{models}: no folder there; 'spamnb serve --models' keeps users' models in one")
    with Classifier.open(model) as classifier:
        classifier.check_spam()
    if not journal.exists():
        tell(f"spamnb: {journal}: no journal there yet; filter, sort, watch and serve write one with --journal")
    Journal.at(journal).close()
    for file in (certificate, key):
        if file is not None:
            file.open("rb").close()
    secure = certificate is not None or proxy_user is not None
    app = Review(journal, Teacher(model, models), known, secure, proxy_user or "").app()
    listening = [listen_unix(socket, 0o660)] if socket is not None else listen_tcp(host, port)
    port = listening[0].getsockname()[1] if socket is None else port  # 0 takes a free one
    scheme = "http" if certificate is None else "https"
    where = f"{socket}" if socket is not None else f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}/"
    tell(f"spamnb: {where} shows {journal}; Ctrl-C ends it")
    config = uvicorn.Config(
        app,
        ssl_certfile=str(certificate) if certificate else None,
        ssl_keyfile=str(key) if key else None,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=100,
        timeout_keep_alive=30,
    )
    with contextlib.suppress(KeyboardInterrupt):  # it has ended in order by then, and raises the signal again
        uvicorn.Server(config).run(sockets=listening)


def _send(journal: Path, model: Path, models: Path | None, user: str, to: str | None, url: str | None) -> None:
    """Send a digest, once: from cron or a timer. Nothing is said and nothing sent where nothing was filtered."""
    from spamnb.review.delivery import Delivery
    from spamnb.review.digest import checked_url, send_digest
    from spamnb.review.passwords import ADMIN

    if to is None:
        raise click.UsageError("--digest needs --to: a Maildir, imaps://USER@HOST, an address, or - for stdout")
    pages = checked_url(url or "http://127.0.0.1:8765")
    send_digest(journal, model, models, None if user == ADMIN else user, pages, Delivery(to))


def _asked() -> str:
    """A password that is typed twice, or the first line of standard input."""
    if sys.stdin is not None and not sys.stdin.isatty():
        return sys.stdin.readline(4096).rstrip("\r\n")
    return str(click.prompt("Password", hide_input=True, confirmation_prompt=True, err=True))
