"""DuckDB as it is used here: instances that are shut off, and the SQL text of names and constants.

An instance can read the one source it is given, and nothing else. What doesn't fit in memory goes to a spill folder,
and that goes with its session. A process that is killed removes nothing; so each folder is locked for as long as the
process that made it lives, and whoever serves sweeps away those of this user's that nobody holds.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
import weakref
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from time import time
from types import TracebackType
from typing import Any, Self

from discreet.errors import EngineUnavailable

_PREFIX = "discreet-spill-"

_SETTLING = 60.0
"""Seconds in which a folder may have been made and not yet be locked."""


class SpillFolder:
    """A new folder that only this user can read, locked until it is removed or this process ends.

    Raises:
        OSError: none can be made.
    """

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self._held = _locked(self.path)

    def remove(self) -> None:
        """Remove it, with what it holds, though it may be in use."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._held is not None:
            os.close(self._held)
            self._held = None


def sweep(gone: int | None = None) -> None:
    """Remove the spill folders that processes left behind which were killed.

    Only folders of this user's, and no links: whoever else may write to the folder of temporary files can have nothing
    removed that isn't ours. A folder whose process lives is locked, also one in another container.

    Args:
        gone: the number of a process that has ended, whose folders go at once; others' go after a minute.
    """
    for path in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        with suppress(OSError):
            found = path.lstat()
            is_gone = gone is not None and path.name.startswith(f"{_PREFIX}{gone}-")
            if not _is_own(found) or not (is_gone or time() - found.st_mtime > _SETTLING):
                continue
            held = _locked(path)
            if held is not None:
                try:
                    if os.path.samestat(os.fstat(held), found):
                        shutil.rmtree(path, ignore_errors=True)  # follows no links, and none can be put in its place
                finally:
                    os.close(held)


def _is_own(found: os.stat_result) -> bool:
    """Whether it is a folder of this user's."""
    return stat.S_ISDIR(found.st_mode) and hasattr(os, "geteuid") and found.st_uid == os.geteuid()


def _locked(path: Path) -> int | None:
    """A descriptor that holds a folder's lock; None if another holds it, or the system has no such locks."""
    try:
        import fcntl
    except ImportError:
        return None
    held = None
    try:
        held = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        if held is not None:
            os.close(held)
        return None
    return held


SHUT_OFF = {
    "autoinstall_known_extensions": "false",  # nothing is fetched,
    "autoload_known_extensions": "false",  # nor loaded
    "allow_community_extensions": "false",
    "allow_persistent_secrets": "false",  # nor read from the user's home
    "python_enable_replacements": "false",  # a table name never means a Python variable
}
"""Settings of every instance: it has what is handed to it, and no more."""

_ARRAYS = 20
"""Dense ids of up to this many bits are counted in an array, which is 2–3 times faster than a hash table."""

_SHARE_OF_MEMORY = 0.6
_LEAST_MEMORY = 1 << 29


@dataclass(slots=True)
class _Share:
    """What of the machine is this process's."""

    threads: int | None = None
    memory: int | None = None


_OWN = _Share()


def take_share(threads: int, memory: int) -> None:
    """Let no session of this process have more than this from now on, unless it is said which; for servers.

    Where several processes answer questions at a time, each must have its own part of the machine, for otherwise how
    long one takes depends on what others ask.

    Args:
        threads: of each session.
        memory: bytes of each session before it spills.
    """
    _OWN.threads, _OWN.memory = threads, memory


