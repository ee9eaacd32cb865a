"""Hierarchies from files and lists: values are found by their texts, and faults are named."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from math import prod
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.anonymity.hierarchies import Flat, Taxonomy, read_hierarchy
from discreet.anonymity.hierarchies.texts import same_number
from discreet.anonymity.records import read
from discreet.errors import InvalidArgument, SchemaMismatch, SourceMissing, SourceUnsupported
from support.ladders import check, column, shown


def test_the_hierarchies_of_arx(trial_data: Path) -> None:
    """All nine load, fit their columns, and make the lattice of 12,960 nodes; labels are those of the files."""
    people = read(trial_data / "adult_arx" / "adult.csv")
    heights = {}
    for name in people.names:
        path = trial_data / "adult_arx" / f"hierarchy_{name}.csv"
        ladder = read_hierarchy(path).ladder(people.column(name))
        rows = {line.split(";")[0]: line.split(";") for line in path.read_text(encoding="utf-8").split("\n") if line}
        for level, table in enumerate(shown(ladder, people.column(name))):
            assert table == {value: rows[str(value)][level] for value in people.column(name).labels()}
        heights[name] = ladder.height
    assert heights["age"] == 4
    assert prod(height + 1 for height in heights.values()) == 12_960


@given(st.dictionaries(st.integers(-99, 99), st.integers(0, 3), min_size=1), st.data())
def test_rows_are_looked_up(groups: dict[int, int], data: st.DataObject) -> None:
    """Any subset of the listed values, with missing ones or without, in any order of rows."""
    values: list[Any] = data.draw(st.lists(st.sampled_from(sorted(groups)), min_size=1))
    if data.draw(st.booleans()):
        values.append(None)
    rows = data.draw(st.permutations([(value, f"g{group}", "*") for value, group in groups.items()]))

    def middle(value: int | None) -> str:
        """What level 1 shows."""
        return "(missing)" if value is None else f"g{groups[value]}"

    check(read_hierarchy(rows), column(values), [middle, lambda _: "*"])


@pytest.mark.parametrize(
    ("values", "listed"),
    [
        ([7.0, None, 8.5], ["7", "8.5"]),
        ([7, 8], ["07", "8.0"]),
        ([700], ["7e2"]),
        ([Decimal("1.50")], ["1.5"]),
        ([True, False], ["true", "false"]),
        ([date(2024, 2, 29)], ["2024-02-29"]),
        ([datetime(2024, 2, 29)], ["2024-02-29"]),
        ([datetime(2024, 2, 29, 12, 30)], ["2024-02-29 12:30:00"]),
        (["07", " a"], ["07", " a"]),
    ],
)
def test_values_match_by_their_texts(values: list[Any], listed: list[str]) -> None:
    """Numbers in any spelling, days with or without midnight, texts to the letter."""
    ladder = read_hierarchy(dict.fromkeys(listed, "found")).ladder(column(values))
    assert ladder.labels[1][0] == "found"


def test_texts_are_not_taken_for_numbers() -> None:
    """In a column of texts 7 and 07 are two values."""
    with pytest.raises(SchemaMismatch, match="lacks 1 value of column 'x': '7' "):
        read_hierarchy({"07": "a"}).ladder(column(["7"]))


def test_unseen_values_are_named_up_to_five() -> None:
    """With the column and how many there are, so that a file can be mended."""
    with pytest.raises(SchemaMismatch) as caught:
        read_hierarchy({"0": "a"}).ladder(column(list(range(1, 9)), "floor"))
    assert caught.value.message == "the hierarchy lacks 8 values of column 'floor': '1', '2', '3', '4', '5' and 3 more"
    with pytest.raises(SchemaMismatch, match="lacks 2 values of column 'x': 'b', 'c' "):
        read_hierarchy({"a": "*"}).ladder(column(["a", "b", "c", None]))


@pytest.mark.parametrize(
    ("rows", "missing", "wanted"),
    [
        ([("a", "g", "*"), ("b", "g", "*")], "", [{"a": "g", None: "(missing)"}, {"a": "*", None: "*"}]),
        ([("a", "g", "x"), ("b", "g", "x")], "", [{"a": "g", None: "(missing)"}, {"a": "x", None: "x"}]),
        ([("a", "g", "x"), ("b", "h", "y")], "", [{"a": "g", None: "(missing)"}, {"a": "x", None: "(missing)"}]),
        ([("a", "g", "*"), (None, "g", "*")], "", [{"a": "g", None: "g"}, {"a": "*", None: "*"}]),
        ([("a", "g", "*"), ("?", "h", "*")], "?", [{"a": "g", None: "h"}, {"a": "*", None: "*"}]),
        ([("a", "(missing)")], "", [{"a": "(missing)", None: "(missing)"}]),
        ([("a", "(missing)"), ("b", "c")], "", [{"a": "(missing)", None: "((missing))"}]),
    ],
)
def test_missing_values(rows: list[Any], missing: str, wanted: list[dict[Any, str]]) -> None:
    """Their own row, or a group of their own until the one label of all."""
    values = column(["a", None])
    assert shown(read_hierarchy(rows, missing=missing).ladder(values), values)[1:] == wanted


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a;b,c;*\nd;e;*\n", (("a", "b,c", "*"), ("d", "e", "*"))),
        ("a,b\nc,b", (("a", "b"), ("c", "b"))),
        ("a\tb;c\n\nd\te", (("a", "b;c"), ("d", "e"))),
        ('"a;b";"x ""y"""\r\nc;d\r\n', (("a;b", 'x "y"'), ("c", "d"))),
        ("\ufeffa;b", (("a", "b"),)),
        (";*\na;*", (("", "*"), ("a", "*"))),
    ],
)
def test_files_of_all_sorts(text: str, rows: tuple[tuple[str, ...], ...], tmp_path: Path) -> None:
    """Separators, quotes, line ends, marks of encoding, empty lines, a row for the missing value."""
    (tmp_path / "h.csv").write_bytes(text.encode())
    assert read_hierarchy(tmp_path / "h.csv").rows == rows


