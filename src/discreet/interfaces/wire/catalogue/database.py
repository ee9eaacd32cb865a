"""The catalogue's database: PostgreSQL's relations, empty but for what is declared, in a DuckDB that is shut off."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from threading import Timer
from types import MappingProxyType
from typing import Any, NamedTuple
from zlib import crc32

from discreet.duckdb.session import SHUT_OFF
from discreet.duckdb.sql_text import name as quoted
from discreet.duckdb.sql_text import string
from discreet.errors import TooMuchPlanning, UnknownColumn, UnknownFunction, UnknownTable, Unsupported
from discreet.interfaces.wire.catalogue.rewriting import OWN_RELATIONS, PG_CLASS, SCHEMAS, TABLE_FUNCTIONS, in_duckdb
from discreet.interfaces.wire.statements import statements

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "b": "BOOLEAN DEFAULT false",
        "h": "SMALLINT DEFAULT 0",
        "i": "INTEGER DEFAULT 0",
        "l": "BIGINT DEFAULT 0",
        "o": "UINTEGER DEFAULT 0",
        "f": "DOUBLE",
        "c": "VARCHAR DEFAULT ''",
        "t": "VARCHAR",
        "z": "TIMESTAMP",
        "H": "SMALLINT[]",
        "O": "UINTEGER[]",
        "T": "VARCHAR[]",
    }
)
"""Columns in DuckDB, by the letters of `relations.txt`."""

_ALIASES = ("regclass", "regtype", "regproc", "regnamespace", "regrole", "name", "xid", "cstring")
"""Types of PostgreSQL that are texts here."""

_KINDS: Mapping[str, tuple[str, int, str, str]] = MappingProxyType(
    {
        "integer": ("BIGINT", 20, "bigint", "int8"),
        "real": ("DOUBLE", 701, "double precision", "float8"),
        "text": ("VARCHAR", 25, "text", "text"),
        "boolean": ("BOOLEAN", 16, "boolean", "bool"),
        "date": ("DATE", 1082, "date", "date"),
        "timestamp": ("TIMESTAMP", 1114, "timestamp without time zone", "timestamp"),
        "decimal": ("DOUBLE", 1700, "numeric", "numeric"),
    }
)
"""Declared kinds: their type in DuckDB, and its OID and names in PostgreSQL."""

_SIZES: Mapping[int, int] = MappingProxyType({20: 8, 701: 8, 16: 1, 1082: 4, 1114: 8})

_PG_CATALOG, _PUBLIC, _INFORMATION, _OWNER = 11, 2200, 13_000, 10
_FIRST_OID = 16_384

MOST_ROWS = 10_000
"""How many rows an answer of the catalogue may have."""

_MOST_CHARACTERS = 4_000_000
"""And how many characters."""

_MEMORY = "256MB"

_SECONDS = 2.0
"""How many seconds a question about the catalogue may take."""

_ALLOWED = {"SELECT", "WITH", "VALUES", "TABLE"}


class Asked(NamedTuple):
    """What is asked of the catalogue.

    Args:
        text: one statement, without parameters.
        user: as whom the client is connected.
        of_catalogue: whether it is about PostgreSQL's relations; else about the columns of declared tables, which stand
            apart from these: whatever names one of them by another way finds nothing, instead of no rows.
        views: of the session that asks, which the text names: the name of each, with its columns and their kinds.
    """

    text: str
    user: str
    of_catalogue: bool = True
    views: Sequence[tuple[str, Sequence[tuple[str, str]]]] = ()


class Found(NamedTuple):
    """What the catalogue says.

    Args:
        columns: each name, with its type in DuckDB.
        rows: of as many values.
    """

    columns: Sequence[tuple[str, str]]
    rows: Sequence[Sequence[Any]]


class Database:
    """A catalogue of declared tables.

    Guarantee: it holds what is public, and no more; no file, no network and no setting is in reach of what is asked,
    which takes two seconds at the most.

    Args:
        schema: what is public of the tables.
        version: what `version()` says.
        settings: PostgreSQL's, by name, as `pg_settings` shows them.
    """

    def __init__(self, schema: Mapping[str, Any], version: str, settings: Mapping[str, str]) -> None:
        import duckdb

        config = {**SHUT_OFF, "threads": "1", "memory_limit": _MEMORY, "temp_directory": ""}
        self._connection, self._declared = (duckdb.connect(":memory:", config=config) for _ in range(2))
        self._declared.execute("CREATE SCHEMA public")
        self._run(f"SET VARIABLE database = {string(str(schema['name']))}")
        self._run(f"SET VARIABLE version = {string(version)}")
        self._database = str(schema["name"])
        self._settings = {name.lower(): string(value) for name, value in settings.items()}
        made = [
            *(f"CREATE SCHEMA {name}" for name in SCHEMAS.values()),
            *(f"CREATE TYPE {name} AS VARCHAR" for name in _ALIASES),
            *(f"CREATE TABLE {relation} ({columns})" for relation, columns in _relations()),
        ]
        self._run(f"BEGIN; {'; '.join(made)}; COMMIT")
        self._fill_types()
        for macro in files("discreet.interfaces.wire.catalogue").joinpath("macros.sql").read_text("utf-8").split(";\n"):
            self._run(macro)
        self._fill(schema, settings)
        columns = (str(column["name"]) for table in schema["tables"] for column in table["columns"])
        self._columns = {name.upper(): quoted(name) for name in columns}
        self._run("SET search_path = 'pgc'")
        self._refused = self._tabular() - TABLE_FUNCTIONS
        self._declared.execute("SET search_path = 'public'")
        for each in (self._connection, self._declared):
            each.execute("SET enable_progress_bar = false")
            each.execute("SET integer_division = true")  # as in PostgreSQL
            each.execute("SET default_null_order = 'nulls_last_on_asc_first_on_desc'")
            each.execute("SET enable_external_access = false")
            each.execute("SET lock_configuration = true")

    def close(self) -> None:
        """Forget it."""
        self._connection.close()
        self._declared.close()

    def ask(self, asked: Asked) -> Found:
        """Ask about the catalogue.

        Args:
            asked: what is asked.

        Raises:
            UnknownTable, UnknownColumn, UnknownFunction: it names what isn't there.
            Unsupported: it is no question, can't be understood or has too many rows.
            TooMuchPlanning: it takes too long.
        """
        import duckdb

        connection = self._connection if asked.of_catalogue else self._declared
        statement, *others = statements(asked.text)
        if others:
            raise Unsupported("the catalogue is asked one question at a time")
        if not {statement.tokens[0].word, statement.tokens[0].text} & (_ALLOWED | {"("}):
            raise Unsupported("the catalogue is only read")
        words = {name: string(asked.user) for name in ("CURRENT_USER", "SESSION_USER", "CURRENT_ROLE")}
        words |= self._settings | {"CURRENT_CATALOG": string(self._database), "CURRENT_SCHEMA": "'public'"}
        words |= {} if asked.of_catalogue else self._columns
        written = in_duckdb(statement, words, self._refused)
        timer = Timer(_SECONDS, connection.interrupt)
        timer.start()
        try:
            parsed = connection.extract_statements(written)
            if len(parsed) != 1 or parsed[0].type != duckdb.StatementType.SELECT:
                raise Unsupported("the catalogue is only read")
            connection.execute("BEGIN")
            for name, columns in asked.views:
                self._fill_view(name, columns)
            connection.execute(parsed[0])
            described = [(str(each[0]), str(each[1])) for each in connection.description or ()]
            rows = connection.fetchmany(MOST_ROWS + 1)
        except duckdb.InterruptException:
            raise TooMuchPlanning(
                "this question about the catalogue takes too long", hint="ask a simpler one"
            ) from None
        except MemoryError:
            raise Unsupported("this answer of the catalogue is too large", hint="ask for less of it") from None
        except duckdb.Error as error:
            raise _refusal(str(error)) from None
        finally:
            timer.cancel()
            with suppress(duckdb.Error):  # there is none where nothing was begun
                connection.rollback()
        if sum(len(str(cell)) for row in rows for cell in row) > _MOST_CHARACTERS:
            raise Unsupported("this answer of the catalogue is too large", hint="ask for less of it")
        if len(rows) > MOST_ROWS:
            raise Unsupported(f"an answer of the catalogue has at most {MOST_ROWS:,} rows", hint="LIMIT")
        return Found(described, rows)

    def _tabular(self) -> frozenset[str]:
        """The functions of DuckDB's that give tables, but those of which the catalogue has its own."""
        found = self._connection.execute(
            "SELECT lower(function_name) FROM duckdb_functions() GROUP BY ALL "
            "HAVING bool_or(function_type IN ('table', 'pragma')) AND NOT bool_or(schema_name = 'pgc')"
        )
        return frozenset(name for (name,) in found.fetchall())

    def _run(self, sql: str, values: Sequence[object] = ()) -> None:
        """Run a statement of our own."""
        self._connection.execute(sql, values)

    def _insert(self, relation: str, **values: object) -> None:
        """Put in a row; columns that aren't named have their defaults."""
        names, marks = ", ".join(f'"{name}"' for name in values), ", ".join("?" for _ in values)
        self._run(f"INSERT INTO {relation} ({names}) VALUES ({marks})", list(values.values()))  # noqa: S608 — our own names

    # ── What is in it ────────────────────────────────────────────────────────────────────────────────────────────────

    def _fill_types(self) -> None:
        """The types of PostgreSQL."""
        names, *rows = _lines("types.txt", comments=True)
        for row in rows:
            said = dict(zip(names, row, strict=True))
            self._insert("pgc.pg_type", **said, typnamespace=_PG_CATALOG, typowner=_OWNER, typisdefined=True)

    def _fill(self, schema: Mapping[str, Any], settings: Mapping[str, str]) -> None:
        """What isn't a table, and then each table."""
        database = self._database
        for oid, name in ((_PG_CATALOG, "pg_catalog"), (_PUBLIC, "public"), (_INFORMATION, "information_schema")):
            self._insert("pgc.pg_namespace", oid=oid, nspname=name, nspowner=_OWNER)
            self._insert("pgi.schemata", catalog_name=database, schema_name=name, schema_owner="discreet")
        self._insert(
            "pgc.pg_database", oid=_FIRST_OID, datname=database, datdba=_OWNER, encoding=6, datallowconn=True,
            datconnlimit=-1, datcollate="C", datctype="C", datlocprovider="c", dattablespace=1663,
        )  # fmt: skip
        self._insert("pgc.pg_roles", oid=_OWNER, rolname="discreet", rolcanlogin=False, rolconnlimit=-1)
        self._insert("pgc.pg_user", usename="discreet", usesysid=_OWNER)
        self._insert("pgc.pg_am", oid=2, amname="heap", amtype="t")
        self._insert("pgc.pg_tablespace", oid=1663, spcname="pg_default", spcowner=_OWNER)
        self._insert("pgi.character_sets", character_set_name="UTF8", character_repertoire="UCS", form_of_use="UTF8")
        for oid, name in OWN_RELATIONS.items():
            self._insert("pgc.pg_class", oid=oid, relname=name, relnamespace=_PG_CATALOG, relowner=_OWNER, relkind="r")
        for oid, name in ((100, "default"), (950, "C")):
            self._insert("pgc.pg_collation", oid=oid, collname=name, collnamespace=_PG_CATALOG, collprovider="c")
        for name, value in settings.items():
            self._insert("pgc.pg_settings", name=name, setting=value, reset_val=value, context="user", vartype="string")
        tables = {
            str(each["name"]): _FIRST_OID + crc32(str(each["name"]).encode()) % 2**31 for each in schema["tables"]
        }
        for table in schema["tables"]:
            self._fill_table(table, tables)

    def _fill_table(self, table: Mapping[str, Any], tables: Mapping[str, int]) -> None:
        """One table, with its columns, what is declared of each, and its links."""
        name, oid, columns = str(table["name"]), tables[str(table["name"])], table["columns"]
        of_columns = ", ".join(f"{quoted(str(each['name']))} {_kind(each)[0]}" for each in columns)
        self._declared.execute(f"CREATE TABLE public.{quoted(name)} ({of_columns})")
        self._insert(
            "pgc.pg_class", oid=oid, relname=name, relnamespace=_PUBLIC, relowner=_OWNER, relam=2, relkind="r",
            relpersistence="p", relreplident="d", relnatts=len(columns), reltuples=-1, relispopulated=True,
        )  # fmt: skip
        self._insert("pgc.pg_tables", schemaname="public", tablename=name, tableowner="discreet")
        self._insert(
            "pgi.tables", table_catalog=self._database, table_schema="public", table_name=name,
            table_type="BASE TABLE", is_insertable_into="NO", is_typed="NO",
        )  # fmt: skip
        self._describe(oid, 0, _of_table(table))
        for number, column in enumerate(columns, start=1):
            self._fill_column(name, oid, number, column)
        numbers = {str(each["name"]): number for number, each in enumerate(columns, start=1)}
        for place, link in enumerate(table["links"]):
            self._fill_link(str(link), place, (name, oid), numbers, tables)

    def _fill_view(self, name: str, columns: Sequence[tuple[str, str]]) -> None:
        """A temporary view of one session, until the transaction ends in which it is asked about."""
        oid = _FIRST_OID + crc32(f"view {name}".encode()) % 2**31
        self._insert(
            "pgc.pg_class", oid=oid, relname=name, relnamespace=_PUBLIC, relowner=_OWNER, relkind="v",
            relpersistence="t", relreplident="n", relnatts=len(columns), reltuples=-1, relispopulated=True,
        )  # fmt: skip
        self._insert(
            "pgi.tables", table_catalog=self._database, table_schema="public", table_name=name, table_type="VIEW",
            is_insertable_into="NO", is_typed="NO",
        )  # fmt: skip
        for number, (column, kind) in enumerate(columns, start=1):
            said = {"name": column, "kind": kind, "nullable": True, "bounds": None, "keys": None}
            self._fill_column(name, oid, number, said)

    def _fill_column(self, table: str, oid: int, number: int, column: Mapping[str, Any]) -> None:
        """One column."""
        name, (_, kind, shown, short) = str(column["name"]), _kind(column)
        self._insert(
            "pgc.pg_attribute", attrelid=oid, attname=name, atttypid=kind, attlen=_SIZES.get(kind, -1),
            attnum=number, atttypmod=-1, attnotnull=not column["nullable"], attislocal=True, attstattarget=-1,
            attcollation=100 if kind == 25 else 0, attstorage="p" if kind in _SIZES else "x", attalign="d",  # noqa: PLR2004 — text
        )  # fmt: skip
        self._insert(
            "pgi.columns", table_catalog=self._database, table_schema="public", table_name=table, column_name=name,
            ordinal_position=number, is_nullable="YES" if column["nullable"] else "NO", data_type=shown,
            udt_catalog=self._database, udt_schema="pg_catalog", udt_name=short, is_identity="NO", is_generated="NEVER",
            is_updatable="NO", numeric_precision={20: 64, 701: 53}.get(kind), dtd_identifier=str(number),
        )  # fmt: skip
        self._describe(oid, number, _of_column(column))

    def _fill_link(
        self, link: str, place: int, table: tuple[str, int], numbers: Mapping[str, int], tables: Mapping[str, int]
    ) -> None:
        """One link, as a foreign key: `customer_id → customers.id`."""
        column, _, target = link.partition(" → ")
        other, _, to = target.rpartition(".")
        if column not in numbers or other not in tables:
            return
        name = f"{table[0]}_{column}_fkey"
        self._insert(
            "pgc.pg_constraint", oid=table[1] + place + 1, conname=name, connamespace=_PUBLIC, contype="f",
            conrelid=table[1], confrelid=tables[other], conkey=[numbers[column]], confkey=[1], convalidated=True,
            confupdtype="a", confdeltype="a", confmatchtype="s",
            conbin=f"FOREIGN KEY ({quoted(column)}) REFERENCES {quoted(other)}({quoted(to)})",
        )  # fmt: skip

    def _describe(self, oid: int, number: int, words: str) -> None:
        """A comment on a table, or on a column of it."""
        if words:
            self._insert("pgc.pg_description", objoid=oid, classoid=PG_CLASS, objsubid=number, description=words)


