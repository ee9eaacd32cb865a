"""A finished release: the table, what its cells stand for, what it promises, what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from types import MappingProxyType
from typing import TYPE_CHECKING

from discreet.anonymity.attributes import Repeated, rows_counted
from discreet.anonymity.models.model import Model
from discreet.anonymity.records.records import Records
from discreet.anonymity.reduce.lattice.search import Search
from discreet.anonymity.reduce.recoding import Cells
from discreet.anonymity.risk.reidentification import Reidentification

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

CAVEAT = (
    "A model of anonymity is a property of this table alone. It says nothing about this table beside another release "
    "about the same people, nothing about an attacker who knows sensitive values, and it doesn't stop people from "
    "being singled out. It is no bound on what anybody can learn about a person."
)
"""What every release says about itself."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Anonymized:
    """A release that meets its models, checked on the released table itself.

    Args:
        table: the release. Quasi-identifiers are texts, other columns are as they were. It is sorted by all of its
            columns, so that it depends on which rows there were and not on their order.
        records: the same, coded. The codes of a quasi-identifier are places in the labels of its cells.
        cells: of each quasi-identifier, what its cells stand for in the original column.
        quasi_identifiers: names of columns.
        sensitive: names of columns.
        models: what was promised.
        reached: of each model, in words, what the release reaches.
        suppressed: how many rows were left out.
        rows: how many there were before.
        unit: the columns that say whose a row is; none if each row is a unit of its own. They aren't released.
        units: how many units there were before: people or households, or rows.
        touched: how many of them have rows that were left out.
        repeated: columns that identify and repeat though no unit is named. Then what is promised is promised of rows,
            and perhaps not of people.
        losses: what generalising and leaving out cost, by name; less is better.
        algorithm: that made it.
        search: how it was found; None where nothing was searched.
        risks: of who is re-identified in it all the same.
        caveat: what no release of this kind promises.
    """

    table: pa.Table
    records: Records
    cells: Mapping[str, Cells]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    models: tuple[Model, ...]
    reached: Mapping[str, float]
    suppressed: int
    rows: int
    unit: tuple[str, ...]
    units: int
    touched: int
    losses: Mapping[str, float]
    repeated: tuple[Repeated, ...] = ()
    algorithm: str = "optimal"
    search: Search | None = None
    risks: Reidentification | None = None
    caveat: str = CAVEAT

    def __post_init__(self) -> None:
        """Keep what was found from being changed."""
        for name in ("cells", "reached", "losses"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    def to_arrow(self) -> pa.Table:
        """The release."""
        return self.table

    def to_pandas(self) -> pd.DataFrame:
        """The release as pandas has it.

        Raises:
            ImportError: pandas isn't installed.
        """
        return self.table.to_pandas()

    def to_dict(self) -> dict[str, object]:
        """Everything but the table, as JSON-ready data; None where a model is reached without end."""
        return {
            "algorithm": self.algorithm,
            "models": [str(model) for model in self.models],
            "reached": {name: value if isfinite(value) else None for name, value in self.reached.items()},
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "rows": self.rows,
            "released": self.rows - self.suppressed,
            "suppressed": self.suppressed,
            "unit": list(self.unit),
            "units": self.units,
            "touched": self.touched,
            "repeated": [each.to_dict() for each in self.repeated],
            "losses": dict(self.losses),
            "search": None if self.search is None else self.search.to_dict(),
            "risks": None if self.risks is None else self.risks.to_dict(),
            "caveat": self.caveat,
        }

    def __str__(self) -> str:
        """What was released and what it cost, for people."""
        share = self.suppressed / self.rows if self.rows else 0.0
        by_unit = (
            {"units": f"{self.units:,}, of which {self.touched:,} have rows that are left out"} if self.unit else {}
        )
        of_rows = " of rows, not of people" if self.repeated else ""
        lines = {
            "promised": ", ".join(str(model) for model in self.models) + of_rows,
            "reached": ", ".join(f"{name}: {value:.4g}" for name, value in self.reached.items()),
            "rows": f"{self.rows - self.suppressed:,} of {self.rows:,} released, {share:.2%} left out",
            **by_unit,
            "losses": ", ".join(f"{name} {value:.4g}" for name, value in self.losses.items()),
        }
        if self.risks is not None:
            risk = self.risks.prosecutor
            lines["risk"] = (
                f"highest {risk.highest:.4g}, on average {risk.average:.4g}, for who knows that somebody is in it"
            )
        text = "\n".join(f"{name:<9} {text}" for name, text in lines.items())
        found = "" if self.search is None else f"\n{self.search}"
        first = f"{rows_counted(self.repeated)}\n" if self.repeated else ""
        return f"{first}{text}{found}\n{self.caveat}"
