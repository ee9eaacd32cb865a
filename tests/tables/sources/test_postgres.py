"""Tables of a PostgreSQL server: one moment of them all, each value its own, and nothing told of a row."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import (
    DiscreetError,
    ExtraMissing,
    SchemaMismatch,
    SourceMissing,
    SourceUnsupported,
)
from discreet.tables import Column, Kind, Link, Source, Table
from discreet.tables.admission import admit, describe
from discreet.tables.sources import at_one_moment, open_source, source_of, tables_in
from discreet.tables.sources.postgres import numbers
from support.conformance import ADMISSION
from support.postgres import connected
from support.postgres_sources import Sources, sources

CANARY = "CANARY-4b8d"
"""Is in rows, and must be in no error."""
TRANSACTION = "discreet.tables.sources.postgres_transaction"


@pytest.fixture(scope="module")
def server() -> Sources:
    """The server."""
    return sources()


@pytest.fixture(scope="module")
def database(server: Sources) -> str:
    """A database for all tests that don't need one of their own."""
    return server.new_database()


@pytest.fixture
def run(server: Sources, database: str) -> Iterator[Callable[..., None]]:
    """Runs SQL in a schema `public` that is the test's own."""
    yield partial(server.run, database)
    server.run(database, "DROP SCHEMA public CASCADE; CREATE SCHEMA public; GRANT USAGE ON SCHEMA public TO PUBLIC")


@pytest.fixture
def url(server: Sources, database: str, run: Callable[..., None]) -> str:  # noqa: ARG001 — it empties the database
    """The URL of that database."""
    return server.url(database)


def table(source: Source, *columns: Column, unit: str = "id", name: str = "t", **more: Any) -> Table:
    """A table of a source; its columns are those that it has, but for those that are said."""
    ids = frozenset({unit})
    found = {column.name: column for column in (*describe(source, {}, ids), *columns)}
    given = {"limits": dp.Limits(rows=1_000), **more}
    return Table(name=name, source=source, columns=tuple(found.values()), unit=dp.Unit(unit), **given)


def admitted(*tables: Table, **how: Any) -> list[dict[str, list[Any]]]:
    """The rows of tables that are admitted together, in memory."""
    held = admit(tables, {}, None, **how).tables
    return [each.whole().to_pydict() for each in held.values() if each.data]


def refused(error: type[DiscreetError], call: Callable[[], object]) -> str:
    """The words of a refusal and its hint, to which nothing else is chained."""
    with pytest.raises(error) as refusal:
        call()
    found: BaseException | None = refusal.value
    assert found is not None
    assert (found.__cause__, found.__context__) == (None, None) or found.__suppress_context__
    return f"{refusal.value} {refusal.value.hint}"


# ── One moment ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def written_to(run: Callable[..., None], server: Sources, database: str) -> Iterator[Callable[..., object]]:
    """Two tables to which others write together; called as a progress, it writes to both, and commits."""
    run(
        "CREATE TABLE visits (id int, day int); CREATE TABLE orders (id int, day int)",
        "INSERT INTO visits SELECT n, 0 FROM generate_series(1, 1000) n; INSERT INTO orders SELECT * FROM visits",
    )
    with connected(server.url(database)) as connection:

        def write(*_: object) -> None:
            with connection.transaction():
                connection.execute("DELETE FROM visits WHERE id <= 10; DELETE FROM orders WHERE id <= 10")
                connection.execute("INSERT INTO visits VALUES (7, 1), (8, 1), (9, 1); INSERT INTO orders VALUES (7, 1)")

        yield write


def both(url: str, other: str, write: Callable[..., object]) -> None:
    """Admit both tables while others write.

    Raises:
        AssertionError: they aren't of one moment.
    """
    tables = [table(Source.of(where, table=name), name=name) for where, name in ((url, "visits"), (other, "orders"))]
    visits, orders = admitted(*tables, progress=write)
    assert sorted(visits["id"]) == sorted(orders["id"])
    assert set(visits["day"]) == set(orders["day"]) == {0}