def _kind(column: Mapping[str, Any]) -> tuple[str, int, str, str]:
    """The types of a column; of a kind that isn't known, those of a text."""
    return _KINDS.get(str(column["kind"]).partition("(")[0], _KINDS["text"])


def _of_table(table: Mapping[str, Any]) -> str:
    """What is declared of a table, in a line."""
    if table["public"]:
        return "public"
    limits = f", of which at most {table['limits']} count" if table["limits"] else ""
    return f"private; one unit is {table['unit']}{limits}" if table["unit"] else "private"


_SHOWN = 10


def _of_column(column: Mapping[str, Any]) -> str:
    """What is declared of a column, in a line."""
    if column["keys"] is not None:
        shown = ", ".join(map(str, column["keys"][:_SHOWN]))
        return f"keys {shown}" + (f" and {len(column['keys']) - _SHOWN} more" if len(column["keys"]) > _SHOWN else "")
    return "" if column["bounds"] is None else f"from {column['bounds'][0]} to {column['bounds'][1]}"


def _lines(name: str, *, comments: bool = False) -> Iterator[list[str]]:
    """The lines of a file beside this one, as words; of its comments only the last, if they are wanted."""
    lines = files("discreet.interfaces.wire.catalogue").joinpath(name).read_text("utf-8").splitlines()
    said = [each for each in lines if each.startswith("# ")]
    if comments:
        yield said[-1].split()[1:]
    yield from (each.split(" ") for each in lines if not each.startswith("#"))


