"""Averages: ratios of sums and counts are asked as averages, which need less noise.

The noise of a sum grows with the size of its terms, that of an average with how far they lie apart, since
AVG adds up how far values lie from the middle of their bounds. So SUM(x)/COUNT(x) is asked as AVG(x), and
SUM(x)/COUNT(*) as the average of x with 0 in the place of NULL. A count whose rows are among those of another, such as
COUNT(*) FILTER (WHERE c) and COUNT(*), is the sum of an indicator over them, so their ratio is its average. A sum or
count that the question uses elsewhere, too, is measured anyway: its ratios stay as they are.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.query import ir
from discreet.query.aggregates import AVG, COUNT, SUM
from discreet.query.ir import (
    Trial,
    call,
    changed,
    computed_in,
    is_always_null,
    is_always_zero,
    literal,
    nullif_zero,
    uncast,
)

_PARTS = (SUM, COUNT)
"""The two aggregates whose ratio is an average."""


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
        made = averages[ratio.of]
        released = ir.Released(made.name, AVG.result(made))
        return released if ratio.factor == 1 else call("multiply", released, literal(ratio.factor))

    outputs = tuple(replace(output, expr=changed(output.expr, average)) for output in question.outputs)
    having = None if question.having is None else changed(question.having, average)
    order = tuple(replace(term, expr=changed(term.expr, average)) for term in question.order)
    asked = replace(question, outputs=outputs, having=having, order=order)
    needed = {name for expr in computed_in(asked) for name in _names(expr)}
    every = dict.fromkeys((*question.aggregates, *averages.values()))
    return replace(asked, aggregates=tuple(aggregate for aggregate in every if aggregate.name in needed))


def _names(expr: ir.Expr) -> set[str]:
    """The names of released values, those within margins too."""
    return ir.released_names(expr).union(*(ir.released_names(margin.of) for margin in ir.margins(expr)))


def _names_outside(expr: ir.Expr, aggregates: dict[str, ir.Aggregate]) -> set[str]:
    """The names of released values that are used outside of ratios."""
    return _names(changed(expr, lambda part: None if _ratio(part, aggregates) is None else literal(None)))


def _ratio(expr: ir.Expr, aggregates: dict[str, ir.Aggregate]) -> _Ratio | None:
    """A multiple of an average, written as a ratio; None if it is anything else."""
    product = _product(expr) if isinstance(expr, ir.Call) else None
    if product is None or len(product.above) != 1 or len(product.below) != 1:
        return None
    factor, summed, counted = product.factor, aggregates.get(product.above[0]), aggregates.get(product.below[0])
    of = None if summed is None or counted is None else _averaged(summed, counted)
    return None if summed is None or of is None else _Ratio(factor, summed.name, of)


def _averaged(summed: ir.Aggregate, counted: ir.Aggregate) -> ir.Expr | None:
    """The expression whose average is the ratio of two aggregates; None if the ratio isn't known to be one."""
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
        case _:  # which rows have a value is all that counts
            arms = call("is_null", one), literal(0), literal(1)
    return call("if", *arms) if all_ is None else call("if", call("is_null", all_), literal(None), *arms)


def _present(expr: ir.Expr) -> set[str]:
    """Conditions that hold, together, exactly for the rows in which an expression isn't NULL."""
    match expr:
        case ir.Call(function=ir.Function(name="if"), args=(condition, value, ir.Literal(value=None))):
            return {str(each) for each in ir.conjuncts(condition)} | _present(value)
        case ir.Call(function=ir.Function(name="if"), args=(ir.Call() as condition, ir.Literal(value=None), value)):
            return {str(call("not", condition))} | _present(value)
        case _:  # of its parts nothing is known
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
    """An expression as a product of powers, where NULLIF(x, 0) divides as x does; None if it is none."""
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
        case _:  # no product
            return None


def _unused(name: str, taken: list[str]) -> str:
    """The name, with as many marks behind it as make it new."""
    while name in taken:
        name += "'"
    return name