@pytest.mark.parametrize("way", ["one URL", "two URLs"])
def test_tables_of_one_admission_are_of_one_moment(
    way: str, server: Sources, database: str, written_to: Callable[..., object]
) -> None:
    """Whatever is committed meanwhile; also where one database has two names."""
    url = server.url(database)
    both(url, url if way == "one URL" else server.tcp(database), written_to)


@pytest.mark.parametrize("twin", ["read committed", "each its own moment", "each URL its own moment"])
def test_tables_of_several_moments_are_noticed(
    twin: str, server: Sources, database: str, written_to: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three wrong twins of the same admission."""
    url = other = server.url(database)
    match twin:
        case "read committed":
            monkeypatch.setattr(f"{TRANSACTION}._BEGIN", "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED, READ ONLY")
        case "each its own moment":
            monkeypatch.setattr(ADMISSION, "at_one_moment", nullcontext)
        case _:
            other = server.tcp(database)
            begun = f"{TRANSACTION}.Transaction._begin"
            right = getattr(sys.modules[TRANSACTION], "Transaction")._begin  # noqa: B009 — by a name that is typed
            monkeypatch.setattr(begun, lambda self, _: right(self, ()))
    with pytest.raises(AssertionError):
        both(url, other, written_to)


CHANGES = {
    "truncated": ("plain", "TRUNCATE plain; INSERT INTO plain VALUES (7)"),
    "rewritten": ("plain", "ALTER TABLE plain ALTER id TYPE bigint"),
    "below a view": ("seen", "TRUNCATE base"),
    "refreshed": ("copied", "INSERT INTO base VALUES (3); REFRESH MATERIALIZED VIEW copied"),
    "a part more": ("parts", "ALTER TABLE parts ATTACH PARTITION more FOR VALUES IN (3)"),
    "a part less": ("parts", "DROP TABLE one"),
}
"""What no snapshot undoes: the table, and what is done to it."""


@pytest.mark.parametrize(
    ("change", "twin"), [*((each, False) for each in CHANGES), ("truncated", True), ("refreshed", True)]
)
def test_what_a_snapshot_doesnt_see_is_noticed(
    change: str, twin: bool, run: Callable[..., None], url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first row of a table is read; later, others wait. A wrong twin that doesn't look admits the change."""
    run(
        "CREATE TABLE first (id int); INSERT INTO first VALUES (1)",
        "CREATE TABLE plain (id int); INSERT INTO plain VALUES (1), (2); CREATE TABLE base AS SELECT * FROM plain",
        "CREATE VIEW seen AS SELECT * FROM base; CREATE MATERIALIZED VIEW copied AS SELECT * FROM base",
        "CREATE TABLE parts (id int) PARTITION BY LIST (id); CREATE TABLE more AS SELECT 3 AS id",
        "CREATE TABLE one PARTITION OF parts FOR VALUES IN (1); CREATE TABLE two PARTITION OF parts FOR VALUES IN (2)",
        "INSERT INTO parts VALUES (1), (2)",
    )
    name, statement = CHANGES[change]
    tables = [table(Source.of(url, table=each), name=each) for each in ("first", name)]

    def happen(name: str, _: int) -> None:
        if name == "first":
            run(statement)

    if twin:
        monkeypatch.setattr("discreet.tables.sources.postgres.is_replaced", lambda *_: False)
        _, found = admitted(*tables, progress=happen)
        assert sorted(found["id"]) != [1, 2]
    else:
        assert sorted(admitted(*tables)[1]["id"]) == [1, 2]
        told = refused(SourceUnsupported, lambda: admitted(*tables, progress=happen))
        assert "was changed while" in told


def test_what_is_left_out_is_counted_at_the_same_moment(
    run: Callable[..., None], url: str, server: Sources, database: str
) -> None:
    """It is read again for that, while others write."""
    run("CREATE TABLE t (id numeric(9, 2), age int); INSERT INTO t SELECT n, 30 FROM generate_series(1, 500) n")
    run("INSERT INTO t VALUES ('NaN', 31), (NULL, 32)")
    held = table(Source.of(url, table="t"))
    snapshot = admit(
        [held], {}, None, progress=lambda *_: server.run(database, "INSERT INTO t VALUES ('NaN', 33), (1, 34)")
    )
    report = snapshot.report["t"]
    assert (report["rows"], report["left_out"]) == (500, 2)
    assert report["unreadable"] == {"id": 1}


def test_one_moment_within_another_is_the_same(run: Callable[..., None], url: str) -> None:
    """Outside, each source that is opened sees what was committed before."""
    run("CREATE TABLE t (id int)")

    def count() -> int:
        with open_source(Source.of(url)) as opened:
            return sum(map(len, opened.batches(["id"])))

    with at_one_moment():
        assert count() == 0
        run("INSERT INTO t VALUES (1)")
        with at_one_moment():
            assert count() == 0
        assert count() == 0
    assert count() == 1


# ── Connections that are lost ────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def clinic(run: Callable[..., None], url: str, tmp_path: Path) -> Iterator[dp.Protected]:
    """A table that is larger than what waits in buffers, behind an account; one version of it is in force."""
    run(
        "CREATE TABLE visits (id int, note text)",
        f"INSERT INTO visits SELECT n, '{CANARY}' || repeat('x', 900) FROM generate_series(1, 12000) n",
    )
    with dp.protect(
        Source.of(url, table="visits"), name="visits", unit=dp.Unit("id"), limits=dp.Limits(rows=1),
        budget=dp.Budget(epsilon=10**6), ledger=tmp_path / "clinic.ledger",
    ) as protected:  # fmt: skip
        yield protected


def broken_by(monkeypatch: pytest.MonkeyPatch, happen: Callable[[int], object]) -> None:
    """Let something happen to the connection, by the number of its process, once the first rows are read."""
    transaction = sys.modules[TRANSACTION].Transaction
    right = transaction.batches

    def batches(self: Any, *given: str) -> Iterator[pa.RecordBatch]:
        ((process,),) = self.rows("SELECT pg_backend_pid()")
        for number, batch in enumerate(right(self, *given)):
            if number == 0:
                happen(process)
            yield batch

    monkeypatch.setattr(transaction, "batches", batches)


@pytest.mark.parametrize(
    ("function", "words"),
    [("pg_terminate_backend", "connection to .* was lost"), ("pg_cancel_backend", "couldn't go on reading")],
)
def test_a_connection_that_is_lost_leaves_the_old_version(
    function: str, words: str, clinic: dp.Protected, run: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    """In force and answering, with a typed error that tells no row; the next admission goes through."""
    with monkeypatch.context() as patch:
        broken_by(patch, lambda process: run(f"SELECT {function}({process})"))
        told = refused(SourceUnsupported, clinic.refresh)
    assert re.search(words, told)
    assert CANARY not in told
    run("DELETE FROM visits WHERE id > 10")
    assert clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1000).column("n").values == (
        pytest.approx(12_000, abs=5),
    )
    assert clinic.refresh().version == 2
    assert clinic.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1000).column("n").values == (
        pytest.approx(10, abs=5),
    )


