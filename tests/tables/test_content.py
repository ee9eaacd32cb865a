"""What columns hold is told by their values: by form and check digits, in a share of them, and not by chance."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice, product

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import binom

from discreet.tables.content import LOOKED_AT, ColumnContent, content_of
from discreet.tables.identifying_forms import FALSE_ALARM, NUMBERS, OfficialNumber, by_chance, kinds_of

PUBLISHED = {
    "luhn": "4111111111111111",
    "iban": "GB82WEST12345698765432",
    "us.ssn": "536-90-4399",
    "ca.sin": "123-456-782",
    "mx.curp": "BOXW310820HNERXN09",
    "br.cpf": "390.533.447-05",
    "cl.rut": "12.531.909-2",
    "gb.nhs": "943 476 5870",
    "no.fodselsnummer": "15108695088",
    "se.personnummer": "640823-3234",
    "fi.hetu": "131052-308T",
    "is_.kennitala": "120174-3399",
    "nl.bsn": "111222333",
    "be.nn": "85.07.30-033.28",
    "de.idnr": "36574261809",
    "at.vnr": "1237 010180",
    "ch.ssn": "756.9217.0769.85",
    "fr.nir": "295109912611193",
    "es.dni": "54362315K",
    "es.nie": "X2482300W",
    "it.codicefiscale": "RCCMNL83S18D969H",
    "pl.pesel": "44051401359",
    "cz.rc": "710319/2745",
    "ro.cnp": "1630615123457",
    "tr.tckimlik": "17291716060",
    "za.idnr": "7503305044089",
    "in_.aadhaar": "234123412346",
    "cn.ric": "360426199101010071",
    "kr.rrn": "971013-9019902",
    "dk.cpr": "211062-5629",
    "imei": "356868003045147",
}
"""A number of each kind as documentation has it, by the module that checks it."""


def kind(module: str) -> OfficialNumber:
    """The first kind that a module checks."""
    return next(each for each in NUMBERS if each.module == module)


def like(module: str, count: int = 12) -> list[str]:
    """Valid numbers that differ from the published one in some digits."""
    example, is_valid = PUBLISHED[module], kind(module).validator()
    digits = [place for place, sign in enumerate(example) if sign.isdigit()][-5:]

    def changed() -> Iterator[str]:
        for signs in product("9753180246", repeat=len(digits)):
            text = list(example)
            for place, sign in zip(digits, signs, strict=True):
                text[place] = sign
            last = "".join(text)
            ends = "ABCDEFGHJKLMNPQRSTUVWXYZ" if last[-1].isalpha() else (last[-1],)
            yield from filter(is_valid, (last[:-1] + end for end in ends))

    found = list(islice(changed(), count))
    assert len(found) == count
    return found


def said(found: ColumnContent) -> dict[str, float]:
    """The shares, by what was found."""
    return {each.what: each.share for each in found.found}


@pytest.mark.parametrize("module", PUBLISHED)
def test_official_numbers_are_told_alone_and_among_notes(module: str) -> None:
    """A column of them is told, and so are those in one note of twenty; the most likely kind is the right one."""
    numbers, what = like(module), kind(module).what
    assert what in said(content_of(pa.array(numbers)))
    notes = [f"seen, {number}, twice" for number in numbers] + [f"nothing {'x' * length}" for length in range(228)]
    assert said(content_of(pa.array(notes)))[what] == pytest.approx(0.05)


def test_numbers_are_told_however_they_are_grouped() -> None:
    """Cards in fours, as they are printed, or with dashes; IBANs in small letters."""
    for mark in (" ", "-"):
        cards = [mark.join(text[place : place + 4] for place in range(0, 16, 4)) for text in like("luhn")]
        assert said(content_of(pa.array(cards)))["payment cards"] == 1
    assert said(content_of(pa.array([text.lower() for text in like("iban")])))["IBANs"] == 1


def test_a_number_that_the_library_stumbles_over_is_none() -> None:
    """It looks a county up that isn't there; whatever it raises, the number isn't valid."""
    is_valid = kind("cn.ric").validator()
    assert not any(is_valid(f"{county}19900101001X") for county in range(110_000, 660_000, 997))


@pytest.mark.parametrize("module", [each.module for each in NUMBERS if each.digits and each.module in PUBLISHED])
def test_whole_numbers_are_told_though_zeros_before_them_are_lost(module: str) -> None:
    """A library that reads them as numbers, or as floats beside a missing one, hides nothing."""
    numbers = [int("".join(filter(str.isdigit, text))) for text in like(module)]
    assert kind(module).what in said(content_of(pa.array(numbers)))
    if max(numbers) < 2**53:
        assert kind(module).what in said(content_of(pa.array([*map(float, numbers), None])))


@pytest.mark.parametrize("digits", range(5, 19))
def test_random_numbers_are_of_no_kind(digits: int) -> None:
    """Of 400 that are drawn, half would have to have right check digits: less likely than 1e-70 for each kind."""
    drawn = np.random.default_rng().integers(10 ** (digits - 1), 10**digits, 400)
    assert said(content_of(pa.array(np.unique(drawn)))) == {}
    assert said(content_of(pa.array([str(number) for number in np.unique(drawn)]))) == {}


def test_as_many_as_chance_brings_about_are_none() -> None:
    """Seven random numbers of nine digits may all be valid, in one column of ten million; so eight it must be."""
    numbers = sorted(like("nl.bsn", 8))
    bsn = kind("nl.bsn")
    assert [each.what for each, _ in kinds_of([(bsn, numbers)])] == [bsn.what]
    few = next(count for count in range(1, 9) if 0.1**count <= FALSE_ALARM) - 1
    assert kinds_of([(bsn, numbers[:few])]) == []
    assert kinds_of([(bsn, [*numbers, *map(str, range(900_000_000, 900_000_400))])]) == []


@pytest.mark.parametrize(("valid", "tried", "chance"), [(3, 10, 0.1), (40, 400, 0.1), (5, 5, 1 / 97), (1, 7, 0.5)])
def test_chance_is_the_binomials(valid: int, tried: int, chance: float) -> None:
    """What chance can do is the tail of the binomial distribution."""
    assert by_chance(valid, tried, chance) == pytest.approx(binom.sf(valid - 1, tried, chance), rel=1e-9)


FORMS = {
    "e-mail addresses": ["kim@example.org", "a.b+c@mail.example.co.uk"],
    "web addresses": ["https://example.org/kim", "www.example.org/~ada", "example.com/in/kim", "Example.org/ada"],
    "names of accounts": ["@kim_possible", "@ådne.b"],
    "network addresses (IP)": ["192.168.1.4", "203.0.113.77", "2001:db8::1"],
    "device addresses (MAC)": ["00:1A:2B:3C:4D:5E", "00-1a-2b-3c-4d-5f"],
    "unique keys (UUIDs or hashes)": ["123e4567-e89b-12d3-a456-426614174000", "92100f5c41aa4ce79c78277a592a79eb"],
    "telephone numbers": ["+47 22 22 22 22", "(202) 555-0143", "202-555-0199", "0151 23456789", "0047 22 22 22 22"],
    "coordinates": ["59.9139, 10.7522", "60.3913,5.3221"],
    "street addresses": [
        "12 Main Street",
        "Karl Johans gate 5",
        "12 rue de la Paix",
        "Hauptstraße 7b",
        "919 W 58th St Apt 1",
        "4 bd Pasteur",
        "Lindenweg 28",
        "Keizersgracht 342",
        "Corso Dante, 19",
        "Rua das Flores, nº 86",
        "P.O. Box 4052",
        "Postfach 12",
    ],
}


@pytest.mark.parametrize("what", FORMS)
def test_what_has_a_form_is_told_in_a_share_of_values(what: str) -> None:
    """A few among notes are found, with their share of rows, also where values repeat."""
    column = pa.array([*FORMS[what], *(f"nothing {'x' * length}" for length in range(50))])
    counts = np.array([1] * len(FORMS[what]) + [2] * 50)
    found = content_of(column, counts)
    assert said(found) == {what: pytest.approx(len(FORMS[what]) / counts.sum())}
    assert all(each.identifies for each in found.found)
    assert not any(text in str(found) for text in FORMS[what])


def test_names_plates_and_notes_are_told() -> None:
    """Names by the commonest of them; plates by a form that half of the values have; notes by their length."""
    names = ["Lynn Romero", "Shelly Green", "James Smith", "Mary Major", "Bob Stone", "Kari Nordmann"]
    assert said(content_of(pa.array(names))) == {"names of people": 1}
    assert said(content_of(pa.array([f"{name} €" for name in names]))) == {}  # which is no letter
    plates = ["AB-123-CD", "CD-456-EF", "EF-789-GH", "AA-111-BB", "ZZ-999-ZZ"]
    assert said(content_of(pa.array(plates))) == {"licence plates": 1}
    for form in ("SAL-F-{}15", "KA-AX {}23", "FB 0{}7 ZT", "AZ{}31KL", "34 ABC {}7"):
        assert said(content_of(pa.array([form.format(digit) for digit in range(1, 7)]))) == {"licence plates": 1}, form
    notes = [f"the patient came in early and left after {hours} hours" for hours in range(20)]
    assert said(content_of(pa.array(notes))) == {"free text": 1}
    assert said(content_of(pa.array(notes[:1]), np.array([400]))) == {}  # a category that has a long name


ORDINARY = {
    "years": range(1900, 2030),
    "prices": [f"{cents / 100:.2f}" for cents in range(999, 99_999, 101)],
    "ZIP codes": [f"{code:05d}" for code in range(501, 99_950, 307)],
    "ZIP+4": [f"{code:05d}-{code % 9_999:04d}" for code in range(501, 99_950, 307)],
    "drug codes": [f"{code:05d}-{code % 999:04d}-{code % 99:02d}" for code in range(1, 99_999, 307)],
    "versions": [f"{a}.{b}.{c}.0" for a in range(3) for b in range(10) for c in range(10)],
    "times of day": [f"{hour:02d}:{minute:02d}:30" for hour in range(24) for minute in range(60)],
    "numbers of bills": [f"{year:02d}{month:02d}15-{year * month:04d}" for year in range(9, 24) for month in (1, 7)],
    "seconds since 1970": range(1_600_000_000, 1_700_000_000, 999_983),
    "one after the other": range(100_000_000, 100_009_000),
    "tens": range(10_100_000_000, 10_100_090_000, 10),
    "cities": ["New York", "London", "Paris", "Jackson", "Charlotte", "Boston", "Chicago", "Oslo", "Bergen", "Rome"],
    "measures": [f"{value}.{value % 10} mg" for value in range(200)],
    "diagnoses": [f"{letter}{number:02d}.{number % 10}" for letter in "ACEFIJ" for number in range(99)],
}  # fmt: skip


@pytest.mark.parametrize("name", ORDINARY)
def test_ordinary_columns_hold_nothing(name: str) -> None:
    """Counts, codes, prices and the like are none of it."""
    assert said(content_of(pa.array(list(ORDINARY[name])))) == {}


def test_a_sampled_look_says_so() -> None:
    """Of many values some are looked at, evenly, and the text says how many."""
    found = content_of(pa.array([f"person{number:07d}@example.org" for number in range(2 * LOOKED_AT + 1)]))
    assert found.sampled
    assert str(found).startswith("e-mail addresses in all of its values (6,667 of 20,001 different values")
    assert not content_of(pa.array(["a", None])).sampled


def test_a_single_telephone_number_names_no_nationality() -> None:
    """One of forty reads as a Danish CPR number; ten of them would be some."""
    calls = [f"+45 {20 + n} {31 + n} {42 + n} {53 + n}" for n in range(40)]
    danish = [f"0{n % 9 + 1}0{n % 8 + 1}34-{1_000 + 7 * n}" for n in range(10)]
    telephone = content_of(pa.array(calls)).identifying[0].what
    assert {each.what for each in content_of(pa.array([*calls, danish[0]])).identifying} == {telephone}
    assert "Danish CPR numbers" in {each.what for each in content_of(pa.array(danish)).identifying}
