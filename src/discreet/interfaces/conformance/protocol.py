"""Attacks on the protocol: smuggled requests, paths written otherwise, hostile bodies, slow ones, cut connections."""

from __future__ import annotations

import gzip
import json
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from time import monotonic, sleep

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Target
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.conformance.wire import Headers

SLOW = 32
"""How many slow connections are open at once."""

FLOODS = 8
"""How many bodies that take long to read are sent at once."""

_PROMPT = 10.0
"""Within how many seconds a refusal must arrive, even on a busy machine."""

_ENDLESS = 45.0
"""Seconds after which a request that is still being read counts as endless."""

_TRICKLE = 0.25
_EVIL = "evil.example"
_ERRORS = range(400, 500)
_DEFECT = 500
_JSON = ("Content-Type", "application/json")


def smuggling(target: Target, trial: Trial) -> None:
    """Requests that two readers understand in two ways: refused, and what follows them on the connection isn't run."""
    token, host = target.analyst.token, target.wire.host
    other = next((each.token for each in target.holders if each.token != token), f"dsc_{'A' * 43}")
    head = f"Host: {host}\r\nConnection: close\r\n"
    me = f"GET /v1/me HTTP/1.1\r\n{head}Authorization: Bearer {token}\r\n"
    inner = f"0\r\n\r\nGET /v1/me HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n\r\n"
    plans = f"POST /v1/plans HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: text/plain\r\n"
    both = f"Content-Length: {len(inner)}\r\nTransfer-Encoding: chunked\r\n\r\n{inner}"
    for what, text in (
        ("two tokens", f"{me}Authorization: Bearer {other}\r\n\r\n"),
        (
            "two tokens",
            f"GET /v1/me HTTP/1.1\r\n{head}Authorization: Bearer {other}\r\nAuthorization: Bearer {token}\r\n\r\n",
        ),
        ("two hosts", f"{me}Host: {_EVIL}\r\n\r\n"),
        ("two lengths", f"{plans}Content-Length: 5\r\n{both}"),
        ("a length and chunks", f"{plans}{both}"),
        ("chunks and a length", f"{plans}Transfer-Encoding: chunked\r\nContent-Length: {len(inner)}\r\n\r\n{inner}"),
        ("chunks said strangely", f"{plans}Transfer-Encoding: xchunked\r\nContent-Length: {len(inner)}\r\n\r\n{inner}"),
        ("chunks said twice", f"{plans}Transfer-Encoding: identity\r\nTransfer-Encoding: chunked\r\n\r\n{inner}"),
        ("a length with a sign", f"{plans}Content-Length: +5\r\n\r\n{inner}"),
        ("a negative length", f"{plans}Content-Length: -5\r\n\r\n{inner}"),
        ("a space before a colon", f"GET /v1/me HTTP/1.1\r\n{head}Authorization : Bearer {token}\r\n\r\n"),
        ("a null byte in a header", f"{me}X-Null: a\x00b\r\n\r\n"),
        ("a line that goes on in the next", f"GET /v1/me HTTP/1.1\r\n{head}Authorization: Bearer\r\n {token}\r\n\r\n"),
        ("lines that end in a line feed alone", f"{me}\r\n".replace("\r\n", "\n")),
        ("a length said as a list", f"{me}Content-Length: 0, 0\r\n\r\n"),
        ("the same length twice", f"{me}Content-Length: 0\r\nContent-Length: 0\r\n\r\n"),
        ("chunks in HTTP/1.0", f"{me}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".replace("/1.1", "/1.0", 1)),
        ("no host", f"GET /v1/me HTTP/1.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n"),
    ):
        statuses = target.raw(text.encode("latin-1")).statuses
        trial.check(len(statuses) < 2, f"{what}: one request got {len(statuses)} replies")  # noqa: PLR2004 — a second one
        trial.check(all(each in _ERRORS for each in statuses), f"{what}: got {', '.join(map(str, statuses))}")
    for what, text in (
        ("a header without end", f"{me}X-Long: {'a' * 1_000_000}\r\n\r\n"),
        ("headers without end", f"{me}{''.join(f'X-{n}: a{chr(13)}{chr(10)}' for n in range(5000))}\r\n"),
        ("no protocol", "GET /v1/me\r\n\r\n"),
        ("HTTP/2 in clear", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        ("no HTTP", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    ):
        statuses = target.raw(text.encode("latin-1")).statuses
        trial.check(all(each < _DEFECT for each in statuses), f"{what}: the server failed")
    trial.check(target.is_well(), "the server no longer answers")


def paths(target: Target, trial: Trial) -> None:
    """A path written in other ways: what a proxy forbids by its path isn't had by another, nor without a token."""
    plain = target.send("GET", "/v1/me", target.analyst)
    for path in (
        "//v1/me", "/v1//me", "/v1/./me", "/v1/../v1/me", "/v1/x/../me", "/v1/%2e%2e/v1/me", "/v1%2Fme", "/v1%2fme",
        "/v1/me%00", "/v1/me%20", "/v1/me;x", "/v1/me/", "/v1\\me", "/v1%5Cme", "/v1/m%65%", "/V1/ME", "/v1/me%3Fx",
        "/v1/%6De", "/v1/m%65", "/%761/me",
        "/v1/answers/..%2f..%2fv1%2fhistory", "/v1/answers/%2e%2e/history", "/v1/%252e%252e/v1/me", "/v1/me.json",
        "/v1/me%0d%0aX:%20y",
        "/healthz/../v1/me", "/healthz%2f..%2fv1%2fme", "/healthz;/../v1/me",
    ):  # fmt: skip
        for who in (None, target.analyst):
            token = "" if who is None else f"Authorization: Bearer {who.token}\r\n"
            request = f"GET {path} HTTP/1.1\r\nHost: {target.wire.host}\r\n{token}Connection: close\r\n\r\n"
            found = target.raw(request.encode("latin-1"), _PROMPT)
            trial.check(all(each in _ERRORS for each in found.statuses), f"{path} got {found.statuses[:1]}")
            trial.check(plain.body not in found.raw, f"{path} is taken for another path")
            trial.check(b"\nX: y" not in found.raw, f"{path} writes a header")


def bodies(target: Target, trial: Trial) -> None:
    """Bodies that are too large, malformed, nested, numbers without end: refused soon, free of charge, as problems."""
    (question,) = target.questions(1)
    before = len(target.paid())
    _floods(target, trial)
    for hostile in _bodies(question, str(target.offer)):
        for path in ("/v1/plans", "/v1/answers"):
            if path == "/v1/answers":
                target.purse.take(target.offer)
            _refused(target, trial, path, hostile)
    for what, body in _numbers(question):
        _refused(target, trial, "/v1/plans", (what, body, ()))
    trial.check(target.is_well(), "the server no longer answers")
    trial.check(len(target.paid()) == before, "something refused was charged for")


def _floods(target: Target, trial: Trial) -> None:
    """Send bodies that take long to read, several at once: others are answered meanwhile."""
    values = json.dumps({"questions": [0] * 80_000}).encode()
    head = f"POST /v1/plans HTTP/1.1\r\nHost: {target.wire.host}\r\nConnection: close\r\n"
    chunks = f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + b"1\r\n \r\n" * 260_000 + b"0\r\n\r\n"
    for what, send in (
        ("of many values", lambda: target.send("POST", "/v1/workloads/plans", target.analyst, values)),
        ("in chunks of one byte", lambda: target.raw(chunks, target.patience)),
    ):
        worst = 0.0
        with ThreadPoolExecutor(FLOODS) as pool:
            sent = [pool.submit(send) for _ in range(FLOODS)]
            while not all(each.done() for each in sent):
                begun = monotonic()
                target.wire.send("GET", "/healthz")
                worst = max(worst, monotonic() - begun)
                sleep(0.01)
        trial.check(worst < _PROMPT, f"{FLOODS} bodies {what} keep others from being answered")


def _refused(target: Target, trial: Trial, path: str, hostile: tuple[str, bytes, Headers]) -> None:
    """Send a body that must be refused, soon and in the form of a problem."""
    what, body, headers = hostile
    reply = target.send("POST", path, target.analyst, body, headers)
    trial.check(reply.status in {0, *_ERRORS}, f"{what} got {reply.status}")
    trial.check(reply.seconds < _PROMPT, f"{what} took longer than {_PROMPT:g} seconds to refuse")
    kind = reply.header("content-type")
    trial.check(
        not reply.status or kind.startswith("application/problem+json"), f"{what} got a reply that isn't a problem"
    )


def _numbers(question: str) -> Iterator[tuple[str, bytes]]:
    """Offers that aren't numbers, or that nobody means; planned alone, for one that is taken could cost anything."""
    for number in ("NaN", "Infinity", "-Infinity", "1e999", "-1", "0", "9" * 5000, f"1{'0' * 400}"):
        yield f"ε = {number[:12]}", f'{{"question": {json.dumps(question)}, "epsilon": {number}}}'.encode()
    for text in (
        "nan",
        "1e999999999",
        "1e-999999999",
        "0x10",
        "1/0",
        "--1",
        "9" * 100_000,
        "1_0" * 400,
        "١",
        "１",
        "\x00",
    ):
        yield f"ε = {text[:12]!r}", json.dumps({"question": question, "epsilon": text}).encode()


def _bodies(question: str, offer: str) -> Iterator[tuple[str, bytes, Headers]]:
    """Bodies, what they are, and the headers that go with them."""
    asked = {"question": question, "epsilon": offer}
    twice = json.dumps(asked).encode()[:-1]
    for what, body in (
        ("an empty body", b""),
        ("a body that isn't UTF-8", b"\xff\xfe\x00"),
        ("a body that isn't UTF-8", b'{"question": "SELECT \xc3\x28", "epsilon": 1}'),
        ("nested lists", b"[" * 100_000),
        ("nested objects", b'{"question":' * 20_000),
        ("nested limits", b'{"question": "SELECT 1", "limits": ' + b'{"rows":' * 5000 + b"1" + b"}" * 5001),
        ("half a body", json.dumps(asked).encode()[:-5]),
        ("two bodies", json.dumps(asked).encode() * 2),
        ("a list", json.dumps([asked]).encode()),
        ("a text", json.dumps(json.dumps(asked)).encode()),
        ("a name twice", twice + f', "epsilon": "{offer}"}}'.encode()),
        ("a name twice, one of them escaped", twice + f', "eps\\u0069lon": "{offer}"}}'.encode()),
        ("a body in UTF-16", json.dumps(asked).encode("utf-16")),
        ("a body in UTF-32", json.dumps(asked).encode("utf-32-le")),
        ("a body with a byte order mark", json.dumps(asked).encode("utf-8-sig")),
        ("half a character as an approval", json.dumps({**asked, "approval": "\ud800"}).encode()),
        ("a body that is too large", json.dumps({**asked, "question": " " * (1 << 19)}).encode()),
    ):
        yield what, body, ()
    for what, sql in (
        ("64 KiB and one character", f"{question} AND {' ' * 65_536}1=1"),
        ("nested parentheses", question.replace("COUNT(*)", f"{'(' * 5000}COUNT(*){')' * 5000}")),
        ("nested questions", "SELECT * FROM (" * 3000 + question + ") AS q" * 3000),
        ("a null byte", f"{question}\x00"),
        ("a lone surrogate", f"{question} AND '\ud800' = 'a'"),
        ("two statements", f"{question}; DROP TABLE people"),
        ("a file", "SELECT COUNT(*) AS n FROM read_csv('people.csv')"),
        ("a file by name", "SELECT COUNT(*) AS n FROM 'people.csv'"),
        ("an address", "SELECT COUNT(*) AS n FROM 'http://127.0.0.1/x.csv'"),
        ("the catalogue", "SELECT COUNT(*) AS n FROM information_schema.tables"),
        ("a setting", "SELECT COUNT(*) AS n, current_setting('access_mode') AS s FROM duckdb_settings()"),
        ("another database", "ATTACH 'conform.db' AS c"),
    ):
        yield what, json.dumps({**asked, "question": sql}).encode(), ()
    packed = gzip.compress(b" " * (1 << 24))
    for coding in ("gzip", "deflate", "br", "x-conform"):
        yield f"a body in {coding}", packed, [_JSON, ("Content-Encoding", coding)]
    yield "a body that only says to be packed", json.dumps(asked).encode(), [_JSON, ("Content-Encoding", "gzip")]
    for kind in ("text/plain", "application/x-www-form-urlencoded", "text/html", "application/xml"):
        yield f"a body of kind {kind}", f"question={question}&epsilon={offer}".encode(), [("Content-Type", kind)]


def slow(target: Target, trial: Trial) -> None:
    """Requests that never end: while they trickle in, others are answered."""
    token = target.analyst.token
    head = f"POST /v1/plans HTTP/1.1\r\nHost: {target.wire.host}\r\n"
    body = f"{head}Authorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{{"
    with ExitStack() as stack:
        opened: list[socket.socket] = []
        for each in range(SLOW):
            with suppress(OSError):
                connection = stack.enter_context(target.wire.open())
                connection.sendall((head if each % 2 else body).encode())
                opened.append(connection)
        for each in range(4):
            for connection in opened:
                with suppress(OSError):
                    connection.sendall(b" " if each % 2 else b"X")
            reply = target.wire.send("GET", "/healthz")
            begun = monotonic()
            trial.check(reply.status == OK, f"{SLOW} slow requests keep others from being answered")
            trial.check(target.is_well() and monotonic() - begun < _PROMPT, "slow requests make others wait")
            if trial.evidence:
                return
        end = monotonic() + min(target.patience, _ENDLESS)
        ended = sum(_is_ended(connection, end) for connection in opened)
        trial.check(
            ended == len(opened), f"{len(opened) - ended} of {len(opened)} requests that never end are held open"
        )
    trial.check(target.is_well(), "the server no longer answers")


def _is_ended(connection: socket.socket, end: float) -> bool:
    """Whether the server ends a connection until then, on which a byte comes now and then."""
    while monotonic() < end:
        try:
            connection.settimeout(_TRICKLE)
            connection.sendall(b"X")
            if connection.recv(1) in {b"", b"H"}:
                return True
        except TimeoutError:
            continue
        except OSError:
            return True
    return False


def cuts(target: Target, trial: Trial) -> None:
    """A connection that is cut at each step: what was paid for stands, is there again for nothing, and is paid once."""
    (question,) = target.questions(1)
    before, begun = len(target.debits()), len(target.paid())
    body = json.dumps(target.body(question, {})).encode()
    head = (
        f"POST /v1/answers HTTP/1.1\r\nHost: {target.wire.host}\r\nAuthorization: Bearer {target.analyst.token}\r\n"
        f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    ).encode()
    for until in (len(head) // 2, len(head), len(head) + len(body) // 2, len(head) + len(body) - 1):
        _cut(target, (head + body)[:until])
        sleep(0.05)
        trial.check(len(target.paid()) == begun, "half a request was charged for")
    for linger in (0.0, 0.05):
        target.purse.take(target.offer)
        _cut(target, head + body, linger)
    end = monotonic() + target.patience
    while len(target.paid()) == begun and monotonic() < end:
        sleep(0.05)
    if len(target.paid()) == begun:
        raise NotTried("a request whose connection was cut was never carried out")
    first, again = target.rows(target.ask(question)), target.rows(target.ask(question))
    paid = len(target.debits()) - before
    trial.check(first == again, "a retry got another answer")
    trial.check(paid <= 1, f"one question was charged {paid} times over cut connections")
    trial.check(paid >= 1, "what was reserved came back when the connection was cut")


def _cut(target: Target, content: bytes, linger: float = 0.0) -> None:
    """Send bytes, and cut the connection as a crash does: without goodbye."""
    with suppress(OSError), target.wire.open() as connection:
        connection.sendall(content)
        sleep(linger)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\x00\x00\x00\x00\x00\x00\x00")
