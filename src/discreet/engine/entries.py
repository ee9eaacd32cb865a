"""The views `asked` and `entries`: from the rows behind the door to the integers that are added up."""

from __future__ import annotations

from discreet.dataset import Column, Kind
from discreet.engine.door import kept
from discreet.engine.expressions import select
from discreet.engine.kinds import sql_type_of
from discreet.engine.limiting import ASKED, ENTRIES, Adds, Shape, looked_up
from discreet.engine.listing import list_keys, listed_values
from discreet.engine.session import Session
from discreet.engine.steps import check_steps, constant_steps, first_stage, second_stage
from discreet.engine.usage import is_listed
from discreet.errors import InvalidArgument
from discreet.query.ir import Exact, Key, Sum


def shape_of(exact: Exact) -> Shape:
    """What the limiting SQL depends on.

    Raises:
        InvalidArgument: the engine doesn't offer what the plan asks; a matter of the plan alone, not of any row.
    """
    unit = exact.table.unit
    measures = []
    for measure in exact.measures:
        if isinstance(measure, Sum):
            check_steps(measure)
            measures.append(_adds(measure))
        elif exact.keys and exact.limits.rows is not None and not unit.is_row:
            raise InvalidArgument("units can't be counted in each group under a limit on rows over all groups")
        else:
            measures.append(Adds("units", greatest=1))
    groups: int | None = 1
    for key in exact.keys:
        groups = None if groups is None or key.values is None else groups * len(key.values)
    return Shape(
        units=0 if unit.is_row else 1 if unit.at is None else 2,
        keys=len(exact.keys),
        measures=tuple(measures),
        groups=groups,
        late=tuple(number for number, key in enumerate(exact.keys) if unit.is_row and is_listed(key, exact.table)),
        limits=exact.limits,
        salt=exact.salt,
    )


def make_entries(session: Session, exact: Exact, shape: Shape) -> None:
    """Make the views that the limiting SQL reads.

    Args:
        session: with the view `door` in it.
        exact: the question.
        shape: the question's shape.
    """
    sums = [
        (number, measure)
        for number, (measure, adds) in enumerate(zip(exact.measures, shape.measures, strict=True))
        if isinstance(measure, Sum) and adds.what in {"present", "values"}
    ]
    rows = select(exact, tuple(measure.value for _, measure in sums), shape.units)
    unit = [f"u{number}" for number in range(shape.units)]
    asked = [*unit, *(f"{_as_key(f'k{number}', key)} AS k{number}" for number, key in enumerate(exact.keys))]
    asked += [f"{first_stage(f'v{place}', measure)} AS v{number}" for place, (number, measure) in enumerate(sums)]
    session.execute(f"CREATE TEMP VIEW {ASKED} AS SELECT {', '.join(asked) or 'one'} FROM ({rows})")
    entries, joins = unit, []
    for number, key in enumerate(exact.keys):
        if key.values is not None:
            list_keys(session, f"list{number}", key.expr.type.kind, listed_values(key, exact.table))
        if key.values is None or number in shape.late:
            entries.append(f"k{number}")
        else:
            joins.append(looked_up(number))
            entries.append(f"list{number}.i AS k{number}")
    entries += [f"{second_stage(f'v{number}', measure)} AS v{number}" for number, measure in sums]
    session.execute(
        f"CREATE TEMP VIEW {ENTRIES} AS SELECT {', '.join(entries) or 'one'} FROM {ASKED} {' '.join(joins)}"
    )


def _adds(measure: Sum) -> Adds:
    """What a sum adds up."""
    constant = constant_steps(measure)
    if constant is not None:
        return Adds("constant", greatest=abs(constant), constant=constant)
    if measure.lo == measure.hi:
        return Adds("present", greatest=abs(measure.lo), constant=measure.lo)
    return Adds("values", greatest=max(abs(measure.lo), abs(measure.hi)))


def _as_key(value: str, key: Key) -> str:
    """A key's value as one of its kind, as the door would let it in: no NaN, no year that Python doesn't know.

    Equal keys must be one value, so there is only one zero.
    """
    kind = key.expr.type.kind
    kept_value = kept(Column(name=key.name, kind=kind), f"TRY_CAST({value} AS {sql_type_of(kind)})")
    return f"CASE WHEN {kept_value} = 0 THEN 0 ELSE {kept_value} END" if kind is Kind.REAL else kept_value
