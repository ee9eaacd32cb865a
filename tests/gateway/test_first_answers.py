"""The first answers of a newcomer: of what `init` proposes, each is within its ±, or its line says why it may not be.

Four pairs of a register and its events, from one row of everybody to one person with most of the rows, some under names
that are on a list and some under names that aren't; ten questions each, as somebody asks who has read nothing. What is
proposed for each pair under the other names declares the same, so that answers are the same. A question of
many rows has its limit chosen, and its interval holds what that cuts off, or a line below says that it doesn't; then it
is asked again under one that nobody exceeds. Intervals are asked for at 1 − 10⁻¹²: fewer than 1,000 are looked at, so
the chance of a false alarm is below 10⁻⁹.
"""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Mapping
from itertools import cycle
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import discreet as dp
from discreet.gateway import inspect
from discreet.results import Answer
from discreet.tables.proposals import ProposalInput, propose_together, shared_names

pytestmark = pytest.mark.usefixtures("kept_sessions")

SURE = 1 - 1e-12
EPSILON = 4
WARDS = ("A", "B", "C")

SHAPES: Mapping[str, Callable[[int], int]] = {
    "one each": lambda _: 1,
    "a few each": lambda who: who % 4 + 1,
    "skewed": lambda who: 60 if who % 50 == 0 else who % 6 + 1,
    "one with most": lambda who: 3_000 if who == 7 else who % 3 + 1,
}
NAMES = {("patients", "visits"): "patient_id", ("a", "b"): "pid", ("members", "loans"): "ref_nr"}

CASES = [*zip(SHAPES, cycle(NAMES), strict=False)]
assert len(CASES) == 4


class Hospital:
    """A register and its events as files, with what a reader of all rows would count.

    Args:
        folder: for the files.
        names: of both tables.
        rows_of: how many events somebody has.
    """

    def __init__(self, folder: Path, names: tuple[str, str], rows_of: Callable[[int], int]) -> None:
        self.folder, self.names, self.key = folder, names, NAMES[names]
        self.people = list(range(100, 400))
        self.events = [(who, WARDS[(who + n) % 3]) for who in self.people for n in range(rows_of(who))]
        register, events = names
        ages = [who % 90 for who in self.people]
        pq.write_table(pa.table({self.key: self.people, "age": ages}), folder / f"{register}.parquet")
        columns = {self.key: [who for who, _ in self.events], "ward": [ward for _, ward in self.events]}
        pq.write_table(pa.table(columns), folder / f"{events}.parquet")

    def opened(self) -> dp.Protected:
        """What `init` proposes, with the wards declared, as a custodian does who reads the file."""
        files = [self.folder / f"{name}.parquet" for name in self.names]
        ids = shared_names([inspect(file, peek=False)[0] for file in files])
        looks = [inspect(file, peek=True, ids=ids) for file in files]
        proposal = propose_together(
            [ProposalInput(columns=columns, source=source, profile=seen) for columns, seen, source in looks]
        )
        config = self.folder / "discreet.toml"
        text = proposal.to_toml(folder=self.folder)
        blank = 'ward = { kind = "text" }  # schema'
        assert blank in text
        config.write_text(text.replace(blank, 'ward = { kind = "text", keys = ["A", "B", "C"] }'), encoding="utf-8")
        config.write_text(config.read_text().replace("epsilon = 3", "epsilon = 1000"), encoding="utf-8")
        return dp.load(config, create_ledger=True)

    def questions(self) -> Mapping[str, list[float]]:
        """Ten questions with their true answers."""
        register, events = self.names
        wards = Counter(ward for _, ward in self.events)
        visitors = {ward: len({who for who, its in self.events if its == ward}) for ward in WARDS}
        old = {who for who in self.people if who % 90 >= 60}
        joined = f"{events} e JOIN {register} r ON e.{self.key} = r.{self.key}"
        return {
            f"SELECT COUNT(*) AS n FROM {register}": [len(self.people)],
            f"SELECT COUNT(*) AS n FROM {register} WHERE age >= 60": [len(old)],
            f"SELECT AVG(age) AS n FROM {register}": [sum(who % 90 for who in self.people) / len(self.people)],
            f"SELECT SUM(age) AS n FROM {register}": [sum(who % 90 for who in self.people)],
            f"SELECT COUNT(*) AS n FROM {events}": [len(self.events)],
            f"SELECT ward, COUNT(*) AS n FROM {events} GROUP BY ward": [wards[ward] for ward in WARDS],
            f"SELECT COUNT(*) AS n FROM {events} WHERE ward = 'A'": [wards["A"]],
            f"SELECT COUNT(DISTINCT {self.key}) AS n FROM {events}": [len({who for who, _ in self.events})],
            f"SELECT ward, COUNT(DISTINCT {self.key}) AS n FROM {events} GROUP BY ward": [visitors[w] for w in WARDS],
            f"SELECT COUNT(*) AS n FROM {joined} WHERE r.age >= 60": [sum(who in old for who, _ in self.events)],
        }

    def most(self) -> int:
        """The rows of whoever has most."""
        return max(Counter(who for who, _ in self.events).values())


