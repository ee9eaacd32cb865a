"""The story that `discreet demo` tells: a table, its protected twin, and chapters that ask real questions of both."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from math import exp
from tempfile import TemporaryDirectory
from textwrap import dedent, fill
from typing import TYPE_CHECKING, Any

from discreet.cli.show.answers import with_errors
from discreet.cli.show.errors import as_on_screen
from discreet.cli.show.screen import say, show, width
from discreet.cli.show.sheets import show_table
from discreet.cli.show.words import cut
from discreet.errors import BudgetExhausted, DiscreetError
from discreet.ledger.charges import in_words
from discreet.printable import printable

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.gateway import Protected
    from discreet.results import Answer

WIDTH = 78
BY_EDUCATION = """\
SELECT education, COUNT(*) AS people, AVG(income) AS income
FROM census GROUP BY education"""
COUNT = "SELECT COUNT(*) AS n FROM census"
TIMES = 50
OVER_FORTY = f"{COUNT} WHERE age >= 40"


def tell(people: pa.Table) -> None:
    """Tell the story from beginning to end."""
    with staged(people) as stage:
        for chapter in (
            people_who_dont_exist,
            what_the_custodian_says,
            a_private_answer,
            the_cost_before_it_is_spent,
            the_difference_of_two_sums,
            one_persons_secret,
            the_same_question_again,
            a_question_that_is_refused,
            the_budget_runs_out,
            the_account,
        ):
            chapter(stage)


def protect_census(people: pa.Table, ledger: str) -> Protected:
    """Protect the census: all that a custodian has to say about it."""
    import discreet as dp
    from discreet.census import EDUCATION

    return dp.protect(
        people,
        name="census",
        unit=dp.Unit.row(),  # nobody has two rows
        columns={
            "sex": dp.Keys(["Female", "Male"]),
            "education": dp.Keys(EDUCATION),  # the six levels
            "age": dp.Bounds(0, 125),
            "income": dp.Bounds(0, 500_000),  # more counts as 500,000
            "hours": dp.Bounds(0, 168),
        },
        budget=dp.Budget(epsilon=3),
        ledger=ledger,
    )


class Page:
    """The screen on which a story is told, folded to its width."""

    def title(self, text: str) -> None:
        """Begin a section."""
        from rich.text import Text

        show(Text(f"── {text} {'─' * (WIDTH - 4 - len(text))}"[: width()], style="bold"))
        say()

    def say(self, text: str) -> None:
        """A paragraph."""
        say(f"{fill(' '.join(text.split()), min(WIDTH, width() or WIDTH))}\n")

    def show(self, text: str, *, hang: int = 0) -> None:
        """Code, SQL, a plan or an error, indented. Long lines go on `hang` columns further in."""
        limit = min(WIDTH, width() or WIDTH)
        for line in text.strip("\n").splitlines():
            say(fill(printable(line), limit, initial_indent=" " * 4, subsequent_indent=" " * (4 + hang)))
        say()

    def table(
        self, names: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[bool] | None = None
    ) -> None:
        """A table."""
        show_table(names, rows, right=right)
        say()


@dataclass(frozen=True, slots=True)
class Stage(Page):
    """The tables and tools that the chapters share.

    Args:
        people: the census.
        tables: the same, protected.
        plain: a DuckDB connection that sees the census as it is, as only the custodian does.
    """

    people: pa.Table
    tables: Protected
    plain: Any

    def truth(self, sql: str) -> list[dict[str, Any]]:
        """The plain SQL's answer, row by row."""
        rows: list[dict[str, Any]] = self.plain.sql(sql).to_arrow_table().to_pylist()
        return rows


def private(answer: Answer, name: str) -> list[str]:
    """A column of an answer, each value with its ±."""
    return with_errors(answer.column(name), answer.interval(name))


@contextmanager
def staged(people: pa.Table) -> Iterator[Stage]:
    """The stage; the folder with its ledger is removed when the story ends."""
    import duckdb

    with (
        TemporaryDirectory(prefix="discreet-demo-") as folder,
        protect_census(people, f"{folder}/census.ledger") as tables,
        duckdb.connect() as plain,
    ):
        plain.register("census", people)
        yield Stage(people, tables, plain)


def people_who_dont_exist(stage: Stage) -> None:
    """The table, and why leaving out the names isn't enough."""
    stage.title("A table of people who don't exist")
    names = ["name", "dob", "zip", "sex", "education", "income", "hours"]
    first = stage.people.slice(0, 4).select(names)
    stage.table(names, [tuple(row.values()) for row in first.to_pylist()])
    unique = stage.truth("SELECT COUNT(*) AS n FROM (SELECT 1 FROM census GROUP BY dob, zip HAVING COUNT(*) = 1)")[0][
        "n"
    ]
    stage.say(
        f"""Made on the spot: {stage.people.num_rows:,} of them, with ids and ages as well. Leaving out the names
        would protect nobody: date of birth and ZIP together single out {unique:,} of them."""
    )


