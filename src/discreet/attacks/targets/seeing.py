"""Seeing sensitive values through answers: counts are asked for, kind of people by kind of people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from discreet.anonymity.records.column import Reals, Value, Whole
from discreet.anonymity.records.grouping import group
from discreet.anonymity.records.records import Records
from discreet.attacks.targets.answering import Answering
from discreet.attacks.targets.believing import believed
from discreet.attacks.targets.reply import Histogram
from discreet.attacks.targets.rows import On, paired
from discreet.attacks.targets.tally import Tally
from discreet.errors import InvalidArgument, NotTried


def see(  # noqa: PLR0913 — who is asked, about whom, by what and for what, each by name
    target: Answering,
    known: Records,
    on: On,
    sensitive: str,
    labels: Sequence[Value] | None = None,
    *,
    asked: Sequence[object] | None = None,
    near: Mapping[str, Sequence[object]] | None = None,
) -> Tally:
    """Ask for each kind of known people, and for each sensitive value, how many people have both, by the same row.

    Through the gateway that is one question for each kind, since no row has two values, and one about everybody. Where
    somebody may have several values, a second one about everybody asks how many people there are. If answers are exact
    that is asked of each kind, too; through noise its people are taken to have as many values each as everybody has. An
    answer with noise counts as what is to be expected given it, see `believed`. A kind is seen if all that was asked
    about it was answered; the others' people are of kind −1. Nothing more is asked once the budget refuses.

    Args:
        target: what answers.
        known: what is known of people, one row each; also which values the sensitive column can have, if it has one.
        on: by which columns.
        sensitive: the column.
        labels: its values, where what is known doesn't have them.
        asked: of each of these, what is asked for in its place, as `where` takes it.
        near: column → of each of its different values, in their order, the condition that is asked for in its place,
            as `where` takes it.

    Raises:
        InvalidArgument: nothing says which values the sensitive column can have.
        NotTried: not one kind was answered.

    Examples:
        >>> from discreet.anonymity import read
        >>> from discreet.attacks.targets.exact import Exact
        >>> exact = Exact({"age": [25, 25, 31], "ill": ["flu", "cold", "flu"]})
        >>> seen = see(exact, read({"age": [31, 25]}), ["age"], "ill", ["cold", "flu"])
        >>> seen.of_person.tolist(), seen.counts.tolist(), seen.values.tolist()
        ([0, 1], [1.0, 1.0, 1.0], [1, 0, 1])
    """
    if labels is None:
        if sensitive not in known.names:
            raise InvalidArgument(f"which values {sensitive!r} can have must be known", hint="hand in labels=[…]")
        labels = known.column(sensitive).labels()
    pairs = paired(on)
    columns = [known.column(name) for name in pairs]
    kinds = group([column.codes for column in columns], [column.size for column in columns])
    values = [(near or {}).get(column.name, column.labels()) for column in columns]
    of_person = kinds.of_row()
    firsts = np.unique(of_person, return_index=True)[1]
    order = np.argsort(firsts)  # in the order of the people, so that whom the budget lasts for isn't a matter of values
    sought = labels if asked is None else asked
    everybody = target.by_value(sensitive, sought, {})
    people = target.count({}).value if target.overlaps else None
    most, common = _common(everybody, len(labels), people)
    answers: list[list[float]] = []
    among: list[float] = []
    deviation = 0.0
    for codes in [] if everybody.refusal else kinds.tuples()[order].tolist():
        where = {name: labelled[code] for name, labelled, code in zip(pairs.values(), values, codes, strict=True)}
        told = target.by_value(sensitive, sought, where)
        if told.refusal:
            break
        deviation = told.deviation or 0.0
        answers.append([told.counts[place,] for place in range(len(labels))])
        if target.overlaps and not deviation:
            among.append(target.count(where).value or 0.0)
    if not answers:
        raise NotTried("the budget doesn't last for one person", hint="offer less per question")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    counts = believed(np.array(answers, dtype=np.float64), deviation, common, most)
    tally = _tallied(counts, place[of_person], sensitive, (tuple(labels), common))
    if not target.overlaps:
        return tally
    there = np.array(among) if among else counts.sum(axis=1) / max(float(common.sum()), 1.0)
    return replace(tally, among=np.maximum(there, counts.max(axis=1)), noisy=deviation > 0)


def _common(everybody: Histogram, values: int, people: float | None) -> tuple[float, Reals]:
    """How many people there seem to be, and which share of them has each value: half a person's at the least.

    Args:
        everybody: how many have each value.
        values: how many values there are.
        people: how many people there are, where somebody may have several values; else None.
    """
    some = np.array([max(everybody.counts.get((place,), 0.0), 0.5) for place in range(values)])
    most = float(some.sum() if people is None else max(people, some.max()))
    return most, some / most


def _tallied(counts: Reals, of_person: Whole, sensitive: str, seen: tuple[tuple[Value, ...], Reals]) -> Tally:
    """Answers as a tally, of values that were seen in such shares."""
    kind, value = np.nonzero(counts)
    labels, common = seen
    return Tally(
        sensitive=sensitive,
        labels=labels,
        of_person=np.where(of_person < len(counts), of_person, -1),
        starts=np.searchsorted(kind, np.arange(len(counts) + 1)),
        values=value,
        counts=counts[kind, value],
        priors=common,
    )
