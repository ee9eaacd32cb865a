"""The eighteen identifiers that HIPAA's safe harbor has removed (45 CFR 164.514(b)(2)(i)), looked for in a table.

A column is found by its name, or by what its values look like. What isn't found may be there all the same: the rule is
about what a table holds, and this about what can be told from it. So nothing here says that a table meets the rule,
which also asks that nobody knows of a way to identify anyone by what is left.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from discreet.anonymity.attributes import AttributeGuess, AttributeKind, may_be_known, stored_kind
from discreet.anonymity.columns import Coded
from discreet.anonymity.hierarchies.texts import is_number, present
from discreet.anonymity.records import Records
from discreet.tables.content import NAMES
from discreet.tables.identifying_forms import NUMBERS
from discreet.tables.proposals import joined, plain

_SOCIAL = "US social security numbers"
_DATES = "dates"
_OLDEST = 89
"""Ages above this one are identifiers by the rule, as dates are."""


class Looked(StrEnum):
    """The ways in which an identifier was looked for.

    Examples:
        >>> Looked("by name").name
        'NAME'
    """

    BOTH = "by name and by content"
    NAME = "by name"
    NEVER = "can't be told from a table"


@dataclass(frozen=True, slots=True, kw_only=True)
class Identifier:
    """One of the eighteen.

    Args:
        letter: of its paragraph in the rule.
        what: in the rule's words, shortened.
        names: words that a column of it is called by, at the end of its name.
        contents: what its values look like, as `discreet.tables.content` says it.
    """

    letter: str
    what: str
    names: frozenset[str]
    contents: frozenset[str]

    @property
    def looked(self) -> Looked:
        """How it is looked for."""
        return Looked.BOTH if self.contents else Looked.NAME if self.names else Looked.NEVER


def _identifier(letter: str, what: str, names: str = "", contents: tuple[str, ...] = ()) -> Identifier:
    """A line of the table below."""
    return Identifier(
        letter=letter, what=what, names=frozenset(map(joined, names.split())), contents=frozenset(contents)
    )


IDENTIFIERS: tuple[Identifier, ...] = (
    _identifier(
        "A", "Names",
        "name full_name first_name last_name surname given_name family_name middle_name maiden_name forename initials "
        "patient_name nachname vorname nom prenom apellido nombre",
        (NAMES,),
    ),
    _identifier(
        "B", "Geographic subdivisions smaller than a state",
        "address street city town municipality village county district precinct zip zipcode zip_code zip5 postcode "
        "postal_code postal plz neighbourhood neighborhood tract puma block geocode latitude longitude lat lon lng "
        "location place",
        ("street addresses", "coordinates"),
    ),
    _identifier(
        "C", "Dates (but for the year) related to an individual; ages over 89",
        "date day dob birthday birthdate birth_date date_of_birth admission discharge admitted discharged death_date "
        "date_of_death dod timestamp datetime",
        (_DATES,),
    ),
    _identifier("D", "Telephone numbers", "phone telephone phone_number mobile tel telefon", ("telephone numbers",)),
    _identifier("E", "Fax numbers", "fax fax_number telefax"),
    _identifier("F", "E-mail addresses", "email mail email_address", ("e-mail addresses",)),
    _identifier("G", "Social security numbers", "ssn social_security social_security_number", (_SOCIAL,)),
    _identifier("H", "Medical record numbers", "mrn medical_record medical_record_number chart_number nhs_number "
                "patient_id patient_number", ("UK NHS numbers",)),
    _identifier("I", "Health plan beneficiary numbers", "beneficiary beneficiary_id member_id member_number "
                "subscriber_id policy_number insurance_number insurance_id health_plan medicare medicaid",
                ("Swiss insurance numbers (AHV)", "Austrian insurance numbers", "British insurance numbers")),
    _identifier("J", "Account numbers", "account account_number account_id iban credit_card card_number",
                ("IBANs", "payment cards", "Norwegian bank accounts")),
    _identifier("K", "Certificate and license numbers", "certificate certificate_number license licence license_number "
                "licence_number passport passport_number npi dea"),
    _identifier("L", "Vehicle identifiers, license plates included", "vin license_plate licence_plate plate "
                "number_plate vehicle_id", ("licence plates",)),
    _identifier("M", "Device identifiers and serial numbers", "device_id device serial serial_number imei mac "
                "mac_address udi", ("device numbers (IMEI)", "device addresses (MAC)")),
    _identifier("N", "Web addresses (URLs)", "url web website homepage link", ("web addresses",)),
    _identifier("O", "IP addresses", "ip ip_address ipv4 ipv6", ("network addresses (IP)",)),
    _identifier("P", "Biometric identifiers, finger and voice prints included", "fingerprint voiceprint voice_print "
                "retina iris biometric genome genotype dna"),
    _identifier("Q", "Full-face photographs and comparable images"),
    _identifier("R", "Any other unique identifying number, characteristic or code", "", (
        "names of accounts", "unique keys (UUIDs or hashes)", "Indian tax numbers (PAN)",
        *sorted({each.what for each in NUMBERS}),
    )),
)  # fmt: skip
"""All of them, in the rule's order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ticked:
    """One of the eighteen, and the columns of a table in which it was found.

    Args:
        identifier: which.
        columns: for each column that seems to hold it, why, in words.
    """

    identifier: Identifier
    columns: Mapping[str, str]

    def to_dict(self) -> dict[str, object]:
        """All of it as JSON-ready data."""
        kind = self.identifier
        return {"letter": kind.letter, "what": kind.what, "looked": str(kind.looked), "columns": dict(self.columns)}

    def __str__(self) -> str:
        if self.columns:
            return "found in " + "; ".join(f"{name}, {why}" for name, why in self.columns.items())
        kind = self.identifier.looked
        return str(kind) if kind is Looked.NEVER else f"looked for {kind}, not found"


