"""Make a table anonymous by a model, with the least loss.

The algorithm in one screen, with the file in which each step is:

1. *Read.* Each column becomes codes, in the order of its values (`records.py`, `encode.py`). Quasi-identifiers that are
   texts and all dates become dates (`hierarchies/texts.py`). Columns without a role are dropped.
2. *Recode* the quasi-identifiers, by one of three algorithms:
   - *Optimal.* Each gets a hierarchy, given or proposed (`hierarchies/`). Distinct rows are counted once
     (`lattice_table.py`). A node is a level for each quasi-identifier; at a node, the rows of classes that miss a model
     are left out, if they are few enough. Nodes are evaluated (`lattice_problem.py`) in the order that rules out most
     others by bounds (`lattice_search.py`, `lattice_frontier.py`), until the one that loses least is proved to. The
     rows that it leaves out may be recoded again, at levels of their own (`local_recoding.py`).
   - *Mondrian.* All rows are one class. Each class is cut in two along its widest axis, at the median, as long as both
     halves meet the models (`partitioning.py`, `cutting.py`, `judge.py`). Each is shown as a range (`range_labels.py`).
   - *Microaggregation.* Groups of k rows or more that are near each other (`mdav.py`) are shown as their averages
     (`averages.py`).
3. *Check.* The table as it will be released is read again and its classes are counted. If one of them misses a model,
   nothing is released, whatever the steps before it claim (`anonymized.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, get_args

from discreet.anonymity.attributes import repeated
from discreet.anonymity.encode import encode
from discreet.anonymity.hierarchies.dates import Calendar
from discreet.anonymity.hierarchies.ladder import Hierarchy
from discreet.anonymity.hierarchies.propose import propose_hierarchy
from discreet.anonymity.hierarchies.texts import dated
from discreet.anonymity.loss.loss import Loss
from discreet.anonymity.loss.losses import loss_named
from discreet.anonymity.matching import places_of
from discreet.anonymity.models.k_anonymity import KAnonymity
from discreet.anonymity.models.model import Model
from discreet.anonymity.records import Missing, Records, Unit, population_of, read
from discreet.anonymity.reduce.anonymized import Anonymized, Made, finished
from discreet.anonymity.reduce.generalisation import Optimum, optimum
from discreet.anonymity.reduce.lattice_table import asked_size
from discreet.anonymity.reduce.local_recoding import recode_locally
from discreet.anonymity.reduce.microaggregation import microaggregate
from discreet.anonymity.reduce.mondrian import mondrian, mondrian_beside
from discreet.anonymity.repeated import Repeated
from discreet.anonymity.sharing import sharing_of
from discreet.errors import InvalidArgument
from discreet.exact.rational import Rationalizable
from discreet.hints import Hint

Algorithm = Literal["auto", "optimal", "mondrian", "relaxed mondrian", "microaggregation"]
"""How quasi-identifiers are recoded."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class _Task:
    """The arguments, read and checked.

    Args:
        records: the columns that will be released.
        quasi: names of the quasi-identifiers.
        sensitive: names of the sensitive columns.
        hierarchies: that were given.
        models: one or more.
        population: everyone the rows were drawn from; None if unknown.
        repeated: columns that identify and repeat, though nobody said whose a row is.
    """

    records: Records
    quasi: tuple[str, ...]
    sensitive: tuple[str, ...]
    hierarchies: Mapping[str, Hierarchy]
    models: tuple[Model, ...]
    population: Records | None
    repeated: tuple[Repeated, ...]


