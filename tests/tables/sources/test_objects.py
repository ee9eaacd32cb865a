"""Objects of a store: the same rows as of local files, one version of each, and errors that say what to do."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from itertools import count
from pathlib import Path
from threading import Lock
from time import monotonic, sleep, time
from urllib.parse import quote

import pyarrow as pa
import pytest
from pyarrow import parquet
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.engine.spark.admission import admit_by_cluster
from discreet.errors import InvalidArgument, SourceError, SourceMissing, SourceUnsupported
from discreet.tables import Column, Kind, Source, Table
from discreet.tables.admission import admit
from discreet.tables.schema.config import load_config
from discreet.tables.schema.spark import SparkConnect
from discreet.tables.sources import objects, open_source, source_of
from discreet.tables.sources.parquet import OpenParquet
from support.certified import certified
from support.object_store import ENVIRONMENT, REGION, SECRET, Heard, ObjectStore, Said, failed, object_store

CANARY = "CANARY-7f3a"
"""Is in rows, and must be in no error."""
ROWS, GROUPS = 400, 4


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[ObjectStore]:
    """A store whose key is in the environment."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    for name, text in ENVIRONMENT.items():
        monkeypatch.setenv(name, text)
    with object_store() as running:
        yield running


def content(first: int = 0, rows: int = ROWS) -> bytes:
    """A file of some row groups; those of the same size have the same layout, whatever is in them."""
    table = pa.table({"id": pa.array(range(first, first + rows), pa.int64()), "note": [CANARY] * rows})
    file = BytesIO()
    parquet.write_table(
        table, file, row_group_size=rows // GROUPS, compression="none", use_dictionary=["note"], write_statistics=False
    )
    return file.getvalue()


OLD, NEW = content(), content(ROWS)


def read(location: str) -> dict[str, list[object]]:
    """All rows, of what is unchanged when they were read."""
    with open_source(source_of(location, "t")) as opened:
        table = pa.Table.from_batches(opened.batches([each.name for each in opened.fields]))
        assert opened.is_unchanged()
        found: dict[str, list[object]] = table.to_pydict()
        return found


def refusal(location: str, error: type[SourceError] = SourceUnsupported) -> str:
    """The words of a refusal and its hint; neither they nor what is chained to them quote a cell or a secret."""
    with pytest.raises(error) as refused:
        read(location)
    found: BaseException | None = refused.value
    while found is not None:
        assert isinstance(found, SourceError)
        assert not {CANARY, SECRET} & set(f"{found} {found.hint}".split())
        assert CANARY not in f"{found} {found.hint}"
        assert SECRET not in f"{found} {found.hint}"
        found = found.__cause__ or (None if found.__suppress_context__ else found.__context__)
    return f"{refused.value} {refused.value.hint}"


# ── The same as of local files ───────────────────────────────────────────────────────────────────────────────────────

NAMES = [
    "a b.parquet", "100%.parquet", "%20.parquet", "a=b.parquet", "größe.parquet", "日本.parquet", "a+b&c#d.parquet",
    "it's.pq", "a;b,c.parquet", "(x)!$~.parquet", "X.PARQUET",
]  # fmt: skip


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder of Parquet files with partitions, odd names, and what isn't read."""
    keys = [f"year={year}/city={city}/{number}.parquet" for year in (2023, 2024) for number, city in enumerate("ab")]
    keys += [f"year=__HIVE_DEFAULT_PARTITION__/city=x%2Fy/{name}" for name in NAMES]
    for number, key in enumerate(keys):
        path = tmp_path / "visits" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content(number * 10, 8))
    (tmp_path / "visits" / "_SUCCESS").touch()
    (tmp_path / "visits" / "year=2023" / ".x.crc").write_bytes(b"x")
    (tmp_path / "visits" / "_log").mkdir()
    (tmp_path / "visits" / "_log" / "0.json").write_bytes(b"x")
    return tmp_path


