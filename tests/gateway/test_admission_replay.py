"""Replay over admissions: with the mechanisms' outputs frozen, nothing tells whether a person was in the sources.

The person is in every table, with ordinary values, or with ones that can't be read; in memory, in files, on a schedule,
also where the person's record makes an admission fail as a whole. Only what the custodian is told may differ.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import parquet

import discreet as dp
from discreet.gateway import Protected
from support.replayed import Tape, debits, frozen, seen_of

pytestmark = pytest.mark.usefixtures("kept_sessions")

Rows = Mapping[str, Sequence[Sequence[str | None]]]

NAMES = {"patients": ("id", "age", "city"), "visits": ("patient", "load", "at", "note")}
COLUMNS: dict[str, dict[str, dp.Column]] = {
    "patients": {
        "id": dp.Column(name="id", kind=dp.Kind.INTEGER),
        "age": dp.Column(name="age", kind=dp.Kind.INTEGER, bounds=dp.Bounds(0, 110)),
        "city": dp.Column(name="city", kind=dp.Kind.TEXT, keys=dp.Keys(["Bern", "Chur"])),
    },
    "visits": {
        "patient": dp.Column(name="patient", kind=dp.Kind.INTEGER),
        "load": dp.Column(name="load", kind=dp.Kind.REAL, bounds=dp.Bounds(0, 10)),
        "at": dp.Column(name="at", kind=dp.Kind.TIMESTAMP),
        "note": dp.Column(name="note", kind=dp.Kind.TEXT),
    },
}
TYPES = {dp.Kind.INTEGER: pa.uint64(), dp.Kind.REAL: pa.float64(), dp.Kind.TIMESTAMP: pa.timestamp("ms")}
OTHERS: Rows = {
    "patients": [[str(n), str(30 + n), "Bern" if n % 2 else "Chur"] for n in range(6)],
    "visits": [[str(n % 6), str(n % 9), str(1_700_000_000_000 + n), f"note {n % 3}"] for n in range(14)],
}
PERSONS: dict[str, Rows] = {
    "nobody": {"patients": [], "visits": []},
    "somebody": {
        "patients": [["77", "50", "Bern"]],
        "visits": [["77", "5", "1700000000000", "mine"], ["77", None, None, None]],
    },
    "unreadable": {
        "patients": [["77", str(2**64 - 1), "x" * 5_000], [str(2**64 - 1), "7", None]],
        "visits": [
            ["77", "nan", str(2**63 - 1), "\0"],
            ["77", "inf", str(-(2**63)), ""],
            [None, "-0.0", "0", "é" * 999],
        ],
    },
}
QUESTIONS = (
    "SELECT city, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY city",
    "SELECT SUM(load) AS s, COUNT(DISTINCT note) AS p FROM visits WHERE EXTRACT(YEAR FROM at) > 2000",
    "SELECT COUNT(*) AS n FROM patients p JOIN visits v ON p.id = v.patient WHERE LENGTH(note) > 3",
)
OFFER: dict[str, Any] = {"epsilon": 1, "delta": 1e-6}
MALFORMED = b'77,5,1700000000000,"6" tall"\n'


def joined(person: str) -> dict[str, list[Sequence[str | None]]]:
    """The rows of all, those of one person among them."""
    return {name: [*rows[:3], *PERSONS[person][name], *rows[3:]] for name, rows in OTHERS.items()}


def frame(name: str, rows: Sequence[Sequence[str | None]]) -> pa.Table:
    """A table of the physical types that its columns have."""
    columns = enumerate(COLUMNS[name].values())
    return pa.table({each.name: array([row[place] for row in rows], each.kind) for place, each in columns})


def array(cells: Sequence[str | None], kind: dp.Kind) -> pa.Array:
    """A column."""
    if kind is dp.Kind.TEXT:
        return pa.array(cells, pa.string())
    read = float if kind is dp.Kind.REAL else int
    numbers = [None if cell is None else read(cell) for cell in cells]
    if kind is dp.Kind.TIMESTAMP:
        return pa.array(numbers, pa.int64()).view(TYPES[kind])
    return pa.array(numbers, TYPES[kind])


def sources(form: str, folder: Path, person: str) -> dict[str, object]:
    """The tables, as a form has them; files are written anew where they are."""
    found: dict[str, object] = {}
    for name, rows in joined(person).items():
        if form == "memory":
            found[name] = frame(name, rows)
        elif form == "parquet":
            parquet.write_table(frame(name, rows), folder / f"{name}.parquet")
            found[name] = folder / f"{name}.parquet"
        else:
            lines = [",".join(NAMES[name]), *(",".join(written(name, row)) for row in rows)]
            (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
            found[name] = folder / f"{name}.csv"
    return found


def written(name: str, row: Sequence[str | None]) -> list[str]:
    """A row as cells of a CSV file; times in milliseconds as dates have them, where they are on the calendar."""
    cells = [cell or "" for cell in row]
    if name == "visits" and cells[2] and abs(int(cells[2])) < 10**14:
        cells[2] = datetime.fromtimestamp(int(cells[2]) / 1_000, UTC).replace(tzinfo=None).isoformat(sep=" ")
    return cells


def opened(data: Mapping[str, object], folder: Path) -> Protected:
    """The clinic behind an account."""
    tables = [
        dp.table(
            data["patients"], name="patients", unit=dp.Unit("id"), limits=dp.Limits(rows=1), columns=COLUMNS["patients"]
        ),
        dp.table(
            data["visits"],
            name="visits",
            links={"patient": "patients.id"},
            limits=dp.Limits(rows=3),
            columns=COLUMNS["visits"],
        ),
    ]
    budget = dp.Budget(epsilon=8, delta=0.1)
    return dp.protect(tables, name="clinic", budget=budget, ledger=folder / "clinic.ledger")


def asked(clinic: Protected, folder: Path) -> list[object]:
    """All that questions show: of the version in force, of an earlier one, and what is refused for want of budget."""
    new = clinic.admissions.current().version > 1
    asking = QUESTIONS[:1] if new else QUESTIONS
    seen: list[object] = [seen_of(clinic, question, folder / "clinic.ledger", **OFFER) for question in asking]
    seen.append(seen_of(clinic, QUESTIONS[0], folder / "clinic.ledger", version=1, **OFFER))
    seen.append(seen_of(clinic, "SELECT COUNT(*) AS n FROM visits", folder / "clinic.ledger", epsilon=9))
    seen.append(clinic.plan(QUESTIONS[1], **OFFER).explain())
    seen.append([(entry.text, entry.kind, entry.state) for entry in clinic.history()])
    return seen


def seen_in(form: str, folder: Path, person: str) -> list[object]:
    """What an analyst sees of an account whose first version has the person, and of the next, which hasn't."""
    folder.mkdir()
    with closing(opened(sources(form, folder, person), folder)) as clinic:
        seen = asked(clinic, folder)
    with closing(opened(sources(form, folder, "nobody"), folder)) as clinic:
        clinic.refresh()
        seen.append(asked(clinic, folder))
        seen.append(str(clinic.verify()))
    return [*seen, debits(folder / "clinic.ledger")]