SafeHarbor: TypeAlias = tuple[Ticked, ...]
"""All eighteen, in the rule's order."""


def safe_harbor(records: Records, guesses: Sequence[AttributeGuess], identifying: Sequence[str] = ()) -> SafeHarbor:
    """Look for each of the eighteen in a table's columns, in the rule's order.

    Args:
        records: the table.
        guesses: what each column seems to be, and what its values look like.
        identifying: columns that are said to name people.

    Examples:
        >>> from discreet.anonymity import guess_attributes, read
        >>> people = read({"ZIP": ["02138", "02139"], "age": [34, 93], "fax": ["1", "2"]})
        >>> found = safe_harbor(people, guess_attributes(people))
        >>> for each in found:
        ...     if each.columns:
        ...         print(each.identifier.letter, each)
        B found in ZIP, by its name
        C found in age, which holds ages over 89
        E found in fax, by its name
        >>> print(found[16])
        can't be told from a table
    """
    found: list[dict[str, str]] = [{} for _ in IDENTIFIERS]
    for guess in guesses:
        special = 0
        for kind, columns in zip(IDENTIFIERS[:-1], found, strict=False):
            if why := _why(kind, guess, records.columns[guess.column]):
                columns[guess.column], special = why, special + 1
        if special:
            continue  # the last of the eighteen is whatever else leads to one person
        if why := _why(IDENTIFIERS[-1], guess, records.columns[guess.column]):
            found[-1][guess.column] = why
        elif guess.column in identifying:
            found[-1][guess.column] = "which is said to identify"
        elif guess.kind is AttributeKind.IDENTIFYING:
            found[-1][guess.column] = guess.reason
    return tuple(Ticked(identifier=kind, columns=each) for kind, each in zip(IDENTIFIERS, found, strict=True))


def _why(kind: Identifier, guess: AttributeGuess, column: Coded) -> str:
    """Why a column seems to hold an identifier; empty if nothing says so."""
    called = _called(guess.column, kind.names)
    of_places = may_be_known(guess.column) and not called  # cities are named after people
    alike = (each for each in guess.content.found if each.what in kind.contents)
    held = [str(each) for each in alike if each.what != NAMES or not of_places]
    if kind.contents == {_DATES}:
        values = present(column)
        if not held and stored_kind(values).is_time:
            held.append("dates")
        if "age" in plain(guess.column).split("_") and is_number(values) and len(values):
            held += ["ages over 89"] if float(values[-1].as_py()) > _OLDEST else []
    if held:
        return f"which holds {' and '.join(held)}"
    return "by its name" if called else ""


def _called(name: str, words: frozenset[str]) -> bool:
    """Whether a column's name ends in one of these words; an English plural counts."""
    parts = plain(name).split("_")
    ends = {joined("_".join(parts[-length:])) for length in range(1, 5)}
    return not words.isdisjoint(ends | {each.removesuffix("s") for each in ends})