def what_the_custodian_says(stage: Stage) -> None:
    """The declaration, as it was run."""
    stage.title("What the custodian says")
    source = inspect.getsource(protect_census)
    stage.show(dedent(source[source.index("    return dp.") :].replace("return ", "", 1)))
    stage.say(
        """All of it is public knowledge: whose presence is hidden, what columns may hold, and how much all analysts
        together may ever learn about anyone: ε = 3. Nothing was read off the data."""
    )


def a_private_answer(stage: Stage) -> None:
    """True and private answers side by side."""
    stage.title("A private answer")
    stage.show(BY_EDUCATION)
    answer = stage.tables.ask(BY_EDUCATION, epsilon=1)
    truth = {row["education"]: row for row in stage.truth(BY_EDUCATION)}
    rows = [
        (level, truth[level]["people"], people, f"{truth[level]['income']:.0f}", income)
        for level, people, income in zip(
            answer["education"], private(answer, "people"), private(answer, "income"), strict=True
        )
    ]
    names = ("education", "people: truth", "private", "mean income: truth", "private")
    stage.table(names, rows, right=(False, True, True, True, True))
    held = [
        low <= truth[level][name] <= high
        for name in ("people", "income")
        for level, ends in zip(answer["education"], answer.interval(name), strict=True)
        if ends is not None
        for low, high in [ends]
    ]
    stage.say(
        f"""An analyst sees only the private columns. The ± is for 95 %, and {sum(held)} of these {len(held)} intervals
        hold the truth. It cost {answer.cost}; {stage.tables.remaining} is left."""
    )


def the_cost_before_it_is_spent(stage: Stage) -> None:
    """A plan, asked for by its accuracy."""
    stage.title("The cost, before it is spent")
    plan = stage.tables.plan(OVER_FORTY, within=30)
    stage.say(
        f"""Planning touches no data, so it is free. What would it cost to know how many are 40 or older, within ± 30 at
        95 %? {plan.cost}:"""
    )
    stage.show(plan.explain(), hang=10)


def the_difference_of_two_sums(stage: Stage) -> None:
    """The differencing attack, on the plain table and through discreet."""
    stage.title("An attack: the difference of two sums")
    person = stage.people.slice(0, 1).to_pylist()[0]
    everyone = "SELECT SUM(income) AS total FROM census"
    but_one = f"{everyone}\nWHERE NOT (dob = DATE '{person['dob']}' AND zip = '{person['zip']}')"
    stage.say(
        f"""Someone knows that {person["name"]} was born on {person["dob"]} and lives in ZIP {person["zip"]}, and wants
        to know what they earn. Neither of these sums looks like a question about one person:"""
    )
    stage.show(f"{everyone}\n{but_one}")
    true = [stage.truth(sql)[0]["total"] for sql in (everyone, but_one)]
    answers = [stage.tables.ask(sql, epsilon="0.25") for sql in (everyone, but_one)]
    noisy = [answer["total"][0] for answer in answers]
    # ± of a difference: each total is within its ± but for 2.5 %, so both are, and the difference, but for 5 %.
    ends = [answer.interval("total", 0.975)[0] for answer in answers]
    error = sum(high - low for low, high in filter(None, ends)) / 2
    rows = [
        (name, f"{plain:,.0f}", f"{value:,.0f} ± {width:,.0f}")
        for name, plain, value, width in (
            ("everyone", true[0], noisy[0], _half(answers[0].interval("total")[0])),
            ("all but one", true[1], noisy[1], _half(answers[1].interval("total")[0])),
            ("difference", true[0] - true[1], noisy[0] - noisy[1], error),
        )
    ]
    stage.table(("sum of incomes", "plain SQL", "discreet, ε = 0.25 each"), rows, right=(False, True, True))
    stage.say(
        f"""Plain SQL gave away {person["name"]}'s income to the dollar: {person["income"]:,}. Through discreet the sums
        are good to half a percent, and their difference says next to nothing about one person: it may be off by
        {error:,.0f}."""
    )


