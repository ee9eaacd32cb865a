"""Admissions: which version of the tables is in force, and how the next one comes into force.

The number of the version is the custodian's act alone, and no function of what the tables hold: an analyst who could
tell from it whether they changed, or which of them did, could tell whether somebody is in one. So there is one number
for all tables of an account, and it goes up with each admission.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from discreet.engine import Engine, open_engine
from discreet.errors import DiscreetError, InvalidArgument, NotAdmitted, SnapshotError, SnapshotMissing
from discreet.tables import Dataset
from discreet.tables.admission import (
    HeldTable,
    Lock,
    Progress,
    Snapshot,
    admit,
    folder_of,
    identifying,
    new_folder,
    sweep,
)

if TYPE_CHECKING:
    from discreet.ledger import Account, Admitted


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionReport:
    """What an admission did, for the custodian alone: it is read off the tables, and not private.

    Args:
        version: the number that is in force now; None if nothing was put in force.
        tables: by name, what was read and what was left out of each: `rows`, `left_out` (rows that don't say whose they
            are), `malformed` (records, with the lines of the first hundred in `malformed_lines`), and by column
            `unreadable` (values that are NULL now) and `cut` (texts longer than 1,000 characters).
        problem: why the sources couldn't be read, where a scheduled admission served the earlier snapshot again.
    """

    version: int | None
    tables: Mapping[str, Mapping[str, Any]]
    problem: str = ""


@dataclass(frozen=True, slots=True, repr=False)
class Current:
    """The version in force, open for questions.

    Args:
        admitted: as the ledger has it.
        engine: over its snapshot.
        snapshot: that it holds.
        lock: that keeps its folder from being removed for as long as anybody holds this; None if there is none.
    """

    admitted: Admitted
    engine: Engine
    snapshot: Snapshot
    lock: Lock | None

    @property
    def version(self) -> int:
        """Its number."""
        return self.admitted.version

    def check(self) -> None:
        """Refuse every question if a file that was admitted in place has changed since, whichever table it is of.

        Raises:
            SnapshotChanged: one has.
        """
        self.snapshot.check_places()


class Admissions:
    """The versions of the tables of one account, as one process sees them.

    Args:
        dataset: what is declared of the tables.
        account: whose ledger numbers the versions.
        data: tables in memory, by the location of their source.
    """

    def __init__(self, dataset: Dataset, account: Account, data: Mapping[str, object]) -> None:
        """Nothing is read yet."""
        self._dataset = dataset
        self._account = account
        self._data = dict(data)
        self._memory: Mapping[str, HeldTable] | None = None
        self._current: Current | None = None
        self._turn = RLock()

    @property
    def folder(self) -> Path | None:
        """Where the account's snapshots lie; None if all tables are in memory.

        Raises:
            InvalidArgument: the ledger is on a server, and nothing says where snapshots are to lie.
        """
        if all(table.source.kind == "memory" for table in self._dataset.tables):
            return None
        if self._dataset.snapshots is not None:
            root = Path(self._dataset.snapshots)
        else:
            from discreet.ledger.location import File, locate

            location = locate(self._dataset.ledger)
            if not isinstance(location, File):
                raise InvalidArgument(
                    "nothing says where the admitted tables are to be kept",
                    hint='snapshots = "snapshots", a folder that only you can read',
                )
            ledger = location.path
            root = ledger.with_name(f"{ledger.name.removesuffix('.ledger')}.snapshots")
        return folder_of(root, self._dataset.name)

    def current(self) -> Current:
        """The version in force; the first one is admitted where there is none yet.

        Raises:
            SnapshotError: the version in force can't be used here.
            SourceError: there is none, and the sources can't be read.
        """
        with self._turn:
            admitted = self._account.admitted()
            if admitted is None:
                self.admit()
                admitted = self._account.admitted()
            if admitted is None:  # the ledger was put back meanwhile
                raise NotAdmitted("no version of these tables was admitted yet", hint="`discreet admit` reads them")
            if self._current is None or self._current.admitted != admitted:
                self._current = self._open(admitted)  # questions that still run keep the one before, and its lock
            return self._current

    def first(self, *, progress: Progress = lambda _table, _rows: None) -> AdmissionReport | None:
        """Admit the tables if that wasn't done yet; None if it was.

        Raises:
            SourceError, SnapshotError: as for `admit`.
        """
        with self._turn:
            return None if self._account.admitted() is not None else self.admit(progress=progress)

    def admit(
        self,
        *,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction = Fraction(1),
        keep: int = 0,
    ) -> AdmissionReport:
        """Read the sources, and put what they hold in force as the next version, whether or not it differs.

        Args:
            progress: is told a table's name, and how many of its rows were read.
            at_most_unreadable: the part of a table's records, or of a column's values, that may be unreadable.
            keep: how many earlier snapshots to keep, besides those that a process still uses.

        Raises:
            SourceError: a source can't be read, or has too much that can't be. The version in force stays.
            SnapshotError: the snapshot can't be written, or another process admitted one meanwhile; so for these.
        """
        with self._turn:
            after = self._account.versions()
            report = self._put_in_force(after, lambda folder: self._read(folder, progress, at_most_unreadable))
            self._sweep(keep)
            return report

    def admit_on_schedule(
        self,
        *,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction = Fraction(1),
        keep: int = 0,
    ) -> AdmissionReport:
        """Put a next version in force whatever happens; where sources can't be read, what is in force already.

        A number that came at its time, or didn't, would tell who knows the time about the sources.

        Args:
            progress: as for `admit`; so for the others.
            at_most_unreadable: what has more is taken for a source that can't be read.
            keep: as above.

        Raises:
            SourceError: the sources can't be read, and nothing is in force yet.
            SnapshotError: not even the snapshot in force can be handed on.
        """
        with self._turn:
            before = self._account.admitted()
            try:
                return self.admit(progress=progress, at_most_unreadable=at_most_unreadable, keep=keep)
            except DiscreetError as error:
                if before is None:
                    raise
                problem = error
            report = self._put_in_force(before.version, lambda folder: self._handed_on(before, folder))
            self._sweep(keep)
            return AdmissionReport(version=report.version, tables=report.tables, problem=str(problem))

    def check(
        self, *, progress: Progress = lambda _table, _rows: None, at_most_unreadable: Fraction = Fraction(1)
    ) -> AdmissionReport:
        """Read the sources as an admission does, and put nothing in force.

        Raises:
            SourceError, SnapshotError: as for `admit`.
        """
        with self._turn, TemporaryDirectory(prefix="discreet-") as folder:
            snapshot = self._read(Path(folder), progress, at_most_unreadable)
            return AdmissionReport(version=None, tables=snapshot.report)

    def close(self) -> None:
        """Let go of the version in force."""
        with self._turn:
            self._current = None

    def _put_in_force(self, after: int, read: Callable[[Path | None], Snapshot]) -> AdmissionReport:
        """Make a snapshot and name it in the ledger: from that moment on it is the version in force."""
        if self.folder is None:
            snapshot = read(None)
            admitted = self._account.admit(snapshot.contents, after=after)
        else:
            with new_folder(self.folder, after + 1) as folder:
                snapshot = read(folder)
                snapshot.save()
                admitted = self._account.admit(snapshot.contents, snapshot=folder.name, after=after)
        self._current = None  # which lets go of its folder, once no question runs on it
        self._memory = {name: held for name, held in snapshot.tables.items() if held.file is None}
        return AdmissionReport(version=admitted.version, tables=snapshot.report)

    def _read(self, folder: Path | None, progress: Progress, at_most_unreadable: Fraction) -> Snapshot:
        """The sources, read; what public tables declare as unique is checked while the custodian looks on."""
        snapshot = admit(self._dataset.tables, self._data, folder, progress=progress)
        for name, found in snapshot.report.items():
            _check_unreadable(name, found, at_most_unreadable)
        engine = open_engine(snapshot)
        for table in self._dataset.tables:
            engine.check(table)
        return snapshot

    def _handed_on(self, admitted: Admitted, folder: Path | None) -> Snapshot:
        """The snapshot in force, in a folder of its own: else the ledger would show that nothing new was read."""
        if folder is None or self.folder is None:
            return Snapshot(tables=self._held())
        before = Snapshot.load(self.folder / admitted.snapshot, self._held())
        for held in before.tables.values():
            if held.file is not None:
                _linked(self.folder / admitted.snapshot / held.file, folder / held.file)
        return Snapshot(tables=before.tables, folder=folder, report=before.report)

    def _open(self, admitted: Admitted) -> Current:
        """The version in force, if it is what was admitted, and serves what is declared now."""
        if not admitted.snapshot:
            snapshot, lock = Snapshot(tables=self._held()), None
            self._check_declared(snapshot, admitted)
            if not self._account.holds(admitted, snapshot.contents):
                raise NotAdmitted(
                    f"the tables in memory aren't those that were admitted as version {admitted.version}",
                    hint="refresh() admits them as the next version",
                )
            return Current(admitted, open_engine(snapshot), snapshot, lock)
        folder = None if self.folder is None else self.folder / admitted.snapshot
        if folder is None or not folder.is_dir():
            raise SnapshotMissing(
                f"the snapshot of version {admitted.version} isn't there, so no question can be answered",
                hint="restore it from a copy, or admit the sources again: `discreet admit`",
            )
        lock = _shared(folder)
        snapshot = Snapshot.load(folder, self._held())
        self._check_declared(snapshot, admitted)
        if not self._account.holds(admitted, snapshot.contents):
            raise SnapshotMissing(
                f"the snapshot {str(folder)!r}, with the tables in memory, isn't what was admitted as version "
                f"{admitted.version}",
                hint="restore it from a copy, or admit the sources again: `discreet admit`, refresh()",
            )
        return Current(admitted, open_engine(snapshot), snapshot, lock)

    def _check_declared(self, snapshot: Snapshot, admitted: Admitted) -> None:
        """Refuse tables and columns that weren't admitted, or not as they are declared now."""
        for table in self._dataset.tables:
            held = snapshot.tables.get(table.name.casefold())
            if held is None or not held.covers(table, identifying(table, self._dataset.tables)):
                raise NotAdmitted(
                    f"table {table.name!r} is declared in another way than version {admitted.version} was admitted",
                    hint="admit it again: `discreet admit`, refresh()",
                )

    def _held(self) -> Mapping[str, HeldTable]:
        """The tables in memory, as they are admitted."""
        if self._memory is None:
            tables = [table for table in self._dataset.tables if table.source.kind == "memory"]
            self._memory = admit(tables, self._data, None).tables if tables else MappingProxyType({})
        return self._memory

    def _sweep(self, keep: int) -> None:
        """Remove snapshots that nobody needs any more."""
        admitted = self._account.admitted()
        if self.folder is None or admitted is None or not self.folder.is_dir():
            return
        earlier = sorted(each.name for each in self.folder.iterdir() if each.name < admitted.snapshot)
        sweep(self.folder, [admitted.snapshot, *earlier[len(earlier) - keep :]])


