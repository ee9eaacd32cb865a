"""Groups that come from a public table are public: all are shown, for no δ, and no private row decides which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa
import pytest

import discreet as dp
from discreet.errors import DeltaRequired, InvalidArgument
from discreet.query.ir import MOST_VALUES
from discreet.results import contradictions
from support.crossed import crossed

pytestmark = pytest.mark.usefixtures("kept_sessions")

Make: TypeAlias = Callable[..., dp.Protected]

VISITS = {"person": [1, 1, 2, 3, 4], "genre_id": [1, 2, 2, 9, None], "color": ["red", "red", "green", "red", "green"]}
NOBODY = {"person": [1], "genre_id": [None], "color": [None]}
GENRES = {"id": [1, 2, 3, 4], "name": ["Rock", "Jazz", "Rock", None], "decade": [1960, 1920, 1990, 1930]}
GENRES["share"] = [0.5, 2.5, 0.25, -1.5]
BARE = {"id": [1, 2, 3], "name": ["Rock", "Jazz", "Folk"], "decade": [1960, 1920, 1950]}
JOINED = "FROM visits AS v JOIN genre AS g ON v.genre_id = g.id"


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    """Put visits and genres behind an account of its own; genres that are a file have texts but for their id."""
    made: list[dp.Protected] = []

    def protect(visits: dict[str, Any] = VISITS, genres: dict[str, Any] | Path = GENRES) -> dp.Protected:
        types, columns = [("person", pa.int64()), ("genre_id", pa.int64()), ("color", pa.string())], {}
        if isinstance(genres, Path):
            texts = genres.read_text().partition("\n")[0].split(",")[1:]
            columns = {name: dp.Column(kind=dp.Kind.TEXT) for name in texts} | {"id": dp.Column(kind=dp.Kind.INTEGER)}
        source = genres if isinstance(genres, Path) else pa.table(genres)
        made.append(
            dp.protect(
                [
                    dp.table(
                        pa.table(visits, schema=pa.schema(types)),
                        name="visits",
                        unit=dp.Unit("person"),
                        limits=dp.Limits(rows=2),
                        columns={"color": dp.Keys(["red", "green"])},
                    ),
                    dp.table(source, name="genre", public=True, unique=["id"], columns=columns),
                ],
                name=f"shop{len(made)}",
                budget=dp.Budget(epsilon=100, delta=1e-3),
                ledger=tmp_path / "shop.ledger",
            )
        )
        return made[-1]

    yield protect
    for each in made:
        each.close()


GROUPS: dict[str, list[tuple[Any, ...]]] = {
    f"SELECT g.name, COUNT(*) AS n {JOINED} GROUP BY g.name": [("Jazz",), ("Rock",), (None,)],
    f"SELECT g.name, COUNT(*) AS n {JOINED.replace('JOIN', 'LEFT JOIN')} GROUP BY g.name": [
        ("Jazz",),
        ("Rock",),
        (None,),
    ],
    f"SELECT g.name, g.decade, COUNT(*) AS n {JOINED} GROUP BY g.name, g.decade": [
        ("Jazz", 1920),
        ("Rock", 1960),
        ("Rock", 1990),
        (None, 1930),
    ],
    f"SELECT g.decade, v.color, g.name, COUNT(*) AS n {JOINED} WHERE g.decade > 1950 GROUP BY ALL": [
        (1960, "red", "Rock"),
        (1960, "green", "Rock"),
        (1990, "red", "Rock"),
        (1990, "green", "Rock"),
    ],
    f"SELECT g.name, g.decade, COUNT(*) AS n {JOINED.replace('JOIN', 'LEFT JOIN')} AND g.decade < 1940 GROUP BY ALL": [
        ("Jazz", 1920),
        (None, 1930),
        (None, None),
    ],
    f"SELECT UPPER(g.name) AS u, g.decade > 1950 AS late, COUNT(*) AS n {JOINED} GROUP BY ROLLUP (u, late)": [
        ("JAZZ", False),
        ("ROCK", True),
        (None, False),
        ("JAZZ", None),
        ("ROCK", None),
        (None, None),
        (None, None),
    ],
    f"SELECT g.name, COUNT(*) AS n {JOINED} WHERE g.name IS NOT NULL GROUP BY g.name": [("Jazz",), ("Rock",)],
    f"SELECT g.name, COUNT(*) AS n {JOINED} WHERE g.decade = 1960 GROUP BY g.name": [("Rock",)],
    f"SELECT CAST(FLOOR(g.share) AS INTEGER) AS s, COUNT(*) AS n {JOINED} WHERE g.share > 0 GROUP BY s": [(0,), (2,)],
    f"SELECT g.name, COUNT(*) AS n {JOINED} WHERE g.decade < 1935 GROUP BY g.name": [("Jazz",), (None,)],
    f"SELECT g.name, COUNT(*) AS n {JOINED.replace('JOIN', 'LEFT JOIN')} WHERE g.decade = 1960 GROUP BY g.name": [
        ("Rock",)
    ],
    f"SELECT g.name, COUNT(*) AS n {JOINED.replace('JOIN', 'LEFT JOIN')} AND g.decade = 1960 GROUP BY g.name": [
        ("Rock",),
        (None,),
    ],
    f"SELECT UPPER(g.name) || '!' AS u, COUNT(*) AS n {JOINED} AND g.decade <> 1920 GROUP BY u": [("ROCK!",), (None,)],
    f"SELECT g.name, COUNT(*) AS n {JOINED} WHERE g.decade = 1960 OR color = 'red' GROUP BY g.name": [
        ("Jazz",),
        ("Rock",),
        (None,),
    ],
    "SELECT v.genre_id, COUNT(*) AS n FROM visits AS v JOIN genre AS g ON v.genre_id = g.id GROUP BY v.genre_id": [
        (1,),
        (2,),
        (3,),
        (4,),
    ],
    "SELECT o.name, COUNT(*) AS n FROM visits AS v JOIN (SELECT id AS key, name FROM genre WHERE decade = 1920) AS o "
    "ON v.genre_id = o.key GROUP BY o.name": [("Jazz",)],
    "WITH x AS (SELECT id, name, decade FROM genre) SELECT x.name, COUNT(*) AS n FROM visits AS v JOIN x ON "
    "v.genre_id = x.id JOIN x AS y ON v.genre_id = y.id WHERE y.decade = 1960 GROUP BY x.name": [
        ("Jazz",),
        ("Rock",),
        (None,),
    ],
    f"SELECT UPPER(g.name) AS u, COUNT(*) AS n {JOINED} GROUP BY u": [("JAZZ",), ("ROCK",), (None,)],
    f"SELECT g.decade // 100 AS century, COUNT(*) AS n {JOINED} GROUP BY century": [(19,)],
    f"SELECT g.decade, COUNT(*) AS n {JOINED} WHERE g.decade > 1920 GROUP BY g.decade": [(1930,), (1960,), (1990,)],
    f"SELECT color, g.decade < 1950 AS old, COUNT(*) AS n {JOINED} GROUP BY color, old": [
        ("red", False),
        ("red", True),
        ("green", False),
        ("green", True),
    ],
    f"SELECT name, COUNT(*) AS n FROM (SELECT v.person, g.name {JOINED}) GROUP BY name": [
        ("Jazz",),
        ("Rock",),
        (None,),
    ],
    "WITH old AS (SELECT id, name FROM genre WHERE name <> 'Jazz') SELECT old.name, COUNT(*) AS n FROM visits AS v "
    "JOIN old ON v.genre_id = old.id GROUP BY old.name": [("Rock",)],
    "SELECT a.name, b.decade, COUNT(*) AS n FROM visits AS v JOIN genre AS a ON v.genre_id = a.id JOIN genre AS b "
    "ON v.genre_id = b.id WHERE a.name = 'Rock' AND b.decade < 1950 GROUP BY a.name, b.decade": [
        ("Rock", 1920),
        ("Rock", 1930),
    ],
}


FIRST = next(iter(GROUPS))


@pytest.mark.parametrize(("question", "of"), crossed(list(GROUPS), [VISITS, NOBODY]))
def test_groups_are_those_of_the_public_table(make: Make, question: str, of: dict[str, Any]) -> None:
    """All of them are shown, without a δ; of nobody's visits, the same."""
    answer = make(of).ask(question, epsilon=1)
    assert [tuple(row.values())[:-1] for row in answer.rows()] == GROUPS[question]
    assert (answer.cost.epsilon, answer.cost.delta) == (1, 0)


