"""Mutants: the sources with one small mistake, each of which some test should find.

A mutant is known by a key that says nothing of files: the function's qualified name, what was changed, the text of the
line, and the how-manieth of those that are alike. So the same mutants can be made after files were moved or merged.
Which are taken follows from the hash of the key: the same ones each time, and those that stay when others come or go.
"""

from __future__ import annotations

import ast
import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, zip_longest
from pathlib import Path

ROOMS = (
    "mechanisms",
    "accounting",
    "ledger",
    "gateway",
    "query",
    "engine",
    "textbook/mechanisms",
    "textbook/accounting",
)
"""Where a mistake costs privacy."""

COMPARISONS: dict[type[ast.cmpop], str] = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
SUMS: dict[type[ast.operator], tuple[str, str]] = {
    ast.Add: ("+", "-"),
    ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"),
}
SWAPPED = {"ceil": "floor", "floor": "ceil", "min": "max", "max": "min", "any": "all", "all": "any"}
OPPOSITE = {"ceil": "rounding", "floor": "rounding"}
UNSEEN = ("__repr__", "__str__")
"""Functions whose text nothing depends on."""


Place = ast.expr | ast.stmt | tuple[ast.expr, ast.expr]
"""What is replaced: a node, or what stands between two."""


@dataclass(frozen=True, slots=True)
class Site:
    """A place where a mutant can be made."""

    path: Path
    name: str
    operator: str
    line: str
    start: int
    end: int
    text: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One mistake, and how it is called."""

    key: str
    room: str
    site: Site

    @property
    def rank(self) -> str:
        """By which mutants are put into an order that has nothing to do with where they are."""
        return hashlib.sha256(self.key.encode()).hexdigest()

    def mutated(self) -> str:
        """The file with the mistake."""
        text = self.site.path.read_text(encoding="utf-8").encode()
        return (text[: self.site.start] + self.site.text.encode() + text[self.site.end :]).decode()


def mutants(source: Path, number: int, match: str = "") -> list[Mutant]:
    """So many mutants, rooms and operators in turn.

    Args:
        source: the folder of the package.
        number: how many.
        match: a regular expression that is found in their keys.
    """
    rooms = ([mutant for mutant in _of_room(source, room) if re.search(match, mutant.key)] for room in ROOMS)
    return [mutant for turn in zip_longest(*rooms) for mutant in turn if mutant is not None][:number]


def _of_room(source: Path, room: str) -> list[Mutant]:
    """The mutants of a room, the operators in turn, each by rank."""
    files = sorted((source / room).rglob("*.py"))
    by_operator: dict[str, list[Mutant]] = defaultdict(list)
    alike: Counter[tuple[str, str, str]] = Counter()
    for site in sorted(chain.from_iterable(map(sites, files)), key=lambda site: (site.name, site.line)):
        kind = (site.name, site.operator, site.line)
        alike[kind] += 1
        key = " | ".join((*kind[:2], str(alike[kind]), site.line))
        by_operator[site.operator].append(Mutant(key=key, room=room, site=site))
    ordered = [sorted(group, key=lambda mutant: mutant.rank) for _, group in sorted(by_operator.items())]
    return [mutant for turn in zip_longest(*ordered) for mutant in turn if mutant is not None]


def sites(path: Path) -> Iterator[Site]:
    """All places in a file."""
    text = path.read_text(encoding="utf-8")
    yield from _Finder(path, text).found(ast.parse(text))


class _Finder:
    """Goes through a file, and knows in which function it is."""

    def __init__(self, path: Path, text: str) -> None:
        """Note where lines begin, in bytes as `ast` counts them."""
        self.path = path
        self.lines = text.encode().splitlines(keepends=True)
        self.starts = [0]
        for line in self.lines:
            self.starts.append(self.starts[-1] + len(line))

    def found(self, tree: ast.Module) -> Iterator[Site]:
        """The places of a module."""
        for statement in tree.body:
            yield from self._of(statement, "")

    def _of(self, node: ast.AST, name: str) -> Iterator[Site]:
        """The places in a statement or expression, inside what is called `name`."""
        match node:
            case ast.Raise() | ast.JoinedStr() | ast.Import() | ast.ImportFrom() | ast.Expr(value=ast.Constant()):
                return
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                return
            case ast.FunctionDef() | ast.ClassDef() | ast.Assign() | ast.AnnAssign():
                inner, parts = _inside(node, name)
            case _:
                inner, parts = name, list(ast.iter_child_nodes(node))
                for operator, place, text in _changes(node):
                    yield self._site(place, name, operator, text)
        for part in parts:
            yield from self._of(part, inner)

    def _site(
        self, place: ast.expr | ast.stmt | tuple[ast.expr, ast.expr], name: str, operator: str, text: str
    ) -> Site:
        """A node that is replaced, or what stands between two."""
        if isinstance(place, tuple):
            start, end = self._end(place[0]), self._start(place[1])
            before = b"".join(self.lines)[start:end].decode()
            text = _between(before, text)
            number = place[0].end_lineno or place[0].lineno
        else:
            start, end, number = self._start(place), self._end(place), place.lineno
        line = self.lines[number - 1].decode().strip()
        return Site(self.path, name or "module", operator, line, start, end, text)

    def _start(self, node: ast.expr | ast.stmt) -> int:
        return self.starts[node.lineno - 1] + node.col_offset

    def _end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.starts[node.end_lineno - 1] + node.end_col_offset


def _inside(
    node: ast.FunctionDef | ast.ClassDef | ast.Assign | ast.AnnAssign, name: str
) -> tuple[str, Sequence[ast.AST]]:
    """What is inside a definition is called, and its parts in which mutants are made: no decorators, no types."""
    match node:
        case ast.FunctionDef(name=own, args=arguments, body=body):
            defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
            return f"{name}.{own}".lstrip("."), () if own in UNSEEN else (*defaults, *body)
        case ast.ClassDef(name=own, body=body):
            return f"{name}.{own}".lstrip("."), body
        case ast.Assign(targets=[target, *_], value=value):
            return name or ast.unparse(target), [value]
        case ast.AnnAssign(target=target, value=value) if value is not None:
            return name or ast.unparse(target), [value]
    return name, ()


def _between(before: str, text: str) -> str:
    """An operator in place of the one between two operands, whose brackets and line breaks stay."""
    words = [word for word in ("not in", "is not", "<=", ">=", "==", "!=", "in", "is", "and", "or") if word in before]
    words += [word for word in ("<", ">", "+", "-", "*") if word in before]
    return before.replace(words[0], text, 1)


Change = tuple[str, "Place", str]
"""The operator, what it replaces, and by what."""


def _changes(node: ast.AST) -> Iterator[Change]:
    """What can be done wrong with a node itself."""
    match node:
        case ast.Compare(left=left, ops=[sign], comparators=[right]) if type(sign) in COMPARISONS:
            yield "comparison", (left, right), COMPARISONS[type(sign)]
        case ast.BinOp(left=left, op=sign, right=right) if type(sign) in SUMS and not _is_text(left, right):
            yield "arithmetic", (left, right), SUMS[type(sign)][1]
        case ast.BoolOp(op=sign, values=[left, right, *_]):
            yield "and-or", (left, right), "or" if isinstance(sign, ast.And) else "and"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "not", node, ast.unparse(operand) if isinstance(operand, ast.Name) else f"({ast.unparse(operand)})"
        case ast.If(body=[*_, ast.Raise() as last]):
            yield "guard", last, "pass"
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int(number)):
            yield "constant", node, str(number + 1)
        case ast.Call():
            yield from _changed_calls(node)


def _changed_calls(call: ast.Call) -> Iterator[Change]:
    """Another function, another direction, one bound less."""
    name = call.func.id if isinstance(call.func, ast.Name) else getattr(call.func, "attr", "")
    if name in SWAPPED:
        func = ast.unparse(call.func)
        yield (
            OPPOSITE.get(name, "min-max"),
            call.func,
            f"{func[: -len(name)]}{SWAPPED[name]}",
        )
    if name in {"min", "max"} and len(call.args) == len(("kept", "bound")) and not any(map(_is_starred, call.args)):
        kept = max(call.args, key=lambda each: not isinstance(each, ast.Constant))
        yield "clamp", call, f"({ast.unparse(kept)})"
    for keyword in call.keywords:
        if keyword.arg in {"round_up", "exact"}:
            yield "rounding", keyword.value, _negated(keyword.value)
    if name == "nextafter":
        yield "rounding", call, f"({ast.unparse(call.args[0])})"


def _is_starred(argument: ast.expr) -> bool:
    return isinstance(argument, ast.Starred)


def _negated(value: ast.expr) -> str:
    return str(not value.value) if isinstance(value, ast.Constant) else f"(not {ast.unparse(value)})"


def _is_text(*parts: ast.expr) -> bool:
    """Whether a sum is one of texts or lists, of which a difference is no mistake that anybody makes."""
    return any(
        isinstance(part, ast.JoinedStr | ast.List | ast.Tuple | ast.ListComp)
        or (isinstance(part, ast.Constant) and isinstance(part.value, str))
        for part in parts
    )
