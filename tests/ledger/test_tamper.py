"""Whatever is changed in a ledger behind its back, verification finds it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from sqlite3 import IntegrityError, connect

import pytest

from discreet.errors import InvalidArgument, LedgerCorrupt, LedgerError, LedgerVersion
from discreet.ledger import DAMAGE, Entry, Ledger, Verification
from discreet.ledger.chain import Chain
from discreet.ledger.history import history as look_up
from discreet.ledger.location import File
from discreet.ledger.row import FORMAT, Kind, Row
from discreet.ledger.store import Store
from discreet.ledger.transaction import AccountTransaction
from discreet.privacy import Budget
from support.ledgers import COLUMNS, ask, fill, laplace, raised, rewrite, rows, sql

KINDS = {Kind.OPEN, Kind.BUDGET, Kind.DATA, Kind.RESERVE, Kind.COMMIT, Kind.FAIL}


@pytest.fixture(scope="module")
def original(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A ledger with every kind of entry, to be copied."""
    path = tmp_path_factory.mktemp("original") / "census.ledger"
    fill(path)
    return path


@pytest.fixture
def path(tmp_path: Path, original: Path) -> Path:
    """A copy of the ledger, to be tampered with."""
    return Path(shutil.copy(original, tmp_path / "census.ledger"))


def verified(path: Path, kept: str | None = None) -> Verification:
    """What verification finds."""
    with Ledger.open(path, create=False) as ledger:
        return ledger.verify(kept=kept)


def forge(path: Path, change: Callable[[list[Row]], object]) -> None:
    """Change entries and chain them anew, also in ways that the database itself would refuse."""
    sql(path, "DROP INDEX IF EXISTS discreet_entry_number")
    rewrite(path, change)


def other_values(column: str, value: object) -> Iterator[object]:
    """Values that a column might be changed to: near, far, missing, and of another type."""
    if value is None:
        yield from (1, "x", "inf")
    elif isinstance(value, int):
        yield from (value + 1, value + 1000, -value, f"{value}x")
    else:
        yield from (f"{value} ", str(value)[:-1], b"\xff\xfe")
    if value is not None and column not in {"seq", "at", "kind", "body", "previous", "hash"}:
        yield None


def test_an_untouched_ledger_holds(path: Path) -> None:
    """It has every kind of entry but those of access; no problems, and the last entry's head."""
    found = verified(path)
    assert found.problems == ()
    assert found.holds
    assert found.entries == len(rows(path)) == 16
    assert found.head == rows(path)[-1].hash
    assert {row.kind for row in rows(path)} == KINDS


@pytest.mark.parametrize("column", COLUMNS)
def test_every_change_of_a_column_is_found(path: Path, column: str) -> None:
    """Whatever one column of one entry is changed to, some problem is found, and it names that entry."""
    change = f"UPDATE discreet_entry SET {column} = ? WHERE seq = ?"
    tried = 0
    with Ledger.open(path, create=False) as ledger, closing(connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous = OFF")
        for row in rows(path):
            before = getattr(row, column)
            for value in other_values(column, before):
                try:
                    connection.execute(change, (value, row.seq))
                except IntegrityError:
                    continue  # a place or number that another entry has, or that isn't one: SQLite itself refuses it
                tried += 1
                where = value if column == "seq" else row.seq
                assert where in {problem.entry for problem in ledger.verify().problems}, (row.seq, value)
                connection.execute(change, (before, where))
        assert tried >= 16
        assert ledger.verify().problems == ()


def test_text_that_cannot_be_decoded_is_found(path: Path) -> None:
    """Bytes that aren't UTF-8 are a problem of their entry, not an obstacle to the rest."""
    sql(path, "UPDATE discreet_entry SET body = CAST(x'ff7b7d' AS TEXT) WHERE seq = 5")
    assert {problem.entry for problem in verified(path).problems} == {5}


@pytest.mark.parametrize("seq", range(1, 17))
def test_a_missing_entry_is_found(path: Path, seq: int) -> None:
    """An entry that was deleted is missed, wherever it stood."""
    sql(path, "DELETE FROM discreet_entry WHERE seq = ?", seq)
    assert verified(path).problems != ()


def test_exchanged_entries_are_found(path: Path) -> None:
    """Two entries that changed places are noticed."""
    for old, new in ((5, 99), (6, 5), (99, 6)):
        sql(path, "UPDATE discreet_entry SET seq = ? WHERE seq = ?", new, old)
    assert {5, 6} <= {problem.entry for problem in verified(path).problems}


@pytest.mark.parametrize("seq", [-1, 0, 17])
def test_an_added_entry_is_found(path: Path, seq: int) -> None:
    """A copy of an entry, before the first or after the last, is noticed."""
    columns = ", ".join(name for name in COLUMNS if name not in {"seq", "number"})
    sql(path, f"INSERT INTO discreet_entry (seq, {columns}) SELECT ?, {columns} FROM discreet_entry WHERE seq = 3", seq)
    assert seq in {problem.entry for problem in verified(path).problems}


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ("format = 99", LedgerVersion),
        ("secret = 'x'", LedgerCorrupt),
        ("secret = x'00'", LedgerCorrupt),
        ("seq = 'x'", LedgerCorrupt),
        ("hash = x'00'", LedgerCorrupt),
    ],
)
def test_an_unreadable_head_is_refused(path: Path, change: str, error: type[LedgerError]) -> None:
    """A head that can't be read keeps the ledger shut."""
    sql(path, f"UPDATE discreet_ledger SET {change}")
    with pytest.raises(error):
        verified(path)


