"""The choices: what each column is, what is promised, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.cli.common.shares import share_of
from discreet.errors import InvalidArgument

if TYPE_CHECKING:
    from discreet.anonymity.attributes import AttributeGuess, Attributes
    from discreet.anonymity.hierarchies import Hierarchy
    from discreet.anonymity.models import Model
    from discreet.anonymity.records import Records
    from discreet.tables.content import ColumnContent

_ALONE = 0.01
"""The share of people that a kept column may single out without a refusal: a few may have the greatest age, say."""


def _coarser(guess: AttributeGuess) -> AttributeGuess:
    """The guess for a release: a column that only seems to be a measure isn't released to the digit."""
    from discreet.anonymity.attributes import AttributeKind

    if not guess.is_measure:
        return guess
    why = "a measure, made coarser unless it is said to be sensitive"
    return replace(guess, kind=AttributeKind.QUASI_IDENTIFYING, reason=why)


@dataclass(frozen=True, slots=True, kw_only=True)
class Roles:
    """The role of each column.

    Args:
        columns: all columns of the table.
        identifying: those that name people; they are left out.
        quasi_identifying: those that an attacker may know; they are made coarser.
        sensitive: those that others must not learn; they stay as they are.
        kept: those by which nobody is known; they stay as they are.
        contents: what the values of each column look like.
        attributes: how that was guessed; None if it was said.
    """

    columns: tuple[str, ...]
    identifying: tuple[str, ...]
    quasi_identifying: tuple[str, ...]
    sensitive: tuple[str, ...]
    kept: tuple[str, ...]
    contents: Mapping[str, ColumnContent] = field(default_factory=dict, compare=False)
    attributes: Attributes | None = field(default=None, compare=False)

    @classmethod
    def of(
        cls,
        table: Records,
        identifying: Sequence[str] | None,
        quasi_identifying: Sequence[str] | None,
        sensitive: Sequence[str] | None,
        kept: Sequence[str] | None,
    ) -> Roles:
        """The roles that were said. Unless the quasi-identifiers were, those of all other columns are guessed.

        Raises:
            InvalidArgument: a column has two roles.
            SchemaMismatch: the table lacks a column.
        """
        from discreet.anonymity.attributes import confirm, guess_attributes

        said = [tuple(each or ()) for each in (identifying, quasi_identifying, sensitive, kept)]
        guesses = tuple(map(_coarser, guess_attributes(table)))
        found = confirm(
            guesses,
            identifying=said[0],
            quasi_identifying=said[1],
            sensitive=said[2],
            insensitive=said[3],
        )
        kinds = said
        if quasi_identifying is None:
            kinds = [found.identifying, found.quasi_identifying, found.sensitive, found.insensitive]
        return cls(
            columns=table.names,
            identifying=kinds[0],
            quasi_identifying=kinds[1],
            sensitive=kinds[2],
            kept=kinds[3],
            contents={each.column: each.content for each in guesses},
            attributes=found if quasi_identifying is None else None,
        )

    def require_known(self, rows: int) -> None:
        """Refuse a table without a quasi-identifying column: there is nothing to make coarser.

        Args:
            rows: of the table.

        Raises:
            InvalidArgument: no column is quasi-identifying.
        """
        if not self.quasi_identifying:
            guessed = self.attributes is not None
            why = "the table has no rows, so nothing is known about its columns" if guessed and not rows else ""
            raise InvalidArgument(
                why or "no column is quasi-identifying", hint="name them: --quasi-identifying COLUMNS"
            )

    def held(self, name: str) -> str:
        """The contents of a column that lead to people, in words; empty if none were seen."""
        from discreet.anonymity.attributes import told_by_content

        return " and ".join(map(str, told_by_content(name, self.contents[name]))) if name in self.contents else ""

    def require_harmless(self, table: Records, known: Sequence[str]) -> None:
        """Refuse to keep columns that single people out, gather their rows, or hold what leads to them.

        Sensitive columns may single people out, since by definition attackers don't know them. But what they hold and
        what they gather still counts: one needn't know an income to see which rows share it.

        Args:
            table: with the columns.
            known: columns that someone has confirmed with --yes-keep.

        Raises:
            InvalidArgument: there is one.
        """
        from discreet.anonymity.risk import gathered, uniqueness
        from discreet.anonymity.words import Noun, percent

        noun = Noun.of(() if table.units is None else table.units.names).many
        for name in (*self.kept, *self.sensitive):
            if name in known or not table.rows:
                continue
            alone = uniqueness(table, [name]).unique_share if name in self.kept else 0.0
            held = self.held(name)
            if held or alone > _ALONE:
                why = f"holds {held}" if held else f"singles out {percent(alone)} of the {noun} by itself"
                raise InvalidArgument(
                    f"{name!r} would be released as it is, and it {why}",
                    hint="leave it out, or make it coarser (--quasi-identifying); or, if you know what that means, "
                    f"--yes-keep {name}",
                )
        shown = [name for name in dict.fromkeys([*self.kept, *self.sensitive]) if name not in known]
        for each in gathered(table, shown, self.quasi_identifying):
            one = len(each.columns) == 1
            raise InvalidArgument(
                f"{each}; {'it' if one else 'they'} would be released as {'it is' if one else 'they are'}",
                hint=f"leave {'it' if one else 'one'} out, or make it coarser (--quasi-identifying); or, if you know "
                f"what that means, --yes-keep {','.join(each.columns)}",
            )

    @property
    def left_out(self) -> tuple[str, ...]:
        """Columns that aren't released: those that name people, and those of no kind."""
        shown = {*self.quasi_identifying, *self.sensitive, *self.kept}
        return tuple(name for name in self.columns if name not in shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """The promise, and how to reach it.

    Args:
        k: how many rows must look alike.
        diversity: how many values of each sensitive column they must have; None if that isn't asked for.
        closeness: how far their sensitive values may be from the table's; None if that isn't asked for.
        suppression: the share of rows that may be left out.
        loss: what is made as small as can be, by name.
        algorithm: by name, as the library has it.
        local_recoding: whether rows that would be left out are recoded by themselves.
        nodes: how many generalisations are tried at most; None for all that it takes.
        hierarchies: files, by column.
    """

    k: int
    diversity: int | None
    closeness: Fraction | None
    suppression: Fraction
    loss: str
    algorithm: str
    local_recoding: bool
    nodes: int | None
    hierarchies: Mapping[str, Path]

    @classmethod
    def of(  # noqa: PLR0913 — the options, each by name
        cls,
        *,
        k: int,
        diversity: int | None,
        closeness: str | None,
        suppression: str,
        loss: str,
        algorithm: str,
        local_recoding: bool,
        nodes: int | None,
        hierarchies: Sequence[str] | None,
    ) -> Choices:
        """Read the options.

        Raises:
            InvalidArgument: a number is out of range, or a hierarchy isn't COLUMN=FILE.
        """
        return cls(
            k=k,
            diversity=diversity,
            closeness=None if closeness is None else share_of(closeness, "t"),
            suppression=share_of(suppression, "suppression"),
            loss=loss,
            algorithm=algorithm,
            local_recoding=local_recoding,
            nodes=nodes,
            hierarchies=_files_of(hierarchies or ()),
        )

    def require_possible(self, table: Records, sensitive: Sequence[str]) -> None:
        """Refuse what no table of this many rows and values can keep, however coarse its columns become.

        Raises:
            InvalidArgument: k exceeds the units, or l the values of a sensitive column.
        """
        if 0 < table.counted < self.k:
            noun = "rows" if table.units is None else "units"
            raise InvalidArgument(
                f"--k {self.k} exceeds the number of {noun}: only {table.counted:,} could look alike",
                hint="ask for a smaller --k",
            )
        for name in sensitive:
            values = table.column(name).size
            if 0 < values < (self.diversity or 1):
                raise InvalidArgument(
                    f"--l {self.diversity} exceeds the number of values: {name!r} has only {values:,}",
                    hint="ask for a smaller --l",
                )

    def models(self, table: Records, sensitive: Sequence[str]) -> list[Model]:
        """The models to keep, each with the column that it is about.

        Raises:
            InvalidArgument: something is promised of sensitive columns, and there is none.
        """
        from discreet.anonymity.hierarchies.texts import is_number, is_time
        from discreet.anonymity.models import Closeness, DistinctDiversity, KAnonymity

        if not sensitive and (self.diversity is not None or self.closeness is not None):
            raise InvalidArgument(
                "--l and --t are about sensitive columns, and none is named", hint="--sensitive COLUMNS"
            )
        models: list[Model] = [KAnonymity(self.k)]
        for name in sensitive:
            values = table.column(name).values
            ranked = is_number(values) or is_time(values)
            if self.diversity is not None:
                models.append(DistinctDiversity(self.diversity, name))
            if self.closeness is not None:
                models.append(Closeness(self.closeness, name, distance="ordered" if ranked else "equal"))
        return models

    def read_hierarchies(self, quasi_identifying: Sequence[str]) -> dict[str, Hierarchy]:
        """Read the hierarchies that were given.

        Raises:
            InvalidArgument: one is for a column that isn't quasi-identifying, or isn't a hierarchy.
            SourceError: a file can't be read.
        """
        from discreet.anonymity.hierarchies import read_hierarchy
        from discreet.suggestions import did_you_mean

        for name in self.hierarchies:
            if name not in quasi_identifying:
                raise InvalidArgument(
                    f"there is a hierarchy for {name!r}, which isn't among the quasi-identifying columns",
                    hint=did_you_mean(name, quasi_identifying),
                )
        return {name: read_hierarchy(path) for name, path in self.hierarchies.items()}


def _files_of(given: Sequence[str]) -> dict[str, Path]:
    """Files by column.

    Raises:
        InvalidArgument: one isn't COLUMN=FILE, or a column has two.
    """
    files: dict[str, Path] = {}
    for each in given:
        name, equals, path = each.partition("=")
        if not (name and equals and path):
            raise InvalidArgument(f"a hierarchy can't be {each!r}", hint="--hierarchy age=ages.csv")
        if name in files:
            raise InvalidArgument(f"there are two hierarchies for {name!r}")
        files[name] = Path(path)
    return files