@pytest.mark.parametrize(
    "view",
    [
        "SELECT id, note::int AS age FROM visits",
        "SELECT id, 1 / (id - 5) AS age FROM visits",
        "SELECT id, told(note) AS age FROM visits",
    ],
)
def test_a_view_that_fails_tells_no_row(view: str, run: Callable[..., None], url: str, capfd: Any) -> None:
    """PostgreSQL's words quote one; neither they nor a view's own messages are passed on."""
    run(
        "CREATE TABLE visits (id int, note text)",
        f"INSERT INTO visits SELECT n, '{CANARY}' FROM generate_series(1, 10) n",
        "CREATE FUNCTION told(text) RETURNS int LANGUAGE plpgsql AS "
        "$$BEGIN RAISE WARNING '%', $1; RAISE EXCEPTION '%', $1; END$$",
        f"CREATE VIEW t AS {view}",
    )
    held = table(Source.of(url, table="t"))
    told = refused(SourceUnsupported, lambda: admitted(held))
    assert "the server's log" in told
    assert CANARY not in told + "".join(capfd.readouterr())


def test_nothing_is_written(run: Callable[..., None], url: str) -> None:
    """By no view either."""
    run(
        "CREATE TABLE log (id int)",
        "CREATE FUNCTION noted() RETURNS int LANGUAGE sql AS 'INSERT INTO public.log VALUES (1) RETURNING id'",
        "CREATE VIEW t AS SELECT noted() AS id",
    )
    held = table(Source.of(url, table="t"))
    refused(SourceUnsupported, lambda: admitted(held))
    with open_source(Source.of(url, table="log")) as opened:
        assert sum(map(len, opened.batches(["id"]))) == 0


