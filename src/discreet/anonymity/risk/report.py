"""The risk report: all figures on who is singled out in a table, from one reading of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from discreet.anonymity.arrow import Unread
from discreet.anonymity.attributes import AttributeGuess, Attributes, confirm, guess_attributes, repeated
from discreet.anonymity.class_sizes import class_sizes
from discreet.anonymity.classes import classes_of, sizes_of
from discreet.anonymity.frequencies import Frequencies, frequencies_of
from discreet.anonymity.hierarchies.texts import are_stars, dated
from discreet.anonymity.models import Model
from discreet.anonymity.models.model import Checked, checked
from discreet.anonymity.records import Missing, Records, Unit, read
from discreet.anonymity.risk.advice import Figures, SurelyKnown, advise, lookalikes_of
from discreet.anonymity.risk.exposure import exposure_of
from discreet.anonymity.risk.identifiers import SHARE, Identifiers, identifiers_of
from discreet.anonymity.risk.partition import Start, start
from discreet.anonymity.risk.population import estimated, sample_of
from discreet.anonymity.risk.reidentification import THRESHOLD, register_of, reidentification_of, smallest_safe
from discreet.anonymity.risk.remedies import column_risks, plan_of, remedies_of
from discreet.anonymity.risk.report_text import CAVEAT, written
from discreet.anonymity.risk.safe_harbor import safe_harbor
from discreet.anonymity.risk.three_risks import NamedRisk, three_risks
from discreet.anonymity.risk.uniqueness import uniqueness_of
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable
from discreet.hints import Hint
from discreet.tables.content import ColumnContent

_NAME_SOME = Hint("name some: quasi_identifiers=[…]", cli="name some: --quasi-identifying COLUMNS")
_WORK = 40_000_000
"""Sets of columns are tried up to a number of columns at which this many cells are visited: a fraction of a second."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RiskReport(Figures):
    """The risks of a table: who can be singled out, by what, and what it would cost to stop it.

    Args:
        rows: of the table.
        silent: how many of them say nothing, as each of their quasi-identifiers is `*`: a release left them out, so
            that nobody is found by them and nobody hides behind them. They count nowhere else.
        units: how many units are counted: rows, or the people or households that rows belong to.
        unit: the columns that say whose a row is; none if each row is a unit of its own.
        repeated: columns that identify and repeat though no unit is named. Then rows were counted and perhaps not
            people, so that there is no verdict: neither k nor advice is given.
        missing: what a missing value was taken to be.
        unread: what the source has beside the rows that were read.
        population_unread: the same of the population, if there was one.
        attributes: of each column what it was guessed to be, and why; None if the user said it.
        identifying: columns that name people on their own; not looked into, as they must go.
        quasi_identifiers: columns that an attacker may know.
        sensitive: columns that others must not learn.
        surely_known: the verdict for those that something shows to be known; None if all are, or nothing was guessed.
        contents: for each column, what its values look like: addresses, numbers with check digits, names, dates, notes.
        lookalikes: what columns of texts look like that seem to be numbers or dates, by column.
        uniqueness: how well the quasi-identifiers tell rows apart.
        reidentification: the risks that follow.
        exposures: what the classes say of each sensitive column.
        checked: the models that the user asked for.
        columns: what each quasi-identifier adds, the one that adds most first.
        identifiers: the minimal sets of quasi-identifiers that identify.
        population: estimates for the population; None if no sampling fraction was given.
        remedies: what changing single columns would save, the best first.
        plan: one way to leave few rows in classes that are too small: changes one after the other.
        safe_harbor: HIPAA's eighteen identifiers, and the columns in which each was found.
    """

    @property
    def three_risks(self) -> tuple[NamedRisk, ...]:
        """The three risks of the European authorities' opinion, WP216: singling out, linkability, inference."""
        return three_risks(self)

    @property
    def advice(self) -> tuple[str, ...]:
        """Advice, in sentences that follow from the figures."""
        return advise(self)

    @property
    def caveat(self) -> str:
        """The limits of the report."""
        return CAVEAT

    def to_dict(self) -> dict[str, object]:
        """The report as JSON-ready data; None where a figure is infinite."""
        guesses = () if self.attributes is None else self.attributes.guesses
        return {
            "rows": self.rows,
            "silent": self.silent,
            "unit": list(self.unit),
            "units": self.units,
            "repeated": [each.to_dict() for each in self.repeated],
            "missing": str(self.missing),
            "unread": list(self.not_read),
            "guessed": {each.column: {"kind": str(each.kind), "reason": each.reason} for each in guesses},
            "identifying": list(self.identifying),
            "quasi_identifiers": list(self.quasi_identifiers),
            "sensitive": list(self.sensitive),
            "surely_known": None if self.surely_known is None else self.surely_known.to_dict(),
            "contents": {name: each.to_dict() for name, each in self.contents.items() if each.found},
            "lookalikes": dict(self.lookalikes),
            "k": self.k,
            "uniqueness": self.uniqueness.to_dict(),
            "reidentification": self.reidentification.to_dict(),
            "exposures": [each.to_dict() for each in self.exposures],
            "checked": [each.to_dict() for each in self.checked],
            "columns": [each.to_dict() for each in self.columns],
            "identifiers": self.identifiers.to_dict(),
            "population": None if self.population is None else self.population.to_dict(),
            "remedies": [each.to_dict() for each in self.remedies],
            "plan": [each.to_dict() for each in self.plan],
            "three_risks": [each.to_dict() for each in self.three_risks],
            "safe_harbor": [each.to_dict() for each in self.safe_harbor],
            "advice": list(self.advice),
            "caveat": self.caveat,
        }

    def __str__(self) -> str:
        return written(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Roles:
    """The roles of the columns.

    Args:
        identifying: columns that name people on their own.
        quasi_identifiers: columns that an attacker may know; one or more.
        sensitive: columns that others must not learn.
        contents: what the values of each column look like.
        guesses: what each column was guessed to be, whatever the user said.
        attributes: how that was guessed; None if the user said it.
    """

    identifying: tuple[str, ...]
    quasi_identifiers: tuple[str, ...]
    sensitive: tuple[str, ...]
    contents: Mapping[str, ColumnContent]
    guesses: tuple[AttributeGuess, ...]
    attributes: Attributes | None = None


def assess(  # noqa: PLR0913 — a table, its columns' roles, and what is known beside it
    table: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] | None = None,
    identifying: Sequence[str] | None = None,
    unit: Unit = None,
    models: Sequence[Model] = (),
    sampling_fraction: Rationalizable | None = None,
    population: object | None = None,
    threshold: Rationalizable = THRESHOLD,
    share: Rationalizable = SHARE,
    missing: Missing | str | None = None,
) -> RiskReport:
    """Assess who can be singled out in a table, by what, and what it would cost to stop it.

    Everything is counted, nothing drawn: the same rows in any order give the same report. For each sensitive column
    the table is grouped once, and all figures come from these counts.

    Args:
        table: a path, a pandas, Polars or Arrow table, or `Records`.
        quasi_identifiers: the columns that an attacker may know. If left out, what each column is that isn't named
            here is guessed, cautiously; the report says so.
        sensitive: the columns that others must not learn; none if left out beside quasi-identifiers.
        identifying: the columns that name people on their own; they are only named, since they must go.
        unit: the column, or columns, that say whose a row is: a person's or a household's number. Rows of one unit are
            counted as one; `()` says that each row is a unit of its own. If it is left out and a column that identifies
            repeats, the report says so, and gives no verdict.
        models: promises to check, such as `KAnonymity(5)`; one with a sensitive attribute needs it to be named.
        sampling_fraction: the share of the population that the units are, drawn evenly; for estimates of it.
        population: a table of everyone the rows were drawn from, with the same quasi-identifiers.
        threshold: above this risk a unit is at risk; in (0, 1].
        share: a set of columns identifies if it singles out more than this share of the units; in [0, 1).
        missing: what a missing value is taken to be; as in `read`.

    Raises:
        InvalidArgument: no column is quasi-identifying, one has two roles, a number is out of range, or the population
            has fewer units than the table; a row doesn't say whose it is; or `sampling_fraction` is given, and a unit's
            rows differ in their quasi-identifiers.
        SchemaMismatch: a table lacks a column.

    Examples:
        >>> people = {"age": [42, 52, 36, 24, 73], "zip": ["1", "1", "2", "2", "2"], "ill": ["a", "b", "a", "b", "a"]}
        >>> report = assess(people, quasi_identifiers=["age", "zip"], sensitive=["ill"])
        >>> report.k, report.reidentification.prosecutor.average, report.columns[0].name
        (1, 1.0, 'age')
        >>> print(report.advice[0])
        5 of 5 rows (100 %) hide among fewer than 5, and all of them are unique.
    """
    everything, roles = _read(
        table,
        quasi_identifiers=quasi_identifiers,
        sensitive=sensitive,
        identifying=identifying,
        unit=unit,
        missing=missing,
    )
    records = _counted(everything, roles, spelled=population is not None)
    register = register_of(population, roles.quasi_identifiers, records)
    names: Sequence[str | None] = roles.sensitive or (None,)
    tables = [frequencies_of(records, roles.quasi_identifiers, name, register) for name in names]
    first = tables[0]
    if first.classes is None:
        raise InvalidArgument("a report needs the classes that it is about")
    risk = reidentification_of(first, threshold)
    begin = start(records, first.classes.names, first.classes)
    columns = column_risks(records, begin)
    safe = smallest_safe(risk.threshold)
    estimate = None if sampling_fraction is None else estimated(sample_of(first.classes), sampling_fraction)
    return RiskReport(
        rows=everything.rows,
        silent=everything.rows - records.rows,
        units=records.counted,
        unit=() if records.units is None else records.units.names,
        repeated=() if unit is not None else repeated(everything, roles.identifying),
        missing=records.missing,
        unread=records.unread,
        population_unread=Unread() if register is None else register.unread,
        attributes=roles.attributes,
        identifying=roles.identifying,
        quasi_identifiers=roles.quasi_identifiers,
        sensitive=roles.sensitive,
        surely_known=_surely_known(records, roles),
        contents=roles.contents,
        lookalikes=lookalikes_of(everything),
        uniqueness=uniqueness_of(records, first.classes),
        reidentification=risk,
        exposures=tuple(exposure_of(each) for each in tables if each.sensitive is not None),
        checked=_checked(models, tables),
        columns=columns,
        identifiers=_identifiers(records, begin, first.number, share),
        population=estimate,
        remedies=remedies_of(first.classes, columns, records.missing, safe=safe),
        plan=plan_of(first.classes, columns, records.missing, safe=safe),
        safe_harbor=safe_harbor(everything, roles.guesses, roles.identifying),
    )


