"""Sessions: instances of DuckDB that are shut off, and can read the one source that each is given."""

from __future__ import annotations

import os
import weakref
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Self

from discreet.duckdb.spill import SpillFolder
from discreet.duckdb.sql_text import string
from discreet.errors import EngineUnavailable
from discreet.machine import own_share, usable_memory

SHUT_OFF = {
    "autoinstall_known_extensions": "false",  # nothing is fetched,
    "autoload_known_extensions": "false",  # nor loaded
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",  # nor read from the user's home
    "python_enable_replacements": "false",  # a table name never means a Python variable
}
"""Settings of every instance: it has what is handed to it, and no more."""

_ARRAYS = 18
"""Dense ids of up to this many bits are counted in an array, which is faster than a hash table unless it is sparse. A
part has about as many units."""

_WAITING = 16_384
"""Rows that wait in each thread to be written in pieces. DuckDB's own number is 32 times as many, and they take half a
gigabyte; writing takes no longer.
"""


class Connection:
    """A connection to an instance; what is temporary is its own.

    Args:
        connection: of DuckDB.
    """

    def __init__(self, connection: Any) -> None:  # noqa: ANN401 — DuckDB hands out no types of its own
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Drop what is temporary."""
        self._connection.close()

    def execute(self, sql: str, parameters: Sequence[object] = ()) -> list[tuple[Any, ...]]:
        """Run one statement and fetch all of its rows."""
        found: list[tuple[Any, ...]] = self._connection.execute(sql, parameters).fetchall()
        return found

    def arrow(self, query: str) -> Any:  # noqa: ANN401 — an Arrow table, which has no type stubs
        """Run one query and fetch its rows as an Arrow table."""
        return self._connection.sql(query).to_arrow_table()

    def register(self, view: str, table: object) -> None:
        """Make an Arrow table readable under a name."""
        self._connection.register(view, table)


class Session(Connection):
    """One instance for one question, thrown away with it: a failure can't outlive the question that caused it.

    Guarantee: nothing is installed, loaded or fetched; after `lock`, no file can be opened but those allowed, and no
    setting can be changed. Data that doesn't fit in memory spills into a directory that only this user can read and
    that goes with the session: when it is closed, when nothing holds it any more, or when the process exits.

    Args:
        threads: how many to use; None for the process's share, or one per core.
        memory: bytes before spilling; None for the process's share, or 60 % of what the machine or the container has.
        in_row_order: whether rows stay in the order in which they come, which takes memory.

    Raises:
        EngineUnavailable: DuckDB can't be started. No one's data is open yet, so the cause is passed on.
    """

    def __init__(self, *, threads: int | None = None, memory: int | None = None, in_row_order: bool = False) -> None:
        import duckdb

        try:
            self._spill = SpillFolder()
        except OSError as error:
            raise EngineUnavailable(
                f"there is no place for what doesn't fit in memory: {error}",
                hint="free or allow a temporary directory; the environment's TMPDIR names another",
            ) from error
        own = own_share()
        try:
            super().__init__(
                self._started(threads or own.threads, memory or own.memory or usable_memory(), in_row_order)
            )
            self._end = weakref.finalize(self, _end, self._connection, self._spill, os.getpid())
            _ALL.add(self)
        except BaseException as error:  # Ctrl-C too: no one else knows about the folder
            self._spill.remove()
            if isinstance(error, duckdb.Error | OSError):
                raise EngineUnavailable(
                    f"DuckDB can't be started: {error}", hint="fix what it says; no table was opened for it"
                ) from error
            raise

    def _started(self, threads: int | None, memory: int, in_row_order: bool) -> Any:  # noqa: ANN401 — DuckDB hands out no types of its own
        """A connection to an instance of its own."""
        import duckdb

        settings = {
            **SHUT_OFF,
            # Answers don't depend on the order of rows, so needn't pay for it.
            "preserve_insertion_order": str(in_row_order).lower(),
            "temp_directory": str(self._spill.path),
            "memory_limit": f"{memory}B",
            "partitioned_write_flush_threshold": str(_WAITING),
            **({"threads": str(threads)} if threads else {}),
        }
        connection = duckdb.connect(":memory:", config=settings)
        connection.execute(f"SET GLOBAL perfect_ht_threshold = {_ARRAYS}")  # of every connection
        # In a notebook without ipywidgets there is no bar, and DuckDB refuses to turn it off again.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
            connection.execute("SET enable_progress_bar = false")
        return connection

    def close(self) -> None:
        """Stop the instance and remove what it spilled."""
        self._end()

    def remove_directory(self) -> None:
        """Remove what it spilled, though it may be in use: none of its answers can be relied on any more."""
        self._spill.remove()

    @property
    def is_whole(self) -> bool:
        """Whether its directory is still there; one that isn't touched for days may be swept away."""
        return self._spill.path.is_dir()

    def hold_arrays_to_size(self, aggregates: int) -> None:
        """Let no array take more memory than one of a single aggregate may; before `lock`.

        DuckDB makes them as large as the ids are far apart, in each thread, and counts them towards no limit on memory.
        So one row with an id that is far from the others would tell itself by the memory and the time of a question.

        Args:
            aggregates: at least about half as many as are computed in one pass. For one, a session's arrays are right
                from its start.
        """
        if aggregates > 1:
            self.execute(f"SET GLOBAL perfect_ht_threshold = {max(0, _ARRAYS - (aggregates - 1).bit_length())}")

    def join_as_written(self) -> None:
        """Make joins in the order in which they are written.

        Where several private tables meet, any two of them are equal in the unit, and DuckDB might join two by that
        alone, with as many pairs as the square of one unit's rows. And where keys are looked up before rows are joined
        that have them, it might do so after.
        """
        self.execute("SET disabled_optimizers = 'join_order'")

    def lock(self, *, allowed: Sequence[str] = (), folders: Sequence[str] = ()) -> None:
        """Allow these paths to be read, and all that is or comes to be in these folders; nothing else from here on.

        DuckDB resolves links before it compares paths. The link of a descriptor whose file was replaced resolves to
        nothing, and is then compared as it stands: hence the directory of descriptors is allowed too.
        """
        paths = ", ".join(map(string, allowed))
        links = [path for path in allowed if path.startswith(("/proc/self/fd/", "/dev/fd/"))]
        within = sorted({*(os.path.dirname(path) + "/" for path in links), *(f"{folder}/" for folder in folders)})  # noqa: PTH120 — a Path drops the slash
        if paths:
            self.execute(f"SET allowed_paths = [{paths}]")
        if within:
            self.execute(f"SET allowed_directories = [{', '.join(map(string, within))}]")
        self.execute("SET enable_external_access = false")
        self.execute("SET lock_configuration = true")

    def compute_in_callers(self) -> int:
        """Let each connection compute in the thread that asks it, and in no other; before `lock`.

        Returns:
            How many threads should ask at the same time.
        """
        ((threads,),) = self.execute("SELECT current_setting('threads')")
        self.execute("SET threads = 1")
        return int(threads)

    def connection(self) -> Connection:
        """Another connection to the same instance, for another thread."""
        return Connection(self._connection.cursor())


_ALL: weakref.WeakSet[Session] = weakref.WeakSet()


def remove_directories() -> None:
    """Remove what all sessions of this process spilled, whatever they are doing; for a process that ends at once."""
    for session in list(_ALL):
        session.remove_directory()


def _end(connection: Any, spill: SpillFolder, process: int) -> None:  # noqa: ANN401 — DuckDB's connection
    """Stop an instance and remove what it spilled; in a forked child both are still its parent's."""
    if process == os.getpid():
        connection.close()
        spill.remove()
