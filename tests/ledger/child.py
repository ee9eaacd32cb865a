"""Programs that tests run beside themselves: to race, to be killed, and to meet a full or read-only disk."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from fractions import Fraction
from functools import partial
from itertools import count
from pathlib import Path

from sqlalchemy import Connection

from discreet.errors import AdmissionConflict, BudgetExhausted, DiscreetError, TooManyFailures
from discreet.ledger import Account, Ledger
from discreet.ledger.chain import Chain
from discreet.privacy import Budget
from support.ledgers import admitted, ask, marks_of

PATIENCE = 600.0
"""A slow disk under many processes isn't what these programs try."""


def say(*words: object) -> None:
    """Print a line that is out before anything else happens."""
    sys.stdout.write(" ".join(map(str, words)) + "\n")
    sys.stdout.flush()


def together(processes: int, work: Callable[[int], None]) -> None:
    """Do the work in many processes, which all start at the same moment."""
    gate, go = os.pipe()
    children = []
    for number in range(processes):
        child = os.fork()
        if child == 0:
            os.close(go)
            os.read(gate, 1)
            work(number)
            sys.stdout.flush()
            os._exit(0)
        children.append(child)
    os.close(go)
    failed = [child for child in children if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
    if failed:
        sys.exit(f"{len(failed)} processes failed")


def race(url: str, processes: str, questions: str, cost: str) -> None:
    """Ask many different questions from many processes at once; each prints how many were admitted."""

    def work(number: int) -> None:
        paid_for = 0
        with Ledger.open(url, create=False, patience=PATIENCE) as ledger:
            account = ledger.account("census", Budget(epsilon=1), failures=1000)
            for question in range(int(questions)):
                try:
                    paid = ask(account, f"{number}-{question}", cost)
                except BudgetExhausted:
                    continue
                paid_for += 1
                account.commit(paid, certificate={}, answer={"n": question})
        say(paid_for)

    together(int(processes), work)


def race_shares(url: str, processes: str, questions: str, cost: str) -> None:
    """The same from two analysts with shares; each process prints its analyst and how many were admitted."""
    shares = {"ada": Budget(epsilon="3/5"), "bob": Budget(epsilon="3/5")}

    def work(number: int) -> None:
        paid_for = 0
        analyst = ("ada", "bob")[number % 2]
        with Ledger.open(url, create=False, patience=PATIENCE) as ledger:
            account = ledger.account("census", Budget(epsilon=1), shares, failures=1000)
            for question in range(int(questions)):
                try:
                    ask(account, f"{number}-{question}", cost, analyst)
                except BudgetExhausted:
                    continue
                paid_for += 1
        say(analyst, paid_for)

    together(int(processes), work)


def race_failing(url: str, processes: str, questions: str, allowed: str) -> None:
    """Ask questions that fail from many processes at once; each prints how many were paid for."""

    def work(number: int) -> None:
        failed = 0
        with Ledger.open(url, create=False, patience=PATIENCE) as ledger:
            account = ledger.account("census", Budget(epsilon=100), failures=int(allowed))
            for question in range(int(questions)):
                with suppress(TooManyFailures):
                    account.fail(ask(account, f"{number}-{question}"))
                    failed += 1
        say(failed)

    together(int(processes), work)


def race_same(url: str, processes: str) -> None:
    """Ask one question from many processes at once; each prints what it then finds stored."""

    def work(number: int) -> None:
        with Ledger.open(url, create=False, patience=PATIENCE) as ledger:
            account = ledger.account("census", Budget(epsilon=100))
            paid = ask(account, "same")
            account.commit(paid, certificate={}, answer={"by": number})
            stored = account.stored("same", 1)
            if stored is not None:
                say(stored.entry, stored.answer["by"])

    together(int(processes), work)


def race_create(url: str, processes: str) -> None:
    """Make the same ledger and account from many processes at once, and admit tables; each prints its version."""

    def work(number: int) -> None:
        with Ledger.open(url, create=True, patience=PATIENCE) as ledger:
            account = ledger.account("census", Budget(epsilon=1), marks=marks_of(url))
            own = None
            while own is None:
                with suppress(AdmissionConflict):
                    own = account.admit(f"contents {number}", after=account.versions())
            say(own.version)

    together(int(processes), work)


def race_admit(url: str, processes: str, after: str) -> None:
    """Admit tables from many processes at once, all after the same version; each prints what came of it."""

    def work(number: int) -> None:
        with Ledger.open(url, create=False, patience=PATIENCE) as ledger:
            account = ledger.account("census", Budget(epsilon=1), marks=marks_of(url))
            try:
                own = account.admit(f"contents {number}", snapshot=f"folder {number}", after=int(after))
            except AdmissionConflict as error:
                say(number, f"{error.code}, version {account.versions()}")
            else:
                say(number, f"admitted version {own.version}")

    together(int(processes), work)


def die() -> None:
    """Be killed, here and now: nothing is cleaned up, nothing flushed."""
    os.kill(os.getpid(), signal.SIGKILL)


def crash(path: str, point: str) -> None:
    """Answer one question, and be killed at a point on the way."""
    ledger = Ledger.open(path, create=False)
    account = ledger.account("census", Budget(epsilon=1))
    admitted(account)
    _arm(point)
    paid = ask(account, "question")
    if point == "paid":
        die()
    say("run")
    if point == "run":
        die()
    account.commit(paid, certificate={}, answer={"n": 42})
    if point == "kept":
        die()
    say("answer 42")
    die()


def crash_admitting(path: str, point: str) -> None:
    """Admit other tables after version 1, and be killed at a point on the way."""
    ledger = Ledger.open(path, create=False)
    account = ledger.account("census", Budget(epsilon=1))
    _arm(point)
    own = account.admit("other data", snapshot="new", after=1)
    say("version", own.version)
    die()


def make(path: str, point: str) -> None:
    """Make a ledger, and be killed at a point on the way."""
    _arm(point)
    Ledger.open(path, create=True)
    die()


def _arm(point: str) -> None:
    """Make the process die inside the ledger, before or after one of the steps that write."""
    when, _, step = point.partition(" ")
    targets: dict[str, tuple[object, str, int]] = {
        "appending the debit": (Chain, "append", 1),
        "appending the version": (Chain, "append", 1),
        "appending the outcome": (Chain, "append", 2),
        "syncing the debit": (Connection, "commit", 1),
        "syncing the version": (Connection, "commit", 1),
        "syncing the outcome": (Connection, "commit", 2),
        "syncing the draft": (Connection, "commit", 1),
        "linking the draft": (os, "link", 1),
        "syncing the folder": (os, "fsync", 1),
    }
    if step not in targets:
        return
    owner, name, nth = targets[step]
    original = getattr(owner, name)
    calls = count(1)
    early = when == "before"

    def patched(*arguments: object, **named: object) -> object:
        last = next(calls) == nth
        if last and early:
            die()
        result = original(*arguments, **named)
        if last:
            die()
        return result

    setattr(owner, name, patched)


def loop(path: str) -> None:
    """Answer questions until killed; print each answer once it may be shown."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        for number in count():
            paid = ask(account, f"{os.getpid()}-{number}")
            say("paid", paid.entry)
            account.commit(paid, certificate={}, answer={"n": number})
            say("answer", paid.entry)


def _attempt(action: Callable[[], object]) -> str:
    """What comes of an action: an error's code, or `done`."""
    try:
        action()
    except DiscreetError as error:
        return error.code
    return "done"


def refused(url: str) -> None:
    """Ask a question of a ledger that can't be written, admit tables, and print what comes of each step."""
    with Ledger.open(url, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        say("reserve", _attempt(partial(ask, account, "question")))
        say("admit", _attempt(partial(account.admit, "other data", after=1)))
        say("spent", account.spent().epsilon)
        say("verify", ledger.verify().holds)


def _until_refused(account: Account, name: str) -> int:
    """Reserve and commit until a reservation is refused; how many were admitted before."""
    for number in count():
        if _attempt(partial(ask, account, f"{name}-{number}")) != "done":
            return number
    raise AssertionError


def _until_not_admitted(account: Account) -> int:
    """Admit tables until that is refused; the last version that was admitted."""
    for after in count(account.versions()):
        if _attempt(partial(account.admit, "other data", after=after)) != "done":
            return after
    raise AssertionError


def full(path: str, filler: str) -> None:
    """Fill a disk, ask until refused, make room, and ask again; print what comes of each step."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        paid = ask(account, "early")
        with Path(filler).open("wb", buffering=0) as file:
            for size in (1 << 16, 1 << 12, 1 << 9, 1):
                while _written(file.write, bytes(size)):
                    pass
        before = account.spent().epsilon or Fraction(0)
        paid_for = _until_refused(account, "squeezed")
        say("reserve", _attempt(partial(ask, account, "late")))
        big = {"n": "x" * 100_000}
        say("commit", _attempt(partial(account.commit, paid, certificate={}, answer=big)))
        say("stored", account.stored("early", 1))
        say("counted", account.spent().epsilon == before + Fraction(paid_for, 10))
        newest = _until_not_admitted(account)
        say("in force", admitted(account) == newest)
        say("verify", ledger.verify().holds)
        Path(filler).unlink()
        say("commit", _attempt(partial(account.commit, paid, certificate={}, answer=big)))
        say("reserve", _attempt(partial(ask, account, "late")))
        say("admit", _attempt(partial(account.admit, "other data", after=account.versions())))
        say("verify", ledger.verify().holds)


def _written(write: Callable[[bytes], object], data: bytes) -> bool:
    """Whether there was room."""
    try:
        write(data)
    except OSError:
        return False
    return True


def limited(path: str) -> None:
    """Ask under a limit on the size of files, as a full quota has it; print what comes of each step."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        paid = ask(account, "early")
        before = account.spent().epsilon or Fraction(0)
        for room in (0, Path(path).stat().st_size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, resource.RLIM_INFINITY))
            before += Fraction(_until_refused(account, f"squeezed-{room}"), 10)
            say("reserve", _attempt(partial(ask, account, "late")))
            answer = {"n": "x" * 100_000}
            say("commit", _attempt(partial(account.commit, paid, certificate={}, answer=answer)))
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
            say("counted", account.spent().epsilon == before)
            say("verify", ledger.verify().holds)
        say("commit", _attempt(partial(account.commit, paid, certificate={}, answer={"n": 1})))
        say("reserve", _attempt(partial(ask, account, "late")))


def fork(path: str) -> None:
    """Use a ledger, fork, and use it on both sides."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=1000))
        mine = ask(account, "before the fork")

        def child(number: int) -> None:
            for question in range(10):
                account.commit(ask(account, f"{number}-{question}"), certificate={}, answer={"n": question})
            if number == 0:
                account.commit(mine, certificate={}, answer={"n": -1})
            say("child", ledger.verify().holds)

        together(4, child)
        say("parent", account.spent().epsilon)


def fork_in_the_middle(path: str) -> None:
    """Fork again and again while another thread writes; each child uses the ledger at once."""
    from threading import Event, Thread

    stop = Event()
    with Ledger.open(path, create=False, patience=120) as ledger:  # a child that hangs is found out by then
        account = ledger.account("census", Budget(epsilon=1000))

        def answer(question: str) -> None:
            account.commit(ask(account, question), certificate={}, answer={})

        def write() -> None:
            for number in count():
                if stop.is_set():
                    return
                answer(f"thread-{number}")

        thread = Thread(target=write)
        thread.start()
        failed = 0
        for number in range(12):
            child = os.fork()
            if child == 0:
                os._exit(0 if _attempt(partial(answer, f"child-{number}")) == "done" else 1)
            failed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) != 0
            if failed:
                break
        stop.set()
        thread.join()
        say("failed", failed)
        say("verify", ledger.verify().holds)


if __name__ == "__main__":
    program, *arguments = sys.argv[1:]
    globals()[program](*arguments)
