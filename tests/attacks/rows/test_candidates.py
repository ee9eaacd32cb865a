"""Which released rows may be whose: against definitions in plain Python, value by value and row by row."""

from __future__ import annotations

from collections import Counter
from datetime import date, datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity import Missing, read
from discreet.anonymity.columns import Coded
from discreet.anonymity.hierarchies import Taxonomy
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.reduce.anonymize import anonymize
from discreet.anonymity.reduce.recoding import ListedCells
from discreet.attacks.targets.compatible import relate
from discreet.attacks.targets.rows import Candidates, Rows
from discreet.errors import InvalidArgument


def fits(value: Any, label: Any) -> bool:
    """Whether a value may have become a cell, read from the documentation of `relate`, one label at a time."""
    if value is None or label is None:
        return value is None and label is None
    text = str(value)
    if text == label or set(label) == {"*"}:
        return True
    if "*" in label:
        return len(text) == len(label) and all(b in {"*", a} for a, b in zip(text, label, strict=True))
    return text in label[1:-1].split(", ") if label.startswith("{") else within(int(text), label)


def within(value: int, label: str) -> bool:
    """Whether a number is in a range."""
    if label[0] in "≥<":
        bound = int(label[1:])
        return value >= bound if label[0] == "≥" else value < bound
    lo, _, hi = label.strip("[)").replace(", ", "–").partition("–")
    return bool(hi) and int(lo) <= value < int(hi) + (not label.startswith("["))


WHOLE = st.integers(0, 40)
LABELS = st.one_of(
    WHOLE.map(str),
    st.tuples(WHOLE, st.integers(0, 15)).map(lambda pair: f"{pair[0]}–{pair[0] + pair[1]}"),
    st.tuples(WHOLE, st.integers(1, 15)).map(lambda pair: f"[{pair[0]}, {pair[0] + pair[1]})"),
    WHOLE.map(lambda n: f"≥{n}"),
    WHOLE.map(lambda n: f"<{n}"),
    st.lists(WHOLE, min_size=2, max_size=3, unique=True).map(lambda some: "{" + ", ".join(map(str, some)) + "}"),
    st.sampled_from(["*", "**", "1*", "*2", "2*"]),
)


@given(st.lists(st.one_of(WHOLE, st.none()), min_size=1), st.lists(st.one_of(LABELS, st.none()), min_size=1))
def test_cells_are_read_as_documented(values: list[int | None], labels: list[str | None]) -> None:
    """`relate` pairs exactly the values and cells that the slow definition pairs."""
    known, released = read({"x": values}).column("x"), read({"x": labels}).column("x")
    found = relate(known, released)
    for code, value in enumerate(known.labels()):
        cells = found.cells[found.starts[code] : found.starts[code + 1]].tolist()
        assert cells == [cell for cell, label in enumerate(released.labels()) if fits(value, label)]


def test_ranges_of_texts_and_days() -> None:
    """Ranges in code-point order, from day to day, years and months, and with a missing value beside them."""
    texts, days = read({"x": ["a", "b", "m", "z"]}).column("x"), read({"x": [date(1990, 5, 17)]}).column("x")
    assert relate(texts, read({"x": ["{b … m}"]}).column("x")).numbers().tolist() == [0, 1, 1, 0]
    labels = ["1990", "1990-05", "1990-06", "1990-05-01–1990-05-17", "1990-05-18–1991-01-01", "1989–1991 or (missing)"]
    found = relate(days, read({"x": labels}).column("x"))
    released = read({"x": labels}).column("x").labels()
    assert {released[cell] for cell in found.cells.tolist()} == {
        "1990", "1990-05", "1990-05-01–1990-05-17", "1989–1991 or (missing)"
    }  # fmt: skip


