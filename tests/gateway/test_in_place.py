"""Tables in place: answers are those of a copy, and a file that has changed since refuses every question."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.engine.duckdb import engine, part
from discreet.errors import NotAdmitted, QuestionFailed, SnapshotChanged, SnapshotMissing, SourceUnsupported
from discreet.gateway import Protected
from discreet.ledger import Account
from discreet.tables import Source
from discreet.tables.sources import in_place
from support.replayed import Tape, debits, frozen, seen_of

pytestmark = pytest.mark.usefixtures("kept_sessions")

COUNT = "SELECT COUNT(*) AS n FROM visits"
OTHER = "SELECT COUNT(*) AS n FROM patients"
ROWS = 3_000


def write(folder: Path, *, person: bool = True) -> Path:
    """Visits in a file, of many patients, or of one fewer."""
    path = folder / "visits.parquet"
    numbers = range(ROWS if person else ROWS - 3)
    columns = {"patient": [n // 3 for n in numbers], "load": [n % 90 for n in numbers], "city": ["Bern"] * len(numbers)}
    pq.write_table(pa.table(columns), path, compression="none", row_group_size=500)
    return path


def clinic(folder: Path, *, person: bool = True, in_place: bool = True) -> Protected:
    """Visits in place, beside a table of patients in memory."""
    patients = pa.table({"id": range(ROWS // 3 if person else ROWS // 3 - 1)})
    return dp.protect(
        [
            dp.table(patients, name="patients", unit=dp.Unit("id"), limits=dp.Limits(rows=1)),
            dp.table(
                Source.of(folder / "visits.parquet", in_place=in_place), name="visits",
                links={"patient": "patients.id"}, limits=dp.Limits(rows=5),
                columns={"load": dp.Bounds(0, 100), "city": dp.Keys(["Bern", "Chur"])},
            ),
        ],
        name="clinic",
        budget=dp.Budget(epsilon=10_000, delta=1e-3),
        ledger=folder / "clinic.ledger",
    )  # fmt: skip


@pytest.fixture
def visits(tmp_path: Path) -> Path:
    """The file."""
    return write(tmp_path)


def rewritten(path: Path) -> None:
    """The same size, and the same time of modification; the change is far from the footer."""
    status, content = path.stat(), bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert (path.stat().st_size, path.stat().st_mtime_ns) == (status.st_size, status.st_mtime_ns)


def through_another_name(path: Path) -> None:
    """By a hard link, which is gone afterwards."""
    other = path.with_name("other")
    other.hardlink_to(path)
    with other.open("r+b") as file:
        file.seek(100)
        file.write(b"\0")
    other.unlink()


def replaced(path: Path) -> None:
    """By a file with the same bytes and times."""
    status, copy = path.stat(), path.with_name("copy")
    copy.write_bytes(path.read_bytes())
    os.utime(copy, ns=(status.st_atime_ns, status.st_mtime_ns))
    copy.replace(path)


def swapped(path: Path) -> None:
    """By a link to another file."""
    target = path.rename(path.with_name("target"))
    path.symlink_to(target.with_name("copy"))
    target.with_name("copy").write_bytes(target.read_bytes())


CHANGES: dict[str, Callable[[Path], object]] = {
    "gone": Path.unlink,
    "cut": lambda path: os.truncate(path, 1_000),
    "longer": lambda path: path.write_bytes(path.read_bytes() + b"PAR1"),
    "touched": os.utime,
    "rewritten": rewritten,
    "through another name": through_another_name,
    "replaced": replaced,
    "swapped": swapped,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "unreadable": lambda path: path.chmod(0),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_file_refuses_every_question(visits: Path, change: str) -> None:
    """Also of other tables, also one with a stored answer, with one text; nothing is charged."""
    account = clinic(visits.parent)
    first = account.ask(COUNT, epsilon=10)
    spent = account.spent
    CHANGES[change](visits)
    texts = set()
    for question in (COUNT, OTHER, "SELECT COUNT(*) FROM visits", [OTHER, COUNT]):
        for terms in ({"epsilon": 10}, {"epsilon": 20, "limits": "auto"} if isinstance(question, str) else {"rho": 1}):
            with pytest.raises(SnapshotChanged) as refusal:
                account.ask(question, **terms)  # type: ignore[call-overload]  # a question or several
            texts.add(str(refusal.value.to_dict()))
    assert len(texts) == 1
    assert "visits" not in texts.pop()
    assert account.spent == spent
    assert account.plan(COUNT, epsilon=1).explain()
    assert account.ask(COUNT, epsilon=10, version=1).entry == first.entry
    visits.rmdir() if visits.is_dir() else visits.unlink(missing_ok=True)
    write(visits.parent)
    with pytest.raises(SnapshotChanged):
        account.ask(COUNT, epsilon=10)
    assert account.refresh().version == 2
    assert account.ask(COUNT, epsilon=400)["n"][0] == ROWS


def test_reading_changes_nothing(visits: Path) -> None:
    """Questions, other readers, and another process's admission leave a file as it is."""
    account = clinic(visits.parent)
    for epsilon in (1, 2):
        account.ask(COUNT, epsilon=epsilon)
        with duckdb.connect() as own:
            own.execute(f"SELECT count(*) FROM '{visits}'").fetchall()
        clinic(visits.parent).refresh()
    assert account.admissions.current().version == 3


