"""What each quasi-identifier adds to the risk."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.anonymity.records.records import Records
from discreet.anonymity.risk.partition import Start


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnRisk:
    """What a quasi-identifier tells apart.

    Args:
        name: of the column.
        values: how many different values it has.
        alone: how many units it singles out by itself.
        without: how many units the other quasi-identifiers single out without it.
        adds: how many units only it, together with the others, singles out.
    """

    name: str
    values: int
    alone: int
    without: int
    adds: int

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "name": self.name,
            "values": self.values,
            "alone": self.alone,
            "without": self.without,
            "adds": self.adds,
        }


def column_risks(records: Records, begin: Start) -> tuple[ColumnRisk, ...]:
    """What each quasi-identifier adds, the one that adds most first.

    Args:
        records: the table.
        begin: it, to be divided by the quasi-identifiers.
    """
    names, whole = begin.names, begin.whole
    part, everything = whole, whole.unique_with_rest(0)
    found = []
    for place, name in enumerate(names):
        without = part.unique_with_rest(place + 1)  # all before it, and all after
        alone = whole.refined(place)
        size = records.column(name).size
        found.append(ColumnRisk(name=name, values=size, alone=alone.unique, without=without, adds=everything - without))
        if place + 1 < len(names):
            part = part.refined(place)
    return tuple(sorted(found, key=lambda each: (-each.adds, -each.alone)))
