"""Every error discreet raises, in one tree.

    DiscreetError
    ├── InvalidArgument          a number, name or shape handed to a function is wrong
    │   ├── NotTried             with these arguments an attack has nothing to try, so it is neither right nor wrong
    │   └── OfferRequired        nothing says what a question may cost, or how accurate it must be
    ├── ExtraMissing             an optional part of discreet isn't installed
    ├── ConfigError              discreet.toml can't be read as a configuration
    ├── DeclarationWeakened      what is declared now weakens what was promised, and nobody has said by name that it may
    ├── SourceError
    │   ├── SourceMissing        the file, table or database isn't there
    │   ├── SourceUnsupported    it is there, but nothing here can read it
    │   ├── SourceMalformed      some of its records aren't whole; the lines are named
    │   └── SchemaMismatch       it lacks a declared column, or the column has another type
    ├── SnapshotError            the admitted tables can't be used; nothing was charged
    │   ├── NotAdmitted          nothing was admitted yet, or not these tables, or not as they are declared now
    │   ├── TooMuchUnreadable    more of a table can't be read than its custodian puts up with
    │   ├── SnapshotMissing      a version's files aren't where they were put, or aren't what was written
    │   ├── SnapshotChanged      a file that was admitted in place has changed since, or is gone
    │   └── AdmissionConflict    another process has admitted a version since this admission began
    ├── EngineUnavailable        the engine can't be started, or can't do what the question takes
    ├── QueryError               the question is refused; nothing was charged
    │   ├── SqlSyntax            it isn't SQL
    │   ├── NotOneSelect         two statements, DDL, or anything that isn't a single SELECT
    │   ├── UnknownTable
    │   ├── UnknownColumn
    │   ├── UnknownFunction
    │   ├── TypeMismatch         a function was given kinds of values it doesn't take
    │   ├── UngroupedColumn      a row's own value would be released
    │   ├── UnboundedColumn      a sum whose size no declaration limits
    │   ├── DeltaRequired        groups aren't public and no δ was given to select them
    │   ├── LimitsRequired       a unit may have many rows, and nothing says how many count, nor can it be found out
    │   ├── TooManyGroups        the public keys multiply to more groups than can be answered
    │   ├── TooManyValues        an answer would release more numbers than a server lets one have
    │   └── Unsupported          SQL that discreet can't bound
    ├── BudgetError              the question is understood but can't be paid for; nothing was charged
    │   ├── BudgetExhausted
    │   ├── LossNotAccepted      the account can't hold a loss of this kind
    │   ├── TooManyFailures      as many questions failed as may, until the custodian has looked
    │   └── AccuracyUnreachable  no cost within the budget reaches the asked accuracy
    ├── LedgerError              the account can't be used; no data was touched
    │   ├── LedgerMissing
    │   ├── LedgerUnavailable    read-only, full, locked or unreachable
    │   ├── LedgerVersion        written by another version
    │   ├── LedgerCorrupt        its hash chain or a recomputed loss doesn't hold
    │   └── AccountClosed        it was closed in this process, and is used again
    ├── WitnessUnavailable       the witness of the ledger's heads can't be reached
    ├── AccessError              whoever asks may not, or not now; nothing was charged
    │   ├── Unauthenticated      the token isn't known, or holds no more
    │   ├── Forbidden            the token's role may not do this
    │   ├── AboveCeiling         it costs more than the token may spend on one question
    │   ├── NotApproved          the approval isn't one for this, or is used up
    │   ├── PlanChanged          its plan isn't the one that was named
    │   ├── KeyReused            the idempotency key was used for something else
    │   ├── AskedAlready         the same is being asked under this idempotency key
    │   ├── ProviderBusy         as many wait for the identity provider as may
    │   ├── AskedInPart          what it measures first was paid for under this key, and the question itself wasn't
    │   └── TooManyWaiting       the queue is full
    │       ├── TooMuchAsked     the caller's questions have taken as much of a slot, or of the ledger, as they may
    │       └── TooMuchPlanning  planning has taken as much of the processor as it may for one caller
    ├── ServerError              a server can't be used, or can't be believed
    │   ├── ServerUnreachable    it doesn't answer, or not in time
    │   ├── ReplyMalformed       what came isn't what such a server says; it wasn't looked at any further
    │   └── AnswerContradicted   an answer isn't what its certificate or its signature vouches for
    └── QuestionFailed           something went wrong after the data was touched; says nothing more, stays charged

Messages hold public facts only (the question, the schema, the budget), never a value of a row. All but
`QuestionFailed` are raised before the data is touched, or where no data is; that one has a single constant text,
because anything else it could say might depend on a person.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from traceback import extract_tb
from typing import Any, ClassVar, Never

from discreet.hints import Door, Hint
from discreet.printable import excerpt, printable

_HERE = Path(__file__).parent


class Category(StrEnum):
    """The meaning of an error to the caller. Each protocol has a table that says how it expresses one."""

    REFUSED = "refused"
    """The question or an argument can't be answered as it is: ask differently."""

    BUDGET = "budget"
    """The budget can't pay for it."""

    ACCESS = "access"
    """The caller isn't allowed to do this, or not this way."""

    BUSY = "busy"
    """Not now: ask again later."""

    UNAVAILABLE = "unavailable"
    """Something it needs is missing or broken. A server tells strangers no more than that."""

    FAILED = "failed"
    """It was paid for and then failed; no more is said."""