def test_rounded_ends_are_read() -> None:
    """Beginnings of texts, ranges without an end, decades, hours: each label goes with what lies in it."""
    texts = read({"x": ["a, b", "anna", "antje", "berta", "zoe"]}).column("x")
    cells = {
        "{an…}": ["anna", "antje"], "{an… … be…}": ["anna", "antje", "berta"],
        '{"a, b" … an…}': ["a, b", "anna", "antje"],
        "{be… …}": ["berta", "zoe"], "{… anna}": ["a, b", "anna"], "{…}": ["a, b", "anna", "antje", "berta", "zoe"],
    }  # fmt: skip
    assert _read(texts, list(cells)) == cells
    clock = [datetime(1989, 12, 31, 23, 5), datetime(1990, 5, 17, 14, 30), datetime(2001, 1, 1, 0, 0)]
    times = {
        "1990-05-17 14h": clock[1:2], "1980s": clock[:1], "1980s–1990": clock[:2], "1990-05-17": clock[1:2],
        "1990-05-17 13h–1990-05-17 14h": clock[1:2], "≥1990-06": clock[2:], "≤1990": clock[:2],
        "1990-05–2001": clock[1:],
    }  # fmt: skip
    assert _read(read({"x": clock}).column("x"), list(times)) == times


def _read(known: Coded, labels: list[str]) -> dict[str, list[Any]]:
    """Of each label, the values that it goes with."""
    released = read({"x": labels}).column("x")
    found = relate(known, released)
    fitting: dict[str, list[Any]] = {label: [] for label in labels}
    for code, value in enumerate(known.labels()):
        for cell in found.cells[found.starts[code] : found.starts[code + 1]].tolist():
            fitting[str(released.labels()[cell])].append(value)
    return fitting


def test_wildcards_fit_everything() -> None:
    """A missing value that may be anything fits every cell, on either side; one that is its own value fits itself."""
    known, released = read({"x": [1, None]}).column("x"), read({"x": [1, 2, None]}).column("x")
    pairs = {
        (a, b): relate(known, released, missing=(a, b)).numbers().tolist()
        for a in (Missing.OWN_VALUE, Missing.WILDCARD)
        for b in (Missing.OWN_VALUE, Missing.WILDCARD)
    }
    own, wild = Missing.OWN_VALUE, Missing.WILDCARD
    assert pairs == {(own, own): [1, 1], (own, wild): [2, 1], (wild, own): [1, 3], (wild, wild): [2, 3]}


CELLS = st.integers(0, 3)
TABLES = st.integers(1, 3).flatmap(
    lambda width: st.tuples(
        st.lists(st.tuples(*[CELLS] * width), max_size=12),
        st.lists(st.tuples(*[CELLS] * width), max_size=12),
        st.lists(st.lists(st.sets(CELLS), min_size=4, max_size=4), min_size=width, max_size=width),
    )
)


def candidates(
    known: list[tuple[int, ...]], rows: list[tuple[int, ...]], covers: list[list[set[int]]]
) -> tuple[Candidates, Rows]:
    """Candidates of people in rows whose cell c, in column i, stands for the values covers[i][c]."""
    width = len(covers)
    names = [f"c{place}" for place in range(width)]

    def table(tuples: list[tuple[int, ...]], text: str) -> Any:
        """A table of texts, with the codes of all values in order."""
        return read({name: [f"{text}{each[place]}" for each in tuples] for place, name in enumerate(names)})

    original = read({name: [f"v{n}" for n in range(4)] for name in names})
    cells = {
        name: ListedCells.of(
            name,
            [f"cell{cell}" for cell in range(4) if covers[place][cell]],
            [np.array(sorted(covers[place][cell]), np.int32) for cell in range(4) if covers[place][cell]],
        )
        for place, name in enumerate(names)
    }
    target = Rows(records=table(rows, "cell"), cells=cells, original=original)
    return target.candidates(table(known, "v"), names), target


@given(TABLES)
def test_candidates_are_all_rows_that_fit(drawn: tuple[Any, Any, Any]) -> None:
    """Grouped and joined as trees, the same rows come out as by comparing every person with every row."""
    known, rows, covers = drawn
    found, _ = candidates(known, rows, covers)
    fitting = [
        [
            place
            for place, row in enumerate(rows)
            if all(value in covers[column][cell] for column, (value, cell) in enumerate(zip(person, row, strict=True)))
        ]
        for person in known
    ]
    assert [found.of(person).tolist() for person in range(len(known))] == fitting
    assert found.numbers().tolist() == list(map(len, fitting))
    assert found.only().tolist() == [rows[0] if len(rows) == 1 else -1 for rows in fitting]
    people, places = np.indices((len(known), len(rows))).reshape(2, -1)
    held = [place in fitting[person] for person, place in zip(people.tolist(), places.tolist(), strict=True)]
    assert found.hold(people, places).tolist() == held


