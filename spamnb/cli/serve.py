"""``spamnb serve``: a server with the protocols of spamd and rspamd."""

from __future__ import annotations

import os
import socket
from functools import partial
from pathlib import Path

import click

from spamnb.cli import show_warnings
from spamnb.cli.options import (
    WholeNumber,
    begin_with_starter,
    is_on_command_line,
    ledger_option,
    model_option,
    models_option,
    starter_option,
    workers_option,
)

PORT = WholeNumber(0, 65535)


def parse_octal(_context: click.Context, _parameter: click.Parameter, text: str) -> int:
    """Return the number of an octal file mode."""
    if not (text.isascii() and text.isdigit() and len(text) <= 4 and set(text) <= set("01234567")):
        raise click.BadParameter(f"{text!r} is not an octal mode such as 660")
    return int(text, 8)


@click.command("serve", context_settings={"show_default": True}, short_help="Answer spamc, Exim, Postfix and Dovecot.")
@click.option("--host", metavar="ADDRESS", default="127.0.0.1", help="Address to listen on. Clients need no password.")
@click.option("--port", type=PORT, metavar="PORT", help="TCP port.  [default: 783; none with --socket or --http]")
@click.option("--socket", "path", type=click.Path(path_type=Path), help="Unix socket to listen on.")
@click.option("--http", metavar="PORT|PATH", help="Answer clients of rspamd on this port of 127.0.0.1 or Unix socket.")
@click.option(
    "--socket-mode", metavar="MODE", default="666", callback=parse_octal, help="Octal permissions of Unix sockets."
)
@workers_option
@click.option("--allow-tell", is_flag=True, help="Let clients change the model (spamc -L, rspamc learn_spam).")
@models_option
@click.option(
    "--max-size", type=WholeNumber(min=1), metavar="BYTES", default=8 << 20, help="Size of the largest message."
)
@click.option("--metrics-port", type=PORT, metavar="PORT", help="Answer GET /metrics on this port of 127.0.0.1.")
@model_option
@starter_option
@ledger_option
@click.pass_context
def serve_command(
    context: click.Context,
    model: Path,
    no_starter: bool,
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
    ledger: Path | None,
) -> None:
    """Run a server for spamc, Exim, Postfix and Dovecot, and with --http for maddy, Haraka and rspamc.

    The first four use the protocol of spamd, the others the protocol of rspamd. The server writes a line of JSON per
    message to standard error. If the model file is replaced, the server uses the new one. After SIGTERM the server
    answers the open connections and exits. Sockets from systemd replace --host, --port and --socket.

    \b
    Example:
      spamnb serve --socket /run/spamnb.sock --allow-tell
      spamc -U /run/spamnb.sock < message.eml
    """
    import asyncio

    from spamnb.engines.executor import cores
    from spamnb.ledger.writer import LedgerWriter
    from spamnb.people import load_people
    from spamnb.serve import metrics, service
    from spamnb.serve.connections import Limits
    from spamnb.serve.conversations import Conversations
    from spamnb.serve.http_wire import RSPAMD_ROUTES, HttpWire
    from spamnb.serve.spamd_wire import SpamdWire
    from spamnb.serve.workers import Workers
    from spamnb.user_models import Models

    http_path = Path(http) if http is not None and not http.isdecimal() else None
    if path is None and http_path is None and is_on_command_line("socket_mode"):
        raise click.UsageError("--socket-mode needs --socket, or --http PATH")
    # Open the standard streams that are closed: a connection with descriptor 2 would receive the log.
    while (descriptor := os.open(os.devnull, os.O_RDWR)) < 3:
        pass
    os.close(descriptor)
    load_people()  # raises SpamnbError for a wrong configuration file, with which each message would fail
    begin_with_starter(model, no_starter)
    context.with_resource(show_warnings(lambda line: service.log(event="model", warning=line)))
    writer = LedgerWriter(ledger, lambda line: service.log(event="ledger", error=line)) if ledger else None
    threads = Workers(partial(Models, model, models), cores() if workers is None else workers, allow_tell, writer)
    conversations = Conversations(threads, service.log, Limits(message_bytes=max_size))
    spamd_sockets = service.inherited_sockets()
    socket_paths: list[Path] = []

    def listen_unix(socket_path: Path) -> socket.socket:
        unix_socket = service.listen_unix(socket_path, socket_mode)
        socket_paths.append(socket_path)
        return unix_socket

    try:
        if not spamd_sockets:
            if port is not None or (path is None and http is None):
                spamd_sockets += service.listen_tcp(host, 783 if port is None else port)
            if path is not None:
                spamd_sockets.append(listen_unix(path))
        endpoints = [service.Endpoint("listening", spamd_sockets, SpamdWire())]
        if metrics_port is not None:
            sockets = service.listen_tcp("127.0.0.1", metrics_port, "--metrics-port")
            routes = metrics.metrics_routes(conversations.totals, conversations.latency)
            endpoints.append(service.Endpoint("metrics", sockets, HttpWire(routes)))
        if http:
            sockets = [listen_unix(http_path)] if http_path else service.listen_tcp("127.0.0.1", PORT(http), "--http")
            routes = {**RSPAMD_ROUTES, **metrics.stat_routes(conversations.totals)}
            endpoints.append(service.Endpoint("http", sockets, HttpWire(routes, is_local=http_path is None)))
        asyncio.run(service.run(conversations, endpoints))
    finally:
        for socket_path in socket_paths:
            socket_path.unlink(missing_ok=True)
