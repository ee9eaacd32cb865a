"""Plans in words: what will be done, what it costs, and how accurate it will be.

Each measure and choice tells what is released, how far one unit moves it, and what protects it. Expressions are written
with infix operators and plain column names, for reading only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import ceil, prod

from discreet.errors import unforeseen
from discreet.mechanisms import Gaussian, Laplace, Mode, NoisyRanks, Quantile
from discreet.printable import limits_to_read
from discreet.privacy import Loss
from discreet.query import ir
from discreet.query.estimates import Noise, Selection
from discreet.query.ir import has_one_row
from discreet.query.planner.accuracy import cost_shares, expected_errors
from discreet.query.planner.draft import Draft
from discreet.query.planner.levels import Reconstruction
from discreet.query.planner.request import CONFIDENCE, Request
from discreet.tables import Kind

_NAMES = {0: "least", 1: "greatest"}

_MANY_GROUPS = 40
"""More groups of one number are more than a reader compares, and mostly smaller than they need be."""

_MANY_LEVELS = 8
"""The most sets of groups that are described."""

_INFIX = {
    "add": "+",
    "subtract": "−",
    "multiply": "×",
    "divide": "/",
    "quotient": "//",
    "remainder": "%",
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "and": "AND",
    "or": "OR",
}


def explain(  # noqa: PLR0913 — a plan, part by part
    drafts: Sequence[Draft],
    cost: Loss,
    profiles: Sequence[Loss] = (),
    *,
    request: Request,
    noise: str | None = None,
    work: str = "",
    warnings: Sequence[str] = (),
    levels: str = "",
) -> str:
    """The plan in words; with grouping sets, each has its groups, limits and measures.

    Args:
        drafts: of the question.
        cost: all of it.
        profiles: what each of the questions costs that are asked first.
        request: what was offered for all of it.
        noise: which was chosen and why, where there was a choice.
        work: how far one unit can move what it takes.
        warnings: in plain sentences.
        levels: which of the sets of groups are measured, where not each is by itself.
    """
    draft = drafts[0]
    head = [
        ("question", [draft.question.text.strip()]),
        *([("warning", list(warnings))] if warnings else []),
        ("cost", [f"{cost}, for each {draft.unit}, neighbours by {str(draft.adjacency).replace('_', ' or ')}"]),
    ]
    if noise is not None:
        head.append(("noise", [noise]))
    if levels:
        head.append(("levels", [levels]))
    if profiles:
        asked = "a private question" if len(profiles) == 1 else f"{len(profiles)} private questions"
        costs = " or ".join(str(each) for each in dict.fromkeys(profiles))
        each = "" if len(profiles) == 1 else " each"
        head.append(("first", [f"{asked}, {_first(request)}: {costs}{each}"]))
    if work:
        head.append(("work", [f"one {draft.unit} can move what it takes by at most {work}"]))
    sections = head + [section for each in drafts for section in _level(each)]
    return "\n".join(_section(title, lines) for title, lines in sections)


def _first(request: Request) -> str:
    """What is asked before the question itself, in words."""
    about = ["how large values are, by which bounds are chosen"] if request.unknown_bounds else []
    if request.limits == "auto":
        about.append("how much units contribute, by which limits are chosen")
    if request.cut_off:
        about.append("what limits cut off and bounds move")
    return "; ".join(about)


def levels_in_words(measured: Sequence[Draft], found: Reconstruction) -> str:
    """Which levels are measured, and what it would be like to measure each by itself."""
    costs = [_offered(draft.request) for draft in measured]
    whole = sum(costs, Fraction(0))
    many = f"{len(found.drafts)} sets of groups"
    if found.is_summed:
        said = f"{many} are sums of those of {_named(measured[0])}, which are measured, with all of the cost"
    else:
        shares = [
            f"{100 * float(cost / whole):.3g} % for {_named(each)}" for cost, each in zip(costs, measured, strict=True)
        ]
        said = (
            f"{many} are measured in {len(measured)} and brought together by least squares; "
            f"of the cost {_listed(shares)}"
        )
    return f"{said}{_apart(found)}"


def _apart(found: Reconstruction) -> str:
    """How far the answers would err if each level were measured by itself, and what it would cost to err as little."""
    pairs = [
        (_named(draft), ours[0], theirs[0])
        for draft, other in zip(found.drafts, found.apart, strict=True)
        for ours, theirs in [(expected_errors(draft), expected_errors(other))]
        if ours and ours[0].error and theirs[0].error
    ]
    request = found.drafts[0].request
    if not pairs or request.within:
        return ""
    errors = _listed([f"± {theirs.error:.3g} instead of {ours.error:.3g} for {name}" for name, ours, theirs in pairs])
    symbol, power = ("ε", 1) if request.rho is None else ("ρ", 2)
    cost = sum((theirs.error or 0) ** power / (ours.error or 1) ** power for _, ours, theirs in pairs) / len(pairs)
    return (
        f". Measured apart at the same cost, {pairs[0][1].column} would err by {errors}; to err as little in each, at "
        f"{symbol} = {float(_offered(request)) * cost:.3g}"
    )


def _listed(parts: Sequence[str]) -> str:
    """The first of many parts."""
    return ", ".join(parts[:_MANY_LEVELS]) + (", …" if len(parts) > _MANY_LEVELS else "")


def _named(draft: Draft) -> str:
    """A set of groups by its keys; those that have names of a workload's own, by the columns that they are made of."""
    return " × ".join(key.name if key.name.isprintable() else _columns(key.expr) for key in draft.keys) or "the total"


