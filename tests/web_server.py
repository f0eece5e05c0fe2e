"""A web server of the files in a folder, in a thread of this process."""

import re
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any


@contextmanager
def web_server(root: Path, tls: ssl.SSLContext | None = None) -> Iterator[str]:
    """Its URL. It gives parts of files; for those below ``/secret/`` it asks for the password of ann, ``pw``."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self.do_GET()

        def do_GET(self) -> None:
            name = self.path.removeprefix("/secret")
            if name != self.path and self.headers.get("Authorization") != "Basic YW5uOnB3":  # ann:pw
                self.send_error(401)
                return
            path = root / name.lstrip("/")
            if not path.is_file():
                self.send_error(404)
                return
            content = path.read_bytes()
            asked = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
            begin, end = (int(asked[1]), int(asked[2] or len(content)) + 1) if asked else (0, len(content))
            part = content[begin:end]
            self.send_response(206 if asked else 200)
            self.send_header("Accept-Ranges", "bytes")
            self.send_header("Content-Length", str(len(part)))
            if asked:
                self.send_header("Content-Range", f"bytes {begin}-{begin + len(part) - 1}/{len(content)}")
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(part)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    if tls is not None:
        server.socket = tls.wrap_socket(server.socket, server_side=True)
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    yield f"{'https' if tls else 'http'}://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    thread.join()
    server.server_close()
