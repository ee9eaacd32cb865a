"""psql and psycopg, as analysts have them, over a real service."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from threading import Timer
from time import monotonic
from typing import Any, NamedTuple

import pytest

from discreet.errors import InvalidArgument
from discreet.interfaces.wire import Listener, connection, listener
from discreet.service import Ask
from support.served import Served, outcome, served_in_threads, spent, until
from support.wire import message, parts, query, replies, startup, text

psycopg = pytest.importorskip("psycopg", reason="psycopg isn't installed")


class Door(NamedTuple):
    """A service, and what speaks PostgreSQL's protocol for it at a port."""

    running: Served
    listener: Listener

    @property
    def port(self) -> int:
        """That one."""
        return self.listener.port

    def connect(self, who: str = "analyst", **more: Any) -> Any:
        """A connection of somebody's, with ε = 0.05 for each question unless its options say another."""
        said = {"options": "-c discreet.epsilon=0.05", "autocommit": True, **more}
        return psycopg.connect(
            host="127.0.0.1", port=self.port, user="me", dbname="people", password=self.running.tokens[who], **said
        )


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Door]:
    """One server for all."""
    with (
        served_in_threads(tmp_path_factory.mktemp("wire") / "people") as running,
        closing(Listener(running.service, host="127.0.0.1", port=0)) as found,
    ):
        yield Door(running, found)


def psql(door: Door, script: str, **more: str) -> subprocess.CompletedProcess[str]:
    """What psql says to a script."""
    if shutil.which("psql") is None:
        pytest.skip("psql isn't installed")
    env = {**os.environ, "PGPASSWORD": door.running.tokens["analyst"], "PGSSLMODE": "prefer", **more}
    command = ["psql", "-X", "-At", "-h", "127.0.0.1", "-p", str(door.port), "-U", "me", "-d", "people", "-f", "-"]
    return subprocess.run(command, check=False, input=script, env=env, text=True, capture_output=True, timeout=120)


def test_psql_asks_and_is_told_what_it_cost_and_how_exact_it_is(door: Door) -> None:
    """A question, the same again, a mistake with its place, and without an offer an error that says how to make one."""
    found = psql(
        door,
        "SELECT COUNT(*) AS n FROM people;\n"
        "SET discreet.epsilon = 0.5;\n"
        "SELECT COUNT(*) AS n FROM people;\n"
        "SELECT COUNT(*) AS n FROM people;\n"
        "SELECT k, COUNT(*) FROM people\n  WHERE idd < 5 GROUP BY k;\n"
        "SELECT COUNT(*) FROM nobody;\n"
        "EXPLAIN SELECT COUNT(*) FROM people;\n",
    )
    assert found.returncode == 0
    lines = found.stdout.splitlines()
    assert lines[0] == "SET"
    assert lines[1] == lines[2]
    assert abs(int(lines[1]) - 1000) < 100
    assert any("answered already by entry" in each for each in lines)
    for said in (
        "nothing says what the question may cost",
        "SET discreet.epsilon = 0.5",
        "cost ε = 0.5, entry",
        "cost free: the same answer again",
        "left: ε = ",
        "limits: at most 1 row of each id counts; SET discreet.cut_off = on measures",
        "LINE 2:   WHERE idd < 5",
        "did you mean id?",
        "no table here is called 'nobody'",
    ):
        assert said in found.stderr, found.stderr
    assert door.running.tokens["analyst"] not in found.stdout + found.stderr