class Session:
    """One instance for one question, thrown away with it: a failure can't outlive the question that caused it.

    Guarantee: nothing is installed, loaded or fetched; after `lock`, no file can be opened but those allowed, and no
    setting can be changed. What doesn't fit in memory spills into a directory that only this user can read and that
    goes with the session: when it is closed, when nobody holds it any more, or when the process exits.

    Args:
        threads: how many to use; None for the process's share, or one per core.
        memory: bytes before spilling; None for the process's share, or 60 % of what the machine or the container has.
        in_row_order: whether rows stay in the order in which they come, which takes memory.

    Raises:
        EngineUnavailable: DuckDB can't be started. Nothing of anybody's is open yet, so the cause is passed on.
    """

    def __init__(self, *, threads: int | None = None, memory: int | None = None, in_row_order: bool = False) -> None:
        import duckdb

        try:
            self._spill = SpillFolder()
        except OSError as error:
            raise EngineUnavailable(
                f"there is nowhere to put what doesn't fit in memory: {error}",
                hint="free or allow a temporary directory; the environment's TMPDIR names another",
            ) from error
        try:
            self._connection = self._started(
                threads or _OWN.threads, memory or _OWN.memory or usable_memory(), in_row_order
            )
            self._end = weakref.finalize(self, _end, self._connection, self._spill, os.getpid())
            _ALL.add(self)
        except BaseException as error:  # Ctrl-C too: nobody else knows of the folder
            self._spill.remove()
            if isinstance(error, duckdb.Error | OSError):
                raise EngineUnavailable(
                    f"DuckDB can't be started: {error}", hint="mend what it says; no table was opened for it"
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
            **({"threads": str(threads)} if threads else {}),
        }
        connection = duckdb.connect(":memory:", config=settings)
        connection.execute(f"SET perfect_ht_threshold = {_ARRAYS}")
        # In a notebook without ipywidgets there is none, and DuckDB refuses to turn it off once more.
        if connection.execute("SELECT current_setting('enable_progress_bar')").fetchall() != [(False,)]:
            connection.execute("SET enable_progress_bar = false")
        return connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Stop the instance and remove what it spilled."""
        self._end()

    def remove_directory(self) -> None:
        """Remove what it spilled, though it may be in use: nothing that it says can be relied on any more."""
        self._spill.remove()

    @property
    def is_whole(self) -> bool:
        """Whether its directory is still there; those that nobody touches for days may be swept away."""
        return self._spill.path.is_dir()

    def join_as_written(self) -> None:
        """Make joins in the order in which they are written.

        Where several private tables meet, each two of them are equal in the unit, and DuckDB might bring two together
        by that alone, whose pairs are as many as the square of one unit's rows.
        """
        self.execute("SET disabled_optimizers = 'join_order'")

    def lock(self, *, allowed: Sequence[str] = ()) -> None:
        """Allow these paths to be read, and nothing else from here on.

        DuckDB resolves links before it compares paths. The link of a descriptor whose file was replaced resolves to
        nothing, and is then compared as it stands: hence the directory of descriptors is allowed too.
        """
        paths = ", ".join(map(string, allowed))
        links = [path for path in allowed if path.startswith(("/proc/self/fd/", "/dev/fd/"))]
        folders = ", ".join(sorted({string(os.path.dirname(path) + "/") for path in links}))  # noqa: PTH120 — a Path drops the slash
        self.execute(f"SET allowed_paths = [{paths}]")
        self.execute(f"SET allowed_directories = [{folders}]")
        self.execute("SET enable_external_access = false")
        self.execute("SET lock_configuration = true")

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


def usable_cores() -> list[int]:
    """The cores that this process may run on, by their numbers."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


def usable_memory() -> int:
    """The bytes a session may use before it spills: a share of the machine's memory, or of the container's."""
    total = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 2 * _LEAST_MEMORY
    limit = Path("/sys/fs/cgroup/memory.max")
    written = limit.read_text(encoding="ascii").strip() if limit.is_file() else "max"
    if written.isdigit():
        total = min(total, int(written))
    return max(_LEAST_MEMORY, int(total * _SHARE_OF_MEMORY))


# ── SQL text ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def name(text: str) -> str:
    """An identifier, quoted.

    Examples:
        >>> name('a"b')
        '"a""b"'
    """
    return '"' + text.replace('"', '""') + '"'


def string(text: str) -> str:
    """A string constant.

    Examples:
        >>> string("it's")
        "'it''s'"
    """
    return "'" + text.replace("'", "''") + "'"


def parquet(files: Sequence[str]) -> str:
    """Parquet files as one relation, with the columns that are in them and none of their folders' names.

    Examples:
        >>> parquet(["people.parquet"])
        "read_parquet(['people.parquet'], hive_partitioning = false)"
    """
    return f"read_parquet([{', '.join(map(string, files))}], hive_partitioning = false)"


def double(number: float) -> str:
    """A DOUBLE constant, infinities included. It goes through text, because DuckDB reads 0.1 as a decimal.

    Examples:
        >>> double(0.1)
        "CAST('0.1' AS DOUBLE)"
    """
    return f"CAST('{number!r}' AS DOUBLE)"


def bigint(number: int) -> str:
    """A BIGINT constant; `number` must fit in 64 bits.

    Examples:
        >>> bigint(-1)
        'CAST(-1 AS BIGINT)'
    """
    return f"CAST({number} AS BIGINT)"


def moment(time: date) -> str:
    """A DATE or TIMESTAMP constant, whichever `time` is.

    Examples:
        >>> moment(date(2024, 2, 29))
        "DATE '2024-02-29'"
    """
    return f"TIMESTAMP '{time.isoformat(sep=' ')}'" if isinstance(time, datetime) else f"DATE '{time.isoformat()}'"
