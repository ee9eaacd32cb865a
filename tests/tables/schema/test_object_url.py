"""URLs of objects: what PyArrow is given of them; no key stands in one, and rows go to no wrong machine."""

from __future__ import annotations

import pytest

from discreet.errors import ConfigError, DiscreetError, InvalidArgument, SourceUnsupported
from discreet.tables import Source
from discreet.tables.schema.config import loads
from discreet.tables.schema.object_url import Endpoint, ObjectUrl

SECRET = "Key7f3aZ"  # noqa: S105 — nobody's


def config(source: str) -> str:
    """A configuration with a table from there."""
    return f"""
        name = "clinic"
        ledger = "clinic.ledger"
        adjacency = "add_remove"
        budget = {{ epsilon = 3 }}
        [tables.visits]
        source = {source}
        unit = "row"
        columns = {{ age = {{ kind = "integer" }} }}
    """


@pytest.mark.parametrize(
    ("url", "bucket", "names"),
    [
        ("s3://clinic/visits.parquet", "clinic", ["visits.parquet"]),
        ("S3://clinic/a b/50%25=é%3F.parquet?region=eu-west-1", "clinic", ["a b", "50%=é?.parquet"]),
        ("s3://clinic", "clinic", []),
        ("s3://clinic/", "clinic", []),
        ("s3://clinic.eu_1-x/year=2024/", "clinic.eu_1-x", ["year=2024", ""]),
        ("s3://clinic/a@b:c#d&e+f", "clinic", ["a@b:c#d&e+f"]),
    ],
)
def test_a_url_is_taken_apart(url: str, bucket: str, names: list[str]) -> None:
    """Its bucket, and the names in its path; and put together again it is the same."""
    read = ObjectUrl.read(url)
    assert (read.bucket, read.names) == (bucket, names)
    again = ObjectUrl.read(read.at("/".join(names)))
    assert (again.bucket, again.names, again.parameters) == (bucket, names, read.parameters)


@pytest.mark.parametrize(
    "url",
    [
        f"s3://AKID:{SECRET}@clinic/x.parquet",
        f"s3://AKID:{SECRET}@/x.parquet",
        f"s3://{SECRET}@clinic/x.parquet",
        f"s3://AKID:a/{SECRET}@clinic/x.parquet",
        f"s3://AKID:a?{SECRET}@clinic/x.parquet",
        f"s3://clinic/x.parquet?secret_key={SECRET}",
        f"s3://clinic/x.parquet?access_key={SECRET}",
        f"s3://clinic/x.parquet?AWSAccessKeyId={SECRET}&Signature=x",
        f"s3://clinic/x.parquet?X-Amz-Security-Token={SECRET}",
        f"s3://clinic/x.parquet?{SECRET}",
        f"s3://clinic/x.parquet?endpoint_override=AKID:{SECRET}@minio:9000",
        f"s3://clinic/x.parquet?endpoint_override=https://AKID:{SECRET}@minio",
        f"s3://clinic/x.parquet?region={SECRET}/",
        f"s3://clinic/x.parquet?scheme={SECRET}",
    ],
)
def test_a_key_is_refused_and_told_nobody(url: str) -> None:
    """Also where a sign in it makes it look like something else; and in a configuration, which names the place."""
    with pytest.raises(InvalidArgument) as refusal:
        Source.of(url)
    assert SECRET not in f"{refusal.value} {refusal.value.hint}"
    with pytest.raises(ConfigError, match=r"tables\.visits\.source") as named:
        loads(config(f'"{url}"'))
    assert SECRET not in f"{named.value} {named.value.hint}"


def test_a_key_hints_at_where_it_belongs() -> None:
    """The places of S3's other programs."""
    with pytest.raises(InvalidArgument) as refusal:
        ObjectUrl.read("s3://AKID:secret@clinic/x.parquet")
    assert all(place in refusal.value.hint for place in ("AWS_SECRET_ACCESS_KEY", "AWS_PROFILE", "role"))


@pytest.mark.parametrize(
    ("url", "hint"),
    [
        ("s3://clinic/x?regoin=eu", "region"),
        ("s3://clinic/x?allow_bucket_deletion=true", "endpoint_override"),
        ("s3:///x", "s3://bucket"),
        ("s3://", "s3://bucket"),
        ("s3://cli nic/x", "s3://bucket"),
        ("s3://clinic/a//x", "single slashes"),
        ("s3://clinic//x", "single slashes"),
        ("s3://clinic/x%00", ""),
        ("s3://clinic/visits%2Fx.parquet", "write /"),
        ("s3://clinic/visits%2f*/x.parquet", "write /"),
        ("s3://clinic/x?region=a&region=b", ""),
        ("s3://clinic/x?endpoint_override=minio/data", "AWS_ENDPOINT_URL"),
        ("s3://clinic/x?endpoint_override=http://localhost&scheme=https", ""),
        ("s3://clinic/x?scheme=ftp", ""),
    ],
)
def test_what_is_no_url_is_refused(url: str, hint: str) -> None:
    """With a word on what would be one."""
    with pytest.raises(InvalidArgument) as refusal:
        ObjectUrl.read(url)
    assert hint in refusal.value.hint