@pytest.mark.parametrize("page", [1, 3, 1_000])
@pytest.mark.parametrize(
    "place",
    [
        "visits/", "visits", "visits/year=2023/city=a/", "visits/year=2023/city=a/0.parquet", "visits/*/*/*.parquet",
        "visits/**/*.parquet", "visits/year=202[4]/**/*.p*", "visits/*/city=[!a]/*.parquet", "visits/**/city=a/*",
        "v*/**/1.parquet", "visits/year=2023/**", "visits/year=2023/**/",
        "visits/*/city=a/[01].parquet", "visits/year=2024/city=b/[0-9].parquet",
    ],
)  # fmt: skip
def test_they_are_read_as_local_files_are(place: str, page: int, folder: Path, store: ObjectStore) -> None:
    """Folders, patterns and single ones; in the same order, with the columns of partitions; in pages of any size."""
    store.put_folder("clinic", "", folder)
    for marker in ("visits/", "visits/year=2023/", "visits/empty/", "visits/empty.parquet/"):
        store.put("clinic", marker, b"")
    store.page = page
    local = read(str(folder / place))
    assert len(local["id"]) >= 8
    assert read(store.url("clinic", place)) == local


@pytest.mark.parametrize("name", NAMES)
def test_names_are_read_as_they_are(name: str, store: ObjectStore) -> None:
    """Percent-encoded in the URL, or as they are where neither `%` nor a sign of patterns is in them."""
    store.put("clinic", f"a b/{name}", OLD)
    assert len(read(store.url("clinic", f"a%20b/{quote(name)}"))["id"]) == ROWS
    if "%" not in name:
        assert len(read(store.url("clinic", f"a b/{name}"))["id"]) == ROWS


def test_signs_of_patterns_in_names_are_encoded(store: ObjectStore) -> None:
    """Then they are no signs, also beside one that is."""
    for place, name in enumerate(("*[1]?.parquet", "x[1]?.parquet", "*1?.parquet")):
        store.put("clinic", f"a/{name}", content(place, 4))
    assert read(store.url("clinic", "a/%2A%5B1%5D%3F.parquet"))["id"] == [0, 1, 2, 3]
    assert read(store.url("clinic", "a/*%5B1%5D%3F.parquet"))["id"] == [0, 1, 2, 3, 1, 2, 3, 4]


def test_hidden_objects_are_in_no_pattern_that_has_no_dot(store: ObjectStore) -> None:
    """As for a shell."""
    for key in ("a/.x.parquet", "a/.b/x.parquet", "a/b/x.parquet"):
        store.put("clinic", key, OLD)
    assert len(read(store.url("clinic", "a/**/*.parquet"))["id"]) == ROWS
    assert len(read(store.url("clinic", "a/.*.parquet"))["id"]) == ROWS


def test_a_whole_bucket_is_a_folder(store: ObjectStore) -> None:
    """With a slash behind it, and without."""
    for number in range(2):
        store.put("clinic", f"{number}.parquet", content(number * 4, 4))
    for place in ("s3://clinic", "s3://clinic/", "s3://clinic/*.parquet"):
        reached = store.url("clinic").partition("?")[2]
        assert read(f"{place}?{reached}")["id"] == list(range(8))


def test_a_path_that_was_a_url_is_told() -> None:
    """It has lost a slash, so that nothing can be read by it."""
    with pytest.raises(SourceMissing) as refused:
        source_of(Path("s3://clinic/x.parquet"), "t")
    assert "URL as a text" in refused.value.hint


def test_a_key_that_is_a_folder_too_is_an_object(store: ObjectStore) -> None:
    """Only the slash at the end says that the folder is meant."""
    store.put("clinic", "x", OLD)
    store.put("clinic", "x/y.parquet", NEW)
    assert read(store.url("clinic", "x"))["id"][0] == 0
    assert read(store.url("clinic", "x/"))["id"][0] == ROWS


