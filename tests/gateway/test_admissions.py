"""Versions are the custodian's acts: nothing of what tables hold, or when they changed, is told by them."""

from __future__ import annotations

import json
import shutil
import sqlite3
import stat
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.errors import (
    AdmissionConflict,
    DiscreetError,
    InvalidArgument,
    NotAdmitted,
    SnapshotError,
    SnapshotMissing,
    SourceMissing,
)
from discreet.gateway import Protected
from discreet.gateway.declaring import table
from support.forked import asking

pytestmark = pytest.mark.usefixtures("kept_sessions")

BUDGET = dp.Budget(epsilon=1000)
COUNT = "SELECT COUNT(*) AS n FROM people"


def people(*ages: int) -> dict[str, list[int]]:
    """Rows of as many people."""
    return {"id": list(range(len(ages))), "age": list(ages)}


def write(path: Path, rows: dict[str, list[Any]]) -> Path:
    """A Parquet file."""
    parquet.write_table(pa.table(rows), path)
    return path


def protected(folder: Path, data: object, **terms: Any) -> Protected:
    """A table behind an account in a folder."""
    return dp.protect(
        data,
        name="people",
        unit=dp.Unit("id"),
        limits=dp.Limits(rows=1),
        columns={"age": dp.Bounds(0, 110), "id": None},
        budget=BUDGET,
        ledger=folder / "people.ledger",
        **terms,
    )


def snapshots(folder: Path) -> list[Path]:
    """The folders of the account's snapshots."""
    return sorted((folder / "people.snapshots" / "people").iterdir())


def test_questions_never_look_at_a_source(tmp_path: Path) -> None:
    """It may change, or go: until the next admission, answers are those of the admitted table."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    account = protected(tmp_path, path)
    first = account.ask(COUNT, epsilon=1)
    write(path, people(30, 40, 50))
    again = account.ask(COUNT, epsilon=1)
    assert again.reused
    assert again.entry == first.entry
    path.unlink()
    assert account.ask(COUNT, epsilon=2).certificate["data_version"] == 1
    assert account.plan(COUNT, epsilon=1).explain()
    assert account.spent.epsilon == 3
    with pytest.raises(SourceMissing):
        account.refresh()
    assert account.ask(COUNT, epsilon=1).entry == first.entry


def test_the_number_goes_up_whether_or_not_anything_changed(tmp_path: Path) -> None:
    """So does what is charged, and stored answers of earlier versions stay readable for nothing."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    account = protected(tmp_path, path)
    first = account.ask(COUNT, epsilon=1)
    assert [account.refresh().version for _ in range(2)] == [2, 3]
    write(path, people(30))
    assert account.refresh().version == 4
    second = account.ask(COUNT, epsilon=1)
    assert not second.reused
    assert second.certificate["data_version"] == 4
    earlier = account.ask(COUNT, epsilon=1, version=1)
    assert (earlier.entry, earlier["n"][0], earlier.reused) == (first.entry, first["n"][0], True)
    assert account.spent.epsilon == 2
    for version in (2, 3, 5, 0, -1):
        with pytest.raises(InvalidArgument, match=f"version {version}"):
            account.ask(COUNT, epsilon=1, version=version)


def visits(folder: Path, *, person: bool, form: str) -> Protected:
    """Two tables of the same people; one person more, with an HIV visit, or without any."""
    registered = {"id": [1, 2, 3], "age": [30, 40, 50]}
    hiv = {"patient": [1, 2], "load": [5, 7]}
    if person:
        registered = {"id": [*registered["id"], 99], "age": [*registered["age"], 60]}
        hiv = {"patient": [*hiv["patient"], 99], "load": [*hiv["load"], 9]}
    data: dict[str, Any] = {"patients": pa.table(registered), "hiv_visits": pa.table(hiv)}
    if form == "files":
        data = {name: write(folder / f"{name}.parquet", rows.to_pydict()) for name, rows in data.items()}
    return dp.protect(
        [
            table(
                data["patients"], name="patients", unit=dp.Unit("id"), limits=dp.Limits(rows=1),
                columns={"age": dp.Bounds(0, 110)},
            ),
            table(
                data["hiv_visits"], name="hiv_visits", links={"patient": "patients.id"}, limits=dp.Limits(rows=5),
                columns={"load": dp.Bounds(0, 100)},
            ),
        ],
        name="clinic",
        budget=dp.Budget(epsilon=2),
        ledger=folder / "clinic.ledger",
    )  # fmt: skip


