"""The frequency table against loops over rows, in every policy for missing values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing, Records, read
from discreet.anonymity.classes import classes_of
from discreet.anonymity.frequencies import Frequencies, frequencies_of
from discreet.errors import InvalidArgument, SchemaMismatch

Row = tuple[str | None, ...]

cells = st.sampled_from(["a", "b", "c", None])
tables = st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[cells] * width, cells), max_size=14))


def names(rows: Sequence[Row]) -> list[str]:
    """The quasi-identifiers' names; the last column is the sensitive one."""
    return [f"q{place}" for place in range(len(rows[0]) - 1)] if rows else ["q0"]


def records(rows: Sequence[Row], missing: Missing = Missing.OWN_VALUE) -> Records:
    """The rows as a table."""
    columns = [*names(rows), "ill"]
    return read({name: [row[place] for row in rows] for place, name in enumerate(columns)}, missing=missing)


def agree(one: Row, other: Row, missing: Missing) -> bool:
    """Whether two rows can't be told apart by their quasi-identifiers."""
    pairs = zip(one[:-1], other[:-1], strict=True)
    if missing is Missing.WILDCARD:
        return all(mine == theirs or None in {mine, theirs} for mine, theirs in pairs)
    return all(mine == theirs for mine, theirs in pairs)


def contents(found: Frequencies) -> list[dict[object, int]]:
    """The sensitive values of each class, with their counts."""
    assert found.sensitive is not None
    labels = found.sensitive.labels()
    pairs = list(zip(found.values.tolist(), found.counts.tolist(), strict=True))  # noqa: PD011 — no pandas table
    return [
        {labels[value]: count for value, count in pairs[low:high]}
        for low, high in zip(found.starts[:-1].tolist(), found.starts[1:].tolist(), strict=True)
    ]


@pytest.mark.parametrize("missing", [Missing.OWN_VALUE, Missing.WILDCARD])
@given(rows=tables)
def test_every_class_holds_what_its_rows_hold(rows: list[Row], missing: Missing) -> None:
    """Rows, hiding places and sensitive values, against a loop over all pairs of rows."""
    found = frequencies_of(records(rows, missing), names(rows), "ill")
    order = sorted({row[:-1] for row in rows}, key=lambda row: [(cell is None, cell or "") for cell in row])
    hidden = [[row for row in rows if agree((*own, None), row, missing)] for own in order]
    assert found.rows.tolist() == [sum(row[:-1] == own for row in rows) for own in order]
    assert found.sizes.tolist() == [len(each) for each in hidden]
    assert contents(found) == [dict(Counter(row[-1] for row in each)) for each in hidden]
    assert found.total == len(rows)
    assert found.sensitive is not None
    everyone = dict(zip(found.sensitive.labels(), found.totals.tolist(), strict=True))
    assert everyone == dict(Counter(row[-1] for row in rows))
    bare = frequencies_of(records(rows, missing), names(rows))
    assert (bare.sizes.tolist(), bare.starts.tolist()) == (found.sizes.tolist(), [0] * (found.number + 1))


@given(rows=tables, everybody=tables)
def test_a_population_is_counted_by_its_values(rows: list[Row], everybody: list[Row]) -> None:
    """The same values mean the same people, whatever codes the two tables gave them."""
    width = min(len(names(rows)), len(names(everybody)))
    mine = [(*row[:width], row[-1]) for row in rows]
    theirs = [(*row[:width], row[-1]) for row in everybody]
    found = frequencies_of(records(mine), names(mine), "ill", population=records(theirs))
    assert found.population is not None
    assert found.classes is not None
    labels = [column.labels() for column in found.classes.columns]
    tuples = [
        tuple(each[code] for each, code in zip(labels, codes, strict=True)) for codes in found.classes.tuples.tolist()
    ]
    assert found.population.tolist() == [sum(row[:-1] == own for row in theirs) for own in tuples]


@given(rows=tables, data=st.data())
def test_the_order_of_rows_and_an_index_change_nothing(rows: list[Row], data: st.DataObject) -> None:
    """A pandas index is a label, never a position."""
    shuffled = data.draw(st.permutations(rows))
    columns = [*names(rows), "ill"]
    frame = pd.DataFrame(shuffled, columns=columns, dtype=object).set_index(pd.Index(range(7, 7 + len(rows))[::-1]))
    one, other = frequencies_of(records(rows), names(rows), "ill"), frequencies_of(read(frame), names(rows), "ill")
    assert contents(one) == contents(other)
    assert one.rows.tolist() == other.rows.tolist()


def test_a_single_column_with_a_missing_value_keeps_its_row() -> None:
    """Dropping that row would report 2-anonymity for a table in which one person is alone."""
    table = read({"zip": ["1", "1", None]})
    assert classes_of(table, ["zip"]).sizes.tolist() == [2, 1]
    assert classes_of(read(table, missing="wildcard"), ["zip"]).sizes.tolist() == [3, 3]


def test_what_makes_no_classes_is_refused() -> None:
    """With a typed error, before anything is computed."""
    table = read({"zip": ["1"], "ill": ["flu"]})
    for wrong in ([], "zip", ["zip", "zip"]):
        with pytest.raises(InvalidArgument):
            classes_of(table, wrong)
    with pytest.raises(SchemaMismatch, match="no column 'age'"):
        frequencies_of(table, ["age"])
    with pytest.raises(InvalidArgument, match="both quasi-identifying and sensitive"):
        frequencies_of(table, ["zip"], "zip")
    with pytest.raises(InvalidArgument, match="wildcards"):
        frequencies_of(read(table, missing="wildcard"), ["zip"], population=table)
