"""Codings: lists of values that are in use around the world, and how they are spelled."""

from __future__ import annotations

from discreet.privacy import Keys


def keys_in(text: str) -> Keys:
    """Keys from a line, apart by semicolons."""
    return Keys(word.strip() for word in text.split(";"))


def in_cases(text: str) -> tuple[Keys, ...]:
    """The same list as written, in lower case and in capitals."""
    return tuple(keys_in(line) for line in dict.fromkeys((text, text.lower(), text.upper())))


SEX = (
    *in_cases("Female; Male"),
    keys_in("F; M"),
    keys_in("f; m"),
    *in_cases("Female; Male; Other"),
    *in_cases("Female; Male; Unknown"),
    *in_cases("Female; Male; Other; Unknown"),
    keys_in("F; M; O; U; X"),
)

RACE = (
    keys_in(
        "American Indian or Alaska Native; Asian; Black or African American; "
        "Native Hawaiian or Other Pacific Islander; White; Some Other Race; Two or More Races"
    ),
    *in_cases("Asian; Black; Hispanic; White; Other"),
    *in_cases("Asian; Black; Hispanic; Native American; Pacific Islander; White; Other; Unknown"),
)

ETHNICITY = (
    *in_cases("Hispanic or Latino; Not Hispanic or Latino"),
    *in_cases("Hispanic; Non-Hispanic"),
    *in_cases("Hispanic; Not Hispanic"),
)

MARITAL = (
    *in_cases("Single; Married; Divorced; Widowed"),
    *in_cases("Single; Married; Separated; Divorced; Widowed"),
    *in_cases("Never married; Married; Separated; Divorced; Widowed"),
    keys_in("S; M; D; W"),
)

EDUCATION = (
    *in_cases("Primary; Secondary; Tertiary"),
    *in_cases("High School; Bachelor; Master; PhD"),
    *in_cases("High School; Associate; Bachelor; Master; Doctorate"),
    *in_cases("Less than high school; High school; Some college; Bachelor's; Graduate"),
)

BLOOD = (
    keys_in("A+; A-; B+; B-; AB+; AB-; O+; O-"),
    keys_in("A; B; AB; O"),
)

SMOKING = (
    *in_cases("Never; Former; Current"),
    keys_in("never smoked; formerly smoked; smokes; Unknown"),
)

FLAGS = (
    *in_cases("No; Yes"),
    keys_in("N; Y"),
    keys_in("n; y"),
    *in_cases("False; True"),
    keys_in("F; T"),
    keys_in("0; 1"),
)

MONTHS = (
    *in_cases("January; February; March; April; May; June; July; August; September; October; November; December"),
    *in_cases("Jan; Feb; Mar; Apr; May; Jun; Jul; Aug; Sep; Oct; Nov; Dec"),
)

WEEKDAYS = (
    *in_cases("Monday; Tuesday; Wednesday; Thursday; Friday; Saturday; Sunday"),
    *in_cases("Mon; Tue; Wed; Thu; Fri; Sat; Sun"),
)

QUARTERS = (keys_in("Q1; Q2; Q3; Q4"),)

CONTINENTS = (keys_in("Africa; Antarctica; Asia; Europe; North America; Oceania; South America"),)

STATES = (
    keys_in(
        "AL; AK; AZ; AR; CA; CO; CT; DE; DC; FL; GA; HI; ID; IL; IN; IA; KS; KY; LA; ME; MD; MA; MI; MN; MS; MO; MT; "
        "NE; NV; NH; NJ; NM; NY; NC; ND; OH; OK; OR; PA; RI; SC; SD; TN; TX; UT; VT; VA; WA; WV; WI; WY"
    ),
    keys_in(
        "Alabama; Alaska; Arizona; Arkansas; California; Colorado; Connecticut; Delaware; District of Columbia; "
        "Florida; Georgia; Hawaii; Idaho; Illinois; Indiana; Iowa; Kansas; Kentucky; Louisiana; Maine; Maryland; "
        "Massachusetts; Michigan; Minnesota; Mississippi; Missouri; Montana; Nebraska; Nevada; New Hampshire; "
        "New Jersey; New Mexico; New York; North Carolina; North Dakota; Ohio; Oklahoma; Oregon; Pennsylvania; "
        "Rhode Island; South Carolina; South Dakota; Tennessee; Texas; Utah; Vermont; Virginia; Washington; "
        "West Virginia; Wisconsin; Wyoming"
    ),
)
