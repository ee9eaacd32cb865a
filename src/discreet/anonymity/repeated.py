"""Columns that identify and yet repeat: then rows may not be people, and reports say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.tables.unit_candidates import UnitCandidate

_TOLD = 3
"""The most columns that a sentence names."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeated:
    """A column that identifies, and yet has values that several rows share: rows may be people's, several of each.

    Args:
        column: its name.
        values: how many different ones it has, without a missing one.
        rows: how many rows have one.
        fixes: columns on which the rows of one value agree, if that shows that it says whose they are.
        is_name: whether its values are names of people, which two of them may share.
        beside: the column that says whose rows are together with it; none if it does so alone.

    Examples:
        >>> print(Repeated(column="patient_id", values=2_000, rows=12_000))
        patient_id has 2,000 values in 12,000 rows
    """

    column: str
    values: int
    rows: int
    fixes: tuple[str, ...] = ()
    is_name: bool = False
    beside: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that say it together."""
        return (self.column, *self.beside)

    def to_dict(self) -> dict[str, object]:
        """The figures as JSON-ready data."""
        return {
            "column": self.column,
            "values": self.values,
            "rows": self.rows,
            "fixes": list(self.fixes),
            "is_name": self.is_name,
            "beside": list(self.beside),
        }

    def __str__(self) -> str:
        if self.fixes and not self.is_name:
            return str(
                UnitCandidate(
                    column=self.column, values=self.values, rows=self.rows, fixes=self.fixes, beside=self.beside
                )
            )
        return f"{self.column} has {self.values:,} values in {self.rows:,} rows"


def rows_counted(repeated: Sequence[Repeated], so: str = "there is no verdict") -> str:
    """Why there is no verdict, or what else follows, where columns that identify repeat.

    Examples:
        >>> rows_counted([Repeated(column="patient_id", values=2, rows=3)])
        'Rows were counted, not people: patient_id has 2 values in 3 rows. So there is no verdict.'
    """
    more = len(repeated) - _TOLD
    told = "; ".join(map(str, repeated[:_TOLD])) + (f"; and so with {more:,} more" if more > 0 else "")
    return f"Rows were counted, not people: {told}. So {so}."


def say_whose(repeated: Sequence[Repeated]) -> str:
    """How to get a verdict: all columns that may say whose a row is, the finest first; people's names never do.

    Examples:
        >>> say_whose([Repeated(column="id", values=2, rows=3)]).partition(",")[0]
        'Say whose a row is (--unit id'
        >>> people, houses = (Repeated(column=name, values=n, rows=9) for name, n in (("pid", 5), ("hid", 2)))
        >>> say_whose([houses, people]).partition(";")[0]
        'Say whose a row is (--unit pid for 5 units, or --unit hid for 2'
    """
    numbers = sorted((each for each in repeated if not each.is_name), key=lambda each: -each.values)
    alone = "that each is someone else's (--rows-are-people, unit=())."
    if not numbers:
        return (
            "Two people may share a name, so names can't say whose a row is: give everyone a number, and name "
            f"its column (--unit COLUMN, in Python unit=…), or say {alone}"
        )
    ways = [f"--unit {','.join(each.columns)}" for each in numbers]
    first = numbers[0]
    quoted = [f'"{name}"' for name in first.columns]
    python = f"[{', '.join(quoted)}]" if first.beside else quoted[0]
    told = f"{ways[0]},"
    if numbers[1:]:
        others = "".join(f", or {way} for {each.values:,}" for way, each in zip(ways[1:], numbers[1:], strict=True))
        told = f"{ways[0]} for {first.values:,} units{others};"
    return f"Say whose a row is ({told} in Python unit={python}), or {alone}"