@pytest.mark.usefixtures("noiseless")
def test_their_numbers_are_those_of_plain_sql(make: Make) -> None:
    """Genres that several ids have are one group; NULL is that of a genre without a name, or of none at all."""
    inner, left = list(GROUPS)[:2]
    assert make().ask(inner, epsilon=1)["n"] == [2, 1, 0]
    assert make().ask(left, epsilon=1)["n"] == [2, 1, 2]
    assert make(genres=BARE).ask(inner, epsilon=1)["name"] == ["Folk", "Jazz", "Rock"]
    assert make(genres=BARE).ask(left, epsilon=1).rows()[-1] == {"name": None, "n": 2}


def test_what_a_public_table_holds_is_no_secret(make: Make) -> None:
    """It answers by itself, where nothing else is asked; so does what it can't join."""
    shop = make()
    names = shop.ask(f"SELECT DISTINCT g.name {JOINED}", epsilon=1)
    assert (names["name"], names.entry) == (["Jazz", "Rock", None], 0)
    pairs = shop.ask(f"SELECT DISTINCT g.name, g.decade {JOINED}", epsilon=1)
    assert [tuple(row.values()) for row in pairs.rows()] == [
        ("Jazz", 1920),
        ("Rock", 1960),
        ("Rock", 1990),
        (None, 1930),
    ]
    missed = shop.ask(f"SELECT COUNT(*) AS n {JOINED} WHERE g.name = 'Rok'", epsilon=1)
    assert (missed["n"], missed.entry, shop.spent.epsilon) == ([0], 0, 0)
    assert missed.warnings[1] == "name is never 'Rok': name is one of 'Jazz', 'Rock'; did you mean 'Rock'?"
    assert contradictions(missed) == []
    assert shop.plan(f"SELECT MODE(g.name) AS m {JOINED}", epsilon=1).cost.epsilon == 1


