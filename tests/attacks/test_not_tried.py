"""What isn't tried says so: in words, in figures, in JSON and in pictures; it is neither a success nor a failure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from discreet.attacks import AttackResult
from discreet.attacks.attack_result import Comparison
from discreet.attacks.named_attacks import NAMED, attack, compare
from discreet.census import synthetic
from discreet.cli.attack.figure import draw
from discreet.errors import InvalidArgument

TERMS: dict[str, Any] = {"on": ["dob", "zip"], "sensitive": "education", "value": "income", "people": 6, "trials": 2}
POOR: dict[str, Any] = {"epsilon": 2, "budget": 1}
"""An offer that no account can pay."""


@pytest.mark.parametrize("name", [each.name for each in NAMED.values() if "answers" in each.against])
def test_what_no_budget_lasts_for_is_not_tried(name: str) -> None:
    """Not one question is answered, so there is no success, no baseline and no guess, and the report says why."""
    table = None if name == "sparse" else synthetic(60)
    found = attack(name, table, against="answers", **TERMS, **POOR)
    assert (found.tried, found.success, found.baseline, found.guesses) == (0, None, None, ())
    assert found.not_tried
    assert found.gain is found.interval is None
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert (said["success"], said["baseline"], said["not_tried"]) == (None, None, found.not_tried)
    assert f"right     not tried: {found.not_tried}" in str(found)


def untried() -> AttackResult:
    """Of an attack that wasn't tried."""
    return AttackResult(
        attack="linkage",
        against="answers",
        tried=0,
        success=None,
        baseline=None,
        baseline_is="",
        guesses=(),
        not_tried="the budget doesn't last for one person",
    )


def test_the_others_are_shown_beside_it() -> None:
    """A table has "not tried" in the cells, and what was tried on a sample with its interval."""
    found = compare("linkage", synthetic(60), **{**TERMS, **POOR})
    assert [row["success"] is None for row in found.rows()] == [False, False, False, True]
    assert found.rows()[3]["not_tried"] == found.results[3].not_tried
    assert str(found).splitlines()[-1].split() == [
        "the",
        "gateway,",
        "with",
        "a",
        "budget",
        "0",
        "not",
        "tried",
        "not",
        "tried",
    ]
    drawn = AttackResult(
        attack="linkage", against="raw rows", tried=100, success=0.05, baseline=0.3, baseline_is="x", guesses=(),
        drawn_from=1_000,
    )  # fmt: skip
    assert "5 % (1.643 % to 11.28 %)" in str(Comparison(attack="linkage", results=(drawn,)))
    assert drawn.to_dict()["interval"] == list(drawn.interval or ())


def test_a_figure_leaves_it_out(tmp_path: Path) -> None:
    """And there is none of nothing but such."""
    tried = AttackResult(
        attack="linkage", against="raw rows", tried=9, success=1, baseline=0.3, baseline_is="x", guesses=()
    )
    assert draw([tried, untried()], tmp_path / "one.svg") == draw([tried], tmp_path / "other.svg")
    assert "answers" not in (tmp_path / "one.svg").read_text(encoding="utf-8")
    with pytest.raises(InvalidArgument, match="nothing was tried"):
        draw([untried()], tmp_path / "none.svg")


@pytest.mark.parametrize(
    "wrong",
    [
        {"not_tried": None},
        {"tried": 1},
        {"success": 0.0},
        {"baseline": 0.5},
    ],
)
def test_a_figure_of_what_was_not_tried_is_refused(wrong: dict[str, Any]) -> None:
    """No success of nobody, and no reason where somebody was tried."""
    said: dict[str, Any] = {
        "attack": "linkage", "against": "answers", "tried": 0, "success": None, "baseline": None, "baseline_is": "",
        "guesses": (), "not_tried": "there was nobody",
    }  # fmt: skip
    with pytest.raises(InvalidArgument):
        AttackResult(**{**said, **wrong})
