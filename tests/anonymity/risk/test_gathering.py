"""Columns that gather the rows of a person, against the definition, and what a release says of them."""

from __future__ import annotations

from collections import Counter, defaultdict

from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import KAnonymity, anonymize
from discreet.anonymity.records import Records, read
from discreet.anonymity.risk import gathered
from support.examples import examples

ROWS = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6), st.sampled_from("ab")), min_size=1, max_size=25)


@examples(200)
@given(ROWS)
def test_units_are_counted_as_the_definition_says(rows: list[tuple[int, int, str]]) -> None:
    """A unit's rows are gathered by what is in several of them and in no other unit's; alone is who has no twin."""
    table = {"who": [w for w, _, _ in rows], "x": [x for _, x, _ in rows], "ward": [w for _, _, w in rows]}
    has, all_rows, whose = Counter((w, x) for w, x, _ in rows), defaultdict(list), defaultdict(set)
    for who, x, ward in rows:
        all_rows[who].append(ward)
        whose[x].add(who)
    units = {who for (who, x), times in has.items() if times > 1 and len(whose[x]) == 1}
    twins = Counter(tuple(sorted(each)) for each in all_rows.values())
    alone = [who for who in units if twins[tuple(sorted(all_rows[who]))] == 1]
    found = gathered(read(table, unit="who"), ["x"], ["ward"])
    assert [(each.units, each.of, each.alone) for each in found] == (
        [(len(units), len(all_rows), len(alone))] if units else []
    )


def visits(people: int = 200) -> Records:
    """Four visits each: an income of one's own, an illness and a birth year that many share, a pulse by visit."""
    who = [person for person in range(people) for _ in range(4)]
    return read(
        {
            "who": who,
            "ward": [(person * 7 + visit * visit) % 5 for visit, person in enumerate(who)],
            "income": [20_000 + 37 * person for person in who],
            "illness": [("flu", "cold", "gout")[person % 3] for person in who],
            "born": [1950 + person % 67 for person in who],
            "pulse": [60 + (31 * visit) % 47 for visit in range(len(who))],
        },
        unit="who",
    )


def test_a_column_of_ones_own_gathers_and_one_drawn_anew_does_not() -> None:
    """Income gathers everybody; illness and birth year nobody by themselves, and nearly everybody together."""
    table = visits()
    (income,) = gathered(table, ["income", "illness", "pulse"], ["ward"])
    assert (income.columns, income.units, income.of) == (("income",), 200, 200)
    assert not gathered(table, ["illness", "pulse"], ["ward"])
    (both,) = gathered(table, ["illness", "born", "pulse"], ["ward"])
    assert both.columns == ("illness", "born")
    assert both.units >= 190
    assert not gathered(read({"income": [1, 2]}), ["income"], ["income"])


def test_a_release_says_what_gathers_its_rows() -> None:
    """First of all; a release without the income says nothing of the kind."""
    table = visits()
    release = anonymize(table, quasi_identifiers=["ward"], sensitive=["income"], models=[KAnonymity(5)])
    (found,) = release.gathered
    assert str(release).startswith(f"beware: {found}\n")
    assert release.to_dict()["gathered"] == [{"columns": ["income"], "units": 200, "of": 200, "alone": found.alone}]
    assert not anonymize(table, quasi_identifiers=["ward"], sensitive=["pulse"], models=[KAnonymity(5)]).gathered
