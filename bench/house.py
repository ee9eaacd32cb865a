"""The house in figures: what a reader of `src/discreet` has to open, and what `import discreet` costs.

    python bench/house.py [--source src/discreet]

Files, lines and lines of code (no blank lines, comments or docstrings), the median and 90th percentile of lines; then
the same for each room. A room's "names" are those in `__all__` of its `__init__`. A circle is a set of files each of
which reaches all others by imports, those inside functions included. Import times are processor time, the least of five
runs, with NumPy's beside it as a yardstick for the machine. No figure is a goal: a file is what one noun phrase of the
glossary says, whatever its length.
"""

from __future__ import annotations

import argparse
import ast
import io
import os
import signal
import subprocess
import sys
import tokenize
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

RUNS = 5
PROBE = """
import sys, time
start = time.process_time()
import {0}
print(time.process_time() - start, sum(name.split(".")[0] == "{0}" for name in sys.modules))
"""


@dataclass(frozen=True)
class File:
    """One module of the package."""

    path: Path
    module: str
    text: str = field(repr=False)

    @property
    def room(self) -> str:
        """The room that the module is in; a module that is no room's stands for itself."""
        return ".".join(self.module.split(".")[1:2]) or "discreet"

    @property
    def is_face(self) -> bool:
        """Whether it is the `__init__` of a package."""
        return self.path.name == "__init__.py"

    @property
    def lines(self) -> int:
        """All lines of the file."""
        return len(self.text.splitlines())

    @property
    def code(self) -> int:
        """The lines that hold code: neither blank, nor only a comment, nor a docstring."""
        docstrings = {
            line
            for node in ast.walk(ast.parse(self.text))
            if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)
            for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
        }
        blank = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENDMARKER}
        tokens = tokenize.generate_tokens(io.StringIO(self.text).readline)
        held = {line for token in tokens if token.type not in blank for line in range(token.start[0], token.end[0] + 1)}
        return len(held - docstrings)

    @property
    def exported(self) -> int:
        """How many names its `__all__` lists."""
        for node in ast.parse(self.text).body:
            if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
                return len(ast.literal_eval(node.value))
        return 0


def read(source: Path) -> dict[str, File]:
    """The package's modules, by dotted name."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        parts = (source.name, *path.relative_to(source).with_suffix("").parts)
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found[module] = File(path, module, path.read_text(encoding="utf-8"))
    return found


def imports(file: File, house: Mapping[str, File]) -> set[str]:
    """The modules of the package that a file names in its imports."""
    named: set[str] = set()
    for node in ast.walk(ast.parse(file.text)):
        if isinstance(node, ast.Import):
            named |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            named |= inner & house.keys() or {node.module}
    return named & house.keys() - {file.module}


def circles(graph: Mapping[str, set[str]]) -> list[set[str]]:
    """The sets of modules that reach each other: strongly connected components of more than one."""
    remaining = {module: set(reached) for module, reached in graph.items()}
    found = []
    while True:
        try:
            TopologicalSorter(remaining).prepare()
        except CycleError as error:
            start = error.args[1][0]
        else:
            return found
        backward: dict[str, set[str]] = defaultdict(set)
        for module, reached in remaining.items():
            for target in reached:
                backward[target].add(module)
        circle = _reached(start, remaining) & _reached(start, backward)
        found.append(circle)
        remaining = {module: reached - circle for module, reached in remaining.items() if module not in circle}


def _reached(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """Everything that can be reached from a module, itself included."""
    seen, ahead = set(), [start]
    while ahead:
        module = ahead.pop()
        if module not in seen:
            seen.add(module)
            ahead.extend(graph.get(module, ()))
    return seen


def cost(module: str, path: Path) -> tuple[float, int]:
    """Seconds of processor time that importing a module takes once it is compiled, and how many of its own it loads."""
    with TemporaryDirectory() as cache:
        compiled = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": cache, "PYTHONPATH": str(path)}
        command = [sys.executable, "-c", PROBE.format(module)]
        runs = [
            subprocess.run(command, env={**os.environ, **compiled}, check=True, capture_output=True, text=True)
            for _ in range(RUNS)
        ]
    return min((float(run.stdout.split()[0]), int(run.stdout.split()[1])) for run in runs)


def percentile(values: Iterable[int], share: float) -> int:
    """The least value that at least this share of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, -(-len(ordered) * round(share * 100) // 100) - 1)]


def report(house: Mapping[str, File]) -> Iterator[str]:
    """The figures that can be read off the files."""
    graph = {module: imports(file, house) for module, file in house.items()}
    lines = [file.lines for file in house.values()]
    yield f"files                {len(house):>7,}"
    yield f"lines                {sum(lines):>7,}"
    yield f"lines of code        {sum(file.code for file in house.values()):>7,}"
    yield f"median lines a file  {median(lines):>7,.0f}"
    yield f"90th percentile      {percentile(lines, 0.9):>7,}"
    yield ""
    yield f"{'room':<14}{'files':>7}{'lines':>8}{'median':>8}{'longest':>9}{'names':>7}"
    for room in sorted({file.room for file in house.values()}):
        inside = [file for file in house.values() if file.room == room]
        counts = [file.lines for file in inside]
        face = house.get(f"discreet.{room}") or house["discreet"]
        row = (len(inside), sum(counts), round(median(counts)), max(counts), face.exported)
        yield f"{room:<14}{row[0]:>7,}{row[1]:>8,}{row[2]:>8,}{row[3]:>9,}{row[4]:>7,}"
    yield ""
    found = circles(graph)
    yield f"circles of imports: {len(found)}"
    yield from (f"  {len(circle)}: {', '.join(sorted(circle))}" for circle in found)
    names = Counter(file.path.name for file in house.values() if not file.is_face)
    repeated = {name: count for name, count in names.items() if count > 1}
    yield f"repeated basenames: {len(repeated)} names, {sum(repeated.values())} files"
    yield "  " + ", ".join(
        f"{count} {name}" for name, count in sorted(repeated.items(), key=lambda item: (-item[1], item[0]))
    )


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", type=Path, default=Path(__file__).parents[1] / "src" / "discreet")
    arguments = parser.parse_args()
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # who reads it through `head` has read enough
    for line in report(read(arguments.source)):
        print(line)
    seconds, loaded = cost("discreet", arguments.source.parent)
    print(f"import discreet: {seconds:.3f} s of processor time, {loaded} modules of its own")
    print(f"import numpy:    {cost('numpy', arguments.source.parent)[0]:.3f} s of processor time")


if __name__ == "__main__":
    main()
