"""Question analysis: what public facts say of a question: how it is better asked, and what in it may be a slip.

*Averages.* The noise of a sum grows with the size of its terms, that of an average with how far they lie apart, since
AVG adds up how far values lie from the middle of their bounds. So SUM(x)/COUNT(x) is asked as AVG(x), and
SUM(x)/COUNT(*) as the average of x with 0 in the place of NULL. A count whose rows are among those of another, such as
COUNT(*) FILTER (WHERE c) and COUNT(*), is the sum of an indicator over them, so their ratio is its average. A sum or
count that the question uses elsewhere, too, is measured anyway: its ratios stay as they are.

*Warnings.* Where no row can be meant, the answer is exact and costs nothing, for it is the same for any tables that
keep to their declarations. A condition that holds for no row, in a question that is about rows all the same, is mostly
a slip, and noise hides it; so it is said in plain sentences.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fractions import Fraction
from math import prod

from discreet.printable import is_as_shown
from discreet.query import ir
from discreet.query.aggregates import AVG, COUNT, SUM
from discreet.query.ir import (
    Trial,
    call,
    column_type,
    computed_in,
    contradiction,
    impossible,
    is_always_null,
    is_always_zero,
    literal,
    nullif_zero,
    outcomes,
    public_values,
    uncast,
)
from discreet.query.planner.draft import Draft
from discreet.query.planner.plan_text import expression_in_words
from discreet.tables import Kind

_AVERAGE = ir.Type(Kind.REAL, Fraction(-(2**200)), Fraction(2**200), nullable=True)
"""NULL where a noisy count leaves nothing to divide by."""

_PARTS = (SUM, COUNT)
"""What an average is the ratio of."""

_MOST = 10
"""How many sentences are said."""

_SHOWN = 6
"""How many keys are listed."""

_LONGEST = 200
"""How much of a condition is shown."""

_HIDES = "it has signs that aren't shown, but turn or hide what is: the question may not be what it looks like"

_EQUAL = {"eq", "ne", "distinct", "in"}
_ORDERED = {"lt", "le", "gt", "ge"}


# ── Averages ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Ratio:
    """A multiple of the average of some values.

    Args:
        factor: what it is multiplied by.
        total: the name of the sum.
        of: whose average it is.
    """

    factor: Fraction
    total: str
    of: ir.Expr


def with_averages(question: ir.Question) -> ir.Question:
    """The question with AVG in the place of ratios that mean it."""
    aggregates = {aggregate.name: aggregate for aggregate in question.aggregates}
    used_elsewhere = {name for expr in computed_in(question) for name in _names_outside(expr, aggregates)}
    averages = {one.argument: one for one in question.aggregates if one.function is AVG}

    def average(expr: ir.Expr) -> ir.Expr | None:
        ratio = _ratio(expr, aggregates)
        if ratio is None or ratio.total in used_elsewhere:
            return None
        if ratio.of not in averages:
            name = _unused(f"average of {ratio.total}", [*aggregates, *(each.name for each in averages.values())])
            averages[ratio.of] = ir.Aggregate(name=name, function=AVG, argument=ratio.of)
        released = ir.Released(averages[ratio.of].name, _AVERAGE)
        return released if ratio.factor == 1 else call("multiply", released, literal(ratio.factor))

    outputs = tuple(replace(output, expr=_changed(output.expr, average)) for output in question.outputs)
    having = None if question.having is None else _changed(question.having, average)
    order = tuple(replace(term, expr=_changed(term.expr, average)) for term in question.order)
    asked = replace(question, outputs=outputs, having=having, order=order)
    needed = {name for expr in computed_in(asked) for name in _names(expr)}
    every = dict.fromkeys((*question.aggregates, *averages.values()))
    return replace(asked, aggregates=tuple(aggregate for aggregate in every if aggregate.name in needed))


def _changed(expr: ir.Expr, change: Callable[[ir.Expr], ir.Expr | None]) -> ir.Expr:
    """The expression with its outermost parts changed that `change` gives something for."""
    found = change(expr)
    if found is not None:
        return found
    match expr:
        case ir.Call(args=args):
            return replace(expr, args=tuple(_changed(arg, change) for arg in args))
        case ir.Margin(of=of):
            return replace(expr, of=_changed(of, change))
        case _:
            return expr


def _names(expr: ir.Expr) -> set[str]:
    """The names of released values, those within margins too."""
    return ir.released_names(expr).union(*(ir.released_names(margin.of) for margin in ir.margins(expr)))


def _names_outside(expr: ir.Expr, aggregates: dict[str, ir.Aggregate]) -> set[str]:
    """The names of released values that are used outside of ratios."""
    return _names(_changed(expr, lambda part: None if _ratio(part, aggregates) is None else literal(None)))


def _ratio(expr: ir.Expr, aggregates: dict[str, ir.Aggregate]) -> _Ratio | None:
    """A multiple of an average, written as a ratio; None if it is anything else."""
    product = _product(expr) if isinstance(expr, ir.Call) else None
    if product is None or len(product.above) != 1 or len(product.below) != 1:
        return None
    factor, summed, counted = product.factor, aggregates.get(product.above[0]), aggregates.get(product.below[0])
    of = None if summed is None or counted is None else _averaged(summed, counted)
    return None if summed is None or of is None else _Ratio(factor, summed.name, of)


def _averaged(summed: ir.Aggregate, counted: ir.Aggregate) -> ir.Expr | None:
    """What the ratio of two aggregates is the average of; None if it isn't known to be one."""
    if summed.function is counted.function is COUNT:
        return _indicator(summed.argument, counted.argument)
    if (summed.function, counted.function) != _PARTS:
        return None
    value = summed.argument
    if value is None or is_always_zero(value, Trial()):
        return None  # a sum of zeros is known: only the number is measured
    if counted.argument == value:
        return value
    if counted.argument is not None and counted.argument.type.nullable:
        return None
    return call("coalesce", value, literal(0)) if value.type.nullable else value


