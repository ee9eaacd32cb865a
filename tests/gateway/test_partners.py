"""Partners: where each row is a unit of its own, no join has it twice, however public tables are joined before."""

from __future__ import annotations

from itertools import product
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import QueryError
from support.neighbours import engine_of, exact

pytestmark = pytest.mark.usefixtures("kept_sessions")

PUBLIC = {
    "p": {"k": [1, 2, 3], "g": [1, 1, 3]},
    "q": {"k": [1, 2, 3], "g": [1, 1, 1]},
    "many": {"g": [1, 1, 1, 2, 3]},
}
SIDES = [
    "SELECT p.k, p.g FROM p",
    "SELECT p.k, p.g FROM p JOIN many ON p.g = many.g",
    "SELECT p.k, p.g FROM many JOIN p ON p.k = many.g",
    "SELECT p.k, p.g FROM p LEFT JOIN many ON p.k = many.g",
    "SELECT p.k, p.g FROM many LEFT JOIN p ON p.k = many.g",
    "SELECT p.k, p.g FROM p SEMI JOIN many ON p.g = many.g",
    "SELECT p.k, q.g FROM p JOIN q ON p.k = q.k",
    "SELECT q.k, q.g FROM p JOIN q ON p.g = q.k",
    "SELECT p.k, q.g FROM p JOIN q ON p.g = q.k",
    "SELECT p.k, p.g FROM p, q, many WHERE p.k = q.k AND q.g = many.g",
    "SELECT p.k, p.g FROM p LEFT JOIN q ON q.k = q.g",
    "SELECT k, g FROM p UNION ALL SELECT k, g FROM p",
    "SELECT DISTINCT p.k, many.g FROM p JOIN many ON p.g = many.g",
    "SELECT p.k, MAX(many.g) AS g FROM p JOIN many ON p.g = many.g GROUP BY p.k",
    "SELECT g AS k, COUNT(*) AS g FROM p GROUP BY g",
]
"""Public relations; in some of them a column that is declared unique has a value several times."""

CONDITIONS = ["t.a = s.k", "s.k = s.g", "t.a = s.k AND s.k = s.g", "s.k = s.g AND t.a <= s.k", "t.a = s.g", "t.b = s.k"]
QUESTIONS = [
    f"SELECT COUNT(*) AS n FROM {source}"
    for side, on in product(SIDES, CONDITIONS)
    for source in (
        f"t JOIN ({side}) s ON {on}",
        f"t LEFT JOIN ({side}) s ON {on}",
        f"({side}) s JOIN t ON {on}",
        f"t, ({side}) s WHERE {on}",
    )
] + [
    "SELECT COUNT(*) AS n FROM p JOIN many ON p.g = many.g JOIN t ON t.a = p.k",
    "SELECT COUNT(*) AS n FROM p LEFT JOIN many ON p.g = many.g JOIN t ON t.a = p.k",
    "SELECT COUNT(*) AS n FROM many JOIN p ON p.g = many.g JOIN t ON t.a = p.k",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.a = p.k JOIN many ON p.g = many.g",
    "SELECT COUNT(*) AS n FROM t JOIN p ON t.a = p.k JOIN q ON p.g = q.k",
    "WITH s AS (SELECT * FROM p) SELECT COUNT(*) FROM t JOIN (SELECT x.k FROM s x JOIN s y ON x.g = y.g) z ON a = z.k",
]


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> dp.Protected:
    """One row that is a unit, and public tables."""
    public = [
        dp.table(pa.table(columns), name=name, public=True, unique=["k"] if "k" in columns else [])
        for name, columns in PUBLIC.items()
    ]
    private = dp.table(pa.table({"a": [1], "b": [1.0]}), name="t", unit=dp.Unit.row())
    ledger: Path = tmp_path_factory.mktemp("partners") / "ledger"
    return dp.protect([private, *public], name="partners", budget=dp.Budget(epsilon=1), ledger=ledger)


def test_no_row_is_counted_twice(opened: dp.Protected) -> None:
    """Of every question that is planned, one row makes one row at the most; some are planned, and some refused."""
    data = {"t": pa.table({"a": [1], "b": [1.0]})} | {name: pa.table(columns) for name, columns in PUBLIC.items()}
    planned = 0
    for question in QUESTIONS:
        try:
            plan = opened.plan(question, epsilon=1)
        except QueryError:
            continue
        planned += 1
        (level,), (noise,) = exact(engine_of(plan, data), plan), plan.levels[0].draft.noises
        assert all(each[noise.measure.name] * noise.step <= 1 for each in level.groups.values()), question
    assert 20 < planned < len(QUESTIONS) / 2


@pytest.mark.parametrize(
    "question",
    [
        "SELECT COUNT(*) AS n FROM t JOIN (SELECT p.k FROM p JOIN many ON p.g = many.g) s ON t.a = s.k",
        "SELECT COUNT(*) AS n FROM p JOIN many ON p.g = many.g JOIN t ON t.a = p.k",
        "SELECT COUNT(*) AS n FROM t LEFT JOIN p ON p.k = p.g",
    ],
)
def test_what_is_unique_in_a_table_may_not_be_in_a_join(question: str, opened: dp.Protected) -> None:
    """Nor is a condition on one side alone any word on how many of its rows belong to one of the other's."""
    with pytest.raises(QueryError, match="several partners"):
        opened.plan(question, epsilon=1)
