"""Pages: how they are made. In a page, whatever isn't ours is text and nothing else."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from fastapi import Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, FileSystemLoader, StrictUndefined

from discreet.interfaces.http.console.session import Visit
from discreet.interfaces.http.middleware.safe_headers import SAFE
from discreet.printable import printable
from discreet.results import summarize

if TYPE_CHECKING:
    from discreet.ledger import Entry


_LONG = re.compile(r"(?<![\d.,])\d{4,300}(?!\d)", re.ASCII)


@cache
def _templates() -> Environment:
    """The templates. All text is escaped, and a name that isn't there is an error."""
    found = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "templates", encoding="utf-8"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        query=urlencode, number=number, moment=moment, amounts=amounts, shown=shown, summarized=summarized
    )
    return found


def page(template: str, visit: Visit | None, status: int = 200, **context: object) -> HTMLResponse:
    """A page.

    Args:
        template: its name, without its ending.
        visit: of the person who looks at it; None before they sign in.
        status: of HTTP.
        context: what the template shows.
    """
    return HTMLResponse(_templates().get_template(f"{template}.html").render(visit=visit, **context), status, SAFE)


def see(path: str) -> RedirectResponse:
    """On to another page of ours, after a form was sent."""
    return RedirectResponse(path, 303)


def download(content: str, kind: str, name: str) -> Response:
    """A file to keep; browsers don't show it as a page."""
    return Response(content, media_type=kind, headers={"Content-Disposition": f'attachment; filename="{name}"'})


def number(value: float | Fraction | None, digits: int = 6) -> str:
    """A number to read: digits in groups, and no more of them than say something."""
    if value is None:
        return "∞"
    if isinstance(value, int):
        return f"{value:,}"
    return f"{float(value):,.{digits}g}"


def grouped(text: str) -> str:
    """The numbers of a text with their digits in groups.

    Examples:
        >>> grouped("19974 (15679 to 24195.1234)")
        '19,974 (15,679 to 24,195.1234)'
    """
    return _LONG.sub(lambda found: f"{int(found[0]):,}", text)


def amounts(entry: Entry) -> str:
    """The cost of a question, to read: in ε if it has one, else in ρ, with its δ; empty for other entries."""
    if (cost := entry.cost) is None:
        return ""
    said = f"ε = {number(cost.epsilon, 4)}" if cost.epsilon is not None else f"ρ = {number(cost.rho, 4)}"
    return f"{said}, δ = {number(cost.delta, 4)}" if cost.delta else said


def shown(value: object) -> str:
    """A text that others wrote, safe to read. What a form sends back is left as it is."""
    return printable(str(value))


def summarized(table: str) -> str:
    """The statement that summarizes a table."""
    return summarize([table], table)


def moment(at: datetime) -> str:
    """A moment to read, in UTC."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}"
