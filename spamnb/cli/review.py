"""``spamnb review``: what was filtered and why, in a browser."""

from __future__ import annotations

import contextlib
import re
from pathlib import Path

import click

from spamnb.cli.options import ModelPath, default_model, model_option, on_command_line, tell


@click.command("review", short_help="Show in a browser what was filtered and why; correct it.")
@model_option
@click.option("--journal", type=ModelPath(), required=True, help="The file that filter, sort, watch or serve write.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="TCP port on 127.0.0.1.")
@click.option("--socket", type=ModelPath(), help="Listen on this Unix socket instead, for a proxy.")
@click.option(
    "--proxy-user", metavar="HEADER", help="The header field in which a proxy on this machine names the user."
)
@click.option("--models", type=ModelPath(), help="Folder with a model for each user, as for 'serve'.")
def review_command(
    model: Path, journal: Path, port: int, socket: Path | None, proxy_user: str | None, models: Path | None
) -> None:
    """Show in a browser what was filtered this week, the most doubtful first, and why; teach it with a click.

    It prints an address that holds a key: who opens that one sees all mail. With --proxy-user, a web server that has
    logged people in says who they are. Needs starlette and uvicorn.

    \b
    Example:
      spamnb review --journal ~/mail.journal
    """
    from spamnb.errors import SpamnbError

    if proxy_user is not None and not re.fullmatch("[A-Za-z0-9-]{1,100}", proxy_user):
        raise click.UsageError(f"--proxy-user {proxy_user!r}: no name of a header field, as X-Remote-User is one")
    if socket is not None and (proxy_user is None or on_command_line("port")):
        raise click.UsageError("--socket goes with --proxy-user, and without --port")
    try:
        import uvicorn

        from spamnb.review.app import Review, key_at
    except ImportError as error:
        raise SpamnbError(f"'review' needs {error.name}: pip install starlette uvicorn") from None
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
    key = key_at(default_model().with_name("review-key")) if proxy_user is None else ""
    app = Review(journal, Teacher(model, models), key, proxy_user or "").app()
    if socket is not None:
        listening, where = [listen_unix(socket, 0o660)], str(socket)
    else:
        listening = listen_tcp("127.0.0.1", port)
        where = f"http://127.0.0.1:{listening[0].getsockname()[1]}/" + (f"?key={key}" if key else "")
    tell(f"spamnb: {where} shows {journal}; Ctrl-C ends it")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=100,
        timeout_keep_alive=30,
    )
    with contextlib.suppress(KeyboardInterrupt):  # it has ended in order by then, and raises the signal again
        uvicorn.Server(config).run(sockets=listening)
