"""``spamnb review``: show verdicts with their evidence in a browser, and correct them."""

from __future__ import annotations

import contextlib
import secrets
from pathlib import Path
from threading import Thread

import click

from spamnb.cli.options import WholeNumber, model_option, models_option, own_ledger_option, tell


@click.command("review", short_help="Show verdicts in a browser, and correct them.")
@model_option
@own_ledger_option
@click.option(
    "--port",
    type=WholeNumber(0, 65535),
    metavar="PORT",
    default=8765,
    show_default=True,
    help="TCP port on 127.0.0.1.",
)
@models_option
def review_command(model: Path, ledger: Path, port: int, models: Path | None) -> None:
    """Show the mail of a ledger in a browser, with the evidence of each verdict, and correct verdicts.

    The command prints an address with a secret key. Everybody who has the address can see all mail. Each start makes a
    new key. The command needs starlette and uvicorn.

    \b
    Example:
      spamnb sort ~/Maildir
      spamnb review
    """
    try:
        import uvicorn

        from spamnb.review.app import Review
        from spamnb.review.pages import preload_informative_words
    except ImportError as error:
        raise click.ClickException(f"'review' needs {error.name}: pip install starlette uvicorn") from None
    from spamnb.ledger.ledger import Ledger
    from spamnb.serve.service import listen_tcp
    from spamnb.user_models import Models

    Ledger.open(ledger, make=False).close()
    open_models = Models(model, models, writable=True)
    open_models.for_classifying("").check_spam()
    key = secrets.token_urlsafe(32)
    review = Review(ledger, open_models, key)
    for problem in review.finish_last_request():
        tell(problem)
    app = review.app()
    sockets = listen_tcp("127.0.0.1", port)
    url = f"http://127.0.0.1:{sockets[0].getsockname()[1]}/{key}/"
    tell(f"{url} shows {ledger}; Ctrl-C ends it")
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=100,
        timeout_keep_alive=30,
    )
    Thread(target=preload_informative_words, args=(model,), daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):  # uvicorn closes its connections, and then raises the signal again
        uvicorn.Server(config).run(sockets=sockets)
    open_models.close()