def test_a_script_in_psql_ends_where_an_error_is(door: Door) -> None:
    """COPY and a cursor by FETCH_COUNT give what SELECT gives; intervals are columns beside it."""
    found = psql(
        door,
        "\\set ON_ERROR_STOP on\n\\set FETCH_COUNT 1\n"
        "SET discreet.epsilon = 0.5;\n"
        "SELECT k, COUNT(*) AS n FROM people GROUP BY k ORDER BY k;\n"
        "\\copy (SELECT k, COUNT(*) AS n FROM people GROUP BY k ORDER BY k) TO STDOUT WITH CSV\n"
        "\\unset FETCH_COUNT\n"
        "SET discreet.intervals = on;\n"
        "SELECT k, COUNT(*) AS n FROM people GROUP BY k ORDER BY k;\n"
        "SELECT x FROM people;\nSELECT 1;\n",
    )
    assert found.returncode == 3, found.stderr
    _, a, b, a_copied, b_copied, _, *last = found.stdout.splitlines()
    assert [a, b] == [each.replace(",", "|") for each in (a_copied, b_copied)]
    assert all(float(low) <= int(n) <= float(high) for _, n, low, high in (each.split("|") for each in last))


def test_a_driver_prepares_describes_and_has_values_of_its_types(door: Door) -> None:
    """Seven runs of one statement are one debit; text and binary are the same values."""
    question = "SELECT k, COUNT(*) AS n, COUNT(*) > 1 AS some, AVG(id) AS mean FROM people WHERE id < %s GROUP BY k"
    before = spent(door.running)
    with door.connect() as connected:
        notices: list[str] = []
        connected.add_notice_handler(lambda said: notices.append(said.message_primary))
        found = [
            connected.cursor(binary=binary)
            .execute("SELECT k, COUNT(*) AS n FROM people WHERE id < %s GROUP BY k", (n,))
            .fetchall()
            for binary in (False, True)
            for n in [500] * 4
        ]
        assert all(sorted(each) == sorted(found[0]) for each in found)
        assert sum("cost ε" in each for each in notices) == 1
        with pytest.raises(psycopg.Error) as caught:
            connected.execute(question, (500,))
        assert caught.value.diag.sqlstate == "22003"  # the mean of a column without bounds
        assert caught.value.diag.statement_position is not None
        listed = "SELECT COUNT(*) AS n FROM people WHERE id < 500 AND k = ANY(%s)"
        first, again = (
            connected.execute(listed, (["a", "it's \"\\"],), prepare=prepare).fetchone() for prepare in (False, True)
        )
        assert first == again
        for value in (date(2020, 1, 1), datetime(2020, 1, 1, 12), True):
            with pytest.raises(psycopg.errors.DatatypeMismatch):
                connected.execute("SELECT COUNT(*) FROM people WHERE id = %s", (value,))
        for value in ("it's", "'; --", "\\", "ü", None):
            rows = connected.execute("SELECT COUNT(*) FROM people WHERE k = %s", (value,)).fetchall()
            assert rows == [(0,)]  # which is declared, and so free
        assert connected.execute("SELECT COUNT(*) FROM people WHERE id < %s", (Decimal("-1.5"),)).fetchall()
        assert connected.execute("SELECT COUNT(*) FROM people WHERE id < %s", (-1.5,)).fetchall()
    assert float(spent(door.running) - before) == pytest.approx(0.15)


def test_transactions_are_what_drivers_take_them_for(door: Door) -> None:
    """An error within one is followed by 25P02, and a savepoint goes on; nothing is unpaid by a rollback."""
    with door.connect(autocommit=False) as connected:
        connected.execute("SELECT COUNT(*) FROM people WHERE id < 11")
        with pytest.raises(psycopg.errors.UndefinedColumn), connected.transaction():
            connected.execute("SELECT x FROM people")
        connected.execute("SELECT 1")
        with pytest.raises(psycopg.errors.UndefinedFunction):
            connected.execute("SELECT nothing(id) FROM people")
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            connected.execute("SELECT 1")
        connected.rollback()
        with connected.cursor("named") as cursor:
            cursor.execute("SELECT k, COUNT(*) AS n FROM people GROUP BY k")
            assert {each[0] for each in cursor} == {"a", "b"}
    assert spent(door.running)


