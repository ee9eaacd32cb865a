"""GROUP BY: its keys, and the grouping sets that ROLLUP, CUBE and GROUPING SETS make of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import Unsupported
from discreet.query import ir
from discreet.query.ir import MOST_GROUPING_SETS

if TYPE_CHECKING:
    from sqlglot import exp


MOST_KEYS = 20
"""With more keys, groups would be single people; and each key may take a list of values to work out."""

_Set: TypeAlias = tuple[ir.Expr, ...]


@dataclass(frozen=True, slots=True)
class Grouping:
    """The keys of a GROUP BY, and the sets that it makes of them.

    Args:
        keys: each once, in order of first appearance.
        sets: of keys, each in the order of `keys`; none, if all keys are one set.
    """

    keys: _Set
    sets: tuple[_Set, ...]


def grouping_of(
    group: exp.Group, nodes: Sequence[exp.Expression], bind: Callable[[exp.Expression], ir.Expr]
) -> Grouping:
    """Read a GROUP BY.

    Args:
        group: the clause.
        nodes: the plain keys in it.
        bind: from a key's node to its expression.

    Raises:
        Unsupported: too many keys or sets, or a clause that isn't supported.
    """
    if any(value for part, value in group.args.items() if part not in {"expressions", "all", "rollup", "cube"}):
        raise Unsupported("this kind of GROUP BY isn't supported", hint="ROLLUP, CUBE and GROUPING SETS are")
    parts: list[list[_Set]] = []
    for node in nodes:
        make = _SETS.get(type(node).__name__)
        if make is None:
            parts.append([(bind(node),)])
        else:
            parts.append(make([tuple(map(bind, _parts(element))) for element in node.expressions]))
    for clause, make in (("rollup", _rollup), ("cube", _cube)):  # WITH ROLLUP and WITH CUBE are of all keys
        if group.args.get(clause):
            parts = [make([key for part in parts for key in part])]
    keys = tuple(dict.fromkeys(key for part in parts for each in part for key in each))
    if len(keys) > MOST_KEYS:
        raise Unsupported(f"GROUP BY takes at most {MOST_KEYS} keys")
    if all(len(part) == 1 for part in parts):
        return Grouping(keys, ())
    return Grouping(keys, _multiplied(parts, keys))


def _rollup(elements: Sequence[_Set]) -> list[_Set]:
    """All of them, then without the last, and so on down to none."""
    return [tuple(chain(*elements[:length])) for length in range(len(elements), -1, -1)]


def _cube(elements: Sequence[_Set]) -> list[_Set]:
    """Every choice of them, the larger ones first."""
    _check(2 ** len(elements))
    sizes = range(len(elements), -1, -1)
    return [tuple(chain(*some)) for size in sizes for some in combinations(elements, size)]


_SETS: Mapping[str, Callable[[Sequence[_Set]], list[_Set]]] = {"Rollup": _rollup, "Cube": _cube, "GroupingSets": list}


def _multiplied(parts: Sequence[Sequence[_Set]], keys: _Set) -> tuple[_Set, ...]:
    """One set of each part, in all combinations, as SQL has it; each set once."""
    size = 1
    for part in parts:
        size *= len(part)
        _check(size)
    found: dict[_Set, None] = {}
    for choice in product(*parts):
        held = set(chain(*choice))
        found[tuple(key for key in keys if key in held)] = None
    return tuple(found)


def _parts(node: exp.Expression) -> Iterable[exp.Expression]:
    """The keys of one element of a clause: one, or several in parentheses that go together."""
    match type(node).__name__:
        case "Tuple":
            return list(node.expressions)
        case "Paren":
            return [node.this]
        case "Rollup" | "Cube" | "GroupingSets":
            raise Unsupported("grouping sets can't be nested", hint="write the sets out")
        case _:  # a single key, which may yet be refused
            return [node]


def _check(sets: int) -> None:
    """Refuse too many grouping sets.

    Raises:
        Unsupported: more than `MOST_GROUPING_SETS`.
    """
    if sets > MOST_GROUPING_SETS:
        raise Unsupported(
            f"{sets} grouping sets would leave each next to nothing of the budget",
            hint=f"at most {MOST_GROUPING_SETS}; ask for fewer keys",
        )
