"""Sail in this process, in a cluster's place; one for all tests."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.engine.spark.connection import Connection
from discreet.tables.schema.spark import SparkConnect

pytest.importorskip("pysail", reason="Sail isn't installed: pip install 'discreet[spark,sail]'")


@pytest.fixture
def cluster() -> Iterator[Connection]:
    """A connection that is ready."""
    connection = Connection(SparkConnect(remote="local"))
    connection.ready()
    yield connection
    connection.close()
