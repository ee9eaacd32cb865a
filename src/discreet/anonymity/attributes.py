"""Kinds of attributes: guessed with reasons, by names and by values, and confirmed by the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from discreet.anonymity.columns import Coded
from discreet.anonymity.hierarchies.texts import are_whole, is_number, is_time, present, spelled_dates
from discreet.anonymity.records import Records, read
from discreet.anonymity.repeated import Repeated
from discreet.errors import InvalidArgument, SchemaMismatch
from discreet.tables import Column, Kind
from discreet.tables.content import NAMES, NOTES, ColumnContent, Content, content_of
from discreet.tables.proposals import is_number_of_a_person, joined, knowledge, plain, rank_of_id, without_owner
from discreet.tables.unit_candidates import OF_SOMEBODY, UnitCandidate, unit_candidates

if TYPE_CHECKING:
    import pyarrow as pa


class AttributeKind(StrEnum):
    """The four kinds of attributes, as ARX names them.

    Examples:
        >>> AttributeKind("quasi-identifying").name
        'QUASI_IDENTIFYING'
    """

    IDENTIFYING = "identifying"
    """Names a person on its own: a name, a number, an address. It never belongs into a release."""
    QUASI_IDENTIFYING = "quasi-identifying"
    """May be known from elsewhere, and with others of its kind may single a person out. It is what gets generalised."""
    SENSITIVE = "sensitive"
    """Others must not learn it about a person, and are taken not to know it yet."""
    INSENSITIVE = "insensitive"
    """Neither known from elsewhere nor of interest. It stays as it is, so say so only when sure."""


_SAID = "said by the user"
_DATES = "others may know dates"
_KNOWN_BY_NAME = "its name says that others may know it"
_MEASURE = "a measure, kept out of what others know: say if they know it"
_FILLED = 20
"""How many values there must be before they alone say what a column is."""
_DIFFERENT, _WIDE = 0.3, 100
"""A measure has more than this share of different values; whole ones also spread over this many times their number."""
_UNSEEN = ColumnContent()
_KEY = 0.5
"""The share of values that must lead to people, if the column is one that says whose rows are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttributeGuess:
    """The kind that a column seems to be.

    Args:
        column: its name.
        kind: the guess.
        reason: in words.
        distinct: how many different values it has, as a share of rows; 0 without rows.
        unique: the share of rows whose value no other row has.
        content: what its values look like, as far as they were looked at.
    """

    column: str
    kind: AttributeKind
    reason: str
    distinct: float
    unique: float
    content: ColumnContent = _UNSEEN

    @property
    def is_surely_known(self) -> bool:
        """Whether something shows that others may know it: its name, that it holds dates, or that the user says so."""
        return self.kind is AttributeKind.QUASI_IDENTIFYING and self.reason in {_SAID, _DATES, _KNOWN_BY_NAME}

    @property
    def is_measure(self) -> bool:
        """Whether it is taken not to be known only because it seems to be a measure."""
        return self.reason == _MEASURE

    def __str__(self) -> str:
        return f"{self.column}: {self.kind}, {self.reason} ({self.unique:.1%} of rows unique)"


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """The kinds of all columns, confirmed.

    Args:
        guesses: for each column, in the table's order, what it is and why.
    """

    guesses: tuple[AttributeGuess, ...]

    @property
    def identifying(self) -> tuple[str, ...]:
        """The columns that must go."""
        return self._of(AttributeKind.IDENTIFYING)

    @property
    def quasi_identifying(self) -> tuple[str, ...]:
        """The columns that are generalised."""
        return self._of(AttributeKind.QUASI_IDENTIFYING)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The columns that others must not learn about."""
        return self._of(AttributeKind.SENSITIVE)

    @property
    def insensitive(self) -> tuple[str, ...]:
        """The columns that stay as they are."""
        return self._of(AttributeKind.INSENSITIVE)

    def _of(self, kind: AttributeKind) -> tuple[str, ...]:
        return tuple(guess.column for guess in self.guesses if guess.kind is kind)

    def __str__(self) -> str:
        return "\n".join(map(str, self.guesses))


def guess_attributes(table: object) -> tuple[AttributeGuess, ...]:
    """The kind that each column seems to be, from its name, the look of its values and how many rows share them.

    A column is identifying if some of its values hold what leads to a person, such as an e-mail address: see
    `discreet.tables.content`. That none was seen proves nothing, since of many values only some are looked at. It errs
    on the side of caution: what isn't clear is quasi-identifying, unless it is a measure, which hardly anyone knows
    about others to the digit; texts and whole numbers that differ in most rows are identifying; and only a column with
    one value is called insensitive. Only a person who knows the data can say whether that is right; `confirm` is for
    that.

    Args:
        table: whatever `read` reads.

    Examples:
        >>> people = {
        ...     "name": ["Kim", "Ada", "Lin"], "age": [34, 35, 34], "shoe": [40.5, 41.0, 40.5], "disease": ["flu"] * 3
        ... }
        >>> for guess in guess_attributes(people):
        ...     print(guess)
        name: identifying, known by its name: a name (100.0% of rows unique)
        age: quasi-identifying, its name says that others may know it (33.3% of rows unique)
        shoe: quasi-identifying, nothing shows that others don't know it (33.3% of rows unique)
        disease: sensitive, its name says that others must not learn it (0.0% of rows unique)
    """
    records = read(table)
    numbers = {each.column for each in candidates_of(records) if not each.beside}
    return tuple(_guess(column, is_number=name in numbers) for name, column in records.columns.items())


def confirm(
    guesses: Sequence[AttributeGuess],
    *,
    identifying: Sequence[str] = (),
    quasi_identifying: Sequence[str] = (),
    sensitive: Sequence[str] = (),
    insensitive: Sequence[str] = (),
) -> Attributes:
    """Settle what each column is: as the user says, and as guessed where nothing is said.

    Raises:
        SchemaMismatch: a column isn't in the table.
        InvalidArgument: a column is said to be of two kinds, or names aren't in a list.

    Examples:
        >>> guesses = guess_attributes({"name": ["Kim", "Ada"], "age": [34, 35], "score": [0.5, 0.25]})
        >>> settled = confirm(guesses, sensitive=["score"])
        >>> settled.identifying, settled.quasi_identifying, settled.sensitive
        (('name',), ('age',), ('score',))
    """
    said: dict[str, AttributeKind] = {}
    for kind, names in zip(AttributeKind, (identifying, quasi_identifying, sensitive, insensitive), strict=True):
        if isinstance(names, str):
            raise InvalidArgument(f"names of columns go into a list: [{names!r}]")
        for name in names:
            if said.setdefault(name, kind) is not kind:
                raise InvalidArgument(f"the column {name!r} can't be both {said[name]} and {kind}")
    known = [guess.column for guess in guesses]
    for name in said:
        if name not in known:
            raise SchemaMismatch(f"the table has no column {name!r}", hint=f"it has {', '.join(known) or 'none'}")
    settled = (replace(each, kind=said[each.column], reason=_SAID) if each.column in said else each for each in guesses)
    return Attributes(guesses=tuple(settled))


def repeated(records: Records, identifying: Sequence[str] = ()) -> tuple[Repeated, ...]:
    """The columns that identify and repeat: rows may then be people's, several of each; those with most values first.

    They are told by how the others depend on them (see `discreet.tables.unit_candidates`), by their names and by what
    they hold.

    Args:
        records: the table.
        identifying: columns that are said or guessed to name people; those that do so by their name are added.

    Returns:
        None if the table is counted by unit. Names of people aren't among them where another column shows that every
        row is another person's, such as an e-mail address or a patient's number: two people may have one name.

    Examples:
        >>> repeated(read({"patient_id": [7, 9, 7], "age": [40, 40, 40]}))
        (Repeated(column='patient_id', values=2, rows=3, fixes=(), is_name=False, beside=()),)
    """
    if records.units is not None:
        return ()
    candidates = candidates_of(records)
    fixes = {each.column: each.fixes for each in candidates if not each.beside}
    found = [
        Repeated(column=each.column, values=each.values, rows=each.rows, fixes=each.fixes, beside=each.beside)
        for each in candidates
        if each.beside
    ]
    everybody_once = False
    for name, column in records.columns.items():
        kind = stored_kind(present(column))
        why = identifies(name, kind)
        if name not in fixes and why is None and (name not in identifying or _merely_mentions(column)):
            continue
        values = column.size - column.has_missing
        rows = column.rows - (int(column.counts()[-1]) if column.has_missing else 0)
        if rows > values:
            is_name = why.endswith(A_NAME) if why else _mostly_names(column)
            found.append(Repeated(column=name, values=values, rows=rows, fixes=fixes.get(name, ()), is_name=is_name))
        is_persons = is_number_of_a_person(Column(name=name, kind=kind)) or (why is not None and why.endswith(A_PERSON))
        everybody_once |= is_persons and values == column.rows
    kept = (each for each in found if not (everybody_once and each.is_name and not each.fixes))
    return tuple(sorted(kept, key=lambda each: -each.values))


def candidates_of(records: Records) -> tuple[UnitCandidate, ...]:
    """The columns that look like numbers of people, households or firms by how the others depend on them."""
    kinds = {name: stored_kind(present(column)) for name, column in records.columns.items()}
    return unit_candidates(records.columns, kinds)


def _mostly_names(column: Coded) -> bool:
    """Whether what a column holds are names of people."""
    held = content_of(present(column), column.counts()[: column.size - column.has_missing]).identifying
    return any(each.what == NAMES and each.share >= _KEY for each in held)


def _merely_mentions(column: Coded) -> bool:
    """Whether a column holds what leads to people here and there, or names and notes: then it isn't a key of theirs."""
    held = content_of(present(column), column.counts()[: column.size - column.has_missing]).identifying
    return bool(held) and not any(each.share >= _KEY and each.what not in {NAMES, NOTES} for each in held)