def _check_unreadable(table: str, found: Mapping[str, Any], most: Fraction) -> None:
    """Refuse a table of which more can't be read than its custodian puts up with.

    Raises:
        SnapshotError: it has more.
    """
    records = found["rows"] + found["left_out"] + found["malformed"]
    counts = {"records": found["left_out"] + found["malformed"], **found["unreadable"]}
    for what, count in counts.items():
        if count > most * records:
            where = "of its records" if what == "records" else f"of the values of column {what!r}"
            raise SnapshotError(
                f"of table {table!r}, {count:,} {where} can't be read, of {records:,}",
                hint="mend the source, declare how it is written, or let more pass: --at-most-unreadable",
            )


def _shared(folder: Path) -> Lock:
    """The lock of a reader."""
    try:
        return Lock(folder, shared=True)
    except OSError:
        pass
    raise SnapshotMissing(
        f"the snapshot {str(folder)!r} is being removed, or can't be opened", hint="ask again in a moment"
    )


def _linked(source: Path, target: Path) -> None:
    """The same file under another name; a copy where the file system has no links.

    Raises:
        SnapshotError: neither can be made.
    """
    with suppress(OSError):
        os.link(source, target)
        return
    try:
        shutil.copyfile(source, target)
        target.chmod(0o600)
    except OSError as error:
        raise SnapshotError(f"the snapshot can't be handed on: {error.strerror}", hint="is the disk full?") from None