def test_no_more_is_fetched_than_is_read(store: ObjectStore) -> None:
    """Of one column only its pages, and the footer; no object is fetched whole, and only the log of Delta is listed."""
    wide = pa.table({f"c{number}": pa.array(range(number, number + 50_000), pa.int64()) for number in range(20)})
    file = BytesIO()
    parquet.write_table(wide, file, row_group_size=10_000, compression="none", use_dictionary=False)
    store.put("clinic", "wide.parquet", file.getvalue())
    with open_source(source_of(store.url("clinic", "wide.parquet"), "t")) as opened:
        assert sum(batch.num_rows for batch in opened.batches(["c3"])) == 50_000
    listed = [each.query["prefix"] for each in store.heard if each.is_listing]
    assert set(listed) == {"_delta_log/", "wide.parquet/_delta_log/"}
    fetched = [each for each in store.heard if each.method == "GET" and not each.is_listing]
    spans = [each.headers["range"].removeprefix("bytes=").split("-") for each in fetched]
    assert sum(int(last) - int(first) + 1 for first, last in spans) < len(file.getvalue()) / 5


def test_objects_of_a_folder_are_opened_together(store: ObjectStore) -> None:
    """Sixteen at a time at most; their rows stay in the order of their names."""
    for number in range(40):
        store.put("clinic", f"a/{number:02}.parquet", content(number * 4, 4))
    lock, now, most = Lock(), [0], [0]

    def behave(_: Heard, said: Said) -> Said:
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        sleep(0.02)
        with lock:
            now[0] -= 1
        return said

    store.behave = behave
    assert read(store.url("clinic", "a/"))["id"] == list(range(160))
    assert 1 < most[0] <= 16


# ── One version ──────────────────────────────────────────────────────────────────────────────────────────────────────


def at_request(number: int, do: Callable[[], None]) -> Callable[[Heard, Said], Said]:
    """A behaviour: right before the reply to one request is made for its sender, something happens."""
    left = [number]

    def behave(_: Heard, said: Said) -> Said:
        left[0] -= 1
        if left[0] == 0:
            do()
        return said

    return behave


@pytest.mark.parametrize(
    "place",
    [
        "visits/",
        "visits/year=2024/",
        "visits/*.parquet",
        "visits/a.parquet",
        "visits/year=2024/b.parquet",
        "*/*.parquet",
        "**/*.parquet",
        "v*/**/b.parquet",
        "**/*.json",
        "**/_delta_log/*",
        "",
    ],
)
def test_objects_of_a_delta_table_are_refused(store: ObjectStore, place: str) -> None:
    """Whichever of them are named: its log may have deleted rows that are still there. Others beside it are read."""
    for name in ("visits/a.parquet", "visits/year=2024/b.parquet", "others/c.parquet"):
        store.put("clinic", name, OLD)
    store.put("clinic", "visits/_delta_log/00000000000000000000.json", b"{}")
    with pytest.raises(SourceUnsupported, match="of a Delta table"):
        read(store.url("clinic", place))
    for others in ("others/", "o*/*.parquet", "**/others/c.*", "[!v]*/**"):
        assert read(store.url("clinic", others))["id"] == list(range(ROWS))


def test_names_that_a_pattern_does_not_mean_are_no_matter(store: ObjectStore) -> None:
    """Objects beside those that are meant may be called anything."""
    for key in ("a/x.parquet", "b//x.parquet"):
        store.put("clinic", key, OLD)
    assert len(read(store.url("clinic", "a*/*.parquet"))["id"]) == ROWS
    assert "slashes side by side" in refusal(store.url("clinic", "**/*.parquet"))


def versions(store: ObjectStore, location: str, change: Callable[[], None]) -> list[str]:
    """What is read if the store changes at the first, second, … request: `old`, `refused`, `unnoticed` or `mixed`."""
    found = []
    for number in range(1, 1_000):
        store.put("clinic", "a/x.parquet", OLD, modified=time() - 60)
        store.put("clinic", "a/y.parquet", OLD, modified=time() - 60)
        store.behave, store.heard = at_request(number, change), []
        try:
            with OpenParquet(source_of(location, "t")) as opened:
                ids = {row for batch in opened.batches(["id"]) for row in batch.column(0).to_pylist()}
                is_unchanged = opened.is_unchanged()
        except SourceError as error:
            is_told = "changed while it was being read" in str(error) or "there is no object" in str(error)
            found.append("refused" if is_told else str(error))
        else:
            kept = "old" if ids == set(range(ROWS)) else "new" if ids == set(range(ROWS, 2 * ROWS)) else "mixed"
            found.append(kept if is_unchanged else "refused")
        if len(store.heard) < number:
            break
    return found


