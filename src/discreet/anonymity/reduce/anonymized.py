"""A finished release: the table, what its cells stand for, what it promises, what it cost, and how it is made.

Whatever made the recoding, no table that fails its models is released: the check reads the released table itself, as
anyone could who has it. Only the check also knows which rows are one unit's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.classes import Classes
from discreet.anonymity.columns import Coded, Whole
from discreet.anonymity.frequencies import Frequencies, frequencies_of
from discreet.anonymity.loss.release_losses import Shown, losses_of
from discreet.anonymity.matching import places_of
from discreet.anonymity.models.model import Model
from discreet.anonymity.records import Records, read
from discreet.anonymity.reduce.deidentify import released_in_order
from discreet.anonymity.reduce.lattice_search import Search
from discreet.anonymity.reduce.lattice_table import asked_size
from discreet.anonymity.reduce.recoding import Cells, Recoding
from discreet.anonymity.repeated import Repeated, rows_counted
from discreet.anonymity.risk.gathering import Gathered, gathered
from discreet.anonymity.risk.reidentification import Reidentification, reidentification_of
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from discreet.anonymity.columns import Codes

CAVEAT = (
    "A model of anonymity is a property of this table alone. It says nothing about this table beside another release "
    "about the same people, nothing about an attacker who knows sensitive values, and it doesn't stop people from "
    "being singled out. It puts no bound on what anyone can learn about a person."
)
"""The statement that every release makes about itself."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Anonymized:
    """A release that meets its models, checked on the released table itself.

    Args:
        table: the release. Quasi-identifiers are texts, other columns are as they were. It is sorted by all of its
            columns, so that it depends on which rows there were and not on their order.
        records: the same, coded. The codes of a quasi-identifier are places in the labels of its cells.
        cells: of each quasi-identifier, what its cells stand for in the original column.
        quasi_identifiers: names of columns.
        sensitive: names of columns.
        models: what was promised.
        reached: for each model, in words, what the release reaches.
        suppressed: how many rows were left out.
        rows: how many there were before.
        unit: the columns that say whose a row is; none if each row is a unit of its own. They aren't released.
        units: how many units there were before: people or households, or rows.
        touched: how many of them have rows that were left out.
        repeated: columns that identify and repeat though no unit is named. Then what is promised is promised of rows,
            and perhaps not of people.
        gathered: columns of the release that say which rows are one unit's, though no column names it.
        dated: quasi-identifiers that were texts and were read as dates; cells stand for these.
        losses: what generalising and leaving out cost, by name; less is better.
        algorithm: that made it.
        tried: by algorithm, the loss that was to be small, where several were tried.
        search: how it was found; None where nothing was searched.
        risks: of being re-identified in it nevertheless.
        caveat: what a release of this kind doesn't promise.
    """

    table: pa.Table
    records: Records
    cells: Mapping[str, Cells]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    models: tuple[Model, ...]
    reached: Mapping[str, float]
    suppressed: int
    rows: int
    unit: tuple[str, ...]
    units: int
    touched: int
    losses: Mapping[str, float]
    repeated: tuple[Repeated, ...] = ()
    gathered: tuple[Gathered, ...] = ()
    dated: tuple[str, ...] = ()
    algorithm: str = "optimal"
    tried: Mapping[str, float] = field(default_factory=dict)
    search: Search | None = None
    risks: Reidentification | None = None
    caveat: str = CAVEAT

    def __post_init__(self) -> None:
        for name in ("cells", "reached", "losses", "tried"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def to_arrow(self) -> pa.Table:
        """The release."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The release as pandas has it.

        Raises:
            ImportError: pandas isn't installed.
        """
        return self.table.to_pandas()

    def to_dict(self) -> dict[str, object]:
        """Everything but the table, as JSON-ready data; None where a model is reached without end."""
        return {
            "algorithm": self.algorithm,
            "tried": dict(self.tried),
            "models": [str(model) for model in self.models],
            "reached": {name: value if isfinite(value) else None for name, value in self.reached.items()},
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "rows": self.rows,
            "released": self.rows - self.suppressed,
            "suppressed": self.suppressed,
            "unit": list(self.unit),
            "units": self.units,
            "touched": self.touched,
            "repeated": [each.to_dict() for each in self.repeated],
            "gathered": [each.to_dict() for each in self.gathered],
            "losses": dict(self.losses),
            "search": None if self.search is None else self.search.to_dict(),
            "risks": None if self.risks is None else self.risks.to_dict(),
            "caveat": self.caveat,
        }

    def __str__(self) -> str:
        share = self.suppressed / self.rows if self.rows else 0.0
        by_unit = (
            {"units": f"{self.units:,}, of which {self.touched:,} have rows that are left out"} if self.unit else {}
        )
        of_rows = " of rows, not of people" if self.repeated else ""
        lines = {
            "promised": ", ".join(str(model) for model in self.models) + of_rows,
            "reached": ", ".join(f"{name}: {value:.4g}" for name, value in self.reached.items()),
            "rows": f"{self.rows - self.suppressed:,} of {self.rows:,} released, {share:.2%} left out",
            **by_unit,
            "losses": ", ".join(f"{name} {value:.4g}" for name, value in self.losses.items()),
        }
        if self.risks is not None:
            risk = self.risks.prosecutor
            lines["risk"] = (
                f"highest {risk.highest:.4g}, on average {risk.average:.4g}, for an attacker who knows who is in it"
            )
        text = "\n".join(f"{name:<9} {text}" for name, text in lines.items())
        found = "" if self.search is None else f"\n{self.search}"
        first = f"{rows_counted(self.repeated)}\n" if self.repeated else ""
        first += "".join(f"beware: {each}\n" for each in self.gathered)
        return f"{first}{text}{found}\n{self.caveat}"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Made:
    """The output of an algorithm.

    Args:
        algorithm: its name.
        recoding: of the rows.
        search: how it was found; None where nothing was searched.
        population: the population, its quasi-identifiers generalised as the release has them; None if there is none.
    """

    algorithm: str
    recoding: Recoding
    search: Search | None = None
    population: Records | None = None


def finished(records: Records, made: Made, models: Sequence[Model], sensitive: Sequence[str]) -> Anonymized:
    """A release, checked.

    Args:
        records: the original, with no columns but those that are released.
        made: what becomes of its quasi-identifiers and rows.
        models: that it must meet.
        sensitive: its sensitive columns.

    Raises:
        InvalidArgument: the finished table misses a model.
    """
    quasi = tuple(made.recoding.columns)
    table, cells, order = _table(records, made.recoding)
    again = read(table)
    if records.units is not None:  # which rows are one unit's takes another sort
        again = replace(again, units=records.units.take(np.flatnonzero(made.recoding.kept)[order()]))
    tables = {
        name: _coded_as(
            frequencies_of(again, quasi, name, made.population), None if name is None else records.column(name)
        )
        for name in dict.fromkeys([None, *(model.sensitive for model in models)])
    }
    for model in models:
        if not model.met(tables[model.sensitive]).all():
            raise InvalidArgument(
                f"the finished table doesn't meet {model}, so it isn't released",
                hint="different cells may have the same label in the release: look at the labels of the hierarchies",
            )
    bare, whose = tables[None], records.units
    return Anonymized(
        table=table,
        records=again,
        cells=cells,
        quasi_identifiers=quasi,
        sensitive=tuple(sensitive),
        models=tuple(models),
        reached={str(model): model.reached(tables[model.sensitive]) for model in models},
        suppressed=made.recoding.suppressed,
        rows=records.rows,
        unit=() if whose is None else whose.names,
        units=records.counted,
        touched=made.recoding.suppressed if whose is None else len(np.unique(whose.codes[~made.recoding.kept])),
        losses=_losses(records, cells, bare, models, made.recoding.precision),
        algorithm=made.algorithm,
        search=made.search,
        risks=reidentification_of(bare),
        gathered=gathered(again, again.names, quasi),
    )


def _table(records: Records, recoding: Recoding) -> tuple[pa.Table, dict[str, Cells], Callable[[], Whole]]:
    """The release, what the cells of its quasi-identifiers stand for, and what says which kept row each row may be.

    Rows that look alike may stand for each other. Quasi-identifiers are dictionary-encoded texts, which take least
    memory; the rest is as it was.
    """
    import pyarrow as pa

    columns = {name: column.tidied(recoding.kept) for name, column in recoding.columns.items()}
    kept: dict[str, tuple[Codes, Sequence[str] | pa.Array]] = {}
    for name, column in records.columns.items():
        if name in columns:
            kept[name] = (columns[name].codes, columns[name].cells.labels)
        else:
            kept[name] = (column.codes[recoding.kept], column.values)  # noqa: PD011 — a field of ours, not of pandas
    table, order = released_in_order(kept, encoded=True)
    for place, name in enumerate(table.column_names):
        if name not in columns and pa.types.is_dictionary(table.schema.field(name).type):
            kind = records.column(name).values.type  # noqa: PD011 — a field of ours, not of pandas
            table = table.set_column(place, name, table.column(name).cast(kind))
    return table, {name: column.cells for name, column in columns.items()}, order


def _coded_as(frequencies: Frequencies, original: Coded | None) -> Frequencies:
    """The release's frequencies with the codes of the original, to which hierarchies are bound."""
    if original is None or frequencies.sensitive is None:
        return frequencies
    place = places_of(original, frequencies.sensitive)
    totals = np.zeros(original.size, dtype=np.int64)
    totals[place] = frequencies.totals
    return replace(frequencies, values=place[frequencies.values], totals=totals, sensitive=original)  # noqa: PD011 — a field of ours, not of pandas


def _losses(
    records: Records, cells: Mapping[str, Cells], bare: Frequencies, models: Sequence[Model], lost: Fraction | None
) -> dict[str, float]:
    """The losses by generalising and by leaving rows out."""
    assert bare.classes is not None  # noqa: S101 — they were made from the released table
    shown = [
        Shown(column=records.column(name), cells=each, counts=_counts(bare.classes, place, each))
        for place, (name, each) in enumerate(cells.items())
    ]
    return losses_of(shown, bare.rows, asked_size(models), lost)


def _counts(classes: Classes, place: int, cells: Cells) -> Whole:
    """For each cell of a quasi-identifier, how many rows show it. Sums of integers below 2^53 are exact in doubles."""
    return np.bincount(classes.tuples[:, place], classes.rows, minlength=len(cells.labels)).astype(np.int64)
