"""Refresh groups: tables that are admitted apart; questions are at the number of what they read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.errors import AdmissionConflict, InvalidArgument, NotAdmitted, SnapshotMissing, SourceMissing
from discreet.gateway import Protected

pytestmark = pytest.mark.usefixtures("kept_sessions")

PATIENTS = "SELECT COUNT(*) AS n FROM patients"
VISITS = "SELECT COUNT(*) AS n FROM visits"
BOTH = "SELECT COUNT(*) AS n FROM patients p JOIN visits v ON p.id = v.patient"


def write(folder: Path, *, patients: int = 3, visits: int = 5) -> None:
    """The tables' files."""
    pq.write_table(pa.table({"id": range(patients)}), folder / "patients.parquet")
    numbers = range(visits)
    pq.write_table(pa.table({"patient": [n % 3 for n in numbers], "load": numbers}), folder / "visits.parquet")


def clinic(folder: Path, *, visits: str = "daily", patients: str = "", memory: bool = False) -> Protected:
    """Patients who seldom change, and their visits."""
    data: dict[str, Any] = {name: folder / f"{name}.parquet" for name in ("patients", "visits")}
    if memory:
        data = {name: pq.read_table(path) for name, path in data.items()}
    return dp.protect(
        [
            dp.table(
                data["patients"], name="patients", unit=dp.Unit("id"), limits=dp.Limits(rows=1), refresh=patients
            ),
            dp.table(
                data["visits"], name="visits", links={"patient": "patients.id"}, limits=dp.Limits(rows=9),
                columns={"load": dp.Bounds(0, 9)}, refresh=visits,
            ),
        ],
        name="clinic",
        budget=dp.Budget(epsilon=10_000),
        ledger=folder / "clinic.ledger",
    )  # fmt: skip


def numbers(account: Protected, epsilon: int = 1) -> list[object]:
    """At which version each question is asked now."""
    return [account.ask(question, epsilon=epsilon).certificate["data_version"] for question in (PATIENTS, VISITS, BOTH)]


def data_rows(account: Protected) -> list[str]:
    """The admissions in the history."""
    return [entry.text for entry in account.history() if entry.kind == "data"]


@pytest.mark.parametrize("memory", [False, True], ids=["files", "memory"])
def test_a_group_is_admitted_by_itself(tmp_path: Path, *, memory: bool) -> None:
    """What isn't of it keeps its number and its stored answers; what reads several is at the last of their numbers."""
    write(tmp_path)
    account = clinic(tmp_path, memory=memory)
    assert numbers(account) == [1, 2, 2]
    spent = account.spent.epsilon
    assert spent == 3
    done = account.refresh(group="daily")
    assert (done.version, dict(done.groups), set(done.tables)) == (3, {"daily": 3}, {"visits"})
    first = account.ask(PATIENTS, epsilon=1)
    assert (first.reused, first.certificate["data_version"]) == (True, 1)
    assert account.spent.epsilon == spent
    assert numbers(account) == [1, 3, 3]
    assert account.spent.epsilon == spent + 2
    assert dict(account.refresh(group="").groups) == {"": 4}
    assert numbers(account) == [4, 3, 4]
    assert dict(account.refresh().groups) == {"": 5, "daily": 6}
    assert numbers(account) == [5, 6, 6]
    assert data_rows(account) == [
        "data version 1", "data version 2, of daily", "data version 3, of daily", "data version 4", "data version 5",
        "data version 6, of daily",
    ]  # fmt: skip
    assert account.verify().holds


def test_earlier_answers_are_found_at_any_number_under_which_they_held(tmp_path: Path) -> None:
    """A version of the account says which version of each group is meant; at no cost."""
    write(tmp_path)
    account = clinic(tmp_path)
    entries = {}
    for version in range(2, 6):
        for question in (PATIENTS, VISITS, BOTH):
            entries[question, version] = account.ask(question, epsilon=1).entry
        account.refresh(group="daily" if version % 2 else "")
    spent = account.spent
    for (question, version), entry in entries.items():
        assert account.ask(question, epsilon=1, version=version).entry == entry
    assert account.ask(PATIENTS, epsilon=1, version=1).entry == entries[PATIENTS, 2]
    for question, version in ((VISITS, 1), (BOTH, 1), (BOTH, 99), (PATIENTS, 0)):
        with pytest.raises(InvalidArgument, match=f"version {version}"):
            account.ask(question, epsilon=1, version=version)
    assert account.spent == spent


