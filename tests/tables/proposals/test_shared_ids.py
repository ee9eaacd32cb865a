"""Tables that share an id which no list of names knows: found by its name and by where it repeats; no guess of rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.privacy import Limits, Unit
from discreet.tables import Source, loads
from discreet.tables.proposals import Proposal, ProposalInput, profile_table, propose_together, shared_names

PEOPLE = 300
EVENTS = [(7 * number) % PEOPLE for number in range(4 * PEOPLE)]


def proposal(folder: Path, tables: Mapping[str, Mapping[str, object]], *, strict: bool = False) -> Proposal:
    """What is proposed for these tables, as files; the text of it loads."""
    sources = []
    for name, columns in tables.items():
        pq.write_table(pa.table(dict(columns)), folder / f"{name}.parquet")
        sources.append(Source.of(folder / f"{name}.parquet"))
    ids = shared_names([profile_table(each, peek=False)[0] for each in sources])
    looks = []
    for source in sources:
        columns, profile = profile_table(source, peek=not strict, ids=ids)
        looks.append(ProposalInput(columns=columns, source=source, profile=profile))
    found = propose_together(looks, strict=strict)
    assert loads(found.to_toml()) == found.dataset
    return found


def register(key: str, **more: object) -> dict[str, object]:
    """A table with one row of each person."""
    return {key: list(range(PEOPLE)), "wealth": [number % 9 for number in range(PEOPLE)], **more}


def events(key: str, **more: object) -> dict[str, object]:
    """A table with several rows of most."""
    return {**more, key: EVENTS, "price": [number % 50 for number in range(len(EVENTS))]}


@pytest.mark.parametrize("key", ["pid", "kundennr", "policyID", "ori_hid", "subj", "Ref No"])
@pytest.mark.parametrize("events_first", [False, True])
def test_an_id_that_two_files_share_is_the_unit(tmp_path: Path, key: str, events_first: bool) -> None:
    """Unique in one, repeated in the other, whatever it is called and whichever comes first."""
    tables = {"a": register(key), "b": events(key, nr=list(range(len(EVENTS))))}
    found = proposal(tmp_path, dict(reversed(tables.items())) if events_first else tables)
    people, doings = sorted(found.dataset.tables, key=lambda table: table.name)
    assert (people.unit, people.limits) == (Unit(key), Limits(rows=1))
    assert (doings.unit, [str(link) for link in doings.links]) == (None, [f"{key} → a.{key}"])
    assert doings.limits is None
    assert "how many visits can a person reasonably have?" in found.to_toml()
    assert set(found.dataset.units.values()) == {key.casefold()}


def test_without_a_look_the_name_alone_proposes_it(tmp_path: Path) -> None:
    """The first table is taken for the one of people, and says on what condition; one row is nobody's guess."""
    found = proposal(tmp_path, {"a": register("pid"), "b": events("pid")}, strict=True)
    assert set(found.dataset.units.values()) == {"pid"}
    assert [table.limits for table in found.dataset.tables] == [None, None]
    assert "if a row of a is a person, this is the unit" in found.to_toml()


def test_an_id_that_repeats_in_both_is_the_unit_of_both(tmp_path: Path) -> None:
    """Two tables of events, without a register of people: protected alike, and no limit is guessed for either."""
    found = proposal(tmp_path, {"a": events("pid"), "b": events("pid")})
    assert set(found.dataset.units.values()) == {"pid"}
    assert [table.limits for table in found.dataset.tables] == [None, None]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"ward": ["A", "B", "C"], "beds": [9, 8, 7]}, {"ward": ["A", "B", "B"] * 50, "cost": list(range(150))}),
        ({"id": [1, 2, 3], "beds": [9, 8, 7]}, {"id": list(range(150)), "cost": list(range(150))}),
        ({"paid": [1, 2, 3]}, {"paid": [1, 1, 2]}),
    ],
)
def test_what_is_shared_and_no_id_is_left_alone(
    tmp_path: Path, one: Mapping[str, object], other: Mapping[str, object]
) -> None:
    """Short lists, each table's own id, and words that end like one."""
    assert not any(table.links for table in proposal(tmp_path, {"a": one, "b": other}).dataset.tables)


@pytest.mark.parametrize(("twice", "limits"), [(False, Limits(rows=1)), (True, None)])
def test_one_row_is_proposed_where_none_was_seen_twice(tmp_path: Path, twice: bool, limits: Limits | None) -> None:
    """A register by what was seen, said to be; with one person twice in it, nobody knows how often somebody may be."""
    people = [f"P{number}" for number in range(PEOPLE)] + ["P7"] * twice
    found = proposal(tmp_path, {"patients": {"patient_id": people, "age": [40] * len(people)}})
    assert found.dataset.tables[0].limits == limits
    assert ("because no patient_id was seen in two" in found.to_toml()) is not twice


def test_by_name_alone_a_table_called_like_its_id_has_one_row_of_each(tmp_path: Path) -> None:
    """`patient_id` in `patients` names its rows; elsewhere it names somebody who may have many."""
    tables = {"patients": register("patient_id"), "stays": events("patient_id")}
    found = proposal(tmp_path, tables, strict=True)
    assert [table.limits for table in found.dataset.tables] == [Limits(rows=1), None]
    (alone,) = proposal(tmp_path, {"stays": events("patient_id")}, strict=True).dataset.tables
    assert (alone.unit, alone.limits) == (Unit("patient_id"), None)


def test_texts_that_stand_for_nothing_are_no_id_that_repeats(tmp_path: Path) -> None:
    """NULL is nobody, so many rows without an id make nobody occur twice; spaces tell nobody from another."""
    column = pa.chunked_array([["P1", None], ["P2", None]])
    pq.write_table(pa.table({"pid": column}), tmp_path / "one.parquet", row_group_size=2)
    (tmp_path / "two.csv").write_text("pid\nP1\n\n P1 \nNA\nNA\n", encoding="utf-8")
    seen = [profile_table(Source.of(tmp_path / name), peek=True, ids={"pid"})[1] for name in ("one.parquet", "two.csv")]
    assert [each.of("pid").repeats for each in seen if each is not None] == [False, True]
