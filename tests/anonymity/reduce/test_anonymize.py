"""`anonymize` from end to end: what is released, what is promised, and what is never handed out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import read
from discreet.anonymity.frequencies import frequencies_of
from discreet.anonymity.hierarchies import Digits, Flat, Listed, read_hierarchy
from discreet.anonymity.loss import NCP
from discreet.anonymity.models import (
    AlphaK,
    Closeness,
    DeltaDisclosure,
    DeltaPresence,
    DistinctDiversity,
    KAnonymity,
    KMap,
    Model,
)
from discreet.anonymity.reduce.anonymize import anonymize
from discreet.anonymity.reduce.anonymized import Made, finished
from discreet.anonymity.reduce.recoding import GroupedCells, RangeCells, Recoded, Recoding
from discreet.errors import InvalidArgument, SchemaMismatch
from support.examples import examples
from support.slow_generalising import LOSSES, PROMISES, Case, Promise, both, cases

PEOPLE = {
    "name": ["Ann", "Bob", "Cid", "Dot", "Eve", "Fay"],
    "age": [42, 46, 36, 31, 35, 73],
    "zip": ["8001", "8002", "3001", "3002", "3001", "8001"],
    "ill": ["flu", "cold", "flu", "flu", "cold", "flu"],
    "visits": [1, 2, 3, 4, 5, 6],
}
AGES = {"age": Digits()}
LIMITS = st.sampled_from([Fraction(0), Fraction(1, 10), Fraction(1, 4), Fraction(1, 2), Fraction(1)])
ALGORITHMS = ("optimal", "mondrian", "relaxed mondrian", "microaggregation")


def test_columns_have_roles() -> None:
    """What is named nowhere, or names people, isn't released."""
    got = anonymize(
        PEOPLE,
        hierarchies=AGES,
        identifying=["name"],
        insensitive=["visits"],
        models=[KAnonymity(2), DistinctDiversity(2, "ill")],
        suppression=Fraction(1, 6),
    )
    assert got.table.column_names == ["age", "ill", "visits"]
    assert got.table.to_pydict() == {
        "age": ["30", "30", "30", "40", "40"],
        "ill": ["cold", "flu", "flu", "cold", "flu"],
        "visits": [5, 3, 4, 2, 1],
    }
    assert got.table.schema.field("ill").type == pa.string()
    assert (got.quasi_identifiers, got.sensitive) == (("age",), ("ill",))
    assert (got.rows, got.suppressed) == (6, 1)
    assert dict(got.reached) == {"2-anonymity": 2.0, "distinct 2-diversity of ill": 2.0}
    assert got.search is not None
    assert got.search.optimal
    assert got.losses["ncp"] == float(got.search.loss)
    assert got.to_pandas()["age"].tolist() == ["30", "30", "30", "40", "40"]
    assert got.to_arrow() is got.table


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_the_coded_release_is_the_table(algorithm: Any) -> None:
    """Codes are places in the labels of cells, which cover the original values."""
    got = anonymize(
        PEOPLE,
        hierarchies={},
        quasi_identifiers=["age"],
        sensitive=["ill"],
        models=[KAnonymity(2)],
        algorithm=algorithm,
    )
    column, cells = got.records.column("age"), got.cells["age"]
    assert column.labels() == cells.labels
    assert [cells.labels[code] for code in column.codes] == got.table.column("age").to_pylist()
    ages = read(PEOPLE).column("age")
    assert all(len(cells.covering(code)) for code in range(ages.size)) or got.suppressed
    assert {"ncp", "entropy", "discernibility", "class_size"} <= set(got.losses)
    assert ("precision" in got.losses) == (algorithm == "optimal")
    assert got.risks is not None
    assert got.risks.prosecutor.highest <= 0.5


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table, dict, read])
def test_any_table_will_do(make: Callable[[Any], Any]) -> None:
    """With one result."""
    got = anonymize(make(PEOPLE), hierarchies=AGES, models=[KAnonymity(2)], suppression=Fraction(1, 6))
    assert got.table.to_pydict() == {"age": ["30"] * 3 + ["40"] * 2}