def test_answers_follow_from_those_of_the_same_tables(tmp_path: Path) -> None:
    """Of a workload too: what it measured of one group stays good when another one is admitted."""
    write(tmp_path)
    account = clinic(tmp_path)
    account.ask([PATIENTS, VISITS], epsilon=10)
    account.refresh(group="")
    spent = account.spent
    assert account.ask(VISITS, epsilon=1).reused
    assert account.spent == spent
    account.refresh(group="daily")
    assert not account.ask(VISITS, epsilon=1).reused
    account.ask([PATIENTS, VISITS], epsilon=400)
    account.refresh(group="daily")
    assert account.ask(PATIENTS, epsilon=2).reused, "each part is kept at the number of its own tables"
    assert not account.ask(VISITS, epsilon=2).reused


def test_each_group_answers_from_its_own_snapshot(tmp_path: Path) -> None:
    """Of the tables as they were when it was admitted."""
    write(tmp_path)
    account = clinic(tmp_path)
    write(tmp_path, patients=1, visits=9)
    account.refresh(group="daily")
    assert account.ask(PATIENTS, epsilon=400)["n"][0] == 3
    assert account.ask(VISITS, epsilon=400)["n"][0] == 9
    account.refresh(group="")
    assert account.ask(PATIENTS, epsilon=400)["n"][0] == 1
    with clinic(tmp_path) as again:
        assert again.ask(PATIENTS, epsilon=400).reused
        assert again.ask(VISITS, epsilon=400).reused


def test_folders_of_groups_are_swept_apart(tmp_path: Path) -> None:
    """Each keeps what is in force, and what it is told to."""
    write(tmp_path)
    account = clinic(tmp_path)
    for _ in range(3):
        account.admissions.admit(group="daily", keep=1)
    parents = (tmp_path / "clinic.snapshots").iterdir()
    assert {each.name: sorted(folder.name[:6] for folder in each.iterdir()) for each in parents} == {
        "clinic": ["000001"],
        "clinic@daily": ["000004", "000005"],
    }
    (tmp_path / "clinic.snapshots" / "clinic").rename(tmp_path / "elsewhere")
    with clinic(tmp_path) as again, pytest.raises(SnapshotMissing):
        again.ask(VISITS, epsilon=1)


def test_a_group_that_is_declared_no_more_leaves_nothing(tmp_path: Path) -> None:
    """Rows that were erased since are in no folder, and don't answer again when a table comes back to its group."""
    write(tmp_path)
    clinic(tmp_path).close()
    write(tmp_path, visits=4)
    with clinic(tmp_path, visits="") as account:
        account.refresh()
    assert [each.parent.name for each in (tmp_path / "clinic.snapshots").glob("*/*-*")] == ["clinic"]
    account = clinic(tmp_path)
    account.refresh(group="")
    with pytest.raises(SnapshotMissing):
        account.ask(VISITS, epsilon=400)
    account.refresh(group="daily")
    assert account.ask(VISITS, epsilon=400)["n"][0] == 4


def test_only_admissions_of_one_group_meet(tmp_path: Path) -> None:
    """Of two processes that admit different groups, both win; of two that admit one, one does."""
    write(tmp_path)
    slow, quick = clinic(tmp_path), clinic(tmp_path)
    once = iter([True])

    def other(_table: str, _rows: int) -> None:
        if next(once, False):
            quick.refresh(group="")

    done = slow.admissions.admit(group="daily", progress=other)
    assert done.groups == {"daily": 4}
    assert numbers(slow) == numbers(quick) == [3, 4, 4]
    once = iter([True])

    def same(_table: str, _rows: int) -> None:
        if next(once, False):
            quick.refresh(group="daily")

    with pytest.raises(AdmissionConflict, match="version 5"):
        slow.admissions.admit(progress=same)
    assert numbers(slow) == [3, 5, 5]
    assert slow.verify().holds


