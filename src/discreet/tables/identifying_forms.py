"""Forms of what leads to a person: addresses of all sorts, and numbers with check digits.

A check digit is right by chance in one of ten texts or so. Which share of a column must have it, so that chance can't
be the reason, `by_chance` says.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from ipaddress import ip_address
from math import comb

FALSE_ALARM = 1e-6
"""The probability, at most, that numbers with random check digits are taken for one of the kinds below."""
_LEAST = 0.5
"""The part of the numbers in a kind's form that must be valid: one in ten has a valid check digit by chance."""
_DATED = 0.95
"""The same for numbers with a date and no check digit: half of those that could be one are."""
_TRIED = 400
"""How many numbers of a form are tried: enough to rule out chance."""
_FIRST, _FEW = 40, 4
"""How many numbers are tried first: if fewer than one in four of them are valid, the rest isn't tried."""


_D = "[0-9]"


@dataclass(frozen=True, slots=True, kw_only=True)
class OfficialNumber:
    """A kind of number.

    Args:
        what: in words, in the plural.
        form: how it is written, as a regular expression that RE2 and Python read alike.
        module: of `stdnum`, which knows its check digits.
        chance: of how many numbers of that form, whose dates are right too, the check digits are right by chance, at
            the most.
        digits: how many digits it has if it has nothing else; a number has lost the zeros before it. 0 if it has more.
        starts: how it begins; by its form alone if empty.
        least: the share of the numbers of that form that must be valid.
        shows: one of the valid ones must begin so, or they may be something else.
    """

    what: str
    form: str
    module: str
    chance: float
    digits: int = 0
    starts: str = ""
    least: float = _LEAST
    shows: str = ""

    def validator(self) -> Callable[[str], bool]:
        """Whether a text of that form is one."""
        import stdnum

        valid = import_module(f"{stdnum.__name__}.{self.module}").is_valid
        begins = re.compile(self.starts)

        def is_one(text: str) -> bool:
            """Whether it is; the library has errors of other kinds for some that aren't, such as unknown counties."""
            if self.module == "luhn":  # an algorithm, which knows no marks between digits
                text = re.sub("[ -]", "", text)
            try:
                return begins.match(text) is not None and bool(valid(text))
            except (LookupError, ArithmeticError, TypeError, ValueError):
                return False

        return is_one


def _number(  # noqa: PLR0913, PLR0917 — a line of the table below
    what: str, form: str, module: str, one_in: int, digits: int = 0, starts: str = ""
) -> OfficialNumber:
    """One line of the table."""
    return OfficialNumber(what=what, form=form, module=module, chance=1 / one_in, digits=digits, starts=starts)


def _danish(between: str, digits: int = 0) -> OfficialNumber:
    """The Danish numbers, which have had no check digit since 2007.

    A day, a month and a year, and then digits: so are numbers of bills, with the year first. What could be the day
    there is a year after 31 here for nearly everybody who was born before 2000.
    """
    return OfficialNumber(
        what="Danish CPR numbers", form=f"[0-3]{_D}[01]{_D}{{3}}{between}{_D}{{4}}", module="dk.cpr", chance=1,
        digits=digits, least=_DATED, shows=f"{_D}{{4}}(?:3[2-9]|[4-9])",
    )  # fmt: skip


_CARD = "(?:4|5[1-5]|2[2-7]|3[47]|3[068]|6[0245])"
"""How the numbers of the common payment cards begin: ISO/IEC 7812, the ranges in use."""

