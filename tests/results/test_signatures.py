"""Signatures: whatever is changed in a signed answer shows, however it was written down on its way."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Iterator
from copy import deepcopy
from datetime import date
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import discreet as dp
from discreet.errors import InvalidArgument
from discreet.results import Answer, PublicKey, verify_certificate, verify_head
from discreet.results.signatures import UNSIGNED, signature_of
from support.examples import examples

pytestmark = pytest.mark.usefixtures("kept_sessions")

QUESTIONS = [
    "SELECT town, COUNT(*) AS n, AVG(pay) AS pay, MAX(since) AS since, SUM(owed) AS owed FROM staff GROUP BY town",
    "SELECT COUNT(*) AS n FROM staff",
    "SELECT COUNT(*) AS n FROM staff WHERE town = 'ä\N{LATIN SMALL LETTER E}'",
    "SELECT 1 AS one FROM staff GROUP BY town",
]

Json = Any


@pytest.fixture(scope="module")
def staff(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dp.Protected]:
    """Forty rows of some kinds, each a unit."""
    table = pa.table(
        {
            "town": ["äe", "b"] * 20,
            "pay": [float(number) for number in range(40)],
            "since": [date(2020, 1, 1 + number % 28) for number in range(40)],
            "owed": pa.array([Decimal(number) / 4 for number in range(40)], pa.decimal128(10, 2)),
        }
    )
    with dp.protect(
        table,
        name="staff",
        unit=dp.Unit.row(),
        columns={
            "town": dp.Keys(["äe", "b"]),
            "pay": dp.Bounds(0, 40),
            "since": dp.Bounds(date(2019, 1, 1), date(2022, 1, 1)),
            "owed": dp.Bounds(0, 10),
        },
        budget=dp.Budget(epsilon=1000),
        ledger=tmp_path_factory.mktemp("staff") / "staff.ledger",
    ) as protected:
        yield protected


@pytest.fixture(scope="module")
def key(staff: dp.Protected) -> PublicKey:
    """What its signatures are checked against."""
    found = staff.signing.public
    assert found is not None
    return found


@pytest.fixture(scope="module")
def answers(staff: dp.Protected) -> list[Json]:
    """Answers as JSON: of several columns, of one, one that follows from it, a free one, and two of a workload."""
    single = [staff.ask(question, epsilon=offer) for question, offer in zip(QUESTIONS, (1, 1, "0.01", 1), strict=True)]
    together = staff.ask(["SELECT town, COUNT(*) AS n FROM staff GROUP BY town", QUESTIONS[1]], epsilon=3)
    found = [each.to_json() for each in (*single, *together)]
    assert single[2].origin
    assert not single[3].entry
    return found


def problems(answer: Json, key: PublicKey) -> tuple[str, ...]:
    """What doesn't hold of an answer."""
    return verify_certificate(answer, key).problems


def same(one: Json, other: Json) -> bool:
    """Whether two values are worth the same in JSON: Python takes True for 1, and a tuple for no list."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[name], other[name]) for name in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(same, one, other))
    return isinstance(one, bool) == isinstance(other, bool) and bool(one == other)


def places(value: Json, above: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The places of all values within a value, as paths of names and numbers."""
    below = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [above, *(place for name, each in below for place in places(each, (*above, name)))]


def at(value: Json, place: tuple[Any, ...]) -> Json:
    """The value at a place."""
    for name in place:
        value = value[name]
    return value


OTHERS: list[Json] = [None, True, False, 0, 1, -1, 0.5, 10**30, "", "x", "0", [], {}, [0], {"x": 0}]


def changed(value: Json) -> list[Json]:
    """Other values that somebody may put in the place of one: a little off, of another kind, with more or with less."""
    match value:
        case bool():
            near: list[Json] = [not value, int(value)]
        case int():
            near = [value + 1, value - 1, -value, str(value), value + 0.5]
        case float():
            near = [value + 1, -value, str(value), round(value, 3), value * (1 + 2**-50)]
        case str():
            near = [f"{value} ", value[:-1], value.upper(), value[::-1], f"{value}\u200b"]
        case list():
            near = [value[:-1], [*value, *value[-1:]], value[::-1], [*value, None]]
        case dict():
            near = [{**value, "more": 1}, *({k: v for k, v in value.items() if k != name} for name in value)]
            near += [{(f"{k} " if k == name else k): v for k, v in value.items()} for name in value]
            near += [{**value, one: value[two], two: value[one]} for one in value for two in value if one < two][:8]
        case _:
            near = []
    return [each for each in [*near, *OTHERS] if not same(each, value)]


