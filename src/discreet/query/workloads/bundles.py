"""Bundles: the questions of a workload that measure the same groups, brought together into one.

What several of them ask is asked once. Each question's own answer then follows from the bundle's, for nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.query import ir
from discreet.query.ir import MARK
from discreet.query.reuse.sameness import merged

_OWN = "\x00"
"""Begins the names of a bundle's keys and aggregates: no question can spell it."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """Questions about the same groups of the same rows.

    Args:
        question: all that they ask, as one question.
        columns: its columns by those of the questions: the question's place in the workload, and the column's name.
    """

    question: ir.Question
    columns: Mapping[tuple[int, str], str]


def bundles_of(questions: Sequence[ir.Question]) -> tuple[Bundle, ...]:
    """The bundles of a workload, each where its first question stands."""
    found: list[Bundle] = []
    for number, question in enumerate(questions):
        for place, bundle in enumerate(found):
            wider = _with(bundle, number, question)
            if wider is not None:
                found[place] = wider
                break
        else:
            found.append(_started(number, question))
    return tuple(found)


def _started(number: int, question: ir.Question) -> Bundle:
    """A bundle of one question."""
    names = {name: f"{_OWN}key {place}" for place, (name, _) in enumerate(question.keys)}
    empty = replace(
        question,
        keys=tuple((names[name], key) for name, key in question.keys),
        sets=tuple(tuple(names[name] for name in kept) for kept in question.sets),
        aggregates=(),
        outputs=(),
        having=None,
        order=(),
        limit=None,
        offset=0,
    )
    return _joined(Bundle(empty, {}), number, question, empty.source)


def _with(bundle: Bundle, number: int, question: ir.Question) -> Bundle | None:
    """The bundle with another question; None if that is about other groups."""
    one = bundle.question
    source = merged(one.source, question.source)
    places = [name for name, _ in question.keys]
    alike = (
        [str(key) for _, key in one.keys] == [str(key) for _, key in question.keys]
        and [key.type for _, key in one.keys] == [key.type for _, key in question.keys]
        and _sets(one, [name for name, _ in one.keys]) == _sets(question, places)
    )
    return _joined(bundle, number, question, source) if alike and source is not None else None


def _sets(question: ir.Question, names: list[str]) -> list[list[int]]:
    """The grouping sets by the places of keys."""
    return [[names.index(name) for name in kept] for kept in question.sets]


def _joined(bundle: Bundle, number: int, question: ir.Question, source: ir.Relation) -> Bundle:
    """The bundle with what another question asks."""
    one = bundle.question
    aggregates = list(one.aggregates)
    names = {name: own for (name, _), (own, _) in zip(question.keys, one.keys, strict=True)}
    for aggregate in question.aggregates:
        known = next((each for each in aggregates if str(each) == str(aggregate)), None)
        if known is None:
            known = replace(aggregate, name=f"{_OWN}aggregate {len(aggregates)}")
            aggregates.append(known)
        names[aggregate.name] = known.name
    columns = {(number, output.name): f"{number + 1}.{output.name}" for output in question.outputs}
    outputs = tuple(
        ir.Output(name=columns[number, output.name], expr=_renamed(output.expr, names)) for output in question.outputs
    )
    wider = replace(one, source=source, aggregates=tuple(aggregates), outputs=(*one.outputs, *outputs))
    return Bundle(wider, {**bundle.columns, **columns})


def _renamed(expr: ir.Expr, names: Mapping[str, str]) -> ir.Expr:
    """An expression over a question's released values, over those of the bundle."""
    match expr:
        case ir.Released(name=name):
            return replace(expr, name=_name(name, names))
        case ir.Call(args=args):
            return replace(expr, args=tuple(_renamed(arg, names) for arg in args))
        case ir.Margin(of=of):
            return replace(expr, of=_renamed(of, names))
        case _:
            return expr


def _name(name: str, names: Mapping[str, str]) -> str:
    """The bundle's name of a key, of an aggregate, or of GROUPING of a key."""
    if name in names:
        return names[name]
    base, mark, rest = name.partition(MARK)
    return names[base] + mark + rest