@pytest.mark.parametrize(
    ("form", "persons"), [("memory", ["unreadable"]), ("parquet", ["unreadable"]), ("csv", ["somebody", "unreadable"])]
)
def test_admissions_tell_neighbours_apart_by_noise_alone(form: str, persons: list[str], tmp_path: Path) -> None:
    """Answers, errors, versions, certificates, the ledger: the same bytes, whether or not the person is admitted."""
    tape = Tape()
    with frozen(tape):
        before = seen_in(form, tmp_path / "nobody", "nobody")
        for person in persons:
            tape.at = 0
            after = seen_in(form, tmp_path / person, person)
            assert str(after).replace(f"/{person}/", "/nobody/") == str(before)
            assert tape.at == len(tape.lines)


def seen_on_schedule(folder: Path, arrives: str) -> tuple[list[object], bool]:
    """What an analyst sees while somebody comes between two ticks; and whether the second found nothing to read."""
    folder.mkdir()
    with closing(opened(sources("csv", folder, "nobody"), folder)) as clinic:
        seen = asked(clinic, folder)
        if arrives == "malformed":
            with (folder / "visits.csv").open("ab") as file:
                file.write(MALFORMED)
        else:
            sources("csv", folder, arrives)
        done = clinic.admissions.admit_on_schedule()
        assert done.version == 2
        seen.append(asked(clinic, folder))
        sources("csv", folder, "nobody")
        assert clinic.admissions.admit_on_schedule().version == 3
        seen.append(asked(clinic, folder))
    return [*seen, debits(folder / "clinic.ledger")], bool(done.problem)


def test_a_schedule_tells_neighbours_apart_by_noise_alone(tmp_path: Path) -> None:
    """Whoever comes between two ticks, and even where the person's record makes all of an admission fail."""
    tape = Tape()
    with frozen(tape):
        before, failed = seen_on_schedule(tmp_path / "nobody", "nobody")
        assert not failed
        for arrives in ("unreadable", "malformed"):
            tape.at = 0
            after, failed = seen_on_schedule(tmp_path / arrives, arrives)
            assert failed is (arrives == "malformed")
            assert after == before, arrives
            assert tape.at == len(tape.lines)


def test_replay_finds_a_version_that_follows_the_contents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The wrong twin: a schedule whose tick advances nothing where the sources can't be read."""
    from discreet.gateway.admissions import Admissions

    def only_if_read(self: Admissions, **_: Any) -> Any:
        try:
            return self.admit()
        except dp.DiscreetError as error:
            return dp.gateway.AdmissionReport(version=2, tables={}, problem=str(error))

    tape = Tape()
    with frozen(tape):
        before, _ = seen_on_schedule(tmp_path / "nobody", "nobody")
        monkeypatch.setattr(Admissions, "admit_on_schedule", only_if_read)
        tape.at = 0
        with pytest.raises(AssertionError):
            assert seen_on_schedule(tmp_path / "malformed", "malformed")[0] == before
