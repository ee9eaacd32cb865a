"""Every entry of a configuration, lost or replaced one at a time: an error by name, or stricter; never silence."""

from __future__ import annotations

from copy import deepcopy
from datetime import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from discreet.errors import ConfigError
from discreet.privacy import Unit
from discreet.tables import Dataset, loads
from discreet.tables.schema.config import decode
from discreet.tables.schema.toml import parse

FULL = Path(__file__).with_name("clinic.toml").read_text(encoding="utf-8")

Place = tuple[str | int, ...]


DOCUMENT = parse(FULL.encode())


def document() -> dict[str, Any]:
    """The full configuration as data, to be mutated."""
    return deepcopy(DOCUMENT)


def paths(node: Any, path: Place = ()) -> list[Place]:
    """Every entry of the configuration, those inside of others too."""
    entries = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    return [found for name, entry in entries for found in ((*path, name), *paths(entry, (*path, name)))]


def parent_of(root: dict[str, Any], path: Place) -> Any:
    """The table or array that holds an entry."""
    node: Any = root
    for name in path[:-1]:
        node = node[name]
    return node


def refused(mutant: dict[str, Any]) -> ConfigError:
    """The error that a configuration causes."""
    with pytest.raises(ConfigError) as caught:
        decode(mutant)
    return caught.value


def full_name(path: Place) -> str:
    """The name of an entry as it stands in a message."""
    words = [f"[{name}]" if isinstance(name, int) else f'."{name}"' if " " in name else f".{name}" for name in path]
    return "".join(words).removeprefix(".")


ENTRIES = paths(document())
WRONG = [True, 7, Decimal("1.5"), "", "x", [], [[]], {}, {"x": 1}, time(12), 10**500, None]


def assert_no_looser(new: Dataset, old: Dataset) -> None:
    """Everything that the new dataset allows was allowed by the old one."""
    assert (new.name, new.ledger, new.adjacency) == (old.name, old.ledger, old.adjacency)
    assert (new.budget.epsilon or 0) <= (old.budget.epsilon or 0)
    assert new.budget.delta <= old.budget.delta
    assert new.analysts.keys() <= old.analysts.keys()
    for name, share in new.analysts.items():
        assert (share.epsilon or 0) <= (old.analysts[name].epsilon or 0)
        assert share.delta <= old.analysts[name].delta
    before = {table.name: table for table in old.tables}
    for table in new.tables:
        was = before[table.name]
        # The whole person is a stricter unit than a person-day, and each person-day is stricter than each row.
        assert table.unit in {was.unit, was.unit and Unit(was.unit.column)}
        assert set(table.links) <= set(was.links)
        assert table.unit is not None or str(new.owner(table)) == str(old.owner(was))
        assert table.public == was.public
        assert set(table.unique) <= set(was.unique)
        assert table.limits in {None, was.limits}  # without any, each question must say its own
        assert table.row_ceiling >= was.row_ceiling
        for column in table.columns:
            declared = was.column(column.name)
            assert column.kind is declared.kind
            assert column.bounds in (None, declared.bounds)
            assert column.nullable or not declared.nullable
            assert column.keys is None or set(column.keys) <= set(declared.keys or ())


@pytest.mark.parametrize("path", ENTRIES, ids=full_name)
def test_deleting_any_entry_is_refused_or_stricter(path: Place) -> None:
    """Nothing can be lost from a configuration in silence: what is left is an error, or allows no more than before.

    The one exception is [analysts] as a whole. Without it anyone may ask, as the format says, and the budget for all
    is what it was, so that no guarantee changes.
    """
    mutant = document()
    del parent_of(mutant, path)[path[-1]]
    try:
        dataset = decode(mutant)
    except ConfigError as caught:
        error = caught
    else:
        if path == ("analysts",):
            assert dataset.budget == loads(FULL).budget
            dataset.analysts.update(loads(FULL).analysts)
        assert_no_looser(dataset, loads(FULL))
        return
    # Without its delta the budget is less than a share: the share is to blame then.
    assert error.message.startswith((full_name(path[:1]), "analysts.alice: the share of 'alice' has more delta"))
    assert error.hint


