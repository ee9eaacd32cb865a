"""Delta tables: what is read is what the log says, as DataFusion reads it; or it is refused in words of our own."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import CommitProperties, DeltaTable, PostCommitHookProperties, write_deltalake
from deltalake.exceptions import DeltaError
from hypothesis import given
from hypothesis import strategies as st
from pyarrow import parquet

from discreet.engine.spark.admission import admit_by_cluster
from discreet.errors import DiscreetError, ExtraMissing, SourceError, SourceMissing, SourceUnsupported
from discreet.privacy import Unit
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.sources import arrow, open_source, source_at, source_of
from discreet.tables.sources.reader import is_delivered
from support.delta import column, commit, data, judged, metadata, protocol
from support.examples import examples

CANARY = "CANARY-91c2"
INTEGER = column("a", pa.int32())


def rows_read(folder: Path | Source) -> list[dict[str, Any]]:
    """The rows."""
    with open_source(folder if isinstance(folder, Source) else source_of(folder, "t")) as opened:
        names = [each.name for each in opened.fields if is_delivered(each.type)]
        return [row for batch in opened.batches(names) for row in batch.to_pylist()]


def counted(rows: list[dict[str, Any]]) -> Counter[str]:
    """Rows without their order; NaN is itself."""
    return Counter(repr(sorted(row.items())) for row in rows)


def check_as_judged(folder: Path) -> None:
    """What is read is what DataFusion reads, in types that mean the same."""
    right = judged(folder)
    assert counted(rows_read(folder)) == counted(right.to_pylist())
    with open_source(source_of(folder, "t")) as opened:
        found = {each.name: each.type for each in opened.fields}
    for each in right.schema:
        kind = found[each.name].value_type if pa.types.is_dictionary(found[each.name]) else found[each.name]
        assert kind == (pa.string() if each.type == pa.string_view() else each.type)


def refusal(folder: Path | Source) -> SourceError:
    """The error by which it is refused; it quotes no cell, and neither does what led to it."""
    with pytest.raises(SourceError) as caught:
        rows_read(folder)
    error: BaseException | None = caught.value
    while error is not None:
        assert CANARY not in f"{error} {getattr(error, 'hint', '')}"
        error = error.__cause__ or error.__context__
    return caught.value


# ── What deltalake writes ────────────────────────────────────────────────────────────────────────────────────────────

SIGNS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=4)
# Of a partition, an empty text is NULL by the protocol, and one to DataFusion.
TEXTS = st.none() | SIGNS.filter(lambda text: len(text.encode()) < 40) | st.sampled_from([".", "..", "%2F", "a=b", " "])
NAMES = st.text("aB_é 0", min_size=1, max_size=6).filter(lambda name: name == name.strip())
KINDS: dict[pa.DataType, st.SearchStrategy[Any]] = {
    pa.int16(): st.integers(-(2**15), 2**15 - 1),
    pa.int64(): st.integers(-(2**63), 2**63 - 1),
    pa.float64(): st.floats(),
    pa.string(): TEXTS,
    pa.bool_(): st.booleans(),
    pa.date32(): st.dates(),
    pa.timestamp("us", "UTC"): st.datetimes(timezones=st.just(UTC)),
    pa.timestamp("us"): st.datetimes(),
    pa.decimal128(12, 3): st.decimals(-(10**8), 10**8, places=3),
}


@st.composite
def tables(draw: st.DrawFn) -> tuple[list[pa.Table], list[str]]:
    """Tables of which each may have columns that those before lack; and the names of columns of partitions."""
    names = draw(st.lists(NAMES, min_size=3, max_size=5, unique_by=str.casefold))
    kinds = {name: draw(st.sampled_from(list(KINDS))) for name in names}
    partitions = [name for name in names[:-2] if kinds[name] != pa.float64()][: draw(st.integers(0, 2))]
    made = []
    for number in range(draw(st.integers(1, 3))):
        later = names if number else names[:-1]
        rows = draw(st.integers(1, 5))
        columns = {
            name: pa.array(draw(st.lists(st.none() | KINDS[kinds[name]], min_size=rows, max_size=rows)), kinds[name])
            for name in later
        }
        made.append(pa.table(columns))
    return made, partitions


@examples(30)
@given(tables(), st.booleans())
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, given: Any, compacts: bool) -> None:
    """Appended, partly deleted, with columns that came later, in partitions by any values: as DataFusion reads it."""
    written, partitions = given
    folder = tmp_path_factory.mktemp("tables") / "t"
    for table in written:
        write_deltalake(folder, table, mode="append", partition_by=partitions or None, schema_mode="merge")
    first = written[0].column_names[0]
    DeltaTable(folder).delete(f'"{first}" IS NULL')
    if compacts:
        DeltaTable(folder).create_checkpoint()
        DeltaTable(folder).optimize.compact()
    check_as_judged(folder)
    values = [value for table in written for value in table[first].to_pylist() if value is not None]
    assert len(rows_read(folder)) == len(values)


def test_rows_that_the_log_deleted_are_not_read(tmp_path: Path) -> None:
    """Though their files still lie in the folder."""
    write_deltalake(tmp_path / "t", pa.table({"a": [1, 2, 3]}))
    DeltaTable(tmp_path / "t").delete("a = 2")
    assert sorted(row["a"] for row in rows_read(tmp_path / "t")) == [1, 3]
    assert sum(parquet.read_metadata(each).num_rows for each in (tmp_path / "t").glob("*.parquet")) == 5


def test_a_table_without_rows(tmp_path: Path) -> None:
    """It has columns, but no file."""
    write_deltalake(tmp_path / "t", pa.table({"a": pa.array([], pa.int64())}))
    with open_source(source_of(tmp_path / "t", "t")) as opened:
        assert [(each.name, each.type) for each in opened.fields] == [("a", pa.int64())]
        assert list(opened.batches(["a"])) == []


# ── What others write ────────────────────────────────────────────────────────────────────────────────────────────────

WIDENED = [
    (pa.array([1, -128, None], pa.int8()), pa.int16()),
    (pa.array([1, 2**31 - 1, None], pa.int32()), pa.int64()),
    (pa.array([1, -(2**31), None], pa.int32()), pa.float64()),
    (pa.array([0.5, float("inf"), None], pa.float32()), pa.float64()),
    (pa.array([1, -(2**31), None], pa.int32()), pa.decimal128(12, 2)),
    (pa.array([Decimal("1.50"), Decimal("-9.99"), None], pa.decimal128(3, 2)), pa.decimal128(9, 4)),
    (pa.array([date(2024, 2, 29), date(1, 1, 1), None], pa.date32()), pa.timestamp("us")),
]


@pytest.mark.parametrize(("narrow", "wide"), WIDENED, ids=lambda each: str(getattr(each, "type", each)))
def test_types_that_became_wider(narrow: pa.Array, wide: pa.DataType, tmp_path: Path) -> None:
    """Older files have the narrower one."""
    files = [
        data(tmp_path, f"{number}.parquet", pa.table({"a": each}))
        for number, each in enumerate((narrow, narrow.cast(wide)))
    ]
    for features in (["timestampNtz", "typeWidening"], ["timestampNtz"]):  # DataFusion widens, but refuses the word
        commit(tmp_path, protocol(*features), metadata([column("a", wide)]), *files)
        assert [row["a"] for row in rows_read(tmp_path)] == narrow.cast(wide).to_pylist() * 2
    check_as_judged(tmp_path)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [(pa.int64(), pa.int32()), (pa.string(), pa.int64()), (pa.timestamp("us", "UTC"), pa.timestamp("us"))],
)
def test_types_that_are_no_wider_are_refused(wide: pa.DataType, narrow: pa.DataType, tmp_path: Path) -> None:
    """A file's values may not fit, or mean something else."""
    table = pa.table({"a": pa.nulls(1, wide), "b": [1]})
    commit(
        tmp_path, protocol("timestampNtz"), metadata([column("a", narrow), column("b", pa.int64())]),
        data(tmp_path, "1.parquet", table),
    )  # fmt: skip
    assert "by the log" in refusal(tmp_path).message
    with open_source(source_of(tmp_path, "t")) as opened:
        assert [batch.to_pydict() for batch in opened.batches(["b"])] == [{"b": [1]}]