def anonymize(  # noqa: PLR0913 — a table, the roles of its columns, what is promised, and how
    table: object,
    *,
    quasi_identifiers: Sequence[str] | None = None,
    sensitive: Sequence[str] = (),
    identifying: Sequence[str] = (),
    insensitive: Sequence[str] = (),
    unit: Unit = None,
    hierarchies: Mapping[str, Hierarchy] | None = None,
    models: Sequence[Model] = (KAnonymity(5),),
    suppression: Rationalizable = Fraction(1, 20),
    loss: str | Loss = "ncp",
    algorithm: Algorithm = "optimal",
    local_recoding: bool = False,
    population: object | None = None,
    most_nodes: int | None = None,
    missing: Missing | str = Missing.OWN_VALUE,
) -> Anonymized:
    """Release a table whose equivalence classes meet the models, with the least loss.

    With `"optimal"`, each quasi-identifier is generalised to one level of its hierarchy and small classes are left out;
    the result comes with a proof that no other choice of levels loses less. `"mondrian"` cuts ranges that differ from
    class to class, `"microaggregation"` shows averages; both are greedy, and leave out no row. `"auto"` tries
    everything but averages, which aren't anyone's values, and takes what loses least; the result says what the others
    would lose.

    Guarantee: the release is a function of the multiset of rows, and every class of it meets every model: that is
    checked on the released table itself, and it isn't handed out otherwise. Nothing is guaranteed beyond that; see the
    result's `caveat`. With `unit`, models count the people or households that rows belong to. Even so they are about
    one row of each at a time: an attacker who knows several rows of a person may find them by these together.

    Columns that are named nowhere are not released: a forgotten column must not be a leak.

    Quasi-identifiers that are texts and all of them dates, such as 9/17/1967, are generalised as dates, unless they
    have a hierarchy of another kind.

    No cell of a quasi-identifier that has no hierarchy of yours shows a value that fewer than k people share, for the
    largest k that a model asks for: neither alone, nor as one end of a range, nor as a member of a set.

    A missing value is generalised like any other. The release shows a text for it, so nothing in it is a wildcard.

    Args:
        table: whatever `read` reads: a path, a `Source`, a frame, lists by name, or `Records`.
        quasi_identifiers: columns that an attacker may know; those that have hierarchies if left out.
        sensitive: columns that others must not learn; they are released as they are. Those that models name are added.
        identifying: columns that name people on their own; they are not released.
        insensitive: other columns to release as they are. Nobody must know a person by them.
        unit: the column, or columns, that say whose a row is: a person's or a household's number. Rows of one unit are
            counted as one, and the column isn't released. `()` says that each row is a unit of its own. If it is left
            out and a column that identifies repeats, the result says that rows were counted.
        hierarchies: of quasi-identifiers. For the optimal search, the others get what `propose_hierarchy` proposes.
        models: one or more.
        suppression: the share of units of which rows may be left out, in [0, 1], exactly; the optimal search alone
            does.
        loss: what is minimised, by name ("ncp", "arx", "arx_geometric", "precision", "entropy",
            "discernibility", "class_size") or as it is.
        algorithm: "auto", "optimal", "mondrian", "relaxed mondrian" or "microaggregation".
        local_recoding: whether the rows that the optimum leaves out are recoded separately, so that fewer are lost.
        population: a table of everyone the rows were drawn from, for models about a population. If it lacks the columns
            of `unit`, each of its rows is a unit.
        most_nodes: how many generalisations the search may evaluate; None for as many as the proof takes.
        missing: what a missing value is taken to be; "refuse" makes it an error.

    Raises:
        InvalidArgument: the models can't be met (the message says what would have to give), or an argument is wrong.
        SchemaMismatch: the table lacks a column, or a hierarchy lacks values of one.
        SourceMissing: the file isn't there.
        SourceUnsupported: it isn't a table that can be read.

    Examples:
        >>> from discreet.anonymity.hierarchies import Digits
        >>> table = {"age": [42, 46, 36, 31, 35, 73], "ill": ["flu", "cold", "flu", "flu", "cold", "flu"]}
        >>> found = anonymize(
        ...     table, hierarchies={"age": Digits()}, sensitive=["ill"], models=[KAnonymity(2)], suppression=0.2
        ... )
        >>> found.table.to_pydict()["age"], found.suppressed, dict(found.reached)
        (['30', '30', '30', '40', '40'], 1, {'2-anonymity': 2.0})
    """
    for columns in (quasi_identifiers, sensitive, identifying, insensitive):
        if isinstance(columns, str):
            raise InvalidArgument("columns are a list of names", hint=f"[{columns!r}]")
    records = read(table, unit=unit, missing=missing)
    calendars = (
        name
        for name in (hierarchies or {} if quasi_identifiers is None else quasi_identifiers)
        if isinstance((hierarchies or {}).get(name, Calendar()), Calendar)
    )
    records, as_dates = dated(records, calendars)
    task = _task(
        records,
        quasi=tuple(hierarchies or {}) if quasi_identifiers is None else tuple(quasi_identifiers),
        sensitive=tuple(sensitive),
        identifying=records.identifying(identifying),
        insensitive=tuple(insensitive),
        hierarchies=hierarchies or {},
        models=_listed(models),
        population=population,
        repeated=() if unit is not None else repeated(records, identifying),
    )
    chosen = loss_named(loss)
    if local_recoding and algorithm not in {"auto", "optimal"}:
        raise InvalidArgument("local recoding continues the optimal search", hint="take the algorithm 'optimal'")
    if algorithm == "auto":
        release = _least(task, suppression, chosen, most_nodes, local=local_recoding)
    elif algorithm == "optimal":
        release = _finished(
            task,
            _recoded(task, _searched(task, suppression, chosen, most_nodes), chosen, most_nodes, local=local_recoding),
        )
    else:
        release = _finished(task, _greedy(task, algorithm))
    return replace(release, repeated=task.repeated, dated=as_dates)


