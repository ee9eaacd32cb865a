"""Changes of declarations: each is an entry, and what weakens a promise is refused unless it is named."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import DeclarationWeakened, LedgerCorrupt
from discreet.ledger import Account, Ledger
from discreet.ledger.changes import changes_of_tables
from discreet.ledger.row import Row, to_body
from discreet.privacy import Budget
from support.ledgers import admitted, ask, raised, rewrite, rows

COLUMN = {
    "name": "income",
    "kind": "integer",
    "nullable": True,
    "bounds": ["0", "100000"],
    "keys": None,
    "time_zone": None,
    "places": None,
}
BIRTH = {**COLUMN, "name": "birth", "kind": "date", "bounds": ["1900-01-01", "2020-01-01"]}
TOWN = {**COLUMN, "name": "town", "kind": "text", "bounds": None, "keys": ["a", "b"]}
PEOPLE = {
    "name": "people",
    "public": False,
    "unit": "pid",
    "limits": "rows = 1",
    "links": [],
    "unique": [],
    "refresh": "",
    "row_ceiling": "1000000",
    "columns": {"income": COLUMN, "birth": BIRTH, "town": TOWN},
}
TOWNS = {**PEOPLE, "name": "towns", "public": True, "unit": None, "columns": {"town": TOWN}}
TABLES: dict[str, Any] = {"people": PEOPLE}
PUBLISHED = ("people.public", True)


def changed(place: str, value: object = "-") -> dict[str, Any]:
    """The tables with one thing declared otherwise; "-" leaves it out."""
    found: dict[str, Any] = copy.deepcopy(TABLES)
    *path, last = place.split(".")
    at = found
    for each in path:
        at = at[each]
    if value == "-":
        del at[last]
        found = found or {"visits": {**PEOPLE, "name": "visits"}}
    else:
        at[last] = value
    return found


WEAKENS = {
    "a table is made public": ("people.public", True, "publish people"),
    "a public table is added": ("towns", TOWNS, "publish towns"),
    "an upper end is lower": ("people.columns.income.bounds", ["0", "10"], "narrow people.income"),
    "a lower end is higher": ("people.columns.income.bounds", ["1/2", "100000"], "narrow people.income"),
    "both move": ("people.columns.income.bounds", ["10", "200000"], "narrow people.income"),
    "a date is earlier": ("people.columns.birth.bounds", ["1900-01-01", "2019-12-31"], "narrow people.birth"),
    "other kinds of bounds": ("people.columns.income.bounds", ["1900-01-01", "2019-12-31"], "narrow people.income"),
    "bounds where none were": ("people.columns.town.bounds", ["0", "10"], "narrow people.town"),
    "a key is added": ("people.columns.town.keys", ["a", "b", "c"], "keys people.town"),
    "a key is another": ("people.columns.town.keys", ["a", "c"], "keys people.town"),
    "keys where none were": ("people.columns.income.keys", [1, 2], "keys people.income"),
    "no value is missing": ("people.columns.income.nullable", False, "narrow people.income"),
    "fewer rows": ("people.row_ceiling", "1000", "narrow people"),
}

NEUTRAL = {
    "wider bounds": ("people.columns.income.bounds", ["-1", "100001"]),
    "no bounds": ("people.columns.income.bounds", None),
    "fewer keys": ("people.columns.town.keys", ["b"]),
    "keys in another order": ("people.columns.town.keys", ["b", "a"]),
    "no keys": ("people.columns.town.keys", None),
    "other limits": ("people.limits", "rows = 5"),
    "more rows": ("people.row_ceiling", "10000000"),
    "another private table": ("visits", {**PEOPLE, "name": "visits"}),
    "another column": ("people.columns.age", {**COLUMN, "name": "age"}),
    "no such table": ("people", "-"),
    "no such column": ("people.columns.income", "-"),
}


def opened(
    ledger: Ledger, tables: dict[str, Any] | None = None, *weaken: str, epsilon: int = 3, **more: Any
) -> Account:
    """The account of tables that are declared so."""
    units = {name: "pid" for name, each in (tables or TABLES).items() if not each["public"]}
    return ledger.account(
        "census", Budget(epsilon=epsilon), units=units, tables=tables or TABLES, weaken=weaken, **more
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with a loss."""
    path = tmp_path / "t.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = opened(ledger)
        admitted(account)
        account.commit(ask(account, "q"), certificate={}, answer={})
    return path


@pytest.fixture
def ledger(path: Path) -> Iterator[Ledger]:
    """The same, which is whole in the end."""
    with Ledger.open(path, create=False) as found:
        yield found
        assert found.verify().problems == ()


def declared(path: Path) -> int:
    """How many entries of declarations there are."""
    return sum(row.kind in {"declared", "budget"} for row in rows(path))


