"""Snapshots: one version of the tables, as questions read them. Nothing in them can make a question fail.

A snapshot is a folder that only this user can read: Parquet files of each table, and a manifest. It is written once
and never changed. A large private table lies in parts, a file for each, and one unit's rows of all tables lie in the
parts of one number. Tables in memory have no file: the process that holds them holds what the snapshot has of them.
Those in place have none either: the manifest says in which files they lie, and which files these were.

Which folder is in force, the ledger says. A folder that it doesn't name is what an admission left that was stopped; the
next one removes it, unless the lock in it says that it is still being written.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote

from discreet.errors import SnapshotError, SnapshotMissing
from discreet.hints import Hint
from discreet.tables.schema.column import LONGEST_TEXT, Column, Kind
from discreet.tables.schema.table import Table
from discreet.tables.sources.in_place import Place, check_places, held_open

if TYPE_CHECKING:
    import pyarrow as pa

FORMAT = 2
_MANIFEST = "manifest.json"
_LOCK = "lock"
_TRIES = 3


@dataclass(frozen=True, slots=True)
class HeldColumn:
    """A column of an admitted table.

    Args:
        name: as it was declared; of a table in place, as its files have it.
        kind: of its values.
        identifies: whether it was cast as one that tells units, or linked rows, apart.
        time_zone: in which its times are told; None if the source has no zones.
        max_length: how many characters of a text were kept.
    """

    name: str
    kind: Kind
    identifies: bool = False
    time_zone: str | None = None
    max_length: int = LONGEST_TEXT

    @classmethod
    def of(cls, column: Column, identifying: frozenset[str], name: str | None = None) -> Self:
        """A column as it is declared.

        Args:
            column: as declared.
            identifying: the columns of its table that identify, in lower case.
            name: of a column in place, in its files.
        """
        identifies = column.name.casefold() in identifying
        return cls(
            name=name or column.name,
            kind=column.kind,
            identifies=identifies,
            time_zone=column.time_zone,
            max_length=column.max_length,
        )


@dataclass(frozen=True, slots=True)
class Notes:
    """What admission noted beside each row of a private table, and by what its rows were put into parts.

    In files with notes the columns are called `c0, c1, …`, in the order in which they are held. Beside them stand
    `code`, the number of the row's unit among those of its part, from 0; and `size`, how many rows of its unit are
    admitted in this table. A part's rows are in the order of `code`, and codes in that of sizes. Where links lead to
    the unit, `u0` says which one it is, and of a period `u1` when it begins. A row of several units stands there once
    for each; `again` is true for all but one of these.

    Args:
        owner: how units were found, in words, as `Owner.words` has them.
        parted_by: the hash of an id that chooses its part, and in which version.
        repeats: whether there is `again`.
        unique: columns, in lower case, to which links lead, or which are ids, that hold no value twice in any one part.
    """

    owner: str
    parted_by: str
    repeats: bool = False
    unique: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class HeldTable:
    """An admitted table.

    Args:
        columns: in the order in which they were declared.
        rows: how many it has. Private.
        digest: of its contents. Private. Empty for a table in place, for which its files' identities stand.
        written: what was declared of how its source is written, as JSON.
        most_rows_per_unit: the most rows of one unit that were admitted; None if nothing was looked at.
        files: the names of its files in the snapshot's folder, or their paths: one for each part, in order; none for a
            table in memory or in place.
        notes: beside its rows; None where there are none.
        places: the files that it was admitted in place in, and stays in.
        data: the table, if it is in memory: one for each part, in order.
    """

    columns: tuple[HeldColumn, ...]
    rows: int
    digest: str
    written: str = "{}"
    most_rows_per_unit: int | None = None
    files: tuple[str, ...] = ()
    notes: Notes | None = None
    places: tuple[Place, ...] = ()
    data: tuple[pa.Table, ...] = ()

    @property
    def parts(self) -> int:
        """In how many parts it lies; 1 for a table in place."""
        return max(len(self.files), len(self.data), 1)

    @property
    def names(self) -> Mapping[str, str]:
        """What its columns are called where they are read, by their names in lower case."""
        return {
            column.name.casefold(): column.name if self.notes is None else f"c{number}"
            for number, column in enumerate(self.columns)
        }

    def whole(self) -> pa.Table:
        """All rows of a table in memory, each of them once, under the names that were declared."""
        import pyarrow as pa
        import pyarrow.compute as pc

        rows = pa.concat_tables(self.data)
        if self.notes is not None and self.notes.repeats:
            rows = rows.filter(pc.invert(rows["again"]))
        return rows.select(list(self.names.values())).rename_columns([column.name for column in self.columns])

    def covers(self, table: Table, identifying: frozenset[str]) -> bool:
        """Whether a table, as it is declared now, can be asked about with what was admitted."""
        if self.written != written(table):
            return False
        several = not table.public and (table.unit is None or not table.unit.is_row)
        if several and (self.most_rows_per_unit is None or self.most_rows_per_unit > table.most_rows_per_unit):
            return False
        held = {column.name.casefold(): column for column in self.columns}
        for column in table.columns:
            found = held.get(column.name.casefold())
            if found is None or (found.kind, found.time_zone) != (column.kind, column.time_zone):
                return False
            if found.max_length > column.max_length:
                return False
            if column.name.casefold() in identifying and not found.identifies:
                return False
        return True


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Snapshot:
    """All tables of an account, as they were admitted together.

    Args:
        tables: by the lower-case name of the table.
        folder: where their files lie; None if all are in memory.
        report: what admission left out, for the custodian alone.
    """

    tables: Mapping[str, HeldTable]
    folder: Path | None = None
    report: Mapping[str, Any] = field(default_factory=dict)

    @property
    def contents(self) -> str:
        """A digest of what the snapshot holds, in one text for all tables. Private."""
        named = {
            name: (
                held.digest,
                held.written,
                [_to_json(column) for column in held.columns],
                *_listed(held.places),
                *([] if held.notes is None else [asdict(held.notes)]),
            )
            for name, held in self.tables.items()
        }
        return hashlib.sha256(json.dumps(named, sort_keys=True).encode()).hexdigest()

    def files(self, table: Table, chosen: slice = slice(None)) -> tuple[str, ...]:
        """The files to read for a table: one for each part of its copy, or those in place; none if it is in memory.

        Args:
            table: of the snapshot.
            chosen: which of its parts. Who reads one part after the other says so: the paths of all, each time, would
                take time with the square of their number.
        """
        held = self.tables[table.name.casefold()]
        return (*self._files(held, chosen), *(place.path for place in held.places[chosen]))

    def _files(self, held: HeldTable, chosen: slice = slice(None)) -> tuple[str, ...]:
        """The files of a table's copy."""
        return () if self.folder is None else tuple(str(self.folder / file) for file in held.files[chosen])

    @classmethod
    def together(cls, snapshots: Iterable[Self]) -> Self:
        """Several snapshots of different tables as one, to be read and not to be saved."""
        tables = {}
        for each in snapshots:
            for name, held in each.tables.items():
                tables[name] = replace(held, files=each._files(held))  # noqa: SLF001 — another snapshot's
        return cls(tables=tables, folder=Path("/"))

    @contextmanager
    def held_open(self, tables: Sequence[Table]) -> Iterator[Self]:
        """The snapshot, with those files open that tables lie in; they are what they were, before and afterwards.

        Raises:
            SnapshotChanged: one of them isn't.
        """
        with ExitStack() as files:
            held = dict(self.tables)
            for name in (table.name.casefold() for table in tables):
                if held[name].places:
                    held[name] = replace(held[name], places=files.enter_context(held_open(held[name].places)))
            yield replace(self, tables=held)

    def check_places(self) -> None:
        """Refuse a snapshot of which any file in place isn't what it was, whichever table it is of.

        Raises:
            SnapshotChanged: one isn't.
        """
        for held in self.tables.values():
            if held.places:
                check_places(held.places)

    def save(self) -> None:
        """Write the manifest; afterwards, all of the folder is on the disk.

        Raises:
            SnapshotError: it can't be written.
        """
        if self.folder is None:
            return
        try:
            self._save(self.folder)
        except OSError as error:
            raise SnapshotError(
                f"the snapshot {str(self.folder)!r} can't be written: {error.strerror}", hint="is the disk full?"
            ) from None

    def _save(self, folder: Path) -> None:
        """Write the manifest, and wait for all of it."""
        manifest = {
            "format": FORMAT,
            "tables": {
                name: {
                    "files": held.files,
                    "notes": None if held.notes is None else asdict(held.notes),
                    "rows": held.rows,
                    "digest": held.digest,
                    "written": held.written,
                    "most_rows_per_unit": held.most_rows_per_unit,
                    "columns": [_to_json(column) for column in held.columns],
                    "places": _listed(held.places),
                }
                for name, held in self.tables.items()
            },
            "report": self.report,
        }
        path = folder / _MANIFEST
        path.write_text(json.dumps(manifest, indent=1), encoding="utf-8")
        path.chmod(0o600)
        for each in (*folder.iterdir(), folder, folder.parent):
            _synced(each)

    @classmethod
    def load(cls, folder: Path, memory: Mapping[str, HeldTable]) -> Self:
        """Read the manifest of a folder.

        Args:
            folder: that the ledger names.
            memory: the tables in memory, by lower-case name.

        Raises:
            SnapshotMissing: the folder isn't there, or isn't what was written.
        """
        try:
            manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
            tables = {}
            for name, entry in manifest["tables"].items():
                held = _held(entry)
                for file in held.files:
                    (folder / file).stat()
                tables[name] = held if held.files else memory.get(name, held)
            return cls(tables=tables, folder=folder, report=manifest["report"])
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass
        raise SnapshotMissing(
            f"the snapshot {str(folder)!r} is missing or was altered, so no question can be answered",
            hint=Hint(
                "restore the folder from a copy, or admit the sources again: refresh()",
                cli="restore the folder from a copy, or admit the sources again: `discreet admit`",
            ),
        )

    def damaged(self) -> list[str]:
        """The tables whose files aren't what was written, or can't be read. It reads all of them."""
        return [name for name, held in self.tables.items() if held.files and not self._is_whole(held)]

    def _is_whole(self, held: HeldTable) -> bool:
        """Whether the files of a table have the bytes that were written."""
        try:
            return digest_of(self._files(held)) == held.digest
        except OSError:
            return False


