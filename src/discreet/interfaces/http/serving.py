"""Serving: a server that stops gracefully, so that what was paid for is answered."""

from __future__ import annotations

import os
from pathlib import Path
from threading import Thread
from time import sleep
from types import FrameType

import uvicorn

from discreet.interfaces.http.app import make_app
from discreet.service import Event, Service

_LINGER = 2.0
"""Seconds between the last answer and the end: who fetches answers by their address still gets them, and whoever
spreads requests over servers sees that this one isn't ready."""

_CLOSING = 5
"""Seconds that a client has to take a reply that is there."""

_KILLED = 1
"""The exit code where answers that were paid for were left behind."""


class _Server(uvicorn.Server):
    """A server that takes no more when it is told to stop, and ends once what was paid for is answered."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        """Keep the service."""
        super().__init__(config)
        self._service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:  # noqa: ARG002 — as a handler of signals is called
        """Begin to stop; the second time, end at once."""
        if self._service.is_stopping:
            self._service.kill()
            os._exit(_KILLED)
        else:
            self._service.stop()  # takes no lock: this runs in the midst of something else
            Thread(target=self._leave, daemon=True).start()

    def _leave(self) -> None:
        """Wait for what was paid for, and end."""
        self._service.log.write(Event.STOPPING)
        if not self._service.drain():
            self._service.kill()
            os._exit(_KILLED)
        sleep(_LINGER)
        self.should_exit = True


def serve(service: Service, *, host: str, port: int, certificate: Path | None = None, key: Path | None = None) -> None:
    """Answer over HTTP until a signal says to stop.

    At the first SIGTERM or SIGINT no more is taken, `/readyz` says no, and questions that only wait are refused, unpaid
    for. Those that were paid for are answered at their release times; then this returns. At the second it ends at once.

    Args:
        service: that answers; whoever made it closes it.
        host: the address to listen at.
        port: the port to listen at; 0 for any that is free.
        certificate: a file, for TLS.
        key: the certificate's.
    """
    config = uvicorn.Config(
        make_app(service),
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_config=None,  # its messages quote requests and tracebacks; `EventLog` says what may be said
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_CLOSING,
    )
    server = _Server(config, service)
    service.log.tame()
    service.log.write(Event.READY)
    server.run()
    service.log.write(Event.STOPPED)


def serve_metrics(service: Service, *, host: str, port: int) -> None:
    """Show the service's metrics at a port of their own, to whoever can reach it."""
    from prometheus_client import start_http_server

    start_http_server(port, host, service.metrics.registry())
