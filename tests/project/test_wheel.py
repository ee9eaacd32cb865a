"""What `make dist` makes can be installed where nothing else is, and works there with nothing but what it declares."""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from collections.abc import Iterator
from importlib.metadata import distribution
from pathlib import Path
from zipfile import ZipFile

import pytest
from packaging.requirements import Requirement

from support.project import ROOT, SOURCE, files

pytestmark = pytest.mark.long

TRIED = """
import discreet as dp, pyarrow as pa
people = pa.table({"age": [34, 71, 52], "sex": ["Female", "Male", "Female"]})
with dp.protect(people, name="people", unit=dp.Unit.row(), columns={"age": dp.Bounds(0, 125)},
                budget=dp.Budget(epsilon=3), ledger="people.ledger") as table:
    print(dp.__file__, table.ask("SELECT COUNT(*) AS n, AVG(age) AS age FROM people", epsilon=1)["n"][0])
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, made from the source distribution, as `make dist` makes it."""
    folder = tmp_path_factory.mktemp("dist")
    _run(sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT))
    (made,) = folder.glob("*.whl")
    assert len(list(folder.glob("*.tar.gz"))) == 1
    return made


def test_the_wheel_has_every_file_of_the_package(wheel: Path) -> None:
    """Pages, styles and types are in it as modules are, and nothing else is."""
    packed = {name for name in ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert packed == {file.relative_to(SOURCE).as_posix() for file in files() if file.is_relative_to(SOURCE)}


def test_it_works_in_an_empty_environment(wheel: Path, tmp_path: Path) -> None:
    """Pip installs it; it sees its declared dependencies, theirs, and no other package, and answers a question.

    Dependencies are linked from where they are installed already, so that the test needs no network.
    """
    venv.create(tmp_path / "empty", with_pip=False)
    python = tmp_path / "empty" / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "--disable-pip-version-check"]
    _run(*pip, "install", "--quiet", "--no-index", "--no-deps", "--no-compile", str(wheel))
    (packages,) = (tmp_path / "empty").glob("lib/python*/site-packages")
    for needed in _needed(Requirement("discreet"), set()):
        for entry in {file.parts[0] for file in distribution(needed).files or () if ".." not in file.parts}:
            if not (packages / entry).exists():
                (packages / entry).symlink_to(distribution(needed).locate_file(entry))
    program = str(python.with_name("discreet"))
    assert "Private answers" in _run(program, "--help", folder=tmp_path)
    where, answer = _run(str(python), "-I", "-c", TRIED, folder=tmp_path).split()
    assert Path(where).is_relative_to(packages)
    assert answer.lstrip("-").isdecimal()


def _needed(requirement: Requirement, seen: set[str]) -> Iterator[str]:
    """The distributions that one needs, with those that they need."""
    for line in distribution(requirement.name).requires or []:
        needed = Requirement(line)
        extras = requirement.extras or {""}
        wanted = any(not needed.marker or needed.marker.evaluate({"extra": extra}) for extra in extras)
        if wanted and str(needed) not in seen:
            seen.add(str(needed))
            yield needed.name
            yield from _needed(needed, seen)


def _run(*command: str, folder: Path | None = None) -> str:
    """What a command prints; it must succeed, and sees nothing of the packages of this process."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    run = subprocess.run(command, cwd=folder, env=clean, check=False, capture_output=True, text=True)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