NUMBERS: tuple[OfficialNumber, ...] = (
    _number("payment cards", rf"{_D}{{4}}(?:[ -]?{_D}{{4}}){{2}}[ -]?{_D}{{1,4}}|{_D}{{4}}[ -]?{_D}{{6}}[ -]?{_D}{{5}}",
            "luhn", 10, 16, _CARD),
    _number("IBANs", rf"(?i:[A-Z]{{2}}{_D}{{2}}(?: ?[A-Z0-9]{{4}}){{2,7}}(?: ?[A-Z0-9]{{1,3}})?)", "iban", 90),
    _number("US social security numbers", rf"{_D}{{3}}-{_D}{{2}}-{_D}{{4}}", "us.ssn", 1),
    _number("Canadian social insurance numbers", rf"{_D}{{3}}[ -]?{_D}{{3}}[ -]?{_D}{{3}}", "ca.sin", 10, 9),
    _number("Mexican population codes (CURP)", rf"[A-Z]{{4}}{_D}{{6}}[HMX][A-Z]{{5}}[0-9A-Z]{_D}", "mx.curp", 10),
    _number("Brazilian CPF numbers", rf"{_D}{{3}}[.]?{_D}{{3}}[.]?{_D}{{3}}-?{_D}{{2}}", "br.cpf", 80, 11),
    _number("Chilean RUT numbers", rf"{_D}{{1,2}}[.]?{_D}{{3}}[.]?{_D}{{3}}-[0-9K]", "cl.rut", 11),
    _number("UK NHS numbers", rf"{_D}{{3}}[ -]?{_D}{{3}}[ -]?{_D}{{4}}", "gb.nhs", 11, 10),
    _number("Irish PPS numbers", rf"{_D}{{7}}[A-W][A-IW]?", "ie.pps", 20),
    _number("Norwegian birth numbers", rf"{_D}{{6}}[ -]?{_D}{{5}}", "no.fodselsnummer", 100, 11),
    _number("Norwegian bank accounts", rf"{_D}{{4}}[ .]?{_D}{{2}}[ .]?{_D}{{5}}", "no.kontonr", 10, 11),
    _number("Swedish personal numbers", rf"(?:19|20)?{_D}{{6}}[-+]?{_D}{{4}}", "se.personnummer", 10, 10),
    _danish("-"),
    _danish("", 10),
    _number("Finnish identity codes (HETU)", rf"[0-3]{_D}[01]{_D}{{3}}[-+A-FU-Y]{_D}{{3}}[0-9A-Y]", "fi.hetu", 31),
    _number("Icelandic identity numbers", rf"{_D}{{6}}-?{_D}{{4}}", "is_.kennitala", 10, 10),
    _number("Dutch citizen service numbers (BSN)", rf"{_D}{{9}}", "nl.bsn", 10, 9),
    _number("Belgian national numbers", rf"{_D}{{2}}[.]?{_D}{{2}}[.]?{_D}{{2}}[- ]?{_D}{{3}}[. ]?{_D}{{2}}", "be.nn",
            45, 11),
    _number("German tax numbers (Steuer-ID)", rf"[1-9]{_D}(?: ?{_D}{{3}}){{3}}", "de.idnr", 10, 11),
    _number("Austrian insurance numbers", rf"{_D}{{4}} ?{_D}{{6}}", "at.vnr", 10, 10),
    _number("Swiss insurance numbers (AHV)", rf"756[.]?{_D}{{4}}[.]?{_D}{{4}}[.]?{_D}{{2}}", "ch.ssn", 10, 13),
    _number("French social security numbers (NIR)",
            rf"[1-478] ?{_D}{{2}} ?{_D}{{2}} ?{_D}[0-9AB] ?{_D}{{3}} ?{_D}{{3}} ?{_D}{{2}}", "fr.nir", 90, 15),
    _number("Spanish identity numbers (DNI)", rf"{_D}{{8}}[- ]?[A-Z]", "es.dni", 23),
    _number("Spanish foreigners' numbers (NIE)", rf"[XYZ]-?{_D}{{7}}-?[A-Z]", "es.nie", 23),
    _number("Portuguese tax numbers (NIF)", rf"{_D}{{9}}", "pt.nif", 9, 9),
    _number("Italian tax codes", rf"[A-Z]{{6}}{_D}{{2}}[A-Z]{_D}{{2}}[A-Z]{_D}{{3}}[A-Z]", "it.codicefiscale", 26),
    _number("Greek social security numbers (AMKA)", rf"{_D}{{11}}", "gr.amka", 10, 11),
    _number("Polish PESEL numbers", rf"{_D}{{11}}", "pl.pesel", 10, 11),
    _number("Czech and Slovak birth numbers", rf"{_D}{{6}}/?{_D}{{4}}", "cz.rc", 10, 10),
    _number("Romanian personal codes", rf"[1-9]{_D}{{12}}", "ro.cnp", 10, 13),
    _number("Bulgarian citizen numbers", rf"{_D}{{10}}", "bg.egn", 10, 10),
    _number("Estonian and Lithuanian personal codes", rf"[1-8]{_D}{{10}}", "ee.ik", 10, 11),
    _number("Croatian personal numbers (OIB)", rf"{_D}{{11}}", "hr.oib", 10, 11),
    _number("citizen numbers of former Yugoslavia", rf"{_D}{{13}}", "si.emso", 10, 13),
    _number("Turkish identity numbers", rf"[1-9]{_D}{{10}}", "tr.tckimlik", 90, 11),
    _number("Israeli identity numbers", rf"{_D}{{9}}", "il.idnr", 10, 9),
    _number("South African identity numbers", rf"{_D}{{6}} ?{_D}{{4}} ?{_D}{{3}}", "za.idnr", 10, 13),
    _number("Indian Aadhaar numbers", rf"[2-9]{_D}{{3}} ?{_D}{{4}} ?{_D}{{4}}", "in_.aadhaar", 10, 12),
    _number("Chinese resident numbers", rf"[1-9]{_D}{{16}}[0-9X]", "cn.ric", 11),
    _number("Korean resident numbers", rf"{_D}{{6}}-?{_D}{{7}}", "kr.rrn", 10, 13),
    _number("Thai identity numbers", rf"[1-8](?:-?{_D}{{4}}-?{_D}{{5}}-?{_D}{{2}}-?{_D})", "th.pin", 10, 13),
    _number("Australian tax numbers", rf"{_D}{{3}} ?{_D}{{3}} ?{_D}{{3}}", "au.tfn", 11, 9),
    _number("New Zealand tax numbers", rf"{_D}{{9}}", "nz.ird", 10, 9),
    _number("device numbers (IMEI)", rf"{_D}{{2}}-?{_D}{{6}}-?{_D}{{6}}-?{_D}", "imei", 10, 15),
)  # fmt: skip