@pytest.mark.parametrize("form", ["memory", "files"])
def test_a_version_does_not_tell_in_which_table_somebody_is(tmp_path: Path, form: str) -> None:
    """The budget is spent, then somebody joins, with a visit or without: the same is refused, under the same number."""
    outcomes = []
    for person in (False, True):
        folder = tmp_path / str(person)
        folder.mkdir()
        clinic = visits(folder, person=False, form=form)
        for name in ("patients", "hiv_visits"):
            clinic.ask(f"SELECT COUNT(*) AS n FROM {name}", epsilon=1)
        again = visits(folder, person=person, form=form)
        again.refresh()
        seen: list[object] = []
        for name in ("patients", "hiv_visits"):
            with pytest.raises(DiscreetError) as refusal:
                again.ask(f"SELECT COUNT(*) AS n FROM {name}", epsilon=1)
            seen.append(refusal.value.to_dict())
            seen.append(again.ask(f"SELECT COUNT(*) AS n FROM {name}", epsilon=1, version=1).entry)
        outcomes.append((seen, [entry.text for entry in again.history()], str(again.verify())))
    assert outcomes[0] == outcomes[1]


def rows_of(ledger: Path) -> list[tuple[Any, ...]]:
    """The entries of a ledger, without what time and keyed hashes make of them."""
    with sqlite3.connect(ledger) as connection:
        found = connection.execute("SELECT kind, account, number, version, body FROM discreet_entry ORDER BY seq")
        return [
            (*row[:-1], "snapshot" if "snapshot" in json.loads(row[-1]) else sorted(json.loads(row[-1])))
            for row in found
        ]


@pytest.mark.parametrize("fails", [False, True])
def test_a_schedule_says_nothing_about_the_sources(tmp_path: Path, *, fails: bool) -> None:
    """At each tick the number goes up; if the sources can't be read, the earlier snapshot serves again."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    account = protected(tmp_path, path)
    if fails:
        path.write_bytes(b"PAR1 no more")
    done = account.admissions.admit_on_schedule()
    assert done.version == 2
    assert bool(done.problem) is fails
    answer = account.ask(COUNT, epsilon=400)
    assert answer["n"][0] == 2
    assert account.verify().holds
    assert rows_of(tmp_path / "people.ledger")[:6] == [
        ("open", None, None, None, rows_of(tmp_path / "people.ledger")[0][-1]),
        ("budget", "people", None, None, ["adjacency", "analysts", "budget", "failures", "units"]),
        ("declared", "people", None, None, ["changes", "tables", "weakens"]),
        ("key", "people", None, None, ["algorithm", "public"]),
        ("data", "people", None, 1, "snapshot"),
        ("data", "people", None, 2, "snapshot"),
    ]
    marks = sqlite3.connect(tmp_path / "people.ledger").execute(
        "SELECT DISTINCT digest, body FROM discreet_entry WHERE kind = 'data'"
    )
    assert len(marks.fetchall()) == 2


@pytest.mark.parametrize("unforeseen", [MemoryError, KeyError, RecursionError, AssertionError])
def test_a_schedule_advances_whatever_is_raised(
    unforeseen: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error that nobody foresaw may depend on a row: the number goes up, and only the custodian hears of it."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    account = protected(tmp_path, path)

    def fail(*_: object, **__: object) -> None:
        raise unforeseen("CANARY")

    with monkeypatch.context() as patch:
        patch.setattr("discreet.gateway.admissions.admit", fail)
        done = account.admissions.admit_on_schedule()
    assert done.version == 2
    assert unforeseen.__name__ in done.problem
    assert "CANARY" not in done.problem
    assert account.ask(COUNT, epsilon=400)["n"][0] == 2
    assert account.verify().holds
    assert len(snapshots(tmp_path)) == 1


def test_a_schedule_stops_where_somebody_stops_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C is no failure of the sources."""
    account = protected(tmp_path, write(tmp_path / "people.parquet", people(30, 40)))

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("discreet.gateway.admissions.admit", stopped)
    with pytest.raises(KeyboardInterrupt):
        account.admissions.admit_on_schedule()
    assert account.admissions.current().admitted[""].version == 1


