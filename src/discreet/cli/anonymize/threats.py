"""What attackers can do with the table as it was, and with the release; and what is still at risk in that.

There are two: one knows the columns that become coarser; the other knows those that are kept as they are, too. Nobody
is said to be known by these, so they are no quasi-identifiers, and no model is about them. The figures say what that is
worth.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.cli.anonymize.choices import Roles

if TYPE_CHECKING:
    from discreet.anonymity.classes.frequency_table import Frequencies
    from discreet.anonymity.records import Records
    from discreet.anonymity.reduce.anonymized import Anonymized
    from discreet.anonymity.risk.exposure import Exposure
    from discreet.anonymity.risk.reidentification import Reidentification
    from discreet.anonymity.risk.words import Noun


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


def attacked(table: Records, release: Anonymized, roles: Roles) -> tuple[tuple[Threat, ...], tuple[str, ...]]:
    """What attackers can do before and after, and what is still at risk; counted on the tables themselves.

    Args:
        table: as it was.
        release: what became of it.
        roles: of the columns.
    """
    from discreet.anonymity.risk.words import Noun

    noun = Noun.of(release.unit)
    known = _Sides.of(table, release, release.quasi_identifiers, roles.sensitive)
    threats = _threats(known, noun, "")
    risks = known.sentences(noun, "")
    if roles.kept:
        more = _Sides.of(table, release, [*release.quasi_identifiers, *roles.kept], roles.sensitive)
        whoever = f" if {', '.join(roles.kept)} {'is' if len(roles.kept) == 1 else 'are'} known, too"
        threats += _threats(more, noun, whoever)
        risks = [*more.sentences(noun, whoever), *risks]
    return tuple(threats), tuple(risks)


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
        from discreet.anonymity.classes.frequency_table import frequencies_of
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
        """What is still at risk, the gravest first."""
        from discreet.anonymity.risk.words import percent

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
    """What somebody can do, as rows of a table."""
    from discreet.anonymity.risk.words import percent

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
