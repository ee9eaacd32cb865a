"""What tests of attacks share: DuckDB is started once for the many accounts that are attacked."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _sessions_are_kept(kept_sessions: None) -> None:
    """An attack sees answers, and nothing of sessions."""