def test_the_door_has_the_rules_of_the_other(door: Door) -> None:
    """Ceilings, roles and the budget hold, in whatever way an offer is made; an answer over HTTP is free here."""
    with door.connect("bob") as connected:
        for said in ("SET discreet.epsilon = 2", "SET discreet.rho = 2"):
            connected.execute(said)
            with pytest.raises(psycopg.Error) as caught:
                connected.execute("SELECT COUNT(*) FROM people WHERE id < 12")
            assert caught.value.diag.sqlstate in {"42501", "53400"}
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            connected.execute("/* discreet.epsilon = 1.5 */ SELECT COUNT(*) FROM people WHERE id < 12")
    with door.connect("custodian") as connected, pytest.raises(psycopg.errors.InsufficientPrivilege):
        connected.execute("SELECT COUNT(*) FROM people")
    with door.connect() as connected, pytest.raises(psycopg.errors.ConfigurationLimitExceeded):
        connected.execute("/* discreet.epsilon = 500 */ SELECT COUNT(*) FROM people WHERE id < 13")
    ticket = door.running.service.ask(
        door.running.callers["analyst"], Ask("SELECT COUNT(*) AS n FROM people WHERE id < 14", {"epsilon": "1/20"})
    )
    n = outcome(ticket)["answer"]["rows"][0]["n"]
    before = spent(door.running)
    with door.connect() as connected:
        assert connected.execute("SELECT COUNT(*) AS n FROM people WHERE id < 14").fetchone() == (n,)
    assert spent(door.running) == before


def test_who_is_revoked_asks_nothing_more(door: Door) -> None:
    """Not even on a connection that is open."""
    from discreet.service import Role

    service, custodian = door.running.service, door.running.callers["custodian"]
    issued = service.issue(custodian, "carol", Role.ANALYST, days=1)
    said = {"host": "127.0.0.1", "port": door.port, "user": "c", "password": issued.text}
    with closing(psycopg.connect(**said)) as connected, closing(psycopg.connect(**said)) as other:
        connected.execute("SELECT 1")
        service.revoke(custodian, issued.caller.token)
        with pytest.raises(psycopg.OperationalError, match="isn't known here"):
            other.execute("SELECT relname FROM pg_class")
        with pytest.raises(psycopg.OperationalError, match="isn't known here"):
            connected.execute("/* discreet.epsilon = 1 */ SELECT COUNT(*) FROM people")
    with pytest.raises(psycopg.OperationalError, match="isn't known here"):
        psycopg.connect(host="127.0.0.1", port=door.port, user="c", password=issued.text)


def test_a_client_that_goes_or_cancels_pays_all_the_same_and_once(door: Door) -> None:
    """A cancel answers no sooner, and a client that is gone can have its answer when it comes back."""
    before = spent(door.running)
    greeting = startup(user="me") + message(b"p", text(door.running.tokens["analyst"]))
    asked = "/* discreet.epsilon = 0.05 */ SELECT COUNT(*) FROM people WHERE id < 21"
    with closing(socket.create_connection(("127.0.0.1", door.port))) as sock:
        sock.sendall(greeting + query(asked))
        found = b""
        while b"Z\x00\x00\x00\x05I" not in found:
            found += sock.recv(4096)
    (process,) = (body for kind, body in replies(found) if kind == "K")
    with closing(socket.create_connection(("127.0.0.1", door.port))) as sock:
        sock.sendall(b"\x00\x00\x00\x10\x04\xd2\x16\x2e" + process)
        assert sock.recv(1) == b""
    with door.connect() as connected:
        assert connected.execute("SELECT COUNT(*) FROM people WHERE id < 21").fetchone()
        begun, cancel = monotonic(), Timer(0.1, connected.cancel_safe)
        cancel.start()
        assert connected.execute("SELECT COUNT(*) FROM people WHERE id < 22").fetchone()
        assert monotonic() - begun > 0.9  # its plan gives it a second
        cancel.join()
    door.running.settled()
    assert float(spent(door.running) - before) == pytest.approx(0.1)


