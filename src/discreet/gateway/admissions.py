"""Admissions: which version of the tables is in force, and how the next one comes into force.

The number of the version is the custodian's act alone, and no function of what the tables hold: an analyst who could
tell from it whether they changed, or which of them did, could tell whether somebody is in one. So there is one number
for all tables of an account, and it goes up with each admission.

Tables may be declared to be of several refresh groups, which are admitted apart. All count with the account's one
number, and a group keeps the one of its last admission. A question is at the greatest number of the groups that it
reads: since none of them was admitted after that, it tells which versions of all of them these are.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import RLock
from typing import TYPE_CHECKING, Any

from discreet.engine import open_engine
from discreet.errors import DiscreetError, Hint, InvalidArgument, NotAdmitted, SnapshotError, SnapshotMissing
from discreet.gateway.current import AFTER_CLOSE, OTHERS, Current, groups_read, hint_to_admit
from discreet.query.planner import Plan
from discreet.tables import Dataset, Table
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
        groups: the same for each refresh group that was admitted; that of tables without one is called "".
        tables: by name, what was read and what was left out of each: `rows`, `left_out` (rows that don't say whose they
            are), `malformed` (records, with the lines of the first hundred in `malformed_lines`), and by column
            `unreadable` (values that are NULL now) and `cut` (texts longer than 1,000 characters).
        problem: why the sources couldn't be read, where a scheduled admission served the earlier snapshot again.
    """

    version: int | None
    tables: Mapping[str, Mapping[str, Any]]
    problem: str = ""
    groups: Mapping[str, int] = field(default_factory=dict)


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
        self._memory: dict[str, Mapping[str, HeldTable]] = {}
        self._current: Current | None = None
        self._turn = RLock()

    def folder(self, group: str = "") -> Path | None:
        """Where the snapshots of a refresh group lie; None if all its tables are in memory.

        Raises:
            InvalidArgument: the ledger is on a server, and nothing says where snapshots are to lie.
        """
        if all(table.source.kind == "memory" for table in self._tables(group)):
            return None
        if self._dataset.snapshots is not None:
            root = Path(self._dataset.snapshots)
        else:
            from discreet.ledger.location import File, locate

            location = locate(self._dataset.ledger)
            if not isinstance(location, File):
                raise InvalidArgument(
                    "nothing says where the admitted tables are to be kept",
                    hint=Hint.of("{snapshots}, a folder that only you can read", snapshots="snapshots").in_file(),
                )
            ledger = location.path
            root = ledger.with_name(f"{ledger.name.removesuffix('.ledger')}.snapshots")
        return folder_of(root, self._dataset.name, group)

    def current(self) -> Current:
        """The versions in force; the first one of a group is admitted where there is none yet.

        Raises:
            SnapshotError: a version in force can't be used here.
            SourceError: there is none, and the sources can't be read.
        """
        with self._turn:
            groups = self._dataset.groups
            found = self._account.in_force(groups)
            if None in found.values():
                self.first()
                found = self._account.in_force(groups)
            admitted = {group: each for group, each in found.items() if each is not None}
            if len(admitted) < len(groups):  # the ledger was put back meanwhile
                raise NotAdmitted("no version of these tables was admitted yet", hint=hint_to_admit("{} reads them"))
            if self._current is None or self._current.admitted != admitted:
                self._current = self._open(admitted)  # questions that still run keep the ones before, and their locks
            return self._current

    def version_at(self, version: int, *plans: Plan) -> int:
        """The number at which plans were when the account had reached a version; 0 if their tables weren't there."""
        return self._account.of_groups(version, groups_read(*plans))

    def first(self, *, progress: Progress = lambda _table, _rows: None) -> AdmissionReport | None:
        """Admit the tables that weren't yet; None if all were.

        Raises:
            SourceError, SnapshotError: as for `admit`.
        """
        with self._turn:
            found = self._account.in_force(self._dataset.groups)
            missing = [group for group, admitted in found.items() if admitted is None]
            return self._admit(missing, progress, Fraction(1), 0) if missing else None

    def admit(
        self,
        *,
        group: str | None = None,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction = Fraction(1),
        keep: int = 0,
    ) -> AdmissionReport:
        """Read the sources, and put what they hold in force as the next version, whether or not it differs.

        Args:
            group: the refresh group to admit; "" is that of tables without one. None admits all, each under a number of
                its own; all of them, or none.
            progress: is told a table's name, and how many of its rows were read.
            at_most_unreadable: the part of a table's records, or of a column's values, that may be unreadable.
            keep: how many earlier snapshots to keep, besides those that a process still uses.

        Raises:
            SourceError: a source can't be read, or has too much that can't be. The version in force stays.
            SnapshotError: the snapshot can't be written, or another process admitted one meanwhile; so for these.
            InvalidArgument: there is no such group.
        """
        with self._turn:
            return self._admit(self._groups(group), progress, at_most_unreadable, keep)

    def admit_on_schedule(
        self,
        *,
        group: str | None = None,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction = Fraction(1),
        keep: int = 0,
    ) -> AdmissionReport:
        """Put a next version in force whatever happens; where sources can't be read, what is in force already.

        A number that came at its time, or didn't, would tell who knows the time about the sources.

        Args:
            group: as for `admit`; so for the others. Of several groups, each is served again by itself.
            progress: as above.
            at_most_unreadable: what has more is taken for a source that can't be read.
            keep: as above.

        Raises:
            SourceError: the sources can't be read, and nothing is in force yet.
            SnapshotError: not even the snapshot in force can be handed on.
            InvalidArgument: as for `admit`.
        """
        with self._turn:
            done: list[AdmissionReport] = []
            failed: Exception | None = None
            for each in self._groups(group):
                try:
                    done.append(self._on_schedule(each, progress, at_most_unreadable, keep))
                except Exception as error:  # noqa: BLE001 — the others have their tick all the same; raised below
                    failed = failed or error
            if failed is not None:
                raise failed
            return AdmissionReport(
                version=max(report.version or 0 for report in done),
                tables={name: found for report in done for name, found in report.tables.items()},
                problem="; ".join(report.problem for report in done if report.problem),
                groups={name: number for report in done for name, number in report.groups.items()},
            )

    def check(
        self,
        *,
        group: str | None = None,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction = Fraction(1),
    ) -> AdmissionReport:
        """Read the sources as an admission does, and put nothing in force.

        Raises:
            SourceError, SnapshotError, InvalidArgument: as for `admit`.
        """
        tables: dict[str, Mapping[str, Any]] = {}
        with self._turn:
            self._account.admitted()  # refused after close, when tables in memory are gone
            for each in self._groups(group):
                with TemporaryDirectory(prefix="discreet-") as folder:
                    tables |= self._read(each, Path(folder), progress, at_most_unreadable).report
        return AdmissionReport(version=None, tables=tables)

    def damaged(self) -> list[str]:
        """What of the snapshot in force isn't as it was admitted, in words; it reads all of its files.

        Questions compare the manifest with what the ledger holds of it, and take the files that it names at its word.

        Raises:
            LedgerError: the ledger can't be read.
        """
        found = self._account.in_force(self._dataset.groups).values()
        return [problem for admitted in found if admitted is not None for problem in self._damaged(admitted)]

    def close(self) -> None:
        """Let go of the versions in force, and of tables in memory. Questions that still run are answered."""
        with self._turn:
            self._current = None
            self._data, self._memory = {}, {}
            self._account = AFTER_CLOSE

    def _groups(self, group: str | None) -> tuple[str, ...]:
        """The one refresh group that is named, or all."""
        groups = self._dataset.groups
        if group is None:
            return groups
        if group not in groups:
            raise InvalidArgument(
                f"no table is of the refresh group {group[:70]!r}", hint=f"there are {', '.join(map(repr, groups))}"
            )
        return (group,)

    def _tables(self, group: str) -> tuple[Table, ...]:
        """The tables of a refresh group."""
        return tuple(table for table in self._dataset.tables if table.refresh == group)

    def _admit(
        self, groups: Sequence[str], progress: Progress, at_most_unreadable: Fraction, keep: int
    ) -> AdmissionReport:
        """Read the sources of some groups, and put them in force together."""
        after = {group: self._account.versions(group) for group in groups}
        report = self._put_in_force(
            after, lambda group, folder: self._read(group, folder, progress, at_most_unreadable)
        )
        self._sweep(groups, keep)
        return report

    def _on_schedule(self, group: str, progress: Progress, at_most_unreadable: Fraction, keep: int) -> AdmissionReport:
        """Put a next version of a group in force, whatever happens."""
        before = self._account.admitted(group)
        if before is None:
            return self._admit((group,), progress, at_most_unreadable, keep)
        after = {group: before.version}
        try:
            report = self._put_in_force(
                after, lambda group, folder: self._read(group, folder, progress, at_most_unreadable)
            )
        except Exception as error:  # noqa: BLE001 — whether one was foreseen may depend on a row, and the tick mustn't
            problem = _problem(error)
            report = self._put_in_force(after, lambda _, folder: self._handed_on(before, folder))
            report = replace(report, problem=problem)
        self._sweep((group,), keep)
        return report

    def _put_in_force(self, after: Mapping[str, int], read: Callable[[str, Path | None], Snapshot]) -> AdmissionReport:
        """Make snapshots and name them in the ledger: from that moment on they are in force, all of them or none."""
        from discreet.ledger.transaction import Offered

        newest = max(map(self._account.versions, self._dataset.groups))
        made: dict[str, Snapshot] = {}
        with ExitStack() as folders:
            for number, group in enumerate(after, start=newest + 1):
                parent = self.folder(group)
                folder = None if parent is None else folders.enter_context(new_folder(parent, number))
                made[group] = read(group, folder)
                made[group].save()
            admitted = self._account.admit_together(
                [
                    Offered(
                        snapshot.contents,
                        snapshot="" if snapshot.folder is None else snapshot.folder.name,
                        after=after[group],
                        group=group,
                    )
                    for group, snapshot in made.items()
                ]
            )
        self._current = None  # which lets go of its folders, once no question runs on them
        for group, snapshot in made.items():
            self._memory[group] = {name: held for name, held in snapshot.tables.items() if held.data is not None}
        return AdmissionReport(
            version=admitted[-1].version,
            tables={name: found for snapshot in made.values() for name, found in snapshot.report.items()},
            groups={each.group: each.version for each in admitted},
        )

    def _read(self, group: str, folder: Path | None, progress: Progress, at_most_unreadable: Fraction) -> Snapshot:
        """The sources, read; what public tables declare as unique is checked while the custodian looks on."""
        tables = self._tables(group)
        snapshot = admit(tables, self._data, folder, among=self._dataset.tables, progress=progress)
        for name, found in snapshot.report.items():
            _check_unreadable(name, found, at_most_unreadable)
        if any(table.unique for table in tables):
            engine = open_engine(snapshot)
            for table in tables:
                engine.check(table)
        return snapshot

    def _handed_on(self, admitted: Admitted, folder: Path | None) -> Snapshot:
        """The snapshot in force, in a folder of its own: else the ledger would show that nothing new was read."""
        group, parent = admitted.group, self.folder(admitted.group)
        if folder is None or parent is None:
            return Snapshot(tables=self._held(group))
        before = Snapshot.load(parent / admitted.snapshot, self._held(group))
        for held in before.tables.values():
            if held.file is not None:
                _linked(parent / admitted.snapshot / held.file, folder / held.file)
        return Snapshot(tables=before.tables, folder=folder, report=before.report)

    def _open(self, admitted: Mapping[str, Admitted]) -> Current:
        """The versions in force, if they are what was admitted, and serve what is declared now."""
        opened = []
        for each in admitted.values():
            snapshot, lock = self._loaded(each)
            self._check_declared(snapshot, each)
            self._check_contents(snapshot, each)
            opened.append((snapshot, lock))
        together = Snapshot.together(each for each, _ in opened)
        locks = tuple(lock for _, lock in opened if lock is not None)
        return Current(admitted, open_engine(together), together, locks)

    def _damaged(self, admitted: Admitted) -> Iterator[str]:
        """What of a group's snapshot isn't as it was admitted."""
        if not admitted.snapshot:
            return
        try:
            snapshot, lock = self._loaded(admitted)
            self._check_contents(snapshot, admitted)
            snapshot.check_places()
        except SnapshotError as error:
            yield error.message
            return
        with lock or nullcontext():
            for name in snapshot.damaged():
                yield f"the file of table {name!r} isn't what was admitted as version {admitted.version}"

    def _loaded(self, admitted: Admitted) -> tuple[Snapshot, Lock | None]:
        """The snapshot of a group's version, and what keeps its folder from being removed."""
        held = self._held(admitted.group)
        if not admitted.snapshot:
            return Snapshot(tables=held), None
        parent = self.folder(admitted.group)
        if parent is None:
            raise NotAdmitted(
                f"version {admitted.version} of account {self._dataset.name!r} was read from files; these tables are "
                "in memory",
                hint=hint_to_admit(f"{{}} admits these as the next version; {OTHERS}"),
            )
        folder = parent / admitted.snapshot
        if not folder.is_dir():
            raise SnapshotMissing(
                f"the snapshot of version {admitted.version} isn't there, so no question can be answered",
                hint=hint_to_admit("restore it from a copy, or admit the sources again: {}"),
            )
        lock = _shared(folder)
        return Snapshot.load(folder, held), lock

    def _check_contents(self, snapshot: Snapshot, admitted: Admitted) -> None:
        """Refuse what the ledger doesn't know as this version."""
        if self._account.holds(admitted, snapshot.contents):
            return
        if snapshot.folder is None:
            raise NotAdmitted(
                f"the tables in memory aren't those that were admitted as version {admitted.version}",
                hint=hint_to_admit(f"{{}} admits them as the next version; {OTHERS}"),
            )
        raise SnapshotMissing(
            f"the snapshot {str(snapshot.folder)!r}, with the tables in memory, isn't what was admitted as version "
            f"{admitted.version}",
            hint=hint_to_admit("restore it from a copy, or admit the sources again: {}"),
        )

    def _check_declared(self, snapshot: Snapshot, admitted: Admitted) -> None:
        """Refuse tables and columns that weren't admitted, or not as they are declared now."""
        for table in self._dataset.tables:
            held = snapshot.tables.get(table.name.casefold())
            if table.refresh != admitted.group:
                as_declared = held is None
            else:
                as_declared = held is not None and held.covers(table, identifying(table, self._dataset.tables))
            if not as_declared:
                raise NotAdmitted(
                    f"table {table.name!r} is declared in another way than version {admitted.version} was admitted",
                    hint=hint_to_admit(f"admit it again: {{}}; {OTHERS}"),
                )

    def _held(self, group: str) -> Mapping[str, HeldTable]:
        """The tables of a group that are in memory, as they are admitted."""
        if group not in self._memory:
            tables = [table for table in self._tables(group) if table.source.kind == "memory"]
            self._memory[group] = admit(tables, self._data, None, among=self._dataset.tables).tables if tables else {}
        return self._memory[group]

    def _sweep(self, groups: Sequence[str], keep: int) -> None:
        """Remove snapshots that nobody needs any more.

        Those of a group that no table declares any more are among them. Its tables are of other groups now, or gone:
        people who were erased since would be in them still, and answer again once the group is declared once more.
        """
        for group in groups:
            folder, admitted = self.folder(group), self._account.admitted(group)
            if folder is not None and admitted is not None and folder.is_dir():
                earlier = sorted(each.name for each in folder.iterdir() if each.name < admitted.snapshot)
                sweep(folder, [admitted.snapshot, *earlier[max(0, len(earlier) - keep) :]])
        declared = {folder for folder in map(self.folder, self._dataset.groups) if folder is not None}
        for root in {folder.parent for folder in declared}:
            own = folder_of(root, self._dataset.name)
            for folder in {own, *root.glob(f"{own.name}@*")} - declared:
                sweep(folder, [])


def _problem(error: Exception) -> str:
    """Why sources couldn't be read, in words. Those of an error that nobody foresaw may quote a row."""
    if isinstance(error, DiscreetError):
        return str(error)
    return f"{type(error).__name__}, which nobody foresaw (`discreet admit` shows where it comes from)"


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
                hint=Hint.of(
                    "mend the source, declare how it is written, or let more pass: {at_most_unreadable}",
                    at_most_unreadable=None,
                ),
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
