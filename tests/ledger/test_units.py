"""Units: what an account adds up is about one unit of each table, whatever is declared later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from discreet.errors import InvalidArgument, LedgerCorrupt
from discreet.ledger import Account, Ledger
from discreet.ledger.declaration import Declaration
from discreet.ledger.row import Kind, Row
from discreet.privacy import Budget
from support.ledgers import ask, rewrite, rows

BUDGET = Budget(epsilon=3)
ROW, PERSON = {"people": "row"}, {"people": "id"}


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A new one."""
    with Ledger.open(tmp_path / "t.ledger", create=True) as opened:
        yield opened


def declared(ledger: Ledger, units: Mapping[str, str] | None, budget: Budget = BUDGET) -> Account:
    """The account, with these units."""
    return ledger.account("census", budget, units=units, weaken=["budget"])


def test_a_unit_is_fixed_by_the_first_loss(ledger: Ledger) -> None:
    """It may change while nothing is spent; then losses by two units would be added up, so it is refused."""
    early = declared(ledger, ROW)
    account = declared(ledger, PERSON)
    with pytest.raises(InvalidArgument, match="declared with other units in the meantime"):
        ask(early, "a")
    ask(account, "a")
    with pytest.raises(InvalidArgument, match="losses by the unit 'id' of table 'people'"):
        declared(ledger, ROW)
    with pytest.raises(InvalidArgument, match="declared with other units in the meantime"):
        ask(early, "b")
    ask(declared(ledger, PERSON, Budget(epsilon=9)), "b")
    assert ledger.verify().problems == ()


def test_tables_come_and_go_with_their_units(ledger: Ledger) -> None:
    """One that is declared again has the unit that it had; what says nothing of units changes none."""
    ask(declared(ledger, ROW), "a")
    both = declared(ledger, {**ROW, "visits": "id"})
    ask(both, "b")
    ask(declared(ledger, {"visits": "id"}), "c")
    ask(declared(ledger, None), "d")
    assert len([each for each in both.entries() if each.kind == "budget"]) == 2
    ask(declared(ledger, None, Budget(epsilon=4)), "e")
    with pytest.raises(InvalidArgument, match="unit 'row' of table 'people'"):
        declared(ledger, {**PERSON, "visits": "id"})
    ask(both, "f")
    assert ledger.verify().problems == ()


def test_an_account_goes_on_under_another_name_of_its_table_and_not_with_other_tables(ledger: Ledger) -> None:
    """A table of another name with another unit is another table."""
    ask(declared(ledger, ROW), "a")
    with pytest.raises(InvalidArgument, match="belongs to table 'people' by the unit 'row', not to table 'shops'"):
        declared(ledger, {"shops": "shop"})
    ask(declared(ledger, {"persons": "row"}), "b")


@pytest.mark.parametrize("units", [PERSON, {}, {"shops": "shop"}])
def test_a_changed_unit_is_found_by_a_verification(ledger: Ledger, tmp_path: Path, units: Mapping[str, str]) -> None:
    """Whoever writes it into the chain; before the first loss it is no problem."""
    declared(ledger, PERSON)
    ask(declared(ledger, ROW), "a")
    declared(ledger, ROW, Budget(epsilon=4))
    assert ledger.verify().problems == ()
    path = tmp_path / "t.ledger"
    *_, last = (row for row in rows(path) if row.kind == Kind.BUDGET)
    body = json.dumps({**json.loads(last.body), "units": units})

    def change(entries: list[Row]) -> None:
        entries[last.seq - 1] = replace(last, body=body)

    rewrite(path, change)
    with Ledger.open(path, create=False) as forged:
        assert [each.message for each in forged.verify().problems] == [
            "it changes the unit by which losses were charged"
        ]


def test_what_says_nothing_of_units_names_none() -> None:
    """And units that can't be read are refused."""
    plain = Declaration(budget=BUDGET)
    assert plain.to_text() == '{"budget":{"epsilon":"3"},"analysts":{},"adjacency":"add_remove","failures":10}'
    content = json.loads(Declaration(budget=BUDGET, units=PERSON).to_text())
    assert Declaration.from_content(content) == replace(plain, units=PERSON)
    for wrong in ([], {"people": 1}):
        with pytest.raises(LedgerCorrupt):
            Declaration.from_content({**content, "units": wrong})