def put(whole: Json, place: tuple[Any, ...], value: Json) -> Json:
    """A copy of a value with another one at a place."""
    if not place:
        return value
    copy = deepcopy(whole)
    at(copy, place[:-1])[place[-1]] = value
    return copy


def test_an_answer_holds_as_it_was_given(answers: list[Json], key: PublicKey) -> None:
    """Each; as data, as a text, beside what a server says of it, and after it was an `Answer`."""
    for answer in answers:
        beside = {"id": "7", "state": "done", **answer, "spent": {"epsilon": 1}}
        again = Answer.from_json(answer).to_json()
        for each in (answer, json.dumps(answer), json.dumps(answer).encode(), beside, again):
            assert problems(each, key) == ()
        assert problems(answer, PublicKey.read(key.text)) == ()
        assert verify_certificate(answer, key.text).holds
        assert verify_certificate(answer, json.dumps(key.to_json())).holds


def test_whatever_is_changed_shows(answers: list[Json], key: PublicKey) -> None:
    """At each place of an answer, each other value, name, order and number of things."""
    answer, tried = answers[0], 0
    for place in places(answer):
        if set(place) & {"plans", "warnings"} and len(place) > 4:
            continue  # one level of these is as good as the next, and there are many
        for other in changed(at(answer, place)):
            if place == () and isinstance(other, dict) and other.keys() - answer.keys() <= UNSIGNED:
                kept = {name: each for name, each in other.items() if name not in UNSIGNED}
                assert not same(kept, answer)
            edited = put(answer, place, other)
            if isinstance(edited, dict):
                tried += 1
                assert problems(edited, key) != (), (place, other)
    assert tried > 2000


@given(data=st.data())
@examples(300)
def test_whatever_bytes_are_changed_shows(answers: list[Json], key: PublicKey, data: st.DataObject) -> None:
    """Any of them, to any others: what still holds reads as the same."""
    answer = data.draw(st.sampled_from(answers))
    text = json.dumps(answer).encode()
    place = data.draw(st.integers(0, len(text) - 1))
    length, bytes_ = data.draw(st.integers(0, 3)), data.draw(st.binary(max_size=3))
    edited = text[:place] + bytes_ + text[place + length :]
    if problems(edited, key) == ():
        kept = {name: each for name, each in json.loads(edited).items() if name not in UNSIGNED}
        assert same(kept, answer)


@given(data=st.data())
@examples(100)
def test_what_is_moved_between_answers_shows(answers: list[Json], key: PublicKey, data: st.DataObject) -> None:
    """Signatures, certificates, values, questions: any part of one answer in the place of another's."""
    one, other = data.draw(st.permutations(answers))[:2]
    names = data.draw(st.sets(st.sampled_from(sorted(one.keys() & other.keys())), min_size=1))
    mixed = {**one, **{name: other[name] for name in names}}
    if not same(mixed, one) and not same(mixed, other):
        assert problems(mixed, key) != ()


def written(value: Json, chance: Random) -> str:
    """A value as some other serialiser may write it: keys in any order, numbers and texts in any of their spellings."""
    space = chance.choice(["", " ", "\n\t"])
    match value:
        case None | bool():
            return json.dumps(value)
        case int():
            return chance.choice([str(value), f"{value}.0", f"{value}e0"]) if abs(value) < 2**53 else str(value)
        case float():
            spelled = [repr(value), f"{value:.17g}", f"{value:.25e}", f"{value:.17E}"]
            return chance.choice([*spelled, str(int(value))] if value.is_integer() else spelled)
        case str():
            units = memoryview(value.encode("utf-16-le")).cast("H")
            plain = json.dumps(value, ensure_ascii=False)
            escaped = "".join(f"\\u{unit:04x}" for unit in units)
            return chance.choice([json.dumps(value), plain, plain.replace("/", "\\/"), f'"{escaped}"'])
        case list():
            return f"[{space}{f',{space}'.join(written(each, chance) for each in value)}{space}]"
        case _:
            names = chance.sample(sorted(value), len(value))
            pairs = [f"{written(name, chance)}:{space}{written(value[name], chance)}" for name in names]
            return f"{{{f',{space}'.join(pairs)}}}"


@given(data=st.data(), chance=st.integers(0, 2**32).map(Random))
@examples(60)
def test_an_answer_survives_other_serialisers(
    answers: list[Json], key: PublicKey, data: st.DataObject, chance: Random
) -> None:
    """However they write what it holds."""
    text = written(data.draw(st.sampled_from(answers)), chance)
    assert problems(text, key) == ()
    assert problems(text.encode(), key) == ()


