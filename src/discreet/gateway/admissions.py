"""Admissions: how the next version of the tables comes into force: read, checked, and named in the ledger.

What its number tells, and what it doesn't, `versions` says.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from discreet.engine import open_engine
from discreet.errors import DiscreetError, InvalidArgument, SnapshotError
from discreet.gateway.versions import AdmissionReport, Versions
from discreet.tables.admission import (
    Progress,
    Snapshot,
    admit,
    check_read,
    folder_of,
    new_folder,
    sweep,
    with_unit_sizes,
)

if TYPE_CHECKING:
    from discreet.ledger import Admitted
    from discreet.tables import Table


class Admissions(Versions):
    """The versions of the tables of one account, and what admits the next: as one process sees them, for its custodian.

    Args:
        dataset: what is declared of the tables.
        account: whose ledger numbers the versions.
        data: tables in memory, by the location of their source.
    """

    def admit(
        self,
        *,
        group: str | None = None,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction | None = None,
        keep: int = 0,
        sized: bool = False,
    ) -> AdmissionReport:
        """Read the sources, and put what they hold in force as the next version, whether or not it differs.

        Args:
            group: the refresh group to admit; "" is that of tables without one. None admits all, each under a number of
                its own; all of them, or none.
            progress: called with a table's name, and how many of its rows were read.
            at_most_unreadable: the part of a table's records, or of a column's values, that may be unreadable; None for
                what each table declares.
            keep: how many earlier snapshots to keep, besides those that a process still uses.
            sized: whether to report how many rows units have, and what limits would cut off; takes another look at all.

        Raises:
            SourceError: a source can't be read, or has too much that can't be. The version in force stays.
            SnapshotError: the snapshot can't be written, or another process admitted one meanwhile; so for these.
            InvalidArgument: there is no such group.
        """
        with self._turn:
            return self._admit(self._groups(group), progress, at_most_unreadable, keep, sized=sized)

    def admit_on_schedule(
        self,
        *,
        group: str | None = None,
        progress: Progress = lambda _table, _rows: None,
        at_most_unreadable: Fraction | None = None,
        keep: int = 0,
        sized: bool = False,
    ) -> AdmissionReport:
        """Put a next version in force whatever happens; where sources can't be read, what is in force already.

        A number that came at its time, or didn't, would tell who knows the time about the sources.

        Args:
            group: as for `admit`; so for the others. Of several groups, each is served again by itself.
            progress: as above.
            at_most_unreadable: what has more is taken for a source that can't be read.
            keep: as above.
            sized: as above.

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
                    done.append(self._on_schedule(each, progress, at_most_unreadable, keep, sized=sized))
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
        at_most_unreadable: Fraction | None = None,
        sized: bool = False,
    ) -> AdmissionReport:
        """Read the sources as an admission does, and put nothing in force.

        Raises:
            SourceError, SnapshotError, InvalidArgument: as for `admit`.
        """
        tables: dict[str, Mapping[str, Any]] = {}
        with self._turn:
            self._account.admitted()  # refused after close, when tables in memory are gone
            for each in self._groups(group):
                with self._folder_to_try(each) as folder:
                    tables |= self._read(each, folder, progress, at_most_unreadable, sized=sized).report
        return AdmissionReport(version=None, tables=tables)

    @contextmanager
    def _folder_to_try(self, group: str) -> Iterator[Path]:
        """A folder for a snapshot that nobody will ask; where executors find it, if a cluster may write it."""
        parent = None if self._dataset.cluster is None else self.folder(group)
        if parent is None:
            with TemporaryDirectory(prefix="discreet-") as folder:
                yield Path(folder)
            return
        with new_folder(parent, 0) as made:
            try:
                yield made
            finally:
                shutil.rmtree(made, ignore_errors=True)

    def _groups(self, group: str | None) -> tuple[str, ...]:
        """The one refresh group that is named, or all."""
        groups = self._dataset.groups
        if group is None:
            return groups
        if group not in groups:
            raise InvalidArgument(
                f"no table belongs to the refresh group {group[:70]!r}",
                hint=f"there are {', '.join(map(repr, groups))}",
            )
        return (group,)

    def _admit(
        self,
        groups: Sequence[str],
        progress: Progress,
        at_most_unreadable: Fraction | None,
        keep: int,
        *,
        sized: bool = False,
    ) -> AdmissionReport:
        """Read the sources of some groups, and put them in force together."""
        after = {group: self._account.versions(group) for group in groups}
        report = self._put_in_force(
            after, lambda group, folder: self._read(group, folder, progress, at_most_unreadable, sized=sized)
        )
        self._sweep(groups, keep)
        return report

    def _on_schedule(
        self, group: str, progress: Progress, at_most_unreadable: Fraction | None, keep: int, *, sized: bool
    ) -> AdmissionReport:
        """Put a next version of a group in force, whatever happens."""
        before = self._account.admitted(group)
        if before is None:
            return self._admit((group,), progress, at_most_unreadable, keep, sized=sized)
        after = {group: before.version}
        try:
            report = self._put_in_force(
                after, lambda group, folder: self._read(group, folder, progress, at_most_unreadable, sized=sized)
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
            self._memory[group] = {name: held for name, held in snapshot.tables.items() if held.data}
        return AdmissionReport(
            version=admitted[-1].version,
            tables={name: found for snapshot in made.values() for name, found in snapshot.report.items()},
            groups={each.group: each.version for each in admitted},
        )

    def _read(
        self, group: str, folder: Path | None, progress: Progress, at_most_unreadable: Fraction | None, *, sized: bool
    ) -> Snapshot:
        """The sources, read; what public tables declare as unique is checked while the custodian looks on."""
        tables = self._tables(group)
        snapshot = self._by_cluster(tables, folder, progress)
        if snapshot is None:
            snapshot = admit(tables, self._data, folder, among=self._dataset.tables, progress=progress)
        for table in tables:
            check_read(table, snapshot.report[table.name], at_most_unreadable)
        if any(table.unique for table in tables):
            engine = open_engine(snapshot, self._dataset.engine, self._dataset.cluster)
            for table in tables:
                engine.check(table)
        return replace(snapshot, report=with_unit_sizes(snapshot, self._dataset.tables)) if sized else snapshot

    def _by_cluster(self, tables: Sequence[Table], folder: Path | None, progress: Progress) -> Snapshot | None:
        """What a cluster admitted, if there is one and it is worth its while."""
        if self._dataset.cluster is None or folder is None:
            return None
        from discreet.engine.spark.admission import admit_by_cluster

        return admit_by_cluster(tables, folder, self._dataset.cluster, among=self._dataset.tables, progress=progress)

    def _handed_on(self, admitted: Admitted, folder: Path | None) -> Snapshot:
        """The snapshot in force, in a folder of its own: else the ledger would show that nothing new was read."""
        group, parent = admitted.group, self.folder(admitted.group)
        if folder is None or parent is None:
            return Snapshot(tables=self._held(group))
        before = Snapshot.load(parent / admitted.snapshot, self._held(group))
        for held in before.tables.values():
            for file in held.files:
                _linked(parent / admitted.snapshot / file, folder / file)
        return Snapshot(tables=before.tables, folder=folder, report=before.report)

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
    return f"{type(error).__name__}, which wasn't expected (`discreet admit` shows where it comes from)"


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
        raise SnapshotError(f"the snapshot can't be passed on: {error.strerror}", hint="is the disk full?") from None