def _indicator(one: ir.Expr | None, all_: ir.Expr | None) -> ir.Expr | None:
    """1 in rows that are counted by the one count, 0 in others, NULL in those that aren't counted by the other.

    Args:
        one: whose rows without NULL are counted; None if all are.
        all_: the same of the other count.

    Returns:
        The indicator; None if the one count's rows aren't known to be among the other's, or are all of them, or none.
    """
    if one is None or is_always_null(one, Trial()):
        return None
    known, needed = _present(one), set[str]() if all_ is None else _present(all_)
    if not needed < known:
        return None
    match one:
        case ir.Call(function=ir.Function(name="if"), args=(condition, value, ir.Literal(value=None))) if (
            not value.type.nullable
        ):
            arms = condition, literal(1), literal(0)
        case _:
            arms = call("is_null", one), literal(0), literal(1)
    return call("if", *arms) if all_ is None else call("if", call("is_null", all_), literal(None), *arms)


def _present(expr: ir.Expr) -> set[str]:
    """What is true, all of it, of the rows in which an expression isn't NULL, and of no others."""
    match expr:
        case ir.Call(function=ir.Function(name="if"), args=(condition, value, ir.Literal(value=None))):
            return {str(each) for each in ir.conjuncts(condition)} | _present(value)
        case ir.Call(function=ir.Function(name="if"), args=(ir.Call() as condition, ir.Literal(value=None), value)):
            return {str(call("not", condition))} | _present(value)
        case _:
            return {f"present {expr}"} if expr.type.nullable else set()


@dataclass(frozen=True, slots=True)
class _Product:
    """A constant, times released values, over released values.

    Args:
        factor: the constant.
        above: the names of what it is multiplied by.
        below: the names of what is divided by.
    """

    factor: Fraction = Fraction(1)
    above: tuple[str, ...] = ()
    below: tuple[str, ...] = ()

    def times(self, other: _Product) -> _Product:
        """The product of both."""
        return _Product(self.factor * other.factor, self.above + other.above, self.below + other.below)

    @property
    def inverse(self) -> _Product | None:
        """One over it; None for 0."""
        return _Product(1 / self.factor, self.below, self.above) if self.factor else None


def _product(expr: ir.Expr, *, is_divisor: bool = False) -> _Product | None:
    """What is multiplied and divided in an expression, of a divisor NULLIF(x, 0) the x; None if it is anything else."""
    of = uncast(expr)
    match uncast(nullif_zero(of) or of) if is_divisor else of:
        case ir.Released(name=name):
            return _Product(above=(name,))
        case ir.Literal(value=int() | Fraction() as value) if not isinstance(value, bool):
            return _Product(Fraction(value))
        case ir.Call(function=ir.Function(name="negate"), args=(arg,)):
            found = _product(arg, is_divisor=is_divisor)
            return None if found is None else replace(found, factor=-found.factor)
        case ir.Call(function=ir.Function(name="multiply" | "divide" as name), args=(one, other)):
            first = _product(one, is_divisor=is_divisor)
            second = _product(other, is_divisor=is_divisor or name == "divide")
            second = second.inverse if second is not None and name == "divide" else second
            return None if first is None or second is None else first.times(second)
        case _:
            return None


def _unused(name: str, taken: list[str]) -> str:
    """The name, with as many marks behind it as make it new."""
    while name in taken:
        name += "'"
    return name


