"""Random tables of every format, for ten minutes each: what must hold at the extremes holds of anything."""

from __future__ import annotations

import json
from collections.abc import Hashable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random, SystemRandom
from time import monotonic
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from discreet.tables import Kind
from support.conformance import all_admitted, check_answers, check_ids, check_values, meanings, plans
from support.engines import compiled_once
from support.extremes import ORDINARY, RUNS, SQL, Cells, number
from support.formats import FORMATS, Format

MINUTES = 10
MOST = 30
"""Cells of a type, at most."""
SIGNS = [*"0123456789", *"--::..TZ++ eEinfaNt,'\"%_/\\\t\n", "ä", "\u0308", "\ufffd", "\u200b", "\U0001f600", "'"]


def drawn(random: Random, of: Format) -> Format:
    """The format with other cells, at random; the ordinary ones stay."""
    is_json, is_fixed = of is FORMATS["json lines"], of is FORMATS["postgres"]
    cells = {
        name: cells if name == RUNS else _cells(random, cells, fixed=is_fixed or name in SQL, is_json=is_json)
        for name, cells in of.holds.items()
    }
    if of is FORMATS["xlsx"]:
        cells = {name: replace(each, meanings=[_in_xml(one) for one in meanings(each)]) for name, each in cells.items()}
    return replace(of, holds=cells)


def _in_xml(meaning: Hashable) -> Hashable:
    """What a cell says in XML, which has one end of lines, whichever was written."""
    return meaning.replace("\r\n", "\n").replace("\r", "\n") if isinstance(meaning, str) else meaning


def _cells(random: Random, cells: Cells, *, fixed: bool, is_json: bool) -> Cells:
    """Other cells of a physical type; of SQL, which wouldn't take any text, the same in another mixture."""
    size = random.randint(1, MOST)
    if isinstance(cells.cells, pa.Array):
        return replace(cells, cells=_arrow(random, cells.cells, size))
    if isinstance(cells.cells, pd.Series):
        places = [0, 1, *(random.randrange(len(cells)) for _ in range(size))]
        meant = [repr(cells.cells.iloc[place]) for place in places]
        return replace(cells, cells=cells.cells.take(places).reset_index(drop=True), meanings=meant)
    made = list(cells.cells[:ORDINARY])
    for _ in range(size):
        cell = random.choice(cells.cells)
        made.append(cell if fixed else _cell(random, cell, is_json=is_json))
    if fixed:
        return replace(cells, cells=tuple(made))
    return replace(cells, cells=tuple(made), meanings=[_meaning(cells.kind, each, is_json=is_json) for each in made])


def _meaning(kind: Kind, cell: Any, *, is_json: bool) -> Hashable:
    """What a cell says; of times nothing is claimed, since they can be written in many ways."""
    if kind in {Kind.DATE, Kind.TIMESTAMP}:
        return None
    text = str(cell).strip('"') if is_json else str(cell)
    return number(text) if kind is Kind.INTEGER else text


def _cell(random: Random, cell: Any, *, is_json: bool) -> Any:
    """Another cell, that looks like one; JSON stays JSON."""
    if not isinstance(cell, str) or len(cell) > 10_000 or random.random() < 0.2:
        return cell
    if is_json and not cell.startswith('"'):
        return cell
    text = json.loads(cell) if is_json else cell
    for _ in range(random.randint(1, 3)):
        place = random.randint(0, len(text))
        text = text[:place] + random.choice(["", random.choice(SIGNS)]) + text[place + random.randint(0, 1) :]
    return json.dumps(text) if is_json else text


def _arrow(random: Random, like: pa.Array, size: int) -> pa.Array:
    """Values of an Arrow type, behind the ordinary ones."""
    if pa.types.is_dictionary(like.type):
        plain = like.dictionary.take(like.indices)
        return _arrow(random, plain, size).dictionary_encode()
    if isinstance(like.type, pa.BaseExtensionType):
        return pa.ExtensionArray.from_storage(like.type, _arrow(random, like.storage, size))
    return pa.concat_arrays([like[:ORDINARY], _array(random, like, size)])


def _array(random: Random, like: pa.Array, size: int) -> pa.Array:
    """Values of a plain Arrow type: any bits, or some near to an extreme."""
    kind = like.type
    if kind == pa.null() or pa.types.is_boolean(kind):
        return like.take(pa.array([random.randrange(len(like)) for _ in range(size)]))
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        raw = [_bytes(random) for _ in range(size)]
        if pa.types.is_string(kind):
            return pa.array(raw, pa.binary()).view(kind)
        return pa.array([each and each.decode(errors="ignore") for each in raw], kind)
    if pa.types.is_date64(kind):  # a Parquet file has whole days only
        days = [random.randrange(-(2**36), 2**36) * 86_400_000 for _ in range(size)]
        return pa.array([random.choice([day, *like.view(pa.int64()).to_pylist()]) for day in days], pa.int64()).view(
            kind
        )
    width = kind.bit_width // 8
    known = [each for each in like.view(pa.binary(width)).to_pylist() if each is not None]
    return pa.array([_bits(random, known, width) for _ in range(size)], pa.binary(width)).view(kind)


def _bits(random: Random, known: list[bytes], width: int) -> bytes | None:
    """So many bytes."""
    match random.randrange(4):
        case 0:
            return random.randbytes(width)
        case 1:
            return random.choice([None, bytes(width)])
        case _:
            near = int.from_bytes(random.choice(known), "little") + random.randint(-2, 2)
            return (near % (1 << (8 * width))).to_bytes(width, "little")


def _bytes(random: Random) -> bytes | None:
    """A text, or what would be one."""
    text = "".join(random.choice(SIGNS) for _ in range(random.choice([0, 1, 3, 9, 999, 1_001])))
    return random.choice([None, text.encode(), text.encode(), text.encode() + random.randbytes(random.randint(0, 3))])


@pytest.fixture(autouse=True)
def _compiled_once() -> Iterator[None]:
    """The same questions are asked of every table."""
    with compiled_once():
        yield


def explore(name: str, seed: int, folder: Path) -> bool:
    """Try one random table, and whether its rows move every question; an error names the seed that leads to it."""
    of = drawn(Random(seed), FORMATS[name])  # noqa: S311 — so that what it finds can be found again
    try:
        found = all_admitted(of, folder)
        check_values(found)
        check_ids(found, trims=of.trims)
        return check_answers(found) == len(plans())
    except BaseException as error:
        error.add_note(f"seed {seed} of {name}")
        raise


@pytest.mark.filterwarnings("ignore:fetch_arrow_table:DeprecationWarning")  # Ibis calls it
@pytest.mark.soak
@pytest.mark.parametrize("name", FORMATS)
def test_random_tables_are_admitted_and_harm_nobody(name: str, tmp_path: Path) -> None:
    """For ten minutes, whatever is in them. Some hold too little that can be read to move every question; most do."""
    end, tables, moving = monotonic() + 60 * MINUTES, 0, 0
    while monotonic() < end:
        moving += explore(name, SystemRandom().getrandbits(64), tmp_path)
        tables += 1
    print(f"{tables} tables of {name}, {moving} of which move every question")  # noqa: T201 — a soak reports
    assert moving > tables / 2