def written(table: Table) -> str:
    """The declared options for reading a table that decide what its values are.

    Examples:
        >>> from discreet.privacy import Unit
        >>> from discreet.tables import Source
        >>> source = Source.of("visits.csv", dates="dmy", skip_malformed=True)
        >>> paid = Column(name="paid", kind=Kind.REAL, thousands=",")
        >>> written(Table(name="visits", source=source, columns=(paid,), unit=Unit.row()))
        '{"columns": {"paid": {"thousands": ","}}, "dates": "dmy"}'
    """
    source = {name: said for name, said in table.source.declared().items() if name not in {"table", "skip_malformed"}}
    columns = {column.name.casefold(): dict(column.form) for column in table.columns if column.form}
    return json.dumps(source | ({"columns": columns} if columns else {}), sort_keys=True)


def digest_of(files: Sequence[str]) -> str:
    """SHA-256 of a file, in hexadecimal; of several, that of their digests, one after the other."""
    digests = []
    for each in files:
        with open(each, "rb") as file:  # noqa: PTH123 — a path in one text is what snapshots hand out
            digests.append(hashlib.file_digest(file, "sha256").hexdigest())
    return digest_of_digests(digests)


def digest_of_digests(digests: Sequence[str]) -> str:
    """The digest of several files, by those of each."""
    return digests[0] if len(digests) == 1 else hashlib.sha256("".join(digests).encode()).hexdigest()