@pytest.mark.parametrize(
    ("change", "entry"),
    [
        ("seq = seq + 1", 16),
        ("seq = seq - 1", 16),
        ("hash = substr(hash, 2) || '0'", 16),
        (f"secret = '{'0' * 64}'", 1),
        (f"secret = 'forgotten {'0' * 64}'", 1),
    ],
)
def test_a_changed_head_is_found(path: Path, change: str, entry: int) -> None:
    """A head that names another entry as the last, or another secret, is noticed; and nothing is appended to it."""
    sql(path, f"UPDATE discreet_ledger SET {change}")
    assert {problem.entry for problem in verified(path).problems} == {entry}
    if entry != 1:
        with Ledger.open(path, create=False) as ledger:
            account = ledger.account("visits", Budget(epsilon=1))
            with pytest.raises(LedgerCorrupt):
                ask(account, "question")


def test_a_lost_head_is_refused(path: Path) -> None:
    """Without its head a ledger isn't opened; nor with two."""
    sql(path, "INSERT INTO discreet_ledger SELECT format - 1, secret, seq, hash FROM discreet_ledger")
    assert "head is missing" in raised(LedgerCorrupt, lambda: verified(path))
    sql(path, "DELETE FROM discreet_ledger")
    assert "head is missing" in raised(LedgerCorrupt, lambda: verified(path))


def test_an_end_that_was_cut_off(path: Path) -> None:
    """Who sets back the head too leaves a chain that holds; the head that was kept elsewhere shows it."""
    kept = verified(path).head
    forge(path, lambda entries: entries.pop())
    assert verified(path).problems == ()
    assert {problem.entry for problem in verified(path, kept).problems} == {15}
    assert verified(path, verified(path).head).problems == ()


def test_an_older_copy_is_noticed_by_whoever_saw_the_newer(path: Path, original: Path) -> None:
    """A running process refuses an older copy put in the ledger's place, and its verification says why."""
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("visits", Budget(epsilon=1))
        ask(account, "question")
        shutil.copy(original, path)
        assert "went back" in raised(LedgerCorrupt, lambda: ask(account, "another"))
        assert ledger.verify().problems != ()
        assert "went back" in raised(LedgerCorrupt, lambda: ask(account, "another"))


def test_a_damaged_entry_is_not_built_on(path: Path) -> None:
    """A decision reads the entries it rests on against their hashes."""
    sql(path, "UPDATE discreet_entry SET spent_epsilon = '0' WHERE kind = 'reserve'")
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("visits", Budget(epsilon=1))
        for action in (account.spent, account.remaining, lambda: ask(account, "question")):
            assert "was altered" in raised(LedgerCorrupt, action)