@given(TABLES, st.data())
def test_tallies_count_candidates(drawn: tuple[Any, Any, Any], data: st.DataObject) -> None:
    """The counts of sensitive values among each person's candidates are those of counting them one by one."""
    known, rows, covers = drawn
    ill = data.draw(st.lists(st.sampled_from("xyz"), min_size=len(rows), max_size=len(rows)))
    found, _ = candidates(known, rows, covers)
    table = Rows(records=read({"row": list(range(len(rows))), "ill": ill}))
    seen = table.tally(found, "ill")
    for person in range(len(known)):
        kind = seen.of_person[person]
        here = slice(seen.starts[kind], seen.starts[kind + 1])
        counted = {
            seen.labels[v]: c for v, c in zip(seen.values[here].tolist(), seen.counts[here].tolist(), strict=True)
        }
        assert counted == Counter(ill[row] for row in found.of(person).tolist())


@pytest.mark.parametrize("algorithm", ["mondrian", "relaxed mondrian"])
def test_nobody_is_lost_by_generalising(algorithm: Any) -> None:
    """Of an anonymised table, everybody has at least k candidates; by cells and by labels they are the same."""
    table = read(
        {
            "age": [20 + 7 * n % 50 for n in range(200)],
            "town": [f"t{n * n % 37:02}" for n in range(200)],
            "born": [date(1980 + n % 13, 1 + n % 12, 1 + n % 28) for n in range(200)],
            "ill": ["flu", "cold"] * 100,
        }
    )
    on = ["age", "town", "born"]
    release = anonymize(table, quasi_identifiers=on, sensitive=["ill"], models=[KAnonymity(4)], algorithm=algorithm)
    by_cells = Rows.of(release, original=table).candidates(table, on).numbers()
    by_labels = Rows.of(release).candidates(table, on).numbers()
    assert by_cells.min() >= 4
    assert by_cells.tolist() == by_labels.tolist()


def test_groups_with_names_need_the_table() -> None:
    """A group's label doesn't say what is in it, so without the table that was anonymised nobody would seem at risk."""
    table = read({"work": ["state", "state", "town", "town", "firm", "firm", "firm", "firm"], "ill": list("abcdefgh")})
    work = Taxonomy(tree={"public": ["state", "town"], "private": ["firm"]})
    release = anonymize(table, hierarchies={"work": work}, sensitive=["ill"], models=[KAnonymity(4)])
    assert Rows.of(release, original=table).candidates(table, ["work"]).numbers().tolist() == [4] * 8
    with pytest.raises(InvalidArgument, match="labels"):
        Rows.of(release).candidates(table, ["work"])


def test_columns_are_needed() -> None:
    """Nothing is linked by nothing, and a text isn't a list of names."""
    rows = Rows.of({"x": [1]})
    for on in ([], "x"):
        with pytest.raises(InvalidArgument):
            rows.candidates(read({"x": [1]}), on)


def test_what_was_kept_as_it_is_isnt_read_as_cells() -> None:
    """A release says which of its columns are generalised; in the others a range is a text, and so are stars."""
    table = read({"age": [25, 25, 31, 31], "band": ["20-29", "25", "*", "20-29"], "ill": ["a", "b", "a", "b"]})
    release = anonymize(
        table, quasi_identifiers=["age"], insensitive=["band", "ill"], models=[KAnonymity(2)], algorithm="mondrian"
    )
    known = read({"band": [25, None]})
    assert Rows.of(release, original=table).candidates(known, ["band"]).numbers().tolist() == [1, 0]
    assert Rows.of(release.table).candidates(known, ["band"]).numbers()[0] == 4  # of no release, all may be cells