def _read(  # noqa: PLR0913 — a table, and the roles of its columns
    table: object,
    *,
    quasi_identifiers: Sequence[str] | None,
    sensitive: Sequence[str] | None,
    identifying: Sequence[str] | None,
    unit: Unit,
    missing: Missing | str | None,
) -> tuple[Records, _Roles]:
    """The table, with all columns that matter, and what they are.

    Raises:
        InvalidArgument: no column is quasi-identifying, one has two roles, or one says whose a row is and has another.
        SchemaMismatch: the table lacks a column.
    """
    for names in (quasi_identifiers, sensitive, identifying):
        if isinstance(names, str):
            raise InvalidArgument("columns are a list of names", hint=f"[{names!r}]")
    records = read(table, unit=unit, missing=missing)
    identifying = records.identifying(identifying or ())
    guesses = guess_attributes(records)
    contents = {each.column: each.content for each in guesses}
    if quasi_identifiers is None:
        settled = confirm(guesses, identifying=identifying, sensitive=sensitive or ())
        if not settled.quasi_identifying:
            rows = "the table has no rows, so its columns say nothing"
            raise InvalidArgument("no column seems quasi-identifying" if records.rows else rows, hint=_NAME_SOME)
        roles = _Roles(
            identifying=settled.identifying,
            quasi_identifiers=settled.quasi_identifying,
            sensitive=settled.sensitive,
            contents=contents,
            guesses=guesses,
            attributes=settled,
        )
        return records, roles
    roles = _Roles(
        identifying=identifying,
        quasi_identifiers=tuple(quasi_identifiers),
        sensitive=tuple(sensitive or ()),
        contents=contents,
        guesses=guesses,
    )
    named = [*roles.quasi_identifiers, *roles.sensitive, *roles.identifying]
    if not roles.quasi_identifiers:
        raise InvalidArgument("a report needs one or more quasi-identifiers", hint=_NAME_SOME)
    if len(set(named)) < len(named):
        twice = next(name for place, name in enumerate(named) if name in named[:place])
        raise InvalidArgument(f"the column {twice!r} is named twice")
    for name in named:
        records.column(name)  # a misspelt one that identifies would go unlooked at
    return records, roles


