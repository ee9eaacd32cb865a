"""Post-processing: SELECTs on what another releases are post-processing, and say what HAVING and ORDER BY say."""

from __future__ import annotations

import pytest

from discreet.errors import QueryError
from discreet.query.ir import canonical
from discreet.query.sql import question
from discreet.query.sql.selects_above import MOST_DEPTH
from support.asked import TABLES

GROUPED = "SELECT sex, COUNT(*) AS n FROM people GROUP BY sex"
SAME = [
    (f"SELECT * FROM ({GROUPED})", GROUPED),
    (f"SELECT * FROM ({GROUPED}) AS t WHERE t.n > 100", f"{GROUPED} HAVING n > 100"),
    (f"SELECT sex, n FROM ({GROUPED} HAVING n > 5) WHERE n < 9", f"{GROUPED} HAVING n > 5 AND n < 9"),
    (f"SELECT * FROM ({GROUPED}) ORDER BY n DESC LIMIT 1 OFFSET 1", f"{GROUPED} ORDER BY n DESC LIMIT 1 OFFSET 1"),
    (f"SELECT * FROM ({GROUPED} ORDER BY n LIMIT 1)", f"{GROUPED} ORDER BY n LIMIT 1"),
    (f"SELECT n / 2 AS half FROM ({GROUPED})", "SELECT COUNT(*) / 2 AS half FROM people GROUP BY sex"),
    (f"SELECT t.sex AS s, -t.n AS n FROM ({GROUPED}) t", "SELECT sex AS s, -COUNT(*) AS n FROM people GROUP BY sex"),
    (f"SELECT a, b FROM ({GROUPED}) AS t(a, b)", "SELECT sex AS a, COUNT(*) AS b FROM people GROUP BY sex"),
    (f"WITH t AS ({GROUPED}) SELECT * FROM t WHERE n > 5", f"{GROUPED} HAVING n > 5"),
    ("WITH a AS (SELECT * FROM people), t AS (SELECT sex, COUNT(*) AS n FROM a GROUP BY 1) SELECT * FROM t", GROUPED),
    (f"SELECT * FROM (SELECT * FROM (SELECT * FROM ({GROUPED}) WHERE n > 1)) WHERE n > 2",
     f"{GROUPED} HAVING n > 1 AND n > 2"),
    (f"SELECT n * n AS m FROM ({GROUPED}) ORDER BY m",
     "SELECT COUNT(*) * COUNT(*) AS m FROM people GROUP BY sex ORDER BY m"),
    ("SELECT s / n AS mean FROM (SELECT SUM(age) AS s, COUNT(*) AS n FROM people)",
     "SELECT SUM(age) / COUNT(*) AS mean FROM people"),
    (f"SELECT DP_STDDEV(n) AS d FROM ({GROUPED})", "SELECT DP_STDDEV(COUNT(*)) AS d FROM people GROUP BY sex"),
    ("SELECT n FROM (SELECT COUNT(*) AS n FROM (SELECT * FROM people WHERE age > 3))",
     "SELECT COUNT(*) AS n FROM people WHERE age > 3"),
]  # fmt: skip


@pytest.mark.parametrize(("layered", "plain"), SAME)
def test_layers_mean_what_one_select_does(layered: str, plain: str) -> None:
    """The canonical text is the same, so the answer is."""
    assert canonical(question(layered, TABLES)) == canonical(question(plain, TABLES))


REFUSED = [
    f"SELECT nope FROM ({GROUPED})",
    f"SELECT u.n FROM ({GROUPED}) AS t",
    f"SELECT SUM(n) FROM ({GROUPED})",
    f"SELECT sex, COUNT(*) FROM ({GROUPED}) GROUP BY sex",
    f"SELECT DISTINCT n FROM ({GROUPED})",
    f"SELECT n, RANK() OVER (ORDER BY n) AS r FROM ({GROUPED})",
    f"SELECT * EXCLUDE (n) FROM ({GROUPED})",
    f"SELECT * FROM ({GROUPED} LIMIT 1) WHERE n > 5",
    f"SELECT * FROM ({GROUPED} LIMIT 1) LIMIT 1",
    f"SELECT * FROM ({GROUPED} LIMIT 1) ORDER BY n",
    f"SELECT a, b, c FROM ({GROUPED}) AS t(a, b, c)",
    f"SELECT * FROM ({GROUPED}) t, people",
    f"SELECT * FROM ({GROUPED}) WHERE n",
    f"SELECT * FROM ({GROUPED}) ORDER BY 7",
    f"SELECT * FROM ({GROUPED}) LIMIT 1.5",
    "SELECT age FROM (SELECT age FROM people)",
    "SELECT * FROM (SELECT * FROM people)",
    "SELECT person_id, n FROM (SELECT person_id, COUNT(*) AS n FROM visits GROUP BY person_id)",
]  # fmt: skip


@pytest.mark.parametrize("sql", REFUSED)
def test_refused(sql: str) -> None:
    """What would look at rows again, or at what was cut off, is refused."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES)
    assert caught.value.place is not None


def test_many_layers_are_refused_before_anything_is_spent() -> None:
    """Each SELECT may make expressions deeper; those that couldn't be worked out afterwards are refused."""
    sql = "SELECT COUNT(*) AS n FROM people"
    for _ in range(30):
        sql = f"SELECT {'-' * 1}(n + 1) AS n FROM ({sql}) AS t"
    taken = question(sql, TABLES)
    assert str(taken.outputs[0].expr).count("negate") == 30
    wide = "SELECT COUNT(*) AS n FROM people"
    for _ in range(30):
        wide = f"SELECT {'n' + ' + 1' * 4} AS n FROM ({wide}) AS t"
    assert MOST_DEPTH < 30 * 4
    with pytest.raises(QueryError):
        question(wide, TABLES)
    doubled = "SELECT COUNT(*) AS n FROM people"
    for _ in range(30):
        doubled = f"SELECT n + n AS n FROM ({doubled}) AS t"
    with pytest.raises(QueryError):
        question(doubled, TABLES)
