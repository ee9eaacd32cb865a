"""Files: the same for the same figure, readable by machines for those who can't see, and silent about the machine."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from matplotlib.figure import Figure

from discreet.errors import ExtraMissing, InvalidArgument
from discreet.plot import composition, save
from support.figures import FIGURES
from support.project import ROOT

SVG = "{http://www.w3.org/2000/svg}"


def in_another_process(code: str, folder: Path) -> str:
    """What the code prints, run in a folder by a fresh interpreter that knows `support`."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT / "tests")},
        check=True,
        capture_output=True,
        text=True,
    ).stdout.strip()


@dataclass(frozen=True)
class Saved:
    """A figure, and the files that were made of it, the drawing first."""

    figure: Figure
    svg: Path
    png: Path


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Saved]:
    """Each figure, drawn and saved once for all tests that look at its files."""
    folder = tmp_path_factory.mktemp("saved")

    @cache
    def of(name: str) -> Saved:
        figure = FIGURES[name]()
        return Saved(figure, save(figure, folder / f"{name}.svg"), save(figure, folder / f"{name}.PNG"))

    return of


@pytest.mark.parametrize("name", FIGURES)
def test_both_kinds_of_file_are_written(name: str, saved: Callable[[str], Saved]) -> None:
    """SVG and PNG, each with the signature of its kind; the path is handed back."""
    drawing, picture = saved(name).svg, saved(name).png
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")
    assert picture.read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert picture.read_bytes()[16:20] == (1440).to_bytes(4)


@pytest.mark.parametrize("name", FIGURES)
def test_the_same_figure_gives_the_same_bytes(name: str, saved: Callable[[str], Saved], tmp_path: Path) -> None:
    """Made anew from the same numbers."""
    assert save(FIGURES[name](), tmp_path / "anew.svg").read_bytes() == saved(name).svg.read_bytes()


@pytest.mark.parametrize(
    "name", [name if name == "averaging" else pytest.param(name, marks=pytest.mark.soak) for name in FIGURES]
)
def test_the_order_of_saving_means_nothing(name: str, saved: Callable[[str], Saved], tmp_path: Path) -> None:
    """The drawing was first, and is now the second; pictures of other figures are painted by the same brush."""
    first, anew = saved(name), FIGURES[name]()
    assert save(anew, tmp_path / "anew.png").read_bytes() == first.png.read_bytes()
    assert save(anew, tmp_path / "anew.svg").read_bytes() == first.svg.read_bytes()


def test_another_process_gives_the_same_bytes(tmp_path: Path) -> None:
    """Nothing depends on the order of hashes, or on what was drawn before."""
    code = "from support.figures import FIGURES; from discreet.plot import save; save(FIGURES['delta'](), 'there.svg')"
    in_another_process(code, tmp_path)
    here = save(FIGURES["delta"](), tmp_path / "here.svg")
    assert here.read_bytes() == (tmp_path / "there.svg").read_bytes()


@pytest.mark.parametrize("name", FIGURES)
def test_a_file_says_nothing_about_the_machine(name: str, saved: Callable[[str], Saved]) -> None:
    """No path, no date, no version, and nothing that is fetched from elsewhere."""
    text, folder = saved(name).svg.read_text(encoding="utf-8"), saved(name).svg.parent
    home = Path.home()
    places = [f"{place}/" for place in (ROOT, folder, sys.prefix, *([home] if home != home.parent else []))]
    for secret in (*places, "site-packages", "matplotlib.org"):
        assert secret not in text
    assert not re.search(r"\b20\d\d-\d\d-\d\d", text)
    assert set(re.findall(r'(?:href|src)="([^"#][^"]*)"', text)) == set()
    assert b"atplotlib" not in saved(name).png.read_bytes()


@pytest.mark.parametrize("name", FIGURES)
def test_a_screen_reader_finds_title_and_description(name: str, saved: Callable[[str], Saved]) -> None:
    """An image by its role, named by a title and described by words, which come first."""
    figure = saved(name).figure
    root = ET.fromstring(saved(name).svg.read_text(encoding="utf-8"))  # noqa: S314 — our own file
    assert root.get("role") == "img"
    title, words = root[0], root[1]
    assert (title.tag, words.tag) == (f"{SVG}title", f"{SVG}desc")
    assert root.get("aria-labelledby") == f"{title.get('id')} {words.get('id')}"
    assert (title.text, words.text) == (figure.get_suptitle(), figure.get_label())
    assert figure.get_suptitle() in [text.text for text in root.iter(f"{SVG}text")]


def test_signs_of_xml_in_names_are_harmless(tmp_path: Path) -> None:
    """A name that looks like markup, or like a formula, is shown as it is."""
    figure = composition([1, 2], {"<b>&": [1, 2], "$x_": [3, 4], "$y_$": [5, 6]})
    root = ET.fromstring(save(figure, tmp_path / "x.svg").read_text(encoding="utf-8"))  # noqa: S314 — our own file
    assert {"<b>&: 2", "$x_: 4", "$y_$: 6"} <= {text.text for text in root.iter(f"{SVG}text")}


def test_settings_of_this_machine_change_nothing(tmp_path: Path) -> None:
    """What somebody has set in Matplotlib neither shows in a figure nor is lost by drawing one."""
    import matplotlib as mpl

    before = save(FIGURES["accuracy"](), tmp_path / "before.svg").read_bytes()
    with mpl.rc_context({"font.size": 30, "axes.facecolor": "red", "svg.fonttype": "path", "savefig.dpi": 20}):
        assert save(FIGURES["accuracy"](), tmp_path / "after.svg").read_bytes() == before
        assert (mpl.rcParams["font.size"], mpl.rcParams["svg.fonttype"]) == (30, "path")


def test_no_list_of_open_figures_is_kept(tmp_path: Path) -> None:
    """Drawing and saving never load pyplot, which keeps every figure and picks a window system."""
    code = "import sys; from support.figures import FIGURES; [make() for make in FIGURES.values()]"
    assert in_another_process(f"{code}; print('matplotlib.pyplot' in sys.modules)", tmp_path) == "False"


def test_importing_the_room_loads_no_matplotlib(tmp_path: Path) -> None:
    """It is loaded by the first figure, so that what doesn't draw doesn't wait."""
    code = "import sys, discreet.plot; print('matplotlib' in sys.modules)"
    assert in_another_process(code, tmp_path) == "False"


@pytest.mark.parametrize("name", ["x.jpg", "x.pdf", "x", "svg"])
def test_other_endings_are_refused(name: str, tmp_path: Path) -> None:
    """With the endings that would do, and without leaving a file."""
    with pytest.raises(InvalidArgument, match=r"\.svg or \.png"):
        save(FIGURES["delta"](), tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_place_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    """A folder that isn't there is no defect of discreet."""
    with pytest.raises(InvalidArgument, match="can't be written"):
        save(FIGURES["delta"](), tmp_path / "nowhere" / "x.svg")


@pytest.mark.parametrize("name", FIGURES)
def test_without_matplotlib_the_error_says_what_to_install(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each figure names Matplotlib and the extra that brings it."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ExtraMissing, match=r"Matplotlib") as caught:
        FIGURES[name]()
    assert caught.value.hint == "pip install 'discreet[plot]'"
    assert isinstance(caught.value, ImportError)
