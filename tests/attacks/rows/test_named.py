"""Every attack by its name, against everything it can be run against, on a census and on a table of one's own."""

from __future__ import annotations

import json
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from discreet.attacks import named_attacks
from discreet.attacks.attack_setup import AGAINST, Terms, set_up
from discreet.attacks.named_attacks import NAMED, attack, compare, named
from discreet.attacks.rows import sensitive_values
from discreet.attacks.targets.tally_of_answers import see
from discreet.census import synthetic
from discreet.errors import InvalidArgument, SchemaMismatch

PAIRS = [(each.name, against) for each in NAMED.values() for against in each.against]
TERMS: dict[str, Any] = {"on": ["dob", "zip", "sex"], "sensitive": "education", "value": "income"}


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """A small census, as somebody's table."""
    return synthetic(400)


class Watched(Terms):
    """Terms that remember which of their numbers were looked at."""

    seen: ClassVar[set[str]] = set()

    def __getattribute__(self, name: str) -> object:
        if name in {"k", "epsilon", "budget", "people", "trials"}:
            Watched.seen.add(name)
        return super().__getattribute__(name)


@pytest.mark.parametrize(("name", "against"), PAIRS)
def test_every_attack_runs(name: str, against: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """It counts people, says what was attacked, and all of the result is JSON: of 24 with three rows each.

    Each number that is looked at is said to matter, and no other is.
    """
    monkeypatch.setattr(named_attacks, "Terms", Watched)
    Watched.seen.clear()
    visits = {
        "person": [n // 3 for n in range(72)],
        "zip": [p if p % 2 else -(p // 4) for p in range(24) for _ in range(3)],  # people are alone, or in pairs
        "ill": ["flu" if n // 6 % 2 else "gout" for n in range(72)],
        "pay": [1 + n // 3 for n in range(72)],
    }
    terms: dict[str, Any] = {"on": ["zip"], "sensitive": "ill", "value": "pay", "k": 2, "trials": 1}
    terms["people"] = 3  # of whom one is alone, whoever they are: for a query log somebody has to be
    found = attack(name, visits, against=against, unit="person", **terms)
    assert Watched.seen == NAMED[name].uses(against) or name == "sparse"  # below, on ratings that are made up
    assert (found.unit, found.note) == (("person",), None)
    assert 1 <= found.tried <= 24
    assert found.success is None or 0 <= found.success <= 1
    assert found.against
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["unit"] == ["person"]
    assert str(found)
    assert against in AGAINST


@pytest.mark.parametrize(
    ("name", "against"), [pair for pair in PAIRS if pair[0] == "sparse" or pair[1] == NAMED[pair[0]].against[0]]
)
def test_every_attack_runs_on_rows(name: str, against: str, people: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of which is a person; the other ways to publish don't care whether they are."""
    monkeypatch.setattr(named_attacks, "Terms", Watched)
    Watched.seen.clear()
    table = None if name == "sparse" else people  # its people are made up
    few = 5 if name in {"query-log", "tracing"} else 2  # fewer can't be 5-anonymous
    found = attack(name, table, against=against, people=few, trials=1, **TERMS)
    assert Watched.seen == NAMED[name].uses(against)
    assert found.tried >= 1
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize("name", ["linkage", "small-groups", "homogeneity", "singling-out"])
def test_rows_give_more_away_than_anonymised_rows(name: str) -> None:
    """On the census, rows as they are give everybody away, and rows that are 5-anonymous fewer people."""
    raw, anonymised = (attack(name, against=against) for against in ("raw", "anonymized"))
    assert raw.success > 0.99
    assert anonymised.success < raw.success / 2 + 0.1


def test_a_log_of_ones_own_is_attacked(people: pa.Table) -> None:
    """A long table, named by who and what, is taken for what people did."""
    rows = people.num_rows
    who, stars = [n // 10 for n in range(rows)], [n % 5 for n in range(rows)]
    log = pa.table({"who": who, "what": people["zip"], "stars": stars, "x": people["sex"]})
    found = attack("sparse", log, on=["who", "what"], sensitive="x", value="stars", people=5)
    assert found.tried == 5
    assert found.success == 1


def test_what_is_no_log_isnt_taken_for_one(people: pa.Table) -> None:
    """Nor are made-up ratings attacked in its place; those are for the census."""
    for on in (["dob"], ["dob", "zip"]):
        with pytest.raises(InvalidArgument, match=r"what (they|people) did"):
            attack("sparse", people, on=on, sensitive="sex", people=5)
    assert attack("sparse", people=5).people == 2_000  # type: ignore[attr-defined]  # it is a SparseResult


def test_names_are_understood_as_python_writes_them() -> None:
    """With underscores, too."""
    assert named("small_groups") is NAMED["small-groups"]


def test_compare_sets_the_ways_to_publish_side_by_side(people: pa.Table) -> None:
    """One row for each way: raw, with pseudonyms, anonymised and private."""
    found = compare("homogeneity", people, people=2, **TERMS)
    assert [row["against"] for row in found.rows()][:3] == ["raw rows", "rows with pseudonyms", "5-anonymous rows"]
    raw, pseudonyms, anonymised, private = (row["success"] for row in found.rows())
    assert raw == pseudonyms == 1
    assert 0 <= anonymised <= 1
    assert 0 <= private <= 1
    assert len(str(found).splitlines()) == 5
    json.dumps(found.to_dict(), allow_nan=False)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("nosuch", {}),
        ("fuzzy", {"against": "fresh"}),
        ("linkage", {"on": None}),
        ("linkage", {"on": "zip"}),
        ("linkage", {"on": ["education"]}),
        ("linkage", {"k": 0}),
        ("linkage", {"epsilon": 0}),
        ("differencing", {"value": None}),
        ("differencing", {"on": ["sex"]}),
    ],
)
def test_what_cannot_be_run_is_refused(name: str, wrong: dict[str, Any], people: pa.Table) -> None:
    """Unknown names, targets that an attack isn't for, missing columns, and nobody who is alone."""
    with pytest.raises(InvalidArgument):
        attack(name, people, **{**TERMS, **wrong})


def test_a_column_that_is_not_there_is_named(people: pa.Table) -> None:
    """The message says which."""
    with pytest.raises(SchemaMismatch, match="shoe"):
        attack("linkage", people, on=["shoe"], sensitive="education")


@pytest.mark.parametrize("name", ["linkage", "fuzzy", "homogeneity", "background", "skewness"])
def test_like_is_compared_with_like(name: str, people: pa.Table) -> None:
    """The same people, by the same knowledge, and a success is the same: to learn a value, also of rows as they are."""
    found = compare(name, people, people=3, **TERMS)
    assert [each.against.split()[0] for each in found.results] == ["raw", "rows", "5-anonymous", "answers"]
    assert {each.tried for each in found.results} == {3}
    assert {each.drawn_from for each in found.results} == {400}
    assert len({(each.baseline, each.baseline_is) for each in found.results}) == 1
    assert len({frozenset(guess.who for guess in each.guesses) for each in found.results}) == 1
    assert all("education" in guess.what for each in found.results for guess in each.guesses)
    assert found.results[0].success == found.results[1].success  # pseudonyms hide nobody who is known by other columns
    without = compare(name, people, against=["raw", "anonymized"], **TERMS)
    assert {each.tried for each in without.results} == {400}  # rows take no questions, so everybody is tried


@pytest.mark.parametrize("name", ["linkage", "fuzzy", "homogeneity", "background", "skewness"])
def test_nobody_knows_which_values_a_sample_has(name: str, people: pa.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Answers are asked for all values that anybody has; for those of one person alone, the answer would be known."""
    asked = []

    def watched(*given: Any, **named: Any) -> Any:
        asked.append(given[4])
        return see(*given, **named)

    monkeypatch.setattr(sensitive_values, "see", watched)
    found = compare(name, people, people=1, **TERMS)
    assert len({each.baseline for each in found.results}) == 1
    assert asked == [tuple(sorted(set(people["education"].to_pylist())))]


def test_where_a_budget_lasts_for_fewer_all_attack_those(people: pa.Table) -> None:
    """An ε of 1 pays for ten questions of 0.1, one of which is about everybody."""
    found = compare("linkage", people, people=30, budget=1, **TERMS)
    assert {each.tried for each in found.results} == {9}
    assert len({each.baseline for each in found.results}) == 1


def test_what_isnt_alike_is_said(people: pa.Table) -> None:
    """Of answers, some attacks ask something else than of rows; alone, nothing is to be told apart."""
    found = compare("small-groups", people, against=["raw", "answers"], people=3, **TERMS)
    assert found.results[1].against.endswith(", asked for some groups")
    assert "asked" not in attack("small-groups", people, against="answers", people=3, **TERMS).against


def test_pseudonyms_stand_for_what_names_people() -> None:
    """Neither a name nor the order of names is in the rows; what is known and sought is."""
    table = {
        "name": [f"kim{row % 20:02d}@example.org" for row in range(40)],
        "zip": [f"{row % 8}" for row in range(40)],
        "ill": ["flu", "gout"] * 20,
    }
    terms = Terms.of(on=["zip"], sensitive="ill")
    with set_up(table, terms) as setup:
        shown = setup.rows("pseudonymized").records
        assert shown.column("zip").labels() == setup.records.column("zip").labels()
        assert shown.column("name").labels() == tuple(range(20))
        assert len(set(zip(shown.column("name").codes.tolist(), table["name"], strict=True))) == 20
