"""How much of a table an admission may leave out: one record, the part that is declared, and no more."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import discreet as dp
from discreet.errors import InvalidArgument, TooMuchUnreadable
from discreet.gateway import admissions_of
from discreet.tables import load_config

pytestmark = pytest.mark.usefixtures("kept_sessions")

CONFIG = """
name = "people"
ledger = "people.ledger"
adjacency = "add_remove"
budget = {{ epsilon = 10 }}

[tables.people]
source = {{ path = "people.csv", skip_malformed = true }}
unit = "id"
limits = {{ rows = 1 }}
{declared}
columns = {{ id = {{ kind = "integer" }}, seen = {{ kind = "date" }} }}
"""
GOOD = "2024-01-05"


def account(folder: Path, rows: list[str], declared: str = "") -> Any:
    """The admissions of a table with these rows, of which none was made yet."""
    (folder / "people.csv").write_text("id,seen\n" + "".join(f"{row}\n" for row in rows))
    path = folder / "discreet.toml"
    path.write_text(CONFIG.format(declared=declared))
    dp.load(path, create_ledger=True)["people"].close()
    return admissions_of(load_config(path))


def good(count: int) -> list[str]:
    """Rows in which nothing is wrong."""
    return [f"{number},{GOOD}" for number in range(count)]


@pytest.mark.parametrize(
    ("rows", "declared", "said"),
    [
        ([*good(99), "1"], "", None),  # one record
        (good(98) + ["1"] * 2, "", "2 of 100 records would be left out: 2 malformed"),
        (good(198) + ["1"] * 2, "", None),  # one in a hundred
        ([*good(98), f"x,{GOOD}", "1"], "", "1 malformed, 1 whose id can't be read"),
        (good(98) + [f"{10**30},{GOOD}"] * 2, "", "2 whose id can't be read"),
        (good(95) + ["1"] * 5, "most_left_out = 0.05", None),
        (good(94) + ["1"] * 6, "most_left_out = 0.05", "6 of 100"),
        ([*good(99), "1"], "most_left_out = 0", None),
        (good(50) + [f",{GOOD}"] * 50, "", None),  # the source itself says that they are nobody's
        (good(49) + [f",{GOOD}"] * 51, "", "51 that name nobody"),
        (good(49) + [f",{GOOD}"] * 51, "most_left_out = 0.6", None),
        (["1"] * 60, "", "60 of 60 records would be left out: 60 malformed"),
        (["1"], "", "1 of 1"),
        ([f",{GOOD}"], "", "1 that name nobody"),
        (["1"], "most_left_out = 1", None),
        ([], "", None),
    ],
)
def test_more_than_is_declared_is_refused(tmp_path: Path, rows: list[str], declared: str, said: str | None) -> None:
    """Nothing is put in force then; and where it is refused, what is said lets it pass."""
    with account(tmp_path, rows, declared) as admissions:
        if said is None:
            assert admissions.admit().version == 1
            return
        with pytest.raises(TooMuchUnreadable, match=said) as caught:
            admissions.admit()
        with pytest.raises(TooMuchUnreadable):
            admissions.check()
        assert admissions._account.in_force(("",)) == {"": None}
    declared = caught.value.hint_at("file").rpartition(", ")[2]
    with account(tmp_path, rows, declared) as admissions:
        assert admissions.admit().version == 1


@pytest.mark.parametrize(
    ("cells", "refused"),
    [
        (["31-OCT-2023"] * 60, True),
        (["31-OCT-2023"] * 60 + [""] * 900, True),  # NULL in the source isn't unreadable
        (["31-OCT-2023"] * 99 + [GOOD], True),
        (["31-OCT-2023"] * 98 + [GOOD] * 2, False),
        (["31-OCT-2023"], False),  # one value
        ([""] * 60, False),
    ],
)
def test_a_column_of_which_nothing_can_be_read_is_refused(tmp_path: Path, cells: list[str], refused: bool) -> None:
    """It is declared as something that it isn't; a custodian who means it says so each time."""
    rows = [f"{number},{cell}" for number, cell in enumerate(cells)]
    with account(tmp_path, rows) as admissions:
        if refused:
            with pytest.raises(TooMuchUnreadable, match=r"values of column 'seen' can't be read as date"):
                admissions.admit()
        assert admissions.admit(at_most_unreadable=Fraction(1)).version == 1


def test_a_schedule_goes_on_with_what_there_was(tmp_path: Path) -> None:
    """The number goes up at its tick, so that nobody who knows the time learns that too much was unreadable."""
    with account(tmp_path, good(60)) as admissions:
        assert admissions.admit_on_schedule().version == 1
        (tmp_path / "people.csv").write_text("id,seen\n" + "1\n" * 60)
        done = admissions.admit_on_schedule()
        assert (done.version, done.tables["people"]["rows"]) == (2, 60)
        assert "60 of 60 records would be left out" in done.problem


def test_the_part_is_declared_in_python_too(tmp_path: Path) -> None:
    """Of one table, and of one of several; as any exact number from 0 to 1."""
    path = tmp_path / "people.csv"
    path.write_text("id\n" + "".join(f"{number}\n" for number in range(9)) + "x\ny\n")
    how: dict[str, Any] = {
        "unit": "id",
        "limits": dp.Limits(rows=1),
        "columns": {"id": dp.Column(kind=dp.Kind.INTEGER)},
    }
    ledger = tmp_path / "people.ledger"
    with pytest.raises(TooMuchUnreadable, match="2 of 11"):
        dp.protect(str(path), name="people", budget=1, ledger=ledger, **how)
    with dp.protect(str(path), name="people", budget=1, ledger=ledger, most_left_out=0.2, **how) as people:
        assert people.dataset.tables[0].most_left_out == Fraction(1, 5)
    listed = [dp.table(str(path), name="people", most_left_out="1/5", **how)]
    dp.protect(listed, name="people", budget=1, ledger=tmp_path / "other.ledger").close()
    for wrong in (-0.1, 1.5):
        with pytest.raises(InvalidArgument, match="from 0 to 1"):
            dp.protect(str(path), name="people", budget=1, ledger=ledger, most_left_out=wrong, **how)