def _guess(column: Coded, *, is_number: bool) -> AttributeGuess:
    """The guess for one column; `is_number`: it looks like the number of people who have several rows."""
    counts = column.counts()
    held = column.size - column.has_missing
    content = content_of(present(column), counts[:held])
    kind, reason = _kind(column, content, once=bool(np.all(counts[:held] == 1)), is_number=is_number)
    return AttributeGuess(
        column=column.name,
        kind=kind,
        reason=reason,
        distinct=column.size / column.rows if column.rows else 0.0,
        unique=int(np.count_nonzero(counts == 1)) / column.rows if column.rows else 0.0,
        content=content,
    )


def told_by_content(column: str, content: ColumnContent) -> tuple[Content, ...]:
    """The things in a column that lead to people. Cities are named after people, so in places names prove nothing.

    Examples:
        >>> names = ColumnContent(found=(Content(what=NAMES, share=1, identifies=True),))
        >>> [len(told_by_content(name, names)) for name in ("city", "who")]
        [0, 1]
    """
    return tuple(each for each in content.identifying if each.what != NAMES or not may_be_known(column))


def _kind(column: Coded, content: ColumnContent, *, once: bool, is_number: bool) -> tuple[AttributeKind, str]:
    """The kind and why; `once`: no value but the missing one is in two rows. The first rule that speaks decides."""
    stored = stored_kind(present(column))
    why = identifies(column.name, stored)
    sensitive = is_sensitive(column.name)
    held = [each for each in told_by_content(column.name, content) if not (sensitive and each.what == NOTES)]
    filled = column.rows - (int(column.counts()[-1]) if column.has_missing else 0)
    alone = once and stored in {Kind.INTEGER, Kind.TEXT} and filled >= max(_FILLED, column.rows / 2)
    quasi = AttributeKind.QUASI_IDENTIFYING
    rules = (
        (why is not None, AttributeKind.IDENTIFYING, why or ""),
        (bool(held), AttributeKind.IDENTIFYING, f"it holds {' and '.join(map(str, held))}"),
        (sensitive, AttributeKind.SENSITIVE, "its name says that others must not learn it"),
        (column.size <= 1, AttributeKind.INSENSITIVE, "it has fewer than two values, so it tells nobody apart"),
        (stored.is_time, quasi, _DATES),
        (may_be_known(column.name), quasi, _KNOWN_BY_NAME),
        (is_number, AttributeKind.IDENTIFYING, f"going by what its rows have in common, it looks like {OF_SOMEBODY}"),
        (alone, AttributeKind.IDENTIFYING, "no two rows share a value, as with a name or a number"),
        # Before measures: a number by which someone is known, kept as a measure, would be published as it is.
        (
            stored in {Kind.INTEGER, Kind.TEXT} and filled >= _FILLED and len(present(column)) > _CODES * filled,
            AttributeKind.IDENTIFYING,
            "most rows have a value of their own, as with names or numbers",
        ),
        (_is_measure(column, stored, filled), AttributeKind.SENSITIVE, _MEASURE),
        (True, quasi, "nothing shows that others don't know it"),
    )
    return next((kind, reason) for holds, kind, reason in rules if holds)


