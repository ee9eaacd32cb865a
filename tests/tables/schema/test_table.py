"""Declarations that contradict themselves, or that no row could meet, are refused when they are made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import InvalidArgument, SourceUnsupported
from discreet.privacy import Bounds, Budget, Keys, KeyValue, Unit
from discreet.tables import Column, Dataset, Kind, Source, Table

X = Column(name="x", kind=Kind.TEXT)


def table(source: Source, *keys: KeyValue) -> Table:
    """A table with one column of texts."""
    return Table(name="t", source=source, columns=(Column(name="x", kind=Kind.TEXT, keys=Keys(keys)),), unit=Unit.row())


def dataset(budget: Budget, **analysts: Budget) -> Dataset:
    """A dataset with shares."""
    one = Table(name="t", source=Source.of("t.csv"), columns=(X,), unit=Unit.row())
    return Dataset(name="d", tables=(one,), budget=budget, ledger="l", analysts=analysts)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Source(kind="excel", location="x"), "unknown kind of source 'excel'"),  # type: ignore[arg-type]  # wrong on purpose
        (lambda: Source(kind="csv", location=""), "needs a location"),
        (lambda: Source(kind="csv", location="x", table="t"), "only a database has tables"),
        (
            lambda: Source(kind="parquet", location="x", missing=("?",)),
            "missing means nothing for a source of kind 'parquet'",
        ),
        (
            lambda: Table(name="t", source=Source.of("t.csv"), columns=(X, Column(kind=Kind.TEXT)), unit=Unit.row()),
            "a column of table 't' has no name",
        ),
        (lambda: Column(kind=Kind.TEXT, bounds=Bounds(0, 1)), "the column is text; bounds in numbers"),
        (lambda: Table(name="", source=Source.of("t.csv"), columns=(X,), unit=Unit.row()), "a table needs a name"),
        (lambda: Dataset(name="", tables=(), budget=Budget(1), ledger="l"), "needs a name and a ledger"),
        (lambda: Dataset(name="d", tables=(), budget=Budget(1), ledger=""), "needs a name and a ledger"),
        (lambda: dataset(Budget(1), alice=Budget(2)), "'alice' has more epsilon"),
        (lambda: dataset(Budget(1), alice=Budget(1, "1e-6")), "'alice' has more delta"),
        (lambda: dataset(Budget(rho=1, delta="1e-6"), al=Budget(rho=2, delta="1e-6")), "'al' has more rho"),
        (lambda: dataset(Budget(1), **{"": Budget(1)}), "an analyst needs a name"),
    ],
)
def test_what_is_refused(make: Callable[[], Any], message: str) -> None:
    """Each is an `InvalidArgument` in words of its own."""
    with pytest.raises(InvalidArgument, match=message):
        make()


def test_shares_up_to_the_budget_are_accepted() -> None:
    """A share may be all there is, and of another kind than the budget, where no amount can be compared."""
    assert dataset(Budget(1, "1e-6"), alice=Budget(1, "1e-6"), bob=Budget("1/3")).analysts["bob"].is_pure
    assert dataset(Budget(rho=1, delta="1e-6"), alice=Budget(5)).analysts


def test_keys_that_a_csv_file_cannot_hold() -> None:
    """Trimmed, empty or missing texts can't be keys of a CSV file, for every row would be NULL; elsewhere they can."""
    csv = Source.of("t.csv", missing=("?",))
    for key, message in {" Male": "trimmed of spaces", "": "is read as NULL", "?": "is read as NULL"}.items():
        with pytest.raises(InvalidArgument, match=message) as caught:
            table(csv, "Female", key)
        assert caught.value.hint
        assert table(Source.of("t.parquet"), "Female", key).columns[0].keys == Keys(["Female", key])
    assert table(csv, "Female", None, "in between").columns[0].keys
    assert table(Source.of("t.csv"), "?").columns[0].keys


@pytest.mark.parametrize(
    ("path", "kind", "stem"),
    [
        ("adult.csv", "csv", "adult"),
        ("/data/ADULT.CSV", "csv", "ADULT"),
        ("adult.csv.gz", "csv", "adult"),
        ("adult.tsv", "csv", "adult"),
        ("a.b.parquet", "parquet", "a.b"),
        ("x.duckdb", "duckdb", "x"),
        ("x.db", "duckdb", "x"),
        (".csv", "csv", ".csv"),
    ],
)
def test_the_ending_says_the_kind(path: str, kind: str, stem: str) -> None:
    """A path is enough for a file of a known ending."""
    for source in (Source.of(path), Source.of(Path(path))):
        assert (source.kind, source.location, source.stem) == (kind, path, stem)


def test_an_unknown_ending_is_refused_with_those_known() -> None:
    """Nothing is guessed about other files."""
    for path in ("adult.docx", "adult", "csv", "x.csv/readme"):
        with pytest.raises(SourceUnsupported) as caught:
            Source.of(path)
        assert ".parquet" in caught.value.hint
