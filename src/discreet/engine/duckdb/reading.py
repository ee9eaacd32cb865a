"""How a question reads a snapshot: in how many parts, and by which of admission's notes.

A question's private rows are brought together within one unit and nowhere else, and then integers are added. So where
the rows of a unit lie in the parts of one number, a question can be asked of one part after the other. That takes that
admission found the units as the question does. Where it didn't, all rows are read at once, and units are found then.

Notes are facts about a unit. None of them decides an answer, only how it is come by; see `Shape.is_coded`. But of a
unit that makes more pairs in a join than a plan lets it, other rows may be left out than without notes (`JoinLimits`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from discreet.errors import unforeseen
from discreet.query import ir
from discreet.tables import Kind, Table
from discreet.tables.admission import HeldTable, Snapshot

_NOTHING = HeldTable(columns=(), rows=0, digest="")
"""What is known of a table that isn't admitted yet; a question about it may be tried all the same."""


class Reading(NamedTuple):
    """How a question reads a snapshot.

    Args:
        ids: of which kind the ids are by which admission found the units of tables, by their names in lower case; none,
            if units are found anew. What is declared decides it, and no row.
        parts: in how many parts; 1 if all rows are read at once. It depends on how many rows there are.
        unique: columns of private tables, by the table's name and theirs in lower case, which hold no value twice in
            any part.
        coded: private tables, by their names in lower case, of which a part is one file. Where it is several, each
            numbers its units from 0, so that codes tell nobody apart.
    """

    ids: Mapping[str, Kind]
    parts: int
    unique: frozenset[tuple[str, str]]
    coded: frozenset[str]

    @classmethod
    def of(cls, exact: ir.Exact, snapshot: Snapshot) -> Reading:
        """How a question reads a snapshot."""
        private = [scan for scan in exact.scans if scan.owner is not None]
        held = [snapshot.tables.get(scan.table.name.casefold(), _NOTHING) for scan in private]
        parted_by = {each.notes.parted_by for each in held if each.notes is not None}
        if len(parted_by) != 1 or not all(map(_finds_units, private, held)):
            return cls(ids={}, parts=1, unique=frozenset(), coded=frozenset())
        parts = min(each.parts for each in held)
        kinds = ((scan, scan.owner.signature(scan.table)[0]) for scan in private if scan.owner is not None)
        ids = {scan.table.name.casefold(): kind for scan, kind in kinds if kind is not None}
        coded = {
            scan.table.name.casefold(): each.notes
            for scan, each in zip(private, held, strict=True)
            if each.notes is not None and each.parts == parts
        }
        unique = frozenset((table, column) for table, notes in coded.items() for column in notes.unique)
        return cls(ids, parts, unique, frozenset(coded))

    def is_unique(self, table: Table, column: str) -> bool:
        """Whether each value is once in a column: of a public table by what is declared, else in each part."""
        if table.public:
            return column.casefold() in {each.casefold() for each in table.unique}
        return (table.name.casefold(), column.casefold()) in self.unique

    def keeps_sizes(self, exact: ir.Exact) -> bool:
        """Whether a code can stand for each unit, and the size that is noted bounds how many rows the unit has.

        One table alone says whose rows are, and no unit has more rows than it has there.
        """
        private = [scan for scan in exact.scans if scan.owner is not None]
        is_coded = len(private) == 1 and private[0].table.name.casefold() in self.coded
        return is_coded and all(map(self._makes_no_rows, ir.nodes(exact.source)))

    def _makes_no_rows(self, relation: ir.Relation) -> bool:
        """Whether a relation has no more rows of a unit than the private one of those below it."""
        match relation:
            case ir.Join(kind=kind) if not kind.has_both_sides or ir.owner_of(relation) is None:
                return True
            case ir.Join(left=left, right=right):
                other = right if ir.owner_of(left) is not None else left
                return ir.owner_of(other) is None and ir.is_unique(other, ir.joined_on(relation), self._is_key)
            case ir.Union():
                return False
            case ir.Scan() | ir.Where() | ir.Project() | ir.Distinct() | ir.PerUnit() | ir.Window():
                return True
            case _:
                raise unforeseen(relation)

    def _is_key(self, scan: ir.Scan, names: frozenset[ir.Name]) -> bool:
        """Whether each value is once in one of these columns of a table."""
        return any(alias == scan.alias and self.is_unique(scan.table, name) for alias, name in names)


def _finds_units(scan: ir.Scan, held: HeldTable) -> bool:
    """Whether admission found the units of a table as a question does.

    It followed links by equal values alone. Bounds and keys of the columns on the way, which leave rows out, are
    enforced when a question is asked; those of columns that the table's own rows don't have can't be.
    """
    table, owner = scan.table, scan.owner
    if owner is None or held.notes is None or held.notes.owner != owner.words(table):
        return False
    further = [(hop.table, hop.to) for hop in owner.hops[1:]]
    further += [(before.table, hop.column) for before, hop in zip(owner.hops, owner.hops[1:], strict=False)]
    if owner.hops and owner.unit.at is not None:
        further.append((owner.hops[-1].table, owner.unit.at))
    columns = [entered.column(name) for entered, name in further]
    return all(column.bounds is None and column.keys is None for column in columns)