class DiscreetError(Exception):
    """The root: catch it to catch all of discreet's errors.

    Attributes:
        code: name of the kind of error, for programs: that of its class, as in `ledger_missing`, without `Error`.
        category: what it means to the caller. Each family says it for all that are in it, or one of them for
            itself; a class that nobody gave one can't be made. Of a kind that isn't known here, as a server of another
            version may have, the least is told: that something is unavailable.
        message: what is wrong, in public facts only.
        hint: what to do about it; may be empty.
        place: where, as a one-based `(line, column)` of the question or file; None if it has no place.
        text: the question that `place` lies in, as the caller wrote it; empty where it isn't at hand.
        retry_after: for how many seconds to wait at least before asking again; None where waiting alone is no help.
    """

    code: ClassVar[str] = "error"
    category: ClassVar[Category] = Category.UNAVAILABLE
    retry_after: int | None = None
    text: str = ""

    def __init_subclass__(cls) -> None:
        said = vars(cls).get("category") if DiscreetError in cls.__bases__ else cls.category
        if not isinstance(said, Category):
            raise TypeError(f"{cls.__name__} is of no category, so no protocol can say what it means")
        cls.code = "_".join(re.findall("[A-Z][a-z]+", cls.__name__.removesuffix("Error"))).lower()

    def __init__(self, message: str, *, hint: str = "", place: tuple[int, int] | None = None) -> None:
        """Keep the parts apart, so that a screen, an API and a log can each lay them out."""
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.place = place

    def __str__(self) -> str:
        where = f"line {self.place[0]}, column {self.place[1]}: " if self.place else ""
        return f"{where}{self.message}" + (f" ({self.hint})" if self.hint else "")

    def hint_at(self, door: Door) -> str:
        """The hint in the words of the door at which it is read."""
        return getattr(self.hint, door) if isinstance(self.hint, Hint) and door != "python" else str(self.hint)

    def _render_traceback_(self) -> list[str]:
        """What a notebook shows in place of a traceback: what is wrong and where, what to do, and the caller's line.

        IPython asks for it. The frames within discreet say nothing to the caller; `raise` and `traceback` have them.
        """
        lines = [f"error[{self.code}]: {printable(self.message)}"]
        lines += excerpt(self.text, *self.place) if self.place else []
        lines += [f"hint: {printable(self.hint)}"] if self.hint else []
        callers = [each for each in extract_tb(self.__traceback__) if not Path(each.filename).is_relative_to(_HERE)]
        lines += [f"at line {each.lineno}: {each.line}" for each in callers[-1:] if each.line]
        return lines

    def to_dict(self) -> dict[str, object]:
        """The error as JSON-ready data, for APIs and `--format json`."""
        return {"code": self.code, "message": self.message, "hint": self.hint, "place": self.place}


class InvalidArgument(DiscreetError, ValueError):
    """A number, name or shape handed to a function is wrong."""

    category = Category.REFUSED


class NotTried(InvalidArgument):
    """With these arguments an attack has nothing to try, so it is neither right nor wrong."""


class OfferRequired(InvalidArgument):
    """Nothing says what the question may cost, or how accurate its answer must be."""


class ExtraMissing(DiscreetError, ImportError):
    """An optional part of discreet isn't installed; the hint says how to install it."""

    category = Category.UNAVAILABLE


class ConfigError(DiscreetError):
    """discreet.toml can't be read as a configuration; the message names the key."""

    category = Category.UNAVAILABLE


class DeclarationWeakened(DiscreetError):
    """The new declarations weaken a promise, and the custodian hasn't allowed that by name."""

    category = Category.UNAVAILABLE


class SourceError(DiscreetError):
    """The private table can't be used; found out before any question is charged."""

    category = Category.UNAVAILABLE


class SourceMissing(SourceError, FileNotFoundError):
    """The file, table or database isn't there."""