@pytest.mark.parametrize("when", ["before the run", "during it"])
def test_a_change_during_a_run_has_the_one_outcome(visits: Path, monkeypatch: pytest.MonkeyPatch, when: str) -> None:
    """It was paid for, and says nothing."""
    account = clinic(visits.parent)
    if when == "before the run":
        reserve = Account.reserve
        monkeypatch.setattr(Account, "reserve", lambda *given, **named: (reserve(*given, **named), os.utime(visits))[0])
    else:
        added_up = engine.added_up

        def meanwhile(session: Any, *rest: Any) -> Any:
            """The file is written to once all was read of it, save where nothing is read."""
            found = added_up(session, *rest)
            if session.execute("SELECT count(*) FROM duckdb_tables() WHERE table_name = 'raw0'") == [(0,)]:
                rewritten(visits)
            return found

        monkeypatch.setattr(engine, "added_up", meanwhile)
    with pytest.raises(QuestionFailed) as failure:
        account.ask(COUNT, epsilon=10)
    assert str(failure.value) == str(QuestionFailed())
    assert failure.value.__context__ is None
    assert account.spent.epsilon == 10
    monkeypatch.undo()
    with pytest.raises(SnapshotChanged):
        account.ask(COUNT, epsilon=10)
    assert account.spent.epsilon == 10


