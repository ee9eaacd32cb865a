"""The witness: heads that are kept elsewhere, sent by the clock, and missed aloud."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from time import monotonic, sleep
from typing import Any

import pytest

from discreet.errors import InvalidArgument, LedgerUnavailable, WitnessUnavailable
from discreet.results import heads_in
from discreet.service.witness import Sender, Witness


def heads() -> Callable[[], dict[str, Any]]:
    """A ledger that goes on between any two heads."""
    count = iter(range(1, 1_000_000))
    return lambda: {"head": f"{next(count)}"}


def wait_for(condition: Callable[[], bool]) -> None:
    """Wait until something holds, a minute at the most."""
    end = monotonic() + 60
    while not condition():
        assert monotonic() < end
        sleep(0.01)


@contextmanager
def listening(status: int, got: list[bytes], location: str = "") -> Iterator[str]:
    """An address that takes what is posted, and replies with this status."""

    class Handler(BaseHTTPRequestHandler):
        """Takes what is posted."""

        def do_POST(self) -> None:
            """Note it, and reply."""
            got.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(status)
            if location:
                self.send_header("Location", location)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/heads?of=census"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_a_file_gets_one_line_for_each_head(tmp_path: Path) -> None:
    """Also after a line that was broken off; what was there stays, and others can't read it."""
    place = tmp_path / "witnessed"
    for number in range(2):
        Witness(str(place)).send({"entries": number, "word": "ε\n"})
    with place.open("ab") as file:
        file.write(b'{"entries": 7, "he')
    Witness(str(place)).send({"entries": 2})
    kept = heads_in(place.read_text(encoding="ascii"))
    assert [json.loads(each)["entries"] for each in kept] == [0, 1, 2]
    assert place.read_bytes().count(b"\n") == 4
    assert place.stat().st_mode & 0o777 == 0o600


def test_an_address_gets_what_a_file_gets() -> None:
    """By POST; whatever it replies but that it has it is a failure, and it is sent nowhere else."""
    got: list[bytes] = []
    with listening(204, got) as address:
        Witness(address).send({"entries": 1})
    assert json.loads(got.pop()) == {"entries": 1}
    elsewhere: list[bytes] = []
    with listening(200, elsewhere) as other:
        for status in (302, 307, 308, 404, 500):
            with listening(status, got, other) as address, pytest.raises(WitnessUnavailable, match=str(status)):
                Witness(address).send({"entries": 1})
    assert (len(got), elsewhere) == (5, [])


@pytest.mark.parametrize(
    "place",
    [
        "http://witness.example/",
        "ftp://witness.example/",
        "gopher://witness.example/",
        "https://me:pw@witness.example/",
        "http://127.0.0.1.example/",
    ],
)
def test_heads_do_not_travel_in_the_clear(place: str) -> None:
    """But on this machine."""
    with pytest.raises(InvalidArgument, match="https"):
        Witness(place)


@pytest.mark.parametrize("place", ["nowhere/witnessed", ".", "http://127.0.0.1:1/", "https://127.0.0.1:1/s3cret"])
def test_a_witness_that_is_not_there_is_a_typed_error(
    place: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of an address nothing is quoted."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(WitnessUnavailable) as found:
        Witness(place).send({})
    assert "s3cret" not in str(found.value)


def test_heads_are_sent_by_the_clock_until_the_end(tmp_path: Path) -> None:
    """The first at once, the last when it is closed."""
    place = tmp_path / "witnessed"
    sender = Sender(heads(), str(place), 0.01)
    assert len(heads_in(place.read_text())) >= 1
    wait_for(lambda: len(heads_in(place.read_text())) > 3)
    sender.close()
    count = len(heads_in(place.read_text()))
    sleep(0.05)
    assert len(heads_in(place.read_text())) == count
    assert (sender.failures, sender.is_behind) == (0, False)


def test_the_same_head_is_sent_once(tmp_path: Path) -> None:
    """A ledger that nobody uses fills no disk."""
    sender = Sender(lambda: {"head": "a"}, str(tmp_path / "witnessed"), 0.01)
    sleep(0.1)
    sender.close()
    assert len(heads_in((tmp_path / "witnessed").read_text())) == 1


def test_what_is_missed_is_said_and_made_up_for(tmp_path: Path) -> None:
    """While the witness is away, or the ledger can't be read: counted, and behind until a head was sent again."""
    place, is_broken = tmp_path / "folder" / "witnessed", [False]

    def head() -> dict[str, Any]:
        if is_broken[0]:
            raise LedgerUnavailable("it is locked")
        return {"head": f"{monotonic()}"}

    sender = Sender(head, str(place), 0.01)
    assert sender.is_behind
    wait_for(lambda: sender.failures > 2)
    place.parent.mkdir()
    wait_for(lambda: not sender.is_behind)
    is_broken[0], before = True, sender.failures
    wait_for(lambda: sender.is_behind)
    assert sender.failures > before
    is_broken[0] = False
    sender.close()
    assert not sender.is_behind
