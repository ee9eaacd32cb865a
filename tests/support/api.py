"""The reference of the API, as its description in OpenAPI has it: each path, what it takes, and what it replies."""

from __future__ import annotations

from typing import Any, cast

from discreet.interfaces.http import make_app
from discreet.service import Service

_EVERYWHERE = {"401", "403", "503"}
"""What every path with a token may reply; said once."""


def description() -> dict[str, Any]:
    """The description in OpenAPI."""
    return make_app(cast("Service", None)).openapi()  # which no path asks anything yet


def reference() -> str:
    """All paths, by group, as a page has them."""
    whole = description()
    schemas, groups = whole["components"]["schemas"], dict[str, list[str]]()
    for path, methods in whole["paths"].items():
        for method, operation in methods.items():
            lines = _operation(f"{method.upper()} {path}", operation, schemas)
            groups.setdefault(operation.get("tags", ["other"])[0], []).extend(lines)
    text = [line for name, lines in sorted(groups.items()) for line in (f"## {name.capitalize()}", "", *lines)]
    problem = _table("field of a problem", _fields(schemas["Problem"]))
    return "\n".join([*text, "## Problems", "", schemas["Problem"]["description"], "", *problem])


def _operation(title: str, operation: dict[str, Any], schemas: dict[str, Any]) -> list[str]:
    """One path and method."""
    lines = [f"### `{title}`", "", operation["description"], ""]
    parameters = {each["name"]: each.get("description", "") for each in operation.get("parameters", ())}
    lines += _table("parameter", parameters)
    if "requestBody" in operation:
        (content,) = operation["requestBody"]["content"].values()
        name = content["schema"]["$ref"].rpartition("/")[2]
        lines += [schemas[name]["description"], "", *_table("field", _fields(schemas[name]))]
    replies = {
        status: each["description"]
        for status, each in sorted(operation["responses"].items())
        if status not in _EVERYWHERE or "security" not in operation
    }
    return [*lines, *_table("status", replies)]


def _fields(schema: dict[str, Any]) -> dict[str, str]:
    """What each field of a body is."""
    needed = schema.get("required", ())
    return {
        name: f"{'Required. ' if name in needed and schema.get('title') else ''}{each.get('description', '')}"
        for name, each in schema["properties"].items()
    }


def _table(head: str, rows: dict[str, str]) -> list[str]:
    """A table of two columns; nothing for no rows."""
    if not rows:
        return []
    return [f"| {head} | |", "|---|---|", *(f"| `{name}` | {words} |" for name, words in rows.items()), ""]
