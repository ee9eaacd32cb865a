"""The dialect of SQLAlchemy: `discreet://:TOKEN@gate.example.org?epsilon=0.5`, or `discreet:///discreet.toml`.

It writes SELECTs and nothing else, knows tables from their declarations, and sends nothing of its own: no look at a
catalogue and no ping costs anything.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, nan
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, NoReturn

from sqlalchemy import event, types
from sqlalchemy.engine import default, reflection
from sqlalchemy.exc import ArgumentError, CompileError, NoSuchTableError
from sqlalchemy.sql import compiler

from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from sqlalchemy.engine import URL, Engine

_TYPES: Mapping[str, Callable[[], types.TypeEngine[Any]]] = {
    "integer": types.BigInteger,
    "real": types.Double,
    "text": types.Text,
    "boolean": types.Boolean,
    "date": types.Date,
    "timestamp": types.DateTime,
}
"""The type of each kind of column."""

_KEYS_SHOWN = 10
"""How many keys a comment lists."""

_OF_CONNECT = ("epsilon", "rho", "delta", "within", "intervals", "analyst", "key", "fingerprint")
"""What a URL may say that `connect` takes by the same name, as a text."""

_YES = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}


class _Compiler(compiler.SQLCompiler):
    """Writes SELECTs."""

    def limit_clause(self, select: Any, **kw: Any) -> str:  # noqa: ANN401 — SQLAlchemy's
        """LIMIT and OFFSET, each only where it is."""
        parts = (("LIMIT", select._limit_clause), ("OFFSET", select._offset_clause))  # noqa: SLF001 — as SQLAlchemy's own
        return "".join(f"\n {word} {self.process(clause, **kw)}" for word, clause in parts if clause is not None)

    def visit_insert(self, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401 — SQLAlchemy's
        """Nothing can be written."""
        raise CompileError("tables here can only be asked, so nothing can be inserted, changed or deleted")

    visit_update = visit_delete = visit_insert


class _NoDefinitions(compiler.DDLCompiler):
    """Writes nothing: tables are declared by their custodian."""

    def process(self, *_: Any, **__: Any) -> NoReturn:  # noqa: ANN401 — SQLAlchemy's
        """Nothing can be created, changed or dropped."""
        raise CompileError("tables here are declared by their custodian, so none can be created, changed or dropped")


class _Types(compiler.GenericTypeCompiler):
    """Writes types in casts."""

    def visit_DATETIME(self, type_: Any, **kw: Any) -> str:  # noqa: ANN401, N802, ARG002 — SQLAlchemy's
        """A time without a time zone."""
        return "TIMESTAMP"


class DiscreetDialect(default.DefaultDialect):
    """The dialect: SQL as DuckDB has it, over the DB-API.

    The token is the URL's password, which SQLAlchemy shows to nobody. `discreet+http://` is for a server without TLS,
    on this machine. What a URL says behind `?` are settings, `epsilon` and `intervals` among them; or `token_file`.
    """

    name = "discreet"
    driver = "https"
    default_paramstyle = "qmark"
    supports_statement_cache = True
    supports_native_boolean = True
    supports_native_decimal = True
    supports_alter = False
    supports_comments = True
    supports_default_values = False
    supports_empty_insert = False
    supports_sane_rowcount = False
    supports_sane_multi_rowcount = False
    div_is_floordiv = False
    statement_compiler = _Compiler
    ddl_compiler = _NoDefinitions
    type_compiler_cls = _Types

    @classmethod
    def import_dbapi(cls) -> ModuleType:
        """The DB-API."""
        from discreet import dbapi

        return dbapi

    @classmethod
    def engine_created(cls, engine: Engine) -> None:
        """Let no setting outlive the use of a connection: whoever gets it next pays by what the URL says."""

        def put_back(connection: Any, _record: object) -> None:  # noqa: ANN401 — a connection of the DB-API
            if connection is not None:
                connection.put_back()

        event.listen(engine, "checkin", put_back)

    def create_connect_args(self, url: URL) -> tuple[Sequence[Any], dict[str, Any]]:
        """What `connect` takes, as the URL says it.

        Raises:
            ArgumentError: the token stands where it would be shown, or something is said twice.
        """
        said: dict[str, Any] = {}
        token: str | Path | None
        for name, value in url.query.items():
            if not isinstance(value, str):
                raise ArgumentError(f"the URL says {name} twice")
            said[name] = value
        if url.host is None:
            if url.username or url.password:
                raise ArgumentError("a URL with a token names a server: discreet://:TOKEN@gate.example.org")
            source, token = url.database or "discreet.toml", None
        else:
            if url.password is None and url.username:
                raise ArgumentError(
                    "the token stands behind a colon, where it isn't shown: discreet://:TOKEN@gate.example.org"
                )
            scheme = "http" if url.drivername.endswith("+http") else "https"
            host = f"[{url.host}]" if ":" in url.host else url.host
            port, prefix = f":{url.port}" if url.port else "", f"/{url.database}" if url.database else ""
            source, token = f"{scheme}://{host}{port}{prefix}", url.password
        if (file := said.pop("token_file", None)) is not None:
            token = Path(file)
        arguments = {name: said.pop(name) for name in _OF_CONNECT if name in said}
        if "in_the_clear" in said:
            arguments["in_the_clear"] = _yes("in_the_clear", said.pop("in_the_clear"))
        if "patience" in said:
            arguments["patience"] = _seconds("patience", said.pop("patience"))
        return [source, token], {**arguments, "settings": said}

    def do_ping(self, dbapi_connection: Any) -> bool:  # noqa: ANN401 — a connection of the DB-API
        """Whether it is open: nothing is sent, since each request has a connection of its own below."""
        return not dbapi_connection.is_closed

    def is_disconnect(self, *_: object) -> bool:
        """Never: a server that was gone is asked again by the same connection."""
        return False

    def get_isolation_level_values(self, dbapi_conn: Any) -> Sequence[Any]:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """There are no transactions."""
        return ["AUTOCOMMIT"]

    def get_isolation_level(self, dbapi_connection: Any) -> Any:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """There are no transactions."""
        return "AUTOCOMMIT"

    def set_isolation_level(self, dbapi_connection: Any, level: Any) -> None:  # noqa: ANN401 — SQLAlchemy's
        """There is nothing to set."""

    @reflection.cache
    def get_schema_names(self, connection: Any, **kw: Any) -> list[str]:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """There are none; tables are called by their names."""
        return []

    @reflection.cache
    def get_table_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """The names of all tables, public ones among them."""
        return [table["name"] for table in _tables(connection)] if schema is None else []

    def get_view_names(self, connection: Any, schema: str | None = None, **kw: Any) -> list[str]:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """There are none."""
        return []

    get_temp_table_names = get_temp_view_names = get_materialized_view_names = get_sequence_names = get_view_names

    def has_table(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> bool:  # noqa: ANN401 — SQLAlchemy's
        """Whether there is a table of this name."""
        return table_name in self.get_table_names(connection, schema, **kw)

    def get_columns(
        self,
        connection: Any,  # noqa: ANN401 — SQLAlchemy's
        table_name: str,
        schema: str | None = None,
        **kw: Any,  # noqa: ANN401, ARG002 — SQLAlchemy's
    ) -> list[Any]:
        """The columns of a table, as declared; comments say their bounds or keys."""
        return [
            {
                "name": column["name"],
                "type": _TYPES[column["kind"]](),
                "nullable": column["nullable"],
                "default": None,
                "comment": _comment(column),
            }
            for column in _table(connection, table_name, schema)["columns"]
        ]

    def get_foreign_keys(
        self,
        connection: Any,  # noqa: ANN401 — SQLAlchemy's
        table_name: str,
        schema: str | None = None,
        **kw: Any,  # noqa: ANN401, ARG002 — SQLAlchemy's
    ) -> list[Any]:
        """The links of a table."""
        found = []
        for link in _table(connection, table_name, schema)["links"]:
            own, _, to = link.partition(" → ")
            table, _, column = to.rpartition(".")
            found.append(
                {
                    "name": None,
                    "constrained_columns": [own],
                    "referred_schema": None,
                    "referred_table": table,
                    "referred_columns": [column],
                    "options": {},
                }
            )
        return found

    def get_pk_constraint(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """None is declared: what names a unit may do so in many rows."""
        _table(connection, table_name, schema)
        return {"name": None, "constrained_columns": []}

    def get_indexes(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> list[Any]:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """There are none."""
        _table(connection, table_name, schema)
        return []

    get_unique_constraints = get_check_constraints = get_indexes

    def get_table_comment(self, connection: Any, table_name: str, schema: str | None = None, **kw: Any) -> Any:  # noqa: ANN401, ARG002 — SQLAlchemy's
        """Whether a table is public; or whose presence in it is hidden, and how much of each counts."""
        table = _table(connection, table_name, schema)
        if table["public"]:
            return {"text": "public"}
        limits = f"; limits: {table['limits']}" if table["limits"] else ""
        return {"text": f"private; unit: {table['unit'] or 'row'}{limits}"}


def _tables(connection: Any) -> Sequence[Mapping[str, Any]]:  # noqa: ANN401 — SQLAlchemy's
    """The declarations of tables."""
    tables: Sequence[Mapping[str, Any]] = connection.connection.dbapi_connection.schema["tables"]
    return tables


def _table(connection: Any, name: str, schema: str | None) -> Mapping[str, Any]:  # noqa: ANN401 — SQLAlchemy's
    """One of them.

    Raises:
        NoSuchTableError: there is none of that name.
    """
    found = next((each for each in _tables(connection) if each["name"] == name and schema is None), None)
    if found is None:
        raise NoSuchTableError(name)
    return found


def _comment(column: Mapping[str, Any]) -> str | None:
    """The bounds or keys of a column, in words."""
    keys, bounds = column["keys"], column["bounds"]
    if keys is not None:
        more = f" and {len(keys) - _KEYS_SHOWN:,} more" if keys[_KEYS_SHOWN:] else ""
        return f"keys: {', '.join(map(str, keys[:_KEYS_SHOWN]))}{more}"
    return None if bounds is None else f"bounds: {bounds[0]} to {bounds[1]}"


def _yes(name: str, text: str) -> bool:
    """Yes or no.

    Raises:
        InvalidArgument: it is neither.
    """
    if (found := _YES.get(text.lower())) is None:
        raise InvalidArgument(f"{name} is on or off", hint=f"{name}=on")
    return found


def _seconds(name: str, text: str) -> float:
    """A number of seconds.

    Raises:
        InvalidArgument: it is none.
    """
    try:
        found = float(text)
    except ValueError:
        found = nan
    if not 0 <= found < inf:
        raise InvalidArgument(f"{name} is a number of seconds", hint=f"{name}=30")
    return found