def overwrite(store: ObjectStore) -> Callable[[], None]:
    """Another version takes the place of each object."""

    def put() -> None:
        for key in ("a/x.parquet", "a/y.parquet"):
            store.put("clinic", key, NEW)

    return put


@pytest.mark.parametrize("place", ["a/x.parquet", "a/"])
def test_an_object_that_is_overwritten_while_it_is_read_is_refused(place: str, store: ObjectStore) -> None:
    """At whichever request that happens: nothing is read but the old version alone, or the new one alone."""
    found = versions(store, store.url("clinic", place), overwrite(store))
    assert found.count("refused") > 5
    assert set(found) <= {"old", "new", "refused"}
    assert found[-1] == "old"


def test_without_a_look_afterwards_versions_are_mixed(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin, which believes what the store said before."""
    monkeypatch.setattr(objects.OpenObject, "is_unchanged", lambda _: True)
    monkeypatch.setattr(OpenParquet, "is_unchanged", lambda _: True)
    assert "mixed" in versions(store, store.url("clinic", "a/x.parquet"), overwrite(store))


def test_an_object_that_is_taken_away_while_it_is_read_is_refused(store: ObjectStore) -> None:
    """In the same words, once it was there."""
    store.buckets["clinic"] = {}
    found = versions(store, store.url("clinic", "a/x.parquet"), store.buckets["clinic"].clear)
    assert set(found) == {"old", "refused"}
    store.behave = lambda _, said: said
    store.put("clinic", "a/x.parquet", OLD)
    with open_source(source_of(store.url("clinic", "a/x.parquet"), "t")) as opened:
        batches = opened.batches(["id"])
        next(batches)
        store.buckets["clinic"].clear()
        with pytest.raises(SourceUnsupported, match="changed while it was being read"):
            list(batches)


@pytest.mark.parametrize("way", ["later", "as another version"])
def test_an_object_that_is_put_back_is_another_one(way: str, store: ObjectStore) -> None:
    """By the time when it was written; in a bucket that keeps versions, by its number too."""
    how = {"modified": time() - 60, "version": way != "later"}
    store.put("clinic", "x.parquet", OLD, **how)  # type: ignore[arg-type]  # — of two types
    with open_source(source_of(store.url("clinic", "x.parquet"), "t")) as opened:
        assert opened.is_unchanged()
        store.put("clinic", "x.parquet", OLD, **how if way != "later" else {})  # type: ignore[arg-type]  # — as above
        assert not opened.is_unchanged()


def test_other_rows_of_the_same_second_are_another_version(store: ObjectStore) -> None:
    """Also where there are as many of them; by the ETag."""
    store.put("clinic", "x.parquet", OLD, modified=1_700_000_000)
    with open_source(source_of(store.url("clinic", "x.parquet"), "t")) as opened:
        store.put("clinic", "x.parquet", NEW, modified=1_700_000_000)
        assert len(OLD) == len(NEW)
        assert not opened.is_unchanged()
        with pytest.raises(SourceUnsupported, match="changed while it was being read"):
            list(opened.batches(["id"]))


def test_what_is_listed_is_listed_again(store: ObjectStore) -> None:
    """An object more or less, on whichever page, is a change; what isn't read is none."""
    store.page = 2
    for number in range(5):
        store.put("clinic", f"a/{number}.parquet", OLD)
    with open_source(source_of(store.url("clinic", "a/"), "t")) as opened:
        store.put("clinic", "a/_SUCCESS", b"")
        assert opened.is_unchanged()
        store.put("clinic", "a/5.parquet", OLD)
        assert not opened.is_unchanged()
        del store.buckets["clinic"]["a/5.parquet"]
        assert opened.is_unchanged()
        del store.buckets["clinic"]["a/4.parquet"]
        assert not opened.is_unchanged()
        store.behave = failed(503, "SlowDown")
        assert not opened.is_unchanged()


def test_pieces_carry_no_key_and_list_nothing(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that executors read as whom they are; a piece of another version is refused."""
    for number in range(2):
        store.put("clinic", f"a/{number}.parquet", content(number * ROWS), modified=time() - 60)
    with OpenParquet(source_of(store.url("clinic", "a/"), "t")) as opened:
        sent = pickle.dumps(opened.pieces(ROWS // GROUPS))
    assert not [word for word in (SECRET, ENVIRONMENT["AWS_ACCESS_KEY_ID"]) if word.encode() in sent]
    store.heard.clear()
    pieces = pickle.loads(sent)  # noqa: S301 — made above
    assert len(pieces) == 2 * GROUPS
    rows = [row for piece in pieces for batch in piece.batches(["id"]) for row in batch.column(0).to_pylist()]
    assert rows == list(range(2 * ROWS))
    assert all(piece.is_unchanged() for piece in pieces)
    assert not any(each.is_listing for each in store.heard)
    store.put("clinic", "a/1.parquet", content(ROWS))
    list(pieces[0].batches(["id"]))
    with pytest.raises(SourceUnsupported, match="changed while it was being read"):
        list(pieces[-1].batches(["id"]))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    with pytest.raises(SourceUnsupported, match="credentials"):
        list(pieces[0].batches(["id"]))


# ── Who reads ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_keys_are_found_in_a_profile_too(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The one that the environment names; no secret goes over the network."""
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    key = ENVIRONMENT["AWS_ACCESS_KEY_ID"]
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    profile = f"[clinic]\naws_access_key_id = {key}\naws_secret_access_key = {SECRET}\n"
    (tmp_path / "credentials").write_text(profile, encoding="utf-8")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "credentials"))
    store.put("clinic", "x.parquet", OLD)
    assert "credentials" in refusal(store.url("clinic", "x.parquet"))
    monkeypatch.setenv("AWS_PROFILE", "clinic")
    assert len(read(store.url("clinic", "x.parquet"))["id"]) == ROWS
    assert not any(SECRET in text for each in store.heard for text in each.headers.values())