# ── Warnings ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def why_no_rows(question: ir.Question) -> str:
    """Why public facts alone say that the answer is one of no rows, in words; empty where they don't."""
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
    """What in a question may not mean what it was meant to, and what isn't measured, in plain sentences.

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
            case ir.Where(predicate=predicate) | ir.Join(predicate=predicate) if predicate is not None:
                yield predicate
            case ir.Project(columns=columns) | ir.PerUnit(keys=columns):
                yield from (expr for _, expr in columns)
            case _:
                pass
    yield from (key for _, key in question.keys)
    for one in question.aggregates:
        yield from (each for each in (one.argument, one.other) if each is not None)


def _as_declared(expr: ir.Expr, declared: Mapping[tuple[str, str], ir.Type]) -> ir.Expr:
    """The expression with what is declared of the columns in it, and not what the question itself demands of them."""
    match expr:
        case ir.Column(table=table, name=name, type=known) if (table, name) in declared:
            found = declared[table, name]
            optional = known.nullable and not known.hidden  # of a table that a LEFT JOIN adds
            return replace(expr, type=replace(found, nullable=True, hidden=False) if optional else found)
        case ir.Call(args=args):
            return replace(expr, args=tuple(_as_declared(arg, declared) for arg in args))
        case _:
            return expr


def _sentences(expr: ir.Expr, trial: Trial) -> Iterator[str]:
    """What is odd about the conditions in an expression."""
    match expr:
        case ir.Call(function=ir.Function(name=name), args=(value, *constants)) if name in _EQUAL:
            if isinstance(value, ir.Literal) and len(constants) == 1:
                value, constants = constants[0], [value]
            yield from (_never(value, each) for each in constants if _is_outside(value, each))
        case ir.Call(function=ir.Function(name=name)) if name in _ORDERED and True not in outcomes(expr):
            yield f"{_shown(expr)} holds for no row{_declared(expr)}"
        case ir.Call(function=ir.Function(name="is_null"), args=(ir.Column() as column,)) if not column.type.nullable:
            yield f"{_shown(expr)} holds for no row: {column.name} is declared without NULLs"
        case ir.Call(function=ir.Function(name="and"), args=args) if all(True in outcomes(arg) for arg in args):
            found = impossible([expr], trial)
            if found is not None and len(found) > 1:
                yield f"{' AND '.join(map(_shown, found))} holds for no row"
        case _:
            pass
    for part in expr.args if isinstance(expr, ir.Call) else ():
        yield from _sentences(part, trial)


def _is_outside(value: ir.Expr, constant: ir.Expr) -> bool:
    """Whether a value can't be equal to a constant, by what is declared of its column."""
    if not isinstance(ir.uncast(value), ir.Column) or not isinstance(constant, ir.Literal) or constant.value is None:
        return False
    return True not in outcomes(ir.call("eq", value, constant))


def _never(value: ir.Expr, constant: ir.Expr) -> str:
    """That a column never has a value, and which it has."""
    return f"{_shown(value)} is never {_shown(constant)}{_declared(value)}{_meant(value, constant)}"


def _declared(expr: ir.Expr) -> str:
    """What is declared of the columns in an expression."""
    columns = list(dict.fromkeys(ir.columns_in(expr)))
    facts = [f"{column.name} {fact}" for column in columns for fact in [_fact(column.type)] if fact]
    return f": {', '.join(facts)}" if facts else ""


def _fact(known: ir.Type) -> str:
    """Which values a column has, in words."""
    if known.values is not None:
        keys = [expression_in_words(ir.literal(each)) for each in known.values[:_SHOWN]]
        more = len(known.values) - len(keys)
        return f"is one of {', '.join(keys)}" + (f" and {more:,} more" if more else "")
    if known.lo is None or known.hi is None:
        return ""
    return f"lies in [{_end(known.lo, known.kind)}, {_end(known.hi, known.kind)}], where values beyond were moved to"


def _end(end: Fraction, kind: Kind) -> str:
    """An end of a range, to read."""
    match kind:
        case Kind.DATE:
            return str(ir.day_of(int(end)))
        case Kind.TIMESTAMP:
            return str(ir.moment_of(int(end)))
        case _:
            return f"{float(end):.15g}"


def _meant(value: ir.Expr, constant: ir.Expr) -> str:
    """Which key may have been meant by a text that is none."""
    text = constant.value if isinstance(constant, ir.Literal) else None
    keys = [each for each in ir.uncast(value).type.values or () if isinstance(each, str)]
    if not isinstance(text, str):
        return ""
    folded = {key.casefold().strip(): key for key in keys}
    close = get_close_matches(text[:_LONGEST].casefold().strip(), folded, n=1)
    return f"; did you mean {expression_in_words(ir.literal(folded[close[0]]))}?" if close else ""


def _shown(expr: ir.Expr) -> str:
    """An expression as a reader would write it, cut if it is long."""
    text = " ".join(expression_in_words(expr).split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