def test_a_plan_is_of_what_the_table_held(make: Make) -> None:
    """A genre that is new makes another question of it: the old plan isn't carried out, and an answer isn't reused."""
    names = GENRES["name"].copy()
    shop = make(genres={**GENRES, "name": names})
    question = FIRST
    plan = shop.plan(question, epsilon=1)
    first = shop.ask(plan)
    assert shop.ask(question, epsilon=1).reused
    shop.refresh()
    assert shop.plan(question, epsilon=1).digest == plan.digest == shop.plan(question, epsilon=1).digest
    held = shop.dataset.tables[1]
    other = make(genres=BARE)
    assert other.plan(question, epsilon=1).digest != plan.digest
    with pytest.raises(InvalidArgument, match="made for other tables"):
        other.ask(plan)
    assert shop.ask(question, epsilon=1, version=first.certificate["data_version"]).rows() == first.rows()
    assert held.column("name").values is None  # it is found, never declared


def test_an_answer_from_before_the_public_table_changed_is_refused_with_that_reason(make: Make, tmp_path: Path) -> None:
    """The groups of then can't be planned now; what is read of no public table is found as ever."""
    genres = tmp_path / "genre.csv"
    genres.write_text("id,name\n1,Rock\n2,Jazz\n")
    shop = make(genres=genres)
    plain = shop.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1)
    shop.ask(FIRST, epsilon=1)
    genres.write_text("id,name\n1,Rock\n2,Jazz\n3,Folk\n")
    shop.refresh()
    with pytest.raises(
        InvalidArgument,
        match="public table 'genre', and if that table has changed since, the question",
    ):
        shop.ask(FIRST, epsilon=1, version=1)
    with pytest.raises(InvalidArgument, match="no answer to this question, at this cost"):
        shop.ask("SELECT COUNT(*) AS n FROM visits", epsilon=2, version=1)
    assert shop.ask("SELECT COUNT(*) AS n FROM visits", epsilon=1, version=1).rows() == plain.rows()


