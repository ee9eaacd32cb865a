"""What tools for reports send, replayed: each text is answered from declarations, asked, or refused with its reason."""

from __future__ import annotations

import re
import socket
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from discreet.interfaces.wire import Listener
from discreet.interfaces.wire.statements import statements
from discreet.service import ReleaseTimes, Service, Settings
from support.accounts import declared, founded, of_each_role
from support.postgres import connected, running_server
from support.served import Served, in_threads, spent
from support.wire import SYNC, bind, cells, describe, execute, message, parse, parts, query, replies, startup, text

psycopg = pytest.importorskip("psycopg", reason="psycopg isn't installed")

FOLDER = Path(__file__).parents[2] / "fixtures" / "wire"

TOOLS = ("metabase", "superset", "tableau", "powerbi", "dbeaver", "grafana", "excel", "pgadmin", "clients")

CONFIG = declared(
    "visits",
    """
id = { kind = "integer" }
region = { kind = "text", keys = ["east", "north", "west"], nullable = false }
day = { kind = "date", bounds = [2026-01-01, 2026-01-31], nullable = false }
at = { kind = "timestamp", bounds = [2026-01-01T00:00:00, 2026-01-31T23:59:59], nullable = false }
spend = { kind = "real", bounds = [0, 500], nullable = false }
rating = { kind = "integer", bounds = [1, 5], nullable = false }
note = { kind = "text" }
""",
    epsilon=10**9,
)

ROWS = 120


def _data() -> dict[str, list[Any]]:
    """Visits of some weeks, of which none is at a bound."""
    at = [datetime(2026, 1, 2) + timedelta(minutes=340 * n) for n in range(ROWS)]
    return {
        "id": list(range(ROWS)),
        "region": [("east", "north", "west")[n % 3] for n in range(ROWS)],
        "day": [each.date() for each in at],
        "at": at,
        "spend": [(n * 37 % 1999) / 4 for n in range(ROWS)],
        "rating": [1 + n * 7 % 5 for n in range(ROWS)],
        "note": [f"note {n % 9}" for n in range(ROWS)],
    }


class Recorded(NamedTuple):
    """A text that a tool sends.

    Args:
        what: should come of it: `same`, `free`, `asked`, `bounds`, or `refused` with a SQLSTATE.
        sql: the text.
    """

    what: str
    sql: str


def recorded(tool: str) -> list[Recorded]:
    """What a tool sends; each text has its source before it."""
    found: list[Recorded] = []
    sourced = False
    for block in (FOLDER / f"{tool}.sql").read_text(encoding="utf-8").split("\n\n"):
        head, _, sql = block.strip().partition("\n")
        if "-- source: https://" in block:
            sourced = True
        else:
            assert sourced, tool
            what = head.removeprefix("-- ").partition(":")[0]
            assert re.fullmatch(r"same|free|asked|bounds|refused [0-9A-Z]{5}", what), head
            found.append(Recorded(what, sql))
    return found


class Client:
    """Sends texts as simple queries, and reads all that comes back."""

    def __init__(self, port: int, token: str, options: str) -> None:
        """Connect."""
        self._sock = socket.create_connection(("127.0.0.1", port))
        self._sock.sendall(startup(user="ledger", options=options) + message(b"p", text(token)))
        self._read()

    def _read(self) -> bytes:
        found = b""
        while not re.search(rb"Z\x00\x00\x00\x05[ITE]\Z", found):
            part = self._sock.recv(1 << 16)
            assert part, found
            found += part
        return found

    def send(self, sql: str, *, prepares: bool = False) -> Reply:
        """The rows of all statements of a text, and its first error; of one statement, prepared if that is wanted."""
        self._sock.sendall(parse(sql) + bind() + describe() + execute() + SYNC if prepares else query(sql))
        found = list(replies(self._read()))
        return Reply(
            [[each if each is None else each.decode() for each in cells(body)] for kind, body in found if kind == "D"],
            next((parts(body) for kind, body in found if kind == "E"), {}),
            [parts(body).get("M", "") for kind, body in found if kind == "N"],
            next((_names(body) for kind, body in found if kind == "T"), []),
        )

    def close(self) -> None:
        """Leave."""
        self._sock.close()


@dataclass(frozen=True)
class Reply:
    """What a text gives: rows, the parts of an error, notices, and the names of the first columns."""

    rows: list[list[str | None]]
    error: dict[str, str]
    notices: list[str]
    names: list[str]


def _names(body: bytes) -> list[str]:
    """The names in a RowDescription."""
    found, at = list[str](), 2
    while at < len(body):
        end = body.index(b"\0", at)
        found.append(body[at:end].decode())
        at = end + 19
    return found