class SourceUnsupported(SourceError):
    """The source is there, but nothing here can read it."""


class SourceMalformed(SourceError):
    """Some records of a text file aren't whole records of its columns; the lines where they start are named."""


class SchemaMismatch(SourceError):
    """The source lacks a declared column, or the column has another type."""


class SnapshotError(DiscreetError):
    """The admitted tables can't be used; nothing was charged."""

    category = Category.UNAVAILABLE


class TooMuchUnreadable(SnapshotError):
    """More of a table would be left out, or of a column be NULL, than its custodian puts up with."""


class NotAdmitted(SnapshotError):
    """Nothing was admitted yet, or not these tables, or not as they are declared now."""


class SnapshotMissing(SnapshotError):
    """A version's files aren't where they were put, or aren't what was written."""


class SnapshotChanged(SnapshotError):
    """A file that was admitted in place has changed since, or is gone.

    One constant text, whichever file it is and whatever became of it: every question of the account is refused with it.
    """

    def __init__(self) -> None:
        super().__init__(
            "a file that was admitted in place has changed, so no question can be answered",
            hint=Hint(
                "the custodian must admit the tables again: refresh()",
                cli="the custodian must admit the tables again: `discreet admit`",
            ),
        )


class AdmissionConflict(SnapshotError):
    """Another process has admitted a version of the tables since this admission began."""

    def __init__(self, version: int) -> None:
        super().__init__(
            f"version {version} was admitted by another process in the meantime, so what this one read isn't in force",
            hint="admit again if the sources have changed since then",
        )


class EngineUnavailable(DiscreetError):
    """The engine can't be started, or can't do what the question takes; no data was touched.

    Its message passes on the cause, for that came up without any table: a temporary directory that is full, say.
    """

    category = Category.UNAVAILABLE


class QueryError(DiscreetError):
    """The question is refused at plan time; nothing was charged.

    Attributes:
        at: the offset of a character of the question, until its text is at hand to say the `place` instead.
        called: what the question calls the function that the message begins with, until that is at hand; or nothing.
    """

    def __init__(
        self, message: str, *, hint: str = "", place: tuple[int, int] | None = None, at: int | None = None
    ) -> None:
        super().__init__(message, hint=hint, place=place)
        self.at = at
        self.called = ""

    category = Category.REFUSED


class SqlSyntax(QueryError):
    """The question isn't SQL."""


class NotOneSelect(QueryError):
    """Two statements, DDL, or anything else that isn't a single SELECT."""


class UnknownTable(QueryError):
    """The question names a table that isn't protected here."""


class UnknownColumn(QueryError):
    """The question names a column the table doesn't declare."""


class UnknownFunction(QueryError):
    """The question calls a function that isn't in the table of allowed functions."""


class TypeMismatch(QueryError):
    """A function was given kinds of values it doesn't take."""


class UngroupedColumn(QueryError):
    """A row's own value would be released: the column is neither grouped nor aggregated."""


class UnboundedColumn(QueryError):
    """A sum whose size no declaration limits, or arithmetic that could overflow."""


class DeltaRequired(QueryError):
    """The groups aren't public, and no δ was given to select them privately."""


class LimitsRequired(QueryError):
    """A unit may have many rows of a table, nothing says how many count, and there is no room to find out privately."""


class TooManyGroups(QueryError):
    """The public keys multiply to more groups than can be answered."""


class TooManyValues(QueryError):
    """An answer would release more numbers than a server lets one have; one that is stored is still given."""


class Unsupported(QueryError):
    """SQL that discreet can't bound, or doesn't do."""


def unforeseen(what: Never) -> Unsupported:
    """The error to raise where code was never taught a kind of thing, instead of taking it for something else.

    It ends a `match` over all kinds of something: a type checker sees that none is left over, and one that is added
    later is refused where it comes.
    """
    return Unsupported(f"nobody taught this what to do with {type(what).__name__} {getattr(what, 'name', '')}".rstrip())


class BudgetError(DiscreetError):
    """The question is understood but can't be paid for; nothing was charged."""

    category = Category.BUDGET


class BudgetExhausted(BudgetError):
    """The question would overspend the budget."""


class LossNotAccepted(BudgetError):
    """The account can't hold a loss of this kind (zCDP against a pure budget, say)."""


class TooManyFailures(BudgetError):
    """As many questions failed after they were paid for as may; no new one is taken until the custodian has looked."""


class AccuracyUnreachable(BudgetError):
    """No cost within the budget reaches the asked accuracy."""


class LedgerError(DiscreetError):
    """The account can't be used; no data was touched."""

    category = Category.UNAVAILABLE


class LedgerMissing(LedgerError, FileNotFoundError):
    """The ledger isn't where the configuration says; a fresh one would forget what was spent."""


