"""HIPAA's eighteen identifiers are found by name and by content, and nothing says that they are absent."""

from __future__ import annotations

from discreet.anonymity.risk import assess
from discreet.anonymity.risk.safe_harbor import IDENTIFIERS, Looked
from discreet.tables.content import NAMES, NOTES
from discreet.tables.identifying_forms import FORMS, NUMBERS

SEVERAL = range(40)
COLUMNS = {
    "surname": ["a"] * 40,
    "county": ["x", "y"] * 20,
    "discharge": [f"2024-01-{day % 28 + 1:02}" for day in SEVERAL],
    "patient_ages": [day % 20 + 20 for day in SEVERAL],
    "age": [day % 20 + 80 for day in SEVERAL],
    "Mobile": ["1"] * 40,
    "FaxNumber": ["1"] * 40,
    "a1": [f"kim{n}@example.org" for n in SEVERAL],
    "social-security": ["1"] * 40,
    "mrn": ["1"] * 40,
    "member_id": ["1"] * 40,
    "IBAN": ["1"] * 40,
    "licences": ["1"] * 40,
    "a2": [f"AB{n + 10} CDE" for n in SEVERAL],
    "a3": [f"00:1b:44:11:3a:{n + 10}" for n in SEVERAL],
    "a4": [f"https://example.org/{n}" for n in SEVERAL],
    "a5": [f"10.0.0.{n}" for n in SEVERAL],
    "fingerprint": ["1"] * 40,
    "a6": [f"{n:08x}-0000-4000-8000-00000000000{n % 10}" for n in SEVERAL],
    "a7": [n * 7919 for n in SEVERAL],
    "sex": ["F", "M"] * 20,
}
FOUND = {
    "A": {"surname"}, "B": {"county"}, "C": {"discharge", "age"}, "D": {"Mobile"}, "E": {"FaxNumber"}, "F": {"a1"},
    "G": {"social-security"}, "H": {"mrn"}, "I": {"member_id"}, "J": {"IBAN"}, "K": {"licences"}, "L": {"a2"},
    "M": {"a3"}, "N": {"a4"}, "O": {"a5"}, "P": {"fingerprint"}, "Q": set(), "R": {"a6", "a7"},
}  # fmt: skip


def test_each_is_found_where_it_is() -> None:
    """By name, by content, by what no two rows share; once each, and nowhere else."""
    report = assess(COLUMNS, quasi_identifiers=["sex"], unit=())
    assert {each.identifier.letter: set(each.columns) for each in report.safe_harbor} == FOUND
    assert [each for each in report.safe_harbor if str(each).startswith("can't")] == [report.safe_harbor[16]]
    singling, linking, _ = report.three_risks
    assert (singling.remains, linking.remains) == (True, True), "columns that lead to one person are in the table"
    assert "a7" in singling.says
    assert "county" not in singling.says


def test_no_risk_is_said_to_be_absent() -> None:
    """Without a sensitive column inference isn't measured; of rows that may be one person's, nothing is."""
    plain = assess({"sex": ["F", "M"] * 20}, quasi_identifiers=["sex"])
    assert [each.verdict for each in plain.three_risks] == ["not seen", "not seen", "not measured"]
    several = assess({"patient_id": [1, 2] * 20, "sex": ["F", "M"] * 20}, quasi_identifiers=["sex"])
    assert [each.verdict for each in several.three_risks] == ["not measured"] * 3
    assert "name the unit" in several.three_risks[0].says
    empty = assess({"sex": []}, quasi_identifiers=["sex"])
    assert [each.verdict for each in empty.three_risks] == ["not measured"] * 3


def test_all_that_content_finds_has_a_place() -> None:
    """Every form that identifies is one of the eighteen, but for free text, which may hold any of them."""
    known = {NAMES, *(each.what for each in FORMS), *(each.what for each in NUMBERS)}
    placed = {what for each in IDENTIFIERS for what in each.contents}
    assert known - placed == set()
    assert placed - known == {"dates"}
    assert NOTES not in placed
    assert "".join(each.letter for each in IDENTIFIERS) == "ABCDEFGHIJKLMNOPQR"
    assert [each.letter for each in IDENTIFIERS if each.looked is Looked.NEVER] == ["Q"]
