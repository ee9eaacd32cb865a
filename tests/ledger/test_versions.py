"""Versions count admissions; numbers of before tables were admitted stay taken, and can only be read."""

from __future__ import annotations

import hmac
import json
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from hashlib import sha256
from pathlib import Path

import pytest

from discreet.errors import AdmissionConflict, InvalidArgument
from discreet.ledger import Account, Ledger, Problem
from discreet.ledger.row import Kind, Row
from discreet.ledger.transaction import Offered
from discreet.privacy import Budget
from support.ledgers import admitted, ask, laplace, raised, rewrite, rows


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """A new ledger."""
    with Ledger.open(tmp_path / "new.ledger", create=True) as ledger:
        yield ledger
        assert ledger.verify().problems == ()


@pytest.fixture
def account(ledger: Ledger) -> Account:
    """An account with ε = 1."""
    return ledger.account("census", Budget(epsilon=1))


def test_versions_count_admissions(ledger: Ledger, account: Account) -> None:
    """Each admission gets the next number, whatever was admitted before; accounts count for themselves."""
    assert account.admitted() is None
    assert account.versions() == 0
    for after, contents in enumerate(("x", "y", "x", "x", "")):
        admission = account.admit(contents, snapshot=f"folder {contents}", after=after)
        assert (admission.version, admission.snapshot) == (after + 1, f"folder {contents}")
        assert account.admitted() == admission
        assert account.versions() == after + 1
    other = ledger.account("visits", Budget(epsilon=1))
    assert other.admitted() is None
    assert other.admit("x", after=0).version == 1


def test_what_is_admitted_follows_what_was_known(ledger: Ledger, account: Account) -> None:
    """Who admits after another version than the newest is told so, and changes nothing."""
    early = ledger.account("census", Budget(epsilon=1))
    first = account.admit("x", after=0)
    for after in (0, 2, -1):
        assert "version 1 was admitted" in raised(AdmissionConflict, lambda after=after: early.admit("y", after=after))  # type: ignore[misc]  # mypy can't infer a lambda with a default
        assert early.admitted() == first
    assert early.admit("y", after=1).version == 2
    assert [entry.text for entry in account.entries()][1:] == ["data version 1", "data version 2"]


def test_a_version_is_known_by_its_contents(ledger: Ledger, account: Account, tmp_path: Path) -> None:
    """It holds what was admitted and nothing else; its mark is no other version's, account's or ledger's."""
    first, second = (account.admit("x", after=after) for after in (0, 1))
    third = account.admit("y", after=2)
    assert [account.holds(each, "x") for each in (first, second, third)] == [True, True, False]
    assert [account.holds(third, contents) for contents in ("y", "Y", "y ", "", "3\0y")] == [True, *[False] * 4]
    assert not account.holds(replace(second, mark=first.mark), "x")
    assert not account.holds(replace(second, mark=""), "x")
    assert not ledger.account("visits", Budget(epsilon=1)).holds(first, "x")
    with Ledger.open(tmp_path / "other.ledger", create=True) as elsewhere:
        assert not elsewhere.account("census", Budget(epsilon=1)).holds(first, "x")


def test_an_earlier_version_can_be_asked_and_read(account: Account) -> None:
    """A question that began before an admission is paid for and kept under the version it is about."""
    admitted(account)
    account.admit("other data", after=1)
    paid = account.reserve(question="q", text="SELECT", version=1, event=laplace("1/10"))
    account.commit(paid, certificate={}, answer={"n": 1})
    assert account.stored("q", 1) is not None
    assert account.stored("q", 2) is None


SEEN = ("visits", "people", "visits and people")
"""What versions 1 to 3 were given to: they were counted for each set of tables, by its contents."""