def test_columns_of_nothing_are_null(tmp_path: Path) -> None:
    """By the file, or by the log; deltalake 1.6.0 doesn't know the latter, and that is told."""
    table = pa.table({"a": pa.nulls(2), "b": [1, 2]})
    for kind, is_untyped in ((pa.int64(), False), (pa.null(), True)):
        columns = [column("a", kind), column("b", pa.int64())]
        commit(tmp_path, protocol(least=1), metadata(columns), data(tmp_path, "1.parquet", table))
        try:
            DeltaTable(tmp_path)
        except DeltaError:
            assert is_untyped
            assert "can't be read" in refusal(tmp_path).message
            continue
        assert rows_read(tmp_path) == [{"a": None, "b": 1}, {"a": None, "b": 2}]
        with open_source(source_of(tmp_path, "t")) as opened:
            assert [each.untyped for each in opened.fields] == [is_untyped, False]


def test_times_beyond_the_wider_type_are_null_and_counted(tmp_path: Path) -> None:
    """Milliseconds may be any; so may days."""
    times = pa.array([0, 2**62, -(2**63), None], pa.int64()).view(pa.timestamp("ms"))
    days = pa.array([0, 2**31 - 1, -(2**31), None], pa.int32()).view(pa.date32())
    commit(
        tmp_path,
        protocol("timestampNtz"),
        metadata([column("t", times.type), column("d", pa.timestamp("us"))]),
        data(tmp_path, "1.parquet", pa.table({"t": times, "d": days})),
    )
    with open_source(source_of(tmp_path, "t")) as opened:
        (batch,) = opened.batches(["t", "d"])
        assert batch.to_pydict() == {name: [datetime(1970, 1, 1), None, None, None] for name in ("t", "d")}
        assert opened.unreadable == {"t": 2, "d": 2}


