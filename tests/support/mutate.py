"""Does a test fail for each mutant? `make soak` asks.

    PYTHONPATH=tests python -m support.mutate --number 180 --results mutants.jsonl

Each mutant is made in a copy of the project, and its tests are run there until one fails: first those that name the
mutated file or what it defines, then those of its room, then all others. What was found is a line of the results; a
mutant that has one isn't tried again, so an interrupted run goes on. `--known` names earlier results: a test that
found a mutant then is tried first, which tells quickly whether a changed suite still finds what it found.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from support.mutants import Mutant, mutants
from support.project import ROOT, files, name

EQUIVALENT = ROOT / "tests" / "fixtures" / "equivalent_mutants.toml"
"""Mutants that do the same as the original, each with the reason."""

NEAREST = 20
"""How many seconds the nearest test files may take together, by `--durations`; so many files where that isn't given."""

STAGES = ("nearest", "room", "all")
SECONDS = {"nearest": 120, "room": 600, "all": 3600}
"""Processor time that the tests of a stage may take."""

OPTIONS = ("-x", "-v", "-p", "no:cacheprovider", "--tb=no", "--no-header", "--hypothesis-profile=mutants")


@dataclass(frozen=True, slots=True)
class Ran:
    """How tests went: which failed, or at which they stood when the time ran out; neither if all passed."""

    failed: str | None
    stopped: str | None
    seconds: float


def main() -> None:
    """Try mutants, and say which no test found."""
    arguments = _arguments()
    results = Path(arguments.results)
    done = [json.loads(line) for line in results.read_text(encoding="utf-8").splitlines()] if results.exists() else []
    killers = _killers(Path(path) for path in arguments.known)
    equivalent = tomllib.loads(EQUIVALENT.read_text(encoding="utf-8"))
    durations = _durations(Path(arguments.durations)) if arguments.durations else {}
    last = STAGES.index(arguments.stage)
    with TemporaryDirectory() as folder:
        copy = _copied(Path(folder))
        for stage in STAGES[: last + 1]:
            tried = {(row["key"], row["stage"]) for row in done} | {
                (row["key"], s) for row in done if row["by"] for s in STAGES
            }
            for mutant in mutants(copy / "src" / "discreet", arguments.number, arguments.match):
                if (mutant.key, stage) in tried or mutant.key in equivalent:
                    continue
                row = _try(mutant, stage, copy, killers.get(mutant.key), durations)
                done.append(row)
                with results.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row, ensure_ascii=False) + "\n")
                    file.flush()
    _report(done)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=180, help="how many mutants")
    parser.add_argument("--match", default="", help="only those in whose keys this regular expression is found")
    parser.add_argument("--results", default="mutants.jsonl", help="what was found; continued if it is there")
    parser.add_argument("--known", action="append", default=[], help="earlier results")
    parser.add_argument("--stage", choices=STAGES, default="all", help="the farthest tests to run")
    parser.add_argument("--durations", help="what `pytest --durations=0` printed: quick tests are tried first")
    return parser.parse_args()


def _copied(folder: Path) -> Path:
    """A copy of the project in which files can be spoilt: all of it, for a test that misses a file finds any mutant."""
    for path in files():
        copy = folder / name(path)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return folder


def _killers(files: Iterator[Path]) -> Mapping[str, str]:
    """By which test each mutant was found earlier."""
    rows = (json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines())
    return {row["key"]: row["by"] for row in rows if row["by"]}


def _durations(printed: Path) -> Mapping[str, float]:
    """How many seconds each test file takes."""
    took: dict[str, float] = defaultdict(float)
    for line in printed.read_text(encoding="utf-8").splitlines():
        if found := re.match(r"\s*([\d.]+)s (?:call|setup|teardown)\s+(\S+?)::", line):
            took[found[2]] += float(found[1])
    return took


def _try(
    mutant: Mutant, stage: str, copy: Path, killer: str | None, durations: Mapping[str, float]
) -> dict[str, object]:
    """What the tests of a stage say to a mutant."""
    original = mutant.site.path.read_text(encoding="utf-8")
    tests = _tests(mutant, copy, durations)[stage]
    _write(mutant.site.path, mutant.mutated())
    try:
        ran = Ran(None, None, 0)
        if killer is not None and stage == STAGES[0]:
            ran = _run([killer], copy, SECONDS[stage])
        if ran.failed is None and tests:
            again = _run([str(test.relative_to(copy)) for test in tests], copy, SECONDS[stage])
            ran = Ran(again.failed, again.stopped, ran.seconds + again.seconds)
    finally:
        _write(mutant.site.path, original)
    return {
        "key": mutant.key,
        "room": mutant.room,
        "file": str(mutant.site.path.relative_to(copy)),
        "text": mutant.site.text,
        "stage": stage,
        "by": ran.failed,
        "stopped": ran.stopped,
        "seconds": round(ran.seconds, 1),
    }