def test_all_groups_are_admitted_together_or_none(tmp_path: Path) -> None:
    """Where a source can't be read, nothing changes; on a schedule each group has its tick."""
    write(tmp_path)
    account = clinic(tmp_path)
    (tmp_path / "visits.parquet").unlink()
    with pytest.raises(SourceMissing):
        account.refresh()
    assert numbers(account) == [1, 2, 2]
    done = account.admissions.admit_on_schedule()
    assert (dict(done.groups), "visits" in done.problem) == ({"": 3, "daily": 4}, True)
    assert account.ask(VISITS, epsilon=400)["n"][0] == 5
    done = account.admissions.admit_on_schedule(group="")
    assert (dict(done.groups), done.problem) == ({"": 5}, "")


def test_trying_and_refusing_a_group(tmp_path: Path) -> None:
    """A group that no table names is refused; trying one reads its tables alone."""
    write(tmp_path)
    account = clinic(tmp_path)
    assert set(account.admissions.check(group="daily").tables) == {"visits"}
    assert set(account.admissions.check().tables) == {"patients", "visits"}
    for call in (account.refresh, lambda group: account.admissions.admit_on_schedule(group=group)):
        with pytest.raises(InvalidArgument, match="'weekly'"):
            call(group="weekly")
    assert data_rows(account) == ["data version 1", "data version 2, of daily"]


def test_an_account_of_one_group_goes_on_as_several(tmp_path: Path) -> None:
    """What was admitted under another declaration is admitted again; what was answered then stays readable."""
    write(tmp_path)
    before = clinic(tmp_path, visits="")
    first = before.ask(VISITS, epsilon=1)
    before.close()
    account = clinic(tmp_path)
    with pytest.raises(NotAdmitted, match="declared differently"):
        account.ask(VISITS, epsilon=1)
    assert account.spent.epsilon == 1
    account.refresh()
    assert not account.ask(VISITS, epsilon=1).reused
    account.close()
    with clinic(tmp_path, visits="") as back:
        with pytest.raises(NotAdmitted):
            back.ask(VISITS, epsilon=1)
        back.refresh()
        assert back.ask(VISITS, epsilon=1, version=1).entry == first.entry
        assert back.verify().holds


@pytest.mark.parametrize("person", [False, True])
def test_numbers_say_nothing_of_the_tables(tmp_path: Path, *, person: bool) -> None:
    """Whoever is in them: the same acts give the same numbers, the same refusals and the same rows of the ledger."""
    write(tmp_path)
    account = clinic(tmp_path)
    write(tmp_path, patients=3 + person, visits=5 + person)
    seen: list[object] = [numbers(account)]
    for group in ("daily", "", None):
        account.refresh(group=group)
        seen.append(numbers(account))
    assert seen == [[1, 2, 2], [1, 3, 3], [4, 3, 4], [5, 6, 6]]
    assert account.spent.epsilon == 3 + 2 + 2 + 3


HOUSEHOLDS = """
name = "clinic"
ledger = "clinic.ledger"
adjacency = "add_remove"
budget = { epsilon = 10 }

[tables.patients]
source = "patients.parquet"
unit = "household"
limits = { rows = 9 }
refresh = "monthly"
columns = { id = { kind = "integer" }, household = { kind = "integer" } }

[tables.visits]
source = "visits.parquet"
links = { patient = "patients.id" }
limits = { rows = 9 }
refresh = "daily"
columns = { patient = { kind = "integer" } }
"""


def test_owners_are_found_in_the_same_group(tmp_path: Path) -> None:
    """Else one row could belong to one household in some questions, and to another in others."""
    config = tmp_path / "discreet.toml"
    config.write_text(HOUSEHOLDS)
    with pytest.raises(dp.DiscreetError, match="says whose the rows of table 'visits' are"):
        dp.load(config, create_ledger=True)
    config.write_text(HOUSEHOLDS.replace("daily", "monthly"))
    assert set(dp.load(config, create_ledger=True).tables) == {"patients", "visits"}
    for wrong in ("Daily", "a b", "", "ä", "x" * 65, "a/b", "."):
        if wrong:
            config.write_text(HOUSEHOLDS.replace("daily", wrong))
            with pytest.raises(dp.DiscreetError, match="refresh group"):
                dp.load(config)


def test_certificates_hold_one_number(tmp_path: Path) -> None:
    """That of the last admission of what was read; it is JSON as before."""
    write(tmp_path)
    account = clinic(tmp_path)
    answers = account.ask([PATIENTS, VISITS], epsilon=1)
    assert {json.dumps(answer.certificate["data_version"]) for answer in answers} == {"2"}