def _counted(everything: Records, roles: _Roles, *, spelled: bool) -> Records:
    """The rows that are counted: those that say something in their quasi-identifiers, or all if none does.

    Args:
        everything: the table.
        roles: of its columns.
        spelled: whether dates stay as they are spelled, as in a population, where otherwise nobody would be found.
    """
    records = everything.only([*roles.quasi_identifiers, *roles.sensitive])
    columns = [records.column(name) for name in roles.quasi_identifiers]
    stars = [are_stars(column) for column in columns]
    if all(each.any() for each in stars):
        silent = np.logical_and.reduce([each[column.codes] for each, column in zip(stars, columns, strict=True)])
        if not silent.all():
            records = records.take(np.flatnonzero(~silent))
    return records if spelled else dated(records, roles.quasi_identifiers)[0]


def _surely_known(records: Records, roles: _Roles) -> SurelyKnown | None:
    """The uniqueness by those quasi-identifiers alone that are surely known; None if nothing was guessed."""
    if roles.attributes is None:
        return None
    surely = {guess.column for guess in roles.attributes.guesses if guess.is_surely_known}
    columns = tuple(name for name in roles.quasi_identifiers if name in surely)
    guessed = len(roles.quasi_identifiers) - len(columns)
    if not guessed:
        return None
    empty = class_sizes(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))
    sizes = sizes_of(classes_of(records, columns)) if columns else empty
    return SurelyKnown(columns=columns, guessed=guessed, sizes=sizes)


def _checked(models: Sequence[Model], tables: Sequence[Frequencies]) -> tuple[Checked, ...]:
    """Whether the promises that were asked for are kept.

    Raises:
        InvalidArgument: one is about a column that isn't sensitive here.
    """
    found: list[Checked] = []
    for model in models:
        fitting = [each for each in tables if model.sensitive in {None, each.sensitive and each.sensitive.name}]
        if not fitting:
            raise InvalidArgument(
                f"{model} is about {model.sensitive!r}, which isn't among the sensitive columns",
                hint=Hint(f"sensitive=[{model.sensitive!r}]", cli=f"--sensitive {model.sensitive}"),
            )
        found.extend(checked([model], fitting[0]))
    return tuple(found)


def _identifiers(records: Records, begin: Start, classes: int, share: Rationalizable) -> Identifiers:
    """The minimal sets of quasi-identifiers, of as many columns as there is time for."""
    number = len(begin.names)
    sets, most = 0, 0
    while most < number and (most < 1 or (sets + comb(number, most + 1)) * classes <= _WORK):
        most += 1
        sets += comb(number, most)
    names = [name for name in records.names if name in begin.names]
    return identifiers_of(records, names, share=share, at_most=None if most == number else most, begin=begin)