def test_progress_is_told(run: Callable[..., None], url: str) -> None:
    """Batch by batch, in rows."""
    run("CREATE TABLE t (id int, note text)")
    run("INSERT INTO t SELECT n, repeat('x', 1000) FROM generate_series(1, 20000) n")
    seen: list[int] = []
    admitted(table(Source.of(url, table="t")), progress=lambda _, rows: seen.append(rows))
    assert len(seen) > 3
    assert seen == sorted(seen)
    assert seen[-1] == 20_000


# ── Types ────────────────────────────────────────────────────────────────────────────────────────────────────────────

TYPES: dict[str, tuple[pa.DataType, list[Any]]] = {
    "bool": (pa.bool_(), [True, False, None]),
    "int2": (pa.int16(), [1, -32768, None]),
    "int4": (pa.int32(), [1, 2**31 - 1, None]),
    "int8": (pa.int64(), [1, -(2**63), None]),
    "float4": (pa.float32(), [0.5, float("nan"), None]),
    "float8": (pa.float64(), [0.1, float("-inf"), None]),
    "numeric(9, 2)": (pa.decimal128(9, 2), [Decimal("0.50"), Decimal("-9999999.99"), None]),
    "numeric(38, 0)": (pa.decimal128(38, 0), [Decimal(3), Decimal(10**37), None]),
    "numeric(60, 10)": (pa.decimal256(60, 10), [Decimal("0.1000000001"), Decimal(10**40), None]),
    "text": (pa.string(), ["a", "ä\u2028", None]),
    "varchar(5)": (pa.string(), ["a", "", None]),
    "char(5)": (pa.string(), ["a", "bbbbb", None]),
    "uuid": (pa.string(), ["00010203-0405-0607-0809-0a0b0c0d0e0f", "f" * 8 + "-ffff-ffff-ffff-" + "f" * 12, None]),
    "mood": (pa.string(), ["sad", "ok", None]),
    "age": (pa.int32(), [3, 4, None]),
    "date": (pa.date32(), [date(1, 1, 1), date(9999, 12, 31), None]),
    "timestamp": (pa.timestamp("us"), [datetime(1, 1, 1), datetime(2024, 2, 29, 1, 2, 3, 4), None]),
    "timestamptz": (pa.timestamp("us", "UTC"), [datetime(2024, 3, 31, 1), datetime(2024, 10, 27, 1), None]),
}
"""By PostgreSQL's types: the same in Arrow, and values of both."""


