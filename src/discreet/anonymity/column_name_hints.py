"""What the names of columns say about who may know them and who must not.

What identifies, and what is publicly known of a column, is in `discreet.tables`; here is only what that doesn't say.
"""

from __future__ import annotations

from discreet.tables import Column, Kind
from discreet.tables.proposals import joined, knowledge, plain, rank_of_id, without_owner

_SENSITIVE = (
    "diagnosis diagnoses disease diseases disorder illness ailment condition comorbidity comorbidities complication "
    "symptom symptoms allergy allergies icd icd9 icd10 treatment treatments therapy medication medications drug drugs "
    "prescription procedure procedures surgery outcome hiv cancer diabetes diabetic pregnant pregnancies depression "
    "hba1c a1c cholesterol glucose smoker smoking alcohol genotype genome "
    "systolic diastolic sbp dbp heart_rate pulse blood_pressure "
    "income incomes salary salaries wage wages earnings pay revenue wealth debt loan net_worth capital_gain "
    "capital_loss credit_score balance benefits "
    "religion religious faith denomination belief party politics political vote voted union orientation sexuality "
    "conviction convictions offence offense crime arrest arrests verdict sentence "
    "grade grades gpa mark marks evaluation appraisal "
    "secret opinion"
)
"""Health, money, beliefs, justice, marks. A name ends in one of these, perhaps with one of the words below after it."""
_AFTER = "code codes name type status class group category level amount usd eur value result per_year annual"
_KNOWN = (
    "age birth birthday born birthplace sex gender race ethnicity ancestry citizenship nationality language "
    "zip zipcode zip_code postcode postal_code city town municipality village county district region province state "
    "country native_country location place neighbourhood neighborhood street tract puma "
    "occupation job job_title profession employer company industry workclass school university major education "
    "educ degree marital_status married relationship household children veteran "
    "date day month year admission discharge admitted discharged height weight hair eye_colour eye_color"
)
"""What neighbours, colleagues, registers or social media know of a person."""


A_NAME = "a name"
"""Why a name identifies, as `identifies` says it: two people may have the same."""
A_PERSON = ("reaches one person", "an official number")
"""Why a column identifies that nobody shares with anybody."""


def identifies(name: str, kind: Kind) -> str | None:
    """Why a column of this name identifies people by itself; None if its name doesn't say so.

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
        >>> [is_sensitive(name) for name in ("annual_income", "salary-class", "patientDiagnosis", "diagnosis_date")]
        [True, True, True, False]
    """
    words, after = plain(name).split("_"), set(_AFTER.split())
    while len(words) > 1 and words[-1] in after:
        words.pop()
    return bool({joined("_".join(words[-length:])) for length in (1, 2)} & set(map(joined, _SENSITIVE.split())))


def may_be_known(name: str) -> bool:
    """Whether a column's name says that others may know it of a person.

    Examples:
        >>> [may_be_known(name) for name in ("patient_zip", "date_of_birth", "native-country", "x17")]
        [True, True, True, False]
    """
    if any(knowledge(name, kind) is not None for kind in Kind):
        return True
    return joined(without_owner(name) or name) in set(map(joined, _KNOWN.split()))
