"""`discreet anonymize`: a table whose rows hide among others, and a report on it."""

from __future__ import annotations

import sys

from discreet.cli.anonymize import options as own
from discreet.cli.common import columns, options, rows
from discreet.cli.common.failures import reported
from discreet.cli.common.screen import working
from discreet.cli.common.sheets import show_json


@reported
@rows.with_written
def anonymize(  # noqa: PLR0913 — each is an option of the command
    file: columns.File,
    *,
    output: own.Output = None,
    report: own.Report = None,
    force: own.Force = False,
    quasi_identifying: columns.QuasiIdentifying = None,
    sensitive: columns.Sensitive = None,
    identifying: columns.Identifying = None,
    keep: own.Keep = None,
    unit: columns.UnitOption = None,
    rows_are_people: columns.RowsArePeople = False,
    hierarchy: own.HierarchyOption = None,
    k: own.K = 5,
    diversity: own.Diversity = None,
    closeness: own.ClosenessOption = None,
    suppression: own.Suppression = "5%",
    loss: own.LossOption = own.LossChoice.NCP,
    algorithm: own.AlgorithmOption = own.AlgorithmChoice.OPTIMAL,
    local_recoding: own.LocalRecoding = False,
    nodes: own.Nodes = None,
    missing: columns.MissingOption = columns.MissingChoice.OWN_VALUE,
    how: rows.Written,
    yes: own.Yes = False,
    format_: options.TextOrJson = options.TextFormat.TABLE,
) -> None:
    """Make a table safer: rows look like others, at the least loss; say what that cost and what attackers can still do.

    On a terminal it asks what the columns are, unless that is said. Without `--output` nothing is written: it only says
    what would be. Columns that name people are left out, and so are those of no kind. It is no differential privacy.
    """
    from discreet.anonymity.records import read
    from discreet.cli.anonymize.choices import Choices, Roles
    from discreet.cli.anonymize.outcome import made
    from discreet.cli.anonymize.saving import check, save
    from discreet.cli.anonymize.showing import show

    choices = Choices.of(
        k=k, diversity=diversity, closeness=closeness, suppression=suppression, loss=loss.value,
        algorithm=algorithm.value.replace("-", " "), local_recoding=local_recoding, nodes=nodes, hierarchies=hierarchy,
    )  # fmt: skip
    check([file, *choices.hierarchies.values()], output, report, force=force)
    whose = columns.unit_of(unit, rows_are_people=rows_are_people)
    with working("reading"):
        records = read(how.source(file), unit=whose, missing=missing.policy)
    rows.say_unread(records.unread.words())
    said = [columns.names(each) for each in (identifying, quasi_identifying, sensitive, keep)]
    options_of = ("--identifying", "--quasi-identifying", "--sensitive", "--keep")
    columns.check({"--unit": whose, **dict(zip(options_of, said, strict=True))}, [*records.names, *(whose or ())])
    roles = Roles.of(records, *said)
    if _may_ask() and not yes and not any(said) and format_ is options.TextFormat.TABLE:
        from discreet.cli.anonymize.asking import ask

        roles, choices, output = ask(file, records, roles, choices, output, force=force)
    roles.require_known(records.rows)
    choices.require_possible(records, roles.sensitive)
    with working("searching"):
        outcome = made(records, roles, choices, whose)
    with working("writing"):
        save(outcome, output, report, name=file.name)
    if format_ is options.TextFormat.JSON:
        show_json(outcome.to_dict())
    else:
        show(outcome, output, report)


def _may_ask() -> bool:
    """Whether somebody sits before the screen and can answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()