def test_each_type_is_read_as_it_is_from_parquet(run: Callable[..., None], url: str, tmp_path: Path) -> None:
    """The same columns, and the same rows in them."""
    run("CREATE TYPE mood AS ENUM ('sad', 'ok')", "CREATE DOMAIN age AS int CHECK (value > 0)")
    run(f"CREATE TABLE t (id int NOT NULL, {', '.join(f'c{n} {kind}' for n, kind in enumerate(TYPES))})")
    ids = pa.field("id", pa.int32(), nullable=False)
    schema = pa.schema([ids, *((f"c{n}", kind) for n, (kind, _) in enumerate(TYPES.values()))])
    rows = list(zip([1, 2, 3], *(cells for _, cells in TYPES.values()), strict=True))
    made = [dict(zip(schema.names, row, strict=True)) for row in rows]
    pq.write_table(pa.Table.from_pylist(made, schema), tmp_path / "t.parquet")
    with connected(url) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.cursor().executemany(f"INSERT INTO t VALUES ({', '.join(['%s'] * len(schema))})", rows)
    there, here = Source.of(url, table="t"), Source.of(tmp_path / "t.parquet")
    assert describe(there, {}) == describe(here, {})
    assert describe(there, {}, frozenset(schema.names)) == describe(here, {}, frozenset(schema.names))
    when = Column(name=f"c{list(TYPES).index('timestamptz')}", kind=Kind.TIMESTAMP, time_zone="Europe/Paris")
    assert admitted(table(there, when)) == admitted(table(here, when))


def test_what_is_equal_there_is_one_id_here(run: Callable[..., None], url: str) -> None:
    """Numbers with more or less zeros behind them, and texts with blanks at their end."""
    run("CREATE TABLE t (id numeric, code char(5)); INSERT INTO t VALUES (1.0, 'a'), (1.00, 'a   '), (1e0, 'a ')")
    run("INSERT INTO t VALUES (10, 'b'), (10.50, 'c'), ('NaN', 'd'), ('Infinity', 'e')")
    source = Source.of(url, table="t")
    (by_number,) = admitted(table(source))
    assert by_number["id"] == ["1", "1", "1", "10", "10.5"]
    (by_code,) = admitted(table(source, unit="code"))
    assert by_code["code"] == ["a", "a", "a", "b", "c", "d", "e"]


@pytest.mark.parametrize("kind", ["email", "text COLLATE folded"])
def test_what_compares_texts_loosely_tells_no_units_apart(kind: str, run: Callable[..., None], url: str) -> None:
    """Of one person there, two would be made here. Elsewhere a text is a text; and a view gives it one spelling."""
    run("CREATE EXTENSION citext", "CREATE DOMAIN email AS citext")
    run("CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)")
    run(f"CREATE TABLE people (id int, mail {kind}); CREATE TABLE visits (id int, mail {kind})")
    run("INSERT INTO people VALUES (1, 'Bob'), (2, 'bob'); INSERT INTO visits VALUES (1, 'BOB')")
    people, visits = (table(Source.of(url, table=name), name=name) for name in ("people", "visits"))
    (plain,) = admitted(people)
    assert plain["mail"] == ["Bob", "bob"]
    linked = replace(visits, unit=None, links=(Link("mail", "people", "mail"),))
    fix = 'lower("mail") COLLATE "C"' if "folded" in kind else 'lower("mail"::text)'
    for wanted in (replace(people, unit=dp.Unit("mail")), linked, people):  # the unit, a link, and where that leads
        told = refused(SchemaMismatch, lambda wanted=wanted: admitted(wanted, among=[people, linked]))
        assert "'mail'" in told
        assert fix in told
    run(f"CREATE VIEW folded AS SELECT id, {fix} AS mail FROM people")
    (found,) = admitted(table(Source.of(url, table="folded"), unit="mail"))
    assert found["mail"] == ["bob", "bob"]


@pytest.mark.parametrize(
    ("kind", "fix"),
    [("int[]", "unnest"), ("jsonb", "->>"), ("bytea", "encode"), ("interval", "extract"), ("money", "::numeric")],
)
def test_a_type_that_cant_be_read_is_refused_by_the_schema(
    kind: str, fix: str, run: Callable[..., None], url: str
) -> None:
    """Naming the column and a way out, whoever wants it; before a row is read."""
    run(f'CREATE TABLE t (id int, "the col" {kind})')
    source = Source.of(url, table="t")
    assert [column.name for column in describe(source, {})] == ["id"]
    wanted = Column(name="the col", kind=Kind.TEXT)
    told = [refused(SchemaMismatch, lambda: admitted(table(source, wanted)))]
    told.append(
        refused(
            SchemaMismatch,
            lambda: dp.protect(
                source, name="t", unit=dp.Unit("id"), columns={"the col": dp.Keys(["a"])}, budget=dp.Budget(epsilon=1)
            ),
        )
    )
    with open_source(source) as opened:
        told.append(refused(SchemaMismatch, lambda: next(opened.batches(["the col"]))))
    for words in told:
        assert "'the col'" in words
        assert fix in words


