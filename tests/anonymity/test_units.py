"""Units: every figure against its definition, one unit at a time; and tables in which rows would say something else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations, product
from math import floor
from typing import TypeAlias

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import anonymize, assess, minimal_identifiers, read, reidentification, uniqueness
from discreet.anonymity.attributes import repeated
from discreet.anonymity.frequencies import frequencies_of
from discreet.anonymity.hierarchies import Listed
from discreet.anonymity.models import (
    AlphaK,
    BetaLikeness,
    Closeness,
    DeltaDisclosure,
    DistinctDiversity,
    EntropyDiversity,
    KAnonymity,
    KMap,
    Model,
    RecursiveDiversity,
)
from discreet.anonymity.repeated import Repeated, say_whose
from discreet.anonymity.risk import population_uniqueness, special_uniques
from discreet.anonymity.risk.exposure import exposure_of
from discreet.attacks.attack_setup import Terms, set_up
from discreet.attacks.rows import homogeneity
from discreet.errors import InvalidArgument, SchemaMismatch
from support.examples import examples

Row: TypeAlias = tuple[int, tuple[int, ...], str]
"""Whose it is, its quasi-identifiers, and the sensitive value."""
Class: TypeAlias = list[tuple[int, str]]
"""The rows of a class: whose, and the sensitive value."""


@dataclass(frozen=True)
class Case:
    """A table whose units have several rows; values are whole numbers, which level 1 halves and level 2 joins."""

    rows: tuple[Row, ...]

    @property
    def names(self) -> list[str]:
        """The quasi-identifiers."""
        return [f"q{place}" for place in range(len(self.rows[0][1]))]

    @property
    def units(self) -> set[int]:
        """Who there is."""
        return {unit for unit, _, _ in self.rows}

    def table(self, *, unit: bool = True) -> dict[str, list[int | str]]:
        """As anonymity reads it."""
        found: dict[str, list[int | str]] = {"who": [row[0] for row in self.rows]} if unit else {}
        for place, name in enumerate(self.names):
            found[name] = [str(row[1][place]) for row in self.rows]
        found["ill"] = [row[2] for row in self.rows]
        return found

    def hierarchies(self) -> dict[str, Listed]:
        """0 and 1 become a, 2 and 3 b; then all are one."""
        paths = [("0", "a", "*"), ("1", "a", "*"), ("2", "b", "*"), ("3", "b", "*")]
        return {name: Listed(rows=paths) for name in self.names}

    def classes(self, levels: Sequence[int]) -> dict[tuple[int, ...], Class]:
        """The classes at a node, each with its rows."""
        found: dict[tuple[int, ...], Class] = {}
        for unit, codes, value in self.rows:
            groups = tuple((code, code // 2, 0)[level] for code, level in zip(codes, levels, strict=True))
            found.setdefault(groups, []).append((unit, value))
        return found


@st.composite
def cases(draw: st.DrawFn, *, most: int = 10, columns: int = 2, apart: bool = True) -> Case:
    """Small tables; unless `apart`, all rows of a unit have the same quasi-identifiers."""
    number = draw(st.integers(1, columns))
    tuples = st.tuples(*[st.integers(0, 3)] * number)
    whose = draw(st.lists(st.integers(0, 5), min_size=1, max_size=most))
    of_unit = {unit: draw(tuples) for unit in set(whose)}
    rows = [(unit, draw(tuples) if apart else of_unit[unit], draw(st.sampled_from("abc"))) for unit in whose]
    return Case(rows=tuple(rows))


def people(rows: Class) -> set[int]:
    """The units of a class."""
    return {unit for unit, _ in rows}


def held(rows: Class) -> Counter[str]:
    """How many units of a class have each value."""
    return Counter(value for _, value in set(rows))


# ── Risk ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


@examples(120)
@given(cases())
def test_uniqueness_and_risk_are_of_units(case: Case) -> None:
    """A unit hides among the units of the smallest of its classes."""
    classes = case.classes([0] * len(case.names))
    smallest = {
        unit: min(len(people(rows)) for rows in classes.values() if unit in people(rows)) for unit in case.units
    }
    found = uniqueness(case.table(), case.names, unit="who")
    assert found.units == len(case.units)
    assert found.unique == sum(size == 1 for size in smallest.values())
    assert dict(zip(found.sizes.sizes.tolist(), found.sizes.units.tolist(), strict=True)) == {
        size: sum(each == size for each in smallest.values())
        for size in {len(people(rows)) for rows in classes.values()}
    }
    risk = reidentification(case.table(), case.names, unit="who").prosecutor
    assert risk.highest == 1 / min(smallest.values())
    assert risk.average == pytest.approx(sum(1 / size for size in smallest.values()) / len(smallest))
    assert risk.at_risk == sum(size < 5 for size in smallest.values()) / len(smallest)


@examples(60)
@given(cases(columns=3), st.sampled_from([0, Fraction(1, 3), Fraction(1, 2)]))
def test_sets_of_columns_single_out_units(case: Case, share: Fraction) -> None:
    """Whoever is alone with one of their rows, whether a unit's rows differ or not; and how few columns that takes."""

    def alone(columns: Sequence[int]) -> set[int]:
        """The units that are."""
        whose: dict[tuple[int, ...], set[int]] = {}
        for unit, codes, _ in case.rows:
            whose.setdefault(tuple(codes[place] for place in columns), set()).add(unit)
        return {min(units) for units in whose.values() if len(units) == 1}

    places = range(len(case.names))
    sets = [each for size in range(1, len(places) + 1) for each in combinations(places, size)]
    identify = [each for each in sets if len(alone(each)) > share * len(case.units)]
    minimal = {each for each in identify if not any(set(other) < set(each) for other in identify)}
    found = minimal_identifiers(case.table(), case.names, unit="who", share=share)
    assert {tuple(int(name[1:]) for name in each.columns) for each in found.minimal} == minimal
    for each in [*found.minimal, *found.alone]:
        assert each.unique == len(alone([int(name[1:]) for name in each.columns]))
        assert 0 <= each.separation <= 1
    special = special_uniques(case.table(), case.names, unit="who", at_most=3)
    fewest = {unit: min((len(each) for each in sets if unit in alone(each)), default=9) for unit in case.units}
    assert special.smallest == tuple(sum(least == size for least in fewest.values()) for size in (1, 2, 3))


