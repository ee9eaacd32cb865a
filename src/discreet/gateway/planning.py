"""Planning: from a question, and what is offered for it, to a plan, by public facts alone.

The same question is planned the same again: plans of stored answers are made anew, and nothing that a plan says of
itself is taken at its word.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from fractions import Fraction
from functools import partial
from hashlib import sha256
from json import dumps
from typing import TYPE_CHECKING, Any, TypeAlias

from discreet.errors import DiscreetError, InvalidArgument, QueryError
from discreet.gateway.answers import MOST_QUESTIONS, Workload, workload_planner
from discreet.gateway.outcome import StoredRequest
from discreet.privacy import Bounds
from discreet.query import ir
from discreet.query.planner import (
    Auto,
    Plan,
    Request,
    choose_noise,
    known,
    lacks_limits,
    make_plan,
    rebound,
)
from discreet.results import is_summary
from discreet.tables import Dataset, declarations_of
from discreet.tables.schema.dataset import EMBEDDED

if TYPE_CHECKING:
    from discreet.gateway.admissions import Admissions


Frame: TypeAlias = Any
"""An Ibis expression; Ibis hands out no types of its own."""


class Planning:
    """Plans questions about one dataset. Its public tables are looked at in the version in force.

    Args:
        dataset: what is public about the tables.
        admissions: the versions of the tables.
    """

    def __init__(self, dataset: Dataset, admissions: Admissions) -> None:
        """Keep the parts; nothing is read yet."""
        self._dataset = dataset
        self._admissions: Admissions | None = admissions
        self._last: tuple[object, Dataset, Plan] | None = None

    def close(self) -> None:
        """Stop looking at tables; plans are still made."""
        self._admissions = None

    def plan(self, question: str | Frame | list[str | Frame], request: Request) -> Plan:
        """Plan a question, or several together; raises what `Protected.plan` does.

        The plan is of the text in which the values of parameters stand, and its request holds none.
        """
        from discreet.query.sql import filled_in

        if not request.parameters:
            return self._made(question, request)
        if not isinstance(question, str) or is_summary(question):
            raise InvalidArgument("parameters are for one question in SQL", hint="ask each question on its own")
        filled = filled_in(question, request.dialect, request.parameters)
        try:
            return self._made(filled.text, replace(request, parameters=()))
        except QueryError as error:
            filled.replaced(error)
            raise

    def _made(self, question: str | Frame | list[str | Frame], request: Request) -> Plan:
        """The plan, without parameters."""
        from discreet.query.sql import written

        said = [written(each, request.dialect) for each in (question if isinstance(question, list) else [question])]
        questions, request, summarizes = self._spread(said, request)
        together = isinstance(question, list) or bool(summarizes)
        dataset = self._facts(request.bounds, *(text for text, _ in questions))
        same, last = (together, questions, dumps(request.to_json(), sort_keys=True)), self._last
        if last is not None and last[0] == same and _knows_the_same(last[1], dataset):
            return last[2]  # a plan is a function of these alone
        if together:
            offer = request.checked()
            asked = self._read_together(questions, offer, dataset)
            if offer.limits is None and not offer.within and any(map(lacks_limits, asked)):
                offer = replace(offer, limits="auto")
            plan = self._choosing(workload_planner(asked, offer, dataset), offer)
            plan = replace(plan, summarizes=summarizes) if isinstance(plan, Workload) else plan
        else:
            plan = self._alone(*questions[0], request, dataset, shown=isinstance(question, str))
        self._last = same, dataset, plan
        return plan

    def _spread(
        self, asked: Sequence[tuple[str, str]], request: Request
    ) -> tuple[Sequence[tuple[str, str]], Request, str]:
        """What is asked where SUMMARIZE stands for several questions; and the table, if all of it is one SUMMARIZE.

        The offer has the weights of their columns then, unless it has others, or an accuracy, which leaves nothing to
        weigh. A name that is also that of a key has none.

        Raises:
            InvalidArgument: there are too many columns: said before any question of them is read.
        """
        from discreet.query.sql import summarized

        tables = self._dataset.tables
        if request.bounds:
            tables = rebound(tables, known(request.bounds))
        questions, weights, keys, name = list[tuple[str, str]](), dict[str, Fraction](), set[str](), ""
        for each in asked:
            found = summarized(*each, tables, self._dataset.schema, selects=request.delta is not None)
            if found is None:
                questions.append(each)
            else:
                questions += [(text, "duckdb") for text in found.questions]
                weights |= dict(found.weights)
                keys |= found.keys
                name = found.table if len(asked) == 1 else ""
                if len(questions) > MOST_QUESTIONS:
                    raise InvalidArgument(
                        f"SUMMARIZE asks one question of each column, and {MOST_QUESTIONS} are asked together at most",
                        hint="name some of the columns: SUMMARIZE SELECT age, sex FROM census",
                    )
        if not (request.weights or request.within):
            request = replace(request, weights=tuple(each for each in weights.items() if each[0] not in keys))
        return questions, request, name

    def _alone(self, text: str, dialect: str, request: Request, dataset: Dataset, *, shown: bool) -> Plan:
        """One question, with what it offers in its own words."""
        from discreet.query.sql import Strategy, options

        with _placed_in(text, shown=shown):
            said = options(text, dialect)
        asked = self._parse(text, dialect, dataset, shown=shown)
        again, offer = partial(make_plan, asked, dataset=dataset), request.with_options(said, asked).checked()
        if offer.limits is None and not offer.within and lacks_limits(asked):
            offer = replace(offer, limits="auto")
        demands_laplace = said.group_selection_strategy is Strategy.LAPLACE_THRESHOLD
        return again(offer) if demands_laplace else self._choosing(again, offer)

    def _choosing(self, again: Callable[[Request], Plan], offer: Request) -> Plan:
        """The plan for an offer, with the noise that errs less where the offer leaves it open."""
        found, choice = choose_noise(again(offer), again, self._dataset)
        return replace(found, choice=choice)

    def again(self, plan: Plan, request: Request) -> Plan:
        """The same questions for another request, without a choice of noise."""
        return self._planner(replace(StoredRequest.of(plan), request=request))(request)

    def with_laplace(self, plan: Plan) -> Plan:
        """The same questions at what was offered for them, with Laplace noise; the plan itself if it has that."""
        return plan if plan.choice is None or plan.choice.rho is None else self.again(plan, plan.choice.offer)

    def made_again(self, plan: Plan) -> Plan:
        """The plan as the rules make it here: nothing that a plan says of itself is taken at its word."""
        offer = plan.request if plan.choice is None else plan.choice.offer
        again = self._planner(replace(StoredRequest.of(plan), request=offer))
        made = again(offer) if plan.choice is None else self._choosing(again, offer)
        if made.dataset != plan.dataset or made.digest != plan.digest:
            raise InvalidArgument(
                "the plan was made for other tables, or these tables were declared differently then",
                hint="plan the question again, here",
            )
        return made

    def remade(self, asked: StoredRequest, *, in_cells: bool | None) -> Iterator[Plan]:
        """The plans of an earlier request, as small groups are withheld now or weren't; none of what would be refused.

        Args:
            asked: the request.
            in_cells: None for the rules as they are; False for those of before there were cells.
        """
        for least_units in dict.fromkeys((self._dataset.least_units, 0)):
            earlier = copy(self)
            earlier._dataset = replace(self._dataset, least_units=least_units)  # noqa: SLF001 — its own kind
            try:
                yield earlier._planner(asked)(asked.request, in_cells=in_cells)  # noqa: SLF001 — its own kind
            except DiscreetError:
                continue

    def _planner(self, asked: StoredRequest) -> Callable[..., Plan]:
        """A function that plans, for an offer, what was read before."""
        dataset = self._facts(asked.request.bounds, *(text for text, _ in asked.questions))
        if asked.together:
            return workload_planner(
                self._read_together(asked.questions, asked.request, dataset), asked.request, dataset
            )
        ((text, dialect),) = asked.questions
        return partial(make_plan, self._parse(text, dialect, dataset), dataset=dataset)

    def _read_together(
        self, questions: Sequence[tuple[str, str]], request: Request, dataset: Dataset
    ) -> list[ir.Question]:
        """Several questions that are planned together, each with its dialect."""
        from discreet.query.sql import Options, options

        if request.cut_off:
            raise InvalidArgument("a workload doesn't measure cut_off", hint="ask each question on its own")
        if any(options(text, dialect) != Options() for text, dialect in questions):
            raise InvalidArgument(
                "a question of a workload can't have OPTIONS of its own", hint="make one offer for all of them"
            )
        return [self._parsed_among(number, each, dataset) for number, each in enumerate(questions, 1)]

    def _facts(self, bounds: Sequence[tuple[str, Bounds | Auto]], *texts: str) -> Dataset:
        """The dataset with an analyst's bounds, and with what the public tables hold that questions can read."""
        found = self._dataset
        if bounds:
            found = replace(found, tables=rebound(found.tables, known(bounds)))
        text = "\n".join(texts).casefold()
        admissions = self._admissions
        if admissions is None or not any(table.public and table.name.casefold() in text for table in found.tables):
            return found
        return admissions.current().known(found, text)

    def _parse(self, question: str, dialect: str, dataset: Dataset, *, shown: bool = True) -> ir.Question:
        """The question, bound to the tables; errors have no place in a text that was never shown."""
        from discreet.query.sql import question as parse

        with _placed_in(question, shown=shown):
            return parse(question, dataset.tables, dialect, dataset.schema)

    def _parsed_among(self, number: int, written: tuple[str, str], dataset: Dataset) -> ir.Question:
        """One of several questions; errors say which."""
        try:
            return self._parse(*written, dataset)
        except QueryError as error:
            error.message = f"question {number}: {error.message}"
            raise


@contextmanager
def _placed_in(text: str, *, shown: bool) -> Iterator[None]:
    """Let errors keep the text that their place lies in; they have no place in one that was never shown."""
    try:
        yield
    except QueryError as error:
        error.text, error.place = text, error.place if shown else None
        raise


def _knows_the_same(one: Dataset, other: Dataset) -> bool:
    """Whether both have the same public tables, not only equal ones: each is another one once it is admitted again."""
    public = ([table for table in each.tables if table.public] for each in (one, other))
    return all(first is second for first, second in zip(*public, strict=True))


def declarations_digest(dataset: Dataset) -> str:
    """A hash of everything that is declared: another bound, key, limit or budget gives another digest."""
    shares = {name: str(share) for name, share in dataset.analysts.items()}
    account = [dataset.name, str(dataset.adjacency), str(dataset.budget), dataset.failures, shares]
    account += [] if dataset.engine == EMBEDDED else [dataset.engine]
    account += [] if not dataset.least_units else [{"least_units": dataset.least_units}]
    return sha256(dumps([account, declarations_of(dataset)], sort_keys=True).encode()).hexdigest()
