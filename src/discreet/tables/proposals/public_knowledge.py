"""Public knowledge about columns: what their names say they may hold, by which codings, and why that is public.

Everything here must be knowable by someone who never saw the table: units of nature and the calendar, codes that an
authority publishes, and the codebooks of datasets that are public themselves. A wrong guess costs utility, never
privacy, because what a column declares is enforced when it is scanned.
"""

from __future__ import annotations

from datetime import UTC, date, datetime
from fractions import Fraction

from discreet.privacy import Bounds, Keys
from discreet.tables.proposals.codings import (
    BLOOD,
    CONTINENTS,
    EDUCATION,
    ETHNICITY,
    FLAGS,
    MARITAL,
    MONTHS,
    QUARTERS,
    RACE,
    SEX,
    SMOKING,
    STATES,
    WEEKDAYS,
)
from discreet.tables.proposals.facts import Fact, Knowledge, coded, find, identifying, in_codings, ranged
from discreet.tables.proposals.names import plain, without_owner
from discreet.tables.schema.column import Kind


def knowledge(name: str, kind: Kind) -> Knowledge | None:
    """The public knowledge about any column of that name and kind; None if there is none.

    Examples:
        >>> print(knowledge("patient_age", Kind.INTEGER).bounds)
        [0, 125]
        >>> knowledge("age", Kind.TEXT) is None
        True
    """
    found = find(FACTS, name, kind)
    if found is None and (rest := without_owner(name)):
        found = find(FACTS, rest, kind)
    words = plain(name).split("_")
    if found is None and kind in {Kind.INTEGER, Kind.TEXT} and words[-1] in _NAMED_LAST.split():
        return _LEADS
    if found is None and kind is Kind.INTEGER and words[0] in {"is", "has"} and len(words) > 1:
        return _FLAG
    if found is None and kind.is_number and words[-1] in {"pct", "percent", "percentage"}:
        return _PARTS
    return found


_BIRTH = "birth_date date_of_birth dob born birthday"
_THIS_YEAR = datetime.now(UTC).year
"""Nobody in a record was born later; a future year would be a group of pure noise."""
_BIRTH_WHY = "people in records of today were born from 1900 on, and by now"