def test_a_report_says_what_was_done_and_what_not() -> None:
    """In words and as JSON; never that it is differentially private."""
    got = anonymize(PEOPLE, hierarchies=AGES, models=[KAnonymity(2)], suppression=Fraction(1, 6))
    text, facts = str(got), json.loads(json.dumps(got.to_dict(), allow_nan=False))
    assert "5 of 6 released, 16.67% left out" in text
    assert "optimal: no other of the 3 generalisations loses less" in text
    assert text.endswith(got.caveat)
    assert "singled out" in got.caveat
    assert "differential" not in text
    assert facts["search"]["levels"] == {"age": 1}
    assert facts["reached"] == {"2-anonymity": 2.0}


@examples(80)
@given(cases(), st.one_of(*PROMISES.values()), st.sampled_from(LOSSES), st.sampled_from([0, Fraction(1, 4), 1]))
def test_a_release_meets_its_models_by_their_definitions(
    case: Case, promise: Promise, loss: str, share: Fraction
) -> None:
    """Read off the released table, in plain Python; and it lost what its search says."""
    try:
        got = anonymize(
            case.columns(), hierarchies=case.hierarchies(), models=[promise.model], suppression=share, loss=loss
        )
    except InvalidArgument:
        return
    classes: dict[tuple[object, ...], Counter[object]] = {}
    table = got.table.to_pydict()
    for place in range(got.table.num_rows):
        key = tuple(table[name][place] for name in got.quasi_identifiers)
        held = table["ill"][place] if "ill" in table else None
        classes.setdefault(key, Counter())[held] += 1
    table = sum(classes.values(), Counter())
    assert all(both([promise])(held, table) for held in classes.values())
    assert got.search is not None
    assert got.losses[loss] == pytest.approx(float(got.search.loss), abs=1e-9)
    assert got.table.num_rows == len(case.rows) - got.suppressed


@examples(60)
@given(
    cases(columns=2),
    st.data(),
    st.sampled_from(["map", "presence", "upper presence"]),
    st.sampled_from([Fraction(0), Fraction(1, 4), Fraction(1)]),
)
def test_models_about_a_population(case: Case, data: st.DataObject, which: str, share: Fraction) -> None:
    """Against counting by hand, with people of the population who have values that no row has."""
    codes = st.tuples(*(st.sampled_from(sorted(path)) for path in case.paths))
    more = data.draw(st.lists(codes, max_size=8))
    people = [codes for codes, _ in case.rows] + more
    town = Case(rows=tuple((each, "-") for each in people), paths=case.paths, numeric=case.numeric)
    k, ends = data.draw(st.integers(1, 6)), (Fraction(1, 4) if which == "presence" else Fraction(0), Fraction(3, 4))
    model: Model = KMap(k) if which == "map" else DeltaPresence(*ends)

    def met(rows: int, crowd: int) -> bool:
        return crowd >= k if which == "map" else ends[0] * crowd <= rows <= ends[1] * crowd

    best: tuple[Fraction, int, tuple[int, ...]] | None = None
    for levels in product(*(range(height + 1) for height in case.heights)):
        crowds = {key: held.total() for key, held in town.classes(levels).items()}
        out = sum(h.total() for key, h in case.classes(levels).items() if not met(h.total(), crowds[key]))
        steps = [Fraction(a, max(b, 1)) for a, b in zip(levels, case.heights, strict=True)]
        loss = (sum(steps, Fraction()) / len(steps) * (len(case.rows) - out) + out) / len(case.rows)
        if out <= share * len(case.rows):
            best = min([(loss, sum(levels), levels), *([best] if best else [])])
    arguments: dict[str, Any] = {
        "hierarchies": case.hierarchies(),
        "models": [model],
        "suppression": share,
        "loss": "precision",
    }
    if best is None:
        with pytest.raises(InvalidArgument, match="no generalisation meets"):
            anonymize(case.columns(), population=town.columns(), **arguments)
        return
    got = anonymize(case.columns(), population=town.columns(), **arguments)
    assert got.search is not None
    assert (got.search.loss, tuple(got.search.levels.values())) == (best[0], best[2])


