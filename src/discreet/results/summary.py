"""Summaries: the answers that SUMMARIZE stands for, folded into one table with a row for each column."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Self

from discreet.errors import InvalidArgument
from discreet.hints import Door, Hint
from discreet.notebook import framed, notes, table
from discreet.results.answer import Answer, Explanation
from discreet.results.charts import Chart, drawn, svg
from discreet.results.columns import cell_texts
from discreet.results.cost import Cost, Note
from discreet.suggestions import nearest

if TYPE_CHECKING:
    import pandas as pd

PARTS: Mapping[str, str] = {
    "missing": "missing",
    "mean": "mean",
    "std": "std",
    "q25": "25 %",
    "median": "median",
    "q75": "75 %",
}
"""What is said of a column, in the order in which it is shown: its name in the answer, and above the table."""

BLANK = r"(?:\s|--[^\n]*(?:\n|\Z)|/\*(?:[^*]|\*(?!/))*\*/)"
"""A space, or a comment, in SQL."""

SUMMARIZE = re.compile(rf"{BLANK}*+(SUMMARI[SZ]E)\b", re.IGNORECASE)
"""The beginning of a statement that asks for a summary."""

_SECONDS = re.compile(r"(:\d\d)\.\d+")
"""Of a time, what is less than a second."""

BAR = 20
"""The characters of the longest bar."""

_EIGHTHS = " ▏▎▍▌▋▊▉"
"""So many eighths of a character."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many rows have a key.

    Args:
        key: as it is shown.
        rows: their noisy number; None where it is withheld.
        words: the same with its ±.
        part: how long a bar it has beside that of the most frequent key, from 0 to 1.
        missing: whether it is of the rows that have no key.
    """

    key: str
    rows: int | None
    words: str
    part: float
    missing: bool

    def bar(self, longest: int = BAR) -> str:
        """A bar of blocks, in eighths.

        Args:
            longest: how many characters that of the most frequent key has.
        """
        eighths = round(self.part * longest * 8)
        return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def is_summary(text: str) -> bool:
    r"""Whether a text is a SUMMARIZE, after whatever blanks and comments.

    Examples:
        >>> is_summary("-- all of it\nsummarize census"), is_summary("SELECT 1 AS summarize")
        (True, False)
    """
    return SUMMARIZE.match(text) is not None


def summarize(tables: Sequence[str], table: str | None, columns: Sequence[str] | None = None) -> str:
    """The statement by which a table is summarized.

    Args:
        tables: the names of those that are private.
        table: which one; None where there is no other.
        columns: those to summarize; None for all.

    Raises:
        InvalidArgument: there are several tables, or none of that name; or columns aren't a list of names.

    Examples:
        >>> summarize(["census"], None), summarize(["census"], "Census", ["age", "sex"])
        ('SUMMARIZE "census"', 'SUMMARIZE SELECT "age", "sex" FROM "census"')
    """
    if table is None and len(tables) > 1:
        raise InvalidArgument("there are several tables here", hint=f"name one of {', '.join(tables)}")
    asked = tables[0] if table is None else table
    name = next((each for each in tables if each.casefold() == str(asked).casefold()), None)
    if name is None:
        close = nearest(str(asked), tables)
        hint = f"did you mean {close!r}?" if close else f"there are {', '.join(tables)}"
        raise InvalidArgument(f"there is no private table {str(asked)[:70]!r} here", hint=hint)
    if columns is None:
        return f"SUMMARIZE {quoted(name)}"
    if isinstance(columns, str) or not columns or not all(isinstance(each, str) for each in columns):
        raise InvalidArgument(
            "columns are named in a list", hint=Hint('columns=["age", "sex"]', cli="--columns age,sex")
        )
    return f"SUMMARIZE SELECT {', '.join(map(quoted, columns))} FROM {quoted(name)}"  # noqa: S608 — names are quoted


def quoted(name: str) -> str:
    """A name as SQL has it: in quotes, so that it may be any."""
    return '"' + name.replace('"', '""') + '"'


class Summary(list[Answer]):
    """A summary of a table: a list of answers, one about the table and one about each of its columns, as one table.

    Each is an answer like any other, with its intervals, its certificate and its signature.

    Args:
        answers: as they were given.
        table: what is declared of it, as the public schema has it.

    Examples:
        >>> found = census.summary(epsilon=1)                                # doctest: +SKIP
        >>> found.column("age")["age mean"], len(found)                      # doctest: +SKIP
        ([38.61], 9)
    """

    def __init__(self, answers: Iterable[Answer], table: Mapping[str, Any]) -> None:
        super().__init__(answers)
        self.table = table

    @classmethod
    def of(cls, answers: Sequence[Answer], tables: Sequence[Mapping[str, Any]]) -> Self | None:
        """The summary that answers are, of the table that their certificate names; None if it names none of these.

        Args:
            answers: as they were given.
            tables: as the public schema has them.
        """
        text = str(answers[0].certificate.get("text")) if answers else ""
        first = text.split(";\n")[0]
        table = next((each for each in tables if first.endswith(f" FROM {quoted(each['name'])}")), None)
        return None if table is None else cls(answers, table)

    @property
    def cost(self) -> Cost:
        """The cost of all of it together, when it was released."""
        one = self[0]
        whole = one.certificate.get("cost")
        if not whole:
            return one.cost
        return Cost.from_json(whole) if one.first is None else Cost.from_json(whole).plus(one.first)

    def column(self, name: str) -> Answer:
        """The answer about a column.

        Raises:
            InvalidArgument: there is none: it names units, it was left out, or nothing is declared of it.
        """
        for column, answer in self._about():
            if column["name"] == name:
                return answer
        known = [column["name"] for column, _ in self._about()]
        raise InvalidArgument(f"the summary has nothing of a column {name!r}", hint=f"it has {', '.join(known)}")

    def rows(self) -> list[dict[str, Any]]:
        """A row for each column: its name and kind, and of `PARTS` what was asked, as noisy numbers."""
        return [
            {"column": column["name"], "kind": column["kind"], **dict.fromkeys(PARTS), **_values(column, answer)}
            for column, answer in self._about()
        ]

    def sheet(self) -> tuple[list[str], list[list[str]]]:
        """The table as text, each noisy number with its ±: the names of its columns, and its rows."""
        found = [(column, _texts(column, answer)) for column, answer in self._about()]
        parts = [part for part in PARTS if any(part in texts for _, texts in found)]
        names = ["column", "declared", *(PARTS[part] for part in parts)]
        return names, [
            [column["name"], _declared(column), *(texts.get(part, "") for part in parts)] for column, texts in found
        ]

    def counts(self) -> Mapping[str, Sequence[Count]]:
        """By column how many rows have each of its keys, the most frequent first, and none of them last."""
        return {
            column["name"]: _counts(column, answer) for column, answer in self._about() if _is_counted(column, answer)
        }

    def charts(self) -> list[Chart]:
        """How many rows have each key, as a chart for each column that has keys."""
        return [chart for name in self.counts() for chart in self.column(name).charts()]

    def to_svg(self) -> str:
        """A picture of how many rows have each key, as SVG: the text of a file.

        Raises:
            InvalidArgument: no column has keys.
        """
        return svg(drawn(self.charts()), alone=True)

    def long(self) -> Iterator[tuple[str | None, str, str | None, Any, Any, Any]]:
        """Each number in a row of its own: column, part, key, value, and the ends of its interval."""
        for name in self[0].names:
            yield from _numbers(None, name, None, self[0], name)
        for column, answer in self._about():
            if _is_counted(column, answer):
                yield from _numbers(column["name"], "rows", column["name"], answer, f"{column['name']} rows")
            for part, name in _named(column, answer).items():
                yield from _numbers(column["name"], part, None, answer, name)

    @property
    def headline(self) -> str:
        """The table, and how many rows and units there are."""
        first = self[0]
        words = [f"{cell_texts(first.column(name), first.interval(name))[0]} {name}" for name in first.names]
        return f"{self.table['name']}: {', '.join(words)}"

    def notes(self, door: Door = "python") -> tuple[Note, ...]:
        """The lines that belong under the table: each that some answer has, once; what is left out; and the cost."""
        every = [note for answer in self for note in answer.notes(door) if note.title not in {"cost", "left", "limits"}]
        cut_off = self[0].cut_off  # the same of all
        unsaid = "; no ± shows what that leaves out" if cut_off is None else ""
        every += [Note("limits", f"{answer.limits}{unsaid}") for answer in self if answer.limits]
        if cut_off is not None:
            every += [Note("limits", words) for words in (str(cut_off), cut_off.upper_ends) if words]
        told = {column["name"] for column, _ in self._about()}
        rest = [column["name"] for column in self.table["columns"] if column["name"] not in told]
        left = [Note("left out", ", ".join(rest))] if rest else []
        over = [Note("left", self[0].left)] if self[0].left else []
        return (*_merged(every), *left, Note("cost", self.price), *over)

    @property
    def price(self) -> str:
        """The cost for someone who asks now, in words."""
        words = list(dict.fromkeys(answer.price for answer in self))
        if len(words) == 1 and not self[0].reused:
            return words[0]
        paid = [answer for answer in self if answer.entry and not answer.reused and not answer.origin]
        return f"{self.cost}, entry {paid[0].entry}" if paid else words[0]

    def to_json(self) -> dict[str, Any]:
        """The summary as JSON-ready data: the answers, each with its signature, and beside them the one table."""
        names, rows = self.sheet()
        return {
            "table": self.table["name"],
            "summary": [dict(zip(names, row, strict=True)) for row in rows],
            "cost": self.cost.to_json(),
            "answers": [answer.to_json() for answer in self],
        }

    def to_pandas(self) -> pd.DataFrame:
        """`rows` as a pandas frame; needs pandas."""
        import pandas as pd

        return pd.DataFrame(self.rows()).set_index("column")

    def __repr__(self) -> str:
        """As it is printed."""
        return str(self)

    def __str__(self) -> str:
        names, rows = self.sheet()
        blocks = [self.headline, table_text(names, rows)] if rows else [self.headline]
        blocks += [counts_text(name, counts) for name, counts in self.counts().items()]
        return "\n\n".join([*blocks, "\n".join(f"{title:<9}{words}" for title, words in self.notes())])

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        names, rows = self.sheet()
        counts = [
            table([name, "rows"], [[one.key, one.words] for one in each], numbers=[1])
            for name, each in self.counts().items()
        ]
        pictures = (svg(chart.drawing()) for chart in self.charts())
        return framed(
            table(names, rows, numbers=range(2, len(names)), caption=self.headline),
            *counts,
            *pictures,
            notes(self.notes()),
        )

    def _about(self) -> Iterator[tuple[Mapping[str, Any], Answer]]:
        """The columns that something is said of, in their order, each with its answer."""
        found = {_subject(answer): answer for answer in self[1:]}
        for column in self.table["columns"]:
            if (answer := found.get(column["name"])) is not None:
                yield column, answer


def with_left(answers: Answer | list[Answer], words: str) -> Answer | list[Answer]:
    """Answers that say what is left after them, of the kind that they are; an explanation leaves what there was."""
    if isinstance(answers, Answer):
        return answers if isinstance(answers, Explanation) else answers.__replace__(left=words)
    found = [answer.__replace__(left=words) for answer in answers]
    return Summary(found, answers.table) if isinstance(answers, Summary) else found


def _numbers(
    column: str | None, part: str, keys: str | None, answer: Answer, name: str
) -> Iterator[tuple[str | None, str, str | None, Any, Any, Any]]:
    """The numbers of one column of an answer, each with its key, if there is one, and its interval."""
    named = [None] * len(answer) if keys is None else ["NULL" if key is None else str(key) for key in answer[keys]]
    for key, value, ends in zip(named, answer[name], answer.interval(name), strict=True):
        yield column, part, key, value, *(ends or (None, None))


def table_text(names: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table as text: names to the left, numbers to the right."""
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    lines = [names, ["─" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.ljust(width) if place < 2 else cell.rjust(width)  # noqa: PLR2004 — the name, and what is declared
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )


def counts_text(name: str, counts: Sequence[Count], longest: int = BAR) -> str:
    """The keys of a column as text, each with its rows and a bar of at most so many characters."""
    keys = [name, *(one.key for one in counts)]
    words = ["rows", *(one.words for one in counts)]
    bars = ["" if counts else "none that enough people share", *(one.bar(longest) for one in counts)]
    wide, long = max(map(len, keys)), max(map(len, words))
    rows = zip_longest(keys, words, bars)
    return "\n".join(f"{key:<{wide}}  {word:>{long}}  {bar}".rstrip() for key, word, bar in rows)


def _subject(answer: Answer) -> str:
    """The column that an answer is about: its parts are named after it, and of keys the first column is."""
    first = answer.names[0]
    subject, _, part = first.rpartition(" ")
    return subject if part in PARTS and f"{first} rows" not in answer.names else first


def _is_counted(column: Mapping[str, Any], answer: Answer) -> bool:
    """Whether an answer counts rows by the keys of a column."""
    return f"{column['name']} rows" in answer.names


def _named(column: Mapping[str, Any], answer: Answer) -> dict[str, str]:
    """The names of an answer's columns, by the parts that they are."""
    return {part: name for part in PARTS if (name := f"{column['name']} {part}") in answer.names}


def _values(column: Mapping[str, Any], answer: Answer) -> dict[str, Any]:
    """What an answer says of a column, by part."""
    if _is_counted(column, answer):
        missing = _missing(column, answer)
        return {} if missing is None else {"missing": missing.rows}
    return {part: answer[name][0] for part, name in _named(column, answer).items()}


def _texts(column: Mapping[str, Any], answer: Answer) -> dict[str, str]:
    """The same as text."""
    if _is_counted(column, answer):
        missing = _missing(column, answer)
        return {} if missing is None else {"missing": missing.words}
    texts = {
        part: cell_texts(answer.column(name), answer.interval(name))[0] for part, name in _named(column, answer).items()
    }
    return {part: _SECONDS.sub(r"\1", text) for part, text in texts.items()} if column["kind"] == "timestamp" else texts


def _counts(column: Mapping[str, Any], answer: Answer) -> list[Count]:
    """The keys of a column, the most frequent first."""
    name = f"{column['name']} rows"
    keys, rows = answer[column["name"]], answer[name]
    words = cell_texts(answer.column(name), answer.interval(name))
    most = max((number for number in rows if number is not None), default=0)
    found = [
        Count(
            key="NULL" if key is None else str(key),
            rows=number,
            words=said,
            part=max(number or 0, 0) / most if most > 0 else 0.0,
            missing=key is None or (column["keys"] is not None and _is_missing(key, column["keys"])),
        )
        for key, number, said in zip(keys, rows, words, strict=True)
    ]
    return sorted(found, key=lambda one: (one.missing, -(one.rows or 0)))


def _missing(column: Mapping[str, Any], answer: Answer) -> Count | None:
    """How many rows have no key; None if that isn't counted, or isn't among those that are shown."""
    return next((one for one in _counts(column, answer) if one.missing), None)


def _is_missing(key: object, keys: Sequence[object]) -> bool:
    """Whether a key stands for those that aren't declared."""
    return isinstance(key, str) and key.strip("()") == "missing" and key not in keys


def _declared(column: Mapping[str, Any]) -> str:
    """What is declared of a column, in few words."""
    if column["bounds"] is not None:
        return f"{column['kind']}, {' to '.join(map(_end, column['bounds']))}"
    return column["kind"] if column["keys"] is None else f"{column['kind']}, {len(column['keys']):,} keys"


def _end(value: object) -> str:
    """An end of bounds, to read; of a time without a clock that says nothing."""
    if isinstance(value, float):
        return f"{value:,.10g}"
    if isinstance(value, str):
        return value.replace("T", " ").removesuffix(" 00:00:00")
    return f"{value:,}" if isinstance(value, int) else str(value)


_CUT_OFF = "with what limits cut off"
"""Each answer says so of its own columns."""


def _merged(notes: Sequence[Note]) -> list[Note]:
    """Each note once; those about intervals in one line."""
    intervals = [note.words for note in notes if note.title == "±"]
    rest = [note for note in dict.fromkeys(notes) if note.title != "±"]
    if not intervals:
        return rest
    said = [words.partition("; ") for words in dict.fromkeys(intervals)]
    more = dict.fromkeys(part for _, _, words in said for part in words.split("; ") if part)
    if any(part.startswith(_CUT_OFF) for part in more):
        more = dict.fromkeys(
            [f"of counts and means {_CUT_OFF}", *(part for part in more if not part.startswith(_CUT_OFF))]
        )
    return [Note("±", "; ".join([said[0][0], *more])), *rest]