def test_texts_of_any_encoding(server: Sources) -> None:
    """The server makes UTF-8 of them; where it doesn't know theirs, wrong bytes are replaced, and nobody's id."""
    latin, ascii_ = server.new_database("LATIN1"), server.new_database("SQL_ASCII")
    server.run(latin, "CREATE TABLE t (id int, name text)", "INSERT INTO t VALUES (1, 'é')")
    server.run(ascii_, "CREATE TABLE t (id int, name text)")
    server.run(ascii_, r"INSERT INTO t VALUES (1, E'caf\xe9'), (2, 'café')")
    assert admitted(table(Source.of(server.url(latin)), unit="id")) == [{"id": [1], "name": ["é"]}]
    (found,) = admitted(table(Source.of(server.url(ascii_)), unit="id"))
    assert found["name"] == ["caf\ufffd", "café"]
    (known,) = admitted(table(Source.of(server.url(ascii_)), unit="name"))
    assert known["id"] == [2]


# ── Rights, and what is read ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.fixture
def reader(run: Callable[..., None], server: Sources, database: str) -> Iterator[str]:
    """The URL of a role that may do nothing yet."""
    run("CREATE ROLE reader LOGIN")
    yield server.url(database, user="reader")
    run("DROP OWNED BY reader", "DROP ROLE reader")


def test_a_role_needs_no_more_than_to_read_these_columns(run: Callable[..., None], reader: str) -> None:
    """What it may not read is refused with the grant that is missing, and proposed to nobody."""
    run("CREATE TABLE t (id int, age int, name text); CREATE TABLE other (id int)", "INSERT INTO t VALUES (1, 30, 'x')")
    source = Source.of(reader, table="t")
    assert tables_in(reader) == []
    assert "0 tables" in refused(SourceMissing, lambda: describe(Source.of(reader), {}))
    assert 'GRANT SELECT ON "public"."t"' in refused(SourceUnsupported, lambda: describe(source, {}))
    run("GRANT SELECT (id, age) ON t TO reader")
    assert tables_in(reader) == ["t"]
    assert admitted(table(Source.of(reader))) == [{"id": [1], "age": [30]}]
    wanted = Column(name="name", kind=Kind.TEXT)
    assert 'GRANT SELECT ("name")' in refused(SchemaMismatch, lambda: admitted(table(source, wanted)))


def test_a_right_that_goes_meanwhile_is_named(run: Callable[..., None], reader: str) -> None:
    """Before rows are read."""
    run("CREATE TABLE t (id int)", "GRANT SELECT ON t TO reader")
    with open_source(Source.of(reader)) as opened:
        run("REVOKE SELECT ON t FROM reader")
        assert "may not read" in refused(SourceUnsupported, lambda: next(opened.batches(["id"])))


def test_rows_that_are_hidden_from_a_role_are_left_out_by_nobody(run: Callable[..., None], reader: str) -> None:
    """Neither in a table nor in a view of it."""
    run("CREATE TABLE t (id int); ALTER TABLE t ENABLE ROW LEVEL SECURITY; CREATE POLICY own ON t USING (id < 5)")
    run("GRANT SELECT ON t TO reader", "CREATE VIEW v AS SELECT id FROM t", "ALTER VIEW v OWNER TO reader")
    assert "BYPASSRLS" in refused(SourceUnsupported, lambda: describe(Source.of(reader, table="t"), {}))
    held = table(Source.of(reader, table="v"))
    assert "may not read all rows" in refused(SourceUnsupported, lambda: admitted(held))


