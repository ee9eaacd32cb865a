"""Warnings: what may be a slip in a question, by public facts alone.

Where no row can be meant, the answer is exact and costs nothing, for it is the same for any tables that
keep to their declarations. A condition that holds for no row is usually a slip if other rows are asked about, and noise
hides it; so a plain sentence says it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from discreet.errors import unforeseen
from discreet.printable import is_as_shown
from discreet.query import ir
from discreet.query.ir import (
    Trial,
    changed,
    column_type,
    contradiction,
    impossible,
    outcomes,
    public_values,
)
from discreet.query.planner.draft import Draft
from discreet.query.planner.plan_text import expression_in_words
from discreet.suggestions import nearest
from discreet.tables import Kind

_MOST = 10
"""The most sentences that one plan gives."""

_SHOWN = 6
"""The most keys that are listed."""

_LONGEST = 200
"""The most characters of a condition that are shown."""

_HIDES = "it has signs that aren't shown, but turn or hide what is: the question may not be what it looks like"

_EQUAL = {"eq", "ne", "distinct", "in"}
_ORDERED = {"lt", "le", "gt", "ge"}


def why_no_rows(question: ir.Question) -> str:
    """Why public facts alone say that no row can be meant, in words; empty if they don't."""
    kept = [] if question.having is None else list(ir.conjuncts(question.having))
    if any(isinstance(part, ir.Literal) and part.value is not True for part in kept):
        return "HAVING keeps no group"
    if question.offset and not question.sets:
        listed = [public_values(key) for _, key in question.keys]
        number = prod(len(values) for values in listed if values is not None)
        if None not in listed and question.offset >= number:
            return f"OFFSET {question.offset} skips all that there is"
    found = contradiction(question.source)
    if found is None:
        return "LIMIT 0 shows no row" if question.limit == 0 else ""
    if any(ir.is_null(part) for part in found):
        return "nothing equals NULL, nor differs from it, so no row is kept (IS NULL was meant, perhaps)"
    shown = " AND ".join(map(_shown, found))
    return f"no row can have {shown}" if len(found) == 1 else f"no row can have all of {shown}"


def warnings_of(drafts: Sequence[Draft]) -> tuple[str, ...]:
    """Warn, in plain sentences, of conditions that may be slips, and of groups that aren't measured.

    Args:
        drafts: one for each level.
    """
    draft = drafts[0]
    said = []
    if all(each.without_rows for each in drafts):
        said.append(
            f"{draft.without_rows[0].upper()}{draft.without_rows[1:]}: the answer follows from what is declared, "
            "exactly and free of charge"
        )
    elif any(each.keys and not each.noises and not each.selections for each in drafts):
        said.append("nothing is measured of these groups: they are the public ones, whether or not they have rows")
    declared = {(scan.alias, column.name): column_type(column) for scan in draft.scans for column in scan.table.columns}
    trial = Trial()
    said += [
        sentence
        for condition in _conditions(draft.question)
        for sentence in _sentences(_as_declared(condition, declared), trial)
    ]
    if not said and not any(each.noises or each.selections for each in drafts):
        said.append("nothing is measured: the answer follows from what is declared, exactly and free of charge")
    hides = () if is_as_shown(draft.question.text) else (_HIDES,)
    return (*hides, *dict.fromkeys(said))[:_MOST]


def _conditions(question: ir.Question) -> Iterator[ir.Expr]:
    """All expressions over rows."""
    for relation in ir.nodes(question.source):
        match relation:
            case ir.Where(predicate=predicate) | ir.Join(predicate=predicate):
                yield from () if predicate is None else (predicate,)
            case ir.Project(columns=columns) | ir.PerUnit(keys=columns):
                yield from (expr for _, expr in columns)
            case ir.Scan() | ir.Union() | ir.Distinct() | ir.Window():
                pass
            case _:
                raise unforeseen(relation)
    yield from (key for _, key in question.keys)
    for one in question.aggregates:
        yield from (each for each in (one.argument, one.other) if each is not None)


