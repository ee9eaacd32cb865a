"""How cells seem to be written: found where they leave no doubt, and asked where they do."""

from __future__ import annotations

import pyarrow as pa
import pytest

from discreet.tables import Source
from discreet.tables.reading_options import reading_options

CSV = Source.of("t.csv")


def found(*columns: list[str], source: Source = CSV) -> tuple[str, str, set[str]]:
    """The decimal mark, the order of dates, and the options that are in doubt."""
    texts = {f"c{n}": pa.array(cells, pa.string()) for n, cells in enumerate(columns)}
    options = reading_options(texts, source)
    return options.source.decimal, options.source.dates, set(options.doubts)


@pytest.mark.parametrize(
    ("cells", "decimal", "dates"),
    [
        (["1.5", "2"], ".", "ymd"),
        (["1,5", "2"], ",", "ymd"),
        (["1,5", "NA", "?"], ",", "ymd"),
        (["-0,25", "1,123"], ",", "ymd"),
        (["1,5", "old"], ".", "ymd"),
        (["2024-12-31"], ".", "ymd"),
        (["31.12.2024", "1.2.2024"], ".", "dmy"),
        (["31/12/2024 10:30", "01/02/2024 11:00"], ".", "dmy"),
        (["12/31/2024", "01/02/2024"], ".", "mdy"),
        (["text", "more"], ".", "ymd"),
        ([], ".", "ymd"),
    ],
)
def test_what_leaves_no_doubt_is_found(cells: list[str], decimal: str, dates: str) -> None:
    """Every text of the column needs it; nothing is asked."""
    assert found(cells) == (decimal, dates, set())


@pytest.mark.parametrize(
    ("columns", "asked"),
    [
        ([["1,234", "5,678"]], "decimal"),  # a thousand, or one and a bit
        ([["1,234,567"]], "decimal"),
        ([["1,5"], ["1.5"]], "decimal"),
        ([["01/02/2024", "03/04/2024"]], "dates"),
        ([["31/12/2024"], ["12/31/2024"]], "dates"),
        ([["31/12/2024", "12/31/2024"]], "dates"),
        ([["31/02/2024"]], "dates"),
    ],
)
def test_what_can_be_read_in_two_ways_is_asked(columns: list[list[str]], asked: str) -> None:
    """Nothing is set."""
    assert found(*columns) == (".", "ymd", {asked})


def test_one_column_can_settle_another() -> None:
    """A source has one order of dates; what could be either is as what can't."""
    assert found(["01/02/2024"], ["31/12/2024"]) == (".", "dmy", set())


def test_what_is_declared_stays() -> None:
    """Nor is a comma taken for a decimal mark that stands between cells."""
    assert found(["12/31/2024"], source=Source.of("t.csv", dates="dmy")) == (".", "dmy", set())
    assert found(["1,5"], source=Source.of("t.csv", delimiter=",")) == (".", "ymd", set())
    assert found(["1.5"], source=Source.of("t.csv", decimal=",")) == (",", "ymd", set())
