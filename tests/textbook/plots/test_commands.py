"""`discreet plot`: each figure from the command line."""

from __future__ import annotations

import re
import sys
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from discreet.accounting import advanced, optimal, pure_to_zcdp, zcdp_to_epsilon
from discreet.cli import app
from discreet.cli.common.exit_codes import ExitCode
from discreet.privacy import LaplaceEvent, PureDP
from discreet.textbook.accounting.pld import curve_of
from discreet.textbook.plots.numbers import shown
from support import commandline

FIGURES = ["neighbours", "loss", "delta", "composition", "accuracy", "averaging"]
FEW = {"composition": ["--uses", "20", "--sensitivity", "3"]}
"""Options that make a figure quick."""


def run(*arguments: object) -> Any:
    """Run `discreet plot` in this process."""
    return CliRunner().invoke(app, ["plot", *map(str, arguments)], prog_name="discreet")


def drawn(path: Path) -> list[str]:
    """What is written in an SVG."""
    return re.findall(r"<text[^>]*>(?:<tspan[^>]*>)?([^<]+)", path.read_text(encoding="utf-8"))


def test_there_is_a_command_for_each_figure() -> None:
    """In the order of the documentation."""
    names = [name.removeprefix("plot ") for name in commandline.commands() if name.startswith("plot ")]
    assert names == FIGURES


@pytest.mark.parametrize("ending", ["svg", "png"])
@pytest.mark.parametrize("name", FIGURES)
def test_each_figure_is_written(name: str, ending: str, tmp_path: Path) -> None:
    """The file is there, and the screen says where, with the message and the words of the figure."""
    file = tmp_path / f"x.{ending}"
    result = run(name, "--out", file, *FEW.get(name, []))
    assert result.exit_code == ExitCode.OK, result.output
    first, words = result.stdout.splitlines()
    assert first.startswith(f"{file}: ")
    assert len(words.split()) >= 20
    assert file.stat().st_size > 5_000


@pytest.mark.parametrize("name", FIGURES)
def test_each_command_explains_itself(name: str) -> None:
    """Each option has a help text, and no line is wider than a terminal."""
    command = commandline.commands()[f"plot {name}"]
    assert [one.name for one in command.params if not one.help] == []
    assert max(map(len, run(name, "--help").stdout.splitlines())) <= 80


def test_neighbours_are_the_textbooks(tmp_path: Path) -> None:
    """5 on D and 10 on D′ at a sensitivity of 7: at ε = 0.5 a guess is right in 58 %, at ε = 10 in 99 % of cases."""
    file = tmp_path / "x.svg"
    assert run("neighbours", "--out", file).exit_code == ExitCode.OK
    assert {"ε = 0.5", "ε = 10", "best guess right: 58 %", "best guess right: 99 %"} <= set(drawn(file))
    assert "Exact answers: 5 on D, 10 on D′. Dots: 20 answers drawn on each. Guesses are from even odds." in drawn(file)


def test_neighbours_take_numbers_of_ones_own(tmp_path: Path) -> None:
    """As many panels as ε, other answers, other noise."""
    file = tmp_path / "x.svg"
    numbers = ("--epsilon", "0.2", "--answers", "-3", "0", "--draws", "5", "--noise", "gaussian", "--delta", "1e-5")
    assert run("neighbours", "--out", file, *numbers).exit_code == ExitCode.OK
    assert "ε = 0.2" in drawn(file)
    assert "Exact answers: −3 on D, 0 on D′. Dots: 5 answers drawn on each. Guesses are from even odds." in drawn(file)


def test_the_draws_are_fresh(tmp_path: Path) -> None:
    """Two runs differ: no value of the forty draws at ε = 0.5 has more than 4 %, so they repeat in less than 1e-18."""
    files = [tmp_path / "a.svg", tmp_path / "b.svg"]
    for file in files:
        assert run("neighbours", "--out", file).exit_code == ExitCode.OK
    assert files[0].read_bytes() != files[1].read_bytes()


def test_losses_are_those_of_both_noises(tmp_path: Path) -> None:
    """Laplace noise never exceeds ε, and the Gaussian's δ(ε) is the δ it was made for."""
    file = tmp_path / "x.svg"
    assert run("loss", "--out", file, "--epsilon", "0.5", "--delta", "1e-5").exit_code == ExitCode.OK
    remarks = [text for text in drawn(file) if text.startswith("above ε")]
    assert remarks[0] == "above ε: never"
    assert remarks[1].endswith(("δ(ε) = 10⁻⁵", "δ(ε) = 9.99·10⁻⁶"))


