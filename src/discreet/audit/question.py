"""Auditing a question: its release, repeated on the data and on the neighbour that moves it most.

For the custodian alone: the draws are paid by a throw-away account, so what is found out here is nobody's private
answer, and says things about the data.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from discreet.accounting import loss_of
from discreet.audit.audit_result import Audit
from discreet.audit.auditing import CONFIDENCE, DELTA, audit
from discreet.audit.neighbourhood import State, in_memory, neighbours_of, read
from discreet.engine import ExactResult, open_engine
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable
from discreet.gateway.execute import exact_parts, release
from discreet.gateway.protected import Protected
from discreet.ledger import Ledger
from discreet.mechanisms import Gaussian
from discreet.privacy import Budget, KeyValue, Loss
from discreet.query.planner import Level, Plan, Terms
from discreet.tables import Dataset
from discreet.tables.admission import admit

if TYPE_CHECKING:
    from discreet.ledger import Account

T = TypeVar("T")
QUESTION_DRAWS = 20_000
TRIED = 24
"""How many units are taken away in turn, to see whose absence moves the exact answer most."""

PLENTY = Budget(epsilon=10**6, delta=Fraction(1, 2))
"""The budget of the throw-away account."""

_MOST_GROUPS = 16
"""How many groups that differ are looked at, the first ones: any event that neighbours give unequal chances will do."""

Exact: TypeAlias = Sequence[ExactResult]
Place: TypeAlias = tuple[int, tuple[KeyValue, ...]]


def audit_question(  # noqa: PLR0913 — what an audit needs to know
    dataset: Dataset,
    question: str,
    terms: Terms,
    *,
    data: Mapping[str, object] = MappingProxyType({}),
    draws: int = QUESTION_DRAWS,
    confidence: Rationalizable = CONFIDENCE,
    delta: Rationalizable = DELTA,
    tried: int = TRIED,
) -> Audit:
    """Try to tell from a question's answers whether one unit is in the data.

    Neighbours are searched for: units that hold extremes or most rows are taken away in turn, and the one is kept
    whose absence moves the exact results most, measured by the noise. Then the gateway's own release is repeated on
    either side, and `audit` tries to tell the two apart. What is claimed is what a throw-away account in a temporary
    folder was charged for asking it. Nothing is written beside the data, and the real account isn't touched.

    Args:
        dataset: what is declared of the tables.
        question: one SELECT.
        terms: what is offered, as for `Protected.plan`.
        data: tables in memory, by the location of their source.
        draws: how many releases of either neighbour; 16 or more.
        confidence: in (0, 1).
        delta: at which a claim in zCDP is tried.
        tried: how many units are taken away in turn.

    Raises:
        QueryError: the question is refused.
        SourceError: a table can't be read.
        InvalidArgument: no unit has rows, or the question asks for others first.
    """
    rows = read(dataset, data)
    with TemporaryDirectory(prefix="discreet-audit-") as folder, _throw_away_account(dataset, Path(folder)) as account:
        whole = in_memory(dataset, rows)
        plan = account.planned(whole, question, terms)
        here = _exact(whole, plan)
        best, seen = (-1.0, "", here), 0
        for neighbour in neighbours_of(dataset, rows, tried):
            other = in_memory(dataset, neighbour.rows)
            there = _exact(other, account.planned(other, question, terms))
            best = max(best, (_distance(plan, here, there), neighbour.how, there), key=lambda each: each[0])
            seen += 1
        if not seen:
            raise InvalidArgument("there is no unit whose rows could be taken away")
        return audit(
            _Releases(plan, _differing(here, best[2])),
            here,
            best[2],
            claim=account.charged(whole, plan),
            delta=delta,
            draws=draws,
            confidence=confidence,
            neighbours=f"the data and the same with {best[1]}: the furthest of {seen} tried",
        )


@dataclass(frozen=True, slots=True)
class _Releases:
    """The gateway's release of a plan, over and over."""

    plan: Plan
    places: Sequence[Place]

    @property
    def name(self) -> str:
        """The question."""
        return " ".join(self.plan.question.text.split())

    def draw(self, data: Exact, count: int) -> list[tuple[Hashable, ...]]:
        """Draw releases, each as the numbers of the groups that differ; None where a group is held back."""
        names = [_names(level) for level in self.plan.levels]
        outputs: list[tuple[Hashable, ...]] = []
        for _ in range(count):
            groups = {
                (number, group.key): group.noisy
                for number, (level, result) in enumerate(zip(self.plan.levels, data, strict=True))
                for group in release(level, result, number)
            }
            outputs.append(
                tuple(
                    groups[place][name] if place in groups else None
                    for place in self.places
                    for name in names[place[0]]
                )
            )
        return outputs


