"""Each citation names its theorem, and the page of literature lists each work."""

from __future__ import annotations

import ast
import re

import pytest

from support.project import DOCS, nodes, offenders, python_files

NAMED = re.compile(
    r"\b(theorem|lemma|proposition|corollary|claim|definition|algorithm|section|appendix|figure|table|equation"
    r"|inequality|chapter|example|proof)s?\b",
    re.IGNORECASE,
)
"""What a citation may point to within a work; a proof that stands beside it points as well."""

TITLE = re.compile(r'"[^"]*"')
"""Titles don't count: some have the word theorem in them."""

WORK = re.compile(r"(?P<first>[A-Z][\w’-]+)(?:,? (?:and )?[A-Z][\w’-]+|,? et al\.)*,? \((?P<year>\d{4})\)")
"""A work as it is cited: the family names of its authors, and the year."""


def sources(code: str) -> list[str]:
    """The `Source:` parts of the docstrings of a file, each in one line: from the word to the next empty line."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = [ast.get_docstring(node) or "" for node in nodes(code) if isinstance(node, kinds)]
    parts = [part.strip() for docstring in docstrings for part in docstring.split("\n\n")]
    return [" ".join(part.split()) for part in parts if part.startswith("Source:")]


def citations(source: str) -> list[str]:
    """The citations of a `Source:` part, which semicolons part, without their titles; only those of a work."""
    return [each.strip() for each in TITLE.sub("", source).split(";") if re.search(r"\(\d{4}\)", each)]


def vague(code: str) -> list[str]:
    """The citations in a file that name nothing within the work."""
    found = [each for source in sources(code) for each in citations(source)]
    return [each for each in found if not NAMED.search(each)]


def works(code: str) -> set[tuple[str, str]]:
    """The first author and the year of each work that a file's `Source:` parts cite."""
    matches = (match for source in sources(code) for match in WORK.finditer(TITLE.sub("", source)))
    return {(match["first"], match["year"]) for match in matches}


def unlisted(cited: set[tuple[str, str]], page: str) -> set[tuple[str, str]]:
    """The works that have no row on the page, which begins with the first author and has the year before its use."""
    rows = [line.split("|")[1] for line in page.splitlines() if line.startswith("| ")]
    return {
        (first, year)
        for first, year in cited
        if not any(first in row.split(", ")[0] and year in row.split("*")[-1] for row in rows)
    }


def test_each_citation_names_its_theorem() -> None:
    """A reader can look up the very statement, or read a proof of it beside."""
    assert offenders(vague, python_files("src")) == {}


def test_each_work_is_on_the_page_of_literature() -> None:
    """`docs/references.md` has a row for each."""
    cited = set().union(*(works(path.read_text(encoding="utf-8")) for path in python_files("src")))
    assert len(cited) > 50  # they are found at all
    assert unlisted(cited, (DOCS / "references.md").read_text(encoding="utf-8")) == set()


def documented(source: str) -> str:
    """A made-up file with a function whose docstring has this `Source:` part."""
    return f'def f():\n    """Do it.\n\n    {source}\n\n    Examples:\n        >>> f()\n    """\n'


@pytest.mark.parametrize(
    "source",
    [
        "Source: Doe (2016).",
        "Source: Doe, Roe (2016), for the noise.",
        "Source: Doe, Roe (2016),\n    on all of the noise; Poe (2017), Theorem 3.",
        'Source: Doe, Roe (2016), "The composition theorem", for its bound.',
        "Source: Poe (2017), Theorem 3; Doe (2016).",
    ],
)
def test_a_vague_citation_is_found(source: str) -> None:
    """A name and a year don't do, nor does a title with the word in it, nor does another citation beside it."""
    (found,) = vague(documented(source))
    assert "(2016)" in found


@pytest.mark.parametrize(
    "source",
    [
        "Source: Doe (2016), Theorem 3.",
        'Source: Doe, Roe (2016), "A title; with a semicolon", definition of the noise; Poe (2017), Lemmas 1 and 2.',
        "Source: Doe (2016), for real numbers, with our own proof above.",
        "Source: any textbook.",
    ],
)
def test_a_citation_that_names_its_theorem_passes(source: str) -> None:
    """With a number or without; and what cites no work needs none."""
    assert sources(documented(source))
    assert vague(documented(source)) == []


def test_a_work_without_a_row_is_found() -> None:
    """By its first author and its year, both."""
    page = "| work | used for |\n|---|---|\n| J. Doe, R. Roe. *On 2017.* 2016 | noise in 2018 |\n"
    cited = works(documented("Source: Doe, Roe (2016), Theorem 3; Poe (2017), Lemma 1."))
    assert cited == {("Doe", "2016"), ("Poe", "2017")}
    assert unlisted(cited, page) == {("Poe", "2017")}
    wrong = {("Roe", "2016"), ("Doe", "2017"), ("Doe", "2018")}
    assert unlisted(wrong, page) == wrong