def test_composition_is_what_accounting_says(tmp_path: Path) -> None:
    """Each line ends at the ε of its theorem; none of a tighter one lies above that of a looser one."""
    file = tmp_path / "x.svg"
    numbers = ("--epsilon", "0.3", "--delta", "1e-5", "--uses", "60", "--sensitivity", "4")
    assert run("composition", "--out", file, *numbers).exit_code == ExitCode.OK
    each, noise = PureDP("0.3"), LaplaceEvent(scale=Fraction(40, 3), l1=4)
    totals = {
        "basic": 18,
        "advanced": advanced(each, 60, "1e-5").epsilon,
        "optimal": optimal(each, 60, "1e-5").epsilon,
        "zCDP": zcdp_to_epsilon(60 * pure_to_zcdp("0.3"), "1e-5"),
        "PLD": curve_of(noise, 60).epsilon("1e-5"),
    }
    assert {f"{name}: {shown(float(total))}" for name, total in totals.items()} <= set(drawn(file))
    assert totals["PLD"] < totals["optimal"] < totals["zCDP"] < totals["basic"]


def test_delta_is_what_accounting_says(tmp_path: Path) -> None:
    """At the right end, Laplace noise made for ε = 1 has no δ; at the left, each has that of its curve."""
    result = run("delta", "--out", tmp_path / "x.svg")
    start = curve_of(LaplaceEvent(scale=Fraction(1), l1=1)).delta(0)
    assert f"Laplace: from {shown(start)} to 0;" in result.stdout
    assert "Gaussian: from 0.0943 to " in result.stdout


def test_the_averaging_attack_is_the_textbooks(tmp_path: Path) -> None:
    """Count 4 at ε = 0.5: 123 answers."""
    result = run("averaging", "--out", tmp_path / "x.svg")
    assert "Averaging 123 answers gives away the exact one, and costs ε = 61.5" in result.stdout
    assert "n = 123" in drawn(tmp_path / "x.svg")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["neighbours", "--out", "x.jpg"], "invalid_argument"),
        (["neighbours", "--out", "x.svg", "--epsilon", "0"], "invalid_argument"),
        (["neighbours", "--out", "x.svg", "--epsilon", "0.00001"], "invalid_argument"),
        (["neighbours", "--out", "x.svg", "--answers", "0", "8"], "invalid_argument"),
        (["neighbours", "--out", "x.svg", "--answers", "3", "3"], "invalid_argument"),
        (["loss", "--out", "x.svg", "--epsilon", "x"], "invalid_argument"),
        (["loss", "--out", "x.svg", "--delta", "2"], "invalid_argument"),
        (["delta", "--out", "x.svg", "--most", "-1"], "invalid_argument"),
        (["composition", "--out", "x.svg", "--delta", "0"], "invalid_argument"),
        (["accuracy", "--out", "x.svg", "--least", "5", "--most", "1"], "invalid_argument"),
        (["accuracy", "--out", "x.svg", "--confidence", "1"], "invalid_argument"),
        (["averaging", "--out", "x.svg", "--epsilon", "-1"], "invalid_argument"),
    ],
)
def test_wrong_numbers_are_refused(
    arguments: list[str], code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a typed error, without a file, and never as a defect."""
    monkeypatch.chdir(tmp_path)
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (ExitCode.REFUSED, "")
    assert f"[{code}]" in result.stderr
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "arguments",
    [
        ["delta"],
        ["pie", "--out", "x.svg"],
        ["averaging", "--out", "x.svg", "--answers", "1"],
        ["loss", "--out", "x.svg", "--sensitivity", "0"],
    ],
)
def test_wrong_usage_ends_with_2(arguments: list[str]) -> None:
    """What isn't a command line, or is out of an option's range."""
    assert run(*arguments).exit_code == ExitCode.USAGE


def test_without_matplotlib_the_screen_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the code of the error and the command that helps."""
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = run("averaging", "--out", tmp_path / "x.svg")
    assert result.exit_code == ExitCode.REFUSED
    assert "[extra_missing]" in result.stderr
    assert "pip install 'discreet[plot]'" in result.stderr