@pytest.mark.parametrize("how", WEAKENS)
def test_what_weakens_is_refused_unless_it_is_named(ledger: Ledger, path: Path, how: str) -> None:
    """By that name and no other; then it is an entry that says so, and once only."""
    place, value, name = WEAKENS[how]
    tables, before = changed(place, value), declared(path)
    option, _, of = name.partition(" ")
    for named in ([], ["budget"], [f"{option} others"], [f"others {of}"]):
        said = raised(DeclarationWeakened, lambda named=named: opened(ledger, tables, *named))  # type: ignore[misc]  # mypy can't infer a lambda with a default
        assert f"weaken=['{name}']" in said
    assert declared(path) == before
    account = opened(ledger, tables, name)
    assert [each.weakens for each in account.changes if each.weakens] == [name]
    assert opened(ledger, tables).changes == ()
    assert account.entries()[-1].kind == "declared"
    assert account.entries()[-1].text == "; ".join(each.words for each in account.changes)


@pytest.mark.parametrize("how", NEUTRAL)
def test_any_other_change_gets_its_entry(ledger: Ledger, path: Path, how: str) -> None:
    """Without a word."""
    place, value = NEUTRAL[how]
    before = declared(path)
    assert opened(ledger, changed(place, value)).changes
    assert declared(path) > before


@pytest.mark.parametrize("how", [*WEAKENS, *NEUTRAL])
def test_before_anything_was_spent_everything_may_change(tmp_path: Path, how: str) -> None:
    """And is an entry all the same."""
    place, value, *_ = {**WEAKENS, **NEUTRAL}[how]
    with Ledger.open(tmp_path / "t.ledger", create=True) as ledger:
        opened(ledger)
        assert opened(ledger, changed(place, value)).changes
        assert ledger.verify().problems == ()


@pytest.mark.parametrize("left_out", ["people", "people.columns.income"])
def test_leaving_something_out_meanwhile_is_no_way_around(ledger: Ledger, left_out: str) -> None:
    """What was declared once is known from then on."""
    opened(ledger, changed(left_out))
    narrow = changed("people.columns.income.bounds", ["0", "10"])
    assert "narrow people.income" in raised(DeclarationWeakened, lambda: opened(ledger, narrow))
    public = changed(*PUBLISHED)
    assert "publish people" in raised(DeclarationWeakened, lambda: opened(ledger, public))


@pytest.mark.parametrize(
    ("more", "name"),
    [({"epsilon": 4}, "budget"), ({"failures": 11}, "failures")],
)
def test_a_greater_budget_is_named(ledger: Ledger, more: dict[str, int], name: str) -> None:
    """Of losses or of failures; a smaller one needn't be."""
    said = raised(DeclarationWeakened, lambda: opened(ledger, TABLES, **more))
    assert f"weaken=['{name}']" in said
    assert opened(ledger, TABLES, name, **more).changes[0].weakens == name
    assert opened(ledger, TABLES, epsilon=2, failures=5).changes
    with pytest.raises(DeclarationWeakened):
        opened(ledger, TABLES)


def test_a_budget_that_counts_otherwise_is_a_greater_one(ledger: Ledger) -> None:
    """A δ more, or ρ for ε."""
    for budget in (Budget(epsilon=3, delta=1e-9), Budget(rho=1, delta=1e-9)):
        with pytest.raises(DeclarationWeakened):
            ledger.account("census", budget, units={"people": "pid"})


def test_a_private_table_of_a_ledger_of_before_is_known_by_its_unit(tmp_path: Path) -> None:
    """Nothing else of its tables is; public ones that there are need no name."""
    path = tmp_path / "t.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=3), units={"people": "pid"})
        admitted(account)
        ask(account, "q")
    with Ledger.open(path, create=False) as ledger:
        said = raised(DeclarationWeakened, lambda: opened(ledger, changed(*PUBLISHED)))
        assert "publish people" in said
        opened(ledger, changed("towns", TOWNS))
        assert ledger.verify().problems == ()


def test_verification_finds_what_was_weakened_without_a_name(path: Path) -> None:
    """A chain that was written anew, so that all hashes fit."""
    with Ledger.open(path, create=False) as ledger:
        opened(ledger, changed(*PUBLISHED), "publish people", "budget", epsilon=4)

    def unnamed(entries: list[Row]) -> None:
        for place, row in enumerate(entries):
            content = row.content()
            if content.pop("weakens", None):
                entries[place] = replace(row, body=to_body(content))

    rewrite(path, unnamed)
    with Ledger.open(path, create=False) as ledger:
        problems = [each.message for each in ledger.verify().problems]
    assert [each.partition(":")[0] for each in problems] == ["it weakens a promise without naming it"] * 2


def test_what_is_unknown_is_refused() -> None:
    """A key that a later version declares, of which nobody here knows what it promises."""
    tables = [{"people": {**PEOPLE, "later": value}} for value in (1, 2)]
    with pytest.raises(LedgerCorrupt, match="'later'"):
        changes_of_tables(tables[0], tables[0], tables[1], ())