def holds(answer: Answer, truth: list[float]) -> bool:
    """Whether every interval holds what is true."""
    found = zip(answer.interval("n", SURE), truth, strict=True)
    return all(ends is not None and ends[0] <= value <= ends[1] for ends, value in found)


def says_why(answer: Answer) -> bool:
    """Whether the answer's own line names a limit that may have cut something off."""
    return "at most" in dict(answer.notes()).get("limits", "")


def declared(folder: Path, shape: str, names: tuple[str, str]) -> dict[str, Any]:
    """What is proposed, under names that say what they are of."""
    folder.mkdir()
    hospital = Hospital(folder, names, SHAPES[shape])
    hospital.opened().close()
    register, events = names
    said = {register: "register", events: "events", hospital.key: "key", f"{register}.{hospital.key}": "register.key"}
    said |= {f"{name}.{kind}": f"{role}.{kind}" for name, role in [*said.items()] for kind in ("parquet", "ledger")}

    def renamed(part: Any) -> Any:
        if isinstance(part, dict):
            return {said.get(key, key): renamed(value) for key, value in part.items()}
        return said.get(part, part) if isinstance(part, str) else part

    found: dict[str, Any] = renamed(tomllib.loads((folder / "discreet.toml").read_text(encoding="utf-8")))
    return found


@pytest.mark.parametrize("shape", SHAPES)
def test_no_name_changes_what_is_declared(tmp_path: Path, shape: str) -> None:
    """Names that are on a list, and others: the same units, links, limits, bounds and keys, under other names."""
    one, *others = (declared(tmp_path / "-".join(names), shape, names) for names in NAMES)
    assert one["tables"]["events"]["links"] == {"key": "register.key"}
    assert [*one["tables"]] == ["register", "events"]
    assert all(other == one for other in others)


@pytest.mark.parametrize(("shape", "names"), CASES)
def test_first_answers_are_right_or_say_why_not(tmp_path: Path, shape: str, names: tuple[str, str]) -> None:
    """No proposed configuration answers out of its ± without a line on limits; and under a generous limit all hold."""
    hospital = Hospital(tmp_path, names, SHAPES[shape])
    chosen = 0
    with hospital.opened() as account:
        for question, truth in hospital.questions().items():
            first = account.ask(question, epsilon=EPSILON)
            if first.cut_off is not None:
                chosen += 1
                says_no_less = "with what limits cut off" not in first.coverage or "but for n" in first.coverage
                assert holds(first, truth) or says_no_less, question
                first = account.ask(question, epsilon=EPSILON, limits=dp.Limits(rows=hospital.most()))
                assert says_why(first)
            assert holds(first, truth), question
    assert chosen == 5, "of every question that counts rows of events, none is answered under a guess"


def test_a_guess_is_found_out(tmp_path: Path) -> None:
    """The limit that was proposed before, two rows in each of five groups, makes a count miss by more than its ±.

    Both ways of counting differ, and by more than a tenth. So do the checks above see what they are for.
    """
    hospital = Hospital(tmp_path, ("patients", "visits"), SHAPES["skewed"])
    guess = dp.Limits(groups=5, rows_per_group=2)
    truth = len(hospital.events)
    with hospital.opened() as account:
        whole = account.ask("SELECT COUNT(*) AS n FROM visits", epsilon=EPSILON, limits=guess)
        wards = account.ask("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", epsilon=EPSILON, limits=guess)
    assert not holds(whole, [truth])
    assert whole["n"][0] < 0.9 * sum(wards["n"]) < 0.9 * truth
