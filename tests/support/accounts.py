"""Accounts to serve: a table of people in a file, what is declared of it, a new ledger, and who may come in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyarrow import csv

import discreet as dp
from discreet.service import Role
from discreet.service.tokens import issue

if TYPE_CHECKING:
    from discreet.gateway import Protected


def declared(  # noqa: PLR0913 — what an account is
    table: str, columns: str, *, rows: int = 1, most: int = 10, epsilon: int = 10, more: str = ""
) -> str:
    """A configuration: of one table, whose unit is the column `id`.

    Args:
        table: its name; the account is called alike.
        columns: their declarations, a line each.
        rows: how many of one unit count.
        most: how many of one unit are admitted; so few that they add next to nothing to the time of a question.
        epsilon: the budget.
        more: what stands before the table.
    """
    return f"""
name = "{table}"
ledger = "{table}.ledger"
adjacency = "add_remove"
failures = 1000
budget = {{ epsilon = {epsilon} }}
{more}
[tables.{table}]
source = "{table}.csv"
unit = "id"
limits = {{ rows = {rows} }}
most_rows_per_unit = {most}

[tables.{table}.columns]
{columns}
"""


@contextmanager
def founded(folder: Path, config: str, data: Mapping[str, Any]) -> Iterator[Protected]:
    """The files of an account, with a new ledger and its first version; opened as the custodian has it.

    Args:
        folder: for them; made if it isn't there.
        config: as `declared` makes it.
        data: the columns of its table.
    """
    folder.mkdir(exist_ok=True)
    name = config.split('"')[1]
    csv.write_csv(pa.table(dict(data)), folder / f"{name}.csv")
    (folder / "discreet.toml").write_text(config, encoding="utf-8")
    with dp.load(folder / "discreet.toml", create_ledger=True) as tables:
        tables.refresh()
        yield tables


def of_each_role(tables: Protected) -> dict[str, str]:
    """The texts of tokens: one of each role, called like it."""
    return {str(role): issue(tables.tokens, str(role), role, days=1).text for role in Role}
