"""Processes that protect the same tables for the first time, at once: one admits them, and all go on."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.ledger import Ledger
from discreet.privacy import Budget
from support.forked import asking

PROCESSES = 8

TOGETHER = """
import os, sys, time
from pathlib import Path
import pyarrow as pa
import discreet as dp
from discreet.errors import DiscreetError
from discreet.ledger import Account

folder, kind, processes = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])

def one(number):
    admit = Account.admit_together

    def once_all_have_read(*arguments):
        (folder / f"{number}.read").touch()
        end = time.monotonic() + 120
        while len(list(folder.glob("*.read"))) < processes and time.monotonic() < end:
            time.sleep(0.01)
        return admit(*arguments)

    Account.admit_together = once_all_have_read
    age = [30 + number, 40] if kind == "differing" else [30, 40]
    data = folder / "people.parquet" if kind == "a file" else pa.table({"age": age})
    try:
        with dp.protect(data, name="t", unit=dp.Unit.row(), budget=1000, ledger=folder / "t.ledger") as table:
            answer = table.ask("SELECT COUNT(*) AS n FROM t", epsilon=100)
            said = f"version {answer.certificate['data_version']}, {answer['n'][0]} rows"
    except DiscreetError as error:
        said = error.code
    except Exception as error:
        said = repr(error)
    sys.stdout.write(said + "\\n")
    sys.stdout.flush()

children = []
for number in range(processes):
    child = os.fork()
    if child == 0:
        one(number)
        os._exit(0)
    children.append(child)
for child in children:
    os.waitpid(child, 0)
"""


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("a file", {"version 1, 2 rows": PROCESSES}),
        ("memory", {"version 1, 2 rows": PROCESSES}),
        ("differing", {"version 1, 2 rows": 1, "not_admitted": PROCESSES - 1}),  # each holds another table
    ],
)
def test_processes_that_begin_together_go_on_with_what_is_in_force(
    tmp_path: Path, kind: str, said: dict[str, int]
) -> None:
    """All have read before any admits: one version is admitted, and all that hold it answer of it."""
    parquet.write_table(pa.table({"age": [30, 40]}), tmp_path / "people.parquet")
    ended = asking().run(TOGETHER, tmp_path, kind, PROCESSES)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert Counter(ended.stdout.splitlines()) == said
    with Ledger.open(tmp_path / "t.ledger", create=False) as ledger:
        assert ledger.account("t", Budget(epsilon=1000)).versions() == 1
        assert ledger.verify().problems == ()
