"""``spamnb serve``: answer mail software by the protocols of spamd and rspamd."""

from __future__ import annotations

import os
import socket
from functools import partial
from pathlib import Path

import click

from spamnb.cli.options import journal_option, model_option, models_option, on_command_line, workers_option

PORT = click.IntRange(0, 65535)


def parse_octal(_context: click.Context, _parameter: click.Parameter, text: str) -> int:
    """Return the number of a file mode as chmod takes it."""
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and set(text) <= set("01234567")):
        raise click.BadParameter(f"{text!r} is no octal mode such as 660")
    return int(text, 8)


@click.command("serve", context_settings={"show_default": True}, short_help="Answer spamc, Exim, Postfix and Dovecot.")
@click.option("--host", default="127.0.0.1", help="Address to listen on. Clients need no password.")
@click.option("--port", type=PORT, help="TCP port.  [default: 783; none with --socket or --http]", show_default=False)
@click.option("--socket", "path", type=click.Path(path_type=Path), help="Unix socket to listen on.")
@click.option(
    "--http", metavar="PORT|PATH", help="Also answer rspamd's clients, on a port of 127.0.0.1 or a Unix socket."
)
@click.option("--socket-mode", default="666", callback=parse_octal, help="Permissions of the Unix sockets, octal.")
@workers_option
@click.option("--allow-tell", is_flag=True, help="Let clients teach the model (spamc -L, rspamc learn_spam).")
@models_option
@click.option("--max-size", type=click.IntRange(min=1), default=8 << 20, help="Largest message in bytes.")
@click.option("--metrics-port", type=PORT, help="Answer GET /metrics on this port of 127.0.0.1.")
@model_option
@journal_option
def serve_command(
    model: Path,
    host: str,
    port: int | None,
    path: Path | None,
    http: str | None,
    socket_mode: int,
    workers: int | None,
    allow_tell: bool,
    models: Path | None,
    max_size: int,
    metrics_port: int | None,
    journal: Path | None,
) -> None:
    """Answer spamc, Exim, Postfix and Dovecot; with --http also maddy, Haraka and rspamc.

    Spamc, Exim, Postfix and Dovecot use the protocol of spamd; maddy, Haraka and rspamc use the protocol of rspamd.
    The server writes a line of JSON per message to standard error. SIGTERM ends it after the open connections are
    answered. If the model file is replaced, the server uses the new one. Sockets that systemd passes replace --host,
    --port and --socket.

    \b
    Example:
      spamnb serve --socket /run/spamnb.sock --allow-tell
      spamc -U /run/spamnb.sock < message.eml
    """
    import asyncio

    from spamnb.engines.executor import cores
    from spamnb.journal.writer import JournalWriter
    from spamnb.people import own_people
    from spamnb.serve import metrics, service
    from spamnb.serve.connections import Limits
    from spamnb.serve.conversations import Conversations
    from spamnb.serve.http_wire import HttpWire
    from spamnb.serve.spamd_wire import SpamdWire
    from spamnb.serve.users import Models
    from spamnb.serve.workers import Workers

    http_path = Path(http) if http is not None and not http.isdecimal() else None
    if path is None and http_path is None and on_command_line("socket_mode"):
        raise click.UsageError("--socket-mode needs --socket, or --http PATH")
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass  # a standard stream was closed: a connection with its number would receive the log
    os.close(descriptor)
    own_people()  # a file of people with a mistake in it would fail each message
    writer = JournalWriter(journal, lambda line: service.log(event="journal", error=line)) if journal else None
    threads = Workers(partial(Models, model, models), cores() if workers is None else workers, allow_tell, writer)
    conversations = Conversations(threads, service.log, Limits(message_bytes=max_size))
    listening = service.inherited_sockets()
    socket_paths: list[Path] = []

    def listen_unix(socket_path: Path) -> socket.socket:
        unix_socket = service.listen_unix(socket_path, socket_mode)
        socket_paths.append(socket_path)
        return unix_socket

    try:
        if not listening:
            if port is not None or (path is None and http is None):
                listening += service.listen_tcp(host, 783 if port is None else port)
            if path is not None:
                listening.append(listen_unix(path))
        endpoints = [service.Endpoint("listening", listening, SpamdWire())]
        if metrics_port is not None:
            sockets = service.listen_tcp("127.0.0.1", metrics_port, "--metrics-port")
            endpoints.append(
                service.Endpoint("metrics", sockets, HttpWire(metrics.metrics_paths(conversations.totals)))
            )
        if http:
            sockets = [listen_unix(http_path)] if http_path else service.listen_tcp("127.0.0.1", PORT(http), "--http")
            endpoints.append(service.Endpoint("http", sockets, HttpWire()))
        asyncio.run(service.run(conversations, endpoints))
    finally:
        for socket_path in socket_paths:
            socket_path.unlink(missing_ok=True)
