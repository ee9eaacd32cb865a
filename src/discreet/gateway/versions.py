"""Versions: which version of the tables is in force, and how it is opened for questions.

The number of the version is the custodian's act alone, and no function of what the tables hold: an analyst who could
tell from it whether they changed, or which of them did, could tell whether someone is in one. So there is one number
for all tables of an account, and it goes up with each admission.

Tables may be declared to be of several refresh groups, which are admitted apart. All count with the account's one
number, and a group keeps the one of its last admission. A question is at the greatest number of the groups that it
reads: since none of them was admitted after that, it tells which versions of all of them these are.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from discreet.engine import open_engine
from discreet.errors import AdmissionConflict, InvalidArgument, NotAdmitted, SnapshotError, SnapshotMissing
from discreet.gateway.after_close import AFTER_CLOSE
from discreet.gateway.current import Current, groups_read
from discreet.hints import Hint
from discreet.query.planner import Plan
from discreet.tables import Dataset, Table
from discreet.tables.admission import HeldTable, Lock, Progress, Snapshot, admit, folder_of, identifying

if TYPE_CHECKING:
    from discreet.ledger import Account, Admitted


_OTHERS = "a table about other people belongs in an account of another name, or in another ledger"
"""A hint for when the tables at hand may not be the account's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmissionReport:
    """The result of an admission, for the custodian alone: it is read off the tables, and not private.

    Args:
        version: the number that is in force now; None if nothing was put in force.
        groups: the same for each refresh group that was admitted; that of tables without one is called "".
        tables: by name, what was read and what was left out of each: `rows`, `left_out` (rows that don't say whose they
            are; `unreadable_ids` of them, because it can't be read), `beyond_most_rows_per_unit` (`units`, and `rows`
            of them that weren't admitted), `malformed` (records, with the lines of the first hundred in
            `malformed_lines`, and how many for which cause in `malformed_causes`), and by column `present` (values that
            the source has),
            `unreadable` (those that are NULL now) and `cut` (texts longer than `max_length`); where it was asked for,
            `units`: how many rows they have, and what limits would cut off.
        problem: why the sources couldn't be read, where a scheduled admission served the earlier snapshot again.
    """

    version: int | None
    tables: Mapping[str, Mapping[str, Any]]
    problem: str = ""
    groups: Mapping[str, int] = field(default_factory=dict)


class Versions(ABC):
    """The versions of the tables of one account, as one process sees them; `Admissions` puts the next in force.

    Args:
        dataset: what is declared of the tables.
        account: whose ledger numbers the versions.
        data: tables in memory, by the location of their source.
    """

    def __init__(self, dataset: Dataset, account: Account, data: Mapping[str, object]) -> None:
        self._dataset = dataset
        self._account = account
        self._data = dict(data)
        self._memory: dict[str, Mapping[str, HeldTable]] = {}
        self._current: Current | None = None
        self._turn = RLock()

    def folder(self, group: str = "") -> Path | None:
        """The folder of a refresh group's snapshots; None if all its tables are in memory.

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
                    "no folder is named in which to keep the admitted tables",
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
                raise NotAdmitted(
                    "no version of these tables has been admitted yet", hint=_hint_to_admit("{} reads them")
                )
            if self._current is None or self._current.admitted != admitted:
                self._current = self._open(admitted)  # questions that still run keep the ones before, and their locks
            return self._current

    def version_at(self, version: int, plan: Plan) -> int:
        """The number at which a plan was when the account had reached a version; 0 if its tables weren't there."""
        return self._account.of_groups(version, groups_read(plan))

    def first(self, *, progress: Progress = lambda _table, _rows: None) -> AdmissionReport | None:
        """Admit the tables that weren't yet; None if all were, be it by another process while this one read them.

        First use means what is in force: of several processes that begin at once, one admits, and the others go on with
        that. Where what they hold in memory differs, questions are refused, as they are later.

        Raises:
            SourceError, SnapshotError: as for `admit`.
        """
        with self._turn:
            while missing := [
                group for group, each in self._account.in_force(self._dataset.groups).items() if not each
            ]:
                with suppress(AdmissionConflict):
                    return self._admit(missing, progress, None, 0)
        return None

    def damaged(self) -> list[str]:
        """The damage to the snapshots in force, in words; all of their files are read.

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

    def _tables(self, group: str) -> tuple[Table, ...]:
        """The tables of a refresh group."""
        return tuple(table for table in self._dataset.tables if table.refresh == group)

    @abstractmethod
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
        return Current(admitted, open_engine(together, self._dataset.engine, self._dataset.cluster), together, locks)

    def _damaged(self, admitted: Admitted) -> Iterator[str]:
        """The damage to one group's snapshot."""
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
                hint=_hint_to_admit(f"{{}} admits these as the next version; {_OTHERS}"),
            )
        folder = parent / admitted.snapshot
        if not folder.is_dir():
            raise SnapshotMissing(
                f"the snapshot of version {admitted.version} isn't there, so no question can be answered",
                hint=_hint_to_admit("restore it from a copy, or admit the sources again: {}"),
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
                hint=_hint_to_admit(f"{{}} admits them as the next version; {_OTHERS}"),
            )
        raise SnapshotMissing(
            f"the snapshot {str(snapshot.folder)!r}, with the tables in memory, isn't what was admitted as version "
            f"{admitted.version}",
            hint=_hint_to_admit("restore it from a copy, or admit the sources again: {}"),
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
                    f"table {table.name!r} is declared differently from when version {admitted.version} was admitted",
                    hint=_hint_to_admit(f"admit it again: {{}}; {_OTHERS}"),
                )

    def _held(self, group: str) -> Mapping[str, HeldTable]:
        """The tables of a group that are in memory, as they are admitted."""
        if group not in self._memory:
            tables = [table for table in self._tables(group) if table.source.kind == "memory"]
            self._memory[group] = admit(tables, self._data, None, among=self._dataset.tables).tables if tables else {}
        return self._memory[group]


def _shared(folder: Path) -> Lock:
    """The lock of a reader."""
    try:
        return Lock(folder, shared=True)
    except OSError:
        pass
    raise SnapshotMissing(
        f"the snapshot {str(folder)!r} is being removed, or can't be opened", hint="ask again in a moment"
    )


def _hint_to_admit(template: str) -> Hint:
    """A hint to admit the tables, by the name that it has at each door."""
    return Hint(template.format("refresh()"), cli=template.format("`discreet admit`"))