def found_after(path: Path, seq: int, **columns: object) -> set[str]:
    """What verification says of an entry that was changed by one who chained everything anew."""

    def change(entries: list[Row]) -> None:
        entries[seq - 1] = replace(entries[seq - 1], **columns)  # type: ignore[arg-type]  # columns of any type

    forge(path, change)
    return {problem.message for problem in verified(path).problems if problem.entry == seq}


def place(path: Path, kind: Kind, account: str = "census", nth: int = 0) -> Row:
    """An entry by its kind."""
    return [row for row in rows(path) if (row.kind, row.account) == (kind, account)][nth]


def test_forging_without_a_change_leaves_no_trace(path: Path) -> None:
    """The forger of these tests is good: what is found below is found by its meaning, not by a hash."""
    before = rows(path)
    forge(path, lambda _: None)
    assert rows(path) == before
    assert verified(path).problems == ()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"epsilon": "1/20"}, "it costs less than its event does"),
        ({"rho": "0"}, "it costs less than its event does"),
        ({"epsilon": "inf", "spent_epsilon": "inf"}, "the analyst's total is less than the sum of their debits"),
        ({"spent_epsilon": "1/10"}, "the account's total is less than the sum of its debits"),
        ({"spent_delta": "1/2"}, "it overspends the budget"),
        ({"share_epsilon": "0"}, "the analyst's total is less than the sum of their debits"),
        ({"share_epsilon": "21/10", "share_rho": "9"}, "it overspends the analyst's share"),
        ({"analyst": "eve"}, "the analyst who asked had no share of the budget"),
        ({"number": 7}, "it is question 7, and should be 2"),
        ({"version": 3}, "it was asked of data version 3, which didn't exist"),
        ({"version": None}, "a reserve entry doesn't fill these columns"),
        ({"epsilon": "2/20"}, "an amount in entry 8 can't be read"),
        ({"epsilon": "-1/10"}, "an amount in entry 8 can't be read"),
        ({"epsilon": "1e-1"}, "an amount in entry 8 can't be read"),
        ({"delta": "inf"}, "an amount in entry 8 can't be read"),
        ({"epsilon": "1" * 5000}, "an amount in entry 8 can't be read"),
        ({"body": '{"text":"b","event":{"event":"wish"}}'}, "its event can't be read"),
        ({"body": '{"text":"b"}'}, "its event can't be read"),
        ({"body": "[]"}, "the content of entry 8 can't be read"),
        ({"body": "[" * 100_000}, "the content of entry 8 can't be read"),
        ({"kind": "refund"}, "no entry is of kind 'refund'"),
        ({"account": "nobody"}, "its account has no budget yet"),
        ({"kind": "open"}, "a ledger begins with exactly one entry that opens it"),
    ],
)
def test_a_forged_debit_is_found(path: Path, columns: dict[str, object], message: str) -> None:
    """A debit that was made smaller, moved, or made unreadable is found though every hash fits."""
    debit = place(path, Kind.RESERVE, nth=1)
    assert debit.seq == 8
    assert message in found_after(path, debit.seq, **columns)


def test_a_forged_event_is_found(path: Path) -> None:
    """An event with less noise than was paid for is found."""
    debit = place(path, Kind.RESERVE)
    content = json.loads(debit.body)
    content["event"]["scale"] = "9"
    assert found_after(path, debit.seq, body=json.dumps(content)) == {"it costs less than its event does"}


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"number": 9}, "question 9 wasn't reserved, or already has its outcome"),
        ({"number": 1}, "question 1 wasn't reserved, or already has its outcome"),
        ({"digest": "z"}, "it is the outcome of another question than 4, or of other data"),
        ({"version": 1}, "it is the outcome of another question than 4, or of other data"),
        ({"body": '{"certificate":{}}'}, "it has no certificate, or no answer"),
        ({"body": "{}"}, "it has no certificate, or no answer"),
        ({"epsilon": "0"}, "a commit entry doesn't fill these columns"),
    ],
)
def test_a_forged_outcome_is_found(path: Path, columns: dict[str, object], message: str) -> None:
    """An outcome without its own debit, a second one, or one without an answer is found."""
    outcome = place(path, Kind.COMMIT, nth=1)
    assert message in found_after(path, outcome.seq, **columns)


