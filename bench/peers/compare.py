"""The same work by discreet and by other libraries, each in an environment of its own, in one run.

    python bench/peers/compare.py [--folder environments] [--rows 100000] [--draws 200] [--seconds 20] [--only NAME ...]

Makes an environment for each library and installs it there by pip, unless the folder has it; what can't be installed
is said. Four questions at ε = 1 each: a count, a sum and a mean of values in [0, 100], and a count in each of ten
public groups; each row is a unit. Measured: the root of the mean squared error over draws (of one group), the median
seconds of a question end to end on a loaded table, and both as multiples of ours. Prints a table in Markdown with date
and versions, losing rows included, and writes it into `docs/compared.md` with `--write`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import venv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from statistics import median

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
REQUIREMENTS: Mapping[str, Sequence[str]] = {
    "OpenDP": ["opendp[polars]"],
    "SmartNoise": ["smartnoise-sql"],
    "PipelineDP": ["pipeline-dp"],
    "Tumult": ["tmlt.analytics"],
    "diffprivlib": ["diffprivlib", "scikit-learn<1.8"],
}
"""What pip installs for each; Tumult also needs Java 17. Qrlew rewrites questions for a database server: not here."""
QUESTIONS = ("count", "sum", "mean", "count by group")
KEYS = [f"k{number}" for number in range(10)]
LEAST = 10


@dataclass(frozen=True)
class Measured:
    """The work of one library: its version, and by question the error and the seconds; or why there is none."""

    version: str
    error: Mapping[str, float]
    seconds: Mapping[str, float]
    draws: Mapping[str, int]
    failed: str = ""


def main() -> None:
    """Measure all, and print the table."""
    options = _options()
    source = np.random.default_rng()
    x = np.clip(75 + 12 * source.normal(size=options.rows), 0, 100)
    g = source.choice(KEYS, size=options.rows, p=np.arange(1, 11) / 55)
    exact = {
        "count": [len(x)],
        "sum": [float(x.sum())],
        "mean": [float(x.mean())],
        "count by group": [int((g == key).sum()) for key in KEYS],
    }
    job = json.dumps(
        {
            "columns": {"x": x.tolist(), "g": g.tolist()},
            "epsilon": 1,
            "draws": options.draws,
            "seconds": options.seconds,
            "least": LEAST,
        }
    )
    found = {"discreet": measured("discreet", Path(sys.executable), job, exact)}
    for name in options.only or REQUIREMENTS:
        python = installed(name, options.folder)
        found[name] = python if isinstance(python, Measured) else measured(name, python, job, exact)
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
    parser.add_argument("--only", nargs="*", choices=REQUIREMENTS, default=[])
    parser.add_argument("--write", action="store_true")
    return parser.parse_args()


def installed(name: str, folder: Path) -> Path | Measured:
    """The Python of a library's environment, made if it isn't there; or that it can't be installed."""
    home = folder / name.lower()
    python = home / "bin" / "python"
    if not python.exists():
        venv.create(home, with_pip=True)
    command = [python, "-m", "pip", "install", "-q", *REQUIREMENTS[name]]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode == 0:
        return python
    why = [line for line in done.stderr.splitlines() if line.startswith("ERROR: No matching")]
    reason = f"pip finds no distribution of {REQUIREMENTS[name][0]}" if why else "pip can't install it"
    return Measured("", {}, {}, {}, reason)


def measured(name: str, python: Path, job: str, exact: Mapping[str, Sequence[float]]) -> Measured:
    """Run one library, and judge its answers."""
    script = Path(__file__).with_name("runners.py")
    kept = {**os.environ, "PYTHONPATH": str(ROOT / "src")} if name == "discreet" else os.environ
    done = subprocess.run(
        [python, script, name], check=False, input=job, capture_output=True, text=True, env=kept, cwd=python.parent
    )
    if done.returncode:
        print(done.stderr[-2_000:], file=sys.stderr)
        return Measured("", {}, {}, {}, "it failed; see standard error")
    reply = json.loads(done.stdout)
    found = reply["found"]
    error = {
        question: float(np.sqrt(np.mean((np.array(found[question]["answers"]) - np.array(exact[question])) ** 2)))
        for question in QUESTIONS
    }
    seconds = {question: median(found[question]["seconds"]) for question in QUESTIONS}
    return Measured(reply["version"], error, seconds, {each: len(found[each]["answers"]) for each in QUESTIONS})


def markdown(found: Mapping[str, Measured], rows: int) -> str:
    """The table, with what couldn't be measured below it."""
    ours = found["discreet"]
    lines = [
        f"{datetime.now(UTC):%d %B %Y}, {rows:,} rows, ε = 1, {os.cpu_count()} cores.",
        "",
        "| question | library | rms error | × ours | seconds | × ours | draws |",
        "|---|---|---|---|---|---|---|",
    ]
    for question in QUESTIONS:
        for name, one in found.items():
            if one.failed:
                continue
            error, seconds = one.error[question], one.seconds[question]
            lines.append(
                f"| {question} | {name} {one.version} | {error:.3g} | {error / ours.error[question]:.2g} "
                f"| {seconds:.3g} | {seconds / ours.seconds[question]:.2g} | {one.draws[question]} |"
            )
    failed = [f"{name} isn't in the table: {one.failed}." for name, one in found.items() if one.failed]
    return "\n".join([*lines, *(["", *failed] if failed else [])])


if __name__ == "__main__":
    main()