def test_a_list_that_is_too_long_is_said_to_be(make: Make) -> None:
    """Such a column is no key by itself; with a δ, its groups are selected as those of any other."""
    many = range(MOST_VALUES + 1)
    shop = make(
        genres={"id": list(many), "name": [f"genre {n}" for n in many], "decade": [1900 + n % 10 for n in many]}
    )
    question = FIRST
    with pytest.raises(DeltaRequired, match="name of genre has more than 10,000 of them"):
        shop.plan(question, epsilon=1)
    assert shop.plan(question, epsilon=1, delta=1e-6).cost.delta > 0
    assert str(shop.plan(question.replace("g.name", "g.decade"), epsilon=1).cost) == "ε = 1"


def test_plans_are_made_after_the_end_too(make: Make) -> None:
    """Then of what was declared alone."""
    shop = make()
    shop.close()
    with pytest.raises(DeltaRequired):
        shop.plan(FIRST, epsilon=1)
    assert shop.plan("SELECT COUNT(*) AS n FROM visits", epsilon=1).cost.epsilon == 1


def test_what_a_plan_says_of_itself_is_not_taken_at_its_word(make: Make) -> None:
    """A plan that was made last, with the cost of another one written into it, is refused; nothing is spent."""
    shop = make()
    cheap = shop.plan(FIRST, epsilon="0.001").event
    plan = shop.plan(FIRST, epsilon=1)
    vars(plan)["event"] = cheap
    vars(plan).pop("digest", None)
    with pytest.raises(InvalidArgument, match="made for other tables"):
        shop.ask(plan)
    assert shop.spent.epsilon is None or shop.spent.epsilon == 0


def test_groups_that_add_up_do_so_without_those_that_cannot_be(make: Make) -> None:
    """Decades of a genre are its own, and their numbers make up that of the genre."""
    shop = make()
    question = f"SELECT g.name, g.decade, COUNT(*) AS n {JOINED} WHERE g.id < 4 GROUP BY ROLLUP (g.name, g.decade)"
    rows = shop.ask(question, epsilon="0.1", consistent=True).rows()
    assert sorted(str(row["decade"]) for row in rows) == ["1920", "1960", "1990", "None", "None", "None"]
    totals = {row["name"]: row["n"] for row in rows if row["decade"] is None}
    for name in ("Rock", "Jazz"):
        assert sum(row["n"] for row in rows if row["name"] == name and row["decade"] is not None) == totals[name]
    assert totals["Rock"] + totals["Jazz"] == totals[None]


def test_other_combinations_of_the_same_values_are_another_question(make: Make, tmp_path: Path) -> None:
    """An answer of before is not shown in the combinations of now."""
    genres = tmp_path / "genre.csv"
    genres.write_text("id,name,style\n1,Rock,loud\n2,Jazz,soft\n")
    shop, question = make(genres=genres), f"SELECT name, style, COUNT(*) AS n {JOINED} GROUP BY name, style"
    before = {(row["name"], row["style"]) for row in shop.ask(question, epsilon=1).rows()}
    assert before == {("Rock", "loud"), ("Jazz", "soft")}
    genres.write_text("id,name,style\n1,Rock,soft\n2,Jazz,loud\n")
    shop.refresh()
    with pytest.raises(InvalidArgument, match="public table 'genre'"):
        shop.ask(question, epsilon=1, version=1)
    after = {(row["name"], row["style"]) for row in shop.ask(question, epsilon=1).rows()}
    assert after == {("Rock", "soft"), ("Jazz", "loud")}


def test_what_is_computed_within_a_left_join_is_null_without_a_partner(make: Make) -> None:
    """Whatever it makes of NULL itself: rows without a partner are in the group of NULL, and not in another."""
    shop = make({"person": [*range(900)], "genre_id": [1, 99, 99] * 300, "color": [None] * 900})
    inner = "LEFT JOIN (SELECT id, COALESCE(name, 'none') AS r FROM genre) AS q ON v.genre_id = q.id"
    rows = shop.ask(f"SELECT q.r, COUNT(*) AS n FROM visits AS v {inner} GROUP BY q.r", epsilon=50, delta=1e-6).rows()
    found = {row["r"]: row["n"] for row in rows}
    assert abs(found[None] - 600) < 50
    assert abs(found["Rock"] - 300) < 50
    assert abs(found.get("none", 0)) < 50