@pytest.mark.parametrize(
    ("url", "environment", "endpoint"),
    [
        ("s3://c/x", {}, Endpoint()),
        ("s3://c/x?region=eu-west-1", {"AWS_REGION": "us-east-2"}, Endpoint(region="eu-west-1")),
        ("s3://c/x", {"AWS_REGION": "eu-west-3", "AWS_DEFAULT_REGION": "eu-west-1"}, Endpoint(region="eu-west-3")),
        ("s3://c/x", {"AWS_DEFAULT_REGION": "eu-west-1"}, Endpoint(region="eu-west-1")),
        ("s3://c/x?endpoint_override=minio:9000", {"AWS_ENDPOINT_URL": "http://x"}, Endpoint(address="minio:9000")),
        ("s3://c/x", {"AWS_ENDPOINT_URL": "https://minio.example.org/"}, Endpoint(address="minio.example.org")),
        ("s3://c/x", {"AWS_ENDPOINT_URL": "x", "AWS_ENDPOINT_URL_S3": "y"}, Endpoint(address="y")),
        ("s3://c/x", {"AWS_ENDPOINT_URL": "http://[::1]:9000"}, Endpoint(address="[::1]:9000", scheme="http")),
        ("s3://c/x?scheme=http", {"AWS_ENDPOINT_URL": "127.0.0.1"}, Endpoint(address="127.0.0.1", scheme="http")),
        ("s3://c/x?tls_ca_file_path=/a.pem", {"AWS_CA_BUNDLE": "/b.pem"}, Endpoint(authorities="/a.pem")),
        ("s3://c/x", {"AWS_CA_BUNDLE": "/b.pem"}, Endpoint(authorities="/b.pem")),
    ],
)
def test_what_a_url_says_counts_before_the_environment(
    url: str, environment: dict[str, str], endpoint: Endpoint
) -> None:
    """Of where the store is, and how it is reached."""
    assert ObjectUrl.read(url).endpoint(environment) == endpoint


@pytest.mark.parametrize(
    ("url", "environment"),
    [
        ("s3://c/x?scheme=http&endpoint_override=minio:9000", {}),
        ("s3://c/x?endpoint_override=http://minio", {}),
        ("s3://c/x?endpoint_override=http://localhost.example.org:80", {}),
        ("s3://c/x?endpoint_override=http://10.0.0.1", {}),
        ("s3://c/x?scheme=http", {}),
        ("s3://c/x?scheme=http", {"AWS_ENDPOINT_URL": "minio:9000"}),
        ("s3://c/x", {"AWS_ENDPOINT_URL": "http://minio:9000"}),
        ("s3://c/x", {"AWS_ENDPOINT_URL_S3": "http://[2001:db8::1]:9000"}),
    ],
)
def test_rows_cross_no_network_in_the_open(url: str, environment: dict[str, str]) -> None:
    """Whatever the environment says; what a URL alone says wrong is refused when it is read."""
    with pytest.raises(InvalidArgument, match="http") as refusal:
        ObjectUrl.read(url).endpoint(environment)
    assert "AWS_CA_BUNDLE" in refusal.value.hint


@pytest.mark.parametrize(
    ("place", "hint"),
    [
        ("gs://clinic/visits.parquet", "storage.googleapis.com"),
        ("abfss://clinic@account.dfs.core.windows.net/visits", "s3://"),
        ("https://example.org/visits.csv", "download"),
        ("hdfs://name:8020/visits/*.parquet", "s3://"),
        ("s3a://clinic/visits.parquet", "write s3://"),
        ("file://localhost/visits.parquet", "path alone"),
    ],
)
def test_another_scheme_says_what_is_read(place: str, hint: str) -> None:
    """Instead of that there is no such file; also in a configuration, with a kind or without."""
    with pytest.raises(SourceUnsupported, match=place.partition(":")[0]) as refusal:
        Source.of(place)
    assert hint in refusal.value.hint
    for source in (f'"{place}"', f'{{ kind = "parquet", path = "{place}" }}'):
        with pytest.raises(ConfigError, match=r"tables\.visits\.source"):
            loads(config(source))


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"kind": "parquet", "in_place": True}, "another object could take its place"),
        ({"kind": "parquet", "table": "visits"}, "only a database has tables"),
        ({"kind": "csv"}, "only Parquet is read, and not CSV"),
        ({"kind": "duckdb"}, "only Parquet is read, and not DuckDB"),
    ],
)
def test_what_means_nothing_for_objects_is_refused(declared: dict[str, object], words: str) -> None:
    """With the reason; nothing is passed over."""
    with pytest.raises(DiscreetError, match=words):
        Source(location="s3://clinic/visits", **declared)  # type: ignore[arg-type]  # — of several types


def test_the_kind_follows_from_the_url() -> None:
    """Parquet, unless an ending says another format; the table is called after the last name."""
    found = [Source.of(f"s3://clinic/{path}?region=eu-1") for path in ("a/visits.parquet", "visits/", "visits", "")]
    assert [(each.kind, each.stem) for each in found] == [("parquet", name) for name in ("visits",) * 3 + ("clinic",)]
    with pytest.raises(SourceUnsupported, match="not CSV"):
        Source.of("s3://clinic/visits.csv.gz")