FACTS: tuple[Fact, ...] = (
    # People
    ranged("age age_years age_in_years years_old", 0, 125, "no one is known to have lived beyond 122 years"),
    ranged("age_months age_in_months", 0, 1500, "no one is known to have lived beyond 122 years"),
    Fact(
        names=_BIRTH,
        kinds=frozenset({Kind.DATE}),
        knowledge=Knowledge(why=_BIRTH_WHY, bounds=Bounds(date(1900, 1, 1), date(_THIS_YEAR, 12, 31))),
    ),
    Fact(
        names=_BIRTH,
        kinds=frozenset({Kind.TIMESTAMP}),
        knowledge=Knowledge(
            why=_BIRTH_WHY,
            bounds=Bounds(datetime(1900, 1, 1), datetime(_THIS_YEAR, 12, 31, 23, 59, 59)),  # noqa: DTZ001 — as tables have it
        ),
    ),
    ranged("year_of_birth birth_year yob", 1900, _THIS_YEAR, _BIRTH_WHY),
    in_codings("sex gender sex_at_birth", SEX, "the usual codings of sex"),
    coded("sex gender sex_at_birth", (0, 1, 2, 9), "ISO/IEC 5218 (0, 1, 2, 9), which holds 0/1 and 1/2 too"),
    in_codings("race race_name", RACE, "the categories of the US standard on race (OMB Directive 15)"),
    in_codings("ethnicity hispanic hispanic_origin", ETHNICITY, "the categories of the US standard on ethnicity"),
    in_codings("marital_status civil_status marital", MARITAL, "the usual words for marital status"),
    coded("married is_married", (0, 1), "a yes or no"),
    in_codings("education education_level educ highest_degree degree", EDUCATION, "the usual levels of education"),
    ranged("education_num educational_num education_years years_of_education", 0, 30, "years or levels of schooling"),
    ranged("education educ education_level schl", 0, 30, "codes of levels, or years, of schooling"),
    ranged("household_size family_size persons_in_household", 0, 50, "few households are larger"),
    ranged("children num_children number_of_children n_children siblings pregnancies parity", 0, 30, "few have more"),
    # Work
    ranged("hours_per_week weekly_hours hours_worked_per_week", 0, 168, "a week has 168 hours"),
    ranged("weeks_worked weeks_per_year", 0, 53, "a year has at most 53 weeks"),
    ranged("years_experience years_of_experience experience_years tenure_years years_at_company", 0, 80, "a long life"),
    ranged("gpa", 0, 5, "scales of grade points end at 4 or 5"),
    # Health
    ranged("systolic systolic_bp sbp sysbp blood_pressure_systolic", 0, 400, "mmHg; the highest on record is 370"),
    ranged("diastolic diastolic_bp dbp diabp blood_pressure_diastolic", 0, 400, "mmHg; the highest on record is 360"),
    ranged("blood_pressure bp trestbps resting_bp", 0, 400, "mmHg; the highest on record is 370"),
    ranged("bmi body_mass_index", 0, 300, "kg/m²; few people pass 100"),
    ranged("heart_rate pulse hr resting_heart_rate", 0, 500, "beats in a minute; the fastest on record is 480"),
    ranged("respiratory_rate resp_rate breathing_rate", 0, 150, "breaths in a minute"),
    ranged("spo2 oxygen_saturation sao2", 0, 100, "a percentage"),
    ranged("body_temperature body_temp temp_c temp_f", 10, 120, "a living body, in °C or °F"),
    ranged("temperature temp air_temperature", -150, 150, "weather, rooms and bodies, in °C or °F"),
    ranged("height_cm stature_cm", 0, 300, "the tallest person on record had 272 cm"),
    ranged("height_in height_inches", 0, 120, "the tallest person on record had 107 inches"),
    ranged("height_m", 0, 3, "the tallest person on record had 2.72 m"),
    ranged("height stature body_height", 0, 300, "the tallest person on record had 272 cm; inches are fewer"),
    ranged("weight_kg body_weight_kg", 0, 650, "the heaviest person on record had 635 kg"),
    ranged("weight_lb weight_lbs weight_pounds", 0, 1500, "the heaviest person on record had 1,400 lb"),
    ranged("weight body_weight", 0, 1500, "the heaviest person on record had 635 kg, or 1,400 lb"),
    ranged("hba1c a1c", 0, 200, "percent or mmol/mol"),
    in_codings("blood_type blood_group abo", BLOOD, "the ABO and rhesus groups"),
    in_codings("smoking_status smoking", SMOKING, "the usual words in health surveys"),
    # The calendar
    ranged("year calendar_year fiscal_year yr", 1900, _THIS_YEAR, "years that records of today speak of"),
    coded("month month_of_year month_num", range(1, 13), "a year has twelve months"),
    in_codings("month month_name", MONTHS, "the names of months"),
    coded("quarter qtr", range(1, 5), "a year has four quarters"),
    in_codings("quarter qtr", QUARTERS, "a year has four quarters"),
    ranged("week_of_year week_number iso_week", 0, 53, "a year has at most 53 weeks"),
    ranged("day_of_year", 1, 366, "a year has at most 366 days"),
    ranged("day_of_month", 1, 31, "a month has at most 31 days"),
    coded("weekday day_of_week dow", range(8), "counted from 0 or from 1, a week has seven days"),
    in_codings("weekday day_of_week dow day_name day", WEEKDAYS, "the names of days"),
    coded("hour hour_of_day hr_of_day", range(24), "a day has 24 hours"),
    # Places
    in_codings("state state_code us_state state_name", STATES, "the 50 states and the District of Columbia"),
    ranged("state_fips fips_state", 0, 78, "the codes of US states and territories (FIPS 5-2)"),
    ranged("zip zip_code zip5 postal_code", 0, 99_999, "US ZIP codes have five digits"),
    in_codings("continent", CONTINENTS, "seven continents"),
    ranged("latitude lat", -90, 90, "degrees from the equator"),
    ranged("longitude lon lng long", -180, 180, "degrees from Greenwich"),
    # Measures of anything
    ranged("percent percentage pct", 0, 100, "parts of a hundred"),
    ranged("probability", 0, 1, "a probability"),
    ranged("rating stars star_rating review_score", 0, 10, "scales of five, or of ten"),
    in_codings("smoker active churn churned diabetic deceased insured employed voted default", FLAGS, "a yes or no"),
    coded("smoker active churn churned diabetic deceased insured employed voted flag", (0, 1), "a yes or no"),
    # Who it is
    identifying("name full_name first_name last_name surname given_name family_name middle_name maiden_name", "a name"),
    identifying("email email_address phone phone_number telephone mobile mobile_number fax", "reaches one person"),
    identifying("address street street_address address_line home_address", "leads to one home"),
    identifying("ip ip_address mac_address imei device_id license_plate vin", "belongs to one device or car"),
    identifying("ssn social_security_number passport_number national_id tax_id iban credit_card", "an official number"),
    identifying("medical_record_number mrn nhs_number", "an official number"),
)

_NAMED_LAST = """
    email mail phone telephone mobile fax address addr street surname lastname firstname fullname ssn iban passport
    telefon handy adresse strasse nachname vorname telefono direccion calle apellido correo indirizzo cognome adres
    """
"""The last words of names whose columns hold such things, whatever comes before: `billing_address`, `contact_phone`."""
_LEADS = Knowledge(why="its name ends like that of a way to reach people", identifying=True)

_FLAG = Knowledge(why="its name is a yes or no", codings=(Keys((0, 1)),))
_PARTS = Knowledge(why="parts of a hundred", bounds=Bounds(Fraction(0), Fraction(100)))