def unadmitted(secret: str, version: int, row: Row) -> Row:
    """The entry that numbered a fingerprint: it has no snapshot, and a mark that any version with it would have."""
    mark = hmac.new(bytes.fromhex(secret), f"census\0{SEEN[version - 1]}".encode(), sha256).hexdigest()
    return replace(row, digest=mark, body="{}")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger as it was written then: three numbers, of which the first was asked of again after the last."""
    path = tmp_path / "census.ledger"
    with Ledger.open(path, create=True) as ledger:
        account = ledger.account("census", Budget(epsilon=1))
        for after, version in ((0, 1), (1, 2), (2, 3), (3, 1)):
            if after < len(SEEN):
                account.admit(SEEN[after], after=after)
            paid = account.reserve(question=f"q{after}", text="SELECT", version=version, event=laplace("1/10"))
            account.commit(paid, certificate={}, answer={"n": after}, topics=[("visits", version)])
    secret = "5a" * 32

    def change(entries: list[Row]) -> None:
        entries[:] = [unadmitted(secret, row.version or 0, row) if row.kind == Kind.DATA else row for row in entries]

    rewrite(path, change)
    assert [(row.version, row.body) for row in rows(path) if row.kind == Kind.DATA] == [(1, "{}"), (2, "{}"), (3, "{}")]
    return path


def census(ledger: Ledger) -> Account:
    """The account, as it was declared."""
    return ledger.account("census", Budget(epsilon=1))


def check_old_answers(account: Account) -> None:
    """Every answer of then is there by its question and number, and by its topic; what was spent is spent."""
    for question, version in (("q0", 1), ("q1", 2), ("q2", 3), ("q3", 1)):
        stored = account.stored(question, version)
        assert stored is not None
        assert stored.answer == {"n": int(question[1:])}
        assert account.stored(question, 4) is None
    assert [stored.question for stored in account.about("visits", 1, 9)] == ["q3", "q0"]
    spent = account.spent().epsilon
    assert spent is not None
    assert spent >= Fraction(4, 10)


def test_an_old_ledger_opens_and_holds(path: Path) -> None:
    """It verifies as it is; its numbers are taken, and none of them is in force."""
    before = path.read_bytes()
    with Ledger.open(path, create=False) as ledger:
        account = census(ledger)
        assert account.admitted() is None
        assert account.versions() == 3
        assert ledger.verify().problems == ()
        assert [entry.text for entry in account.entries() if entry.kind == "data"] == [
            f"data version {number}" for number in (1, 2, 3)
        ]
        check_old_answers(account)
    assert path.read_bytes() == before


def test_the_first_admission_goes_on_counting(path: Path) -> None:
    """It gets number 4, also for contents that had a number; then 5; the answers of then stay readable."""
    with Ledger.open(path, create=False) as ledger:
        account = census(ledger)
        with pytest.raises(AdmissionConflict):
            account.admit(SEEN[0], after=0)
        for version in (4, 5):
            admission = account.admit(SEEN[0], snapshot=f"folder {version}", after=version - 1)
            assert admission.version == version
            assert account.admitted() == admission
            assert account.holds(admission, SEEN[0])
            account.commit(ask(account, f"new {version}"), certificate={}, answer={"n": version})
            assert account.stored(f"new {version}", version) is not None
            check_old_answers(account)
        assert ledger.verify().problems == ()


@pytest.mark.parametrize("version", [1, 2, 3])
def test_nothing_is_asked_of_an_old_number(path: Path, version: int) -> None:
    """Neither before the first admission nor after it; and what is refused isn't charged."""
    with Ledger.open(path, create=False) as ledger:
        account = census(ledger)
        for _ in range(2):
            spent = account.spent()
            with pytest.raises(InvalidArgument, match=f"has no data version {version}"):
                account.reserve(question="q", text="SELECT", version=version, event=laplace("1/10"))
            assert account.spent() == spent
            admitted(account)


def test_no_old_number_comes_back(path: Path) -> None:
    """A number that an older program adds behind an admission isn't in force either, and verification finds it."""
    with Ledger.open(path, create=False) as ledger:
        admitted(census(ledger))
    added = replace(next(row for row in rows(path) if row.version == 1), version=5, digest="0" * 64)
    rewrite(path, lambda entries: entries.append(added))
    with Ledger.open(path, create=False) as ledger:
        account = census(ledger)
        assert account.admitted() is None
        assert account.versions() == 5
        message = "it has no snapshot, though tables were admitted before it"
        assert ledger.verify().problems == (Problem(entry=len(rows(path)), message=message),)
        assert admitted(account) == 6


def test_a_question_of_an_old_number_after_an_admission_is_found(path: Path) -> None:
    """Verification knows which numbers could be asked when."""
    with Ledger.open(path, create=False) as ledger:
        admitted(census(ledger))
        ask(census(ledger), "new")

    def change(entries: list[Row]) -> None:
        entries[-1] = replace(entries[-1], version=2)

    rewrite(path, change)
    with Ledger.open(path, create=False) as ledger:
        message = "it was asked of data version 2, from before tables were admitted"
        assert ledger.verify().problems == (Problem(entry=len(rows(path)), message=message),)