def _as_declared(expr: ir.Expr, declared: Mapping[tuple[str, str], ir.Type]) -> ir.Expr:
    """The expression with its columns as they are declared, and not as the question's own conditions narrow them."""

    def typed(part: ir.Expr) -> ir.Expr | None:
        found = declared.get((part.table, part.name)) if isinstance(part, ir.Column) else None
        if found is None:
            return None
        optional = part.type.nullable and not part.type.hidden  # of a table that a LEFT JOIN adds
        return replace(part, type=replace(found, nullable=True, hidden=False) if optional else found)

    return changed(expr, typed)


def _sentences(expr: ir.Expr, trial: Trial) -> Iterator[str]:
    """Sentences about conditions in an expression that look odd."""
    match expr:
        case ir.Call(function=ir.Function(name=name), args=(value, *constants)) if name in _EQUAL:
            if isinstance(value, ir.Literal) and len(constants) == 1:
                value, constants = constants[0], [value]
            for each in (each for each in constants if _is_outside(value, each)):
                yield f"{_shown(value)} is never {_shown(each)}{_declared(value)}{_meant(value, each)}"
        case ir.Call(function=ir.Function(name=name)) if name in _ORDERED and True not in outcomes(expr):
            yield f"{_shown(expr)} holds for no row{_declared(expr)}"
        case ir.Call(function=ir.Function(name="is_null"), args=(ir.Column() as column,)) if not column.type.nullable:
            yield f"{_shown(expr)} holds for no row: {column.name} is declared without NULLs"
        case ir.Call(function=ir.Function(name="and"), args=args) if all(True in outcomes(arg) for arg in args):
            found = impossible([expr], trial)
            if found is not None and len(found) > 1:
                yield f"{' AND '.join(map(_shown, found))} holds for no row"
        case _:  # nothing is sure to be a slip
            pass
    for part in expr.args if isinstance(expr, ir.Call) else ():
        yield from _sentences(part, trial)


def _is_outside(value: ir.Expr, constant: ir.Expr) -> bool:
    """Whether the declarations of a column keep its values from being equal to a constant."""
    if not isinstance(ir.uncast(value), ir.Column) or not isinstance(constant, ir.Literal) or constant.value is None:
        return False
    return True not in outcomes(ir.call("eq", value, constant))


def _declared(expr: ir.Expr) -> str:
    """The declarations of the columns in an expression, in words."""
    columns = list(dict.fromkeys(ir.columns_in(expr)))
    facts = [f"{column.name} {fact}" for column in columns for fact in [_fact(column.type)] if fact]
    return f": {', '.join(facts)}" if facts else ""


def _fact(known: ir.Type) -> str:
    """The values of a column, in words."""
    if known.values is not None:
        keys = [expression_in_words(ir.literal(each)) for each in known.values[:_SHOWN]]
        more = len(known.values) - len(keys)
        return f"is one of {', '.join(keys)}" + (f" and {more:,} more" if more else "")
    if known.lo is None or known.hi is None:
        return ""
    return f"lies in [{_end(known.lo, known.kind)}, {_end(known.hi, known.kind)}] once values beyond are moved there"


def _end(end: Fraction, kind: Kind) -> str:
    """An end of a range, to read."""
    match kind:
        case Kind.DATE:
            return str(ir.day_of(int(end)))
        case Kind.TIMESTAMP:
            return str(ir.moment_of(int(end)))
        case Kind.INTEGER | Kind.REAL | Kind.BOOLEAN | Kind.TEXT:
            return f"{float(end):.15g}"
        case _:
            raise unforeseen(kind)


def _meant(value: ir.Expr, constant: ir.Expr) -> str:
    """A question whether a similar key was meant, if a text isn't a key; else empty."""
    text = constant.value if isinstance(constant, ir.Literal) else None
    keys = [each for each in ir.uncast(value).type.values or () if isinstance(each, str)]
    if not isinstance(text, str):
        return ""
    bare = {key.strip(): key for key in keys}
    close = nearest(text.strip(), bare)
    return f"; did you mean {expression_in_words(ir.literal(bare[close]))}?" if close is not None else ""


def _shown(expr: ir.Expr) -> str:
    """An expression as a reader would write it, cut if it is long."""
    text = " ".join(expression_in_words(expr).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
