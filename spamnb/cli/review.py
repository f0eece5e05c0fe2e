"""``spamnb review``: what was filtered and why, in a browser."""

from __future__ import annotations

import contextlib
from pathlib import Path

import click

from spamnb.cli.options import ModelPath, default_model, model_option, tell


@click.command("review", short_help="Show in a browser what was filtered and why; correct it.")
@model_option
@click.option("--journal", type=ModelPath(), required=True, help="The file that filter, sort, watch or serve write.")
@click.option("--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="TCP port on 127.0.0.1.")
@click.option("--models", type=ModelPath(), help="Folder with a model for each user, as for 'serve'.")
def review_command(model: Path, journal: Path, port: int, models: Path | None) -> None:
    """Show in a browser what was filtered this week, the most doubtful first, and why; teach it with a click.

    It prints an address that holds a key: who opens that one sees all mail. Needs starlette and uvicorn.

    \b
    Example:
      spamnb review --journal ~/mail.journal
    """
    from spamnb.errors import SpamnbError

    try:
        import uvicorn

        from spamnb.review.app import Review, key_at
    except ImportError as error:
        raise SpamnbError(f"'review' needs {error.name}: pip install starlette uvicorn") from None
    from spamnb.classifier import Classifier
    from spamnb.journal.journal import Journal
    from spamnb.review.lessons import Teacher
    from spamnb.serve.sockets import listen_tcp

    if models is not None and not models.is_dir():
        raise SpamnbError(f"{models}: no folder there; 'spamnb serve --models' keeps users' models in one")
    with Classifier.open(model) as classifier:
        classifier.check_spam()
    Journal.there(journal).close()
    key = key_at(default_model().with_name("review-key"))
    app = Review(journal, Teacher(model, models), key).app()
    listening = listen_tcp("127.0.0.1", port)
    where = f"http://127.0.0.1:{listening[0].getsockname()[1]}/?key={key}"
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