def test_the_environment_says_where_the_store_is(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the URL doesn't: then it is the same in every place."""
    store.put("clinic", "x.parquet", OLD)
    monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{store.address}")
    monkeypatch.setenv("AWS_REGION", REGION)
    assert len(read("s3://clinic/x.parquet")["id"]) == ROWS
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://localhost:1")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    assert len(read(store.url("clinic", "x.parquet"))["id"]) == ROWS
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://store.example.org")
    with pytest.raises(InvalidArgument, match="everyone on the way"):
        read("s3://clinic/x.parquet")


def test_only_a_store_that_is_vouched_for_is_read(
    store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By an authority that the URL names, or the environment."""
    files = certified(tmp_path)
    del store
    with object_store(files) as running:
        running.put("clinic", "x.parquet", OLD)
        assert "AWS_CA_BUNDLE" in refusal(running.url("clinic", "x.parquet", scheme="https"))
        assert not running.heard
        named = running.url("clinic", "x.parquet", scheme="", tls_ca_file_path=str(files[1]))
        assert len(read(named)["id"]) == ROWS
        monkeypatch.setenv("AWS_CA_BUNDLE", str(files[1]))
        assert len(read(running.url("clinic", "x.parquet", scheme=""))["id"]) == ROWS


# ── What goes wrong ──────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("bucket", "key", "error", "words"),
    [
        ("clinic", "nothing.parquet", SourceMissing, "there is no object 's3://clinic/nothing.parquet'"),
        ("clinic", "nothing/", SourceMissing, "there is no object 's3://clinic/nothing/'"),
        ("clinic", "a/*.pq", SourceMissing, "there are no Parquet files in"),
        ("clinic", "_hidden/", SourceMissing, "there is no object"),
        ("nobody", "x.parquet", SourceMissing, "there is no bucket 'nobody'"),
        ("nobody", "x/", SourceMissing, "there is no bucket 'nobody'"),
        ("nobody", "x/*.parquet", SourceMissing, "there is no bucket 'nobody'"),
        ("clinic", "other/", SourceUnsupported, "has files that aren't called .parquet or .pq"),
        ("clinic", "bare/", SourceUnsupported, "isn't Parquet, is damaged or is encrypted"),
        ("clinic", "slashes/", SourceUnsupported, "slashes side by side"),
        ("clinic", "twice/", SourceUnsupported, "slashes side by side, or at the end"),
        ("clinic", "mixed/", SourceUnsupported, "don't all name the same columns"),
        ("clinic", "empty.parquet", SourceUnsupported, "isn't Parquet"),
    ],
)
def test_what_isnt_there_is_told(
    bucket: str, key: str, error: type[SourceError], words: str, store: ObjectStore
) -> None:
    """By what it is, and without the store's parameters."""
    for name in ("a/x.parquet", "slashes//x.parquet", "twice/x.parquet", "mixed/a=1/x.parquet", "mixed/x.parquet"):
        store.put("clinic", name, OLD)
    store.put("clinic", "twice/x.parquet/", b"x")
    store.put("clinic", "other/x.csv", f"id\n{CANARY}\n".encode())
    store.put("clinic", "bare/x.parquet", f"{CANARY}\n".encode() * 20)
    store.put("clinic", "empty.parquet", b"")
    assert words in refusal(store.url(bucket, key), error)


@pytest.mark.parametrize("place", ["x.parquet", "a/"])
@pytest.mark.parametrize(
    ("behaviour", "words"),
    [
        (failed(403, "AccessDenied"), "can't be read with the credentials that were found"),
        (failed(403, "RequestTimeTooSkewed"), "clock must be right"),
        (failed(301, "PermanentRedirect"), "another region"),
        (failed(400, "ExpiredToken"), "AWS_SESSION_TOKEN"),
        (failed(500, "InternalError"), "can't be reached, or doesn't answer"),
        (failed(503, "SlowDown"), "can't be reached, or doesn't answer"),
        (failed(418, CANARY), "does it speak S3's protocol?"),
    ],
)
def test_a_store_that_refuses_is_told(
    place: str, behaviour: Callable[[Heard, Said], Said], words: str, store: ObjectStore
) -> None:
    """By why, and what to do; in bounded time, and never in its own words."""
    for key in ("x.parquet", "a/x.parquet"):
        store.put("clinic", key, OLD)
    store.behave = behaviour
    start = monotonic()
    assert words in refusal(store.url("clinic", place))
    assert monotonic() - start < 30
    assert len(store.heard) <= 6


def test_a_store_that_fails_in_the_middle_is_told(store: ObjectStore) -> None:
    """Which is neither damage nor a change; a store that answers again at the second attempt is read."""
    store.put("clinic", "x.parquet", OLD)
    location = store.url("clinic", "x.parquet")
    with open_source(source_of(location, "t")) as opened:
        store.behave = lambda heard, said: said if heard.method == "HEAD" else failed(503, "SlowDown")(heard, said)
        with pytest.raises(SourceUnsupported, match="can't be reached, or doesn't answer"):
            list(opened.batches(["id"]))
    left = [0]

    def seldom(heard: Heard, said: Said) -> Said:
        left[0] += 1
        return failed(503, "SlowDown")(heard, said) if left[0] % 2 else said

    store.behave = seldom
    assert len(read(location)["id"]) == ROWS


def test_a_store_that_says_nothing_is_left(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a while; and one that isn't there, and one whose host isn't."""
    monkeypatch.setattr(objects, "_SILENT", 1)
    store.put("clinic", "x.parquet", OLD)
    store.behave = lambda _, said: replace(said, wait=30)
    start = monotonic()
    assert "doesn't answer" in refusal(store.url("clinic", "x.parquet"))
    assert "can't be reached" in refusal(store.url("clinic", "x.parquet", endpoint_override="localhost:1"))
    assert "can't be reached" in refusal(store.url("clinic", "x", endpoint_override="store.invalid", scheme=""))
    assert monotonic() - start < 25


def test_a_wrong_region_or_key_is_told(store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The region in the hint is an example."""
    store.put("clinic", "x.parquet", OLD)
    store.put("clinic", "a/x.parquet", OLD)
    for place in ("x.parquet", "a/"):
        assert "such as eu-west-1" in refusal(store.url("clinic", place, region="us-east-1"))
    for name, text in (("AWS_SECRET_ACCESS_KEY", "wrong"), ("AWS_ACCESS_KEY_ID", "AKIDOTHER")):
        monkeypatch.setenv(name, text)
        for place in ("x.parquet", "a/"):
            assert "AWS_PROFILE" in refusal(store.url("clinic", place))
    for name in ("AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID"):
        monkeypatch.delenv(name)
    assert "AWS_PROFILE" in refusal(store.url("clinic", "x.parquet"))


def test_damaged_and_cut_objects_are_refused(store: ObjectStore) -> None:
    """Wherever they end; no error quotes a cell."""
    for size in range(0, len(OLD), len(OLD) // 25):
        store.put("clinic", "x.parquet", OLD[:size])
        assert "damaged" in refusal(store.url("clinic", "x.parquet"))


def _whole(heard: Heard, said: Said) -> Said:
    """The whole object, whichever part is asked for."""
    return Said(200, OLD, said.headers) if heard.method == "GET" else said


WRONG: dict[str, Callable[[Heard, Said], Said]] = {
    "no version": lambda _, said: replace(
        said, headers={name: text for name, text in said.headers.items() if name != "ETag"}
    ),
    "another version each time": lambda heard, said: replace(
        said, headers={**said.headers, "ETag": f'"{id(heard)}-{time()}"'}
    ),
    "cut replies": lambda heard, said: said if heard.method == "HEAD" else replace(said, cut=len(said.body) // 2),
    "longer": lambda heard, said: replace(said, body=said.body + b"x") if heard.method == "HEAD" else said,
    "shorter": lambda heard, said: replace(said, body=said.body[:-1]) if heard.method == "HEAD" else said,
    "the whole for a part": _whole,
    "other bytes": lambda heard, said: replace(said, body=said.body[::-1]) if heard.method == "GET" else said,
    "empty replies": lambda heard, said: replace(said, body=b"") if heard.method == "GET" else said,
    "no XML": lambda heard, said: replace(said, body=b"<" + CANARY.encode()) if heard.method == "GET" else said,
}


@pytest.mark.parametrize("place", ["x.parquet", "a/"])
@pytest.mark.parametrize("wrong", WRONG)
def test_a_store_that_answers_wrongly_is_refused(wrong: str, place: str, store: ObjectStore) -> None:
    """Or read rightly, if what is wrong isn't asked for."""
    for key in ("x.parquet", "a/x.parquet"):
        store.put("clinic", key, OLD)
    store.behave = WRONG[wrong]
    assert refusal(store.url("clinic", place), SourceError)


@pytest.mark.parametrize(
    "wrong", [Said(403), Said(404), Said(301), Said(418), Said(200, OLD)], ids=lambda said: str(said.status)
)
def test_a_folder_that_is_named_by_a_value_is_in_no_error(wrong: Said, store: ObjectStore) -> None:
    """An object in one is called by its own name, whatever its store says of it: here that no version is stated."""
    store.put("clinic", f"visits/name={CANARY}/x.parquet", OLD)
    store.behave = lambda heard, said: wrong if "x.parquet" in heard.key else said
    for place in ("visits/", "visits/*/*.parquet"):
        assert f"'x.parquet' in {store.url('clinic', place)!r}" in refusal(store.url("clinic", place), SourceError)


def test_a_folder_that_is_named_by_a_value_is_in_no_error_of_a_change(store: ObjectStore) -> None:
    """Whether it is noticed while an object is read, or before."""
    key = f"visits/name={CANARY}/x.parquet"
    store.put("clinic", key, OLD)
    with open_source(source_of(store.url("clinic", "visits/"), "t")) as opened:
        for first in (opened.batches(["id"]), None):
            if first is not None:
                next(first)
            store.put("clinic", key, NEW)
            with pytest.raises(SourceUnsupported, match="was changed while") as caught:
                list(first or opened.batches(["id"]))
            assert CANARY not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"


# ── Where a path is taken ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_of_objects_is_protected_and_asked(store: ObjectStore, tmp_path: Path) -> None:
    """By its URL, as one on this machine would be; the snapshot answers when the store is gone."""
    for number in range(3):
        store.put("clinic", f"visits/year={number}/x.parquet", content(number * ROWS))
    with dp.protect(
        store.url("clinic", "visits/"),
        name="visits",
        unit=dp.Unit.row(),
        columns={"id": (0, 10_000), "year": dp.Keys(["0", "1", "2"])},
        adjacency=dp.ADD_REMOVE,
        budget=10**9,
        ledger=tmp_path / "visits.ledger",
        snapshots=tmp_path / "snapshots",
    ) as visits:
        store.behave = failed(403, "AccessDenied")
        asked = "SELECT year, COUNT(*) AS n FROM visits GROUP BY year"
        assert [round(n) for n in visits.ask(asked, epsilon=10**6)["n"]] == [ROWS] * 3
        with pytest.raises(SourceUnsupported, match="credentials"):
            visits.admissions.check()
        store.behave = lambda _, said: said
        assert visits.admissions.check().tables["visits"]["rows"] == 3 * ROWS


@pytest.mark.parametrize("what", ["the same object", "an object that was read", "one object more"])
def test_nothing_is_admitted_of_a_store_that_changes(what: str, store: ObjectStore, tmp_path: Path) -> None:
    """Whether what changes is still read, or was read before, or wasn't there."""
    for number in range(2):
        store.put("clinic", f"a/{number}.parquet", OLD, modified=time() - 60)
    table = Table(
        name="t",
        source=Source.of(store.url("clinic", "a/")),
        columns=(Column(name="id", kind=Kind.INTEGER),),
        unit=dp.Unit.row(),
    )
    key = {"the same object": "a/1.parquet", "an object that was read": "a/0.parquet"}.get(what, "a/2.parquet")
    assert admit([table], {}, tmp_path).tables["t"].rows == 2 * ROWS
    seconds = count(int(time()))

    def changed(heard: Heard, said: Said) -> Said:
        """One version after the other, since the first may be there before the others are opened."""
        if heard.method == "GET" and heard.key == "a/1.parquet":
            store.put("clinic", key, NEW, modified=next(seconds))
        return said

    store.behave = changed
    with pytest.raises(SourceUnsupported, match=r"was changed while it was (being )?read"):
        admit([table], {}, tmp_path)


def test_a_cluster_reads_objects_as_one_machine_does(store: ObjectStore, tmp_path: Path) -> None:
    """Each task its own row groups, with the credentials that it finds where it runs."""
    for number in range(2):
        store.put("clinic", f"a/{number}.parquet", content(number * ROWS))
    columns = (Column(name="id", kind=Kind.INTEGER), Column(name="note", kind=Kind.TEXT))
    source = Source.of(store.url("clinic", "a/"))
    table = Table(name="t", source=source, columns=columns, unit=dp.Unit("id"), limits=dp.Limits(rows=1))
    snapshots = [tmp_path / "there", tmp_path / "here"]
    for folder in snapshots:
        folder.mkdir()
    there = admit_by_cluster([table], snapshots[0], SparkConnect(remote="local", tasks=2), among=[table], parts=2)
    here = admit([table], {}, snapshots[1], parts=2)
    assert there is not None
    for each in (there, here):
        files = [parquet.read_table(file)["c0"].to_pylist() for file in each.files(table)]
        assert len(files) == 2
        assert sorted(row for rows in files for row in rows) == list(range(2 * ROWS))


def test_commands_take_urls(store: ObjectStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`init` proposes, and what it wrote is asked; `risk` counts, and says which page can't be made."""
    monkeypatch.chdir(tmp_path)
    store.put("clinic", "visits.parquet", content())
    location = store.url("clinic", "visits.parquet")

    def run(*words: str) -> str:
        result = CliRunner().invoke(app, [*words], prog_name="discreet")
        assert SECRET not in result.output
        assert CANARY not in result.output
        return " ".join(result.output.split())

    known = ("--rows-are-people", "--quasi-identifying", "id")
    assert "written discreet.toml: table visits" in run("init", location, "--unit", "row")
    assert load_config("discreet.toml").tables[0].source == Source.of(location)
    assert "budget" in run("ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "0.1")
    assert "discreet init 's3://clinic/visits.parquet" in run("risk", location, *known)
    assert "SHA-256" in run("risk", location, *known, "--html", "page.html")
    assert "Google's buckets" in run("init", "gs://clinic/visits.parquet", "--force")
    assert "there is no bucket" in run("init", store.url("nobody", "visits.parquet"), "--force")
