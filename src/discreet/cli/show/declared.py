"""Declared tables: units, limits, and columns with their bounds and keys."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.cli.show.formats import Format
from discreet.cli.show.screen import say
from discreet.cli.show.sheets import Sheet, show_json, show_table
from discreet.printable import keys_to_read, limits_to_read, printable


def show_declared(declared: Sequence[Mapping[str, Any]]) -> None:
    """Print each table's unit and limits, and its columns."""
    for number, table in enumerate(declared):
        if number:
            say()
        limits = "chosen for each question" if table["limits"] is None else limits_to_read(table["limits"])
        unit = "public" if table["public"] else f"unit {table['unit']}, limits {limits}"
        say(printable("; ".join([f"{table['name']}  {unit}", *table["links"]])))
        rows = [
            [name, kind, bounds, "" if column["keys"] is None else keys_to_read(column["keys"], most=6)]
            for (name, kind, _, bounds, _), column in zip(_rows_of(table), table["columns"], strict=True)
        ]
        show_table(("column", "kind", "bounds", "keys"), rows, right=[False] * 4)


def show_schema(schema: Mapping[str, Any], as_format: Format, *, raw: bool = False) -> None:
    """Write what is declared to standard output."""
    match as_format:
        case Format.TABLE:
            show_declared(schema["tables"])
        case Format.JSON:
            show_json(schema)
        case Format.CSV | Format.ARROW:
            names = ("table", "column", "kind", "nullable", "bounds", "keys")
            Sheet(names, [[each["name"], *row] for each in schema["tables"] for row in _rows_of(each)]).show(
                as_format, raw=raw
            )


def _rows_of(table: Mapping[str, Any]) -> list[list[Any]]:
    """A row for each column of a table."""
    return [
        [
            column["name"],
            column["kind"],
            column["nullable"],
            "" if column["bounds"] is None else "{} to {}".format(*column["bounds"]),
            "" if column["keys"] is None else keys_to_read(column["keys"], len(column["keys"])),
        ]
        for column in table["columns"]
    ]