def by_chance(valid: int, tried: int, chance: float) -> float:
    """The probability that this many or more of the numbers tried are valid by chance.

    Examples:
        >>> round(by_chance(2, 3, 0.1), 4), by_chance(0, 5, 0.1)
        (0.028, 1.0)
    """
    if valid <= 0:
        return 1.0
    return sum(comb(tried, each) * chance**each * (1 - chance) ** (tried - each) for each in range(valid, tried + 1))


def kinds_of(numbers: Sequence[tuple[OfficialNumber, Sequence[str]]]) -> list[tuple[OfficialNumber, float]]:
    """The kinds that numbers are of, and the share of those with the kind's form; the greatest share first.

    The probability that random check digits bring a kind about is at most `FALSE_ALARM` for all kinds together, and of
    the numbers of its form at least half are valid, whatever made them so. A kind without check digits goes by its form
    and its dates.

    Args:
        numbers: of each kind, the different texts of its form.

    Examples:
        >>> bsn = next(each for each in NUMBERS if each.module == "nl.bsn")
        >>> kinds_of([(bsn, ["111222333", "123456782"])])  # two may be right by chance
        []
    """
    tried = [(kind, texts) for kind, texts in numbers if texts]
    found = []
    for kind, texts in tried:
        valid, of = _valid(kind, texts)
        told = kind.chance == 1 or by_chance(len(valid), of, kind.chance) <= FALSE_ALARM / len(tried)
        if told and len(valid) >= kind.least * of and any(re.match(kind.shows, text) for text in valid):
            found.append((kind, len(valid) / of))
    return sorted(found, key=lambda each: -each[1])


