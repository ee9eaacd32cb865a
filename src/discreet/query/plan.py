"""Plans: everything that will happen to a question, decided from public facts before anything is spent."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from discreet.accounting import charge_of, loss_of
from discreet.dataset import Column, Dataset
from discreet.privacy import ComposedEvent, Event, KeyValue, Loss
from discreet.privacy.events import to_dict as event_to_dict
from discreet.query import ir
from discreet.query.canonical import canonical
from discreet.query.draft import Draft, Noise
from discreet.query.explain import Expected, expected_errors, explain
from discreet.query.request import Request
from discreet.query.rules import RULES

_LISTED = 100
"""Longer lists of keys go into certificates as a hash."""


@dataclass(frozen=True)
class Plan:
    """A question that can be answered, with what it costs and how accurate it will be.

    A plan holds no handle on any data and was made without any: showing it gives nothing away.

    Args:
        dataset: what it was planned for; it is carried out for nothing else.
        draft: what the rules decided.
    """

    dataset: Dataset
    draft: Draft

    @property
    def question(self) -> ir.Question:
        """What was asked."""
        return self.draft.question

    @property
    def noises(self) -> Mapping[str, Noise]:
        """The mechanisms, by measure."""
        return {noise.measure.name: noise for noise in self.draft.noises}

    @cached_property
    def canonical(self) -> str:
        """The question in canonical form: equal for questions that differ in spelling only."""
        return canonical(self.question)

    @cached_property
    def exact(self) -> ir.Exact:
        """What the engine computes."""
        return ir.Exact(
            source=self.question.source,
            keys=self.draft.keys,
            measures=self.draft.measures,
            limits=self.draft.limits,
            salt=hashlib.sha256(self.canonical.encode()).hexdigest(),
        )

    @cached_property
    def event(self) -> Event:
        """What will be done to the data, in the parameters that accounting needs."""
        events: list[Event] = [noise.mechanism.event for noise in self.draft.noises]
        if self.draft.threshold is not None:
            events.append(self.draft.threshold.event)
        return ComposedEvent(tuple(events))

    @cached_property
    def cost(self) -> Loss:
        """What the answer is proved to give away about one unit at the most."""
        return loss_of(self.event)

    @cached_property
    def digest(self) -> str:
        """The question with everything that shapes its answer, hashed: equal digests may share one release."""
        return hashlib.sha256(json.dumps(self.to_dict(), sort_keys=True).encode()).hexdigest()

    @cached_property
    def expected(self) -> tuple[Expected, ...]:
        """The error to expect of each column, at 95 %."""
        return expected_errors(self.draft)

    def explain(self) -> str:
        """The plan in words: mechanisms, split, sensitivities, expected errors, cost."""
        return explain(self.draft, self.cost)

    def to_dict(self) -> dict[str, object]:
        """The plan as JSON-ready data; all of it is public."""
        draft, table = self.draft, self.draft.table
        return {
            "dataset": self.dataset.name,
            "question": self.canonical,
            "source": {"kind": table.source.kind, "table": table.source.table, "missing": list(table.source.missing)},
            "unit": str(table.unit),
            "adjacency": str(draft.adjacency),
            "limits": str(draft.limits),
            "columns": [_declared(table.column(name)) for name in _columns(self.question.source)],
            "keys": [{"name": key.name, "values": _listed(key.values)} for key in draft.keys],
            "measures": [
                {
                    "name": noise.measure.name,
                    "exact": str(noise.measure),
                    "step": str(noise.step),
                    "l1": noise.sensitivity.l1,
                    "l2_squared": str(noise.sensitivity.l2_squared),
                    "mechanism": event_to_dict(noise.mechanism.event),
                }
                for noise in draft.noises
            ],
            "threshold": None
            if draft.threshold is None
            else {"value": draft.threshold.value, "delta": str(draft.threshold.delta), "measure": draft.selector},
            "cost": cost_to_dict(self.event),
        }


def make_plan(question: ir.Question, request: Request, dataset: Dataset) -> Plan:
    """Apply the rules to a question.

    Raises:
        QueryError: the question can't be bounded, or not at what is offered.
    """
    draft = Draft(question=question, request=request, adjacency=dataset.adjacency)
    for rule in RULES:
        draft = rule(draft)
    return Plan(dataset=dataset, draft=draft)


def cost_to_dict(event: Event) -> dict[str, object]:
    """What an event costs, in every way of counting, as decimal numbers for reading and exact ones for proof."""
    charge = charge_of(event)
    amounts = {"epsilon": charge.epsilon, "rho": charge.rho, "delta": charge.delta}
    readable = {name: _readable(amount) for name, amount in amounts.items()}
    return {**readable, "exact": {name: None if amount is None else str(amount) for name, amount in amounts.items()}}


def _declared(column: Column) -> dict[str, object]:
    """What is declared of a column."""
    return {
        "name": column.name,
        "kind": str(column.kind),
        "bounds": None if column.bounds is None else [str(column.bounds.lo), str(column.bounds.hi)],
        "keys": _listed(None if column.keys is None else column.keys.values),
    }


def _listed(values: Sequence[KeyValue] | None) -> object:
    """Public values as JSON-ready data; a long list by its length and hash, which still tells it from any other."""
    if values is None:
        return None
    texts = [None if value is None else f"{type(value).__name__} {value}" for value in values]
    if len(texts) <= _LISTED:
        return texts
    return {"number": len(texts), "sha256": hashlib.sha256(json.dumps(texts).encode()).hexdigest()}


def _readable(amount: Fraction | None) -> float | None:
    """An amount as a float; None stands for infinity."""
    return None if amount is None else float(amount)


def _columns(relation: ir.Relation) -> tuple[str, ...]:
    """The columns a question reads."""
    while isinstance(relation, ir.Where):
        relation = relation.source
    return relation.columns
