"""Start-up: what a process costs before and around its one question, in processor time.

    python bench/startup.py [--data adult.csv] [--rounds 5]

`import discreet`, `discreet --help`, and `discreet ask` of a table that was admitted before, each in a process of its
own, beside `import numpy` as a yardstick for the machine. Without --data the table is a synthetic census of as many
rows as Adult has. Every question is new, so that none is answered from what is stored. Times are user and system time
of the whole process, the least of the rounds, which take turns; code is compiled beforehand, as an installed package's
is. What takes longer than it should is marked.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from subprocess import DEVNULL, Popen
from tempfile import TemporaryDirectory

ROWS = 32_561
"""Of Adult."""

ALLOWED = {"import discreet": 0.18, "discreet --help": 0.35, "discreet ask": 1.0}
"""Seconds of processor time that each should take at the most."""

YARDSTICK = "import numpy"


def spent(arguments: list[str], folder: Path) -> float:
    """The processor time of a process, in seconds."""
    compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(folder / "compiled")}
    command = [sys.executable, *arguments]
    with Popen(command, cwd=folder, env={**os.environ, **compiled}, stdout=DEVNULL) as process:
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return usage.ru_utime + usage.ru_stime


def discreet(*arguments: str) -> list[str]:
    """How the command line is run."""
    return ["-m", "discreet", *arguments]


def admitted(data: Path | None, folder: Path) -> str:
    """Configure and admit a table in a folder, with all the budget that it takes; what it is called."""
    if data is None:
        from pyarrow.csv import write_csv

        from discreet.census import synthetic

        data = folder / "census.csv"
        write_csv(synthetic(ROWS), data)
    spent(discreet("init", str(data.absolute())), folder)
    config = folder / "discreet.toml"
    config.write_text(config.read_text(encoding="utf-8").replace("epsilon = 3\n", "epsilon = 1000\n"), encoding="utf-8")
    spent(discreet("admit"), folder)
    return data.stem


def cases(table: str) -> Iterator[dict[str, list[str]]]:
    """What is run in each round; the question is another each time."""
    for number in count():
        question = f'SELECT COUNT(*) AS n FROM "{table}" WHERE age >= {number}'
        yield {
            YARDSTICK: ["-c", "import numpy"],
            "import discreet": ["-c", "import discreet"],
            "discreet --help": discreet("--help"),
            "discreet ask": discreet("ask", question, "--epsilon", "0.01"),
        }


def main() -> None:
    """Run each, and compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, help="a CSV file with a column age; a synthetic census if left out")
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    taken: dict[str, list[float]] = {}
    with TemporaryDirectory() as name:
        folder = Path(name)
        table = admitted(arguments.data, folder)
        for number, commands in zip(range(arguments.rounds + 1), cases(table), strict=False):
            for what, command in commands.items():
                seconds = spent(command, folder)
                if number:  # the first compiles
                    taken.setdefault(what, []).append(seconds)
    least = {what: min(seconds) for what, seconds in taken.items()}
    for what, seconds in least.items():
        allowed = ALLOWED.get(what)
        print(
            f"{what:<16} {seconds:.3f} s of processor time, {seconds / least[YARDSTICK]:5.2f} × {YARDSTICK}"
            + ("" if allowed is None else f", allowed {allowed:g} s{'' if seconds <= allowed else '  ← not met'}")
        )


if __name__ == "__main__":
    main()