def test_groups_share_the_account_s_numbers(ledger: Ledger, account: Account) -> None:
    """Each admission gets the next one; a group's own is that of its last admission."""
    assert account.admit("x", after=0).version == 1
    daily = account.admit("y", snapshot="folder", after=0, group="daily")
    assert (daily.version, daily.group) == (2, "daily")
    assert account.admit("y", snapshot="next", after=2, group="daily").version == 3
    assert account.admit("x", after=1).version == 4
    found = account.in_force(["", "daily", "weekly"])
    assert {group: each and each.version for group, each in found.items()} == {"": 4, "daily": 3, "weekly": None}
    assert [account.versions(group) for group in ("", "daily", "weekly")] == [4, 3, 0]
    assert account.admitted("daily") == found["daily"]
    assert [entry.text for entry in account.entries()][1:] == [
        "data version 1", "data version 2, of daily", "data version 3, of daily", "data version 4",
    ]  # fmt: skip
    assert ledger.verify().problems == ()


def test_a_number_is_that_of_one_combination(account: Account) -> None:
    """Groups that were in force together are found by any later number under which none of them was admitted."""
    for number, group in enumerate(["", "daily", "weekly", "daily", ""]):
        account.admit("x", after=account.versions(group), group=group)
        assert account.versions(group) == number + 1
    of = account.of_groups
    assert [of(version, frozenset({""})) for version in range(7)] == [0, 1, 1, 1, 1, 5, 0]
    assert [of(version, frozenset({"daily"})) for version in range(7)] == [0, 0, 2, 2, 4, 4, 0]
    assert [of(version, frozenset({"", "weekly"})) for version in range(7)] == [0, 0, 0, 3, 3, 5, 0]


def test_groups_that_are_admitted_together_are_all_in_force_or_none(ledger: Ledger, account: Account) -> None:
    """One that another process has admitted meanwhile refuses the others with it."""
    account.admit_together([Offered("x", "", 0), Offered("y", "", 0, "daily")])
    assert {group: each and each.version for group, each in account.in_force(["", "daily"]).items()} == {
        "": 1,
        "daily": 2,
    }
    with pytest.raises(AdmissionConflict, match="version 2"):
        account.admit_together([Offered("x", "", 1), Offered("y", "", 1, "daily")])
    assert account.versions() == 1
    assert ledger.verify().problems == ()


def test_a_mark_is_of_one_group(account: Account) -> None:
    """The same contents, of another group, aren't what was admitted."""
    daily = account.admit("x", after=0, group="daily")
    assert account.holds(daily, "x")
    assert not account.holds(replace(daily, group=""), "x")
    assert not account.holds(replace(daily, group="weekly"), "x")


def test_an_old_ledger_gets_groups(path: Path) -> None:
    """Its numbers are those of the group without a name; another group begins behind them."""
    with Ledger.open(path, create=False) as ledger:
        account = census(ledger)
        assert account.versions("daily") == 0
        assert account.admit("y", after=0, group="daily").version == 4
        assert account.admitted() is None
        assert account.admit("x", after=3).version == 5
        check_old_answers(account)
        assert ledger.verify().problems == ()


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        ({"": 3, "daily": 2}, None),
        ({"": 3, "daily": 1}, "its versions of other groups are wrong"),
        ({"": 3}, "its versions of other groups are wrong"),
        ({"": 1, "daily": 2}, "entry 5 is of no group"),
        ({"": "3"}, "the groups in entry 5 can't be read"),
    ],
)
def test_what_an_entry_says_of_groups_is_verified(
    account: Account, tmp_path: Path, groups: object, message: str | None
) -> None:
    """It follows from the entries before it."""
    account.admit("x", after=0)
    account.admit("y", after=0, group="daily")
    account.admit("x", after=1)
    place = tmp_path / "changed.ledger"
    place.write_bytes((tmp_path / "new.ledger").read_bytes())
    place.chmod(0o600)

    def change(entries: list[Row]) -> None:
        entries[-1] = replace(entries[-1], body=json.dumps({"snapshot": "", "groups": groups}))

    rewrite(place, change)
    with Ledger.open(place, create=False) as changed:
        expected = () if message is None else (Problem(entry=5, message=message),)
        assert changed.verify().problems == expected
