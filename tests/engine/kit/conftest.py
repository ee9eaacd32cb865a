"""The conformance kit: what holds for any engine. A new engine is a line here; every test of this folder tries it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import pytest

from support.engines import EMBEDDED, SPARK, Tried, trying

ENGINES: Mapping[str, Tried] = {"duckdb": EMBEDDED, "spark": SPARK}

ON_A_CLUSTER = pytest.param("spark", marks=pytest.mark.soak)
"""A question takes a tenth of a second there. What `make test` tries of it is in `tests/engine/spark`."""


@pytest.fixture(autouse=True, scope="module", params=["duckdb", ON_A_CLUSTER])
def engine_tried(request: pytest.FixtureRequest) -> Iterator[Tried]:
    """The engine that `support.engines` opens, and all that stands on it."""
    with trying(ENGINES[request.param]):
        yield ENGINES[request.param]