def test_what_must_be_stated_is_missed_by_name() -> None:
    """Name, ledger, adjacency, budget, source, unit, columns and kinds have no silent default, nor have limits."""
    for path in [
        ("name",),
        ("ledger",),
        ("adjacency",),
        ("budget",),
        ("tables",),
        ("tables", "visits", "source"),
        ("tables", "visits", "unit"),
        ("tables", "visits", "columns"),
        ("tables", "visits", "columns", "hours per week", "kind"),
        ("tables", "visits", "unit", "column"),
        ("tables", "visits", "source", "path"),
        ("tables", "prescriptions", "links", "drug", "table"),
        ("tables", "prescriptions", "links", "drug", "column"),
    ]:
        mutant = document()
        del parent_of(mutant, path)[path[-1]]
        assert refused(mutant).message == f"{full_name(path)} is missing"
    for table in ("visits", "prescriptions"):
        mutant = document()
        del mutant["tables"][table]["limits"]
        (found,) = (each for each in decode(mutant).tables if each.name == table)
        assert found.limits is None  # so that each question must say its own
    for table, key in {"prescriptions": "links", "drugs": "public"}.items():
        mutant = document()
        del mutant["tables"][table][key]
        assert refused(mutant).message == f"tables.{table}.unit is missing"


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: str(wrong)[:9])
def test_a_value_of_a_wrong_type_is_refused_by_name(wrong: object) -> None:
    """Any entry may be replaced by anything: what isn't right there is refused under its name or one above it."""
    silent = []
    for path in ENTRIES:
        mutant = document()
        parent, here = parent_of(mutant, path), path[-1]
        if fits(path, parent[here], wrong):
            continue
        parent[here] = wrong
        # An error that takes two entries to make is named by the lowest that holds both.
        above = [full_name(path[:n]) for n in range(1, len(path) + 1)]
        try:
            decode(mutant)
        except ConfigError as error:
            if error.hint and error.message.startswith(tuple(f"{name}{sign}" for name in above for sign in ":.[")):
                continue
        silent.append(full_name(path))
    assert silent == []


def fits(path: Place, right: object, wrong: object) -> bool:
    """Whether the value happens to be a right one in that place, so that it proves nothing."""
    if type(right) is type(wrong) and not isinstance(right, dict | list):
        texts = {"name", "ledger", "path"}
        names = path[-1] in texts or ("keys" in path and wrong != "") or "missing" in path
        return not isinstance(wrong, str) or (names and (wrong != "" or "missing" in path))
    if wrong == [] and path[-1] in {"missing", "unique"}:
        return True
    number = isinstance(right, int | Decimal) and not isinstance(right, bool)
    return number and isinstance(wrong, int | Decimal) and not isinstance(wrong, bool) and "row_ceiling" not in path


@pytest.mark.parametrize("path", [path for path in ENTRIES if isinstance(path[-1], str)], ids=full_name)
def test_an_unknown_key_is_refused_at_every_level(path: Place) -> None:
    """A key that means nothing is refused wherever it stands, save where names are the custodian's own."""
    mutant = document()
    parent = parent_of(mutant, path)
    parent["nonsense"] = 1
    assert refused(mutant).message.startswith(full_name((*path[:-1], "nonsense")) + ":")


def test_the_mutations_are_many() -> None:
    """The configuration has entries of every sort, and few replacements happen to fit."""
    assert len(ENTRIES) > 80
    tried = [(path, wrong) for path in ENTRIES for wrong in WRONG]
    fitting = [pair for pair in tried if fits(pair[0], parent_of(document(), pair[0])[pair[0][-1]], pair[1])]
    assert len(fitting) < len(tried) / 8
