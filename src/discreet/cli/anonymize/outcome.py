"""What came of it: the release, how each column is shown, and attackers before and after."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.cli.anonymize.choices import Choices, Roles
from discreet.cli.anonymize.threats import Threat, attacked

if TYPE_CHECKING:
    from discreet.anonymity.hierarchies import Hierarchy
    from discreet.anonymity.records import Records
    from discreet.anonymity.reduce.anonymized import Anonymized


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """How a quasi-identifier is shown.

    Args:
        name: of the column.
        values: how many it had.
        cells: how many it has now.
        level: of its hierarchy; None where there are no levels.
        height: the highest level; None where there are no levels.
        origin: where its hierarchy is from.
    """

    name: str
    values: int
    cells: int
    level: int | None
    height: int | None
    origin: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Outcome:
    """A release and what there is to say of it.

    Args:
        release: with its figures.
        roles: of the columns.
        choices: how it was made.
        shown: how each quasi-identifier is shown.
        threats: what attackers can do.
        at_risk: what is still at risk in the release, the gravest first; in sentences.
        formulas: how many cells a spreadsheet would take for formulas.
    """

    release: Anonymized
    roles: Roles
    choices: Choices
    shown: tuple[Shown, ...]
    threats: tuple[Threat, ...]
    at_risk: tuple[str, ...]
    formulas: int

    def to_dict(self) -> dict[str, object]:
        """All of it but the table, as JSON-ready data."""
        found = self.release.to_dict()
        return {
            **found,
            "at_risk": None if self.release.repeated else list(self.at_risk),
            "identifying": list(self.roles.identifying),
            "kept": list(self.roles.kept),
            "left_out": list(self.roles.left_out),
            "columns": {
                each.name: {
                    "values": each.values,
                    "shown": each.cells,
                    "level": each.level,
                    "height": each.height,
                    "hierarchy": each.origin,
                }
                for each in self.shown
            },
            "attackers": [{"what": each.what, "before": each.before, "after": each.after} for each in self.threats],
            "formulas": self.formulas,
        }


def made(table: Records, roles: Roles, choices: Choices, unit: Sequence[str] | None = None) -> Outcome:
    """Make the release.

    Args:
        table: that was read.
        roles: of its columns.
        choices: how it is to be made.
        unit: the columns that say whose a row is, as they were named; None if nothing was said of it.

    Raises:
        InvalidArgument: the models can't be met, or an argument is wrong.
        SchemaMismatch: a hierarchy lacks values.
        SourceError: a hierarchy can't be read.
    """
    from discreet.anonymity.hierarchies import propose_hierarchy
    from discreet.anonymity.reduce.anonymize import anonymize
    from discreet.cli.anonymize.saving import formulas

    given = choices.read_hierarchies(roles.quasi_identifying)
    origins = {name: f"read from {choices.hierarchies[name].name}" for name in given}
    hierarchies: dict[str, Hierarchy] = dict(given)
    if choices.algorithm == "optimal":
        for name in roles.quasi_identifying:
            if name not in given:
                proposal = propose_hierarchy(table.column(name))
                hierarchies[name], origins[name] = proposal.hierarchy, f"proposed: {proposal.reason}"
    release = anonymize(
        table,
        quasi_identifiers=roles.quasi_identifying,
        sensitive=roles.sensitive,
        identifying=roles.identifying,
        insensitive=roles.kept,
        unit=unit,
        hierarchies=hierarchies,
        models=choices.models(table, roles.sensitive),
        suppression=choices.suppression,
        loss=choices.loss,
        algorithm=choices.algorithm,  # type: ignore[arg-type]  # one of its names, by the option
        local_recoding=choices.local_recoding,
        most_nodes=choices.nodes,
        missing=table.missing,
    )
    threats, at_risk = attacked(table, release, roles)
    return Outcome(
        release=release,
        roles=roles,
        choices=choices,
        shown=tuple(_shown(table, release, name, origins.get(name, "")) for name in roles.quasi_identifying),
        threats=threats,
        at_risk=at_risk,
        formulas=formulas(release.table),
    )


def _shown(table: Records, release: Anonymized, name: str, origin: str) -> Shown:
    """How a column is shown."""
    search = release.search
    local = search is None or release.algorithm != "optimal"
    return Shown(
        name=name,
        values=table.column(name).size,
        cells=release.records.column(name).size,
        level=None if search is None or local else search.levels[name],
        height=None if search is None or local else search.heights[name],
        origin=origin,
    )