def test_views_and_parts_are_read_as_tables_are(run: Callable[..., None], url: str) -> None:
    """Materialized views too. A part may be named, but isn't meant where none is."""
    run(
        "CREATE TABLE t (id int, year int) PARTITION BY LIST (year)",
        "CREATE TABLE t23 PARTITION OF t FOR VALUES IN (2023); CREATE TABLE t24 PARTITION OF t FOR VALUES IN (2024)",
        "INSERT INTO t VALUES (1, 2023), (2, 2024)",
    )
    assert tables_in(url) == ["t"]
    assert admitted(table(Source.of(url)))[0]["id"] == [1, 2]
    assert admitted(table(Source.of(url, table="t24")))[0]["id"] == [2]
    run("CREATE SCHEMA more", "CREATE VIEW more.v AS SELECT * FROM t", "CREATE MATERIALIZED VIEW m AS SELECT * FROM t")
    assert tables_in(url) == ["m", "t", "more.v"]
    for name in ("m", "more.v"):
        assert admitted(table(Source.of(url, table=name)))[0]["id"] == [1, 2]
    run("DROP SCHEMA more CASCADE")


def test_rows_on_another_server_are_of_another_moment(
    run: Callable[..., None], url: str, server: Sources, database: str
) -> None:
    """A foreign table, a table with a foreign part, and views of them; a copy of them is one of here."""
    run(
        "CREATE EXTENSION postgres_fdw",
        f"CREATE SERVER there FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '{server.server.folder}', "
        f"port '{server.port}', dbname '{database}')",
        "CREATE USER MAPPING FOR ledger SERVER there OPTIONS (user 'ledger')",
        "CREATE TABLE base (id int, year int); INSERT INTO base VALUES (1, 2024)",
        "CREATE FOREIGN TABLE far (id int, year int) SERVER there OPTIONS (table_name 'base')",
        "CREATE TABLE whole (id int, year int) PARTITION BY LIST (year)",
        "CREATE FOREIGN TABLE part PARTITION OF whole FOR VALUES IN (2024) SERVER there OPTIONS (table_name 'base')",
        "CREATE VIEW one AS SELECT * FROM whole; CREATE VIEW two AS SELECT * FROM one WHERE id > 0",
        "CREATE MATERIALIZED VIEW copy AS SELECT * FROM two; CREATE VIEW three AS SELECT * FROM copy",
    )
    for name in ("far", "whole", "one", "two"):
        told = refused(SourceUnsupported, lambda name=name: describe(Source.of(url, table=name), {}))
        assert "another server" in told
        assert "MATERIALIZED" in told
    for name in ("copy", "three"):
        assert admitted(table(Source.of(url, table=name)))[0]["id"] == [1]
    run("DROP EXTENSION postgres_fdw CASCADE")


def test_a_url_is_a_source_of_the_table_of_that_name(run: Callable[..., None], url: str, tmp_path: Path) -> None:
    """As a database file is; with others beside it, the name must be there."""
    run("CREATE TABLE visits (id int, age int); INSERT INTO visits SELECT n, 40 FROM generate_series(1, 50) n")
    assert source_of(url, "whatever").table == "visits"
    run("CREATE TABLE orders (id int)")
    assert "it has orders, visits" in refused(SourceMissing, lambda: source_of(url, "whatever"))
    visits = dp.protect(
        url, name="visits", unit=dp.Unit("id"), columns={"age": dp.Bounds(0, 100)}, limits=dp.Limits(rows=1),
        budget=dp.Budget(epsilon=10**6), ledger=tmp_path / "l.ledger",
    )  # fmt: skip
    assert visits.ask("SELECT SUM(age) AS n FROM visits", epsilon=10_000).column("n").values == (
        pytest.approx(2000, abs=1),
    )


