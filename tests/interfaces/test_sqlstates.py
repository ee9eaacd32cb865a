"""SQLSTATEs: every error has one, and the page for analysts names it."""

from __future__ import annotations

import re

from discreet import errors
from discreet.errors import Category, DiscreetError, from_dict
from discreet.interfaces.sqlstates import BY_CATEGORY, BY_KIND, sqlstate_of
from support.errors import errors_below
from support.project import ROOT

NOT_ON_THE_WIRE = {BY_KIND[kind] for kind in (errors.ServerUnreachable, errors.ReplyMalformed, errors.ConfigError)}
"""Of the client's side."""


def test_every_error_has_a_sqlstate_that_the_page_names() -> None:
    """One of five signs, for each kind that a server may tell; and the page names no other."""
    assert set(BY_CATEGORY) == set(Category)
    kinds = [kind for kind in errors_below(DiscreetError) if kind.category is not Category.UNAVAILABLE]
    said = {sqlstate_of(from_dict({"code": kind.code})) for kind in kinds} - NOT_ON_THE_WIRE
    page = (ROOT / "docs" / "connect.md").read_text(encoding="utf-8")
    named = set(re.findall(r"\b(?:\d[0-9A-Z][0-9A-Z]\d\d|XX\d{3})\b", page.partition("| SQLSTATE |")[2]))
    assert named - {"25P02", "25006"} == (said | {BY_CATEGORY[Category.UNAVAILABLE]}) - {BY_CATEGORY[Category.REFUSED]}
