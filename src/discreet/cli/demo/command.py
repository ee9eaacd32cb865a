"""`discreet demo`: the whole story, on people who don't exist."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from discreet.cli.common.extras import require_extras
from discreet.cli.common.reporting import reported
from discreet.cli.show.screen import say
from discreet.cli.show.waiting import working
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    import pyarrow as pa


@reported
def demo(
    *,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="FILE.csv", help="Write the synthetic census to a file instead.")
    ] = None,
    hospital: Annotated[
        Path | None,
        typer.Option("--hospital", metavar="FOLDER", help="Write a hospital's patients.csv and visits.csv instead."),
    ] = None,
    serve: Annotated[
        bool, typer.Option("--serve", help="Then serve it on a port of this machine and attack it as strangers would.")
    ] = False,
    console: Annotated[
        bool,
        typer.Option("--console", help="Serve it instead, with its console open to a browser, until you press Ctrl-C."),
    ] = False,
) -> None:
    """Tell the whole story on a synthetic census: private answers, three attacks, a budget, a ledger.

    Runs for real, in a few seconds, without network; the people don't exist, and no file is left behind. `--save`
    writes the census as CSV, for trials of `discreet init` and `discreet ask`; `--hospital` the two tables of the
    tutorials. `--serve` takes half a minute more.
    `--console` serves the census on this machine, for a browser; it prints the address and a token of each role. Both
    need `discreet[server,client]`.
    """
    if save is not None:
        _save_census(save)
        return
    if hospital is not None:
        _save_hospital(hospital)
        return
    if console:
        _open_console()
        return
    from discreet.census import synthetic
    from discreet.cli.demo.story import tell, your_turn

    if serve:
        from discreet.cli.demo.served_story import tell_served

        require_extras("server", "client")
    with working("making people"):
        people = synthetic()
    tell(people)
    if serve:
        tell_served(people)
    your_turn()


def _save_census(path: Path) -> None:
    """Write the census as CSV.

    Raises:
        InvalidArgument: the file is there, or can't be written.
    """
    from discreet.census import synthetic

    people = synthetic()
    _write(path, _csv(people))
    say(f"{people.num_rows} people who don't exist, in {path}; next: discreet init {path}")


def _save_hospital(folder: Path) -> None:
    """Write the hospital's tables as CSV, and what its custodian declares, into a folder that is there.

    Raises:
        InvalidArgument: a file is there, or can't be written.
    """
    from discreet.census import hospital
    from discreet.census.hospital_tables import DECLARED

    patients, visits = hospital()
    _write(folder / "patients.csv", _csv(patients))
    _write(folder / "visits.csv", _csv(visits))
    _write(folder / "hospital.toml", DECLARED.encode())
    say(f"{patients.num_rows} patients who don't exist: patients.csv, and visits.csv with {visits.num_rows} visits")
    say("hospital.toml is what a custodian declares of them")


def _csv(table: pa.Table) -> bytes:
    """A table as CSV."""
    import pyarrow as pa
    import pyarrow.csv

    sink = pa.BufferOutputStream()
    pyarrow.csv.write_csv(table, sink)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def _write(path: Path, content: bytes) -> None:
    """Write a file, but never over another.

    Raises:
        InvalidArgument: the file is there, or can't be written.
    """
    try:
        with path.open("xb") as file:
            file.write(content)
    except FileExistsError:
        raise InvalidArgument(f"the file {str(path)!r} already exists", hint="choose another name") from None
    except OSError as error:
        raise InvalidArgument(f"the file {str(path)!r} can't be written: {error.strerror}") from None


def _open_console() -> None:
    """Serve the census on a free port until Ctrl-C, then remove its files.

    Raises:
        ExtraMissing: there is no server here.
    """
    require_extras("server", "client")
    from discreet.census import synthetic
    from discreet.cli.demo.served_story import free_port, prepared
    from discreet.interfaces.http.serving import serve
    from discreet.service import ReleaseTimes, Role, Service, Settings

    with prepared(synthetic(), 3, {f"demo {role}": role for role in Role}) as (config, tokens):
        with working("opening"):
            service = Service(config, Settings(times=ReleaseTimes(base=1, scan=1)))
        port = free_port()
        say(f"the console is open at http://127.0.0.1:{port}; sign in with one of these tokens:")
        for role, token in zip(Role, tokens, strict=True):
            say(f"  {role:10} {token}")
        say("Ctrl-C ends it and removes its files")
        try:
            serve(service, host="127.0.0.1", port=port)
        finally:
            service.close()
