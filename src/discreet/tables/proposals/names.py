"""Names of columns and tables, in one spelling, so that they can be compared."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

PEOPLE = (
    "person patient subject participant respondent individual citizen resident beneficiary insured member user "
    "customer client consumer subscriber cardholder passenger visitor employee worker staff student pupil donor "
    "voter taxpayer applicant borrower tenant owner"
)
"""Words for people, those likelier to be what a table is about first."""


def without_owner(name: str) -> str | None:
    """The name without the person it is about, if it begins with one.

    Examples:
        >>> without_owner("PatientAge")
        'age'
    """
    first, _, rest = plain(name).partition("_")
    return rest if rest and first in PEOPLE.split() else None


@lru_cache(maxsize=1 << 10)
def plain(name: str) -> str:
    """A name in lower case, its words apart by underscores, without accents.

    Examples:
        >>> plain("hours-per-week"), plain("maritalStatus"), plain("Âge (years)")
        ('hours_per_week', 'marital_status', 'age_years')
    """
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", split) if not unicodedata.combining(sign))
    return re.sub(r"[^a-z0-9]+", "_", bare.casefold()).strip("_")


def joined(name: str) -> str:
    """A plain name without its underscores, so that `zip_code` and `zipcode` are one."""
    return plain(name).replace("_", "")