def test_times_of_96_bits_are_points_in_time(tmp_path: Path) -> None:
    """Spark writes them so, without a zone; years that nanoseconds don't reach, too."""
    times = [datetime(2024, 3, 31, 1, 30, tzinfo=UTC), datetime(1066, 10, 14, tzinfo=UTC), None]
    table = pa.table({"t": pa.array(times, pa.timestamp("us", "UTC"))})
    commit(
        tmp_path, protocol(least=1), metadata([column("t", pa.timestamp("us", "UTC"))]),
        data(tmp_path, "1.parquet", table, use_deprecated_int96_timestamps=True),
    )  # fmt: skip
    assert [row["t"] for row in rows_read(tmp_path)] == times


VALUES: list[tuple[pa.DataType, str | None, Any]] = [
    (pa.string(), "", None),
    (pa.string(), "a%20b/é", "a%20b/é"),
    (pa.int8(), "-7", -7),
    (pa.float64(), "1.0E10", 1e10),
    (pa.bool_(), "true", True),
    (pa.date32(), "0001-01-01", date(1, 1, 1)),
    (pa.decimal128(10, 2), "-1.50", Decimal("-1.50")),
    (pa.timestamp("us", "UTC"), "2024-01-01 00:00:00", datetime(2024, 1, 1, tzinfo=UTC)),
    (pa.timestamp("us", "UTC"), "2024-01-01T00:00:00.123456Z", datetime(2024, 1, 1, 0, 0, 0, 123456, tzinfo=UTC)),
    (pa.timestamp("us"), "2024-01-01 00:00:00.5", datetime(2024, 1, 1, 0, 0, 0, 500000)),
    (pa.int64(), None, None),
]


@pytest.mark.parametrize(("kind", "text", "value"), VALUES, ids=str)
def test_values_of_partitions_are_of_the_declared_type(
    kind: pa.DataType, text: str | None, value: object, tmp_path: Path
) -> None:
    """As Spark writes them; also where nothing else is asked for, and where the file has such a column, too."""
    table = pa.table({"a": pa.array([1, 2], pa.int32()), "p": ["not", "this"]})
    commit(
        tmp_path, protocol("timestampNtz"), metadata([column("p", kind), INTEGER], ["p"]),
        data(tmp_path, "1.parquet", table, {"p": text}),
    )  # fmt: skip
    assert rows_read(tmp_path) == [{"p": value, "a": 1}, {"p": value, "a": 2}]
    with open_source(source_of(tmp_path, "t")) as opened:
        assert [batch.to_pydict() for batch in opened.batches(["p"])] == [{"p": [value, value]}]
    if text != "":
        check_as_judged(tmp_path)


def test_columns_that_are_renamed_are_found(tmp_path: Path) -> None:
    """By their names in files; a name there that another column has now isn't that column's."""
    table = pa.table({"col-1": pa.array([1, 2], pa.int32()), "c": ["not", "this"]})
    columns = [
        column("a b", pa.int32(), physical="col-1"),
        column("p", pa.string(), physical="col-2", number=2),
        column("c", pa.string(), physical="col-3", number=3),
    ]
    for version in (protocol(least=2), protocol("columnMapping")):
        commit(
            tmp_path, version, metadata(columns, ["p"], delta_columnMapping_mode="name"),
            data(tmp_path, "1.parquet", table, {"col-2": "v"}),
        )  # fmt: skip
        check_as_judged(tmp_path)
        assert rows_read(tmp_path)[1] == {"a b": 2, "p": "v", "c": None}


