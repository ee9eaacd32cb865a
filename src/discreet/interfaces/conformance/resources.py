"""Attacks on what questions take: time and memory that one person decides, and room in slots and ledger."""

from __future__ import annotations

from collections.abc import Iterator
from math import comb
from time import monotonic

from discreet.errors import NotTried
from discreet.interfaces.conformance.target import OK, Target
from discreet.interfaces.conformance.trial import Trial
from discreet.interfaces.conformance.wire import Reply

FALSE_ALARM = 1e-9
"""The probability, at most, that failures are blamed on whom a question is about when they have nothing to do with
it.
"""

MOST_PAIRS = 17
"""How many times both are asked: the fewest after which failures of only one can't be chance."""

_MOST_SHARE = 0.01
"""The part of a question's time that one person may move."""

_LONGEST = 20.0
"""A question with more seconds than that is only planned: asking it would keep a slot from others."""

_SOMEBODY, _NOBODY = 1, 10**15
_LONG, _SEGMENT, _PATTERNS, _TEXTS = 1000, 1500, 20, 16
_DAY = 86_400
_CREATED = 201

_MOST_VALUES = 100_000
_MOST_CHARACTERS = 65_536
_ROUNDED = 0.01
"""Amounts that are left are written with three digits."""

_TOGETHER = 200
"""How many questions a workload has, which reads tables as many times."""


def bombs(target: Target, trial: Trial) -> None:
    """Questions that one person's row makes expensive: refused, or answered alike whether there is such a person."""
    for what, template in _bombs(target):
        planned = [target.plan(_about(target, template, person)) for person in (_SOMEBODY, _NOBODY)]
        known = len({each.status for each in planned}) == 1
        trial.check(known, f"whether {what} are planned depends on whom they are about")
        if not known or planned[0].status != OK:
            continue
        steps = {str(each.data.get("step")) for each in planned}
        trial.check(len(steps) == 1, f"the time that {what} have depends on whom they are about")
        is_bounded = all(map(_is_bounded, planned))
        trial.check(is_bounded, f"a plan doesn't bound how long one person makes {what}")
        if is_bounded and float(planned[0].data["seconds"]) <= _LONGEST:
            _answered_alike(target, trial, what, template)


def _about(target: Target, template: str, person: int) -> str:
    """A question about someone that wasn't asked before, so that its answer isn't stored."""
    return template.replace("$ID", str(person)).replace("$N", str(_NOBODY + target.number()))


def _is_bounded(planned: Reply) -> bool:
    """Whether a plan says that one person can't move its time by more than a hundredth."""
    work = planned.data.get("work")
    return isinstance(work, dict) and 0 < float(work["seconds"]) <= _MOST_SHARE * float(planned.data["step"])


def _bombs(target: Target) -> Iterator[tuple[str, str]]:
    """Descriptions of expensive questions, and the questions, about the person `$ID` and different for each `$N`.

    Raises:
        NotTried: no table has a column that tells people apart.
    """
    table, column = _of_numbers(target)
    letters, tail = "a" * _LONG, "a" * _SEGMENT
    row = (
        f"SELECT {column} AS u, CASE WHEN {column} > 0 THEN '{letters}' ELSE '' END AS l FROM {table} "  # noqa: S608 — it is sent to be refused or planned
        f"WHERE {column} = $ID AND {column} <> $N"
    )
    person, eight = f"({row})", f"({' UNION ALL '.join([row] * 8)})"
    long, pattern = "||".join(["l"] * _TEXTS), f"%_{tail}b%"
    patterns = [f"%_{'a' * (_SEGMENT - n)}b%" for n in range(_PATTERNS)]
    pairs = f"{eight} a JOIN {eight} b ON a.u = b.u AND a.l = b.l"
    for what, source in (
        ("long patterns", f"{person} a WHERE {' OR '.join(f'({long}) LIKE {each!r}' for each in patterns)}"),
        ("patterns over pairs", f"{pairs} WHERE {' OR '.join(f'(a.l||b.l) LIKE {each!r}' for each in patterns)}"),
        ("pairs of pairs", f"{pairs} JOIN {eight} c ON a.u = c.u WHERE a.l||b.l||c.l LIKE '{pattern}'"),
        ("long texts", f"{eight} a WHERE {' OR '.join([f'UPPER(LOWER({long})) <> TRIM({long})'] * _PATTERNS)}"),
        (
            "patterns in EXISTS",
            f"{eight} a WHERE EXISTS (SELECT 1 FROM {eight} b WHERE b.u = a.u AND {long} LIKE '{pattern}')",  # noqa: S608 — as above
        ),
        (
            "windows over long texts",
            f"(SELECT ROW_NUMBER() OVER (PARTITION BY u ORDER BY {long}) AS r FROM {eight} a) b",  # noqa: S608 — as above
        ),
    ):
        yield what, f"SELECT COUNT(*) AS n FROM {source}"  # noqa: S608 — as above
    yield "distinct long texts", f"SELECT COUNT(DISTINCT {long}) AS n FROM {eight} a"  # noqa: S608 — as above