def test_a_forged_budget_is_found(path: Path) -> None:
    """A budget lowered, unreadable, or under another adjacency no longer fits the debits after it."""
    budget = place(path, Kind.BUDGET, "visits")
    debit = place(path, Kind.RESERVE, "visits")
    content = json.loads(budget.body)

    def lower(entries: list[Row]) -> None:
        body = json.dumps({**content, "budget": {"epsilon": "1/20"}})
        entries[budget.seq - 1] = replace(entries[budget.seq - 1], body=body)

    forge(path, lower)
    assert [(problem.entry, problem.message) for problem in verified(path).problems] == [
        (debit.seq, "it overspends the budget")
    ]
    second = place(path, Kind.BUDGET, nth=1)
    content = json.loads(second.body)
    changed = json.dumps({**content, "adjacency": "substitution"})
    assert found_after(path, second.seq, body=changed) == {"it changes the adjacency under which losses were charged"}
    for wrong in ({**content, "budget": {}}, {**content, "adjacency": "friends"}, {"budget": "all"}):
        assert found_after(path, second.seq, body=json.dumps(wrong)) == {
            "a declared budget in the ledger can't be read"
        }


def test_forged_data_versions_are_found(path: Path) -> None:
    """A data version out of order, or with the mark of another, is found."""
    data = place(path, Kind.DATA, nth=1)
    mark = place(path, Kind.DATA).digest
    assert found_after(path, data.seq, version=3) == {"it is data version 3, and should be 2"}
    assert "it has the mark of another data version" in found_after(path, data.seq, version=2, digest=mark)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("{}", "it has no snapshot, though tables were admitted before it"),
        ('{"snapshot":null}', "the snapshot in entry 4 can't be read"),
        ('{"snapshot":2}', "the snapshot in entry 4 can't be read"),
        ('{"shot":"second"}', "the snapshot in entry 4 can't be read"),
        ("[]", "the content of entry 4 can't be read"),
    ],
)
def test_a_forged_snapshot_is_found(path: Path, body: str, message: str) -> None:
    """A version that names no snapshot, or something else, is found, and nothing is asked of it."""
    data = place(path, Kind.DATA, nth=1)
    assert data.seq == 4
    assert found_after(path, data.seq, body=body) == {message}
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=3, delta=1e-6))
        with pytest.raises((LedgerCorrupt, InvalidArgument)):
            account.reserve(question="q", text="SELECT", version=2, event=laplace("1/10"))


def test_a_forged_beginning_is_found(path: Path) -> None:
    """A first entry of another format, of another secret, or of another kind is found."""
    first = rows(path)[0]
    content = json.loads(first.body)
    assert content["format"] == FORMAT
    for changed in ({**content, "format": 3}, {**content, "secret": "00"}, {}):
        assert found_after(path, 1, body=json.dumps(changed)) != set()
    assert found_after(path, 1, kind="budget") != set()


def test_problems_read_as_sentences(path: Path) -> None:
    """A problem prints its entry and what is wrong; the whole prints how much there is of both."""
    sql(path, "UPDATE discreet_entry SET at = 'x' WHERE seq = 5")
    found = verified(path)
    assert not found.holds
    assert str(found) == "16 entries; 1 problem"
    assert str(found.problems[0]) == "entry 5: it was altered: its hash doesn't match"


@pytest.mark.parametrize("change", ["body = '{}'", "account = 'x'", "hash = 'x'", "kind = 'x'", "at = 'x'"])
def test_what_is_damaged_hides_nothing_else_of_the_history(path: Path, change: str) -> None:
    """Its line says which entry it is, in each account's history, for it may be of any; all other lines stay."""
    (seq, lost), before = next((row.seq, row.number) for row in rows(path) if row.kind == Kind.RESERVE), entries(path)
    sql(path, f"UPDATE discreet_entry SET {change} WHERE seq = ?", seq)
    found = entries(path)
    assert {name: [each for each in lines if each.kind != DAMAGE] for name, lines in found.items()} == {
        name: [each for each in lines if (each.kind, each.number, name) != ("question", lost, "census")]
        for name, lines in before.items()
    }
    for lines in found.values():
        (damage,) = (each for each in lines if each.kind == DAMAGE)
        assert damage.text.startswith(f"entry {seq} of the ledger was altered: restore it")
        assert (damage.cost, damage.number, damage.analyst) == (None, None, None)


