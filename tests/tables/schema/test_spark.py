"""Where a cluster is: an address, without a secret in it; what would be ignored, or go in the clear, is refused."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import ConfigError, InvalidArgument
from discreet.tables import dumps, loads
from discreet.tables.schema.spark import PORT, TOKEN, SparkConnect


@pytest.mark.parametrize(
    ("remote", "host", "port", "encrypted"),
    [
        ("sc://localhost", "localhost", PORT, False),
        ("sc://127.0.0.1:7", "127.0.0.1", 7, False),
        ("sc://[::1]:7/", "::1", 7, False),
        ("sc://localhost/;use_ssl=true", "localhost", PORT, True),
        ("sc://localhost/;use_ssl=false", "localhost", PORT, False),
        ("sc://spark.example.org", "spark.example.org", PORT, True),
        ("sc://10.0.0.9:443/;use_ssl=true", "10.0.0.9", 443, True),
        ("sc://localhost.example.org:1", "localhost.example.org", 1, True),
    ],
)
def test_what_leaves_the_machine_is_encrypted(remote: str, host: str, port: int, encrypted: object) -> None:
    """Whatever the address says."""
    found = SparkConnect(remote=remote)
    assert (found.host, found.port, found.encrypted) == (host, port, encrypted)


@pytest.mark.parametrize(
    ("remote", "said"),
    [
        ("spark://host:7077", "sc://host:port, or local"),
        ("host:15002", "sc://host:port, or local"),
        ("sc://", "sc://host:port, or local"),
        ("sc://host:99999", "sc://host:port, or local"),
        ("LOCAL", "sc://host:port, or local"),
        ("sc://host/;use_ssl=false", "in the clear"),
        ("sc://host/;token=abc", "a token is a secret"),
        ("sc://host/;use_ssl=true;token=abc", "a token is a secret"),
        ("sc://me:secret@host", "a token is a secret"),
        ("sc://host/;user_id=me", "nothing more"),
        ("sc://host/;use_ssl=true;use_ssl=false", "nothing more"),
        ("sc://host/path", "nothing more"),
        ("sc://host?a=b", "nothing more"),
        ("", "an address, or by a session"),
    ],
)
def test_an_address_says_where_and_no_more(remote: str, said: str) -> None:
    """And no secret is repeated in the refusal."""
    with pytest.raises(InvalidArgument, match=said) as refused:
        SparkConnect(remote=remote)
    assert "abc" not in f"{refused.value}{refused.value.hint}"
    if "secret" in said:
        assert TOKEN in refused.value.hint


@pytest.mark.parametrize("tasks", [0, -1, True, 100_001])
def test_tasks_are_a_number(tasks: int) -> None:
    """At least one."""
    with pytest.raises(InvalidArgument, match="tasks must be a number"):
        SparkConnect(remote="local", tasks=tasks)


CONFIG = """
name = "people"
ledger = "people.ledger"
adjacency = "add_remove"
{engine}
[budget]
epsilon = 3
{spark}
[tables.people]
source = "people.parquet"
unit = "id"
limits = {{ rows = 2 }}
[tables.people.columns]
id = {{ kind = "integer" }}
"""


def test_a_configuration_says_where() -> None:
    """It is read, and written again."""
    text = CONFIG.format(engine='engine = "spark"', spark='[spark]\nremote = "sc://spark.example.org"\ntasks = 64')
    dataset = loads(text)
    assert dataset.cluster == SparkConnect(remote="sc://spark.example.org", tasks=64)
    assert loads(dumps(dataset)) == dataset
    without = loads(CONFIG.format(engine='engine = "spark"', spark='[spark]\nremote = "local"'))
    assert loads(dumps(without)) == without


@pytest.mark.parametrize(
    ("engine", "spark", "said"),
    [
        ('engine = "spark"', "", "the engine 'spark' asks a cluster"),
        ("", '[spark]\nremote = "local"', "the engine 'spark' asks a cluster"),
        ('engine = "spark"', "[spark]", "spark.remote is missing"),
        ('engine = "spark"', '[spark]\nremote = "sc://h/;token=x"', "spark.remote: a token is a secret"),
        ('engine = "spark"', '[spark]\nremote = "local"\ntasks = 0', "spark: tasks must be a number"),
        ('engine = "spark"', '[spark]\nremote = "local"\ntoken = "x"', "spark.token: there is no such key"),
    ],
)
def test_a_configuration_that_contradicts_itself_is_refused(engine: str, spark: str, said: str) -> None:
    """Under the name of the key."""
    with pytest.raises(ConfigError, match=said):
        loads(CONFIG.format(engine=engine, spark=spark))


class Session:
    """What a session of Spark has."""

    conf = None

    def range(self) -> None:
        """Rows."""


def test_a_session_stands_in_no_configuration() -> None:
    """It is of this process."""
    dataset = loads(CONFIG.format(engine='engine = "spark"', spark='[spark]\nremote = "local"'))
    with pytest.raises(ConfigError, match="can name a session"):
        dumps(dp.tables.Dataset(**{**_fields(dataset), "cluster": SparkConnect(session=Session())}))


def _fields(dataset: dp.tables.Dataset) -> dict[str, object]:
    return {name: getattr(dataset, name) for name in ("name", "tables", "budget", "ledger", "engine")}


@pytest.mark.parametrize("cluster", [7, object(), ["local"]])
def test_protect_takes_an_address_or_a_session(cluster: object, tmp_path: Path) -> None:
    """Nothing else says where."""
    with pytest.raises(InvalidArgument, match="cluster must be an address or a session"):
        dp.protect(
            pa.table({"id": [1]}),
            name="people",
            unit="id",
            budget=1,
            limits=dp.Limits(rows=1),
            ledger=tmp_path / "people.ledger",
            engine="spark",
            cluster=cluster,
        )