def test_a_delimiter_can_be_said(tmp_path: Path) -> None:
    """And must be one character."""
    (tmp_path / "h.csv").write_text("a;1:b;2")
    assert read_hierarchy(tmp_path / "h.csv", delimiter=":").rows == (("a;1", "b;2"),)
    with pytest.raises(InvalidArgument, match="one character"):
        read_hierarchy(tmp_path / "h.csv", delimiter="::")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "lists no values"),
        ("a\nb\n", "lists no values with a label"),
        ("a;b;*\nc;d\n", "row 2 of the hierarchy '.*' has 2 cells; the first has 3"),
        ("a;b\nc;d\na;e\n", "rows 1 and 3 of the hierarchy '.*' are for one value"),
        ("a;b;x\nc;b;y\n", "'b' at level 1 is both 'x' and 'y' at level 2"),
        ("a;b;x;1\nc;d;x;2\n", "'x' at level 2 is both '1' and '2' at level 3"),
    ],
)
def test_malformed_files_are_refused(text: str, message: str, tmp_path: Path) -> None:
    """Empty, without levels, ragged, a value twice, no coarsening: each is named with its place."""
    (tmp_path / "h.csv").write_text(text)
    with pytest.raises(InvalidArgument, match=message):
        read_hierarchy(tmp_path / "h.csv")


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    """Not there, not text, quotes that don't end; and one number in two spellings, once it is known to be one."""
    with pytest.raises(SourceMissing):
        read_hierarchy(tmp_path / "none.csv")
    for content in (b"\xff\xfe\x00", b'"a;b'):
        (tmp_path / "h.csv").write_bytes(content)
        with pytest.raises(SourceUnsupported):
            read_hierarchy(tmp_path / "h.csv")
    with pytest.raises(InvalidArgument, match="rows 1 and 2 of the hierarchy are for one value"):
        read_hierarchy([("7", "a"), ("7.0", "b")]).ladder(column([7]))


