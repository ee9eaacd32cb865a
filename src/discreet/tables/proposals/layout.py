"""Signs that a file is laid out for readers: sums below, merged cells, row numbers, an empty last column.

The custodian, who alone sees it, reads about each; nothing is concluded from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

_SUM = re.compile(
    r"\s*(grand\s+|sub-?)?(total|totals|totale|sum|summe|gesamt|insgesamt|somme|suma|average|mean|mittelwert|source|quelle"
    r"|note)s?\b.*",
    re.IGNORECASE,
)
"""How the last row begins if it sums up the others or names their source."""
_UNNAMED = re.compile(
    r"(column [0-9]+|unnamed: [0-9]+|index|\.\.\.1|x|row_?id|row_?number|rownames?|obs|nr|no)", re.IGNORECASE
)
"""Names under which programs write row numbers, sometimes none."""
_FEW = 3
"""This many filled cells at equal distances aren't chance."""


@dataclass(slots=True)
class ColumnLayout:
    """The places of a column's filled cells, part by part.

    Args:
        name: of the column.
        rows: so far.
        filled: cells that aren't NULL.
        first: the row of the first that is filled.
        last: the row of the last.
        gap: rows from each filled cell to the next; 0 where they differ.
        counts: whether each cell is a whole number, one more than that above.
        ending: the text of the last cell.
    """

    name: str
    rows: int = 0
    filled: int = 0
    first: int | None = None
    last: int = -1
    gap: int | None = None
    counts: bool = True
    ending: str = field(default="", repr=False)
    _next: int | None = None

    def add(self, cells: pa.Array) -> None:
        """Look at a part of the column."""
        import numpy as np
        import pyarrow as pa

        if len(cells) == 0:
            return
        places = np.flatnonzero(np.asarray(cells.is_valid())) + self.rows
        if len(places):
            steps = np.diff(places, prepend=[self.last] if self.filled else [])
            if len(steps) and self.gap != 0:
                same = int(steps[0]) if (steps == steps[0]).all() else 0
                self.gap = same if self.gap in (None, same) else 0
            self.first = int(places[0]) if self.first is None else self.first
            self.last = int(places[-1])
        self.filled += len(places)
        self.rows += len(cells)
        is_text = pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)
        self.ending = (cells[-1].as_py() or "") if is_text else ""
        self.counts = self.counts and self._goes_on(cells)

    def _goes_on(self, cells: pa.Array) -> bool:
        """Whether cells are whole numbers that go on where those before ended."""
        import pyarrow as pa
        import pyarrow.compute as pc

        try:
            numbers = cells.cast(pa.int64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            return False
        start = numbers[0].as_py()
        if numbers.null_count or start not in ({0, 1} if self._next is None else {self._next}):
            return False
        self._next = start + len(cells)
        return bool(pc.all(pc.equal(numbers, pa.array(range(start, start + len(cells)), pa.int64()))).as_py())

    @property
    def is_merged(self) -> bool:
        """Whether it is filled at equal distances alone, from the first row on."""
        gap = self.gap or 0
        return self.filled >= _FEW and self.first == 0 and gap > 1 and self.rows - self.last <= gap


def told(columns: Sequence[ColumnLayout]) -> tuple[str, ...]:
    """Remarks for the custodian on the layout.

    Args:
        columns: in the source's order, each looked at to its end.
    """
    words = [
        f"{each.name} is filled only in every {each.gap:,}th row, and the others are NULL: are cells merged?"
        for each in columns
        if each.is_merged
    ]
    words += [
        f"{each.name} numbers the rows: leave it out, it says nothing about anyone"
        for each in columns
        if each.rows > _FEW and each.counts and _UNNAMED.fullmatch(each.name)
    ]
    empty = [each.name for each in columns if each.rows and not each.filled]
    if empty:
        ends = len(columns) > 1 and empty[-1:] == [columns[-1].name] == [f"column {len(columns)}"]
        words.append(
            f"{', '.join(empty)} holds nothing"
            + (": if each line ends with a delimiter, --trailing-delimiter says so" if ends else "")
        )
    if any(_SUM.fullmatch(each.ending) for each in columns[:_FEW]):
        words.append(
            "the last row seems to sum up the others or name their source, and would count as a person: "
            "--footer-lines leaves it out"
        )
    return tuple(words)


_EXPONENT = r"^[0-9][.,][0-9]+[eE][+][0-9]+$"


def told_of_texts(texts: Mapping[str, pa.Array], ids: Iterable[str]) -> tuple[str, ...]:
    """Remarks for the custodian on cells that aren't read as what they are.

    Args:
        texts: different texts of each column, as many as were looked at.
        ids: the columns that seem to be ids.
    """
    import pyarrow.compute as pc

    words = [
        f"{name} is rounded, as spreadsheets show long numbers, so that several may look the same: export it as text"
        for name in ids
        if name in texts and pc.any(pc.match_substring_regex(texts[name], _EXPONENT)).as_py()
    ]
    if len(texts) == 1:
        (cells,) = texts.values()
        for sign in ";\t|,":
            counts = pc.unique(pc.count_substring(cells, sign)).to_pylist()
            if len(cells) > _FEW and len(counts) == 1 and counts[0]:
                title = "is the first line a title? --header-line says which line names the columns"
                words.append(f"each row seems to have {counts[0] + 1} cells: {title}")
    return tuple(words)


def told_of_names(names: Sequence[str]) -> tuple[str, ...]:
    """A remark for the custodian that at least half of the columns have no name.

    Examples:
        >>> told_of_names(["Report 2025", "column 2", "column 3"])
        ('2 of 3 columns have no name: is the first line a title? --header-line says which line names them',)
    """
    blank = sum(name == f"column {number}" for number, name in enumerate(names, start=1))
    if blank < 2 or 2 * blank < len(names):  # noqa: PLR2004 — one may be of row numbers
        return ()
    title = "is the first line a title? --header-line says which line names them"
    return (f"{blank} of {len(names)} columns have no name: {title}",)