def _of_numbers(target: Target) -> tuple[str, str]:
    """A private table, and a column of whole numbers in it: the unit of privacy, if it is one.

    Raises:
        NotTried: there is none.
    """
    for table in target.send("GET", "/v1/dataset", target.analyst).data["tables"]:
        columns = [each["name"] for each in table["columns"] if each["kind"] == "integer"]
        columns.sort(key=lambda name: name != table.get("unit"))
        if columns and not table.get("public"):
            return f'"{table["name"]}"', f'"{columns[0]}"'
    raise NotTried("no private table has a column of whole numbers")


def _answered_alike(target: Target, trial: Trial, what: str, template: str) -> None:
    """Ask about both in turn, again and again as long as one fails and the other doesn't.

    Raises:
        NotTried: so it is, but too few could be asked to say that it is no chance.
    """
    failed = [0, 0]
    for pairs in range(1, MOST_PAIRS + 1):
        for place, person in enumerate((_SOMEBODY, _NOBODY)):
            failed[place] += target.ask(_about(target, template, person), times=1).status != OK
        is_told = sorted(failed) == [0, pairs]
        if not is_told or 2 / comb(2 * pairs, pairs) <= FALSE_ALARM:
            trial.check(not is_told, f"whether {what} fail depends on whom they are about")
            return
    raise NotTried(f"{what} failed as if it depended on whom they are about, too few times to be sure")


def size(target: Target, trial: Trial) -> None:
    """Short questions with large answers, long ones, many at a time: refused; and what is taken is counted."""
    table, column = _of_numbers(target)
    keys = [f"GREATEST(LEAST({column}, {most}), 0)" for most in (499, 498, 497)]
    groups = f"SELECT COUNT(*) AS n FROM {table} WHERE {column} IS NOT NULL GROUP BY"  # noqa: S608 — as above
    for grouped in (", ".join(keys[:2]), f"CUBE({', '.join(keys[:2])})", ", ".join(keys), f"CUBE({', '.join(keys)})"):
        planned = target.plan(f"{groups} {grouped}")
        values = planned.data.get("values") if planned.status == OK else 0
        trial.check(values is not None and values <= _MOST_VALUES, f"one answer may have {values} values")
    (question,) = target.questions(1)
    for what, text in (
        ("spaces", f"{question}{' ' * _MOST_CHARACTERS}"),
        ("conditions", f"{question} AND {' AND '.join([f'{column} IS NOT NULL'] * 5000)}"),
    ):
        trial.check(
            target.plan(text).status != OK, f"a question with {_MOST_CHARACTERS:,} characters of {what} is planned"
        )
    named = [question.replace(" AS n", f" AS n{n}") for n in range(_TOGETHER)]
    for path in ("/v1/workloads/plans", "/v1/workloads"):
        body = {"questions": named, "epsilon": target.purse.take(target.offer)}
        reply = target.send("POST", path, target.analyst, body)
        trial.check(reply.status != OK, f"{_TOGETHER} questions are taken at a time")
    asked = {**target.body(question, {}), "purpose": "conformance " * 1000}
    if "/v1/requests" in target.described()["paths"]:
        reply = target.send("POST", "/v1/requests", target.analyst, asked)
        trial.check(reply.status != _CREATED, "the ledger takes a purpose of 12,000 characters")
    _counted(target, trial, question)


def _counted(target: Target, trial: Trial, question: str) -> None:
    """A question takes its part of a day's allowance, even if some grows back meanwhile."""
    begun, planned = monotonic(), target.plan(question).data
    before = target.spent()
    if target.ask(question, times=1).status != OK:
        return
    after = target.spent()
    seconds = monotonic() - begun
    for name, amount in (("slot_seconds", planned["seconds"]), ("ledger_bytes", planned["ledger_bytes"])):
        trial.check(name in before, f"the server doesn't say what is left of a day's {name}")
        if name in before:
            grown = before[name]["a_day"] / _DAY * seconds
            most = before[name]["remaining"] - amount + grown + _ROUNDED
            trial.check(after[name]["remaining"] <= most, f"a question takes nothing of a day's {name}")
