"""Admission by a cluster: its tasks read the sources, bring each unit's rows together, and write the parts.

Here is what one process does meanwhile: it lists the pieces of sources, counts rows by footers, decides how many parts
there will be, and names in the snapshot exactly those files that tasks say they wrote. No row passes through it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from discreet import errors
from discreet.duckdb.session import Session
from discreet.engine.spark.admission_jobs import Copying, Owning, Parting, Said, put, what_was_said
from discreet.engine.spark.connection import Connection
from discreet.engine.spark.runner import most_tasks, run
from discreet.errors import SnapshotError, SourceUnsupported
from discreet.hints import Hint
from discreet.tables import Owner, Table, owner_of
from discreet.tables.admission import HeldColumn, HeldTable, Progress, Snapshot, identifying
from discreet.tables.admission.admit import check_ceiling, staging_folder
from discreet.tables.admission.completeness import added_up
from discreet.tables.admission.parts import is_copied, noted, number_of_parts, owner_within, settled
from discreet.tables.admission.snapshot import digest_of_digests, written
from discreet.tables.admission.staging import LARGE, ROWS
from discreet.tables.admission.unit_ceiling import Beyond
from discreet.tables.admission.validation import check_schema, check_unchanged, check_zones
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.sources import open_source
from discreet.tables.sources.pieces import IN_ROW_GROUPS, READ_ELSEWHERE, Piece, pieces_of
from discreet.tables.sources.reader import OpenRowGroups

_PIECE = ROWS
"""The most rows that one task reads at a time, unless a row group has more."""
_MOST_PIECES = 1_000
"""Of a table that has more, pieces are larger: each of them sends something to each part."""


def admit_by_cluster(  # noqa: PLR0913 — the keywords are for callers of several kinds
    tables: Sequence[Table],
    folder: Path,
    cluster: SparkConnect,
    *,
    among: Sequence[Table],
    progress: Progress = lambda _table, _rows: None,
    parts: int | None = None,
) -> Snapshot | None:
    """Admit tables by the tasks of a cluster, if that is worth it and can be done; see `admit`.

    Guarantee: the snapshot is what one machine would admit but for the order of rows with one code. Files in the folder
    that a task left behind when it died are in none of its tables.

    Args:
        tables: that are admitted together.
        folder: for the snapshot, which all executors share.
        cluster: whose tasks do it.
        among: all tables of the account.
        progress: called with how far it is.
        parts: how many the private tables lie in; None for as many as their rows need. Tests say it.

    Returns:
        The snapshot, which isn't saved yet; None where one machine should do it: no private table that can be cut is of
        more than one part, or not all are files that any machine can read, or some links lead out of these tables.

    Raises:
        SourceError: a source can't be read, or not as it is declared; or it was changed while it was read.
        SnapshotError: the folder can't be written, or a task failed for another reason.
        EngineUnavailable: the cluster can't be reached, or its executors lack something.
        InvalidArgument: a table has more rows than its declared ceiling.
    """
    if not all(_can_be_read_there(table, tables, among) for table in tables):
        return None
    with ExitStack() as used:
        opened = {
            table.name: cast("OpenRowGroups", used.enter_context(open_source(table.source)))
            for table in tables
            if table.source.kind in IN_ROW_GROUPS
        }
        rows = {table.name: opened[table.name].rows if table.name in opened else 0 for table in tables}
        if parts is None and max((rows[table.name] for table in tables if not table.public), default=0) <= LARGE:
            return None
        owned = [rows[table.name] for table in tables if owner_within(table, tables, among) is not None]
        count = parts or number_of_parts(max(owned, default=0))
        pieces = {table.name: _pieces(table, opened.get(table.name)) for table in tables}
        with Session(threads=1) as session:
            check_zones(session, tables)
        for table in tables:
            if table.name in opened:
                check_schema(table, opened[table.name].fields, identifying(table, among))
        staged = Path(used.enter_context(staging_folder(folder.absolute())))
        connection = Connection(cluster)
        used.callback(connection.close)
        connection.ready()
        admission = _Admission(connection, cluster, folder, staged, tuple(among), count, progress)
        # First those that say whose the rows of others are, in whichever order they are declared.
        for table in sorted(tables, key=lambda table: len(owner.hops) if (owner := owner_of(table, among)) else 0):
            admission.admit(table, list(tables).index(table), pieces[table.name])
        check_unchanged(list(opened.values()))
        snapshot = admission.snapshot(tables)
    check_ceiling(tables, snapshot)
    return snapshot


def _can_be_read_there(table: Table, tables: Sequence[Table], account: Sequence[Table]) -> bool:
    """Whether a table lies in files that any machine can read, and its rows' owners in those that are admitted too."""
    if not is_copied(table) or table.source.kind not in READ_ELSEWHERE:
        return False
    is_alone = table.public or (table.unit is not None and table.unit.is_row)
    return is_alone or owner_within(table, tables, account) is not None