def test_deletion_vectors_leave_rows_out(tmp_path: Path) -> None:
    """In each batch those that are meant, also where no column of the file is asked for.

    DataFusion isn't asked: in deltalake 1.6.0 it leaves out others, where there is more than one batch.
    """
    many = arrow.MOST_ROWS + 1_000
    deleted = [0, 3, arrow.MOST_ROWS - 1]
    commit(
        tmp_path,
        protocol("deletionVectors"),
        metadata([INTEGER, column("p", pa.string())], ["p"]),
        data(tmp_path, "1.parquet", pa.table({"a": pa.array(range(many), pa.int32())}), {"p": "x"}, deleted=deleted),
        data(tmp_path, "2.parquet", pa.table({"a": pa.array([-1], pa.int32())}), {"p": "y"}),
    )
    assert {row["a"] for row in rows_read(tmp_path)} == {*range(-1, many)} - {*deleted}
    with open_source(source_of(tmp_path, "t")) as opened:
        assert sum(pc.sum(pc.equal(batch["p"], "x")).as_py() for batch in opened.batches(["p"])) == many - len(deleted)


def test_deletion_vectors_are_found_whatever_folders_are_called(tmp_path: Path) -> None:
    """Signs are escaped in folders' names, and once more in the log."""
    folder = tmp_path / "a b" / "é"
    table = pa.table({"a": pa.array([1, 2, 3], pa.int32())})
    (folder / "p=x%2Fy %20").mkdir(parents=True)
    add = data(folder, "p=x%2Fy %20/1.parquet", table, {"p": "x/y %20"}, deleted=[1])
    add["add"]["path"] = "p=x%252Fy%20%2520/1.parquet"
    commit(folder, protocol("deletionVectors"), metadata([INTEGER, column("p", pa.string())], ["p"]), add)
    check_as_judged(folder)
    assert [row["a"] for row in rows_read(folder)] == [1, 3]


def test_deleted_rows_of_a_file_that_is_not_there_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They may be those of a file that the library calls otherwise, whose rows would all be read."""
    commit(
        tmp_path, protocol("deletionVectors"), metadata([INTEGER]), data(tmp_path, "1.parquet", pa.table({"a": [1]}))
    )
    monkeypatch.setattr("discreet.tables.sources.delta_log._kept", lambda *_: {"2.parquet": pa.array([False])})
    assert "deletionVectors" in refusal(tmp_path).message


@pytest.mark.parametrize("said", [protocol(least=1), protocol(least=2), protocol("timestampNtz")], ids=str)
def test_deleted_rows_are_left_out_though_readers_are_told_of_none(said: Any, tmp_path: Path) -> None:
    """A log that has deletion vectors and doesn't list the feature has deleted these rows all the same."""
    table = pa.table({"a": pa.array([1, 2, 3], pa.int32())})
    commit(tmp_path, said, metadata([INTEGER]), data(tmp_path, "1.parquet", table, deleted=[1]))
    check_as_judged(tmp_path)
    assert [row["a"] for row in rows_read(tmp_path)] == [1, 3]


def test_texts_of_wrong_bytes_are_counted(tmp_path: Path) -> None:
    """As in any file."""
    texts = pa.array([b"a", b"\xff", b"\xfe"], pa.binary()).view(pa.string())
    commit(
        tmp_path, protocol(least=1), metadata([column("t", pa.string())]),
        data(tmp_path, "1.parquet", pa.table({"t": texts}), write_statistics=False),
        data(tmp_path, "2.parquet", pa.table({"t": texts}), write_statistics=False),
    )  # fmt: skip
    with open_source(source_of(tmp_path, "t")) as opened:
        for _ in range(2):
            assert [text for batch in opened.batches(["t"]) for text in batch["t"].to_pylist()] == [
                "a",
                *"\ufffd" * 2,
            ] * 2
            assert opened.unreadable == {"t": 4}