def _finished(task: _Task, made: Made) -> Anonymized:
    """A release, checked, with what the search minimised among its losses."""
    release = finished(task.records, made, task.models, task.sensitive)
    if made.search is None or made.algorithm != "optimal":
        return release
    return replace(release, losses={made.search.loss_name: float(made.search.loss), **release.losses})


def _least(task: _Task, suppression: Rationalizable, loss: Loss, most_nodes: int | None, *, local: bool) -> Anonymized:
    """The release that loses least, with what the others lose; of equals, the one tried first.

    Raises:
        InvalidArgument: none meets the models. It says why the first one doesn't.
    """
    releases: list[Anonymized] = []
    refused: InvalidArgument | None = None
    try:
        first = _searched(task, suppression, loss, most_nodes)
        again = {local, local or first.search.suppressed > 0}
        releases += [_finished(task, _recoded(task, first, loss, most_nodes, local=each)) for each in sorted(again)]
    except InvalidArgument as error:
        if task.hierarchies:  # ranges of groups would go beyond what they say
            raise
        refused = error
    for algorithm in ("mondrian", "relaxed mondrian"):
        try:
            releases.append(_finished(task, _greedy(task, algorithm)))
        except InvalidArgument as error:
            refused = refused or error
    told = [release for release in releases if loss.name in release.losses]
    if not told:
        raise refused or InvalidArgument(
            f"nothing tells {loss.name!r}", hint="another loss, or the algorithm 'optimal'"
        )
    best = min(told, key=lambda release: release.losses[loss.name])
    return replace(best, tried={release.algorithm: release.losses[loss.name] for release in told})


def _task(  # noqa: PLR0913 — the roles of columns, by name
    records: Records,
    *,
    quasi: tuple[str, ...],
    sensitive: tuple[str, ...],
    identifying: tuple[str, ...],
    insensitive: tuple[str, ...],
    hierarchies: Mapping[str, Hierarchy],
    models: tuple[Model, ...],
    population: object | None,
    repeated: tuple[Repeated, ...],
) -> _Task:
    """Check the roles of columns, and drop columns that have none.

    Raises:
        InvalidArgument: a column has two roles, there is no quasi-identifier or no model, or a hierarchy is for none.
        SchemaMismatch: the table lacks a column.
    """
    sensitive = tuple(dict.fromkeys([*sensitive, *(model.sensitive for model in models if model.sensitive)]))
    if not quasi:
        raise InvalidArgument(
            "no quasi-identifier is named",
            hint=Hint("quasi_identifiers=[…], or hierarchies of them", cli="--quasi-identifying COLUMNS"),
        )
    if not models:
        raise InvalidArgument(
            "no model is named, so there is nothing to promise", hint=Hint("models=[KAnonymity(5)]", cli="--k 5")
        )
    named = [*quasi, *sensitive, *identifying, *insensitive]
    for name in named:
        records.column(name)
        if named.count(name) > 1:
            raise InvalidArgument(f"the column {name!r} is named twice", hint="each column has one role")
    for name in hierarchies:
        if name not in quasi:
            raise InvalidArgument(f"there is a hierarchy for {name!r}, which isn't a quasi-identifier")
    shown = [name for name in records.names if name in {*quasi, *sensitive, *insensitive}]
    people = (
        None if population is None else replace(population_of(population, quasi, records), missing=Missing.OWN_VALUE)
    )
    return _Task(
        records=replace(records.only(shown), missing=Missing.OWN_VALUE),
        quasi=quasi,
        sensitive=sensitive,
        hierarchies=hierarchies,
        models=models,
        population=people,
        repeated=repeated,
    )