def _pieces(table: Table, opened: OpenRowGroups | None) -> Sequence[Piece]:
    """What tasks read of a table; a public one is whole."""
    rows = 0 if opened is None else opened.rows
    return pieces_of(table.source, opened, sys.maxsize if table.public else max(_PIECE, -(-rows // _MOST_PIECES)))


@dataclass(slots=True)
class _Admission:
    """Tables on their way into a snapshot, as the driver sees them.

    Args:
        connection: to the cluster, ready.
        cluster: where it is.
        folder: of the snapshot.
        staged: the folder in it in which tasks write.
        account: all tables of the account.
        parts: how many the tables lie in.
        progress: called with how far it is.
    """

    connection: Connection
    cluster: SparkConnect
    folder: Path
    staged: Path
    account: tuple[Table, ...]
    parts: int
    progress: Progress
    held: dict[str, HeldTable] = field(default_factory=dict)
    report: dict[str, dict[str, Any]] = field(default_factory=dict)

    def admit(self, table: Table, number: int, pieces: Sequence[Piece]) -> None:
        """Have a table read, and its parts written; those that its links enter are there already.

        Args:
            table: as declared.
            number: of it among those that are admitted together.
            pieces: of its source.
        """
        owner = owner_of(table, self.account)
        common: dict[str, Any] = {
            "table": table,
            "number": number,
            "account": self.account,
            "folder": str(self.staged),
        }
        files = tuple(put(piece, self.staged) for piece in pieces)
        if owner is None or owner.unit.is_row:
            said = self._run(Copying(**common, pieces=files), len(files))
            self._keep(table, said, said, len(files))
            return
        again, owned, read = False, (), []
        if owner.hops:
            ways = self.held[owner.hops[0].table.name.casefold()].files
            job = Owning(**common, pieces=files, owner=owner, ways=ways, buckets=self.parts)
            read = self._run(job, len(files) + len(ways), self.parts)
            made = [each for each in read if each.get("file")]
            self._check_files(made)
            again, owned = any(each["again"] for each in made), tuple(each["file"] for each in made)
            files = ()
        parting = Parting(**common, pieces=files, owner=owner, parts=self.parts, owned=owned, repeats=again)
        said = self._run(parting, len(files) or len(owned), self.parts)
        self._keep(table, [*read, *said], said, self.parts, owner, repeats=again)

    def _keep(  # noqa: PLR0913 — what became of a table
        self,
        table: Table,
        read: Sequence[Said],
        said: Sequence[Said],
        parts: int,
        owner: Owner | None = None,
        *,
        repeats: bool = False,
    ) -> None:
        """Note what tasks tell of a table.

        Args:
            table: as declared.
            read: by those which read its source.
            said: by those which wrote its parts.
            parts: how many there are.
            owner: of the rows, if they lie by unit.
            repeats: whether a row of several units stands there once for each.
        """
        files = sorted((each for each in said if "part" in each), key=lambda each: each["part"])
        if [each["part"] for each in files] != list(range(parts)):
            raise _failed(table)
        self._check_files(files)
        report = added_up([each["report"] for each in read if "report" in each])
        self.progress(table.name, report["rows"] + report["left_out"])
        held = HeldTable(
            columns=tuple(HeldColumn.of(column, identifying(table, self.account)) for column in table.columns),
            rows=report["rows"],
            digest=digest_of_digests([each["digest"] for each in files]),
            written=written(table),
            most_rows_per_unit=table.most_rows_per_unit,
            files=tuple(each["file"] for each in files),
        )
        beyond = Beyond()
        if owner is not None:
            beyond = sum((Beyond(each["units"], each["rows"]) for each in files), Beyond())
            unique = [frozenset(each["unique"]) for each in files]
            held = noted(held, table, owner, unique, beyond, repeats=repeats)
        if repeats and beyond.rows:
            raise SourceUnsupported(
                f"{beyond.units:,} units have more than most_rows_per_unit = {table.most_rows_per_unit:,} rows in "
                f"table {table.name!r}, and some rows belong to several units, which a cluster can't leave out of all",
                hint=_BY_ONE_MACHINE,
            )
        self.held[table.name.casefold()] = held
        self.report[table.name] = report | {"rows": held.rows, "beyond_most_rows_per_unit": asdict(beyond)}

    def snapshot(self, tables: Sequence[Table]) -> Snapshot:
        """The snapshot, with its files where they stay."""
        for number, table in enumerate(tables):
            held = self.held[table.name.casefold()]
            files = settled([self.staged / file for file in held.files], self.folder, str(number))
            self.held[table.name.casefold()] = replace(held, files=files)
        return Snapshot(
            tables={table.name.casefold(): self.held[table.name.casefold()] for table in tables},
            folder=self.folder,
            report={table.name: self.report[table.name] for table in tables},
        )

    def _run(self, job: Copying | Owning | Parting, number: int, buckets: int = 0) -> list[Said]:
        """What tasks tell of a job.

        Raises:
            DiscreetError: what a task says is wrong with the source; SnapshotError, if one failed over anything else.
        """
        try:
            tasks = max(1, min(number, most_tasks(self.cluster)))
            said = what_was_said(run(self.connection, job, parts=number, tasks=tasks, buckets=buckets))
        except Exception:  # noqa: BLE001 — whatever it is, it is about the cluster, and told below
            said = None
        if said is None:  # raised outside the handler, so that no words that may quote a row are chained to it
            raise _failed(job.table)
        problems = sorted((each["number"], each["problem"]) for each in said if "problem" in each)
        if problems:
            kind, message, python, cli, file = problems[0][1]
            raise getattr(errors, kind)(message, hint=Hint(python, cli=cli, file=file))
        return said

    def _check_files(self, files: Sequence[Said]) -> None:
        """Refuse what tasks wrote if it isn't in the folder of this process, as they wrote it.

        Raises:
            SnapshotError: it isn't.
        """
        for each in files:
            file = self.staged / Path(each["file"]).name
            if file.name != each["file"] or not file.is_file() or file.stat().st_size != each["size"]:
                raise SnapshotError(
                    "executors wrote files that aren't in this process's folder of snapshots",
                    hint="the folder must be one that all of them share, on a file system that shows it at once",
                )


def _failed(table: Table) -> SnapshotError:
    """The error for a job that failed for a reason that isn't told."""
    return SnapshotError(
        f"the cluster couldn't admit table {table.name!r}",
        hint="is there room on the executors' disks and in the folder of snapshots, and may they write there? "
        "The cluster's own pages say which task failed",
    )


_BY_ONE_MACHINE = Hint(
    'declare a higher number, or admit it on one machine, with engine="duckdb"',
    cli='declare a higher number, or admit it on one machine, with engine = "duckdb"',
)
