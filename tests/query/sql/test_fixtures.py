"""Questions on disk: each is read as its canonical text says, or refused with its code, at its place."""

from __future__ import annotations

import pytest

from discreet.errors import QueryError
from discreet.query.ir import canonical
from discreet.query.sql import question
from support.asked import FOLDER, TABLES, pairs

ACCEPTED = [pair for path in sorted(FOLDER.glob("*accepted.sql")) for pair in pairs(path)]
REFUSED = [pair for path in sorted(FOLDER.glob("*_refused.sql")) for pair in pairs(path)]


def test_there_are_enough() -> None:
    """The corpus doesn't shrink."""
    assert len(ACCEPTED) >= 120
    assert len(REFUSED) >= 120


@pytest.mark.parametrize(("sql", "expected"), ACCEPTED, ids=[sql for sql, _ in ACCEPTED])
def test_accepted(sql: str, expected: str) -> None:
    """The question means what its canonical text says."""
    assert canonical(question(sql, TABLES)) == expected


@pytest.mark.parametrize(("sql", "expected"), REFUSED, ids=[sql for sql, _ in REFUSED])
def test_refused(sql: str, expected: str) -> None:
    """The question is refused with this code, at this line and column."""
    with pytest.raises(QueryError) as caught:
        question(sql, TABLES)
    error = caught.value
    assert error.place is not None
    assert f"{error.code} {error.place[0]}:{error.place[1]}" == expected
    assert error.message


@pytest.mark.parametrize("sql", [sql for sql, _ in ACCEPTED])
def test_white_space_and_a_semicolon_change_nothing(sql: str) -> None:
    """The canonical text of a question doesn't depend on how it is laid out."""
    spread = f"\n\t {sql} \n;;"
    assert canonical(question(spread, TABLES)) == canonical(question(sql, TABLES))
