"""The outcome: the release, how each column is shown, and what attackers can do before and after.

There are two attackers: one knows the columns that become coarser; the other knows those that are kept as they are,
too. Nobody is said to be known by these, so they are no quasi-identifiers, and no model is about them. The figures say
what that is worth.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.cli.anonymize.choices import Choices, Roles
from discreet.results import no_formula

if TYPE_CHECKING:
    import pyarrow as pa

    from discreet.anonymity.frequencies import Frequencies
    from discreet.anonymity.records import Records
    from discreet.anonymity.reduce.anonymized import Anonymized
    from discreet.anonymity.risk.exposure import Exposure
    from discreet.anonymity.risk.reidentification import Reidentification
    from discreet.anonymity.words import Noun

_NUMBER = re.compile(r"[ ]*[+-]?[0-9.]+(?:[eE][+-]?[0-9]+)?%?[ ]*", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The form in which a quasi-identifier is shown.

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Threat:
    """Something that an attacker can do: with the table as it was, and with the release.

    Args:
        what: in words.
        before: as a share, or as a number of units.
        after: the same with the release.
    """

    what: str
    before: float | int
    after: float | int


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
        formulas: how many cells a spreadsheet would take for formulas, where they are left as they are.
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
        choices: how to make it.
        unit: the columns that say whose a row is, as they were named; None if nothing was said of it.

    Raises:
        InvalidArgument: the models can't be met, or an argument is wrong.
        SchemaMismatch: a hierarchy lacks values.
        SourceError: a hierarchy can't be read.
    """
    from discreet.anonymity.hierarchies import propose_hierarchy
    from discreet.anonymity.reduce.anonymize import anonymize

    given = choices.read_hierarchies(roles.quasi_identifying)
    origins = {name: f"read from {choices.hierarchies[name].name}" for name in given}
    release = anonymize(
        table,
        quasi_identifiers=roles.quasi_identifying,
        sensitive=roles.sensitive,
        identifying=roles.identifying,
        insensitive=roles.kept,
        unit=unit,
        hierarchies=given,
        models=choices.models(table, roles.sensitive),
        suppression=choices.suppression,
        loss=choices.loss,
        algorithm=choices.algorithm,  # type: ignore[arg-type]  # one of its names, by the option
        local_recoding=choices.local_recoding,
        most_nodes=choices.nodes,
        missing=table.missing,
    )
    if release.search is not None:
        for name in (name for name in roles.quasi_identifying if name not in given):
            origins[name] = f"proposed: {propose_hierarchy(table.column(name)).reason}"
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


def formulas(table: pa.Table) -> int:
    """How many cells a spreadsheet would take for formulas: texts that begin with =, +, - or @ and aren't numbers.

    Examples:
        >>> import pyarrow as pa
        >>> formulas(pa.table({"a": ["=1+1", "-5", "b", None], "n": [-1, 2, 3, 4]}))
        1
    """
    import pyarrow as pa

    found = 0
    for column in table.columns:
        if pa.types.is_dictionary(column.type) or is_text(column.type):
            counted = column.value_counts().to_pylist()
            found += sum(each["counts"] for each in counted if is_formula(each["values"]))
    return found


def is_text(kind: pa.DataType) -> bool:
    """Whether a column of this type holds texts."""
    import pyarrow as pa

    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def is_formula(value: object) -> bool:
    """Whether a spreadsheet would take a cell for a formula; not if it reads as a number."""
    return isinstance(value, str) and no_formula(value) != value and _NUMBER.fullmatch(value) is None


def attacked(table: Records, release: Anonymized, roles: Roles) -> tuple[tuple[Threat, ...], tuple[str, ...]]:
    """Attack the tables before and after, and count what is still at risk.

    Args:
        table: as it was.
        release: what became of it.
        roles: of the columns.
    """
    from discreet.anonymity.words import Noun

    noun = Noun.of(release.unit)
    known = _Sides.of(table, release, release.quasi_identifiers, roles.sensitive)
    threats = _threats(known, noun, "")
    risks = known.sentences(noun, "")
    if roles.kept:
        more = _Sides.of(table, release, [*release.quasi_identifiers, *roles.kept], roles.sensitive)
        whoever = f" if {', '.join(roles.kept)} {'is' if len(roles.kept) == 1 else 'are'} known, too"
        threats += _threats(more, noun, whoever)
        risks = [*more.sentences(noun, whoever), *risks]
    held = [(name, roles.held(name)) for name in (*roles.kept, *roles.sensitive)]
    leading = [*map(str, release.gathered), *(f"{name} holds {what}" for name, what in held if what)]
    return tuple(threats), (*leading, *risks)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sides:
    """The figures of an attacker who knows some columns: before and after.

    Args:
        risks: of being found.
        exposures: of each sensitive column, what the classes say of it.
    """

    risks: tuple[Reidentification, Reidentification]
    exposures: tuple[tuple[Exposure, Exposure], ...]

    @classmethod
    def of(cls, table: Records, release: Anonymized, known: Sequence[str], sensitive: Sequence[str]) -> _Sides:
        """Count them."""
        from discreet.anonymity.frequencies import frequencies_of
        from discreet.anonymity.risk.exposure import exposure_of
        from discreet.anonymity.risk.reidentification import reidentification_of

        names: Sequence[str | None] = sensitive or (None,)

        def counted(records: Records) -> list[Frequencies]:
            """The classes, beside each sensitive column."""
            return [frequencies_of(records, known, name) for name in names]

        before, after = counted(table), counted(release.records)
        return cls(
            risks=(reidentification_of(before[0]), reidentification_of(after[0])),
            exposures=tuple(
                (exposure_of(one), exposure_of(other)) for one, other in zip(before, after, strict=True) if sensitive
            ),
        )

    def sentences(self, noun: Noun, whoever: str) -> list[str]:
        """The remaining risks, the gravest first."""
        from discreet.anonymity.words import percent

        found, after = [], self.risks[1]
        unique = after.sizes.unique
        if unique:
            found.append(f"{noun.counted(unique)} {'is' if unique == 1 else 'are'} unique{whoever}")
        elif after.sizes.total:
            found.append(
                f"the highest risk of a {noun.one} to be found is {percent(after.prosecutor.highest)}{whoever}"
            )
        for _, exposure in self.exposures:
            if exposure.homogeneous and exposure.values > 1:
                found.append(f"{exposure.sensitive} of {noun.counted(exposure.homogeneous)} is certain{whoever}")
        return found


def _threats(sides: _Sides, noun: Noun, whoever: str) -> list[Threat]:
    """An attacker's chances, as rows of a table."""
    from discreet.anonymity.words import percent

    before, after = sides.risks
    one, other = before.prosecutor, after.prosecutor
    above = percent(float(before.threshold))
    threats = [
        Threat(what=f"{noun.many} that are unique{whoever}", before=before.sizes.unique, after=after.sizes.unique),
        Threat(what=f"highest risk of a {noun.one}{whoever}", before=one.highest, after=other.highest),
        Threat(what=f"average risk of a {noun.one}{whoever}", before=one.average, after=other.average),
        Threat(what=f"{noun.many} above {above}{whoever}", before=one.at_risk, after=other.at_risk),
    ]
    for first, second in sides.exposures:
        name = first.sensitive
        threats += [
            Threat(
                what=f"right guesses of {name}{whoever} ({percent(first.baseline)} without it)",
                before=first.guessed,
                after=second.guessed,
            ),
            Threat(
                what=f"{noun.many} whose {name} is certain{whoever}", before=first.homogeneous, after=second.homogeneous
            ),
        ]
    return threats