# ── The way there ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_service_file_says_where(
    run: Callable[..., None], server: Sources, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also that it is a socket, where nothing is verified; nothing of it stands in the URL."""
    run("CREATE TABLE t (id int); INSERT INTO t VALUES (1)")
    said = f"[clinic]\nhost={server.server.folder}\nport={server.port}\nuser=ledger\ndbname={database}\n"
    (tmp_path / "service.conf").write_text(said, encoding="utf-8")
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service.conf"))
    assert tables_in("postgresql:///?service=clinic") == ["t"]
    monkeypatch.setenv("PGSERVICE", "clinic")
    assert tables_in("postgresql://") == ["t"]


def test_another_machine_is_verified(
    run: Callable[..., None], server: Sources, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As which this one is taken here: by name and authority, whatever the environment says."""
    run("CREATE TABLE t (id int)")
    monkeypatch.setattr("discreet.tables.schema.database_url.is_loopback", lambda _: False)
    monkeypatch.setenv("PGSSLMODE", "disable")
    rooted = f"?sslrootcert={server.authority}"
    assert tables_in(server.tcp(database, rooted)) == ["t"]
    told = refused(SourceUnsupported, lambda: tables_in(server.tcp(database)))
    assert "sslrootcert" in told
    other = server.tcp(database, f"{rooted}&hostaddr=127.0.0.1").replace("@localhost", "@db.example.org")
    assert "db.example.org" in refused(SourceUnsupported, lambda: tables_in(other))


def test_a_password_is_found_where_libpq_looks(
    run: Callable[..., None], server: Sources, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the environment, in its file, and in a service file; without it, the refusal says so."""
    run("CREATE ROLE locked LOGIN PASSWORD 'secret-7'", "CREATE TABLE t (id int)", "GRANT SELECT ON t TO locked")
    url = server.tcp(database, user="locked")
    monkeypatch.setenv("PGPASSFILE", str(tmp_path / "nothing"))
    told = refused(SourceUnsupported, lambda: tables_in(url))
    assert "no password supplied" in told
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSWORD", "secret-7")
        assert tables_in(url) == ["t"]
    for name, words in (("pass", "localhost:*:*:locked:secret-7\n"), ("service", "[s]\npassword=secret-7\n")):
        (tmp_path / name).write_text(words, encoding="utf-8")
        (tmp_path / name).chmod(0o600)
    with monkeypatch.context() as patch:
        patch.setenv("PGPASSFILE", str(tmp_path / "pass"))
        assert tables_in(url) == ["t"]
    monkeypatch.setenv("PGSERVICEFILE", str(tmp_path / "service"))
    assert tables_in(f"{url}?service=s") == ["t"]
    run("DROP OWNED BY locked", "DROP ROLE locked")


def test_a_server_that_isnt_there_is_named(url: str) -> None:
    """With libpq's words, for no row was read yet."""
    for wrong, words in ((url.replace("port=", "port=1"), "can't be reached"), (f"{url}&user=nobody", "twice")):
        with pytest.raises(DiscreetError, match=words):
            tables_in(wrong)
    assert "role" in refused(SourceUnsupported, lambda: tables_in(url.replace("ledger@", "nobody@")))


@pytest.mark.parametrize("module", ["adbc_driver_postgresql", "adbc_driver_manager"])
def test_without_the_driver_the_extra_is_named(module: str, url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever part of it is missing."""
    for each in [name for name in sys.modules if name.startswith("adbc_driver")]:
        monkeypatch.delitem(sys.modules, each)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(ExtraMissing, match="adbc-driver-postgresql") as missing:
        tables_in(url)
    assert missing.value.hint == 'pip install "discreet[postgres]"'


@pytest.mark.parametrize("text", ["1.234", "7" * 37, "7" * 5000])
def test_numbers_that_no_decimal_holds_spoil_no_others(text: str) -> None:
    """As a view may have them that doesn't keep to its own type; whatever their digits, and those of others beside."""
    others = ["9" * 36 + ".99", "-0.50", "1.500", None]
    found, wrong = numbers(pa.array([text, *others]), pa.decimal128(38, 2))
    assert (found.to_pylist(), wrong) == ([None, *(each and Decimal(each) for each in others)], 1)