class LedgerUnavailable(LedgerError):
    """The ledger is read-only, full, locked or unreachable."""


class LedgerVersion(LedgerError):
    """The ledger was written by another version of discreet."""


class LedgerCorrupt(LedgerError):
    """The ledger's hash chain, or a recomputed loss, doesn't hold."""


class AccountClosed(LedgerError):
    """The account was closed in this process, and is used again; nothing was charged."""

    def __init__(self) -> None:
        super().__init__("these tables are closed", hint="open them again: protect(…), load(…)")


class WitnessUnavailable(DiscreetError):
    """The witness of the ledger's heads can't be written to or reached; answers go on without it."""

    category = Category.UNAVAILABLE


class AccessError(DiscreetError):
    """The caller may not ask this of the server, or not now; nothing was charged."""

    category = Category.ACCESS


class Unauthenticated(AccessError):
    """The token isn't known, or holds no more; which of the two isn't said."""

    def __init__(self) -> None:
        super().__init__(
            "this token isn't known here, has expired, or was revoked",
            hint="ask the custodian for one, who makes it with: discreet token create",
        )


class Forbidden(AccessError):
    """The token's role may not do this."""


class AboveCeiling(AccessError):
    """The question costs more than the token may spend on one."""


class NotApproved(AccessError):
    """The approval isn't one for this question as it stands, or is used up."""


class PlanChanged(AccessError):
    """The question's plan isn't the one that was named."""


class KeyReused(AccessError):
    """The idempotency key was used for another question, or for another plan of this one."""

    def __init__(self) -> None:
        super().__init__("this Idempotency-Key was used for another plan", hint="take a new key for each question")


class AskedAlready(AccessError):
    """The same question is being asked under this idempotency key, perhaps through another server."""

    def __init__(self) -> None:
        super().__init__(
            "this question is already being asked under this Idempotency-Key", hint="ask again for its answer"
        )


class AskedInPart(AccessError):
    """Under this idempotency key a question's first measurements were paid for; it was then refused, or never asked."""

    code = "asked_in_part"


class ProviderBusy(AccessError):
    """Too many people wait for the identity provider; nobody was asked who this is."""

    category = Category.BUSY

    retry_after = 1

    def __init__(self, message: str = "too many people are signing in through the provider at once") -> None:
        """The same for all; it says nothing of who they are."""
        super().__init__(message, hint="try again in a moment")


class TooManyWaiting(AccessError):
    """Too much of the caller's waits or runs already; `retry_after` says for how many seconds at least."""

    category = Category.BUSY

    retry_after = 1

    def __init__(self, message: str, *, hint: str = "", retry_after: int = 1) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class TooMuchAsked(TooManyWaiting):
    """The caller's questions have taken as much of a slot's time, or of the ledger, as they may in a day."""


class TooMuchPlanning(TooManyWaiting):
    """Planning the caller's questions has taken as much of the processor as it may."""


class ServerError(DiscreetError):
    """A server can't be used, or can't be believed: said by a client, never by a server."""

    category = Category.UNAVAILABLE


class ServerUnreachable(ServerError):
    """The server doesn't answer, or not in time; it may have got what was sent."""


class ReplyMalformed(ServerError):
    """A reply that no discreet server sends: it has another form, is too large, or comes from elsewhere."""


class AnswerContradicted(ServerError):
    """An answer isn't what its certificate or its signature vouches for."""


class QuestionFailed(DiscreetError):
    """Something went wrong after the data was touched.

    One constant text: whatever else it could say might depend on a person. What was reserved stays spent.
    """

    category = Category.FAILED

    def __init__(self) -> None:
        super().__init__(
            "the question couldn't be answered; what was reserved for it stays spent",
            hint=Hint(
                "the custodian can see the reservation in history()",
                cli="the custodian can see the reservation in `discreet history`",
            ),
        )


def from_dict(data: Mapping[str, Any]) -> DiscreetError:
    """The error that `to_dict` wrote, of its own kind; of one that isn't known here, the root.

    Examples:
        >>> from_dict({"code": "forbidden", "message": "no", "hint": "", "place": None})
        Forbidden('no')
    """
    kinds: list[type[DiscreetError]] = [DiscreetError]
    for kind in kinds:
        kinds += kind.__subclasses__()
    found = next((kind for kind in kinds if kind.code == data.get("code")), DiscreetError)
    error = found.__new__(found)
    place = None if data.get("place") is None else (int(data["place"][0]), int(data["place"][1]))
    DiscreetError.__init__(error, str(data.get("message", "")), hint=str(data.get("hint", "")), place=place)
    return error