def test_values_of_deleted_rows_are_not_counted(tmp_path: Path) -> None:
    """Texts of wrong bytes; beside times of 96 bits, which are read twice."""
    texts = pa.array([b"\xff", b"a", b"\xfe"], pa.binary()).view(pa.string())
    times = [datetime(year, 1, 1) for year in (2023, 2024, 9999)]
    table = pa.table({"t": texts, "at": pa.array(times, pa.timestamp("us"))})
    how = {"write_statistics": False, "use_deprecated_int96_timestamps": True}
    commit(
        tmp_path,
        protocol("deletionVectors", "timestampNtz"),
        metadata([column("t", pa.string()), column("at", pa.timestamp("us"))]),
        data(tmp_path, "1.parquet", table, deleted=[0], **how),
    )
    with open_source(source_of(tmp_path, "t")) as opened:
        rows = [row for batch in opened.batches(["t", "at"]) for row in batch.to_pylist()]
        assert rows == [{"t": "a", "at": times[1]}, {"t": "\ufffd", "at": times[2]}]
        assert opened.unreadable["t"] == 1


def test_a_file_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    """Its rows would count twice, or deleted ones once."""
    table = pa.table({"a": pa.array([1, 2, 3], pa.int32())})
    actions = [protocol("deletionVectors"), metadata([INTEGER]), data(tmp_path, "1.parquet", table, deleted=[1])]
    commit(tmp_path, *actions)
    assert len(rows_read(tmp_path)) == 2
    commit(tmp_path, *actions, data(tmp_path, "1.parquet", table))
    assert "can't be read" in refusal(tmp_path).message
    for other in ("./1.parquet", "%31.parquet"):
        again = data(tmp_path, "1.parquet", table)
        again["add"]["path"] = other
        commit(tmp_path, protocol(least=1), metadata([INTEGER]), data(tmp_path, "1.parquet", table), again)
        assert "can't be read" in refusal(tmp_path).message


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    """Files in it aren't those that the log names; nor has any file a NUL in its name."""
    add = data(tmp_path, "1.parquet", pa.table({"a": pa.array([1], pa.int32())}))
    (tmp_path / "b").mkdir()
    (tmp_path / "1.parquet").rename(tmp_path / "b" / "2.parquet")
    add["add"] |= {"path": "b", "size": (tmp_path / "b").stat().st_size}
    commit(tmp_path, protocol(least=1), metadata([INTEGER]), add)
    assert "isn't Parquet" in refusal(tmp_path).message
    add["add"]["path"] = "b%00"
    commit(tmp_path, protocol(least=1), metadata([INTEGER]), add)
    assert "can't be read" in refusal(tmp_path).message


def test_required_is_what_the_log_and_the_files_say(tmp_path: Path) -> None:
    """A file without the column, or a partition of NULL, isn't bound by it."""
    kinds = {"a": pa.int32(), "b": pa.int32(), "p": pa.string()}
    schema = pa.schema([pa.field(name, pa.int32(), nullable=False) for name in "ab"])
    commit(
        tmp_path,
        protocol(least=1),
        metadata([column(name, kind, nullable=False) for name, kind in kinds.items()], ["p"]),
        data(tmp_path, "1.parquet", pa.table({"a": [1], "b": [1]}, schema), {"p": "x"}),
        data(tmp_path, "2.parquet", pa.table({"a": [1]}, pa.schema([schema.field("a")])), {"p": "y"}),
    )
    with open_source(source_of(tmp_path, "t")) as opened:
        assert {each.name: each.required for each in opened.fields} == {"a": True, "b": False, "p": True}


@pytest.mark.parametrize("feature", ["variantType", "madeUp"])
def test_features_that_are_not_understood_are_refused(feature: str, tmp_path: Path) -> None:
    """By name, whether deltalake knows them or not."""
    commit(tmp_path, protocol(feature), metadata([INTEGER]))
    assert f"needs a reader of {feature} (drop the feature" in str(refusal(tmp_path))


@pytest.mark.parametrize("said", [protocol(least=1), protocol("timestampNtz")], ids=str)
def test_column_mapping_of_which_readers_are_not_told_is_refused(said: Any, tmp_path: Path) -> None:
    """Some find the columns of such a table by one name, and some by the other."""
    table = pa.table({"a": pa.array([1], pa.int32()), "b": pa.array([2], pa.int32())})
    columns = [column("a", pa.int32(), physical="b")]
    commit(tmp_path, said, metadata(columns, delta_columnMapping_mode="name"), data(tmp_path, "1.parquet", table))
    assert "can't be read" in refusal(tmp_path).message
    commit(tmp_path, protocol(least=2), metadata(columns, delta_columnMapping_mode="name"))
    assert rows_read(tmp_path) == []


def test_a_table_that_only_a_catalogue_knows_is_refused(tmp_path: Path) -> None:
    """Its newest versions aren't in the log."""
    commit(tmp_path, protocol("catalogManaged"), metadata([INTEGER]))
    assert isinstance(refusal(tmp_path), SourceUnsupported)


