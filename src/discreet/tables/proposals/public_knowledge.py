"""Public knowledge about columns: what their names say they may hold, by which codings, and why that is public.

Everything here must be knowable by someone who never saw the table: units of nature and the calendar, codes that an
authority publishes, and the codebooks of datasets that are public themselves. A wrong guess costs utility, never
privacy, because what a column declares is enforced when it is scanned.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime
from fractions import Fraction

from discreet.privacy import Bounds, Keys
from discreet.tables.proposals.names import Codebook, Fact, Knowledge, find, plain, without_owner
from discreet.tables.schema.column import Kind


def codebook(names: Sequence[str]) -> Codebook | None:
    """The codebook of the public dataset that a table with columns of these names is taken for."""
    return next((book for book in CODEBOOKS if book.describes(names)), None)


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
        return _FLAG.knowledge
    if found is None and kind.is_number and words[-1] in {"pct", "percent", "percentage"}:
        return _PARTS
    return found


# ── Pieces of knowledge ──────────────────────────────────────────────────────────────────────────────────────────────

_NUMBER = frozenset({Kind.INTEGER, Kind.REAL})
_INTEGER = frozenset({Kind.INTEGER})
_TEXT = frozenset({Kind.TEXT})
_ANY = frozenset(Kind)


def _range(names: str, lo: int, hi: int, why: str) -> Fact:
    """A column of numbers in known bounds."""
    return Fact(names=names, kinds=_NUMBER, knowledge=Knowledge(why=why, bounds=Bounds(lo, hi)))


def _codes(names: str, keys: range | tuple[int, ...], why: str) -> Fact:
    """A column of integers that are codes."""
    return Fact(names=names, kinds=_INTEGER, knowledge=Knowledge(why=why, codings=(Keys(keys),)))


def _texts(names: str, codings: tuple[Keys, ...], why: str) -> Fact:
    """A column of texts, in one of some codings."""
    return Fact(names=names, kinds=_TEXT, knowledge=Knowledge(why=why, codings=codings))


def _identifying(names: str, why: str) -> Fact:
    """A column that names people."""
    return Fact(names=names, kinds=_ANY, knowledge=Knowledge(why=why, identifying=True))


def _listed(names: str, values: str, *, gaps: bool = False) -> Fact:
    """A column of texts that the codebook lists; `gaps` if it says that values may be missing."""
    keys = Keys([*values.split(), *([None] if gaps else [])])
    why = "the values it lists, and some are missing" if gaps else "the values it lists"
    known = Knowledge(why=why, codings=(keys,), doubtful=False)
    return Fact(names=names, kinds=_TEXT, knowledge=known)


def _list(text: str) -> Keys:
    """Keys from a line, apart by semicolons."""
    return Keys(word.strip() for word in text.split(";"))


def _cases(text: str) -> tuple[Keys, ...]:
    """The same list as written, in lower case and in capitals."""
    return tuple(_list(line) for line in dict.fromkeys((text, text.lower(), text.upper())))


# ── Codebooks of public datasets ─────────────────────────────────────────────────────────────────────────────────────

ADULT = Codebook(
    title="UCI Adult",
    reference="adult.names, doi:10.24432/C5XW20",
    at_least=8,
    missing=("?",),
    facts=(
        _range("age", 17, 99, "the extract takes ages above 16, and the survey wrote two digits"),
        _listed(
            "workclass",
            "Private Self-emp-not-inc Self-emp-inc Federal-gov Local-gov State-gov Without-pay Never-worked",
            gaps=True,
        ),
        _range(
            "fnlwgt", 0, 2_000_000, "how many people a row stands for; a round number, of about the people of a state"
        ),
        _listed(
            "education",
            "Preschool 1st-4th 5th-6th 7th-8th 9th 10th 11th 12th HS-grad Some-college Assoc-voc Assoc-acdm Bachelors "
            "Masters Prof-school Doctorate",
        ),
        _range("education_num educational_num", 1, 16, "the sixteen levels of education, counted"),
        _listed(
            "marital_status",
            "Married-civ-spouse Divorced Never-married Separated Widowed Married-spouse-absent Married-AF-spouse",
        ),
        _listed(
            "occupation",
            "Tech-support Craft-repair Other-service Sales Exec-managerial Prof-specialty Handlers-cleaners "
            "Machine-op-inspct Adm-clerical Farming-fishing Transport-moving Priv-house-serv Protective-serv "
            "Armed-Forces",
            gaps=True,
        ),
        _listed("relationship", "Wife Own-child Husband Not-in-family Other-relative Unmarried"),
        _listed("race", "White Asian-Pac-Islander Amer-Indian-Eskimo Other Black"),
        _listed("sex gender", "Female Male"),
        _range("capital_gain", 0, 99_999, "the survey wrote five digits"),
        _range(
            "capital_loss", 0, 5_000, "a round number above the 3,000 that US tax law lets a household deduct in a year"
        ),
        _range("hours_per_week", 1, 99, "the extract takes hours above 0, and the survey wrote two digits"),
        _listed(
            "native_country country",
            "United-States Cambodia England Puerto-Rico Canada Germany Outlying-US(Guam-USVI-etc) India Japan Greece "
            "South China Cuba Iran Honduras Philippines Italy Poland Jamaica Vietnam Mexico Portugal Ireland France "
            "Dominican-Republic Laos Ecuador Taiwan Haiti Columbia Hungary Guatemala Nicaragua Scotland Thailand "
            "Yugoslavia El-Salvador Trinadad&Tobago Peru Hong Holand-Netherlands",
            gaps=True,
        ),
        _listed("salary_class salary income class", "<=50K >50K"),
    ),
)

CODEBOOKS = (ADULT,)


# ── Codings in use ───────────────────────────────────────────────────────────────────────────────────────────────────

SEX = (
    *_cases("Female; Male"),
    _list("F; M"),
    _list("f; m"),
    *_cases("Female; Male; Other"),
    *_cases("Female; Male; Unknown"),
    *_cases("Female; Male; Other; Unknown"),
    _list("F; M; O; U; X"),
)

RACE = (
    _list(
        "American Indian or Alaska Native; Asian; Black or African American; "
        "Native Hawaiian or Other Pacific Islander; White; Some Other Race; Two or More Races"
    ),
    *_cases("Asian; Black; Hispanic; White; Other"),
    *_cases("Asian; Black; Hispanic; Native American; Pacific Islander; White; Other; Unknown"),
)

ETHNICITY = (
    *_cases("Hispanic or Latino; Not Hispanic or Latino"),
    *_cases("Hispanic; Non-Hispanic"),
    *_cases("Hispanic; Not Hispanic"),
)

MARITAL = (
    *_cases("Single; Married; Divorced; Widowed"),
    *_cases("Single; Married; Separated; Divorced; Widowed"),
    *_cases("Never married; Married; Separated; Divorced; Widowed"),
    _list("S; M; D; W"),
)

EDUCATION = (
    *_cases("Primary; Secondary; Tertiary"),
    *_cases("High School; Bachelor; Master; PhD"),
    *_cases("High School; Associate; Bachelor; Master; Doctorate"),
    *_cases("Less than high school; High school; Some college; Bachelor's; Graduate"),
)

BLOOD = (
    _list("A+; A-; B+; B-; AB+; AB-; O+; O-"),
    _list("A; B; AB; O"),
)

SMOKING = (
    *_cases("Never; Former; Current"),
    _list("never smoked; formerly smoked; smokes; Unknown"),
)

FLAGS = (
    *_cases("No; Yes"),
    _list("N; Y"),
    _list("n; y"),
    *_cases("False; True"),
    _list("F; T"),
    _list("0; 1"),
)

MONTHS = (
    *_cases("January; February; March; April; May; June; July; August; September; October; November; December"),
    *_cases("Jan; Feb; Mar; Apr; May; Jun; Jul; Aug; Sep; Oct; Nov; Dec"),
)

WEEKDAYS = (
    *_cases("Monday; Tuesday; Wednesday; Thursday; Friday; Saturday; Sunday"),
    *_cases("Mon; Tue; Wed; Thu; Fri; Sat; Sun"),
)

QUARTERS = (_list("Q1; Q2; Q3; Q4"),)

CONTINENTS = (_list("Africa; Antarctica; Asia; Europe; North America; Oceania; South America"),)

STATES = (
    _list(
        "AL; AK; AZ; AR; CA; CO; CT; DE; DC; FL; GA; HI; ID; IL; IN; IA; KS; KY; LA; ME; MD; MA; MI; MN; MS; MO; MT; "
        "NE; NV; NH; NJ; NM; NY; NC; ND; OH; OK; OR; PA; RI; SC; SD; TN; TX; UT; VT; VA; WA; WV; WI; WY"
    ),
    _list(
        "Alabama; Alaska; Arizona; Arkansas; California; Colorado; Connecticut; Delaware; District of Columbia; "
        "Florida; Georgia; Hawaii; Idaho; Illinois; Indiana; Iowa; Kansas; Kentucky; Louisiana; Maine; Maryland; "
        "Massachusetts; Michigan; Minnesota; Mississippi; Missouri; Montana; Nebraska; Nevada; New Hampshire; "
        "New Jersey; New Mexico; New York; North Carolina; North Dakota; Ohio; Oklahoma; Oregon; Pennsylvania; "
        "Rhode Island; South Carolina; South Dakota; Tennessee; Texas; Utah; Vermont; Virginia; Washington; "
        "West Virginia; Wisconsin; Wyoming"
    ),
)

# ── Well-known columns ───────────────────────────────────────────────────────────────────────────────────────────────

_BIRTH = "birth_date date_of_birth dob born birthday"
_THIS_YEAR = datetime.now(UTC).year
"""Nobody in a record was born later; a future year would be a group of pure noise."""
_BIRTH_WHY = "people in records of today were born from 1900 on, and by now"

FACTS: tuple[Fact, ...] = (
    # People
    _range("age age_years age_in_years years_old", 0, 125, "no one is known to have lived beyond 122 years"),
    _range("age_months age_in_months", 0, 1500, "no one is known to have lived beyond 122 years"),
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
    _range("year_of_birth birth_year yob", 1900, _THIS_YEAR, _BIRTH_WHY),
    _texts("sex gender sex_at_birth", SEX, "the usual codings of sex"),
    _codes("sex gender sex_at_birth", (0, 1, 2, 9), "ISO/IEC 5218 (0, 1, 2, 9), which holds 0/1 and 1/2 too"),
    _texts("race race_name", RACE, "the categories of the US standard on race (OMB Directive 15)"),
    _texts("ethnicity hispanic hispanic_origin", ETHNICITY, "the categories of the US standard on ethnicity"),
    _texts("marital_status civil_status marital", MARITAL, "the usual words for marital status"),
    _codes("married is_married", (0, 1), "a yes or no"),
    _texts("education education_level educ highest_degree degree", EDUCATION, "the usual levels of education"),
    _range("education_num educational_num education_years years_of_education", 0, 30, "years or levels of schooling"),
    _range("education educ education_level schl", 0, 30, "codes of levels, or years, of schooling"),
    _range("household_size family_size persons_in_household", 0, 50, "few households are larger"),
    _range("children num_children number_of_children n_children siblings pregnancies parity", 0, 30, "few have more"),
    # Work
    _range("hours_per_week weekly_hours hours_worked_per_week", 0, 168, "a week has 168 hours"),
    _range("weeks_worked weeks_per_year", 0, 53, "a year has at most 53 weeks"),
    _range("years_experience years_of_experience experience_years tenure_years years_at_company", 0, 80, "a long life"),
    _range("gpa", 0, 5, "scales of grade points end at 4 or 5"),
    # Health
    _range("systolic systolic_bp sbp sysbp blood_pressure_systolic", 0, 400, "mmHg; the highest on record is 370"),
    _range("diastolic diastolic_bp dbp diabp blood_pressure_diastolic", 0, 400, "mmHg; the highest on record is 360"),
    _range("blood_pressure bp trestbps resting_bp", 0, 400, "mmHg; the highest on record is 370"),
    _range("bmi body_mass_index", 0, 300, "kg/m²; few people pass 100"),
    _range("heart_rate pulse hr resting_heart_rate", 0, 500, "beats in a minute; the fastest on record is 480"),
    _range("respiratory_rate resp_rate breathing_rate", 0, 150, "breaths in a minute"),
    _range("spo2 oxygen_saturation sao2", 0, 100, "a percentage"),
    _range("body_temperature body_temp temp_c temp_f", 10, 120, "a living body, in °C or °F"),
    _range("temperature temp air_temperature", -150, 150, "weather, rooms and bodies, in °C or °F"),
    _range("height_cm stature_cm", 0, 300, "the tallest person on record had 272 cm"),
    _range("height_in height_inches", 0, 120, "the tallest person on record had 107 inches"),
    _range("height_m", 0, 3, "the tallest person on record had 2.72 m"),
    _range("height stature body_height", 0, 300, "the tallest person on record had 272 cm; inches are fewer"),
    _range("weight_kg body_weight_kg", 0, 650, "the heaviest person on record had 635 kg"),
    _range("weight_lb weight_lbs weight_pounds", 0, 1500, "the heaviest person on record had 1,400 lb"),
    _range("weight body_weight", 0, 1500, "the heaviest person on record had 635 kg, or 1,400 lb"),
    _range("hba1c a1c", 0, 200, "percent or mmol/mol"),
    _texts("blood_type blood_group abo", BLOOD, "the ABO and rhesus groups"),
    _texts("smoking_status smoking", SMOKING, "the usual words in health surveys"),
    # The calendar
    _range("year calendar_year fiscal_year yr", 1900, _THIS_YEAR, "years that records of today speak of"),
    _codes("month month_of_year month_num", range(1, 13), "a year has twelve months"),
    _texts("month month_name", MONTHS, "the names of months"),
    _codes("quarter qtr", range(1, 5), "a year has four quarters"),
    _texts("quarter qtr", QUARTERS, "a year has four quarters"),
    _range("week_of_year week_number iso_week", 0, 53, "a year has at most 53 weeks"),
    _range("day_of_year", 1, 366, "a year has at most 366 days"),
    _range("day_of_month", 1, 31, "a month has at most 31 days"),
    _codes("weekday day_of_week dow", range(8), "counted from 0 or from 1, a week has seven days"),
    _texts("weekday day_of_week dow day_name day", WEEKDAYS, "the names of days"),
    _codes("hour hour_of_day hr_of_day", range(24), "a day has 24 hours"),
    # Places
    _texts("state state_code us_state state_name", STATES, "the 50 states and the District of Columbia"),
    _range("state_fips fips_state", 0, 78, "the codes of US states and territories (FIPS 5-2)"),
    _range("zip zip_code zip5 postal_code", 0, 99_999, "US ZIP codes have five digits"),
    _texts("continent", CONTINENTS, "seven continents"),
    _range("latitude lat", -90, 90, "degrees from the equator"),
    _range("longitude lon lng long", -180, 180, "degrees from Greenwich"),
    # Measures of anything
    _range("percent percentage pct", 0, 100, "parts of a hundred"),
    _range("probability", 0, 1, "a probability"),
    _range("rating stars star_rating review_score", 0, 10, "scales of five, or of ten"),
    _texts("smoker active churn churned diabetic deceased insured employed voted default", FLAGS, "a yes or no"),
    _codes("smoker active churn churned diabetic deceased insured employed voted flag", (0, 1), "a yes or no"),
    # Who it is
    _identifying(
        "name full_name first_name last_name surname given_name family_name middle_name maiden_name", "a name"
    ),
    _identifying("email email_address phone phone_number telephone mobile mobile_number fax", "reaches one person"),
    _identifying("address street street_address address_line home_address", "leads to one home"),
    _identifying("ip ip_address mac_address imei device_id license_plate vin", "belongs to one device or car"),
    _identifying(
        "ssn social_security_number passport_number national_id tax_id iban credit_card", "an official number"
    ),
    _identifying("medical_record_number mrn nhs_number", "an official number"),
)

_NAMED_LAST = """
    email mail phone telephone mobile fax address addr street surname lastname firstname fullname ssn iban passport
    telefon handy adresse strasse nachname vorname telefono direccion calle apellido correo indirizzo cognome adres
    """
"""The last words of names whose columns hold such things, whatever comes before: `billing_address`, `contact_phone`."""
_LEADS = Knowledge(why="its name ends like that of a way to reach people", identifying=True)

_FLAG = Fact(names="", kinds=_INTEGER, knowledge=Knowledge(why="its name is a yes or no", codings=(Keys((0, 1)),)))
_PARTS = Knowledge(why="parts of a hundred", bounds=Bounds(Fraction(0), Fraction(100)))
