"""Large answers lie outside of the chain, which holds their hashes: they are read, copied and verified like others."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from sqlite3 import connect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import LedgerCorrupt, LedgerUnavailable
from discreet.ledger import Account, Ledger
from discreet.ledger.backup import back_up, restore
from discreet.ledger.large_answers import MOST_INSIDE, Large, parted
from discreet.privacy import Budget
from discreet.results import said_in_full, said_once
from support.examples import examples
from support.ledgers import ask, sql

GROUPS = [{"key": [number], "noisy": {"n": -number * 7}} for number in range(5000)]
"""Some 180,000 characters as JSON."""

ANSWER = {"parts": [{"groups": GROUPS}], "holds": {"n": 3.5}}


def answered(account: Account, question: str = "a", answer: dict[str, Any] = ANSWER) -> None:
    """A question with its answer, about one topic."""
    account.commit(ask(account, question), certificate={"text": f"SELECT {question}"}, answer=answer, topics=[("t", 1)])


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    """With a large answer and a small one."""
    with Ledger.open(tmp_path / "l", create=True) as found:
        account = found.account("census", Budget(epsilon=3))
        answered(account)
        answered(account, "b", {"parts": [{"groups": GROUPS[:3]}], "holds": {}})
        yield found


def the_account(ledger: Ledger) -> Account:
    """The one that there is."""
    return ledger.account("census", Budget(epsilon=3))


def large(folder: Path) -> Path:
    """The one file with a large part."""
    (found,) = (folder / "l.answers").iterdir()
    return found


def test_a_large_answer_leaves_its_hash_in_the_chain(ledger: Ledger, tmp_path: Path) -> None:
    """Its entry has no thousandth of it; both are read as they were, by whatever way they are found."""
    entries = sql(tmp_path / "l", "SELECT length(body) FROM discreet_entry WHERE kind = 'commit'")
    assert max(length for (length,) in entries) < 500 < MOST_INSIDE < len(json.dumps(GROUPS))
    account = the_account(ledger)
    stored = account.stored("a", 1)
    assert stored is not None
    assert stored.part("parts") == ANSWER["parts"]
    assert stored.part("holds") == {"n": 3.5}
    assert stored.part("none") is None
    assert {each.question: len(each.part("parts")[0]["groups"]) for each in account.about("t", 1, 9)} == {
        "a": 5000,
        "b": 3,
    }
    assert account.about("t", 1, 9, asked="a")[0].part("parts") == ANSWER["parts"]
    assert ledger.verify().problems == ()
    assert large(tmp_path).stat().st_size < len(json.dumps(GROUPS)) / 5


def test_nobody_else_can_read_it(ledger: Ledger, tmp_path: Path) -> None:
    """Neither the folder nor the files in it."""
    assert ledger.verify().holds
    modes = [stat.S_IMODE(path.stat().st_mode) for path in ((tmp_path / "l.answers"), large(tmp_path))]
    assert modes == [0o700, 0o600]


def test_a_small_answer_stays_in_its_entry(tmp_path: Path) -> None:
    """And no folder is made for it."""
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        answered(the_account(ledger), "b", {"parts": []})
    assert not (tmp_path / "l.answers").exists()


@pytest.mark.parametrize("harm", ["lost", "changed", "exchanged", "folder lost"])
def test_what_is_lost_or_changed_is_told_as_damage(ledger: Ledger, tmp_path: Path, harm: str) -> None:
    """By who reads it, and by `verify`; what lies elsewhere is read all the same, and nothing is answered anew."""
    path = large(tmp_path)
    match harm:
        case "lost":
            path.unlink()
        case "changed":
            content = bytearray(path.read_bytes())
            content[len(content) // 2] ^= 1
            path.write_bytes(bytes(content))
        case "exchanged":
            path.write_bytes(Large.of(json.dumps([{"groups": []}])).content)
        case _:
            shutil.rmtree(path.parent)
    stored = the_account(ledger).stored("a", 1)
    assert stored is not None
    with pytest.raises(LedgerCorrupt, match="large answer"):
        stored.part("parts")
    assert stored.part("holds") == {"n": 3.5}
    (problem,) = ledger.verify().problems
    assert "large answer" in problem.message
    with pytest.raises(LedgerCorrupt, match="large answer"):
        restored(ledger, tmp_path)


def restored(ledger: Ledger, folder: Path) -> None:
    """The ledger, from a copy of it."""
    key = folder / "l.key"
    signing = the_account(ledger).signing(key)
    signing.make()
    head = json.dumps(signing.head())
    back_up(str(folder / "l"), folder / "copy")
    (folder / "elsewhere").mkdir()
    restore(str(folder / "elsewhere" / "l"), folder / "copy", head, declared={})


def test_a_copy_has_large_answers_too(ledger: Ledger, tmp_path: Path) -> None:
    """A backup lies beside its own, and what is restored from it has them where they belong."""
    restored(ledger, tmp_path)
    for place in (tmp_path / "copy", tmp_path / "elsewhere" / "l"):
        assert (place.with_name(f"{place.name}.answers") / large(tmp_path).name).exists()
    with Ledger.open(tmp_path / "elsewhere" / "l", create=False) as other:
        stored = the_account(other).stored("a", 1)
        assert stored is not None
        assert stored.part("parts") == ANSWER["parts"]
        assert other.verify().holds


def test_a_copy_without_its_large_answers_is_no_copy(ledger: Ledger, tmp_path: Path) -> None:
    """Who copied the file alone is told so, and nothing is put in place."""
    restored(ledger, tmp_path)
    shutil.rmtree(tmp_path / "copy.answers")
    head = json.dumps(the_account(ledger).signing(tmp_path / "l.key").head())
    with pytest.raises(LedgerCorrupt, match="large answer"):
        restore(str(tmp_path / "again"), tmp_path / "copy", head, declared={})
    assert not (tmp_path / "again").exists()


def test_an_entry_that_names_another_place_is_refused(ledger: Ledger, tmp_path: Path) -> None:
    """A hash is a name, and nothing else is: no path leads out of the folder."""
    with closing(connect(tmp_path / "l")) as database, database:
        database.execute('UPDATE discreet_entry SET body = replace(body, \'"sha256":"\', \'"sha256":"../\')')
    messages = [problem.message for problem in ledger.verify().problems]
    assert any("can't be read" in message for message in messages)
    assert any("hash doesn't match" in message for message in messages)


def test_a_full_disk_is_told_and_nothing_is_answered(tmp_path: Path) -> None:
    """Where the large part can't be written, the entry isn't either."""
    with Ledger.open(tmp_path / "l", create=True) as ledger:
        account = the_account(ledger)
        paid = ask(account, "a")
        (tmp_path / "l.answers").write_text("in the way", encoding="ascii")
        with pytest.raises(LedgerUnavailable, match="answers"):
            account.commit(paid, certificate={}, answer=ANSWER)
        assert account.stored("a", 1) is None
        account.fail(paid)
        assert ledger.verify().holds


PARTS = st.dictionaries(
    st.text("abc", min_size=1, max_size=3),
    st.one_of(st.none(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(), st.just(GROUPS)),
    max_size=4,
)


@given(PARTS)
@examples(30)
def test_parts_are_as_they_were(answer: dict[str, Any]) -> None:
    """Those inside and those outside are all of an answer, each once, and large ones are outside."""
    inside, outside = parted(answer)
    assert inside | {name: each.read(each.content) for name, each in outside.items()} == answer
    assert not inside.keys() & outside.keys()
    assert all(len(json.dumps(part)) <= 2 * MOST_INSIDE for part in inside.values())


TEXTS = st.text("ab \n", min_size=1, max_size=5)


@given(TEXTS, TEXTS, st.lists(TEXTS, max_size=3), st.lists(TEXTS, max_size=3))
@examples(50)
def test_a_certificate_is_read_as_it_was(text: str, other: str, questions: list[str], plans: list[str]) -> None:
    """Whatever its texts have in common, and in the order that it had."""
    for said in (text.strip(), other):
        proof = {"text": said, "entry": 1, "questions": questions, "plans": [{"question": each} for each in plans]}
        kept = said_once(proof, text)
        assert json.dumps(said_in_full(json.loads(json.dumps(kept)), text)) == json.dumps(proof)
        assert said_in_full(proof, text) == proof