def _is_measure(column: Coded, stored: Kind, filled: int) -> bool:
    """Whether a column measures something: numbers with decimals, or over a range much wider than there are rows."""
    values = present(column)
    if stored not in {Kind.REAL, Kind.INTEGER} or filled < _FILLED or len(values) <= _DIFFERENT * filled:
        return False
    return stored is Kind.REAL or float(values[-1].as_py()) - float(values[0].as_py()) > _WIDE * filled


_CODES = 0.5
"""A column of texts or whole numbers with more different values than this share of its rows may be one of codes."""


def stored_kind(values: pa.Array) -> Kind:
    """The kind of a column's values, without a missing one: as they are stored, or as they read.

    Whole numbers stay whole where a missing value made floats of them; texts such as 9/7/1967 are dates, and so are
    numbers such as 19670907.
    """
    import pyarrow as pa

    if spelled_dates(values) is not None:
        return Kind.DATE
    if is_number(values):
        return Kind.INTEGER if are_whole(values) else Kind.REAL
    if is_time(values):
        return Kind.TIMESTAMP if pa.types.is_timestamp(values.type) else Kind.DATE
    if pa.types.is_boolean(values.type):
        return Kind.BOOLEAN
    return Kind.TEXT


_SENSITIVE = (
    # Health
    "diagnosis diagnoses disease disorder illness ailment condition comorbidity complication symptom allergy icd "
    "icd9 icd10 treatment therapy medication drug prescription procedure surgery outcome hiv cancer diabetes "
    "diabetic pregnant pregnancy depression suicide abortion disability hba1c a1c cd4 viral_load cholesterol "
    "glucose smoker smoking alcohol genotype genome systolic diastolic sbp dbp heart_rate pulse blood_pressure "
    "diagnose krankheit erkrankung behandlung medikament schwangerschaft befund maladie diagnostic traitement "
    "grossesse medicament enfermedad diagnostico tratamiento medicamento embarazo malattia diagnosi trattamento "
    "farmaco gravidanza doenca gravidez ziekte behandeling zwangerschap aandoening sjukdom diagnos behandling "
    "graviditet sygdom sykdom sairaus diagnoosi hoito raskaus choroba diagnoza rozpoznanie leczenie ciaza nemoc "
    "lecba tehotenstvi hastalik hastal_k tedavi gebelik "
    # Money
    "income salary wage earning pay revenue wealth debt loan mortgage net_worth asset saving expense expend "
    "expenditure spending cost money tax taxes taxinc fedtax statetax agi capital_gain capital_loss credit_score "
    "balance benefit pension alimony profit turnover einkommen gehalt lohn verdienst schulden vermogen ersparnis "
    "rente umsatz gewinn steuer miete revenu salaire dette patrimoine epargne depense impot retraite ingreso "
    "salario sueldo deuda patrimonio ahorro gasto impuesto reddito stipendio debito risparmio spesa pensione "
    "rendimento renda divida poupanca despesa imposto inkomen salaris loon schuld spaargeld uitgave inkomst lon "
    "skuld formogenhet indkomst inntekt gjeld gaeld tulo palkka velka dochod wynagrodzenie pensja dlug majatek "
    "prijem mzda dluh gelir borc "
    # Beliefs, justice, marks
    "religion religious faith denomination belief party politics political vote voted union orientation sexuality "
    "konfession glaube partei gewerkschaft religione religiao religie partij parti partido partito croyance "
    "creencia sindicato syndicat fackforening uskonto wyznanie nabozenstvi conviction offence offense crime arrest "
    "verdict sentence straftat verurteilung vorstrafe delit condamnation delito condena reato condanna crimine "
    "misdrijf veroordeling brott forbrydelse rikos przestepstwo zlocin grade gpa mark evaluation appraisal zensur "
    "bewertung beurteilung calificacion voto betyg arvosana ocena secret opinion geheimnis meinung secreto segreto "
)
"""Health, money, beliefs, justice, marks, in a dozen languages, without accents; English plurals count, too.

A name ends in one of these, perhaps with one of the words below after it.
"""
_AFTER = "code codes name type status class group category level amount usd eur value result per_year annual"
_KNOWN = (
    "age birth birthday born birthplace sex gender race ethnicity ancestry citizenship nationality language "
    "zip zipcode zip_code postcode postal_code city town municipality village county district region province state "
    "country native_country location place neighbourhood neighborhood street tract puma "
    "occupation job job_title profession employer company industry workclass school university major education "
    "educ degree marital_status married relationship household children veteran "
    "date day month year admission discharge admitted discharged height weight hair eye_colour eye_color"
)
"""Words for what neighbours, colleagues, registers or social media know of a person."""
_KNOWN_JOINED = frozenset(map(joined, _KNOWN.split()))

