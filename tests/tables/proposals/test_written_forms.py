"""What `init` says of texts that aren't read as they stand: each promise is kept once it is declared."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.tables import Source, Table
from discreet.tables.admission import admit
from discreet.tables.proposals import ProposalInput, profile_table, propose_together
from discreet.tables.reading_options import reading_options
from discreet.tables.schema.column import Column, Kind

FORMS = [
    (["31-OCT-2023", "1-Nov-2023"], Kind.DATE, {"format": "%d-%b-%Y"}),
    (["3/14/2024 2:05 PM", "3/1/2024 2:05 AM"], Kind.TIMESTAMP, {"format": "%m/%d/%Y %I:%M %p"}),
    (["14.3.24", "1.2.99"], Kind.DATE, {"format": "%d.%m.%y"}),
    (["May 1, 2024", "May 2, 2024"], Kind.DATE, {"format": "%b %d, %Y"}),
    (["March 1, 2024", "May 2, 2024"], Kind.DATE, {"format": "%B %d, %Y"}),
    (["$20731", "$7"], Kind.INTEGER, {"strip": "$"}),
    (["45%", "4.5%"], Kind.REAL, {"strip": "%"}),
    (["$1,234.50", "$7.00"], Kind.REAL, {"strip": "$", "thousands": ","}),
    (["1,234,567", "1,000"], Kind.INTEGER, {"thousands": ","}),
    (["1 234", "12"], Kind.INTEGER, {"thousands": " "}),
    (["1\u00a0234", "\u221212"], Kind.INTEGER, {"thousands": " "}),
    (["1'234.5", "12"], Kind.REAL, {"thousands": "'"}),
    (["20,731", "1,000"], None, {}),
    (["1/2/2024 2:05 PM"], None, {}),
    (["Main Street 1"], None, {}),
    (["12 Main", "13 Main"], None, {}),
    (["+41 79 123 45 67"], None, {}),
]


@pytest.mark.parametrize(("texts", "kind", "form"), FORMS)
def test_what_is_said_to_read_a_column_reads_all_of_it(
    tmp_path: Path, texts: list[str], kind: Kind | None, form: dict[str, str]
) -> None:
    """Admission of a file in which it is declared leaves nothing NULL; where two forms would do, none is said."""
    source = Source.of(tmp_path / "t.csv", delimiter="\t")
    found = reading_options({"x": pa.array(texts)}, source)
    assert found.forms.get("x", {}) == form
    if kind is not None:
        (tmp_path / "t.csv").write_text("\n".join(["x", *texts]) + "\n")
        column = Column(name="x", kind=kind, **form)  # type: ignore[arg-type]  # — each is what it was found to be
        table = Table(name="t", source=source, columns=(column,), unit=dp.Unit.row())
        report = admit([table], {}, tmp_path).report["t"]
        assert (report["rows"], report["unreadable"]) == (len(texts), {})


def test_a_promise_names_what_keeps_it(tmp_path: Path) -> None:
    """Commas that may be either have both ways named; dates that no order reads have none promised."""
    path = tmp_path / "t.csv"
    path.write_text('income\tseen\n"20,731"\t31.2.2024\n"1,000"\t1.2.2024\n')
    source = Source.of(path)
    columns, profile = profile_table(source, peek=True)
    doubts = propose_together([ProposalInput(columns=columns, source=source, profile=profile)]).tables[0].doubts
    assert re.search(r'--decimal , .*thousands = ","', doubts["decimal"])
    assert "--dates" not in doubts["dates"]
    assert reading_options({"x": pa.array(["20,731"])}, Source.of(path, decimal=",")).doubts == {}
