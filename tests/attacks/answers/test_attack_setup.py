"""Attacks on answers by their name: what each way to publish a table gives away, side by side."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest

from discreet.anonymity import read
from discreet.attacks.answers.averaging import AveragingResult
from discreet.attacks.answers.query_log import QueryLogResult
from discreet.attacks.attack_setup import NUMBER, Terms, set_up
from discreet.attacks.named_attacks import attack, compare
from discreet.census import synthetic
from discreet.errors import InvalidArgument

TERMS: dict[str, Any] = {"on": ["dob", "zip", "sex"], "sensitive": "education", "value": "income"}
PEOPLE = 300


@pytest.fixture(scope="module")
def people() -> pa.Table:
    """A small census, as somebody's table."""
    return synthetic(PEOPLE)


def test_a_log_of_totals_is_compared(people: pa.Table) -> None:
    """Exact answers give all away who are asked about, for sure; nobody is sure of what the others say.

    Private answers are off by millions, and each is right to the unit with a chance below 1e-6, so that three of 30 or
    more are with one below C(30, 3)·1e-18 < 1e-14. Anonymised ones say 0 of all in whose place nobody was drawn, which
    is right of the 16 people in 300 who earn nothing: 15 of them are among 30 with a chance of 3e-16. What they say is
    marked as nothing to be sure of.
    """
    found = compare("query-log", people, people=30, **TERMS)
    exact, private, anonymised = found.results
    assert [each.against for each in (exact, private, anonymised)] == [
        "exact answers",
        "answers at ε = 0.1 each from a budget of ε = 10",
        "5-anonymous rows",
    ]
    assert all(isinstance(each, QueryLogResult) for each in found.results)
    assert [each.tried for each in found.results] == [30] * 3
    assert exact.success == 1
    assert (private.success or 0) < 0.1
    assert (anonymised.success or 0) < 0.5
    assert [each.guesses[0].confidence for each in (exact, anonymised)] == [1, 0]
    assert private.guesses[0].confidence < 1e-6
    assert all(re.fullmatch(r"dob .+, zip .+, sex .+", guess.who) for each in found.results for guess in each.guesses)
    assert "100 %" in str(found)


def test_a_log_needs_somebody_who_is_alone() -> None:
    """Where what is known fits two people or more, all-but-one can't be asked."""
    twice = pa.table({"sex": ["F", "M"] * 50, "ill": ["yes", "no", "no", "yes"] * 25, "pay": [1, 2, 3, 4] * 25})
    with pytest.raises(InvalidArgument, match="singles no one out"):
        attack("query-log", twice, against="exact", on=["sex"], sensitive="ill", value="pay")


def test_private_logs_are_paid_for_until_the_budget_ends(people: pa.Table) -> None:
    """Two answers at ε = 1 each, of a hundred or so."""
    found = attack("query-log", people, against="answers", epsilon=1, budget=2, **TERMS)
    assert isinstance(found, QueryLogResult)
    assert (found.answered, found.epsilon) == (2, 2)
    assert found.queries > 100


def test_people_who_are_known_by_a_number_hide_in_ranges_of_numbers(people: pa.Table) -> None:
    """Each cell stands for the numbers of its class, k or more, and for some beside them: who is who isn't said.

    The twin, the setup's own columns, leaves the number out.
    """
    terms = Terms.of(**TERMS)
    with set_up(people, terms) as setup:
        known = setup.records.only(["education"]).to_arrow()
        table = read(known.append_column(NUMBER, pa.array(range(PEOPLE))))
        rows = setup.anonymised(table, on=[NUMBER])
        assert set(rows.records.names) == {"education", NUMBER}
        assert set(rows.cells) == {NUMBER}
        labels = rows.records.column(NUMBER).values.take(rows.records.column(NUMBER).codes).to_pylist()
        ranges = Counter(tuple(float(end) for end in re.findall(r"-?\d+(?:[.]\d+)?", label)) for label in labels)
        first = 0
        for (low, high), size in sorted(ranges.items()):
            assert low < first < first + size - 1 < high  # classes are of consecutive numbers
            assert terms.k <= size <= high - low < size + 2 * terms.k  # either end hides among k
            first += size
        assert first == PEOPLE
        own = setup.anonymised()
        assert NUMBER not in own.records.names
        assert "income" in own.records.names


def test_reconstruction_is_compared(people: pa.Table) -> None:
    """Exact answers give everybody away; of anonymised ones, which are off by an unknown amount, nobody is sure."""
    exact, anonymised = (
        attack("reconstruction", people, against=against, people=20, **TERMS) for against in ("exact", "anonymized")
    )
    assert (exact.success, exact.tried, anonymised.tried) == (1, 20, 20)
    assert {guess.confidence for guess in anonymised.guesses} == {0.5}
    assert anonymised.against == "5-anonymous rows"


def test_averaging_says_what_was_asked(people: pa.Table) -> None:
    """In plain words, though others are tried; of exact answers once."""
    value = people["education"][0].as_py().replace("'", "''")
    for against, asked in (("exact", 1), ("anonymized", 7)):
        found = attack("averaging", people, against=against, trials=7, **TERMS)
        assert isinstance(found, AveragingResult)
        assert found.question == f'SELECT COUNT(*) AS value FROM "people" WHERE "education" = \'{value}\''
        assert (found.asked, found.success) == (asked, 1)
