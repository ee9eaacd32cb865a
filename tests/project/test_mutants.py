"""The tool that asks whether tests find mistakes: which it makes, what it calls them, and what it says of tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.mutants import ROOMS, Mutant, mutants, sites
from support.mutate import _copied, _try
from support.project import ROOT, files

SOURCE = '''"""Words, and 1 + 1."""
from __future__ import annotations

MOST = 3


class Box:
    """A box."""

    def kept(self, number: int, *, most: int = 7) -> int:
        """The number, if it may be kept."""
        if not number:
            raise ValueError(f"{number + 1} is none")
        if number < most and most >= 2:
            return min(number, 5) - 1
        return round(ceil(number), round_up=True)

    def __repr__(self) -> str:
        """Words."""
        return "x" * 7
'''

WANTED = {
    ("constant", "MOST = 4"),
    ("constant", "most: int = 8"),
    ("not", "        if number:"),
    ("guard", "            pass\n"),
    ("comparison", "number <= most and"),
    ("comparison", "most > 2"),
    ("and-or", "number < most or most >= 2"),
    ("constant", "most >= 3"),
    ("min-max", "max(number, 5) - 1"),
    ("clamp", "return (number) - 1"),
    ("constant", "min(number, 6)"),
    ("arithmetic", "min(number, 5) + 1"),
    ("constant", "min(number, 5) - 2"),
    ("rounding", "round_up=False"),
    ("rounding", "floor(number)"),
}


def write(folder: Path, name: str, text: str) -> Path:
    """A file of the room of accounting, of a copy of the project."""
    path = folder / "src" / "discreet" / "accounting" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_each_mistake_is_made_where_it_can_be(tmp_path: Path) -> None:
    """Once each, and nowhere else: not in words, in what an error says, in a type or where a thing prints itself."""
    found = {(site.operator, Mutant("", "", site).mutated()) for site in sites(write(tmp_path, "box.py", SOURCE))}
    assert len(found) == len(WANTED)
    for operator, text in WANTED:
        assert [made for made, mutated in found if made == operator and text in mutated], (operator, text)
    for _, text in found:
        compile(text, "box.py", "exec")


def test_a_mutant_is_called_the_same_wherever_its_file_is(tmp_path: Path) -> None:
    """And the same ones are taken, in the same order."""
    write(tmp_path / "one", "box.py", SOURCE)
    write(tmp_path / "other", "crate.py", SOURCE.replace("class Box", "class Other: ...\n\n\nclass Box"))
    one, other = ([mutant.key for mutant in mutants(tmp_path / each / "src/discreet", 9)] for each in ("one", "other"))
    assert one == other
    assert len(set(one)) == 9


def test_rooms_and_operators_take_turns(tmp_path: Path) -> None:
    """Mutants are of all rooms alike, and no two of a room by the same operator."""
    for room in ROOMS:
        path = tmp_path / room / "box.py"
        path.parent.mkdir(parents=True)
        path.write_text(SOURCE, encoding="utf-8")
    found = mutants(tmp_path, 2 * len(ROOMS))
    assert [mutant.room for mutant in found] == [*ROOMS, *ROOMS]
    assert len({(mutant.room, mutant.site.operator) for mutant in found}) == len(found)


@pytest.mark.parametrize(("test", "found"), [("< 4", False), ("== 3", True)])
def test_what_tests_say_to_a_mutant_is_noted(test: str, found: bool, tmp_path: Path) -> None:
    """One that is looked for is found by name; the file is then as it was."""
    path = write(tmp_path, "box.py", "def kept():\n    return 2 + 1\n")
    tests = tmp_path / "tests" / "accounting"
    tests.mkdir(parents=True)
    text = f"import sys\nsys.path.insert(0, {str(path.parent)!r})\nfrom box import kept\n\n"
    (tests / "test_box.py").write_text(f"{text}def test_kept():\n    assert kept() {test}\n", encoding="utf-8")
    profile = "from hypothesis import settings\nsettings.register_profile('mutants', max_examples=1)\n"
    (tests / "conftest.py").write_text(profile, encoding="utf-8")
    (mutant,) = mutants(tmp_path / "src" / "discreet", 9, match="arithmetic")
    row = _try(mutant, "nearest", tmp_path, None, {})
    assert row["by"] == ("tests/accounting/test_box.py::test_kept" if found else None)
    assert row["stopped"] is None
    assert path.read_text(encoding="utf-8").endswith("2 + 1\n")


def test_a_copy_has_all_files_of_the_project(tmp_path: Path) -> None:
    """A test that looks for one that is missing would fail, and seem to have found the mutant."""
    copied = {path.relative_to(tmp_path) for path in _copied(tmp_path).rglob("*") if path.is_file()}
    assert copied == {path.relative_to(ROOT) for path in files()}