def test_a_schedule_needs_something_to_serve(tmp_path: Path) -> None:
    """The first admission fails as any other does."""
    path = write(tmp_path / "people.parquet", people(30))
    account = protected(tmp_path, path)
    path.unlink()
    with pytest.raises(SourceMissing):
        protected(tmp_path / "other", path) if (tmp_path / "other").mkdir() is None else None
    assert account.admissions.admit_on_schedule().version == 2


def test_only_this_user_can_read_a_snapshot(tmp_path: Path) -> None:
    """Folders and files."""
    protected(tmp_path, write(tmp_path / "people.parquet", people(30, 40)))
    (folder,) = snapshots(tmp_path)
    for each in (folder, folder.parent):
        assert stat.S_IMODE(each.stat().st_mode) == 0o700
    for each in folder.iterdir():
        assert stat.S_IMODE(each.stat().st_mode) == 0o600


def test_earlier_snapshots_go_once_nobody_uses_them(tmp_path: Path) -> None:
    """Unless they are to be kept; and never one that is being read, nor that of another account."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    reader, account = protected(tmp_path, path), protected(tmp_path, path)
    reader.ask(COUNT, epsilon=1)
    account.refresh()
    assert [each.name[:6] for each in snapshots(tmp_path)] == ["000001", "000002"]
    reader.ask(COUNT, epsilon=1)
    account.refresh()
    assert [each.name[:6] for each in snapshots(tmp_path)] == ["000002", "000003"]
    reader.close()
    account.admissions.admit(keep=1)
    assert [each.name[:6] for each in snapshots(tmp_path)] == ["000003", "000004"]
    account.admissions.admit()
    assert [each.name[:6] for each in snapshots(tmp_path)] == ["000005"]
    for _ in range(4):
        account.admissions.admit(keep=3)
    assert [each.name[:6] for each in snapshots(tmp_path)] == ["000006", "000007", "000008", "000009"]


@pytest.mark.parametrize("damage", ["gone", "without manifest", "without file", "another", "edited"])
def test_a_snapshot_that_is_not_what_was_written_refuses_everything(tmp_path: Path, damage: str) -> None:
    """Nothing is charged, and the next admission mends it."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    protected(tmp_path, path).close()
    (folder,) = snapshots(tmp_path)
    if damage == "gone":
        shutil.rmtree(folder)
    elif damage == "without manifest":
        (folder / "manifest.json").unlink()
    elif damage == "without file":
        (folder / "0.parquet").unlink()
    elif damage == "edited":
        manifest = json.loads((folder / "manifest.json").read_text())
        manifest["tables"]["people"]["digest"] = "0" * 64
        (folder / "manifest.json").write_text(json.dumps(manifest))
    else:
        (folder / "manifest.json").write_text("[]")
    account = protected(tmp_path, path)
    with pytest.raises(SnapshotMissing):
        account.ask(COUNT, epsilon=1)
    assert account.spent.epsilon == 0
    account.refresh()
    assert account.ask(COUNT, epsilon=400)["n"][0] == 2


def test_a_table_in_memory_must_be_the_one_that_was_admitted(tmp_path: Path) -> None:
    """The same rows in another process are the same version; others are refused, and refresh() admits them."""
    first = protected(tmp_path, pa.table(people(30, 40))).ask(COUNT, epsilon=1)
    assert protected(tmp_path, pa.table(people(30, 40))).ask(COUNT, epsilon=1).entry == first.entry
    other = protected(tmp_path, pa.table(people(30, 41)))
    with pytest.raises(NotAdmitted, match=r"refresh\(\)"):
        other.ask(COUNT, epsilon=1)
    assert other.spent.epsilon == 1
    assert other.refresh().version == 2
    assert not other.ask(COUNT, epsilon=1).reused


