"""What `init` tells of files that are laid out for readers: by the column, and nothing of files that aren't."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.tables import Source
from discreet.tables.proposals import ProposalInput, profile_table, propose_together

ROWS = [(f"P{number}", str(20 + number * 7 % 50), "Bern" if number % 3 else "Chur") for number in range(60)]


def told(path: Path, header: str, lines: list[str]) -> str:
    """The mismatches of a file."""
    path.write_text("\n".join([header, *lines]) + "\n")
    source = Source.of(path)
    columns, profile = profile_table(source, peek=True)
    return "; ".join(
        propose_together([ProposalInput(columns=columns, source=source, profile=profile)]).tables[0].mismatches
    )


PLAIN = [",".join(row) for row in ROWS]
LAYOUTS = {
    "merged cells": (
        "id,age,hospital",
        [",".join([*row[:2], "" if n % 10 else f"H{n}"]) for n, row in enumerate(ROWS)],
    ),
    "a sum below": ("id,age,city", [*PLAIN, "Total,1770,17700"]),
    "a source below": ("id,age,city", [*PLAIN, "Source: the registry,,"]),
    "an index": (",id,age,city", [f"{n},{line}" for n, line in enumerate(PLAIN)]),
    "an index of an index": ("Unnamed: 0,id,age,city", [f"{n},{line}" for n, line in enumerate(PLAIN)]),
    "a delimiter behind each line": ("id,age,city,", [f"{line}," for line in PLAIN]),
}
LAYOUTS |= {
    "a title above other delimiters": ("Report of 01/02/2024", ["id;age;city", *(";".join(row) for row in ROWS)]),
    "two lines of names": ("Patient,,Lab,", ["id,age,hb,crp", *(f"{line},1" for line in PLAIN)]),
    "rounded ids": ("patient_id,age", [f"1.234{n:02}E+11,{n * 7 % 50}" for n in range(60)]),
}
SAID = {
    "a title above other delimiters": "each row seems to have 3 cells: is the first line a title? --header-line",
    "two lines of names": "2 of 4 columns have no name: is the first line a title? --header-line",
    "rounded ids": "patient_id is rounded, as spreadsheets show long numbers",
    "merged cells": "hospital is filled only in every 10th row",
    "a sum below": "the last row seems to sum up",
    "a source below": "the last row seems to sum up",
    "an index": "column 1 numbers the rows",
    "an index of an index": "Unnamed: 0 numbers the rows",
    "a delimiter behind each line": "column 4 holds nothing: if each line ends with a delimiter, --trailing-delimiter",
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_layout_is_told(tmp_path: Path, name: str) -> None:
    """Each by its own sentence, and by no other layout's."""
    found = told(tmp_path / "t.csv", *LAYOUTS[name])
    assert SAID[name] in found
    assert not any(other in found for other in set(SAID.values()) - {SAID[name]})


@pytest.mark.parametrize(
    "lines",
    [
        PLAIN,
        [*PLAIN, "P60,,Bern"],  # cells that are missing now and then
        [",".join([*row[:2], "Bern" if n in {0, 7, 30, 31} else ""]) for n, row in enumerate(ROWS)],
        [f"{n},{row[1]},{row[2]}" for n, row in enumerate(ROWS)],  # numbers that are called ids
    ],
)
def test_nothing_is_told_of_plain_files(tmp_path: Path, lines: list[str]) -> None:
    """What is missing by accident, and ids that count, are no layout."""
    assert not any(said in told(tmp_path / "t.csv", "id,age,city", lines) for said in SAID.values())