def test_a_page_that_rots_has_the_one_outcome(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bytes may change where no time does: on the disk itself."""
    account = clinic(visits.parent)
    monkeypatch.setattr(in_place, "_check", lambda *_: None)
    content = bytearray(visits.read_bytes())
    content[4:4_000] = os.urandom(3_996)
    visits.write_bytes(content)
    with pytest.raises(QuestionFailed):
        account.ask("SELECT city, SUM(load) AS s FROM visits GROUP BY city", epsilon=10)
    assert account.spent.epsilon == 10


def test_the_file_that_is_read_is_the_one_that_was_opened(visits: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another takes its name between the check and the reading: not a row of it is read."""
    account = clinic(visits.parent)
    views, seen = part.raw_views_of, []

    def swapping(*args: Any) -> Any:
        """Another file takes the name just before DuckDB opens it."""
        visits.rename(visits.with_name("before"))
        pq.write_table(pa.table({"patient": [1], "load": [1], "city": ["Bern"]}), visits)
        found = views(*args)
        seen.extend(args[0].execute(f"SELECT count(*) FROM {found['visits'].sql}"))
        return found

    monkeypatch.setattr(part, "raw_views_of", swapping)
    with pytest.raises(QuestionFailed):
        account.ask("SELECT COUNT(load) AS n FROM visits", epsilon=10)
    assert (ROWS,) in seen


def test_a_file_that_is_being_written_is_not_admitted(visits: Path) -> None:
    """It is another at the end than it was at the beginning."""
    account = clinic(visits.parent)
    with pytest.raises(SourceUnsupported, match="changed while"):
        account.admissions.admit(progress=lambda table, _: os.utime(visits) if table == "visits" else None)
    assert account.admissions.current().version == 1


def test_a_schedule_goes_on_where_a_file_was_changed(visits: Path) -> None:
    """What can be read is admitted anew; else the earlier version, which answers nothing, gets the next number."""
    account = clinic(visits.parent)
    visits.write_bytes(b"PAR1")
    done = account.admissions.admit_on_schedule()
    assert (done.version, bool(done.problem)) == (2, True)
    with pytest.raises(SnapshotChanged):
        account.ask(OTHER, epsilon=1)
    write(visits.parent)
    assert account.admissions.admit_on_schedule().problem == ""
    assert account.ask(COUNT, epsilon=400)["n"][0] == ROWS


def test_to_stay_in_place_is_declared_and_admitted(visits: Path) -> None:
    """A copy isn't taken for it, nor it for a copy; the file outlives all snapshots."""
    clinic(visits.parent).close()
    copied = clinic(visits.parent, in_place=False)
    with pytest.raises(NotAdmitted):
        copied.ask(COUNT, epsilon=1)
    copied.refresh()
    visits.unlink()
    assert copied.ask(COUNT, epsilon=400)["n"][0] == ROWS


def test_the_identity_is_what_was_admitted(visits: Path) -> None:
    """Whoever writes another one into the manifest is found out."""
    clinic(visits.parent).close()
    (manifest,) = (visits.parent / "clinic.snapshots").rglob("manifest.json")
    os.utime(visits)
    (now,) = in_place.places_of(str(visits))
    text = manifest.read_text()
    assert str(visits) in text
    before = text.split(f'"{visits}",')[1].split('"')[1]
    manifest.write_text(text.replace(before, now.identity))
    account = clinic(visits.parent)
    with pytest.raises(SnapshotMissing, match="isn't what was admitted"):
        account.ask(COUNT, epsilon=1)
    assert account.spent.epsilon == 0


QUESTIONS = {
    "other": OTHER,
    "keys": "SELECT city, load, COUNT(*) AS n FROM visits GROUP BY city, load",
    "joined": "SELECT SUM(load) AS s FROM patients p JOIN visits v ON p.id = v.patient WHERE load > 50",
    "refused": "SELECT SUM(patient) AS s FROM visits",
}


def test_neighbours_are_told_apart_by_noise_alone(tmp_path: Path) -> None:
    """In place and copied, with a person and without: the same calls, versions, bytes, errors and debits."""
    tape, before = Tape(), None
    with frozen(tape):
        for number, (person, stays) in enumerate([(True, True), (False, True), (True, False)]):
            folder = tmp_path / str(number)
            folder.mkdir()
            write(folder, person=person)
            with closing(clinic(folder, person=person, in_place=stays)) as account:
                ledger = folder / "clinic.ledger"
                seen = {
                    name: seen_of(account, question, ledger, epsilon=1, delta=1e-6)
                    for name, question in QUESTIONS.items()
                }
                account.refresh()
                seen["again"] = seen_of(account, COUNT, ledger, epsilon=1, delta=1e-6)
                os.utime(folder / "visits.parquet")
                if stays:
                    seen["changed"] = seen_of(account, COUNT, ledger, epsilon=2)
                    changed = seen["changed"]
                else:
                    seen["changed"] = changed
            before = before or (seen, debits(ledger))
            assert (seen, debits(ledger)) == before
            assert tape.at in (None, len(tape.lines))
            tape.at = 0


def test_a_column_is_called_as_its_files_call_it(tmp_path: Path) -> None:
    """DuckDB doesn't take ß for ss, as declarations do: each question would be paid for, and fail."""
    pq.write_table(pa.table({"straße": [1, 2, 3]}), tmp_path / "people.parquet")
    config = tmp_path / "discreet.toml"
    config.write_text(
        """
        name = "people"
        ledger = "people.ledger"
        adjacency = "add_remove"
        budget = { epsilon = 1000 }
        [tables.people]
        source = { path = "people.parquet", in_place = true }
        unit = "row"
        columns = { STRASSE = { kind = "integer", bounds = [0, 9] } }
        """
    )
    with closing(dp.load(config, create_ledger=True)["people"]) as account:
        assert account.ask("SELECT SUM(strasse) AS n FROM people", epsilon=500)["n"][0] == 6