@dataclass(frozen=True, slots=True)
class _ThrowAwayAccount:
    """An account that has plenty, and is thrown away."""

    ledger: Ledger
    account: Account

    def planned(self, state: State, question: str, terms: Terms) -> Plan:
        """The question's plan."""
        plan = self._opened(state).plan(question, **terms)
        if plan.profiles:
            raise InvalidArgument(
                "automatic limits and bounds are questions of their own",
                hint="audit it with fixed ones",
            )
        return plan

    def charged(self, state: State, plan: Plan) -> Loss:
        """The charge for a question that went all the way: reserve, run, release, commit."""
        answer = self._opened(state).ask(plan)
        if answer.reused:
            raise AssertionError("a throw-away account answers nothing twice")
        return loss_of(plan.event)

    def _opened(self, state: State) -> Protected:
        """A state of the tables behind the account."""
        return Protected(state.dataset, self.ledger, self.account, state.data, None)


@contextmanager
def _throw_away_account(dataset: Dataset, folder: Path) -> Iterator[_ThrowAwayAccount]:
    """A ledger in a folder that goes away."""
    with Ledger.open(str(folder / "audit.ledger"), create=True) as ledger:
        yield _ThrowAwayAccount(ledger, ledger.account(dataset.name, PLENTY, {}, adjacency=dataset.adjacency))


def _exact(state: State, plan: Plan) -> Exact:
    """The exact results of a plan, on the state that it was made for."""
    dataset = state.dataset
    snapshot = admit(dataset.tables, state.data, None)
    return exact_parts(plan, open_engine(snapshot, dataset.engine, dataset.cluster))


def _distance(plan: Plan, one: Exact, other: Exact) -> float:
    """The distance between two exact results in scales of the noise: a guide to what best tells them apart."""
    total = 0.0
    for level, here, there in zip(plan.levels, one, other, strict=True):
        for name, noise in level.noises.items():
            moves = [abs(a - b) for a, b in _pairs(here, here.measures[name], there, there.measures[name], 0)]
            mechanism = noise.mechanism
            if isinstance(mechanism, Gaussian):
                total += sqrt(sum(move * move for move in moves)) / float(mechanism.sigma)
            else:
                total += float(sum(moves) / mechanism.scale)
        for selection in level.draft.selections:
            bins = selection.measure.name
            pairs = _pairs(here, here.histograms[bins], there, there.histograms[bins], {})
            moved = sum(abs(a.get(each, 0) - b.get(each, 0)) for a, b in pairs for each in a.keys() | b.keys())
            total += moved * selection.rate
        if level.draft.threshold is not None:
            total += len(set(here.keys) ^ set(there.keys))
    return total


def _pairs(
    here: ExactResult, column: Sequence[T], there: ExactResult, other: Sequence[T], absent: T
) -> list[tuple[T, T]]:
    """Each group's values on both sides."""
    ours, theirs = dict(zip(here.keys, column, strict=True)), dict(zip(there.keys, other, strict=True))
    return [(ours.get(key, absent), theirs.get(key, absent)) for key in dict.fromkeys([*ours, *theirs])]


def _differing(one: Exact, other: Exact) -> list[Place]:
    """The groups that differ, as far as they are looked at; the first one if none does."""
    places: list[Place] = []
    for number, (here, there) in enumerate(zip(one, other, strict=True)):
        ours, theirs = _held(here), _held(there)
        places += [(number, key) for key in dict.fromkeys([*ours, *theirs]) if ours.get(key) != theirs.get(key)]
    return places[:_MOST_GROUPS] or [(0, key) for key in one[0].keys[:1]]


def _held(result: ExactResult) -> dict[tuple[KeyValue, ...], list[Any]]:
    """All that a result has of each group."""
    columns = [*result.measures.values(), *result.histograms.values()]
    return {key: [column[place] for column in columns] for place, key in enumerate(result.keys)}


def _names(level: Level) -> list[str]:
    """The names of a group's released values, in order."""
    picks = [selection.pick for selection in level.draft.selections]
    about = [pick.around for pick in picks if pick.fraction is not None]
    return [*level.noises, *(pick.name for pick in picks), *about]