def _columns(expr: ir.Expr) -> str:
    return ", ".join(dict.fromkeys(column.name for column in ir.columns_in(expr)))


def _offered(request: Request) -> Fraction:
    """The offered ε or ρ."""
    return request.rho or request.epsilon or Fraction(0)


def _level(draft: Draft) -> list[tuple[str, list[str]]]:
    """One grouping set."""
    if not draft.noises and not draft.selections:
        return [("groups", [_groups(draft)]), ("measures", ["none: nothing is read of the data"])]
    return [
        ("groups", [_groups(draft)]),
        *([("withheld", [_withheld(draft)])] if draft.counter is not None else []),
        ("limits", [_limits(draft)]),
        ("error", _errors(draft)),
        ("measures", _measures(draft)),
    ]


def _measures(draft: Draft) -> list[str]:
    """Measures and choices in words, each with its part of the cost."""
    measured = [(noise.measure.name, measure_in_words(noise)) for noise in draft.noises]
    lines = [f"{words}{_share(draft, name)}" for name, words in (*measured, *choices_in_words(draft))]
    if draft.blocks:
        more = "cost" if draft.request.within else "err"
        lines.append(f"with each number measured apart it would {more} {draft.saved:.3g} times as much")
    return lines


def _errors(draft: Draft) -> list[str]:
    """The error to expect of each column, and what a better one would cost."""
    lines = [f"{error.column}: {error}" for error in expected_errors(draft)]
    request = draft.request
    symbol, offer = ("ε", request.epsilon) if request.rho is None else ("ρ", request.rho)
    if request.within and draft.needed is None:
        lines.append(
            f"no {symbol} reaches the accuracy asked for; this is the best that {symbol} = {_short(offer)} does"
        )
    elif draft.needed is not None and offer is not None and draft.needed > offer:
        needed = f"the accuracy asked for takes {symbol} = {_short(draft.needed)}"
        lines.append(f"{needed}; this is the best that {symbol} = {_short(offer)} does")
    return lines or ["nothing is measured"]


def _short(amount: Fraction | None) -> str:
    """An amount to read."""
    return f"{float(amount or 0):.4g}"


def _share(draft: Draft, name: str) -> str:
    """The part of the cost that a measure takes, if it isn't all of it."""
    share = cost_shares(draft)[name]
    return "" if share == 1 else f" ({100 * float(share):.3g} %)"


def _section(title: str, lines: list[str]) -> str:
    """A title with its lines hanging to the right of it."""
    head, *rest = "\n".join(lines).splitlines() or [""]
    return "\n".join([f"{title:<10}{head}", *(f"{'':<10}{line}" for line in rest)])


def _groups(draft: Draft) -> str:
    """The groups that are answered, in words."""
    if not draft.keys:
        return "one: the question has no GROUP BY"
    names = ", ".join(key.name for key in draft.keys)
    if draft.threshold is None:
        count = prod(len(key.values or ()) for key in draft.keys)
        return f"{count:,} public groups of {names}; each is answered, also when it is empty{_coarser(draft)}"
    whose = "rows" if draft.unit.is_row else "units"
    return (
        f"groups of {names} aren't public: those with a noisy number of {whose} of at least "
        f"{_threshold(draft):,} are answered (δ = {float(draft.threshold.delta):.3g}); near that, those are seen whose "
        "noise was high, so numbers are too high; their intervals take that into account"
    )


def _withheld(draft: Draft) -> str:
    """The groups that are too small to be shown, in words."""
    whose = "rows" if draft.unit.is_row else "units"
    small = f"groups with a noisy number of {whose} below {draft.least_units:,}"
    if draft.threshold is not None:
        return f"{small} aren't answered: a rule of the custodian's, which adds nothing to privacy"
    return f"the values of {small}, as NULL: a rule of the custodian's, which adds nothing to privacy"


def _coarser(draft: Draft) -> str:
    """How to have fewer and larger groups, where one key is a range of many numbers; nothing, if none is."""
    for key in draft.keys:
        held = sorted(value for value in key.values or () if type(value) is int)
        if len(held) > _MANY_GROUPS and held[-1] - held[0] < len(held):
            return f". Larger groups err less: GROUP BY FLOOR({expression_in_words(key.expr)} / 10) * 10, for example"
    return ""


