"""Witness: a place elsewhere that keeps signed heads of the ledger, so that what was said once can't be unsaid.

Heads are sent by the clock, whatever happened meanwhile. That tells nobody when an outcome was there: a debit is public
when it is made, and an outcome isn't in the ledger, and so in no head, before a public time, just ahead of its release.

A witness that can't be reached doesn't stop answers, for then it could stop them whenever it likes. The service says
that it is degraded until a head was sent again, and counts what failed; what is spent meanwhile is what a restore from
an old copy would forget.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from contextlib import closing
from threading import Event, Thread
from time import monotonic
from typing import Any
from urllib.parse import urlsplit

from discreet.errors import InvalidArgument, WitnessUnavailable
from discreet.loopback import is_loopback

_PATIENCE = 10.0


class Witness:
    """A place that keeps signed heads.

    Args:
        place: a file to append to, each head on a line of its own; or an address that takes them by POST, as JSON.

    Raises:
        InvalidArgument: it is an address that isn't https, and not on this machine; or it has a user's name in it.
    """

    def __init__(self, place: str) -> None:
        """Keep the place; nothing is sent yet."""
        self.place = place
        self._is_address = "://" in place
        if not self._is_address:
            return
        parts = urlsplit(place)
        is_safe = parts.scheme == "https" or (parts.scheme == "http" and is_loopback(parts.hostname))
        if not is_safe or parts.username is not None:
            raise InvalidArgument(
                "heads can be sent to a file or to an https:// address", hint="https://witness.example/census"
            )

    def send(self, head: Mapping[str, Any]) -> None:
        """Send a head. When this returns, the file is on the disk, or the address has said that it has it.

        Raises:
            WitnessUnavailable: it didn't work.
        """
        line = json.dumps(head, separators=(",", ":")).encode("ascii")
        if self._is_address:
            self._post(line)
        else:
            self._append(line)

    def _append(self, line: bytes) -> None:
        """Append a line, in one piece; after one that was broken off, on a new line."""
        try:
            handle = os.open(self.place, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(handle, "r+b", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(max(0, size - 1))
                is_broken = file.read(1) not in {b"", b"\n"}
                piece = (b"\n" if is_broken else b"") + line + b"\n"
                if file.write(piece) != len(piece):
                    raise WitnessUnavailable("the witness has no room for a head")
                os.fsync(file.fileno())
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise WitnessUnavailable(f"the witness {self.place} can't be written: {reason}") from None

    def _post(self, line: bytes) -> None:
        """Post a head. A redirection isn't followed: it is no promise to keep anything."""
        from http.client import HTTPConnection, HTTPException, HTTPSConnection

        parts = urlsplit(self.place)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        path = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
        try:
            connection = kind(parts.hostname or "", parts.port, timeout=_PATIENCE)
            with closing(connection):
                connection.request("POST", path, line, {"Content-Type": "application/json"})
                status = connection.getresponse().status
        except (OSError, HTTPException, ValueError):  # its text may quote the address, which may hold a secret
            raise WitnessUnavailable("the witness can't be reached") from None
        if not 200 <= status < 300:  # noqa: PLR2004 — what HTTP calls a success
            raise WitnessUnavailable(f"the witness doesn't take heads: it replies {status}")


class Sender:
    """Sends a head by the clock, from a thread of its own; `close` it.

    Args:
        head: gives the ledger's head, signed.
        place: of the witness; empty to send nothing.
        every: seconds between heads, from the start on.

    Attributes:
        failures: how often none could be sent.
        is_behind: whether the last one couldn't.
    """

    def __init__(self, head: Callable[[], Mapping[str, Any]], place: str, every: float) -> None:
        self.failures = 0
        self.is_behind = False
        self._head = head
        self._witness = Witness(place) if place else None
        self._every = every
        self._sent = ""
        self._over = Event()
        self._send()
        self._thread = Thread(target=self._run, daemon=True)
        if place:
            self._thread.start()

    def close(self) -> None:
        """Send the last one, and stop."""
        self._over.set()
        if self._witness is not None:
            self._thread.join()
        self._send()

    def _run(self) -> None:
        """Send at each tick."""
        due = monotonic()
        while True:
            due = max(due + self._every, monotonic())  # what a slow witness took up isn't caught up with
            if self._over.wait(due - monotonic()):
                return
            self._send()

    def _send(self) -> None:
        """Send the head, unless it was sent."""
        if self._witness is None:
            return
        try:
            head = self._head()
            if head["head"] != self._sent:
                self._witness.send(head)
                self._sent = head["head"]
        except Exception:  # noqa: BLE001 — whatever it is, it is counted, and the clock goes on
            self.failures += 1
            self.is_behind = True
        else:
            self.is_behind = False