def test_a_population_may_store_the_same_values_otherwise() -> None:
    """Whole numbers of another width, or texts of another library, are the same people."""
    table, town = {"age": [31, 35, 42]}, {"age": [31, 35, 38, 42, 42]}
    small = pl.DataFrame(town, schema={"age": pl.Int16})
    one, other = (
        anonymize(table, hierarchies=AGES, models=[KMap(2)], suppression=0, population=people)
        for people in (town, small)
    )
    assert one.table.equals(other.table)
    assert one.reached == other.reached == {str(KMap(2)): 2}


def test_a_population_of_another_kind_is_refused() -> None:
    """None of its values would match, and the map would seem empty."""
    with pytest.raises(SchemaMismatch, match="numbers in the one table and texts in the other"):
        anonymize(PEOPLE, hierarchies=AGES, population={"age": ["1"]}, models=[KMap(2)])


def test_mondrian_counts_a_population_as_it_would_be_shown() -> None:
    """Each class has as many people of the town as its range holds; a model about them is met, or refused."""
    town = {"age": [20, 20, 23, 30, 35, 35, 61]}
    got = anonymize(
        {"age": [20, 23, 35]}, quasi_identifiers=["age"], models=[KMap(2)], algorithm="mondrian", population=town
    )
    assert got.table.column("age").to_pylist() == ["20", "23–35", "23–35"]
    assert got.reached == {str(KMap(2)): 2}
    with pytest.raises(InvalidArgument):
        anonymize(
            {"age": [20, 23, 35]}, quasi_identifiers=["age"], models=[KMap(7)], algorithm="mondrian", population=town
        )


def test_missing_values_are_texts_in_a_release() -> None:
    """Whatever they were taken to be in the table, unless they are refused."""
    table = {"age": [31, 32, None, None, None], "ill": ["a", None, "b", "a", None]}
    for missing in ("own value", "wildcard"):
        got = anonymize(table, hierarchies=AGES, sensitive=["ill"], models=[KAnonymity(2)], missing=missing)
        assert got.table.column("age").null_count == 0
        assert got.table.column("age").to_pylist() == ["(missing)"] * 3 + ["30"] * 2
        assert got.table.column("ill").null_count == 2
    with pytest.raises(InvalidArgument, match="lacks"):
        anonymize(table, hierarchies=AGES, sensitive=["ill"], models=[KAnonymity(2)], missing="refuse")


def test_promises_are_of_the_release() -> None:
    """What a class is compared with is what is released: nobody who reads it sees the rows that were left out."""
    table = {"age": ["1"] * 4 + ["2"], "ill": ["a", "b", "a", "b", "c"]}
    got = anonymize(
        table,
        hierarchies={"age": Flat()},
        models=[DeltaDisclosure(1, "ill"), KAnonymity(2)],
        suppression=Fraction(1, 5),
    )
    assert got.search is not None
    assert got.search.levels == {"age": 0}  # the four rows alone have all the values that are left
    got = anonymize(
        table, hierarchies={"age": Flat()}, models=[Closeness(Fraction(1, 5), "ill"), KAnonymity(2)], suppression=0.2
    )
    assert got.suppressed == 1
    assert got.reached["(t=0.2)-closeness of ill by equal distance"] == 0.0


@examples(100)
@given(cases(), st.lists(st.one_of(*PROMISES.values()), min_size=1, max_size=2), LIMITS)
def test_whoever_measures_the_release_finds_what_was_promised(
    case: Case, promises: list[Promise], share: Fraction
) -> None:
    """Each figure that is reached, measured anew on the table that was handed out and nothing else."""
    models = [each.model for each in promises]
    try:
        got = anonymize(case.columns(), hierarchies=case.hierarchies(), models=models, suppression=share)
    except InvalidArgument:
        return
    for model in models:
        found = frequencies_of(read(got.table), got.quasi_identifiers, model.sensitive)
        assert model.met(found).all()
        assert model.reached(found) == got.reached[str(model)]


def identity(column: Any, labels: tuple[str, ...] | None = None) -> Recoded:
    """A column as it is."""
    shown = tuple(map(str, column.labels())) if labels is None else labels
    groups = np.arange(column.size, dtype=np.int32)
    return Recoded(codes=column.codes, cells=GroupedCells(name=column.name, labels=shown, groups=groups))