def test_columns_without_values() -> None:
    """No rows keep the number of levels; missing values only are one group at each."""
    assert read_hierarchy({"a": ["b", "*"]}).ladder(column([])).labels == ((), (), ())
    assert read_hierarchy({"a": ["b", "c"], "d": ["e", "f"]}).ladder(column([None])).labels == (("(missing)",),) * 3


TREE = {"animal": {"mammal": ["cat", "dog"], "bird": ["owl"]}, "stone": ["flint"]}


def test_a_taxonomy_counts_levels_from_its_root() -> None:
    """A value that is nearer to the root stays itself until its parent's level."""
    things = column(["cat", "dog", "owl", "flint", None])
    parents = {"cat": "mammal", "dog": "mammal", "owl": "bird", "flint": "flint", None: "(missing)"}
    tops = {"cat": "animal", "dog": "animal", "owl": "animal", "flint": "stone", None: "(missing)"}
    check(Taxonomy(tree=TREE), things, [parents.__getitem__, tops.__getitem__, lambda _: "*"])
    check(Taxonomy(tree={"odd": [1, 3], "even": [2]}, root="any"), column([1, 2, 3]), [
        lambda n: "odd" if n % 2 else "even", lambda _: "any",
    ])  # fmt: skip


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        ({}, "lists no values"),
        ({"a": []}, "lists no values"),
        ({"a": ["x"], "b": ["x"]}, "are for one value"),
        ({"a": {"c": ["x"]}, "b": {"c": ["y"]}}, "isn't a coarsening"),
        ({"a": "xyz"}, "'a' must hold categories"),
        ({"a": 1}, "'a' must hold categories"),
    ],
)
def test_wrong_trees_are_refused(tree: dict[str, object], message: str) -> None:
    """When they are made, and not when they meet a column."""
    with pytest.raises(InvalidArgument, match=message):
        Taxonomy(tree=tree)


def test_a_taxonomy_names_what_it_misses() -> None:
    """As a file does."""
    with pytest.raises(SchemaMismatch, match="the taxonomy lacks 1 value of column 'x': 'bat' "):
        Taxonomy(tree=TREE).ladder(column(["bat"]))


@given(st.lists(st.one_of(st.none(), st.text(max_size=3)), max_size=8))
def test_flat_shows_all_or_nothing(values: list[str | None]) -> None:
    """Two levels, whatever there is."""
    texts = column(values)
    ladder = Flat().ladder(texts)
    assert (ladder.height, ladder.groups(0), ladder.groups(1)) == (1, texts.size, min(texts.size, 1))


@pytest.mark.parametrize("sign", ["\u2028", "\x0b", "\x0c", "\x1c", "\x85"])
def test_lines_end_only_where_csv_says(sign: str, tmp_path: Path) -> None:
    """Other signs that end a line for Python may be part of a value."""
    path = tmp_path / "city.csv"
    path.write_text(f"a{sign}z;A;*\r\nb;B;*\r\n", encoding="utf-8", newline="")
    assert read_hierarchy(path).rows == ((f"a{sign}z", "A", "*"), ("b", "B", "*"))


@pytest.mark.parametrize("text", ["1E99999999", "1E9999999999999999999", "-1e-99999999", "sNaN"])
def test_texts_that_are_too_large_for_numbers_stay_texts(text: str) -> None:
    """They aren't written out, and overflow nothing."""
    assert same_number(text) == text
    assert read_hierarchy([(text, "A"), ("7.0", "B")]).ladder(read({"x": [7]}).column("x")).labels == (("7",), ("B",))


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**40), max_value=10**40), st.integers(0, 3))
def test_spellings_of_a_number_are_one(number: Decimal, zeros: int) -> None:
    """Every digit counts, zeros at the end of a fraction don't; the one spelling is of the same number."""
    plain = f"{number:f}"
    longer = plain + "0" * zeros if "." in plain else plain
    assert same_number(longer) == same_number(str(number))
    assert Decimal(same_number(str(number))) == number
