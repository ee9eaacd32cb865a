"""Canaries: marked values in the data never occur in anything an analyst sees, whatever they ask."""

from __future__ import annotations

import json
import logging
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp

pytestmark = pytest.mark.usefixtures("kept_sessions")

CANARY = "CANARY-7f3a"
NUMBER = 918_273_645_546_372_819
"""So long that no hash, and no noise, has these digits by chance."""

DELTA = "1e-15"
"""At which a group of one is released; of the hundreds that are asked for, none is by chance."""

QUESTIONS = [
    "SELECT COUNT(*) AS n FROM t",
    "SELECT name, COUNT(*) AS n FROM t GROUP BY name",
    "SELECT COUNT(*) AS n FROM t WHERE CAST(name AS INTEGER) > 0",
    "SELECT SUM(CAST(name AS INTEGER)) AS n FROM t",
    "SELECT SUM(1 / x) AS n FROM t",
    "SELECT name FROM t",
    "SELECT * FROM t",
    "SELECT SUM(x) AS n FROM t",
    "SELECT x, COUNT(*) AS n FROM t GROUP BY x",
    "SELECT CAST(name AS DATE) AS d, COUNT(*) AS n FROM t GROUP BY d",
    "SELECT COUNT(*) AS n FROM t WHERE nmae = 'x'",
    "SELECT COUNT(*) AS n FROM t WHERE name = 5",
    "SELECT MAX(name) AS n FROM t",
    "SELEC",
]


def _table(tmp_path: Path, kind: str) -> object:
    """A table with marked values, in each form a custodian may have it."""
    names = [CANARY, *(f"{CANARY}-{number}" for number in range(20)), "x"]
    table = pa.table({"name": names, "x": [NUMBER] * 21 + [0]})
    if kind == "arrow":
        return table
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    path = tmp_path / f"t.{kind}"
    (pc.write_csv if kind == "csv" else pq.write_table)(table, path)
    return path


@pytest.mark.parametrize("kind", ["arrow", "csv", "parquet"])
def test_no_value_of_a_row_gets_out(kind: str, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Answers, errors with all that hangs on them, logs at DEBUG, certificates, the history, and the ledger's bytes."""
    caplog.set_level(logging.DEBUG)
    seen: list[str] = []
    with dp.protect(
        _table(tmp_path, kind),
        name="t",
        unit=dp.Unit.row(),
        columns={"x": dp.Bounds(0, 10)},
        budget=dp.Budget(epsilon=1000, delta=1e-3),
        ledger=tmp_path / "l",
    ) as t:
        for question in QUESTIONS:
            try:
                answer = t.ask(question, epsilon=1, delta=DELTA)
            except dp.DiscreetError as error:
                seen += [repr(error), json.dumps(error.to_dict()), repr(error.__cause__), repr(error.__context__)]
            else:
                seen += [str(answer), repr(answer), json.dumps(dict(answer.certificate))]
        seen += [repr(entry) for entry in t.history()]
        seen += [repr(t), repr(t.verify())]
    seen += [record.getMessage() for record in caplog.records]
    seen += [
        path.read_bytes().decode("latin-1")
        for path in tmp_path.rglob("*")
        if path.is_file() and path.suffix not in {".csv", ".parquet"}
    ]
    text = "\n".join(seen)
    assert len(seen) > len(QUESTIONS)
    assert CANARY not in text
    assert str(NUMBER) not in text


LINKED = [
    "SELECT name, COUNT(*) AS n FROM people JOIN visits ON people.id = visits.person GROUP BY name",
    "SELECT note, COUNT(*) AS n FROM visits GROUP BY ROLLUP (note)",
    "SELECT COUNT(*) AS n FROM visits a JOIN visits b USING (person) WHERE a.note < b.note",
    "SELECT COUNT(*) AS n FROM people WHERE id IN (SELECT person FROM visits WHERE CAST(note AS DATE) > '2020-01-01')",
    "SELECT COUNT(*) AS n FROM people p WHERE NOT EXISTS (SELECT 1 FROM visits v WHERE v.person = p.id AND note > '')",
    "SELECT COUNT(*) AS n FROM (SELECT person, MAX(note) AS m FROM visits GROUP BY person) WHERE m > 'a'",
    "SELECT m, COUNT(*) AS n FROM (SELECT person, MIN(note) AS m FROM visits GROUP BY person) GROUP BY m",
    "SELECT l, COUNT(*) FROM (SELECT LAG(note) OVER (PARTITION BY person ORDER BY note) AS l FROM visits) GROUP BY l",
    "SELECT COUNT(DISTINCT note) AS n, COUNT(DISTINCT LENGTH(note)) AS m FROM visits",
    "SELECT SUM(x) AS s FROM (SELECT CAST(note AS INTEGER) AS x FROM visits UNION ALL SELECT x FROM people)",
    "SELECT COUNT(*) AS n FROM (SELECT DISTINCT person, note FROM visits)",
    "WITH w AS (SELECT person, note || note AS t FROM visits) SELECT COUNT(*) AS n FROM w JOIN w v USING (person, t)",
    "SELECT MODE(note) AS m FROM visits",
    "SELECT MAX(note) AS m FROM visits",
    "SELECT kind, COUNT(*) AS n FROM visits JOIN kinds ON visits.note = kinds.kind GROUP BY kind",
    "SELECT COUNT(*) AS n FROM people JOIN visits ON people.name = visits.note",
    "SELECT COUNT(*) AS n FROM (SELECT note, COUNT(*) FROM visits GROUP BY note)",
    "EXPLAIN SELECT name, COUNT(*) AS n FROM people GROUP BY name",
]


def test_no_value_of_linked_rows_gets_out(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Nor through joins, subqueries, windows and grouping sets, in which errors have more to quote."""
    caplog.set_level(logging.DEBUG)
    names = [f"{CANARY}-{number}" for number in range(40)]  # what one person alone holds is never a group's key
    people = pa.table({"id": range(20), "name": names[:20], "x": [NUMBER] * 20})
    visits = pa.table({"person": [*range(20), *range(20)], "note": names})
    seen: list[str] = []
    with dp.protect(
        [
            dp.table(
                people, name="people", unit=dp.Unit("id"), limits=dp.Limits(rows=1), columns={"x": dp.Bounds(0, 9)}
            ),
            dp.table(visits, name="visits", links={"person": "people.id"}, limits=dp.Limits(rows=2)),
            dp.table(pa.table({"kind": ["a", "b"]}), name="kinds", public=True, columns={"kind": dp.Keys(["a"])}),
        ],
        name="t",
        budget=dp.Budget(epsilon=1000, delta=1e-3),
        ledger=tmp_path / "l",
    ) as t:
        answered = 0
        for question in LINKED:
            for limits in (None, "auto"):
                try:
                    answer = t.ask(question, epsilon=1, delta=DELTA, limits=limits)  # type: ignore[call-overload]  # one of both
                    answered += 1
                except dp.DiscreetError as error:
                    seen += [repr(error), json.dumps(error.to_dict()), repr(error.__cause__), repr(error.__context__)]
                else:
                    seen += [str(answer), repr(answer), json.dumps(dict(getattr(answer, "certificate", {})))]
        seen += [repr(entry) for entry in t.history()]
    seen += [record.getMessage() for record in caplog.records]
    seen += [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert answered >= 20
    assert CANARY not in "\n".join(seen)
    assert str(NUMBER) not in "\n".join(seen)
