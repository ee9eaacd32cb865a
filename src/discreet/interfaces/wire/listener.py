"""The listener: takes connections, a thread for each, and no more of them than it can keep."""

from __future__ import annotations

import socket
import ssl
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from threading import Lock, Thread
from time import sleep
from typing import Any

from discreet.errors import InvalidArgument
from discreet.interfaces.wire.catalogue_process import Catalogue
from discreet.interfaces.wire.connection import Connection
from discreet.interfaces.wire.held_rows import HeldRows
from discreet.interfaces.wire.stream import Gone, SocketStream
from discreet.interfaces.wire.unanswered_probes import UnansweredProbes
from discreet.loopback import is_loopback
from discreet.service import Event, Service

_MOST = 400
"""How many connections may be open; each has a thread, which mostly waits."""

_STRANGERS = 64
"""How many of them may be of clients who have shown no token yet; of more, the oldest ends."""

_OWN = 32
"""How many connections one token may have."""

_ALIVE = (("TCP_KEEPIDLE", 60), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 4))
"""After how many seconds without a word TCP asks whether a client is there still, how often, and how many times."""


_FULL = 0.05
"""How many seconds nobody is taken in where the system has no room."""


class Listener:
    """Answers PostgreSQL's protocol at a port, until it is closed.

    Args:
        service: that answers; the caller closes it.
        host: the address to listen at.
        port: the port; 0 for any that is free.
        certificate: a file, for TLS.
        key: the certificate's.

    Attributes:
        port: that is listened at.

    Raises:
        InvalidArgument: nothing can listen there; or tokens would travel over a network in the clear.
    """

    def __init__(
        self, service: Service, *, host: str, port: int, certificate: Path | None = None, key: Path | None = None
    ) -> None:
        if certificate is None and not is_loopback(host):
            raise InvalidArgument(
                f"tokens would travel to {host} in the clear", hint="listen on this machine, or with a certificate"
            )
        self._service = service
        self._tls = None if certificate is None else ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        if self._tls is not None and certificate is not None:
            self._tls.minimum_version = ssl.TLSVersion.TLSv1_2
            self._tls.load_cert_chain(certificate, key)
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        try:
            self._listening = socket.create_server((host, port), family=family, backlog=256)
        except OSError as error:
            raise InvalidArgument(
                f"nothing can listen at {host}:{port}: {error.strerror or error}", hint="choose another one"
            ) from None
        self.port: int = self._listening.getsockname()[1]
        self._lock = Lock()
        self._catalogue: Catalogue | None = None
        self._probes, self._held = UnansweredProbes(service.metrics, service.log), HeldRows()
        self._strangers: dict[SocketStream, None] = {}
        self._open: dict[SocketStream, str] = {}
        self._own: Counter[str] = Counter()
        Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Take no more connections, and end those that are open."""
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        with self._lock:
            streams = list(self._open)
        for stream in streams:
            stream.end()
        if self._catalogue is not None:
            self._catalogue.close()

    def _accept(self) -> None:
        """Take connections until there is nothing to listen at."""
        while True:
            try:
                sock, address = self._listening.accept()
            except OSError:
                if self._listening.fileno() < 0 or self._service.is_stopping:
                    return
                sleep(_FULL)  # there may be no file to be had, and the next one fails at once
                continue
            stream = SocketStream(sock, self._tls)
            try:
                _keep_alive(sock)
                if self._enter(stream):
                    Thread(target=self._serve, args=(stream, str(address[0])), daemon=True).start()
                    continue
            except (OSError, RuntimeError):  # it is gone, or there is no thread to be had
                self._leave(stream)
            stream.close()

    def _enter(self, stream: SocketStream) -> bool:
        """Note a connection, if there is room for one more."""
        with self._lock:
            if len(self._open) >= _MOST:
                return False
            self._open[stream] = ""
            self._strangers[stream] = None
            oldest = next(iter(self._strangers)) if len(self._strangers) > _STRANGERS else None
        if oldest is not None:
            oldest.end()
        return True

    def _serve(self, stream: SocketStream, address: str) -> None:
        """Speak with one client."""
        connection = Connection(
            self._service,
            stream,
            offers_tls=self._tls is not None,
            needs_tls=not is_loopback(address),
            catalogue=self._its_catalogue,
            probes=self._probes,
            held=self._held,
            known=lambda whose: self._know(stream, whose),
            address=address,
        )
        try:
            connection.serve()
        except Gone:
            pass
        except Exception:  # noqa: BLE001 — whatever it is might quote anything; the others go on
            self._service.log.write(Event.DEFECT)
        finally:
            stream.close()
            self._leave(stream)

    def _its_catalogue(self, schema: Mapping[str, Any]) -> Catalogue:
        """The one catalogue of all connections; what is declared stays while a service runs."""
        with self._lock:
            self._catalogue = self._catalogue or Catalogue(schema)
            return self._catalogue

    def _know(self, stream: SocketStream, whose: str) -> bool:
        """Note whose a connection is; whether they may have one more."""
        with self._lock:
            self._strangers.pop(stream, None)
            if self._own[whose] >= _OWN:
                return False
            self._own[whose] += 1
            self._open[stream] = whose
            return True

    def _leave(self, stream: SocketStream) -> None:
        """A connection has ended."""
        with self._lock:
            self._strangers.pop(stream, None)
            whose = self._open.pop(stream, "")
            if whose:
                self._own[whose] -= 1
                if not self._own[whose]:
                    del self._own[whose]


def _keep_alive(sock: socket.socket) -> None:
    """Send what there is at once, and notice when the client is gone."""
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _ALIVE:
        if hasattr(socket, name):
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