def _threshold(draft: Draft) -> int:
    """The threshold in units, rounded up from the steps in which they are counted."""
    if draft.threshold is None:
        raise TypeError("the groups are public")
    step = next(noise.step for noise in draft.noises if noise.measure.name == draft.selector)
    return ceil(draft.threshold.value * step)


def _number(count: int, what: str) -> str:
    """How many of what."""
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def limits_in_words(draft: Draft) -> str:
    """The limits on each unit in words; empty where they cut nothing off, whatever the tables hold."""
    counts_once = not draft.keys and all(isinstance(noise.measure, ir.Units) for noise in draft.noises)
    if draft.unit.is_row or has_one_row(draft.question.source) or (counts_once and not draft.selections):
        return ""
    return _limits(draft)


def _limits(draft: Draft) -> str:
    """The limits in force, in words."""
    if draft.unit.is_row:
        return "each row is a unit of its own"
    limits, unit = draft.limits, draft.unit
    if draft.request.limits == "auto" and not has_one_row(draft.question.source):
        some = f"{limits_to_read(limits)} of each {unit}"
        return f"chosen by what is asked first; errors and noise are stated for {some}, without what limits cut off"
    if limits.rows is not None:
        rows = f"at most {_number(limits.rows, 'row')} of each {unit} count{'s' if limits.rows == 1 else ''}"
        return (
            rows
            if limits.groups is None
            else f"{rows}, and as a unit it counts in at most {_number(limits.groups, 'group')}"
        )
    groups, rows = _number(limits.groups or 1, "group"), _number(limits.rows_per_group or 1, "row")
    return f"at most {groups} of each {unit} count{'s' if limits.groups == 1 else ''}, with {rows} in each"


def measure_in_words(noise: Noise) -> str:
    """A measure with what one unit does to it and the noise it gets."""
    mechanism = noise.mechanism
    match mechanism:
        case Gaussian(sigma=sigma):
            moved, norm = float(noise.step) * float(noise.sensitivity.l2_squared) ** 0.5, "ℓ2"
            kind, width = "Gaussian, sigma", float(noise.step * sigma)
        case Laplace(scale=scale):
            moved, norm = float(noise.step * noise.sensitivity.l1), "ℓ1"
            kind, width = "Laplace, scale", float(noise.step * scale)
        case _:
            raise unforeseen(mechanism)
    if noise.addends:
        return f"{_measure(noise.measure)}: least squares over what is measured; deviation {noise.deviation:,.6g}"
    name, many = _measure(noise.measure), "" if noise.number == 1 else f"the sum of {noise.number:,} noises: "
    return f"{name}: one unit moves it by at most {moved:,.6g} ({norm}); {many}{kind} {width:,.6g}; {mechanism.loss}"


def choices_in_words(draft: Draft) -> Iterator[tuple[str, str]]:
    """Each choice with its name: what it is chosen from, how good it is, and what it costs."""
    aggregates = {aggregate.name: aggregate for aggregate in draft.question.aggregates}
    of = {part: aggregates[name].argument for name, estimator in draft.estimators for part in estimator.parts}
    for selection in draft.selections:
        value = of[selection.pick.name]
        words = "" if value is None else expression_in_words(value)
        yield selection.pick.name, _choice(selection, words, draft.ranks_apart)


def _measure(measure: ir.Measured) -> str:
    match measure:
        case ir.Vector(values=values, rows=rows):
            names = _names_in(values)
            parts = "rows" if len(values) == 1 and not names else f"rows in {len(values)} parts by {names}"
            if rows is None:
                return f"{parts}, which add up to 1 for each"
            return f"{parts}, and what units leave of {_number(rows, 'row')}: together {rows} for each"
        case ir.Sum():
            return _sum(measure)
        case ir.DistinctValues(value=value):
            return f"number of different values of {expression_in_words(value)}"
        case ir.Units():
            return "number of units"
        case ir.Histogram():
            raise AssertionError("histograms are chosen from, and have no noise")
        case ir.Room():
            raise TypeError("room is one number of a vector, and no measure by itself")
        case _:
            raise unforeseen(measure)


def _names_in(exprs: Sequence[ir.Expr]) -> str:
    """The columns of expressions."""
    names = sorted({column.name for expr in exprs for column in ir.columns_in(expr)})
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def _sum(measure: ir.Sum) -> str:
    """A sum in words."""
    if isinstance(measure.value, ir.Literal):
        return "number of rows"
    match measure.value:
        case ir.Call(
            function=ir.Function(name="if"), args=(ir.Call(function=ir.Function(name="is_null"), args=(value,)), *_)
        ):
            return f"number of rows with {expression_in_words(value)}"
    return f"sum of {expression_in_words(measure.value)}"