@dataclass(frozen=True)
class Door:
    """A service of visits, and its port."""

    running: Served
    port: int

    @contextmanager
    def client(self, options: str = "") -> Iterator[Client]:
        """A connection of the analyst's."""
        with closing(Client(self.port, self.running.tokens["analyst"], options)) as found:
            yield found


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """One server for all tools, with so large an offer that an answer's noise is nothing beside its values."""
    folder = tmp_path_factory.mktemp("visits") / "visits"
    with in_threads():
        with founded(folder, CONFIG, _data()) as tables:
            tokens = of_each_role(tables)
        settings = Settings(times=ReleaseTimes(base=0.1, scan=0.1), waiting=2)
        with (
            closing(Service(folder / "discreet.toml", settings)) as service,
            closing(Listener(service, host="127.0.0.1", port=0)) as listener,
        ):
            yield Door(Served(service, folder, tokens), listener.port)


@pytest.fixture(scope="module")
def judge() -> Iterator[Any]:
    """A real server with the same table, whose comments say what is declared here."""
    with running_server(lambda _: ("timezone=UTC",)) as server, connected(server.url) as connection:
        connection.execute("CREATE DATABASE visits ENCODING 'UTF8' TEMPLATE template0")
        with connected(server.url.replace("/postgres?", "/visits?")) as visits:
            visits.execute(
                "CREATE TABLE visits (id bigint, region text NOT NULL, day date NOT NULL, at timestamp NOT NULL,"
                " spend double precision NOT NULL, rating bigint NOT NULL, note text)"
            )
            for column, words in (
                ("region", "keys east, north, west"),
                ("day", "from 2026-01-01 to 2026-01-31"),
                ("at", "from 2026-01-01T00:00:00 to 2026-01-31T23:59:59"),
                ("spend", "from 0 to 500"),
                ("rating", "from 1 to 5"),
            ):
                visits.execute(f"COMMENT ON COLUMN visits.{column} IS '{words}'")
            with visits.cursor().copy("COPY visits FROM STDIN") as copy:
                for row in zip(*_data().values(), strict=True):
                    copy.write_row(row)
            yield visits


def _judged(judge: Any, sql: str) -> tuple[list[str], list[list[str | None]]]:
    """The columns and rows of the last statement with rows, as a real server gives them."""
    answer = judge.pgconn.exec_(sql.encode())
    names = [(answer.fname(column) or b"").decode() for column in range(answer.nfields)]
    rows = [
        [None if (cell := answer.get_value(row, column)) is None else cell.decode() for column in range(answer.nfields)]
        for row in range(answer.ntuples)
    ]
    assert not answer.error_message, answer.error_message
    return names, rows


@pytest.mark.parametrize("tool", TOOLS)
def test_probes_are_answered_from_declarations_for_nothing(door: Door, tool: str) -> None:
    """Without an offer nothing is charged; a question about rows says that it needs one, or why it isn't answered."""
    before = spent(door.running)
    with door.client() as client:
        for what, sql in recorded(tool):
            reply = client.send(sql)
            client.send("ROLLBACK")
            if what in {"same", "free"}:
                assert not reply.error, (sql, reply.error)
                if len(statements(sql)) == 1:  # as pgjdbc, Npgsql and pgx send it
                    again = client.send(sql, prepares=True)
                    assert (again.rows, again.names, again.error) == (reply.rows, reply.names, {}), sql
            elif what in {"asked", "bounds"}:
                assert reply.error["R"] == "offer_required", (sql, reply.error)
            elif "R" in reply.error:
                assert reply.error["C"] in {what.split()[1], "22023"}, (sql, reply.error)
            assert not any("cost ε" in each for each in reply.notices)
    assert spent(door.running) == before


@pytest.mark.parametrize("tool", TOOLS)
def test_recorded_texts_give_what_a_real_server_gives(door: Door, judge: Any, tool: str) -> None:
    """Probes the same rows; questions the same columns and, but for noise, the same values; rows of people nobody's."""
    judge.pgconn.exec_(b"RESET ALL")
    with door.client("-c discreet.epsilon=100000") as client:
        for what, sql in recorded(tool):
            reply = client.send(sql)
            client.send("ROLLBACK")
            if what.startswith("refused"):
                assert reply.error.get("C") == what.split()[1], (sql, reply.error)
                continue
            assert not reply.error, (sql, reply.error)
            if what in {"same", "asked"}:
                names, rows = _judged(judge, sql.replace("close ", "-- close "))
                judge.pgconn.exec_(b"ROLLBACK")
            if what == "same":
                assert (reply.names, sorted(reply.rows, key=repr)) == (names, sorted(rows, key=repr)), sql
            if what == "asked":
                assert reply.names == names, sql
                _check_alike(sql, reply.rows, rows)


