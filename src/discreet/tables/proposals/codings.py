"""Codings: lists of values that are in use around the world, as an authority or custom has them."""

from __future__ import annotations

from discreet.privacy import Keys


def _list(text: str) -> Keys:
    """Keys from a line, apart by semicolons."""
    return Keys(word.strip() for word in text.split(";"))


def _cases(text: str) -> tuple[Keys, ...]:
    """The same list as written, in lower case and in capitals."""
    return tuple(_list(line) for line in dict.fromkeys((text, text.lower(), text.upper())))


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