def test_what_can_not_be_read_is_named_with_its_cure(tmp_path: Path) -> None:
    """Columns that are found by numbers, and rows whose deletion can't be told."""
    commit(
        tmp_path, protocol(least=2), metadata([column("a", pa.int32(), physical="b")], delta_columnMapping_mode="id")
    )
    assert "column mapping 'id'" in str(refusal(tmp_path))
    table = pa.table({"a": pa.array([1, 2], pa.int32())})
    for beside in ("typeWidening", "typeWidening-preview", "vacuumProtocolCheck"):
        commit(tmp_path, protocol(beside, "deletionVectors"), metadata([INTEGER]))
        assert f"needs a reader of deletionVectors beside {beside} (drop the feature" in str(refusal(tmp_path))
    for stats in ("{}", '{"numRecords": 1}', '{"numRecords": 3}'):
        add = data(tmp_path, "1.parquet", table, deleted=[0])
        add["add"]["stats"] = stats
        commit(tmp_path, protocol("deletionVectors"), metadata([INTEGER]), add)
        assert "(deletionVectors) can't be read (write the remaining rows anew: REORG TABLE" in str(refusal(tmp_path))


@pytest.mark.parametrize("path", ["../t.parquet", "/data/t.parquet", "file:/data/t.parquet", "s3://b/t.parquet"])
def test_files_elsewhere_are_refused(path: str, tmp_path: Path) -> None:
    """Nothing outside of the folder is opened."""
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
    add = data(tmp_path / "t", "1.parquet", pa.table({"a": [1]}))
    add["add"]["path"] = path
    commit(tmp_path / "t", protocol(least=1), metadata([INTEGER]), add)
    assert "outside of its folder" in refusal(tmp_path / "t").message


def test_a_folder_that_deltalake_takes_for_another_is_refused(tmp_path: Path) -> None:
    """It would read `a b` where `a%20b` is meant."""
    for name in ("a b", "c"):
        write_deltalake(tmp_path / name, pa.table({"a": [1]}))
    (tmp_path / "c").rename(tmp_path / "a%20b")
    assert DeltaTable(tmp_path / "a%20b").metadata().id == DeltaTable(tmp_path / "a b").metadata().id
    assert "takes the %" in refusal(tmp_path / "a%20b").message
    assert rows_read(tmp_path / "a b") == [{"a": 1}]


