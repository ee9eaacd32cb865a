"""Explanations: what EXPLAIN gives instead of an answer; nothing was spent, and no data was touched."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import InvalidArgument
from discreet.query.planner import Plan

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


@dataclass(frozen=True)
class Explanation:
    """A plan in words, to be read like an answer: one column of text, one row for each line.

    Args:
        plan: what would be done; `ask` carries it out.

    Examples:
        >>> explanation = census.ask("EXPLAIN SELECT COUNT(*) AS n FROM census", epsilon=1)  # doctest: +SKIP
        >>> explanation["plan"][0]                                                           # doctest: +SKIP
        'question  SELECT COUNT(*) AS n FROM census'
    """

    plan: Plan

    @property
    def names(self) -> tuple[str, ...]:
        """The name of the column."""
        return ("plan",)

    def __len__(self) -> int:
        """The number of lines."""
        return len(self["plan"])

    def __getitem__(self, name: str) -> list[str]:
        """The lines.

        Raises:
            InvalidArgument: any other column.
        """
        if name != "plan":
            raise InvalidArgument(f"the explanation has no column {name!r}", hint="it has plan")
        return self.plan.explain().splitlines()

    def rows(self) -> list[dict[str, str]]:
        """The explanation line by line."""
        return [{"plan": line} for line in self["plan"]]

    def to_arrow(self) -> pa.Table:
        """The explanation as an Arrow table."""
        import pyarrow as pa

        return pa.table({"plan": pa.array(self["plan"], type=pa.string())})

    def to_pandas(self) -> pd.DataFrame:
        """The explanation as a pandas frame; needs pandas."""
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """The explanation as a Polars frame; needs Polars."""
        import polars as pl

        return pl.DataFrame(self.to_arrow())

    def __str__(self) -> str:
        """The plan in words."""
        return self.plan.explain()
