"""Exact answers: to all questions, to all but those about few people or nearly all, or from anonymised rows.

Anonymised rows answer with each cell taken for one of the values that it stands for.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.anonymity.columns import Coded, Codes, Whole
from discreet.anonymity.grouping import distinct
from discreet.anonymity.records import Records, read
from discreet.attacks.targets.answering import Answering, Reply
from discreet.attacks.targets.compatible import CellsLike, stands_for
from discreet.attacks.targets.rows import Rows
from discreet.attacks.targets.sql_conditions import question, quoted
from discreet.attacks.unit_column import with_unit
from discreet.errors import InvalidArgument
from discreet.noise import uniform

if TYPE_CHECKING:
    import pyarrow as pa


class Exact(Answering):
    """Every question is answered, exactly: what attacks on private answers are compared with.

    It holds a copy of the table in memory and opens no file. It isn't a way to ask protected tables: it sees what it is
    handed, and who hands it over has the table.

    Args:
        table: a path, or a pandas, Polars or Arrow table, or a mapping from names to lists; or `Records`, which are
            counted by unit if they were read so.
        name: what questions call it.
        unit: the column that says whose a row is; if left out, each row is a unit of its own, or as it is for
            `Records`.

    Attributes:
        data: the table.
        owners: row → number of its unit; None if each row is a unit of its own.

    Raises:
        SourceError: the table can't be read.
        SchemaMismatch: it lacks the unit's column.
        InvalidArgument: a row doesn't say whose it is.

    Examples:
        >>> staff = Exact({"name": ["Ada", "Bob"], "pay": [70, 56]}, name="staff")
        >>> staff.ask("SELECT SUM(pay) FROM staff").value
        126
        >>> staff.rows("pay > 60").tolist()
        [True, False]
        >>> Exact({"id": [1, 1, 2], "ill": ["flu", "flu", "cold"]}, unit="id").count({"ill": "flu"}).value
        1
    """

    def __init__(self, table: object, *, name: str = "people", unit: str | None = None) -> None:
        records = read(table)
        self.data: pa.Table
        if unit is None:
            self.data, unit = with_unit(records)
            units = records.units
        else:
            self.data, units = records.to_arrow(), read(records, unit=unit).units
        super().__init__(name, unit=unit)
        self.owners = None if units is None else units.codes
        self._connection: Any = None

    @property
    def against(self) -> str:
        """The target in words, for results."""
        return "exact answers"

    def rows(self, condition: str) -> NDArray[np.bool_]:
        """Which rows meet a condition, in the table's order; what is neither true nor false counts as false."""
        found = self._run(question(f"COALESCE(({condition}), FALSE)", "TRUE", self.table)).fetchnumpy()["value"]
        return np.asarray(np.ma.filled(found, False), dtype=np.bool_)  # noqa: FBT003 — what a masked value becomes

    def people(self, rows: NDArray[np.bool_]) -> int:
        """How many people these rows are of."""
        return int(rows.sum()) if self.owners is None else len(distinct(self.owners[rows].astype(np.int64)))

    def _reply(self, sql: str) -> Reply:
        """The number itself; the sum of nothing is 0."""
        answer = self._run(sql).fetchall()
        if len(answer) != 1 or len(answer[0]) != 1:
            raise InvalidArgument("a question here has one number as its answer")
        value = 0 if answer[0][0] is None else answer[0][0]
        if not isinstance(value, int | float | Decimal):
            raise InvalidArgument("a question here has a number as its answer")
        number = float(value) if isinstance(value, Decimal) else value
        return Reply(value=number, deviation=0.0, epsilon=inf)

    def _run(self, sql: str) -> Any:  # noqa: ANN401 — DuckDB hands out no types of its own
        """Run SQL on the table.

        Raises:
            InvalidArgument: DuckDB won't. DuckDB's message may hold a value, so it isn't repeated.
        """
        import duckdb

        try:
            if self._connection is None:
                connection = duckdb.connect(config={"enable_external_access": "false", "threads": "1"})
                handed = f"{self.table}, as handed over"
                connection.register(handed, self.data)
                # A table of DuckDB's own: to read Arrow's each time takes longer than most questions do.
                connection.execute(f"CREATE TEMP TABLE {quoted(self.table)} AS FROM {quoted(handed)}")
                connection.unregister(handed)
                self._connection = connection
            return self._connection.execute(sql)
        except duckdb.Error as error:
            raise InvalidArgument(
                f"DuckDB can't run this question ({type(error).__name__})", hint="the question as DuckDB spells it"
            ) from None