def _choice(selection: Selection, value: str, apart: float) -> str:
    """A choice in words; of several quantiles, with how far one might be off if each were chosen."""
    pick, size, loss = selection.pick, selection.measure.size, selection.mechanism.loss
    off = f"{selection.reach(CONFIDENCE):,.4g}"
    match selection.mechanism:
        case Mode():
            what = f"most frequent {value}" if pick.most == 1 else f"{pick.most} most frequent {value}"
            return (
                f"{what}, of {size:,} public values: at most {off} rows rarer than the most frequent, at 95 %; {loss}"
            )
        case NoisyRanks() as ranks:
            return _ranks(selection, ranks, value, apart)
        case Quantile(inset=inset):
            inside = float(selection.step * inset)
        case _:
            raise unforeseen(selection.mechanism)
    what = f"quantile {float(pick.fraction or 0):.6g} of {value}"
    if inside:
        what = (
            f"{_NAMES[int(pick.fraction or 0)]} {value}, as an extreme quantile, some {inside:,.4g} rows from the end"
        )
    return f"{what}, chosen with its interval from {size:,} values: at most {off} rows off in rank, at 95 %; {loss}"


def _ranks(selection: Selection, ranks: NoisyRanks, value: str, apart: float) -> str:
    """Several quantiles that are read from noisy counts, in words."""
    listed = ", ".join(
        f"{float(each):.6g} (at most {selection.reach(CONFIDENCE, each):,.4g} rows off in rank)"
        for each in ranks.fractions
    )
    instead = f"; chosen one by one, some would be {apart:,.4g} off" if apart else ""
    noise = ranks.noise
    kind, width = ("Gaussian, sigma", noise.sigma) if isinstance(noise, Gaussian) else ("Laplace, scale", noise.scale)
    return (
        f"quantiles of {value}, {listed}, at 95 %, read together from noisy counts of ranges in {ranks.depth} levels "
        f"of {ranks.branching} by {ranks.branching}{instead}: {kind} {float(selection.step * width):,.6g}; {ranks.loss}"
    )


def expression_in_words(expr: ir.Expr) -> str:
    """The expression as a reader would write it; brackets around every operation but the outermost.

    Examples:
        >>> from discreet.tables import Kind
        >>> from discreet.query.ir import call, literal
        >>> age = ir.Released("age", ir.Type(Kind.INTEGER, nullable=True))
        >>> expression_in_words(call("multiply", call("subtract", age, literal(55)), literal(2)))
        '(age − 55) × 2'
    """
    match expr:
        case ir.Column(name=name) | ir.Released(name=name):
            return name
        case ir.Literal(value=None):
            return "NULL"
        case ir.Literal(value=str() as text):
            return "'" + text.replace("'", "''") + "'"
        case ir.Literal(value=value):
            return f"{float(value):g}" if expr.type.kind is Kind.REAL else str(value)  # type: ignore[arg-type]  # a real
        case ir.Margin(side=side, of=of):
            return f"{side.upper()}({expression_in_words(of)})"
        case ir.Call(function=function, args=args):
            return _call(function.name, args)
        case _:
            raise unforeseen(expr)


def _call(name: str, args: Sequence[ir.Expr]) -> str:  # noqa: PLR0911 — one case for each way of writing
    """A function of other expressions."""
    if name == "multiply" and args[0] == args[1]:
        return f"{_part(args[0])}²"
    if name in _INFIX:
        return f" {_INFIX[name]} ".join(map(_part, args))
    match name:
        case "real":  # a whole number read as a real one: nothing a reader would miss
            return expression_in_words(args[0])
        case "is_null":
            return f"{_part(args[0])} IS NULL"
        case "not":
            return f"NOT {_part(args[0])}"
        case "in":
            return f"{_part(args[0])} IN ({', '.join(map(expression_in_words, args[1:]))})"
        case "if":
            return _case(args)
        case _:  # SQL has it as a function
            return f"{name.upper()}({', '.join(map(expression_in_words, args))})"


def _case(args: Sequence[ir.Expr]) -> str:
    """CASE, with its conditions and results."""
    *pairs, otherwise = args
    whens = " ".join(
        f"WHEN {expression_in_words(pairs[n])} THEN {expression_in_words(pairs[n + 1])}"
        for n in range(0, len(pairs), 2)
    )
    return f"CASE {whens} ELSE {expression_in_words(otherwise)} END"


def _part(expr: ir.Expr) -> str:
    """An operand: in brackets if it is itself an operation."""
    text = expression_in_words(expr)
    bare = not isinstance(expr, ir.Call) or (expr.function.name not in _INFIX and expr.function.name != "is_null")
    return text if bare or (isinstance(expr, ir.Call) and text.endswith("²")) else f"({text})"