def test_memory_is_bounded_where_a_long_text_is_stored_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file has categories, the other plain texts: handed out as these, a long one stands in every row."""
    monkeypatch.setattr("discreet.tables.sources.delta.MOST_BYTES", 1 << 20)
    long = pa.DictionaryArray.from_arrays(pa.repeat(0, 20_000).cast(pa.int32()), ["x" * 10_000])
    commit(
        tmp_path, protocol(least=1), metadata([column("t", pa.string())]),
        data(tmp_path, "1.parquet", pa.table({"t": long})),
        data(tmp_path, "2.parquet", pa.table({"t": ["y"]}), use_dictionary=False),
    )  # fmt: skip
    with open_source(source_of(tmp_path, "t")) as opened:
        assert opened.fields[0].type == pa.string()
        rows = 0
        for batch in opened.batches(["t"]):
            assert batch.nbytes < 2 << 20
            rows += batch.num_rows
    assert rows == 20_001


# ── One version ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_one_version_is_read_whatever_is_written_meanwhile(tmp_path: Path) -> None:
    """Between its columns, and between its files; and it is known that there is a newer one."""
    for number in range(3):
        write_deltalake(tmp_path / "t", pa.table({"a": [number]}), mode="append")
    with open_source(source_of(tmp_path / "t", "t")) as opened:
        before = opened.identity
        batches = opened.batches(["a"])
        read = next(batches).to_pydict()["a"]
        DeltaTable(tmp_path / "t").delete("a = 1")
        write_deltalake(tmp_path / "t", pa.table({"a": [9]}), mode="append")
        read += [value for batch in batches for value in batch.to_pydict()["a"]]
        assert sorted(read) == [0, 1, 2]
        assert not opened.is_unchanged()
        assert opened.identity == before
    with open_source(source_of(tmp_path / "t", "t")) as opened:
        assert opened.identity != before
        assert opened.is_unchanged()


def test_another_table_in_its_place_is_noticed(tmp_path: Path) -> None:
    """Its version has the same number."""
    write_deltalake(tmp_path / "t", pa.table({"a": [1]}))
    write_deltalake(tmp_path / "u", pa.table({"a": [1]}))
    with open_source(source_of(tmp_path / "t", "t")) as opened:
        before = opened.identity
        (tmp_path / "t").rename(tmp_path / "gone")
        assert not opened.is_unchanged()
        (tmp_path / "u").rename(tmp_path / "t")
        assert not opened.is_unchanged()
    with open_source(source_of(tmp_path / "t", "t")) as opened:
        assert opened.identity != before


def test_files_that_are_gone_or_changed_are_told(tmp_path: Path) -> None:
    """Before they are read, and while they are; by their own names, but never by folders, which values name."""
    folder = tmp_path / "t"
    write_deltalake(folder, pa.table({"p": [CANARY, CANARY + "2"], "a": [1, 2]}), partition_by=["p"])
    with open_source(source_of(folder, "t")) as opened:
        batches = opened.batches(["a"])
        next(batches)
        DeltaTable(folder).delete()
        DeltaTable(folder).vacuum(0, dry_run=False, enforce_retention_duration=False)
        with pytest.raises(SourceMissing, match="vacuumed") as caught:
            list(batches)
        assert CANARY not in f"{caught.value} {caught.value.__context__} {caught.value.__cause__}"
    write_deltalake(folder, pa.table({"p": [CANARY], "a": [1]}), mode="append")
    (file,) = folder.rglob("*.parquet")
    whole = file.read_bytes()
    with open_source(source_of(folder, "t")) as opened:
        file.write_bytes(bytes([*whole[:10], whole[10] ^ 1, *whole[11:]]))
        with pytest.raises(SourceUnsupported, match="' was changed while"):
            list(opened.batches(["a"]))
    file.write_bytes(whole[:-1])
    assert "size" in refusal(folder).message
    file.write_bytes(bytes(len(whole)))
    assert "damaged" in refusal(folder).message
    file.unlink()
    assert isinstance(refusal(folder), SourceMissing)


# ── Damage ───────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("kind", ["*.json", "*.checkpoint.parquet", "*/*.parquet", "_last_checkpoint"])
def test_damage_is_told_without_a_quotation(kind: str, tmp_path: Path) -> None:
    """Cut anywhere, or with bytes turned over: refused, or read as rows of the schema."""
    folder = tmp_path / "t"
    rows = pa.table({"p": [CANARY] * 20, "a": range(20), "note": [f"{CANARY} {each}" for each in range(20)]})
    quiet = PostCommitHookProperties(create_checkpoint=False, cleanup_expired_logs=False)
    for _ in range(2):
        write_deltalake(
            folder, rows, mode="append", partition_by=["p"], commit_properties=CommitProperties(),
            post_commithook_properties=quiet,
        )  # fmt: skip
    if "checkpoint" in kind:
        DeltaTable(folder).create_checkpoint()
    damaged = 0
    for file in sorted(folder.rglob(kind)):
        whole = file.read_bytes()
        cuts = [whole[: len(whole) * part // 5] for part in range(5)]
        turned = []
        for part in range(20):
            place = len(whole) * part // 20
            turned.append(whole[:place] + bytes(each ^ 0xFF for each in whole[place : place + 3]) + whole[place + 3 :])
        for wrong in (*cuts, *turned):
            file.write_bytes(wrong)
            try:
                assert len(rows_read(folder)) <= 40
            except DiscreetError:
                refusal(folder)
                damaged += 1
        file.write_bytes(whole)
    assert len(rows_read(folder)) == 40
    assert damaged or kind == "_last_checkpoint"


def test_values_that_are_none_are_not_quoted(tmp_path: Path) -> None:
    """The library's words quote them."""
    commit(
        tmp_path, protocol(least=1), metadata([INTEGER, column("p", pa.date32())], ["p"]),
        data(tmp_path, "1.parquet", pa.table({"a": [1]}), {"p": CANARY}),
    )  # fmt: skip
    with pytest.raises(Exception, match=CANARY):
        DeltaTable(tmp_path).get_add_actions()
    assert "can't be read" in refusal(tmp_path).message


def test_a_blank_name_is_refused(tmp_path: Path) -> None:
    """It would be another in its file, by its place there."""
    commit(
        tmp_path, protocol(least=1), metadata([INTEGER, column(" ", pa.string())]),
        data(tmp_path, "1.parquet", pa.table({" ": ["x"], "a": pa.array([1], pa.int32())})),
    )  # fmt: skip
    assert "blank name" in refusal(tmp_path).message