class Restricted(Exact):
    """Exact aggregates that have rows of `smallest` people or more, and leave rows of as many out.

    Guarantee: none; see `discreet.attacks.answers.differencing`.

    Args:
        table: as for `Exact`.
        name: what questions call it.
        smallest: the fewest people of whom an answer may have rows, or leave rows out; 1 or more.
        unit: as for `Exact`; without it people are rows.

    Raises:
        SourceError: the table can't be read.
        SchemaMismatch: it lacks the unit's column.
        InvalidArgument: `smallest` is below 1, or a row doesn't say whose it is.

    Examples:
        >>> staff = Restricted({"pay": [70, 56, 48, 61]}, name="staff", smallest=2)
        >>> staff.aggregate("SUM(pay)", "pay > 60").value, staff.aggregate("SUM(pay)", "pay > 69").refusal
        (131, 'too_few_rows')
    """

    def __init__(self, table: object, *, name: str = "people", smallest: int, unit: str | None = None) -> None:
        if smallest < 1:
            raise InvalidArgument("an answer is about 1 row or more")
        super().__init__(table, name=name, unit=unit)
        self.smallest = smallest

    @property
    def against(self) -> str:
        """The target in words, for results."""
        people = "rows" if self.unit is None else "units"
        return f"exact answers about {self.smallest:,} {people} or more, and all but {self.smallest:,} or fewer"

    def ask(self, sql: str) -> Reply:  # noqa: ARG002 — it is refused, whatever it says
        """Refuse questions in SQL of their own: their rows couldn't be counted.

        Raises:
            InvalidArgument: always.
        """
        raise InvalidArgument("restricted answers are aggregates under a condition", hint="aggregate(…)")

    def aggregate(self, measure: str, condition: str = "TRUE") -> Reply:
        """An aggregate, unless it is about too few people, or leaves rows of too few out."""
        inside = self.rows(condition)
        if min(self.people(inside), self.people(~inside)) >= self.smallest:
            reply = self._reply(question(measure, condition, self.table))
        else:
            reply = Reply.refused("too_few_rows")
        self.replies.append(reply)
        return reply


class Imputed(Exact):
    """Answers that an attacker reads off anonymised rows where they would rather ask questions.

    Each generalised cell is replaced, once, by a value that it stands for, all of these alike; every question is then
    answered exactly on what that makes. Rows of one unit that have the same cell get the same value there. So it always
    gives the same answer, and is wrong by as much as cells are wide.

    Args:
        rows: anonymised, with their cells and the table that they were made of.
        name: what questions call the table.

    Raises:
        InvalidArgument: it isn't known what the cells stand for.

    Examples:
        >>> from discreet.anonymity import KAnonymity, anonymize, read
        >>> people = read({"age": [31, 31, 47, 47], "ill": ["flu", "cold", "flu", "gout"]})
        >>> release = anonymize(
        ...     people, quasi_identifiers=["age"], sensitive=["ill"], models=[KAnonymity(2)], algorithm="mondrian"
        ... )
        >>> crowd = Imputed(Rows.of(release, original=people))
        >>> crowd.count({"age": 31, "ill": "flu"}).value
        1
    """

    def __init__(self, rows: Rows, *, name: str = "people") -> None:
        super().__init__(_drawn(rows), name=name)
        self._against = rows.name

    @property
    def against(self) -> str:
        """The target in words, for results."""
        return self._against

    def _reply(self, sql: str) -> Reply:
        """An exact answer about values that were drawn: how far it is off isn't known."""
        return replace(super()._reply(sql), deviation=None)


def _drawn(rows: Rows) -> Records:
    """The rows with a value for each cell, and the units that they have."""
    import pyarrow as pa

    units = rows.records.units
    columns = {}
    for name, released in rows.records.columns.items():
        covered = rows.covered(name)
        if covered is None:
            columns[name] = released.values.take(released.codes)
        else:
            cells, original = covered
            columns[name] = original.values.take(_values(released, cells, None if units is None else units.codes))
    return replace(read(pa.table(columns)), units=units)


def _values(released: Coded, cells: CellsLike, owners: Codes | None) -> Codes:
    """For each row, a value that its cell stands for; the same in all rows of one owner that have the cell."""
    covered = stands_for(released, cells)
    sizes = np.array([len(each) for each in covered], dtype=np.int64)
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    # An even number below 2^40, scaled down to the cell's size: no value's share is off by more than one in 10^8.
    chance: Whole = uniform(1 << 40, released.rows)
    if owners is not None:
        alike = owners.astype(np.int64) * released.size + released.codes
        chance = chance[np.unique(alike, return_inverse=True)[1]]  # the n-th different one takes the n-th number
    chosen = starts[released.codes] + (chance * sizes[released.codes] >> 40)
    return np.concatenate(covered)[chosen].astype(np.int32) if released.rows else released.codes