A_NAME = "a name"
"""Why a name identifies, as `identifies` says it: two people may have the same."""
A_PERSON = ("reaches one person", "an official number")
"""The reasons given for a column whose values no two people share."""


def identifies(name: str, kind: Kind) -> str | None:
    """Why a column of this name identifies people on its own; None if its name doesn't say so.

    Examples:
        >>> identifies("E-mail", Kind.TEXT), identifies("PatientID", Kind.INTEGER), identifies("age", Kind.INTEGER)
        ('known by its name: reaches one person', 'known by its name: the number of a person or a row', None)
    """
    known = knowledge(name, kind)
    if known is not None and known.identifying:
        return f"known by its name: {known.why}"
    if plain(name) and kind in {Kind.INTEGER, Kind.TEXT} and rank_of_id(Column(name=name, kind=kind)) is not None:
        return "known by its name: the number of a person or a row"
    return None


def is_sensitive(name: str) -> bool:
    """Whether a column's name says that it holds what others must not learn.

    Examples:
        >>> [is_sensitive(name) for name in ("annual_income", "salary-class", "DEBTS", "therapies", "diagnosis_date")]
        [True, True, True, True, False]
    """
    words, after = plain(name).split("_"), set(_AFTER.split())
    while len(words) > 1 and words[-1] in after:
        words.pop()
    ends = {joined("_".join(words[-length:])) for length in (1, 2)}
    return not _sensitive_words().isdisjoint(ends | {one for end in ends for one in _singulars(end)})


@cache
def _sensitive_words() -> frozenset[str]:
    """The words that say so, joined."""
    return frozenset(map(joined, _SENSITIVE.split()))


def _singulars(word: str) -> set[str]:
    """The words that a word may be the English plural of.

    Examples:
        >>> sorted(_singulars("allergies"))
        ['allergi', 'allergie', 'allergy']
    """
    endings = {"s": "", "es": "", "ies": "y"}
    return {word.removesuffix(plural) + one for plural, one in endings.items() if word.endswith(plural)}


def may_be_known(name: str) -> bool:
    """Whether a column's name says that others may know it of a person.

    Examples:
        >>> [may_be_known(name) for name in ("patient_zip", "date_of_birth", "native-country", "x17")]
        [True, True, True, False]
    """
    if any(knowledge(name, kind) is not None for kind in Kind):
        return True
    return joined(without_owner(name) or name) in _KNOWN_JOINED
