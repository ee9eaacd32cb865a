"""An HTTP server of a test's own, in a thread."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_: object) -> None:
        """Say nothing of clients that have had enough."""


@contextmanager
def listening(
    handler: type[BaseHTTPRequestHandler], certificate: Path | None = None, key: Path | None = None
) -> Iterator[int]:
    """It listens on a free port of this machine, which is yielded.

    Args:
        handler: of its requests.
        certificate: a file with it, for TLS.
        key: a file with its key, unless that is in the same one.
    """
    server = _Server(("127.0.0.1", 0), handler)
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
