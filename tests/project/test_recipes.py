"""The recipes: each runs at its small scale, finds what it must, and prints what its page shows.

What noise decides is checked against intervals so wide that all of these tests together raise a false alarm with less
than 1e-9; what it decides in full, such as who is named by exact answers, is checked as it is.
"""

from __future__ import annotations

import importlib.util
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import chdir, closing, contextmanager
from fractions import Fraction
from math import exp, log
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pyarrow.compute as pc
import pytest
from typer.testing import CliRunner

import discreet as dp
from discreet.cli import app
from discreet.interfaces.http import make_app
from discreet.service import ReleaseTimes, Service, Settings
from support.pages import blocks
from support.project import DOCS, ROOT
from support.served import in_threads
from support.uvicorn_server import listening

pytestmark = pytest.mark.long

SURE = 1 - Fraction(1, 10**12)
"""The confidence of each interval that is checked; there are some hundred."""

FAR = 7.4
"""Standard errors of a normal law that one draw in 10^13 exceeds."""

NAMES = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))


def loaded(name: str) -> ModuleType:
    """A recipe's script as a module."""
    spec = importlib.util.spec_from_file_location(f"recipe_{name}", ROOT / "examples" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def shape(text: str) -> list[str]:
    """A report without what noise and scale decide: numbers, spaces, and whether a figure is certain enough."""
    masked = re.sub(r"[+−-]?\d[\d,.]*(e-\d+)?%?", "#", text)
    masked = re.sub(r"left out: \w+|# \(# to #\)", "…", masked)
    return [" ".join(line.split()) for line in masked.strip().splitlines()]


def page(name: str) -> Path:
    """The page of a recipe."""
    return DOCS / "recipes" / f"{name.replace('_', '-')}.md"


def shown(name: str) -> str:
    """The report that a recipe's page shows."""
    return next(block.text for block in blocks(page(name).read_text(encoding="utf-8")) if block.language == "text")


@pytest.fixture
def told(capsys: pytest.CaptureFixture[str]) -> Callable[[ModuleType], dict[str, Any]]:
    """Runs a recipe, compares what it prints with its page, and gives what it found."""

    def tell(recipe: ModuleType) -> dict[str, Any]:
        found: dict[str, Any] = recipe.tell("small")
        assert shape(capsys.readouterr().out) == shape(shown(recipe.__name__.removeprefix("recipe_")))
        return found

    return tell


def holds(answer: dp.Answer, name: str, truth: Any, slack: float = 0) -> bool:
    """Whether each interval of a column, widened, holds what the author knows."""
    ends = answer.interval(name, SURE)
    return all(low - slack <= each <= high + slack for each, (low, high) in zip(truth, ends, strict=True))


@contextmanager
def guard(folder: Path) -> Iterator[str]:
    """The server of the guard in this process, and as quick as tests are."""
    settings = Settings(times=ReleaseTimes(base=0.2, scan=0.2))
    with (
        in_threads(),
        closing(Service(folder / "discreet.toml", settings)) as service,
        listening(make_app(service)) as address,
    ):
        yield address


def command(folder: Path, *arguments: str) -> str:
    """A command of discreet in this process."""
    with chdir(folder):
        result = CliRunner().invoke(app, list(arguments), prog_name="discreet")
    assert result.exit_code == 0, result.output
    return result.stdout.strip()


def test_guard(told: Callable[[ModuleType], dict[str, Any]], monkeypatch: pytest.MonkeyPatch) -> None:
    """Averaging finds the count by noise without a guard; with one it gets one answer, or pays until it is refused."""
    recipe = loaded("guard")
    monkeypatch.setattr(recipe, "discreet", command)
    monkeypatch.setattr(recipe, "serving", guard)
    found = told(recipe)
    assert abs(found["answer"]["n"][0] - found["truth"]) <= 60  # 61 or more has less than 1e-12
    assert abs(found["without"].estimate - found["truth"]) <= 3  # of the median of 63, 4 or more has less than 1e-16
    assert len(found["values"]) == 1
    assert (len(found["fresh"]), found["refused"], found["spent"].epsilon) == (3, "budget_exhausted", 2)


def test_count_mean_sketch(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """Counts lie where they should; two weeks name an emoji, and a year of person-days is told to the day."""
    recipe = loaded("count_mean_sketch")
    found = told(recipe)
    for estimate in found["estimates"].values():
        apart = np.abs(estimate.values - found["counts"]) / estimate.errors
        assert apart[: recipe.FAVOURITES].max() < FAR
    assert found["named"][14] >= 0.8  # each is right with more than 99 %
    assert found["named"][1] <= 0.2  # with less than 1 %
    assert abs(found["by_day"][0] - recipe.YEAR) < 30  # noise of scale 1
    assert found["by_person"][1] > 60


def test_mobility(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """Counts lie where they should, small regions are left out, and a visit is hidden."""
    recipe = loaded("mobility")
    found = told(recipe)
    truth = [count for cell in found["cells"].values() for count in cell.truth]
    assert holds(found["answer"], "n", truth, slack=10)  # so many of a count may have been in more than four
    left_out = [cell.published(recipe.REGIONS[region]) for (region, _), cell in found["cells"].items()]
    assert left_out[-4:] == ["left out: area"] * 4
    assert found["right"]["exact"] == 1
    assert found["right"]["noisy"] < 0.9  # 96 guesses, right with 56.2 % at most: 90 % of them have less than 1e-11


def test_joins(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """Joins are answered within limits, one among strangers is refused, and a difference hides who makes it."""
    recipe = loaded("joins")
    found = told(recipe)
    for asked, answer in zip(found["asked"], found["answers"], strict=True):
        assert holds(answer, "n", [asked.kept])
        assert asked.kept <= asked.truth
    assert holds(found["but_one"], "n", [found["asked"][1].kept - 100])
    ((low, high),) = found["but_one"].interval("n")
    assert high - low > 540  # her pairs, which exact answers give away
    assert found["refused"] == "unsupported"


def test_elastic_sensitivity_is_smoothed() -> None:
    """It is the stability where that is constant or grows slowly; else e^(−βk)·(1 + k) peaks at k = 1/β − 1."""
    recipe = loaded("joins")
    noise = 2 * log(20)
    beta = 1 / (2 * log(2 / recipe.DELTA))
    assert recipe.elastic(lambda _: 60) == pytest.approx(60 * noise)
    assert recipe.elastic(lambda rows: 60 + rows) == pytest.approx(60 * noise)
    assert recipe.elastic(lambda rows: 1 + rows) == pytest.approx(exp(beta - 1) / beta * noise, rel=1e-3)


def test_counts_from_the_top_are_the_nearest_that_add_up() -> None:
    """Nothing that adds up is nearer: what is above zero moved by one number, and what is zero would move further."""
    recipe = loaded("census")
    counts, sums = np.array([[5.0, 1.0, -3.0], [2.0, 2.0, 2.0]]), np.array([4, 9])
    nearest = recipe.onto_simplex(counts, sums)
    assert nearest.tolist() == [[4, 0, 0], [3, 3, 3]]
    assert recipe.whole(np.array([[1.5, 1.25, 0.25]]), np.array([3])).tolist() == [[2, 1, 0]]


def test_audience(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """The largest are found, asking again is free, nobody's articles are shown, and a month ends."""
    recipe = loaded("audience")
    found = told(recipe)
    members, read = recipe.counted(found["table"]), recipe.counted(found["table"], industry="software")
    assert holds(found["industries"], "n", [members[each] for each in found["industries"]["industry"]])
    reads = found["table"].group_by("member").aggregate([("article", "count")])["article_count"]
    over = pc.sum(pc.greater(reads, recipe.MOST_READ)).as_py()  # whose articles don't all count
    assert holds(found["articles"], "n", [read[each] for each in found["articles"]["article"]], slack=over)
    assert found["again"].reused
    assert (found["alone"] > 0, found["private"], found["asked"]) == (True, 0, 3)  # another number has δ = 1e-9


def test_telemetry(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """Each day's mean lies where it should; a year of fresh bits tells a habit, one of kept bits no more than a day."""
    found = told(loaded("telemetry"))
    for truth, estimate in zip(found["truth"], found["estimates"], strict=True):
        assert abs(float(estimate.values) - truth) < FAR * float(estimate.errors)
    fresh, kept = found["right"][365]
    assert fresh == 1
    assert kept < found["bound"] + FAR * (found["bound"] * (1 - found["bound"]) / found["watched"]) ** 0.5
    assert found["seen"] > 0.5  # of 61 %


def test_census(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """Counts add up to the state, none is negative, blocks without homes are empty, and a race isn't given away."""
    found = told(loaded("census"))
    above = np.array(found["people"])
    for counts in found["published"].values():
        assert (counts.sum(axis=-1) == above).all()
        assert counts.min() >= 0
        above = counts
    assert found["zeros"][0] == found["zeros"][1] > 0
    for level in ("county", "tract"):
        assert holds(found["answers"][level], "n", found["truth"][level].ravel())
    assert found["right"]["exact tables"] == 1
    assert found["right"]["these tables"] < 1  # 60 guesses, each right with two thirds at most


def test_netflix(told: Callable[[ModuleType], dict[str, Any]]) -> None:
    """Nearly all are found in rows; answers say how films are liked, and no more of who is there than ε allows."""
    recipe = loaded("netflix")
    found = told(recipe)
    for result in found["found"].values():
        assert result.best_right >= 0.95 * found["targets"]
    films = [found["ratings"]["value"][found["ratings"]["item"] == film] for film in range(recipe.SHOWN)]
    assert holds(found["answer"], "n", [len(stars) for stars in films])
    assert holds(found["answer"], "stars", [stars.mean() for stars in films])
    assert found["knows"]["exact"].success == 1
    assert found["knows"]["noisy"].advantage <= dp.attacks.most_advantage("0.1")


@pytest.mark.parametrize("name", NAMES)
def test_each_has_a_page(name: str) -> None:
    """The page says by which command, how long it takes at full scale, and what the source is; the index has it."""
    text = page(name).read_text(encoding="utf-8")
    assert f"$ python examples/{name}.py\n" in text
    assert re.search(r"\d+ seconds on 2 cores", text)
    assert re.search(r"\b20\d\d\b", text)
    assert f"({page(name).name})" in (DOCS / "recipes" / "index.md").read_text(encoding="utf-8")


def test_another_report_is_noticed() -> None:
    """Other words and lines that are missing change the shape; other numbers don't."""
    report = "people  1,209 ± 6\ncost    ε = 0.5"
    assert shape(report) == shape("people  998 ± 12\ncost   ε = 1")
    assert shape(report) != shape("people  1,209\ncost    ε = 0.5")
    assert shape(report) != shape("people  1,209 ± 6")