def _listed(models: object) -> tuple[Model, ...]:
    """The models, if they are a list of models.

    Raises:
        InvalidArgument: they aren't.
    """
    listed = tuple(models) if isinstance(models, Iterable) else (None,)
    if not all(hasattr(each, "measure") and hasattr(each, "sensitive") for each in listed):
        raise InvalidArgument("models are a list of models", hint=Hint("models=[KAnonymity(5)]", cli="--k 5"))
    return listed


def _searched(task: _Task, suppression: Rationalizable, loss: Loss, most_nodes: int | None) -> Optimum:
    """Full-domain generalisation."""
    hierarchies = {
        name: task.hierarchies[name]
        if name in task.hierarchies
        else propose_hierarchy(column, sharing=sharing_of(task.records, column, asked_size(task.models))).hierarchy
        for name, column in ((name, task.records.column(name)) for name in task.quasi)
    }
    return optimum(
        task.records,
        hierarchies,
        task.models,
        suppression=suppression,
        loss=loss,
        population=task.population,
        most_nodes=most_nodes,
    )


def _recoded(task: _Task, first: Optimum, loss: Loss, most_nodes: int | None, *, local: bool) -> Made:
    """The optimum; with `local`, what it leaves out is recoded, too."""
    if local:
        recoding = recode_locally(first, task.models, loss, most_nodes=most_nodes).recoding
        return Made(algorithm="optimal with local recoding", recoding=recoding, search=first.search)
    people = None if task.population is None else _generalised(task.population, first)
    return Made(algorithm="optimal", recoding=first.recoding, search=first.search, population=people)


def _greedy(task: _Task, algorithm: str) -> Made:
    """Mondrian and microaggregation.

    Raises:
        InvalidArgument: there is no such algorithm.
    """
    if algorithm == "microaggregation":
        return Made(algorithm=algorithm, recoding=microaggregate(task.records, task.quasi, task.models).recoding)
    if algorithm not in get_args(Algorithm):
        raise InvalidArgument(f"there is no algorithm {algorithm!r}", hint=f"one of {', '.join(get_args(Algorithm))}")
    ladders = {name: each.ladder(task.records.column(name)) for name, each in task.hierarchies.items()}
    relaxed = algorithm == "relaxed mondrian"
    if task.population is not None and not relaxed and not ladders:
        beside = mondrian_beside(task.records, task.quasi, task.models, task.population)
        return Made(algorithm=algorithm, recoding=beside.recoding, population=beside.population)
    recoding = mondrian(
        task.records, task.quasi, task.models, relaxed=relaxed, ladders=ladders, population=task.population
    )
    return Made(algorithm=algorithm, recoding=recoding)


def _generalised(population: Records, found: Optimum) -> Records:
    """The population at the levels that were chosen, as texts, to compare the release with."""
    import pyarrow as pa

    columns = {}
    for column, ladder, level in zip(found.table.columns, found.table.ladders, found.levels, strict=True):
        theirs = population.column(column.name)
        labels = pa.array(ladder.labels[level], pa.string())
        groups = ladder.maps[level][places_of(column, theirs)]
        columns[column.name] = encode(column.name, pa.DictionaryArray.from_arrays(groups[theirs.codes], labels))
    return Records(columns=columns, rows=population.rows, units=population.units)
