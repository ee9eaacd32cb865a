"""Pictures of answers as files: SVG, and PNG where Matplotlib is installed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.common.files import refuse_to_replace, write_all
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.results import Answer, Summary

_ENDINGS = (".svg", ".png")


def check_picture(path: Path, *, painted: bool) -> None:
    """Refuse a picture that couldn't be drawn or kept, before anything is paid or takes its time.

    Args:
        path: the file to write or replace.
        painted: whether SVG takes Matplotlib too.

    Raises:
        InvalidArgument: the ending is another, or the folder isn't there.
        ExtraMissing: Matplotlib isn't installed.
    """
    refuse_to_replace(path, force=True)
    if path.suffix.lower() not in _ENDINGS:
        raise InvalidArgument(f"a figure can't be saved as {path.name!r}", hint="a file in .svg or .png")
    if painted or path.suffix.lower() == ".png":
        from discreet.textbook.plots.sheet import house_style

        with house_style():
            pass


def write_picture(answer: Answer | Summary, path: Path) -> str:
    """Write the picture of an answer to a file that `check_picture` let pass.

    Returns:
        what it is of, and what it shows.

    Raises:
        InvalidArgument: there is no number with noise to draw, or the file can't be written.
    """
    from discreet.results.charts import drawn

    drawing = drawn(answer.charts())
    if path.suffix.lower() == ".png":
        from discreet.plot import png

        data = png(answer)
    else:
        data = answer.to_svg().encode()
    write_all({path: lambda draft: draft.write_bytes(data) and None})
    return f"{drawing.title}: {drawing.finding}"
