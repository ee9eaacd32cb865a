"""Serving: a server that stops gracefully, so that what was paid for is answered, and that nobody holds busy."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from threading import Thread
from time import sleep
from types import FrameType

import uvicorn

from discreet.errors import InvalidArgument
from discreet.interfaces.http.app import make_app
from discreet.interfaces.http.request_heads import StrictHeads
from discreet.service import Event, Service

_LINGER = 2.0
"""Seconds between the last answer and the end: clients that fetch answers by their address still get them, and load
balancers see that this server isn't ready.
"""

_CLOSING = 5
"""How many seconds a client has to read a reply that is ready."""

_CONNECTIONS = 65_536
"""How many files and connections may be open, if the system allows it."""

_SWITCH = 0.001
"""Seconds after which a thread lets others go on: a due reply waits no longer than that behind each."""

_KILLED = 1
"""The exit code if paid answers were left behind."""


class _Server(uvicorn.Server):
    """A server that takes no more when it is told to stop, and ends once what was paid for is answered."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
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


def serve(  # noqa: PLR0913 — what a custodian may say, each by name
    service: Service,
    *,
    host: str,
    port: int,
    certificate: Path | None = None,
    key: Path | None = None,
    behind_proxy: bool = False,
    bound: Callable[[int], None] = lambda _: None,
) -> None:
    """Answer over HTTP until a signal says to stop.

    At the first SIGTERM or SIGINT no more is taken, `/readyz` says no, and questions that only wait are refused, unpaid
    for. Those that were paid for are answered at their release times; then this returns. At the second it ends at once.

    Args:
        service: that answers; the caller closes it.
        host: the address to listen at.
        port: the port to listen at; 0 for any that is free.
        certificate: a file, for TLS.
        key: the certificate's.
        behind_proxy: whether a proxy in front does the TLS, so that sessions never travel without.
        bound: called with the port, once it is listened at.

    Raises:
        InvalidArgument: nothing can listen there.
    """
    config = uvicorn.Config(
        make_app(service, secure=behind_proxy or certificate is not None, behind_proxy=behind_proxy),
        host=host,
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_config=None,  # its messages quote requests and tracebacks; `EventLog` says what may be said
        access_log=False,
        proxy_headers=False,  # else anyone on this machine could claim another address; see `address_of`
        server_header=False,
        http=StrictHeads,
        ws="none",  # where a library for them is installed, it would read heads in its own way
        timeout_graceful_shutdown=_CLOSING,
    )
    listening = _listening(host, port)
    bound(listening.getsockname()[1])
    sys.setswitchinterval(_SWITCH)
    _allow_connections()
    server = _Server(config, service)
    service.log.tame()
    service.log.write(Event.READY)
    server.run([listening])
    service.log.write(Event.STOPPED)
    service.log.flush()


def serve_metrics(service: Service, *, host: str, port: int) -> None:
    """Show the service's metrics at a port of their own, to anyone who can reach it.

    Raises:
        InvalidArgument: nothing can listen there.
    """
    from prometheus_client import start_http_server

    try:
        start_http_server(port, host, service.metrics.registry())
    except OSError as error:
        raise _taken(host, port, error) from None


def _listening(host: str, port: int) -> socket.socket:
    """A socket that listens; made here, so that what is wrong with it can be said, which uvicorn only logs.

    Whom it accepts are sent each part of a reply at once. Otherwise its body waits until its head was acknowledged,
    which takes 40 ms on a connection that is used again. asyncio asks for that only where it made the socket.
    """
    try:
        listening = socket.create_server(
            (host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=2048
        )
    except OSError as error:
        raise _taken(host, port, error) from None
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def _allow_connections() -> None:
    """Allow more connections: strangers who hold many open mustn't keep the ledger from being opened."""
    with suppress(ImportError, OSError, ValueError):  # not on every system
        import resource

        now, most = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(now, min(_CONNECTIONS, most)), most))


def _taken(host: str, port: int, error: OSError) -> InvalidArgument:
    """The error where nothing can listen at an address."""
    return InvalidArgument(f"nothing can listen at {host}:{port}: {error.strerror or error}", hint="choose another one")
