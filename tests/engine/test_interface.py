"""An exact result shows nothing of itself, whatever is done to it."""

from __future__ import annotations

import copy
import dataclasses
import json
import pickle
import pprint
from collections.abc import Callable

import pytest

from discreet.engine import ExactResult, open_engine
from discreet.errors import EngineUnavailable
from discreet.tables.admission import Snapshot

CANARY = 716_253_449


def result() -> ExactResult:
    """A result with marked values in each of its parts."""
    return ExactResult(keys=[(f"k{CANARY}",)], measures={"n": [CANARY]})


@pytest.mark.parametrize("show", [repr, str, format, pprint.pformat, lambda each: f"{each!s:>40}"])
def test_its_texts_hold_no_value(show: Callable[[object], str]) -> None:
    """No way of writing it shows what is in it."""
    assert str(CANARY) not in show(result())
    assert "private" in show(result())


@pytest.mark.parametrize("take", [pickle.dumps, copy.copy, copy.deepcopy, json.dumps, dataclasses.asdict, vars, iter])
def test_it_refuses_to_be_taken_apart(take: Callable[[object], object]) -> None:
    """It can't be pickled, copied, serialised, or turned into a dictionary, and the refusal is silent on values."""
    with pytest.raises(TypeError) as refusal:
        take(result())
    assert str(CANARY) not in str(refusal.value)


def test_it_cannot_be_changed() -> None:
    """No part of it can be replaced, added or removed."""
    held = result()
    with pytest.raises(TypeError):
        held.keys = []
    with pytest.raises(TypeError):
        held.more = 1  # type: ignore[attr-defined]  # that it isn't there is the point
    with pytest.raises(TypeError):
        del held.measures


def test_its_parts_can_be_read_by_name() -> None:
    """A mechanism gets what it asks for."""
    held = result()
    assert (held.keys, held.measures["n"]) == ([(f"k{CANARY}",)], [CANARY])


def test_an_engine_that_is_not_installed_is_named() -> None:
    """One for which no entry point is found."""
    with pytest.raises(EngineUnavailable, match="oracle"):
        open_engine(Snapshot(tables={}), "oracle")