def test_the_reproduced_table() -> None:
    """2,000 people of six rows each: rows hide among six and more, people mostly among themselves."""
    whose = np.repeat(np.arange(2_000), 6)
    table = {"patient_id": whose, "age": whose % 80, "zip": whose // 3, "ill": np.arange(12_000) % 4}
    by_row = assess(table, quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert by_row.k is None
    assert by_row.to_dict()["k"] is None
    assert by_row.advice[0].startswith("Say whose a row is (--unit patient_id,")
    assert str(by_row).startswith("Rows were counted, not people: patient_id has 2,000 values in 12,000 rows.")
    assert not any("nobody is at risk" in sentence for sentence in by_row.advice)
    report = assess(table, unit="patient_id", quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert (report.k, report.units, report.uniqueness.unique, report.repeated) == (1, 2_000, 2_000, ())
    assert report.advice[0] == "2,000 of 2,000 units (100 %) hide among fewer than 5, and all of them are unique."
    said = assess(table, unit=(), quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert said.k == 6
    with pytest.raises(InvalidArgument, match="no generalisation meets the models"):
        anonymize(table, unit="patient_id", quasi_identifiers=["age"], models=[KAnonymity(2_001)], suppression=0)
    by_row_release = anonymize(table, quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert by_row_release.repeated
    assert str(by_row_release).startswith("Rows were counted, not people")
    release = anonymize(table, unit="patient_id", quasi_identifiers=["age", "zip"], sensitive=["ill"])
    assert release.table.column_names == ["age", "zip", "ill"]
    assert release.reached["5-anonymity"] >= 5
    assert release.losses["ncp"] > 0


def test_what_says_whose_a_row_is() -> None:
    """It has no other role, misses no value, and may be several columns; a household is a unit like any other."""
    table = {"house": [1, 1, 2, 2], "who": [1, 2, 1, None], "zip": ["1", "1", "1", "2"]}
    assert uniqueness(table, ["zip"], unit="house").unique == 1
    assert read(table, unit="house").names == ("who", "zip")
    with pytest.raises(InvalidArgument, match="the column 'who' lacks 1 of 4 values"):
        read(table, unit=["house", "who"])
    full = {**table, "who": [1, 1, 1, 2]}
    assert read(full, unit=["house", "who"]).counted == 3
    for wrong in (lambda: uniqueness(table, ["house"], unit="house"), lambda: read(table, unit=["house", "house"])):
        with pytest.raises(InvalidArgument, match="'house'"):
            wrong()
    with pytest.raises(InvalidArgument, match="says whose a row is"):
        uniqueness(read(table, unit="house"), ["house"])
    with pytest.raises(InvalidArgument, match="a unit is the name of a column"):
        read(table, unit=5)  # type: ignore[arg-type]  # what is refused
    with pytest.raises(SchemaMismatch, match="no column 'hous'"):
        assess(table, quasi_identifiers=["zip"], identifying=["hous"])
    assert assess(table, quasi_identifiers=["zip"], identifying=["house"], unit="house").identifying == ()
    with pytest.raises(InvalidArgument, match="says whose a row is"):
        assess(table, quasi_identifiers=["zip", "house"], unit="house")
    with pytest.raises(InvalidArgument, match="wildcards"):
        uniqueness(table, ["zip"], unit="house", missing="wildcard")
    with pytest.raises(InvalidArgument, match="a unit's rows agree"):
        population_uniqueness(table, ["zip"], unit="house", fraction="1/2")


def test_which_columns_repeat() -> None:
    """Numbers of people do; names do, unless something shows that every row is somebody else's."""
    assert [each.column for each in repeated(read({"patient_id": [1, 1], "age": [1, 1]}))] == ["patient_id"]
    assert [each.column for each in repeated(read({"name": ["Ann", "Ann"], "age": [1, 1]}))] == ["name"]
    assert not repeated(read({"name": ["Ann", "Ann"], "ssn": ["1", "2"]}))
    assert not repeated(read({"patient_id": [1, 2], "age": [1, 1]}))
    assert [each.column for each in repeated(read({"code": ["x", "x"]}), ["code"])] == ["code"]
    assert not repeated(read({"patient_id": [1, 1], "age": [1, 1]}, unit="patient_id"))


def policies() -> dict[str, object]:
    """Three years of each of 400 policies, under names that say nothing; two columns are the policy's."""
    rng = np.random.default_rng()
    whose = np.repeat(np.arange(400), 3)
    return {
        "k1": rng.permutation(400)[whose] + 10_000,
        "k2": rng.integers(6, size=400)[whose],
        "k3": rng.integers(5, size=400)[whose],
        "k4": rng.integers(3, size=1_200),
    }


def test_numbers_of_people_are_known_whatever_they_are_called() -> None:
    """The report says so, the release and the attack too; the column isn't released, and `unit=()` settles it."""
    table = policies()
    report = assess(table, quasi_identifiers=["k2", "k3"], sensitive=["k4"])
    [one] = report.repeated
    assert (report.k, one.column, one.values, one.rows, one.fixes) == (None, "k1", 400, 1_200, ("k2", "k3"))
    assert "k1 has 400 values in 1,200 rows, and looks like the number of a person" in " ".join(str(report).split())
    assert report.advice[0].startswith("Say whose a row is (--unit k1, in Python")
    guessed = assess(table)
    assert (guessed.identifying, guessed.k) == (("k1",), None)
    assert anonymize(table, quasi_identifiers=["k2", "k3"], models=[KAnonymity(2)]).repeated == report.repeated
    assert assess(table, unit="k1", quasi_identifiers=["k2", "k3"]).repeated == ()
    assert assess(table, unit=(), quasi_identifiers=["k2", "k3"]).k is not None
    with set_up(table, Terms(on=("k2", "k3"), sensitive="k4")) as setup:
        assert setup.repeated == report.repeated


def test_all_who_rows_may_be_of_are_offered_but_no_names() -> None:
    """The finest first, with how many there are; two people may share a name."""
    rows = np.arange(600)
    table = {"household_id": rows // 6, "name": [f"Kim {n // 4}" for n in rows], "patient_id": rows // 3, "x": rows % 7}
    offered = say_whose(repeated(read(table)))
    assert offered.startswith("Say whose a row is (--unit patient_id for 200 units, or --unit household_id for 100;")
    assert "name" not in offered
    nameless = say_whose(repeated(read({"name": table["name"], "x": table["x"]})))
    assert "Two people may share a name" in nameless
    assert "--unit name" not in nameless


def test_columns_that_are_one_only_together_are_offered_together() -> None:
    """As the unit of two columns that reading takes."""
    both = Repeated(column="clinic", beside=("number",), values=1_200, rows=4_800, fixes=("sex", "born"))
    assert str(both).startswith("clinic and number together have 1,200 values in 4,800 rows, and look like")
    assert say_whose([both]).startswith(
        'Say whose a row is (--unit clinic,number, in Python unit=["clinic", "number"])'
    )


def test_a_number_of_people_that_never_repeats_settles_whose_rows_with_one_name_are() -> None:
    """Whoever has a number of their own is one person; the number of a row isn't that."""
    names = ["Ann", "Ann", "Kim"]
    assert not repeated(read({"patient_id": [1, 2, 3], "name": names}))
    assert [each.column for each in repeated(read({"id": [1, 2, 3], "name": names}))] == ["name"]


def test_what_suppression_takes_where_units_are_in_several_classes() -> None:
    """The rows of small classes; without all rows of who has them, those of five would be four."""
    table = {"who": [1, 2, 3, 4, 5, 1], "zip": ["a"] * 5 + ["b"]}
    advice = assess(table, quasi_identifiers=["zip"], unit="who").advice
    assert advice[1].startswith(
        "Suppressing the rows by which they do, and no others of theirs, makes the table 5-anon"
    )
    assert advice[1].endswith(": 20 % of the units lose rows.")
    everybody = {"who": [1, 2, 3, 4, 5, *range(1, 6)], "zip": ["a"] * 5 + ["b", "b", "c", "c", "c"]}
    assert ": 100 % of the units lose rows." in assess(everybody, quasi_identifiers=["zip"], unit="who").advice[1]
    scattered = {"who": [1, 1, 2], "zip": ["a", "b", "a"]}
    assert "leave nothing" in assess(scattered, quasi_identifiers=["zip"], unit="who").advice[1]


# ── Models ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def choices(rows: Class) -> list[Counter[str]]:
    """Every way of giving each unit of a class one of its values."""
    values = [sorted({value for unit, value in rows if unit == each}) for each in sorted(people(rows))]
    return [Counter(chosen) for chosen in product(*values)]


@examples(150)
@given(cases(columns=1))
def test_a_class_never_looks_more_diverse_than_it_may_be(case: Case) -> None:
    """Of each model, what is reached is no better than with the worst choice of one value for each unit; α is exact."""
    found = frequencies_of(read(case.table(), unit="who"), ["q0"], "ill")
    classes = [rows for _, rows in sorted(case.classes([0]).items())]
    several = any(len(held(rows)) and sum(held(rows).values()) > len(people(rows)) for rows in classes)
    distinct = DistinctDiversity(1, "ill").number(found)
    entropy = EntropyDiversity(1, "ill").measure(found)
    recursive = RecursiveDiversity(1, 2, "ill").measure(found)
    for place, rows in enumerate(classes):
        ways = choices(rows)
        assert distinct[place] <= min(len(way) for way in ways)
        assert entropy[place] <= min(
            np.exp(-sum(n / way.total() * np.log(n / way.total()) for n in way.values())) for way in ways
        ) * (1 + 1e-12)
        worst = max((max(way.values()) / left if (left := way.total() - max(way.values())) else np.inf) for way in ways)
        assert recursive[place] >= worst
        assert AlphaK(1, 1, "ill").measure(found)[place] == max(held(rows).values()) / len(people(rows))
        if not several:
            assert distinct[place] == len(ways[0])


@examples(150)
@given(cases(columns=1, apart=False))
def test_no_share_differs_by_more_than_t(case: Case) -> None:
    """However units' values add up; and where each has one, the distances are the textbook's."""
    records = read(case.table(), unit="who")
    found = frequencies_of(records, ["q0"], "ill")
    assert found.whole == len(case.units)
    classes = [rows for _, rows in sorted(case.classes([0]).items())]
    table = held([(unit, value) for unit, _, value in case.rows])
    whole = len(case.units)
    for distance in ("equal", "ordered"):
        reached = Closeness(1, "ill", distance=distance).measure(found)  # type: ignore[arg-type]  # one of the two
        for place, rows in enumerate(classes):
            shares = {v: Fraction(held(rows)[v], len(people(rows))) - Fraction(table[v], whole) for v in table}
            over, under = sum(max(s, 0) for s in shares.values()), sum(max(-s, 0) for s in shares.values())
            if distance == "equal":
                assert reached[place] == pytest.approx(float(min(max(over, under), 1)))
                assert all(abs(share) <= reached[place] + 1e-12 for share in shares.values())
            elif over == under and len(table) > 1:
                ups = [sum(shares[v] for v in sorted(table)[: i + 1]) for i in range(len(table) - 1)]
                assert reached[place] == pytest.approx(float(sum(map(abs, ups)) / (len(table) - 1)))


def _guessed(case: Case, levels: Sequence[int]) -> Fraction:
    """How often the best guess from a class is right: of one row of each unit, any of whose values will do."""
    values = {unit: {value for whose, _, value in case.rows if whose == unit} for unit in case.units}
    numbers = Counter(unit for unit, _, _ in case.rows)
    right = Fraction(0)
    for rows in case.classes(levels).values():
        right += max(sum(Fraction(value in values[unit], numbers[unit]) for unit, _ in rows) for value in "abc")
    return right / len(case.units)


@examples(120)
@given(cases(most=14))
def test_guesses_are_counted_as_attacks_count_them(case: Case) -> None:
    """Without the table as with it, by a unit's rows; classes make guesses no worse, and finer ones better."""
    records = read(case.table(), unit="who")
    found = exposure_of(frequencies_of(records, case.names, "ill"))
    attacked = homogeneity(records, on=case.names, sensitive="ill")
    shares = held([(unit, value) for unit, _, value in case.rows])
    assert found.baseline == attacked.baseline == max(shares.values()) / len(case.units)
    assert found.guessed == pytest.approx(float(_guessed(case, [0] * len(case.names))))
    assert found.guessed >= found.baseline - 1e-12
    coarser = {**case.table(), **{name: ["*"] * len(case.rows) for name in case.names[1:]}}
    after = exposure_of(frequencies_of(read(coarser, unit="who"), case.names, "ill"))
    assert after.baseline == found.baseline
    assert after.guessed <= found.guessed + 1e-12


def test_no_share_of_a_release_differs_by_more_than_was_promised() -> None:
    """Counted by somebody else, on a table whose people are in several classes; so before and after are of one kind."""
    rng = np.random.default_rng()
    whose = np.sort(rng.integers(300, size=1_500))
    ages, zips = rng.integers(20, 60, size=300), rng.integers(6, size=300)
    ill = np.where(rng.random(1_500) < 0.5, 0, rng.integers(4, size=1_500))
    wards = rng.integers(3, size=1_500)
    table = {"who": whose, "age": ages[whose], "zip": zips[whose], "ward": wards, "ill": ill}
    t = 0.2
    got = anonymize(
        table,
        unit="who",
        quasi_identifiers=["age", "zip", "ward"],
        sensitive=["ill"],
        models=[KAnonymity(5), DistinctDiversity(2, "ill"), Closeness(t, "ill")],
    )
    assert got.records.units is not None
    frame = got.records.to_arrow().to_pandas().assign(unit=got.records.units.codes)
    everybody = frame.unit.nunique()
    for value in frame.ill.unique():
        whole = frame[frame.ill == value].unit.nunique() / everybody
        for _, rows in frame.groupby(["age", "zip", "ward"]):
            share = rows[rows.ill == value].unit.nunique() / rows.unit.nunique()
            assert abs(share - whole) <= t + 1e-12
    sides = [
        exposure_of(frequencies_of(each, ["age", "zip", "ward"], "ill"))
        for each in (read(table, unit="who"), got.records)
    ]
    before, after = sides
    assert before.baseline <= before.guessed
    assert after.baseline <= after.guessed <= before.guessed


def test_shares_of_near_values_may_differ_by_more_than_t() -> None:
    """Not by the equal distance, but by that of an order: all of a class have 3, nobody else does, and 4 is near."""
    table = {"who": range(12), "zip": ["1"] * 2 + ["2"] * 10, "ill": [3, 3, 4, 4, *range(5, 13)]}
    found = frequencies_of(read({name: list(each) for name, each in table.items()}, unit="who"), ["zip"], "ill")
    differ = 1 - Fraction(2, 12)
    assert Closeness(1, "ill", distance="ordered").measure(found)[0] < differ
    assert Closeness(1, "ill").measure(found)[0] >= differ


@examples(100)
@given(cases(columns=1, apart=False))
def test_distances_in_a_hierarchy_end_at_one_in_all(case: Case) -> None:
    """Work in a tree: what all nodes below the root have too much or too little, and what comes from outside."""
    found = frequencies_of(read(case.table(), unit="who"), ["q0"], "ill")
    tree = Listed(rows=[("a", "x", "*"), ("b", "x", "*"), ("c", "c", "*")])
    reached = Closeness(1, "ill", distance="hierarchical", hierarchy=tree).measure(found)
    table = held([(unit, value) for unit, _, value in case.rows])
    for place, (_, rows) in enumerate(sorted(case.classes([0]).items())):
        shares = {v: Fraction(held(rows)[v], len(people(rows))) - Fraction(table[v], len(case.units)) for v in "abc"}
        inner = abs(shares["a"] + shares["b"]) + abs(shares["c"])
        work = (sum(map(abs, shares.values())) + inner) / 4 + abs(sum(shares.values())) / 2
        assert reached[place] == pytest.approx(float(min(work, 1)))


# ── Releases ─────────────────────────────────────────────────────────────────────────────────────────────────────────

Asked: TypeAlias = tuple[Model, Callable[[Class, list[Class]], bool]]
"""A model, and whether a class meets it beside the classes that are released with it."""


def _values(rows: Class, number: int) -> int:
    """How many units the `number` most frequent values of a class hold, added up."""
    return sum(count for _, count in held(rows).most_common(number))


def _share(value: str, classes: list[Class]) -> Fraction:
    """The share of the units of these classes that have a value, each counted once."""
    every = [row for rows in classes for row in rows]
    return Fraction(held(every)[value], len(people(every)))


def _apart(rows: Class, classes: list[Class]) -> Fraction:
    """How far a class is from all of them, by the equal distance: what it has too much of its values, or too little."""
    values = {value for each in classes for _, value in each}
    differ = [Fraction(held(rows)[value], len(people(rows))) - _share(value, classes) for value in values]
    return max(sum(max(each, Fraction(0)) for each in signed) for signed in (differ, [-each for each in differ]))


MODELS: dict[str, Asked] = {
    "k": (KAnonymity(2), lambda rows, _: len(people(rows)) >= 2),
    "distinct": (DistinctDiversity(2, "ill"), lambda rows, _: _values(rows, 1) < len(people(rows))),
    "alpha": (
        AlphaK(Fraction(2, 3), 2, "ill"),
        lambda rows, _: len(people(rows)) >= 2 and 3 * _values(rows, 1) <= 2 * len(people(rows)),
    ),
    "recursive": (
        RecursiveDiversity(2, 2, "ill"),
        lambda rows, _: _values(rows, 1) < 2 * (len(people(rows)) - _values(rows, 1)),
    ),
    "likeness": (
        BetaLikeness(1, "ill"),
        lambda rows, classes: all(
            Fraction(n, len(people(rows))) <= 2 * _share(value, classes) for value, n in held(rows).items()
        ),
    ),
    "closeness": (
        Closeness(Fraction(1, 4), "ill"),
        lambda rows, classes: min(_apart(rows, classes), 1) <= Fraction(1, 4),
    ),
    "disclosure": (
        DeltaDisclosure(1, "ill"),
        lambda rows, classes: all(
            1 / np.e < Fraction(held(rows)[value], len(people(rows))) / _share(value, classes) < np.e
            for value in {value for each in classes for _, value in each}
        ),
    ),
}


def kept(case: Case, levels: Sequence[int], asked: Asked) -> dict[tuple[int, ...], Class]:
    """The classes at a node that meet a model together: first those that do by themselves, then as long as any miss."""
    left = {key: rows for key, rows in case.classes(levels).items() if asked[1](rows, [rows])}
    while True:
        fewer = {key: rows for key, rows in left.items() if asked[1](rows, list(left.values()))}
        if len(fewer) == len(left):
            return left
        left = fewer


@examples(300)
@given(
    st.booleans().flatmap(lambda apart: cases(most=14, apart=apart)),
    st.sampled_from(sorted(MODELS)),
    st.sampled_from([0, Fraction(1, 4), 1]),
)
def test_the_search_counts_units(case: Case, name: str, share: Fraction) -> None:
    """Of all nodes, the same one loses least as by trying all; as many units are touched; and no class is too small."""
    asked = MODELS[name]
    most = floor(share * len(case.units))
    fine = []
    for levels in product(range(3), repeat=len(case.names)):
        rest = kept(case, levels, asked)
        out = [row for key, rows in case.classes(levels).items() if key not in rest for row in rows]
        if len(people(out)) <= most:
            rows = sum(map(len, rest.values()))
            lost = sum(Fraction(level, 2) for level in levels) / len(levels) * rows + len(out)
            fine.append((lost, sum(levels), levels, len(people(out)), len(out)))
    got = None
    with suppress(InvalidArgument):
        got = anonymize(
            case.table(),
            unit="who",
            hierarchies=case.hierarchies(),
            sensitive=["ill"],
            models=[asked[0]],
            suppression=share,
            loss="precision",
        )
    if not fine:
        assert got is None
        return
    assert got is not None
    assert got.search is not None
    lost, _, levels, touched, out = min(fine)
    assert tuple(got.search.levels[name] for name in case.names) == levels
    assert got.search.loss == lost / len(case.rows)
    assert (got.touched, got.suppressed) == (touched, out)
    assert got.search.optimal
    assert got.touched == got.search.suppressed <= most


@examples(80)
@given(
    st.booleans().flatmap(lambda apart: cases(most=14, apart=apart)),
    st.sampled_from(["k", "distinct", "alpha"]),
    st.booleans(),
)
def test_ranges_count_units(case: Case, name: str, relaxed: bool) -> None:
    """Each class of what Mondrian releases meets the model, counted by unit from the rows that it was made from."""
    asked = MODELS[name]
    got = None
    with suppress(InvalidArgument):
        got = anonymize(
            case.table(),
            unit="who",
            quasi_identifiers=case.names,
            sensitive=["ill"],
            models=[asked[0]],
            algorithm="relaxed mondrian" if relaxed else "mondrian",
        )
    if got is None:
        assert not asked[1]([(unit, value) for unit, _, value in case.rows], [])
        return
    records = got.records
    assert records.units is not None
    shown = list(zip(*(records.column(name).codes.tolist() for name in case.names), strict=True))
    values = np.array(records.column("ill").labels())[records.column("ill").codes]
    classes: dict[tuple[int, ...], Class] = {}
    for key, unit, value in zip(shown, records.units.codes.tolist(), values.tolist(), strict=True):
        classes.setdefault(key, []).append((unit, value))
    assert all(asked[1](rows, []) for rows in classes.values())
    everybody = sorted(case.units)
    assert Counter((everybody[unit], value) for rows in classes.values() for unit, value in rows) == Counter(
        (unit, value) for unit, _, value in case.rows
    )


@examples(120)
@given(cases(most=8), cases(most=14), st.integers(1, 4), st.booleans(), st.booleans())
def test_populations_are_counted_by_unit(case: Case, town: Case, k: int, named: bool, own: bool) -> None:
    """By what names their units, whether the table's rows are somebody's or people; else each row is a unit."""
    if len(case.names) != len(town.names):
        return
    crowd = town.classes([0] * len(town.names))
    table = read(case.table(unit=own), unit="who" if own else ())
    everybody = read(town.table(), unit="who") if named else read(town.table(unit=False))
    found = frequencies_of(table, case.names, population=everybody)
    assert found.population is not None
    want = [
        len(people(rows)) if named else len(rows)
        for rows in (crowd.get(key, []) for key in sorted(case.classes([0] * len(case.names))))
    ]
    assert found.population.tolist() == want
    nodes = []
    for levels in product(range(3), repeat=len(case.names)):
        larger = town.classes(levels)
        sizes = [
            len(people(larger.get(key, []))) if named else len(larger.get(key, [])) for key in case.classes(levels)
        ]
        nodes.append((min(sizes) >= k, levels))
    got = None
    with suppress(InvalidArgument):
        got = anonymize(table, hierarchies=case.hierarchies(), models=[KMap(k)], population=everybody, suppression=0)
    assert (got is not None) == any(fine for fine, _ in nodes)


def test_ranges_of_a_population_are_not_counted_by_row() -> None:
    """One person of three rows would make a 3-map of somebody who is alone."""
    town = read({"who": [1, 1, 1, 2, 3, 4], "age": [20, 20, 20, 30, 30, 30]}, unit="who")
    with pytest.raises(InvalidArgument, match="ranges of a population can't be counted by unit"):
        anonymize({"age": [20, 30]}, quasi_identifiers=["age"], models=[KMap(3)], population=town, algorithm="mondrian")


def test_counting_rows_is_the_wrong_twin() -> None:
    """Where rows are counted, ten rows of two people are a class of ten, and diverse though both have one value."""
    table = {"who": [1] * 5 + [2] * 5, "zip": ["1"] * 10, "ill": list("abcabcabca")}
    units, rows = (frequencies_of(read(table, unit=unit), ["zip"], "ill") for unit in ("who", ()))
    assert KAnonymity(5).met(rows).all()
    assert not KAnonymity(5).met(units).any()
    assert DistinctDiversity(2, "ill").met(rows).all()
    assert not DistinctDiversity(2, "ill").met(units).any()  # both have a