def _relations() -> Iterator[tuple[str, str]]:
    """The relations of the catalogue: the name of each in DuckDB, and its columns."""
    for name, *columns in _lines("relations.txt"):
        schema, _, relation = name.partition(".")
        pairs = [(column, _TYPES[kind]) for column, _, kind in (each.rpartition(":") for each in columns)]
        if schema == "information_schema":  # where what isn't known is NULL
            pairs = [(column, kind.partition(" ")[0]) for column, kind in pairs]
        yield f'{SCHEMAS[schema]}."{relation}"', ", ".join(f'"{column}" {kind}' for column, kind in pairs)


_MISSING = re.compile(r"with name \"?([\w$.]{1,63})|olumn (?:named )?\"([^\"]{1,63})")


def _refusal(said: str) -> Unsupported | UnknownTable | UnknownColumn | UnknownFunction:
    """What DuckDB can't do, in our words; it quotes the question and the catalogue, both of which are public."""
    found = _MISSING.search(said)
    name = (found[1] or found[2]) if found else ""
    if said.startswith("Catalog Error: Table"):
        return UnknownTable(f"the catalogue has no relation {name!r}")
    if said.startswith("Catalog Error") and "Function" in said:
        return UnknownFunction(f"the catalogue has no function {name!r}")
    if "Referenced column" in said or "does not have a column" in said:
        return UnknownColumn(f"the catalogue has no column {name!r}")
    return Unsupported("the catalogue can't answer this", hint="ask for less of it")