def folder_of(root: Path, account: str, group: str = "") -> Path:
    """The folder for the snapshots of one account or one of its refresh groups, below the folder for all.

    Examples:
        >>> folder_of(Path("snapshots"), "..").as_posix()
        'snapshots/%2E%2E'
        >>> folder_of(Path("snapshots"), "clinic", "daily").as_posix()
        'snapshots/clinic@daily'
    """
    named = quote(account, safe="").replace(".", "%2E")
    return root / (f"{named}@{group}" if group else named)


@contextmanager
def new_folder(parent: Path, version: int) -> Iterator[Path]:
    """A folder for a new snapshot, which nobody sweeps while it is being written; removed if that fails.

    Args:
        parent: of all snapshots of the account; made if it isn't there.
        version: that it is meant to become.

    Raises:
        SnapshotError: it can't be made.
    """
    folder, lock = _made(parent, version)
    try:
        with lock:
            yield folder
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _made(parent: Path, version: int) -> tuple[Path, Lock]:
    """A new folder, in use."""
    problem = ""
    for _ in range(_TRIES):  # another process may sweep it before it is locked
        try:
            parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = Path(mkdtemp(prefix=f"{version:06d}-", dir=parent))
            return folder, Lock(folder, shared=True)
        except OSError as error:
            problem = error.strerror or "it is locked"
    raise SnapshotError(
        f"no snapshot can be written in {str(parent)!r}: {problem}",
        hint=Hint.of("free the disk, or name a folder: {snapshots}", snapshots="…").in_file(),
    )