@pytest.mark.parametrize("seq", range(1, 17))
def test_what_is_missing_is_said_in_the_history(path: Path, seq: int) -> None:
    """Wherever it stood, and whosever it was."""
    sql(path, "DELETE FROM discreet_entry WHERE seq = ?", seq)
    for lines in entries(path).values():
        (damage,) = (each.text for each in lines if each.kind == DAMAGE)
        assert damage.startswith(
            "entry 16 should be" if seq == 16 else f"the entry before entry {seq + 1} of the ledger"
        )


def entries(path: Path) -> dict[str, list[Entry]]:
    """The histories of both accounts."""
    store = Store(File(path), 5)
    return {name: look_up(store, name) for name in ("census", "visits")}


HIDES = {
    "its kind": "UPDATE discreet_entry SET kind = 'rezerve' WHERE seq = {}",
    "its account": "UPDATE discreet_entry SET account = 'x' WHERE seq = {}",
    "it is gone": "DELETE FROM discreet_entry WHERE seq = {}",
}


@pytest.fixture
def spent(tmp_path: Path) -> tuple[Path, int]:
    """A ledger of which most is spent, and the place of the last debit, behind which others' entries stand."""
    path = tmp_path / "spent.ledger"
    with Ledger.open(path, create=True) as ledger:
        account, other = ledger.account("census", Budget(epsilon=3)), ledger.account("visits", Budget(epsilon=9))
        for number in range(2):
            account.commit(ask(account, f"{number}", 1, "ann"), certificate={}, answer={})
        ask(other, "another", 1)
    return path, max(row.seq for row in rows(path) if row.kind == Kind.RESERVE and row.account == "census")


@pytest.mark.parametrize("hides", HIDES)
@pytest.mark.parametrize("behind", [0, 1])
@pytest.mark.parametrize("opened_before", [False, True])
def test_a_damaged_ledger_never_looks_like_a_smaller_spend(
    spent: tuple[Path, int], hides: str, behind: int, opened_before: bool
) -> None:
    """A debit that isn't found any more isn't passed over, nor an entry behind it that may have been one."""
    path, seq = spent
    if not opened_before:
        sql(path, HIDES[hides].format(seq + behind))
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=3))
        if opened_before:
            sql(path, HIDES[hides].format(seq + behind))
        for use in (account.spent, account.remaining, lambda: account.spent("ann"), lambda: ask(account, "b", 2)):
            with pytest.raises(LedgerCorrupt, match=f"entry {seq + behind} of the ledger"):
                use()


@pytest.mark.parametrize("hides", HIDES)
def test_where_nobody_looks_behind_the_last_debit_it_is_spent_again(
    spent: tuple[Path, int], hides: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wrong twin."""
    monkeypatch.setattr(Chain, "check_behind", lambda *_: None)
    sql(spent[0], HIDES[hides].format(spent[1]))
    with Ledger.open(spent[0], create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=3))
        ask(account, "b", 2)
        assert account.spent().epsilon == 3


def test_who_reads_while_others_write_takes_nothing_for_damage(spent: tuple[Path, int]) -> None:
    """Where a read isn't of one moment, as on a server, the head may be of before the entries that are found."""
    path, _ = spent
    with Ledger.open(path, create=False) as ledger:
        account = ledger.account("census", Budget(epsilon=3))

        def look(chain: Chain) -> object:
            chain.head = replace(chain.head, seq=before.seq, hash=before.hash)
            return AccountTransaction(chain, "census").spent().epsilon

        before = rows(path)[-1]
        ask(account, "meanwhile", "1/2")
        assert ledger._store.read(look, anew=True) == Fraction(5, 2)
