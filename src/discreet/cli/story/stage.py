"""The stage of the demo: the custodian's own table, the protected one, and how both are shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from textwrap import fill
from typing import TYPE_CHECKING, Any

from discreet.cli.common.answers import with_errors
from discreet.cli.common.screen import console, printable, say
from discreet.cli.common.sheets import show_table

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.gateway import Protected
    from discreet.results import Answer

WIDTH = 78


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


@dataclass(frozen=True, slots=True)
class Stage:
    """What the story is told with.

    Args:
        people: the census.
        tables: the same, protected.
        plain: a DuckDB connection that sees the census as it is: what the custodian sees, and nobody else.
    """

    people: pa.Table
    tables: Protected
    plain: Any

    def truth(self, sql: str) -> list[dict[str, Any]]:
        """The plain SQL's answer, row by row."""
        rows: list[dict[str, Any]] = self.plain.sql(sql).to_arrow_table().to_pylist()
        return rows

    def title(self, text: str) -> None:
        """A section begins."""
        from rich.text import Text

        console().print(Text(f"── {text} {'─' * (WIDTH - 4 - len(text))}", style="bold"), end="\n\n")

    def say(self, text: str) -> None:
        """A paragraph."""
        say(f"{fill(' '.join(text.split()), WIDTH)}\n")

    def show(self, text: str, *, hang: int = 0) -> None:
        """Code, SQL, a plan, an error: indented, and as it is, but for long lines, which go on `hang` further in."""
        for line in text.strip("\n").splitlines():
            say(fill(printable(line), WIDTH, initial_indent=" " * 4, subsequent_indent=" " * (4 + hang)))
        say()

    def table(
        self, names: Sequence[str], rows: Sequence[Sequence[object]], right: Sequence[bool] | None = None
    ) -> None:
        """A table."""
        show_table(names, rows, right=right)
        say()


def private(answer: Answer, name: str) -> list[str]:
    """A column of an answer, each value with its ±."""
    return with_errors(answer[name], answer.interval(name))


@contextmanager
def staged(people: pa.Table) -> Iterator[Stage]:
    """The stage; its ledger lies in a folder of its own, which goes when the story ends."""
    import duckdb

    with (
        TemporaryDirectory(prefix="discreet-demo-") as folder,
        protect_census(people, f"{folder}/census.ledger") as tables,
        duckdb.connect() as plain,
    ):
        plain.register("census", people)
        yield Stage(people, tables, plain)