def sweep(parent: Path, keep: Sequence[str]) -> None:
    """Remove snapshots that aren't kept and that no process reads or writes.

    Args:
        parent: of all snapshots of the account.
        keep: the names of those that stay.
    """
    with suppress(OSError):
        for folder in parent.iterdir():
            if folder.name not in keep and folder.is_dir():
                with suppress(OSError), Lock(folder, shared=False):
                    shutil.rmtree(folder, ignore_errors=True)


class Lock:
    """Says that a process uses a folder: shared by who reads or writes it, or alone by who removes it.

    The system lets go of it when the process ends, however it ends. Where there are no such locks, nobody is ever
    alone, so that no folder in use is removed.

    Raises:
        OSError: others use the folder.
    """

    def __init__(self, folder: Path, *, shared: bool) -> None:
        """Take the lock, or raise at once."""
        self._descriptor = -1
        self._descriptor = os.open(folder / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            import fcntl

            fcntl.flock(self._descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except ImportError:
            self.close()
            if not shared:
                raise OSError from None
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        """Let go of it once nobody holds it any more."""
        self.close()

    def close(self) -> None:
        """Let go of it."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _synced(path: Path) -> None:
    """Wait until a file or folder is on the disk; some systems can't wait for folders."""
    with suppress(PermissionError):
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _to_json(column: HeldColumn) -> list[Any]:
    """A column as JSON-ready data."""
    shorter = [] if column.max_length == LONGEST_TEXT else [column.max_length]
    return [column.name, str(column.kind), column.identifies, column.time_zone, *shorter]


def _listed(places: Sequence[Place]) -> list[list[str]]:
    """Files that a table lies in as JSON-ready data."""
    return [[place.path, place.identity] for place in places]


def _held(entry: Mapping[str, Any]) -> HeldTable:
    """A table as the manifest has it."""
    notes = entry.get("notes")
    columns = tuple(
        HeldColumn(name, Kind(kind), identifies, zone, *length)
        for name, kind, identifies, zone, *length in entry["columns"]
    )
    return HeldTable(
        columns=columns,
        rows=int(entry["rows"]),
        digest=str(entry["digest"]),
        written=str(entry["written"]),
        most_rows_per_unit=entry.get("most_rows_per_unit"),
        files=_files_in(entry),
        notes=None if notes is None else Notes(**notes | {"unique": tuple(notes["unique"])}),
        places=tuple(Place(path, identity) for path, identity in entry.get("places", [])),
    )


def _files_in(entry: Mapping[str, Any]) -> tuple[str, ...]:
    """The files of a table as the manifest has them; before there were parts, it had one or none."""
    before = entry.get("file")
    return tuple(entry.get("files", () if before is None else (before,)))
