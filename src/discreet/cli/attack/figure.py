"""The figure of an attack."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.common.files import write_all
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from discreet.attacks.answers import AveragingResult, ReconstructionResult
    from discreet.attacks.attack_result import AttackResult


def draw(results: Sequence[AttackResult], path: Path) -> str:
    """Write the figure to its file.

    Returns:
        its title.

    Raises:
        InvalidArgument: there is nothing to draw, since nothing was tried or nobody knows who was right; or
            the file can't be written.
    """
    from discreet import plot

    tried = [each for each in results if each.not_tried is None]
    if not tried:
        raise InvalidArgument("nothing was tried, so there is nothing to draw")
    figure = _drawn(tried)
    note = next((each.note for each in tried if each.note is not None), None)
    if note is not None:
        plot.note(figure, note)
    write_all({path: lambda draft: plot.save(figure, draft)})
    return figure.get_suptitle()


def _drawn(results: Sequence[AttackResult]) -> Figure:
    """The figure that shows most: of one kind of result its own, else how often each was right."""
    from discreet import plot
    from discreet.attacks.answers import AveragingResult, ReconstructionResult, TracingResult
    from discreet.attacks.rows import LinkageResult

    traced = [each for each in results if isinstance(each, TracingResult)]
    if len(traced) == len(results):
        return plot.members({each.against: each for each in traced})
    match results:
        case [LinkageResult() as only] if only.candidates:
            return plot.candidates(only.candidates, against=only.against, people=_counted(only))
        case [AveragingResult() as only] if _is_noisy(only) and only.truth is not None:
            return plot.averaging(
                only.answers,
                truth=only.truth,
                epsilon=only.epsilon / only.fresh,
                estimator="mean" if only.estimator == "mean" else "median",
                needed=only.needed,
            )
        case [ReconstructionResult() as only] if only.deviation is not None:
            return _swept(only)
        case _:
            return plot.outcomes(results, people=_counted(results[0]))


def _counted(result: AttackResult) -> str:
    """The figure's name for what it counts."""
    return "rows" if result.repeated else "units" if result.unit else "people"


def _is_noisy(found: AveragingResult) -> bool:
    """Whether there are answers to average, each with noise at an ε: not exact ones, nor those of anonymised rows."""
    return found.fresh == len(found.answers) > 1 and isfinite(found.epsilon)


def _swept(found: ReconstructionResult) -> Figure:
    """The same attack on as many made-up people, through one kind of noise after another."""
    from discreet import plot
    from discreet.attacks.answers import sweep

    tries = sweep(people=found.tried, questions=found.questions)
    return plot.recovery(tries.points, people=tries.people, questions=tries.questions, baseline=tries.baseline or 0.0)
