"""What tests of attacks share: DuckDB is started once for all that they ask."""

from __future__ import annotations

from typing import Any

import duckdb
import pytest

IN_MEMORY = {"enable_external_access": "false", "threads": "1"}


@pytest.fixture(scope="session")
def exact_instance() -> duckdb.DuckDBPyConnection:
    """One instance for everybody who is asked exactly."""
    return duckdb.connect(config=IN_MEMORY)


@pytest.fixture(autouse=True)
def _sessions_are_kept(kept_sessions: None) -> None:
    """An attack sees answers, and nothing of sessions."""


@pytest.fixture(autouse=True)
def _exact_answers_are_of_one_instance(
    exact_instance: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their tables are temporary, so that each connection has its own."""
    started = duckdb.connect

    def connect(database: str = ":memory:", **settings: Any) -> duckdb.DuckDBPyConnection:
        """Another connection to that instance, where one like it would be started."""
        alike = (database, settings) == (":memory:", {"config": IN_MEMORY})
        return exact_instance.cursor() if alike else started(database, **settings)

    monkeypatch.setattr(duckdb, "connect", connect)
