"""``spamnb review``: all mail in a browser, and why it was judged so."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path
from threading import Thread

import click

from spamnb.cli.options import ModelPath, model_option, models_option, tell


@click.command("review", short_help="Show all mail in a browser, and why it was judged so; correct it.")
@model_option
@click.option("--journal", type=ModelPath(), required=True, help="The file that filter, sort, watch or serve write.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="TCP port on 127.0.0.1.")
@models_option
def review_command(model: Path, journal: Path, port: int, models: Path | None) -> None:
    """Show all mail of the journal in a browser, and why it was judged so; teach it with a click.

    It prints an address with a key: whoever opens it sees all mail. Each start makes a new key. Needs starlette and
    uvicorn.

    \b
    Example:
      spamnb review --journal ~/mail.journal
    """
    try:
        import uvicorn

        from spamnb.review.app import Review
        from spamnb.review.pages import read_top_words
    except ImportError as error:
        raise click.ClickException(f"'review' needs {error.name}: pip install starlette uvicorn") from None
    from spamnb.classifier import Classifier
    from spamnb.journal.journal import Journal
    from spamnb.review.lessons import Teacher
    from spamnb.serve.service import listen_tcp

    with Classifier.open(model) as classifier:
        classifier.check_spam()
    Journal.there(journal).close()
    key = secrets.token_urlsafe(32)
    teacher = Teacher(model, models)
    app = Review(journal, teacher, key).app()
    listening = listen_tcp("127.0.0.1", port)
    where = f"http://127.0.0.1:{listening[0].getsockname()[1]}/{key}/"
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
    Thread(target=read_top_words, args=(model,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn has ended in order by then, and raises the signal again
        uvicorn.Server(config).run(sockets=listening)
    teacher.close()
