"""From a recoding to a finished release: make the table, read it back, check it, and say what it cost.

Whatever made the recoding, nothing is handed out that doesn't meet its models: the check reads the released table
itself, as anybody could who has it. Nobody else knows which rows are one unit's; the check does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.classes.classes import Classes
from discreet.anonymity.classes.frequencies import Frequencies, frequencies_of
from discreet.anonymity.loss.measured import Shown, losses_of
from discreet.anonymity.models.model import Model
from discreet.anonymity.records.column import Coded, Whole
from discreet.anonymity.records.encode import places_of
from discreet.anonymity.records.read import read
from discreet.anonymity.records.records import Records
from discreet.anonymity.reduce.anonymized import Anonymized
from discreet.anonymity.reduce.deidentify import released_in_order
from discreet.anonymity.reduce.lattice.search import Search
from discreet.anonymity.reduce.lattice.table import asked_size
from discreet.anonymity.reduce.recoding import Cells, Recoding
from discreet.anonymity.risk.reidentification import reidentification_of
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.records.column import Codes


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Made:
    """What an algorithm made.

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
                f"the finished table misses {model}, so it isn't handed out",
                hint="different cells may have the same label in the release: look at the labels of the hierarchies",
            )
    bare = tables[None]
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
        unit=() if records.units is None else records.units.names,
        units=records.counted,
        touched=_touched(records, made.recoding),
        losses=_losses(records, cells, bare, models, made.recoding.precision),
        algorithm=made.algorithm,
        search=made.search,
        risks=reidentification_of(bare),
    )


def _touched(records: Records, recoding: Recoding) -> int:
    """How many units have rows that are left out."""
    if records.units is None:
        return recoding.suppressed
    return len(np.unique(records.units.codes[~recoding.kept]))


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
            kept[name] = (column.codes[recoding.kept], column.values)
    table, order = released_in_order(kept, encoded=True)
    for place, name in enumerate(table.column_names):
        if name not in columns and pa.types.is_dictionary(table.schema.field(name).type):
            table = table.set_column(place, name, table.column(name).cast(records.column(name).values.type))
    return table, {name: column.cells for name, column in columns.items()}, order


def _coded_as(frequencies: Frequencies, original: Coded | None) -> Frequencies:
    """The release's frequencies with the codes of the original, to which hierarchies are bound."""
    if original is None or frequencies.sensitive is None:
        return frequencies
    place = places_of(original, frequencies.sensitive)
    totals = np.zeros(original.size, dtype=np.int64)
    totals[place] = frequencies.totals
    return replace(frequencies, values=place[frequencies.values], totals=totals, sensitive=original)


def _losses(
    records: Records, cells: Mapping[str, Cells], bare: Frequencies, models: Sequence[Model], lost: Fraction | None
) -> dict[str, float]:
    """What generalising and leaving rows out cost."""
    assert bare.classes is not None  # noqa: S101 — they were made from the released table
    shown = [
        Shown(column=records.column(name), cells=each, counts=_counts(bare.classes, place, each))
        for place, (name, each) in enumerate(cells.items())
    ]
    return losses_of(shown, bare.rows, asked_size(models), lost)


def _counts(classes: Classes, place: int, cells: Cells) -> Whole:
    """Of each cell of a quasi-identifier, how many rows show it. Sums of integers below 2^53 are exact in doubles."""
    return np.bincount(classes.tuples[:, place], classes.rows, minlength=len(cells.labels)).astype(np.int64)
