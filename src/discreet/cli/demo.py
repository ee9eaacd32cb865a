"""`discreet demo`: the whole story, on people who don't exist."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from discreet.cli.common.failures import reported
from discreet.cli.common.screen import say, working


@reported
def demo(
    *,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE.csv", help="Write the synthetic census to a file instead.")
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve it on a port of this machine, and attack it as strangers would.")
    ] = False,
) -> None:
    """Tell the whole story on a synthetic census: private answers, three attacks, a budget, a ledger.

    Runs for real, in a few seconds, without network; the people don't exist, and no file is left behind. `--save`
    writes the census as CSV, for trials of `discreet init` and `discreet ask`. `--serve` takes half a minute more, and
    needs `discreet[server,client]`.
    """
    from discreet.census import synthetic

    if save is not None:
        _save(save)
        return
    from discreet.cli.story import tell, your_turn

    if serve:
        from discreet.cli.served_story import check_installed, tell_served

        check_installed()
    with working("making people"):
        people = synthetic()
    tell(people)
    if serve:
        tell_served(people)
    your_turn()


def _save(path: Path) -> None:
    """Write the census as CSV; a file that is there stays.

    Raises:
        InvalidArgument: the file is there, or can't be written.
    """
    import pyarrow.csv

    from discreet.census import synthetic
    from discreet.errors import InvalidArgument

    people = synthetic()
    try:
        with path.open("xb") as file:
            pyarrow.csv.write_csv(people, file)
    except FileExistsError:
        raise InvalidArgument(f"the file {str(path)!r} is there already", hint="choose another name") from None
    except OSError as error:
        raise InvalidArgument(f"the file {str(path)!r} can't be written: {error.strerror}") from None
    say(f"{people.num_rows} people who don't exist, in {path}; next: discreet init {path}")