def _check_alike(sql: str, found: list[list[str | None]], real: list[list[str | None]]) -> None:
    """Every group that there is has its value; groups that nobody is in may be there as well, with about nothing."""
    ours = [[_value(each) for each in row] for row in found]
    theirs = [[_value(each) for each in row] for row in real]
    assert len(theirs) <= len(ours), sql
    for row in theirs:
        assert any(_is_alike(row, other) for other in ours), (sql, row, ours)


def _value(said: str | None) -> object:
    """A cell as a number, a moment or a text."""
    if said is None:
        return None
    try:
        return float(said)
    except ValueError:
        pass
    try:
        found = datetime.fromisoformat(said)
    except ValueError:
        return said
    return found.replace(tzinfo=None)


def _is_alike(one: list[object], other: list[object]) -> bool:
    """Whether two rows are the same but for noise."""
    return all(
        a == pytest.approx(b, rel=0.01, abs=0.5) if isinstance(a, float) and isinstance(b, float) else a == b
        for a, b in zip(one, other, strict=True)
    )


def _is_refused(client: Client, asked: str) -> None:
    """With an error, and without a row."""
    reply = client.send(asked)
    assert reply.error, asked
    assert not reply.rows


def test_declared_bounds_are_told_on_request_and_said_to_be_no_data(door: Door) -> None:
    """The ends of a slider, with a notice; of a column without bounds, and of some rows, the question is asked."""
    before = spent(door.running)
    (sql,) = (each.sql for each in recorded("tableau") if each.what == "bounds")
    with door.client("-c discreet.metadata_probes=on") as client:
        for asked, row in (
            (sql, ["2026-01-01 00:00:00", "2026-01-31 23:59:59"]),
            ("SELECT min(rating) AS min, max(rating) AS max FROM public.visits LIMIT 1000", ["1", "5"]),
            ("select max(v.rating), min(spend) as least, MIN(day) d from visits as v", ["5", "0", "2026-01-01"]),
        ):
            reply = client.send(asked)
            assert (reply.rows, reply.notices) == ([row], ["declared bounds were told, not data"])
        assert client.send("select max(v.rating) from visits v").names == ["max"]
        for asked in (
            "SELECT MIN(id), MAX(id) FROM visits",
            "SELECT MIN(at) FROM visits WHERE rating = 5",
            "SELECT MIN(at), COUNT(*) FROM visits",
            "SELECT MIN(at) FROM visits GROUP BY region",
            "SELECT MIN(at + rating) FROM visits",
            "SELECT MIN(DISTINCT at) FROM visits, visits",
            "SELECT MAX(at) FROM (SELECT at FROM visits WHERE note = 'x') visits",
        ):
            _is_refused(client, asked)
    assert spent(door.running) == before


def test_columns_of_a_row_are_told_on_request_and_no_row(door: Door) -> None:
    """By which tools learn what columns a query has; whatever isn't a row is asked, or refused, as ever."""
    before = spent(door.running)
    with door.client("-c discreet.metadata_probes=on") as client:
        for asked in (
            "SELECT region, day FROM visits WHERE rating > 2 LIMIT 1",
            "SELECT region, day FROM visits v WHERE v.note = 'note 1' ORDER BY v.id LIMIT 1",
        ):
            reply = client.send(asked)
            assert (reply.names, reply.rows) == (["region", "day"], [])
            assert reply.notices == ["columns were told, and no row"]
        assert client.send("SELECT DISTINCT region FROM visits LIMIT 1").rows == [["east"]]
        for asked in (
            "SELECT region FROM visits LIMIT 2",
            "SELECT COUNT(*) FROM visits LIMIT 1",
            "SELECT n FROM (SELECT COUNT(*) AS n FROM visits) v LIMIT 1",
            "SELECT region FROM visits GROUP BY region HAVING COUNT(*) > 5 LIMIT 1",
            "SELECT region, (SELECT COUNT(*) FROM visits) FROM visits LIMIT 1",
        ):
            _is_refused(client, asked)
    assert spent(door.running) == before


def test_what_costs_nothing_needs_no_offer_and_what_was_paid_for_does(door: Door) -> None:
    """Keys follow from declarations; a stored answer is whose offer it is."""
    asked = "SELECT COUNT(*) FROM visits WHERE rating > 1 AND spend < 400"
    with door.client() as client:
        assert client.send(f"/* discreet.epsilon = 1 */ {asked}").rows
        assert client.send(asked).error["R"] == "offer_required"
        assert client.send("SELECT DISTINCT region FROM visits").rows == [["east"], ["north"], ["west"]]
        assert "nothing is read of the data" in str(client.send("EXPLAIN SELECT DISTINCT region FROM visits").rows)
        assert client.send(f"EXPLAIN {asked}").error["R"] == "offer_required"
        assert client.send("SELECT region AS Region FROM visits GROUP BY 1").names == ["region"]
        assert client.send('SELECT region AS "Region" FROM visits GROUP BY 1').names == ["Region"]
