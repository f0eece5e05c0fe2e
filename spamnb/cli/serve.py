"""``spamnb serve``: the spamd protocol for spamc, Exim, Postfix, Dovecot and whatever else speaks it."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path

import click

from spamnb.cli.options import journal_option, model_option, models_option, on_command_line, workers_option

PORT = click.IntRange(0, 65535)


def octal(_context: click.Context, _parameter: click.Parameter, text: str) -> int:
    """A file mode as chmod takes it."""
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and set(text) <= set("01234567")):
        raise click.BadParameter(f"{text!r} is no octal mode such as 660")
    return int(text, 8)


@click.command("serve", context_settings={"show_default": True}, short_help="Answer spamc, Exim, Postfix and Dovecot.")
@click.option("--host", default="127.0.0.1", help="Address to listen on; there is no password.")
@click.option("--port", type=PORT, help="TCP port.  [default: 783; none with --socket]", show_default=False)
@click.option("--socket", "path", type=click.Path(path_type=Path), help="Unix socket to listen on.")
@click.option("--socket-mode", default="666", callback=octal, help="Permissions of the Unix socket, octal.")
@workers_option
@click.option("--allow-tell", is_flag=True, help="Let clients teach the model (spamc -L).")
@models_option
@click.option("--max-size", type=click.IntRange(min=1), default=8 << 20, help="Largest message in bytes.")
@click.option("--metrics-port", type=PORT, help="Answer GET /metrics here, on 127.0.0.1.")
@model_option
@journal_option
def serve_command(
    model: Path,
    host: str,
    port: int | None,
    path: Path | None,
    socket_mode: int,
    workers: int | None,
    allow_tell: bool,
    models: Path | None,
    max_size: int,
    metrics_port: int | None,
    journal: Path | None,
) -> None:
    """Answer spamc, Exim, Postfix and Dovecot: the spamd protocol with the model's verdicts.

    One line of JSON per message goes to standard error. SIGTERM ends the server once open connections are answered.
    A model that is replaced meanwhile is used from then on. Sockets that systemd passes replace --host, --port and
    --socket.

    \b
    Example:
      spamnb serve --socket /run/spamnb.sock --allow-tell
      spamc -U /run/spamnb.sock < message.eml
    """
    import asyncio

    from spamnb.engines.executor import cores
    from spamnb.journal.writer import JournalWriter
    from spamnb.serve import service
    from spamnb.serve.spamd import Limits, Spamd
    from spamnb.serve.users import Models

    if path is None and on_command_line("socket_mode"):
        raise click.UsageError("--socket-mode goes with --socket")
    while (spare := os.open(os.devnull, os.O_RDWR)) < 3:
        pass  # a standard stream was closed: no connection may get its number, or the log would be written to it
    os.close(spare)
    spamd = Spamd(
        partial(Models, model, models),
        service.log,
        Limits(message_size=max_size),
        threads=cores() if workers is None else workers,
        allow_tell=allow_tell,
        journal=JournalWriter(journal, lambda line: service.log(event="journal", error=line)) if journal else None,
    )
    listening = service.inherited_sockets()
    made = None
    if not listening:
        if port is not None or path is None:
            listening += service.listen_tcp(host, 783 if port is None else port)
        if path is not None:
            made = service.listen_unix(path, socket_mode)
            listening.append(made)
    watched = service.listen_tcp("127.0.0.1", metrics_port, "--metrics-port") if metrics_port is not None else []
    try:
        asyncio.run(service.run(spamd, listening, watched))
    finally:
        if made is not None and path is not None:
            path.unlink(missing_ok=True)