NUMBERS = st.floats(allow_nan=False, allow_infinity=False) | st.integers(-(10**40), 10**40)
TREES = st.recursive(
    st.none() | st.booleans() | NUMBERS | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(one=TREES, other=TREES)
@examples(150)
def test_only_what_is_worth_the_same_has_one_text(one: Json, other: Json) -> None:
    """No two different things are signed as one text, and each has one however it is written."""
    from discreet.results.signatures import signed_text

    texts = [signed_text("answer", {"it": each}, {}) for each in (one, other, json.loads(json.dumps(one)))]
    assert (texts[0] == texts[1]) == same(one, other)
    assert texts[0] == texts[2]


def test_the_signature_of_one_kind_is_none_of_another(staff: dp.Protected, answers: list[Json], key: PublicKey) -> None:
    """A head is no answer, and an answer no head, whatever they are dressed as; nor is a text that says it is one."""
    head = staff.signing.head()
    assert verify_head(head, key).holds
    assert problems(head, key) != ()
    assert verify_head(answers[0], key).problems != ()
    dressed = {**answers[0]["signature"], **head["signature"]}
    content = {name: each for name, each in head.items() if name != "signature"}
    assert problems({**content, "signature": dressed}, key) != ()
    assert problems({**answers[0], "signature": dressed}, key) != ()
    for place in places(head):
        for other in changed(at(head, place)):
            edited = put(head, place, other)
            assert not isinstance(edited, dict) or verify_head(edited, key).problems != (), (place, other)


def test_another_key_signs_nothing_here(answers: list[Json], key: PublicKey) -> None:
    """Not even where it takes the name of the right one; and without a signature nothing holds."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    private = Ed25519PrivateKey.from_private_bytes(bytes(32))
    own = PublicKey(private.public_key().public_bytes_raw())
    content = {name: each for name, each in answers[0].items() if name != "signature"}
    said = {name: answers[0]["signature"][name] for name in ("ledger", "account", "question", "at")}
    for named in (own, key):
        forged = {**content, "signature": signature_of("answer", content, said, key=named, sign=private.sign)}
        assert problems(forged, key) != ()
    assert (
        problems({**content, "signature": signature_of("answer", content, said, key=own, sign=private.sign)}, own) == ()
    )
    assert problems(content, key) == ("it isn't signed",)
    assert verify_certificate(content, key).content == {}


@pytest.mark.parametrize("text", ["[]", "", "7", "{", '{"a": NaN}', "[" * 10**5, '{"n": 1' + "0" * 5000 + "}"])
def test_what_is_no_answer_does_not_hold(text: str, key: PublicKey) -> None:
    """And raises nothing."""
    assert len(problems(text, key)) == 1


def test_a_key_that_stands_twice_is_refused(answers: list[Json], key: PublicKey) -> None:
    """One reader takes the first, another the last; so neither was signed."""
    text = json.dumps(answers[1])
    twice = text.replace('"n": "integer"', '"n": "text", "n": "integer"', 1)
    assert same(json.loads(twice), answers[1])
    assert problems(twice, key) == ("it isn't one JSON object, with each key once",)


@pytest.mark.parametrize(
    "text", ["", "x", "{}", '{"key": 7}', b64encode(bytes(31)).decode(), b64encode(bytes(33)).decode()]
)
def test_what_is_no_key_is_refused(text: str) -> None:
    """With a typed error."""
    with pytest.raises(InvalidArgument, match="isn't a public key"):
        PublicKey.read(text)


def test_an_answer_of_a_stored_release_is_signed_when_it_is_given(staff: dp.Protected, key: PublicKey) -> None:
    """For the question as it was asked this time, and as what it is: given again, for nothing."""
    spelled = "select   count(*) as n from staff"
    first, again = staff.ask(QUESTIONS[1], epsilon=1), staff.ask(spelled, epsilon=1)
    assert (again.reused, again.to_json()["signature"]["question"]) == (True, spelled)
    assert problems(again.to_json(), key) == problems(again.to_json(0.5), key) == ()
    assert first.to_json()["rows"] == again.to_json()["rows"]


def test_an_answer_can_be_checked_without_what_made_it(answers: list[Json], key: PublicKey, tmp_path: Path) -> None:
    """No engine, no ledger, no table library: what a client has is enough."""
    import subprocess
    import sys

    (tmp_path / "answer.json").write_text(json.dumps(answers[0]), encoding="utf-8")
    program = (
        "import sys; from discreet.results import verify_certificate\n"
        f"assert verify_certificate(open('answer.json').read(), {key.text!r}).holds\n"
        "print(*{'duckdb', 'ibis', 'numpy', 'pyarrow', 'sqlalchemy', 'sqlglot', 'discreet.gateway'} & {*sys.modules})"
    )
    run = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True, capture_output=True, text=True)
    assert run.stdout == "\n"