def test_what_is_declared_otherwise_must_be_admitted_again(tmp_path: Path) -> None:
    """Another kind; bounds may be wider."""
    path = tmp_path / "people.csv"
    path.write_text("id,age\n1,30\n2,40\n")
    terms: dict[str, Any] = {
        "name": "people", "unit": dp.Unit("id"), "limits": dp.Limits(rows=1), "budget": BUDGET,
        "ledger": tmp_path / "people.ledger",
    }  # fmt: skip
    dp.protect(path, columns={"age": dp.Bounds(0, 110)}, **terms).ask(COUNT, epsilon=1)
    wider = dp.protect(path, columns={"age": dp.Bounds(0, 120)}, **terms)
    assert wider.ask("SELECT SUM(age) AS s FROM people", epsilon=400)["s"][0] == pytest.approx(70, abs=5)
    real = dp.protect(
        path, columns={"age": dp.Column(name="age", kind=dp.Kind.REAL, bounds=dp.Bounds(0, 120))}, **terms
    )
    with pytest.raises(NotAdmitted, match="declared"):
        real.ask(COUNT, epsilon=1)
    real.refresh()
    assert real.ask(COUNT, epsilon=1).certificate["data_version"] == 2


def test_a_source_that_is_written_otherwise_must_be_admitted_again(tmp_path: Path) -> None:
    """With another text for NULL, the same cells are other values; that malformed records are skipped is no matter."""
    path = tmp_path / "people.csv"
    path.write_text("id,age\n1,30\n2,?\n")
    declared = (
        'name = "people"\nledger = "people.ledger"\nadjacency = "add_remove"\nbudget = { epsilon = 1000 }\n'
        '[tables.people]\nsource = "people.csv"\nunit = "id"\nlimits = { rows = 1 }\n'
        'columns = { id = { kind = "text" }, age = { kind = "text" } }\n'
    )
    config = tmp_path / "discreet.toml"
    config.write_text(declared)
    dp.load(config, create_ledger=True)["people"].ask(COUNT, epsilon=1)
    config.write_text(declared.replace('unit = "id"', 'unit = "id"\nmissing = ["?"]'))
    with pytest.raises(NotAdmitted, match="declared differently"):
        dp.load(config)["people"].ask(COUNT, epsilon=1)


def test_of_two_that_admit_at_once_one_wins(tmp_path: Path) -> None:
    """The other says so, leaves nothing behind, and what won is in force."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    slow, quick = protected(tmp_path, path), protected(tmp_path, path)

    def meanwhile(_table: str, _rows: int) -> None:
        if quick.admissions.current().version == 1:
            quick.refresh()

    with pytest.raises(AdmissionConflict, match="version 2"):
        slow.admissions.admit(progress=meanwhile)
    assert slow.ask(COUNT, epsilon=1).certificate["data_version"] == 2
    quick.ask(COUNT, epsilon=1)
    quick.refresh()
    slow.ask(COUNT, epsilon=1)
    quick.admissions.admit()
    assert {each.name[:6] for each in snapshots(tmp_path)} <= {"000003", "000004"}


STEPS = ["admit", "Snapshot.save", "Account.admit_together", "after Account.admit_together", "sweep"]
CHILD = """
import os, signal, sys
from pathlib import Path
import discreet as dp
from discreet.gateway import admissions
from discreet.ledger import Account
from discreet.tables.admission import Snapshot

step, folder = sys.argv[1], Path(sys.argv[2])
def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)
account = dp.load(folder / "discreet.toml")["people"]
if step == "admit":
    account.admissions.admit(progress=die)
elif step == "Snapshot.save":
    Snapshot.save = die
elif step == "Account.admit_together":
    Account.admit_together = die
elif step == "after Account.admit_together":
    done = Account.admit_together
    Account.admit_together = lambda *args, **terms: die(done(*args, **terms))
elif step == "sweep":
    admissions.sweep = die
elif step == "full":
    import resource
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        account.refresh()
    except dp.DiscreetError as error:
        print(error.code)
    sys.exit()