def test_many_connections_at_once_are_each_answered(door: Door) -> None:
    """25 ask the same, of which one pays; those beyond what a token may have are told so."""
    before = spent(door.running)

    def ask(_: int) -> object:
        with door.connect() as connected:
            return connected.execute("SELECT 1").fetchone()

    with ThreadPoolExecutor(25) as pool:
        assert list(pool.map(ask, range(25))) == [(1,)] * 25
    until(lambda: not door.listener._own)
    with ExitStack() as stack:
        for _ in range(listener._OWN):
            stack.enter_context(door.connect())
        with pytest.raises(psycopg.OperationalError, match="too many of your connections"):
            door.connect()
    assert spent(door.running) == before


def test_strangers_hold_nothing_open(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who says nothing, or too slowly, is let go after a while; and the oldest at once where too many say nothing."""
    monkeypatch.setattr(connection, "_STARTING", 0.2)
    with closing(socket.create_connection(("127.0.0.1", door.port))) as sock:
        sock.sendall(b"\x00\x00")
        sock.settimeout(60)
        assert sock.recv(1) == b""
    monkeypatch.setattr(connection, "_STARTING", 60.0)
    until(lambda: not door.listener._strangers)
    monkeypatch.setattr(listener, "_STRANGERS", 3)
    with ExitStack() as stack:
        held = [stack.enter_context(socket.create_connection(("127.0.0.1", door.port))) for _ in range(4)]
        held[0].settimeout(60)
        assert held[0].recv(1) == b""
        with door.connect() as connected:
            assert connected.execute("SELECT 1").fetchone() == (1,)


def test_a_listener_goes_on_where_the_system_has_no_room(door: Door, monkeypatch: pytest.MonkeyPatch) -> None:
    """A client for whom there is no thread is let go, and the next one is taken."""

    def none(**_: object) -> None:
        raise RuntimeError("can't start new thread")

    until(lambda: not door.listener._open)
    with monkeypatch.context() as patch, closing(socket.socket()) as sock:
        patch.setattr(listener, "Thread", none)
        sock.settimeout(60)
        sock.connect(("127.0.0.1", door.port))
        assert sock.recv(1) == b""
    assert not door.listener._open
    with door.connect() as connected:
        assert connected.execute("SELECT 1").fetchone() == (1,)


@contextmanager
def secured(door: Door, folder: Path) -> Iterator[int]:
    """The same service with TLS."""
    certificate, key = folder / "c.pem", folder / "k.pem"
    make_certificate(certificate, key)
    with closing(Listener(door.running.service, host="127.0.0.1", port=0, certificate=certificate, key=key)) as found:
        yield found.port


def make_certificate(certificate: Path, key: Path) -> None:
    """A certificate of our own for this machine."""
    from datetime import UTC, timedelta

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    own, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(own.public_key())
        .serial_number(1)
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=True)
        .sign(own, hashes.SHA256())
    )
    certificate.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key.write_bytes(
        own.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    key.chmod(0o600)


def test_tokens_travel_over_a_network_under_tls_alone(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client from elsewhere is refused before it is asked for its token; what it sends ahead is no handshake."""
    with pytest.raises(InvalidArgument, match="in the clear"):
        Listener(door.running.service, host="0.0.0.0", port=0)  # noqa: S104 — which is what is refused
    with secured(door, tmp_path) as port:
        said = {"host": "127.0.0.1", "port": port, "user": "me", "password": door.running.tokens["analyst"]}
        monkeypatch.setattr(listener, "is_loopback", lambda _: False)
        with psycopg.connect(**said, sslmode="require") as connected:
            assert connected.execute("SELECT 1").fetchone() == (1,)
        with psycopg.connect(
            **{**said, "host": "localhost"}, hostaddr="127.0.0.1", sslmode="verify-full", sslrootcert=tmp_path / "c.pem"
        ) as connected:
            assert connected.execute("SELECT 1").fetchone() == (1,)
        with pytest.raises(psycopg.OperationalError, match="in the clear"):
            psycopg.connect(**said, sslmode="disable")
        with closing(socket.create_connection(("127.0.0.1", port))) as sock:
            sock.sendall(b"\x00\x00\x00\x08\x04\xd2\x16\x2f" + startup(user="me"))
            sock.settimeout(60)
            found = b""
            while part := sock.recv(4096):
                found += part
            assert found[:1] == b"S"
            assert b"R\x00\x00\x00" not in found  # no password is asked for in the clear
        context = ssl.create_default_context(cafile=tmp_path / "c.pem")
        with closing(socket.create_connection(("127.0.0.1", port))) as sock:
            sock.sendall(b"\x00\x00\x00\x08\x04\xd2\x16\x2f")
            assert sock.recv(1) == b"S"
            with context.wrap_socket(sock, server_hostname="localhost") as under:
                under.sendall(startup(user="me") + message(b"p", text("dsc_" + "x" * 43)))
                found = b""
                while part := under.recv(4096):
                    found += part
            assert parts(list(replies(found))[-1][1])["C"] == "28P01"


@pytest.mark.filterwarnings("ignore:The 'future.infer_string'")  # Ibis asks pandas for it
def test_tools_find_the_tables_and_their_columns(door: Door) -> None:
    """Psql's commands, SQLAlchemy's reflection, pandas and Ibis; all of it free."""
    import ibis
    import pandas as pd
    import sqlalchemy as sa

    before = spent(door.running)
    shown = psql(door, "\\dt\n\\d people\n\\d+ people\n\\l\n\\du\n\\dn\n\\df\n\\di\n\\dv\n\\dT\n\\dp\n\\z\n")
    assert "ERROR" not in shown.stderr, shown.stderr
    for said in ("public|people|table|discreet", "id|bigint|", "k|text|", "keys a, b", "people|discreet|UTF8"):
        assert said in shown.stdout, shown.stdout
    url = sa.URL.create(
        "postgresql+psycopg", "me", door.running.tokens["analyst"], "127.0.0.1", door.port, "people",
        {"options": "-c discreet.epsilon=0.05"},
    )  # fmt: skip
    engine = sa.create_engine(url)
    looked = sa.inspect(engine)
    assert (looked.get_table_names(), looked.has_table("nobody")) == (["people"], False)
    assert [(each["name"], str(each["type"])) for each in looked.get_columns("people")] == [
        ("id", "BIGINT"),
        ("k", "TEXT"),
    ]
    for asked in (
        "get_pk_constraint",
        "get_foreign_keys",
        "get_indexes",
        "get_unique_constraints",
        "get_table_comment",
    ):
        getattr(looked, asked)("people")
    people = sa.Table("people", sa.MetaData(), autoload_with=engine)
    assert spent(door.running) == before
    asked_of = sa.select(people.c.k, sa.func.count().label("n")).where(people.c.id < 31).group_by(people.c.k)
    frame = pd.read_sql(asked_of, engine)
    assert sorted(frame["k"]) == ["a", "b"]
    engine.dispose()
    opened = ibis.postgres.connect(
        host="127.0.0.1", port=door.port, user="me", password=door.running.tokens["analyst"], database="people",
        options="-c discreet.epsilon=0.05",
    )  # fmt: skip
    table = opened.table("people")
    assert opened.list_tables() == ["people"]
    assert str(table.schema()["id"]) == "int64"
    few = table.filter(table.id < 31)
    again = few.group_by("k").agg(n=few.count()).execute()
    assert dict(zip(again["k"], again["n"], strict=True)) == dict(zip(frame["k"], frame["n"], strict=True))
    # What `con.sql` does, which with some versions of sqlglot sends a DROP VIEW without a name.
    for name, sql, columns in (
        ("ibis_x1", "SELECT id, k FROM people WHERE id < 31", {"id": "int64", "k": "string"}),
        ("ibis_x2", "SELECT k, COUNT(*) AS n FROM people GROUP BY k", {"k": "string", "n": "int64"}),
    ):
        with opened.con.cursor() as cursor, opened.con.transaction():
            cursor.execute(f"CREATE TEMPORARY VIEW {name} AS {sql}")
        assert dict(opened.get_schema(name)) == {each: ibis.dtype(kind) for each, kind in columns.items()}
        own = opened.table(name)
        if name == "ibis_x1":
            once_more = own.group_by("k").agg(n=own.count()).execute()
            assert sorted(once_more["n"]) == sorted(frame["n"])
        with opened.con.cursor() as cursor, opened.con.transaction():
            cursor.execute(f"DROP VIEW IF EXISTS {name}")
    assert opened.list_tables() == ["people"]
    opened.disconnect()
    assert float(spent(door.running) - before) == pytest.approx(0.05)


def test_odbc_finds_tables_and_asks(door: Door) -> None:
    """As Excel does: tables, columns, keys and types for nothing; a question, with parameters, is one debit."""
    pyodbc = pytest.importorskip("pyodbc", reason="pyodbc isn't installed", exc_type=ImportError)
    driver = next((each for each in pyodbc.drivers() if each.startswith("PostgreSQL Unicode")), None)
    if driver is None:
        pytest.skip("psqlODBC isn't installed: apt-get install odbc-postgresql")
    before, token = spent(door.running), door.running.tokens["analyst"]
    said = f"DRIVER={{{driver}}};SERVER=127.0.0.1;PORT={door.port};DATABASE=people;UID=me;PWD={token};SSLmode=disable"
    with closing(pyodbc.connect(said, autocommit=True)) as connected:
        cursor = connected.cursor()
        assert [tuple(row)[:4] for row in cursor.tables(tableType="TABLE")] == [("people", "public", "people", "TABLE")]
        assert [(row.column_name, row.type_name) for row in cursor.columns(table="people")] == [
            ("id", "int8"),
            ("k", "text"),
        ]
        assert cursor.primaryKeys(table="people").fetchall() == cursor.foreignKeys(table="people").fetchall() == []
        assert cursor.statistics(table="people").fetchall() == []
        assert len(cursor.getTypeInfo().fetchall()) > 10
        assert cursor.execute("SELECT DISTINCT k FROM people ORDER BY 1").fetchval() == "a"
        assert spent(door.running) == before
        cursor.execute("SET discreet.epsilon = 0.05")
        asked = "SELECT k, COUNT(*) AS n FROM people WHERE id < ? AND k <> ? GROUP BY k ORDER BY k"
        rows = [[tuple(row) for row in cursor.execute(asked, 51, "zz").fetchall()] for _ in range(3)]
        assert rows[0] == rows[1] == rows[2]
        with pytest.raises(pyodbc.Error) as caught:
            cursor.execute("SELECT nothing FROM people")
        assert caught.value.args[0] == "42703"
    assert float(spent(door.running) - before) == pytest.approx(0.05)


@pytest.mark.soak
def test_psql_shows_what_it_shows_of_a_real_server(door: Door) -> None:
    """Of a table with the same columns, and of types and functions that tools ask for."""
    from support.postgres import connected, running_server

    script = (
        "\\d people\n\\d+ people\n\\dv\n\\di\n\\df\n\\dT\n"
        "SELECT table_schema, table_name, column_name, ordinal_position, is_nullable, data_type, numeric_precision"
        " FROM information_schema.columns WHERE table_name = 'people' ORDER BY ordinal_position;\n"
        "SELECT n.nspname, c.relname, c.relkind, c.relnatts, c.relhasindex, c.relpersistence, c.relispartition"
        " FROM pg_catalog.pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
        " WHERE c.relname OPERATOR(pg_catalog.~) '^(people)$' COLLATE pg_catalog.default"
        " AND pg_table_is_visible(c.oid);\n"
        "SELECT attname, atttypid, attlen, attnum, atttypmod, attnotnull, attidentity, format_type(atttypid, atttypmod)"
        " FROM pg_attribute WHERE attrelid = 'public.people'::regclass AND attnum > 0 ORDER BY attnum;\n"
        "SELECT oid, typname, typlen, typtype, typcategory, typarray, typelem FROM pg_type"
        " WHERE typname IN ('int8', '_int8', 'text', 'bool', 'numeric', 'timestamp', 'oid') ORDER BY oid;\n"
        "SELECT current_schema(), current_schemas(true), format_type(1043, -1), quote_ident('a b');\n"
        "SELECT 1 WHERE 'abc' ~ 'b' AND 'abc' !~ '^b' AND 'k' = ANY ('{j,k}'::text[]);\n"
    )
    with running_server() as server:
        with connected(server.url) as connection:
            connection.execute("CREATE TABLE people (id bigint, k text)")
            connection.execute("COMMENT ON COLUMN people.k IS 'keys a, b'")
        command = ["psql", "-X", "-At", "-h", server.folder, "-U", "ledger", "-d", "postgres", "-f", "-"]
        real = subprocess.run(command, check=True, input=script, text=True, capture_output=True, timeout=120)
    assert psql(door, script).stdout.splitlines() == real.stdout.splitlines()


JAVA = """
import java.sql.*;
import java.util.*;

public class Asks {
    static int rows(ResultSet found) throws SQLException { int n = 0; while (found.next()) n++; return n; }

    public static void main(String[] given) throws Exception {
        Properties said = new Properties();
        said.put("user", "me");
        said.put("password", System.getenv("PGPASSWORD"));
        said.put("options", "-c discreet.epsilon=0.05");
        Connection c = DriverManager.getConnection("jdbc:postgresql://127.0.0.1:" + given[0] + "/people", said);
        DatabaseMetaData d = c.getMetaData();
        System.out.print(rows(d.getSchemas()) + " " + rows(d.getTables(null, null, "%", new String[] {"TABLE"})) + " ");
        System.out.print(rows(d.getColumns(null, "public", "people", "%")) + " ");
        for (ResultSet each : List.of(d.getPrimaryKeys(null, "public", "people"), d.getFunctions(null, null, "%"),
                d.getIndexInfo(null, "public", "people", false, true), d.getImportedKeys(null, "public", "people")))
            System.out.print(rows(each) + " ");
        System.out.print((d.getSQLKeywords().length() > 0) + " " + (rows(d.getTypeInfo()) > 9) + " ");
        String asked = "SELECT k, COUNT(*) AS n FROM people WHERE id < ? AND k <> ? GROUP BY k";
        PreparedStatement s = c.prepareStatement(asked);
        System.out.print(s.getMetaData().getColumnTypeName(2) + " ");
        Set<Long> seen = new HashSet<>();
        for (int i = 0; i < 7; i++) {
            s.setInt(1, 41);
            s.setString(2, "zz");
            ResultSet r = s.executeQuery();
            r.next();
            seen.add(r.getLong(2));
        }
        System.out.print(seen.size() + " ");
        try { c.createStatement().executeQuery("SELECT nope FROM people"); }
        catch (SQLException e) { System.out.println(e.getSQLState()); }
    }
}
"""


@pytest.mark.soak
def test_a_driver_of_java_finds_tables_and_asks(door: Door, tmp_path: Path) -> None:
    """Its metadata are there, and seven runs of a prepared statement, the last in binary, are one debit."""
    driver = Path("/usr/share/java/postgresql.jar")  # of Debian's libpostgresql-jdbc-java
    java = shutil.which("java")
    if java is None or not driver.exists():
        pytest.skip("Java, or its driver for PostgreSQL, isn't installed")
    source, before = tmp_path / "Asks.java", spent(door.running)
    source.write_text(JAVA, encoding="utf-8")
    found = subprocess.run(
        [java, "-cp", driver, source, str(door.port)],
        check=True,
        env={**os.environ, "PGPASSWORD": door.running.tokens["analyst"]},
        text=True,
        capture_output=True,
        timeout=300,
    )
    assert found.stdout.split() == ["3", "1", "2", "0", "0", "0", "0", "true", "true", "int8", "1", "42703"], (
        found.stdout
    )
    assert float(spent(door.running) - before) == pytest.approx(0.05)