def test_a_release_that_misses_its_models_is_never_handed_out() -> None:
    """Wrong twins of algorithms: one that does nothing, and one whose cells look alike."""
    records = read({"age": ["1", "1", "2", "2", "3", "3"], "ill": ["a", "b", "a", "b", "a", "a"]})
    everything = np.ones(6, dtype=np.bool_)
    lazy = Recoding(columns={"age": identity(records.column("age"))}, kept=everything)
    assert finished(records, Made(algorithm="lazy", recoding=lazy), [KAnonymity(2)], ["ill"]).reached
    with pytest.raises(InvalidArgument, match="the finished table doesn't meet 3-anonymity"):
        finished(records, Made(algorithm="lazy", recoding=lazy), [KAnonymity(3)], ["ill"])
    half = AlphaK(Fraction(1, 2), 1, "ill")
    some = np.array([True, True, True, True, False, False])
    fine = Recoding(columns={"age": identity(records.column("age"))}, kept=some)
    assert finished(records, Made(algorithm="some", recoding=fine), [half], ["ill"]).suppressed == 2
    alike = Recoding(columns={"age": identity(records.column("age"), ("x", "y", "y"))}, kept=everything)
    with pytest.raises(InvalidArgument, match="so it isn't released"):
        finished(records, Made(algorithm="alike", recoding=alike), [half], ["ill"])


def test_cells_that_look_alike_are_one_in_everything_that_is_said() -> None:
    """Two ranges with one label stand for the values of both, in the losses too."""
    records = read({"age": [1, 2, 3, 4]})
    cells = RangeCells(
        name="age", labels=("x", "x"), low=np.array([0, 2], np.int32), high=np.array([1, 3], np.int32), size=4
    )
    column = Recoded(codes=np.array([0, 0, 1, 1], np.int32), cells=cells)
    made = Made(algorithm="twice", recoding=Recoding(columns={"age": column}, kept=np.ones(4, dtype=np.bool_)))
    got = finished(records, made, [KAnonymity(4)], [])
    assert got.reached["4-anonymity"] == 4
    assert got.cells["age"].covered(0).tolist() == [0, 1, 2, 3]
    assert got.losses["ncp"] == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "no quasi-identifier is named"),
        ({"hierarchies": AGES, "models": []}, "no model is named"),
        ({"hierarchies": AGES, "sensitive": ["age"]}, "'age' is named twice"),
        ({"hierarchies": AGES, "models": [DistinctDiversity(2, "age")]}, "'age' is named twice"),
        ({"hierarchies": AGES, "quasi_identifiers": ["zip"]}, "hierarchy for 'age', which isn't"),
        ({"hierarchies": AGES, "loss": "beauty"}, "no loss 'beauty'"),
        ({"hierarchies": AGES, "algorithm": "magic"}, "no algorithm 'magic'"),
        ({"hierarchies": AGES, "algorithm": "mondrian", "local_recoding": True}, "continues the optimal search"),
        ({"hierarchies": AGES, "models": [KMap(2)]}, "population"),
        ({"hierarchies": AGES, "suppression": 2}, "suppression"),
        ({"quasi_identifiers": "age"}, "a list of names"),
        ({"hierarchies": AGES, "sensitive": "ill"}, "a list of names"),
        ({"hierarchies": AGES, "models": KAnonymity(2)}, "a list of models"),
        ({"hierarchies": AGES, "models": [2]}, "a list of models"),
    ],
)
def test_wrong_arguments_say_what_is_wrong(arguments: dict[str, Any], message: str) -> None:
    """Before anything is searched."""
    with pytest.raises(InvalidArgument, match=message):
        anonymize(PEOPLE, **arguments)


def test_unknown_columns_and_values_are_named() -> None:
    """By their names."""
    with pytest.raises(SchemaMismatch, match="no column 'height'"):
        anonymize(PEOPLE, hierarchies=AGES, sensitive=["height"])
    with pytest.raises(SchemaMismatch, match="lacks 1 value"):
        anonymize(PEOPLE, hierarchies={"zip": Listed(rows=[(z, "*") for z in ("8001", "8002", "3001")])})