def _write(path: Path, text: str) -> None:
    """Change a file, and see to it that Python compiles it anew, however soon after the last change."""
    path.write_text(text, encoding="utf-8")
    for compiled in (path.parent / "__pycache__").glob(f"{path.stem}.*.pyc"):
        compiled.unlink()


def _tests(mutant: Mutant, copy: Path, durations: Mapping[str, float]) -> dict[str, list[Path]]:
    """The test files for a mutant by stage, each nearest first."""
    tests = sorted((copy / "tests").rglob("test_*.py"))
    own = copy / "tests" / mutant.room
    weights = _weights(mutant.site.path, copy / "src" / "discreet")
    scores: Counter[Path] = Counter()
    for test in tests:
        text = test.read_text(encoding="utf-8")
        scores[test] = sum(weight for name, weight in weights.items() if re.search(rf"\b{re.escape(name)}\b", text))
        scores[test] += 100 * (test.stem == f"test_{mutant.site.path.stem}") + 3 * test.is_relative_to(own)
    took = {test: 1 + durations.get(str(test.relative_to(copy)), 0) for test in tests}
    worth = {test: scores[test] / (3 + took[test]) for test in tests}
    ordered = sorted(
        (test for test in tests if scores[test] > 0), key=lambda test: (own not in test.parents, -worth[test])
    )
    nearest, seconds = [], 0.0
    for test in ordered:
        if seconds + took[test] <= NEAREST:
            nearest.append(test)
            seconds += took[test]
    room = [*(test for test in ordered if test not in nearest), copy / "tests" / "project" / "test_doctests.py"]
    return {"nearest": nearest, "room": room, "all": [test for test in tests if test not in {*nearest, *room}]}


def _weights(path: Path, source: Path) -> Mapping[str, int]:
    """The names by which tests may know a file, and what each is worth: its own, and those of files that import it."""
    weights: dict[str, int] = {}
    module = _module(path, source)
    for other in path.parent.rglob("*.py"):
        if other != path and re.search(
            rf"\bimport .*\b{path.stem}\b|\b{re.escape(module)}\b", other.read_text("utf-8")
        ):
            weights |= dict.fromkeys(_defined(other), 2)
    return weights | dict.fromkeys(_defined(path), 10) | {module.removeprefix("discreet."): 20}


def _module(path: Path, source: Path) -> str:
    return ".".join(("discreet", *path.relative_to(source).with_suffix("").parts))


def _defined(path: Path) -> list[str]:
    """The public functions and classes of a file."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    return [name for name in defined if not name.startswith("_")]


def _run(tests: Sequence[str], copy: Path, seconds: int) -> Ran:
    """Run tests until one fails or their processor time is over."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    run = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *tests],
        cwd=copy,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        env={**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'tests'}", "PYTHONUNBUFFERED": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    took = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if run.returncode in {pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED}:
        return Ran(None, None, took)
    found = re.findall(r"^(?:FAILED|ERROR) (tests/\S+?\.py(?:::.*?)?)(?: - .*)?$", run.stdout, re.MULTILINE)
    if found:
        return Ran(found[0], None, took)
    started = re.findall(r"^(tests/\S+?\.py::.*?)(?: (?:PASSED|SKIPPED|XFAIL).*)?$", run.stdout, re.MULTILINE)
    return Ran(None, started[-1] if started else run.stdout[-300:], took)


def _report(rows: Sequence[Mapping[str, object]]) -> None:
    """How many mutants were found, room by room, and those that weren't."""
    found = {row["key"] for row in rows if row["by"]}
    rooms = Counter(row["room"] for row in {row["key"]: row for row in rows}.values())
    for room, number in rooms.items():
        own = {row["key"] for row in rows if row["room"] == room}
        print(f"{room:12} {len(own & found):4} of {number:4} found")
    for row in {row["key"]: row for row in rows if row["key"] not in found}.values():
        print(f"not found by {row['stage']}: {row['file']}: {row['key']} → {row['text']}")


if __name__ == "__main__":
    main()
