"""Streams: the bytes of one client, read with a limit of time, so that nobody holds a thread by sending slowly."""

from __future__ import annotations

import socket
import ssl
from contextlib import suppress
from time import monotonic
from typing import Protocol

_WRITING = 60.0
"""How many seconds a client has to take what is written."""


class Gone(Exception):
    """The client is gone, or too slow; the connection ends."""


class Stream(Protocol):
    """What a connection reads from and writes to."""

    def read(self, size: int, seconds: float) -> bytes:
        """So many bytes, within so many seconds in all.

        Raises:
            Gone: they don't come.
        """
        ...

    def write(self, data: bytes) -> None:
        """Send bytes.

        Raises:
            Gone: nobody takes them.
        """
        ...

    def start_tls(self, seconds: float) -> None:
        """Go on under TLS.

        Raises:
            Gone: the client can't.
        """
        ...


class SocketStream:
    """A stream over a socket.

    Args:
        sock: that was accepted.
        tls: with which TLS is served; None where it isn't.
    """

    def __init__(self, sock: socket.socket, tls: ssl.SSLContext | None) -> None:
        self._socket, self._tls = sock, tls

    def read(self, size: int, seconds: float) -> bytes:
        """So many bytes, within so many seconds in all."""
        found, end = bytearray(), monotonic() + seconds
        try:
            while len(found) < size:
                self._socket.settimeout(max(end - monotonic(), 0.001))
                part = self._socket.recv(min(size - len(found), 65_536))
                if not part or monotonic() > end:
                    raise Gone
                found += part
        except (OSError, ValueError):
            raise Gone from None
        return bytes(found)

    def write(self, data: bytes) -> None:
        """Send bytes, which the client has a minute to take."""
        try:
            self._socket.settimeout(_WRITING)
            self._socket.sendall(data)
        except (OSError, ValueError):
            raise Gone from None

    def start_tls(self, seconds: float) -> None:
        """Go on under TLS. What came with the request in the clear is no handshake, so none of it is taken for more."""
        if self._tls is None:
            raise Gone
        try:
            self._socket.settimeout(seconds)
            self._socket = self._tls.wrap_socket(self._socket, server_side=True, do_handshake_on_connect=False)
            self._socket.do_handshake()
        except (OSError, ValueError):
            raise Gone from None

    def close(self) -> None:
        """End the connection, in the thread whose it is."""
        self.end()
        with suppress(OSError):
            self._socket.close()

    def end(self) -> None:
        """End the connection from any thread: whoever reads or writes hears of it, and closes it.

        A socket of TLS, told so itself, would go on in the clear; and the number of one that is closed while another
        thread uses it may be the next connection's.
        """
        with suppress(OSError):
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