# ── Where a path is taken ────────────────────────────────────────────────────────────────────────────────────────────


def partitioned(folder: Path) -> Path:
    """A table in folders, which has deleted a row."""
    write_deltalake(folder, pa.table({"p": ["x", "x", "y"], "a": [1, 2, 3]}), partition_by=["p"])
    DeltaTable(folder).delete("a = 2")
    return folder


def test_a_folder_with_a_log_is_a_delta_table_whatever_it_is_called(tmp_path: Path) -> None:
    """By every way to a source; a folder of Parquet files without one stays what it is."""
    for name in ("visits", "visits.parquet", "visits.db"):
        folder = partitioned(tmp_path / name)
        for found in (source_of(folder, "t"), source_of(f"{folder}/", "t"), source_at(folder), Source.of(folder)):
            assert found.kind == "delta"
            assert len(rows_read(found)) == 2
    (tmp_path / "plain").mkdir()
    parquet.write_table(pa.table({"a": [1]}), tmp_path / "plain" / "t.parquet")
    assert source_of(tmp_path / "plain", "t").kind == source_at(tmp_path / "plain").kind == "parquet"
    assert rows_read(tmp_path / "plain") == [{"a": 1}]


def test_parquet_files_of_a_delta_table_are_refused(tmp_path: Path) -> None:
    """As a folder, a pattern, a part of it, a single file, by a link, and among others."""
    table = partitioned(tmp_path / "lake" / "visits")
    (tmp_path / "link").symlink_to(table / "p=x", target_is_directory=True)
    file = next((table / "p=x").glob("*.parquet"))
    for place in (
        table, table / "p=x", file, table / "*" / "*.parquet", table / "**" / "*.parquet", tmp_path / "link",
        tmp_path / "lake", tmp_path / "lake" / "*" / "*" / "*.parquet",
    ):  # fmt: skip
        error = refusal(Source(kind="parquet", location=str(place)))
        assert "visits" in error.message
        assert "discreet[delta]" in error.hint
    whose = Table(
        name="t", source=Source(kind="parquet", location=str(table)), unit=Unit.row(),
        columns=(Column(name="a", kind=Kind.INTEGER),),
    )  # fmt: skip
    with pytest.raises(SourceUnsupported, match="has deleted"):
        admit_by_cluster([whose], tmp_path, SparkConnect(remote="sc://localhost"), among=[whose])


def test_what_is_no_delta_table(tmp_path: Path) -> None:
    """Typed errors say so."""
    for location in (tmp_path, tmp_path / "none"):
        assert isinstance(refusal(Source(kind="delta", location=str(location))), SourceMissing)
    with pytest.raises(SourceUnsupported, match="only Parquet is read"):
        Source(kind="delta", location="s3://lake/visits")
    (tmp_path / "_delta_log").mkdir()
    assert "can't be read" in refusal(tmp_path).message


WITHOUT = """
import sys
sys.modules["deltalake"] = None
from discreet.errors import SourceError
from discreet.tables.sources import open_source, source_of
try:
    open_source(source_of(sys.argv[1], "t"))
except Exception as error:
    print(type(error).__name__, error.hint)
"""


def test_without_deltalake_the_extra_is_named(tmp_path: Path) -> None:
    """Nothing is read in its place."""
    folder = partitioned(tmp_path / "t")
    for place, kind in (
        (folder, ExtraMissing),
        (folder / "p=x", SourceUnsupported),
        (folder / "*/*.parquet", SourceUnsupported),
    ):
        said = subprocess.run([sys.executable, "-c", WITHOUT, str(place)], capture_output=True, text=True, check=True)
        assert kind.__name__ in said.stdout
        assert "pip install 'discreet[delta]'" in said.stdout


FORKED = """
import os, sys
from discreet.tables.sources import open_source, source_of
open_source(source_of(sys.argv[1], "t"))
child = os.fork()
if not child:
    try:
        open_source(source_of(sys.argv[1], "t"))
    except Exception as error:
        print(type(error).__name__, error.hint, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""


def test_a_forked_process_is_told_what_to_do(tmp_path: Path) -> None:
    """The library panics there, with what isn't an `Exception`."""
    said = subprocess.run(
        [sys.executable, "-c", FORKED, str(partitioned(tmp_path / "t"))], capture_output=True, text=True, check=True
    )
    assert "SourceUnsupported" in said.stdout
    assert "spawn" in said.stdout