account.refresh()
"""


def configured(folder: Path, rows: int) -> Protected:
    """The same table by a configuration, never admitted yet."""
    write(folder / "people.parquet", people(*[n % 110 for n in range(rows)]))
    (folder / "discreet.toml").write_text(
        'name = "people"\nledger = "people.ledger"\nadjacency = "add_remove"\nbudget = { epsilon = 1000 }\n'
        '[tables.people]\nsource = "people.parquet"\nunit = "id"\nlimits = { rows = 1 }\n'
        'columns = { id = { kind = "integer" }, age = { kind = "integer", bounds = [0, 110] } }\n'
    )
    return dp.load(folder / "discreet.toml", create_ledger=True)["people"]


@pytest.mark.parametrize("step", STEPS)
def test_whenever_it_is_killed_one_version_is_whole(tmp_path: Path, step: str) -> None:
    """The old one, or the new one once the ledger names it; the folder is clean after the next admission."""
    account = configured(tmp_path, 3)
    account.refresh()
    child = asking().run(CHILD, step, tmp_path)
    assert child.returncode == -9, child.stderr
    version = 1 if step in STEPS[:3] else 2
    assert account.ask(COUNT, epsilon=400).certificate["data_version"] == version
    assert account.ask(COUNT, epsilon=400)["n"][0] == 3
    assert account.verify().holds
    account.refresh()
    assert [each.name[:6] for each in snapshots(tmp_path)] == [f"{version + 1:06d}"]


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files as Linux does")
def test_a_full_disk_leaves_the_version_before(tmp_path: Path) -> None:
    """It is refused in words, the folder is clean, and the old version answers."""
    account = configured(tmp_path, 3)
    account.refresh()
    write(tmp_path / "people.parquet", people(*[n % 97 for n in range(100_000)]))
    child = asking().run(CHILD, "full", tmp_path)
    assert child.stdout.strip() == "snapshot", child.stderr
    assert [each.name[:6] for each in snapshots(tmp_path)] == ["000001"]
    assert account.ask(COUNT, epsilon=400)["n"][0] == 3


def test_too_much_that_is_unreadable_is_refused_if_the_custodian_says_so(tmp_path: Path) -> None:
    """Records that are left out, and values of a column; the version before stays in force."""
    path = tmp_path / "people.csv"
    path.write_text("id,age\n1,30\n2,old\n,40\n4,50\n")
    account = protected(tmp_path, path)
    report = account.refresh().tables["people"]
    assert (report["rows"], report["left_out"], report["unreadable"]) == (3, 1, {"age": 1})
    for most, refused in [("1/2", False), ("1/4", False), ("1/5", True), ("0", True)]:
        before = account.admissions.current().version

        def admit(most: str = most) -> object:
            return account.admissions.admit(at_most_unreadable=Fraction(most))

        if refused:
            with pytest.raises(SnapshotError, match="1 of 4 records would be left out: 1 that name nobody"):
                admit()
        else:
            admit()
        assert account.admissions.current().version == before + (not refused)


def test_trying_puts_nothing_in_force(tmp_path: Path) -> None:
    """It says what an admission would."""
    path = write(tmp_path / "people.parquet", people(30, 40))
    account = protected(tmp_path, path)
    tried = account.admissions.check()
    assert tried.version is None
    assert tried.tables["people"]["rows"] == 2
    assert account.admissions.current().version == 1
    assert len(snapshots(tmp_path)) == 1


def test_snapshots_lie_where_they_are_declared_to(tmp_path: Path) -> None:
    """Also where the ledger is on a server: there nothing else would say it."""
    protected(tmp_path, write(tmp_path / "people.parquet", people(30)), snapshots=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "people").is_dir()
    assert not (tmp_path / "people.snapshots").exists()


WRONG: list[tuple[str, Callable[[Protected], object]]] = [
    ("spent", lambda account: account.spent),
    ("plan", lambda account: account.plan(COUNT, epsilon=1)),
    ("tables", lambda account: account.tables["people"]),
    ("remaining", lambda account: account.remaining),
]


@pytest.mark.parametrize(("what", "look"), WRONG, ids=[name for name, _ in WRONG])
def test_what_is_public_needs_no_snapshot(tmp_path: Path, what: str, look: Callable[[Protected], object]) -> None:
    """Neither the source, nor the snapshot."""
    path = write(tmp_path / "people.parquet", people(30))
    protected(tmp_path, path).close()
    configured(tmp_path, 1)
    path.unlink()
    shutil.rmtree(tmp_path / "people.snapshots")
    assert look(dp.load(tmp_path / "discreet.toml")["people"]) is not None, what


def test_tables_in_memory_leave_nothing_on_the_disk(tmp_path: Path) -> None:
    """But the ledger, and the keys of its account."""
    before = {each.name for each in tmp_path.iterdir()}
    protected(tmp_path, pa.table(people(30)))
    assert {each.name for each in tmp_path.iterdir()} - before == {
        "people.ledger",
        "people.ledger.key",
        "people.ledger.marks",
    }