def test_columns_without_a_hierarchy_get_one() -> None:
    """The one that is proposed."""
    got = anonymize(PEOPLE, quasi_identifiers=["age", "zip"], models=[KAnonymity(3)], suppression=0, loss=NCP())
    assert got.reached["3-anonymity"] >= 3
    assert got.search is not None
    assert set(got.search.levels) == {"age", "zip"}


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian"])
def test_leaving_everything_out_is_a_release_without_rows(algorithm: Any) -> None:
    """Where the limit allows it; algorithms that leave out nothing refuse."""
    table = {"age": ["1", "2"], "ill": ["a", "b"]}
    arguments: dict[str, Any] = {
        "quasi_identifiers": ["age"],
        "sensitive": ["ill"],
        "models": [KAnonymity(5)],
        "suppression": 1,
    }
    if algorithm == "mondrian":
        with pytest.raises(InvalidArgument, match="doesn't meet 5-anonymity"):
            anonymize(table, algorithm=algorithm, **arguments)
        return
    got = anonymize(table, algorithm=algorithm, **arguments)
    assert (got.table.num_rows, got.suppressed) == (0, 2)
    assert got.losses["ncp"] == 1
    json.dumps(got.to_dict(), allow_nan=False)
    assert "0 of 2 released" in str(got)


@pytest.mark.parametrize("algorithm", ["optimal", "mondrian", "relaxed mondrian", "microaggregation"])
def test_nobody_is_safe_already(algorithm: Any) -> None:
    """A table without rows becomes one, with its columns; every promise is kept, and nothing is lost."""
    nobody = pa.table(
        {"age": pa.array([], pa.int64()), "ill": pa.array([], pa.string()), "id": pa.array([], pa.int8())}
    )
    models = [KAnonymity(5), DistinctDiversity(2, "ill")]
    found = anonymize(nobody, quasi_identifiers=["age"], sensitive=["ill"], models=models, algorithm=algorithm)
    assert (found.table.column_names, found.table.num_rows, found.suppressed) == (["age", "ill"], 0, 0)
    assert all(value == float("inf") for value in found.reached.values())
    assert all(value == 0 for value in found.losses.values())


def test_what_loses_least_is_taken_and_the_others_are_told() -> None:
    """Of all that can be tried; each release keeps the promise, and its loss is what that algorithm alone reaches."""
    table = {
        "age": [20 + row * 7 % 40 for row in range(200)],
        "zip": [f"1{row * 3 % 10}0{row % 7}0" for row in range(200)],
        "ill": ["flu", "gout"] * 100,
    }
    asked: dict[str, Any] = {"quasi_identifiers": ["age", "zip"], "sensitive": ["ill"], "models": [KAnonymity(4)]}
    got = anonymize(table, algorithm="auto", **asked)
    alone = {
        name: anonymize(table, algorithm=name, **asked)  # type: ignore[arg-type]  # each is one of them
        for name in ("optimal", "mondrian", "relaxed mondrian")
    }
    local = anonymize(table, local_recoding=True, **asked)
    losses = {release.algorithm: release.losses["ncp"] for release in (*alone.values(), local)}
    assert dict(got.tried) == {name: loss for name, loss in losses.items() if name in got.tried}
    assert set(alone) <= set(got.tried)
    assert ("optimal with local recoding" in got.tried) == (alone["optimal"].suppressed > 0)
    assert got.losses["ncp"] == min(losses[name] for name in got.tried)
    assert got.tried[got.algorithm] == got.losses["ncp"]
    assert got.table.equals(alone[got.algorithm].table if got.algorithm in alone else local.table)
    assert got.reached["4-anonymity"] >= 4
    assert set(anonymize(table, algorithm="auto", loss="arx", **asked).tried) == {"optimal"}
    assert got.to_dict()["tried"] == dict(got.tried)


def test_a_hierarchy_that_cannot_reach_the_promise_is_said_not_gone_beyond() -> None:
    """Ranges of its groups would, and nobody asked for these; where none is given, another algorithm may."""
    table = {"age": [20, 20, 30, 30], "x": ["a", "b", "c", "d"]}
    halves = {"age": read_hierarchy({20: "20s", 30: "30s"})}
    with pytest.raises(InvalidArgument, match="no generalisation meets"):
        anonymize(table, hierarchies=halves, models=[KAnonymity(3)], suppression=0, algorithm="auto")
    assert anonymize(table, hierarchies=halves, models=[KAnonymity(2)], suppression=0, algorithm="auto").rows == 4