def one_persons_secret(stage: Stage) -> None:
    """A count that is 0 or 1: answered, and useless."""
    stage.title("An attack: ask straight away")
    person = stage.people.slice(0, 1).to_pylist()[0]
    sql = f"{COUNT}\nWHERE dob = DATE '{person['dob']}' AND zip = '{person['zip']}' AND income > 25000"
    stage.show(sql)
    answer = stage.tables.ask(sql, epsilon="0.1")
    truth = stage.truth(sql)[0]["n"]
    chance = exp(0.1) / (1 + exp(0.1))
    stage.say(
        f"""No rule could tell all such questions from honest ones, so discreet answers them:
        {private(answer, "n")[0]}. The truth is {truth}. At ε = 0.1, someone for whom it was an even bet is right in
        at most {chance:.1%} of cases after seeing this answer."""
    )


def the_same_question_again(stage: Stage) -> None:
    """The averaging attack meets the stored answer."""
    stage.title("An attack: ask again, and take the mean")
    before = stage.tables.spent
    answers = [stage.tables.ask(OVER_FORTY, epsilon="0.1") for _ in range(TIMES)]
    different = {answer["n"][0] for answer in answers}
    price = answers[0].cost
    fresh = 1.96 * (2 / 0.1**2 / TIMES) ** 0.5  # 95 % of a mean of Laplace noise, whose variance is 2/ε²
    stage.show(f"{OVER_FORTY}\n-- at {price}, {TIMES} times")
    budget = stage.tables.dataset.budget
    stage.say(
        f"""Truth {stage.truth(OVER_FORTY)[0]["n"]}, private {private(answers[0], "n")[0]}. With fresh noise each time,
        the mean of {TIMES} answers would be within ± {fresh:.0f}. Here a released answer is kept: the {TIMES} answers
        hold {len(different)} distinct value{"" if len(different) == 1 else "s"}, and were paid for once: spent
        {in_words(before, budget)} before, {in_words(stage.tables.spent, budget)} after."""
    )


def a_question_that_is_refused(stage: Stage) -> None:
    """A typed refusal with its place and fix; then the fix."""
    stage.title("A question that is refused")
    wrong = "SELECT sex, COUNT(*) AS n, AVG(heigth) AS mean\nFROM census GROUP BY sex"
    stage.show(wrong)
    try:
        stage.tables.ask(wrong, epsilon="0.1")
    except DiscreetError as refusal:
        stage.show(as_on_screen(refusal, wrong), hang=2)
    stage.say(
        """Errors name the cause, the place and the fix, and come before anything is paid. They can say that much
        because they depend only on the question and the declarations. Once data is touched, there is one error,
        without a reason."""
    )


def the_budget_runs_out(stage: Stage) -> None:
    """Questions until the budget refuses."""
    stage.title("The budget runs out")
    rows, refusal = [], None
    for hours in range(10, 100, 10):
        sql = f"{COUNT} WHERE hours >= {hours}"
        try:
            answer = stage.tables.ask(sql, epsilon="0.4")
        except BudgetExhausted as error:
            rows.append((f"hours >= {hours}", stage.truth(sql)[0]["n"], "refused", ""))
            refusal = error
            break
        left = str(stage.tables.remaining)
        rows.append((f"hours >= {hours}", stage.truth(sql)[0]["n"], private(answer, "n")[0], left))
    names = ("people with", "truth", "private, at ε = 0.4", "left")
    stage.table(names, rows, right=(False, True, True, False))
    if refusal is not None:
        stage.show(as_on_screen(refusal, ""), hang=2)
    stage.say(
        "What was asked before is still answered, because it is paid for; so is anything that fits in what is left."
    )


def the_account(stage: Stage) -> None:
    """History and verification."""
    stage.title("The account")
    budget = stage.tables.dataset.budget
    asked = [entry for entry in stage.tables.history() if entry.cost is not None]
    rows = [
        (entry.number, cut(entry.text, 48), in_words(entry.cost, budget), str(entry.state))
        for entry in asked
        if entry.cost is not None
    ]
    stage.table(("entry", "question", "cost", "state"), rows)
    found = stage.tables.verify()
    stage.say(
        f"""Each was paid for on disk before the data was touched, and is chained to the one before by its hash.
        Recomputed just now, chain and losses, with declarations and outcomes: {found}. Head:
        {found.head[:16]}…"""
    )


def your_turn() -> None:
    """The last chapter: how to go on."""
    page = Page()
    page.title("Your turn")
    page.say(
        "All of that was real, and all of it is gone now. To try it with a table of your own, or with these people:"
    )
    page.show(f'discreet demo --save census.csv\ndiscreet init census.csv\ndiscreet ask "{COUNT}" --epsilon 0.1')


def _half(ends: tuple[float, float] | None) -> float:
    """Half the width of an interval."""
    return 0.0 if ends is None else (ends[1] - ends[0]) / 2