def _valid(kind: OfficialNumber, texts: Sequence[str]) -> tuple[list[str], int]:
    """The valid ones, and of how many that were tried: evenly spread ones, if there are many."""
    is_valid = _validator(kind)
    chosen = texts[:: -(-len(texts) // _TRIED)]
    first = [text for text in chosen[:_FIRST] if is_valid(text)]
    if len(chosen) <= _FIRST or len(first) * _FEW < _FIRST:
        return first, min(len(chosen), _FIRST)
    return [*first, *filter(is_valid, chosen[_FIRST:])], len(chosen)


@cache
def _validator(kind: OfficialNumber) -> Callable[[str], bool]:
    """The validator of a kind, looked up once."""
    return kind.validator()


LOOKS_IDENTIFYING = re.compile(
    r"@|(?:[0-9][ ./()+-]*){6}|[0-9]+\.[0-9]+\.[0-9]+\.[0-9]+"
    r"|\b[0-9]+[a-zA-Z]?,?\s+(?:[^\W\d]|['.-])+|[^\W\d]{3,}[.,]?\s+(?:[Nn][ro.°º]*\s*)?[0-9]+\s*[a-zA-Z]?\b"
)
"""Texts like an e-mail address, a person's, card, phone or device number, or a street address: a finer net than
the forms below, for single texts that would be shown.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Form:
    """Something that has a form of its own.

    Args:
        what: in words, in the plural.
        form: as a regular expression that RE2 and Python read alike.
        proof: whether a text of that form is one; None if the form says it all.
        least: the share of values that must have it.
        values: how many different values must have it.
        valid: the share of the texts of that form that must be one.
    """

    what: str
    form: str
    proof: Callable[[str], bool] | None = None
    least: float = 0.0
    values: int = 1
    valid: float = 0.5


def _is_address(text: str) -> bool:
    """Whether a text is the address of a machine, and not the number of a version."""
    try:
        return ip_address(text).version != 4 or text.startswith("10.") or max(map(int, text.split("."))) > _VERSION  # noqa: PLR2004 — IPv4
    except ValueError:
        return False


_VERSION = 31
"""Numbers of versions have small parts, such as 1.10.2.3."""


_POSTAL = re.compile("[0-9]{5}-[0-9]{4}(?:-|$)")
"""US ZIP codes with four digits more, and codes of drugs."""


def _is_phone(text: str) -> bool:
    """Whether a text has as many digits as a telephone number, by ITU-T E.164; a date has eight."""
    return 8 < sum(map(str.isdigit, text)) <= 15 and not _POSTAL.match(text)  # noqa: PLR2004 — said above


def _is_place(text: str) -> bool:
    """Whether two numbers are a latitude and a longitude, or the other way round."""
    one, other = (abs(float(number)) for number in re.findall(r"[0-9]+[.][0-9]+", text)[:2])
    return min(one, other) <= 90 and max(one, other) <= 180  # noqa: PLR2004 — degrees


_HEX = "[0-9A-Fa-f]"
_NAME = r"[A-Za-zÀ-ÖØ-öø-ÿŁł'’.-]+"
_STREETS = (
    "street|st|avenue|ave|road|rd|lane|ln|drive|dr|boulevard|blvd|court|ct|way|place|pl|square|sq|terrace|parkway|"
    "pkwy|highway|hwy|close|crescent|circle|cir|trail"
)
FORMS: tuple[Form, ...] = (
    Form(what="e-mail addresses", form=r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:[.][A-Za-z0-9-]+)*[.][A-Za-z]{2,}"),
    Form(what="web addresses", form=r"(?i:https?://|ftp://|www[.])[^\s/]+[.][^\s]+"),
    Form(what="web addresses", form=r"(?i:\b[a-z0-9-]+[.](?:com|org|net|edu|gov|io|me)/[^\s]+)", values=2),
    Form(what="names of accounts", form=r"(?:^|\s)@[\p{L}0-9_][\p{L}0-9_.-]+", values=2),
    Form(
        what="network addresses (IP)",
        form=(
            r"\b[0-9]{1,3}(?:[.][0-9]{1,3}){3}\b"
            rf"|{_HEX}{{1,4}}:{_HEX}{{0,4}}:(?:{_HEX}{{0,4}}:){{0,5}}{_HEX}{{0,4}}|::{_HEX}{{1,4}}"
        ),
        proof=_is_address,
    ),
    Form(what="device addresses (MAC)", form=rf"\b{_HEX}{{2}}(?:(?::{_HEX}{{2}}){{5}}|(?:-{_HEX}{{2}}){{5}})\b"),
    Form(
        what="unique keys (UUIDs or hashes)",
        form=rf"\b{_HEX}{{8}}-?(?:{_HEX}{{4}}-?){{3}}{_HEX}{{12}}\b|\b(?:{_HEX}{{40}}|{_HEX}{{64}})\b",
        values=2,
    ),
    Form(
        what="telephone numbers",
        form=(
            r"[+][1-9][0-9]{0,2}[ .-]?(?:[(]0?[0-9]{1,4}[)][ .-]?)?[0-9](?:[ ./-]?[0-9]){5,12}"
            r"|(?:\b1[ .-])?[(][2-9][0-9]{2}[)][ .-]?[2-9][0-9]{2}[ .-][0-9]{4}\b"
            r"|\b(?:1[ .-])?[2-9][0-9]{2}[ .-][2-9][0-9]{2}[ .-][0-9]{4}\b"
            r"|\b00[1-9][0-9]{0,2}[ .-][0-9](?:[ ./-]?[0-9]){5,12}\b"
            r"|[(]0[1-9][0-9]{1,4}[)] ?[0-9]{2,8}(?:[ -][0-9]{2,6}){0,3}\b"
            r"|\b0[1-9][0-9]{0,3}(?:[ /-][0-9]{2,8}){1,4}\b"
        ),
        proof=_is_phone,
        values=2,
        valid=0.3,
    ),
    Form(what="telephone numbers", form=r"^[2-9][0-9](?: [0-9]{2}){3}$", least=0.5, values=3),
    Form(
        what="coordinates",
        form=r"-?\b[0-9]{1,3}[.][0-9]{3,}[°NSEW]?[,; ]{1,2}-?[0-9]{1,3}[.][0-9]{3,}",
        proof=_is_place,
        values=2,
    ),
    Form(
        what="street addresses",
        form=(
            rf"\b[0-9]{{1,5}}[A-Za-z]? (?:[A-Z0-9]{_NAME} |[0-9]{{1,3}}(?:st|nd|rd|th) |[0-9NSEW][.]? ){{1,4}}"
            rf"(?i:{_STREETS})\b"
            rf"|^[0-9]{{1,5}} (?:[a-z0-9]+ ){{1,3}}(?:{_STREETS})$"
            r"|(?i:\p{L}{2,} ?(?:straße|strasse|str[.]|gasse|weg|gracht|allee|gata|gaten|gate|gatan|vägen|vegen|veien|"
            r"vei|vej|gade|straat|laan|plein|katu|tie|utca)) [0-9]{1,4}[a-zA-Z]?\b"
            r"|(?i:\b(?:rue|avenue|boulevard|calle|avenida|plaza|paseo|rua|via|viale|corso|piazza|ulica|ul[.]|jalan|"
            r"jl[.])) "
            r"[^0-9,]{2,40},? ?(?:n[º°o.]{1,2} ?)?[0-9]{1,4}\b"
            r"|\b[0-9]{1,4},? (?i:bis )?(?i:rue|avenue|boulevard|bd|allée|place) \p{L}"
            r"|(?i:\b(?:p[.]? ?o[.]? ?box|postfach|apartado|bo[iî]te postale)) [0-9]{1,6}\b"
        ),
        values=2,
    ),
    Form(
        what="licence plates",
        form=(
            r"^(?:[A-Z]{2}[- ]?[0-9]{3}[- ]?[A-Z]{2}|[A-Z]{2}[0-9]{2} [A-Z]{3}"
            r"|[A-ZÄÖÜ]{1,3}-[A-Z]{1,2}[ -][0-9]{1,4}[EH]?"
            r"|[0-9][A-Z]{3}[0-9]{3}|[0-9]{4}[ -][B-DF-HJ-NP-TV-Z]{3}|[0-8][0-9] [A-Z]{1,3} [0-9]{2,5})$"
        ),
        least=0.5,
        values=5,
    ),
    Form(
        what="British insurance numbers",
        form=r"\b[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?[0-9]{2} ?[0-9]{2} ?[0-9]{2} ?[A-D]\b",
        values=3,
    ),
    Form(what="Indian tax numbers (PAN)", form=r"\b[A-Z]{3}[ABCFGHJLPT][A-Z][0-9]{4}[A-Z]\b", values=3),
)
