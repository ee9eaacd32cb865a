"""What `discreet init` proposes: every declaration with its origin, and nothing read off the data in silence."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ConfigError, InvalidArgument
from discreet.privacy import Bounds, Budget, Keys, Unit
from discreet.tables import Column, Kind, Source, load_config, loads
from discreet.tables.proposals import ColumnProfile, DataProfile, Origin, Proposal, Suggestion, propose

CSV = Source.of("/data/clinic.csv")
SCHEMA = {
    "name": Kind.TEXT,
    "patient_id": Kind.INTEGER,
    "age": Kind.INTEGER,
    "sex": Kind.TEXT,
    "city": Kind.TEXT,
    "income": Kind.REAL,
    "visited": Kind.DATE,
    "seen_at": Kind.TIMESTAMP,
    "smoker": Kind.BOOLEAN,
    "month": Kind.INTEGER,
}
PEEK = DataProfile(
    columns={
        "name": ColumnProfile(values=("Canary McCanary",)),
        "patient_id": ColumnProfile(lo=700_001, hi=700_009),
        "age": ColumnProfile(lo=17, hi=83),
        "sex": ColumnProfile(values=("F", "M")),
        "city": ColumnProfile(
            values=("Paris", " Rome ", "Canaryville", None, "?"), units={"Paris": 10, " Rome ": 11, "Canaryville": 99}
        ),
        "income": ColumnProfile(lo=-1234.5, hi=87_654.25),
        "visited": ColumnProfile(lo=date(2021, 3, 4), hi=date(2023, 5, 6)),
        "seen_at": ColumnProfile(lo=datetime(2021, 3, 4, 5), hi=datetime(2023, 5, 6, 7)),
        "smoker": ColumnProfile(values=(True, False)),
        "month": ColumnProfile(lo=1, hi=12, values=tuple(range(1, 13))),
    }
)


def columns(schema: dict[str, Kind]) -> list[Column]:
    """The schema, as an engine describes it."""
    return [Column(name=name, kind=kind) for name, kind in schema.items()]


def clinic(profile: DataProfile | None = None, *, strict: bool = False) -> Proposal:
    """A proposal for the table of the tests, with what was seen if somebody looked."""
    return propose(columns(SCHEMA), profile, source=CSV, leak=not strict, strict=strict)


def of(proposal: Proposal, name: str) -> Suggestion:
    """What is proposed of a column."""
    return next(item for item in proposal.tables[0].suggestions if item.column.name == name)


def lines_on(proposal: Proposal, name: str) -> str:
    """The declaration of a column in the file, with the comments above and beside it."""
    lines = proposal.to_toml().split("\n")
    (at,) = [n for n, line in enumerate(lines) if line.startswith(f"{name} = ")]
    first = at
    while lines[first - 1].startswith("#"):
        first -= 1
    return "\n".join(lines[first : at + 1])


def test_what_is_read_off_the_data_is_marked_in_the_file_and_on_the_screen() -> None:
    """Exactly the columns that the data had a part in carry the mark, as does the list of texts for NULL."""
    proposal = clinic(PEEK)
    assert proposal.tables[0].leaks == ("sex", "city", "income", "visited", "seen_at")
    for name, _, origin in proposal.tables[0].rows():
        assert ("LEAK" in origin) == origin.startswith("read off the data") == (name in proposal.tables[0].leaks)
    for name in proposal.tables[0].leaks:
        assert "# LEAK: " in lines_on(proposal, name)
    assert "# LEAK: read off the data; replace by what the column may hold\ncity = " in proposal.to_toml()
    assert proposal.tables[0].missing_origin is Origin.DATA
    assert "# REVIEW: often written for NULL, and found in some cell" in proposal.to_toml()
    assert proposal.to_toml().count("# LEAK") == len(proposal.tables[0].leaks)


def test_what_was_seen_becomes_a_declaration() -> None:
    """Ranges are rounded outwards, texts are trimmed and sorted, missing ones are NULL, codings are recognised."""
    proposal = clinic(PEEK)
    assert of(proposal, "income").column.bounds == Bounds(-2000, 100_000)
    assert of(proposal, "visited").column.bounds == Bounds(date(2021, 1, 1), date(2023, 12, 31))
    year = datetime(2021, 1, 1), datetime(2023, 12, 31, 23, 59, 59, 999_999)
    assert of(proposal, "seen_at").column.bounds == Bounds(*year)
    assert list(of(proposal, "city").column.keys or ()) == ["Canaryville", "Paris", "Rome", None]
    assert list(of(proposal, "sex").column.keys or ()) == ["F", "M"]
    assert "the one of the usual codings that fits the data" in of(proposal, "sex").reason


def test_public_knowledge_does_not_depend_on_the_data() -> None:
    """Where one thing is known, it is proposed whatever the data says, and without a mark."""
    other = DataProfile(
        columns={
            "age": ColumnProfile(lo=-5, hi=9000),
            "month": ColumnProfile(lo=0, hi=99),
            "sex": ColumnProfile(values=("x",)),
        }
    )
    for proposal in (clinic(), clinic(PEEK), clinic(other), clinic(PEEK, strict=True)):
        assert of(proposal, "age").column.bounds == Bounds(0, 125)
        assert of(proposal, "age").origin is Origin.KNOWLEDGE
        assert list(of(proposal, "month").column.keys or ()) == [*range(1, 13), None]
        assert of(proposal, "smoker").column.keys == Keys([False, True, None])
        assert of(proposal, "smoker").origin is Origin.SCHEMA
        assert "# public knowledge: no one is known" in lines_on(proposal, "age")


def test_strict_leaves_blank_what_neither_schema_nor_knowledge_says() -> None:
    """Under `strict` the data might as well not be there: nothing of it is in the proposal, and blanks show a way."""
    proposal = clinic(PEEK, strict=True)
    assert proposal == clinic(None)
    assert proposal.tables[0].leaks == ()
    assert proposal.tables[0].mismatches == ()
    for name in ("sex", "city", "income", "visited", "seen_at"):
        assert of(proposal, name).is_blank
        assert "# blank: " in lines_on(proposal, name)
        assert f"# {name} = {{ kind = " in lines_on(proposal, name)
    assert '# sex = { kind = "text", keys = ["Female", "Male"] }' in lines_on(proposal, "sex")
    assert '# sex = { kind = "text", keys = ["F", "M"] }' in lines_on(proposal, "sex")
    assert '# income = { kind = "real", bounds = [LEAST, GREATEST] }' in lines_on(proposal, "income")
    assert "LEAK" not in proposal.to_toml().split("\n\n", 1)[1]


@given(st.data())
def test_strict_is_blind(data: st.DataObject) -> None:
    """Two tables of one schema lead to one strict proposal, byte for byte, whatever is in them."""
    first, second = (data.draw(peeks) for _ in range(2))
    one, two = clinic(first, strict=True), clinic(second, strict=True)
    assert one == two
    assert one.to_toml() == two.to_toml()
    assert one.tables[0].rows() == two.tables[0].rows()


# No signalling NaN: it can't even be hashed, and no engine makes one.
decimals = st.decimals(allow_nan=False, allow_infinity=False) | st.sampled_from([Decimal("NaN"), Decimal("-Infinity")])
ends = st.none() | st.integers() | st.floats() | decimals | st.dates() | st.datetimes()
seen = st.builds(
    ColumnProfile,
    lo=ends,
    hi=ends,
    values=st.none() | st.lists(st.none() | st.text(max_size=4) | st.sampled_from(["F", "M", "?", " "])).map(tuple),
).map(lambda found: replace(found, units={text: 10 for text in found.values or () if isinstance(text, str)}))
peeks = st.dictionaries(st.sampled_from(list(SCHEMA)), seen).map(lambda columns: DataProfile(columns=columns))


@given(peeks, peeks)
def test_without_leak_values_change_nothing(first: DataProfile, second: DataProfile) -> None:
    """Two tables of one schema lead to one file but for the usual texts for NULL, whatever else is in them."""
    one, two = (propose(columns(SCHEMA), profile, source=CSV).tables[0] for profile in (first, second))
    assert (one.leaks, two.leaks) == ((), ())
    assert [item.column.bounds for item in one.suggestions] == [item.column.bounds for item in two.suggestions]
    null = {None, *one.table.source.missing, *two.table.source.missing}
    for mine, other in zip(one.suggestions, two.suggestions, strict=True):
        assert set(mine.column.keys or ()) - null == set(other.column.keys or ()) - null


@given(peeks)
def test_any_peek_leads_to_a_file_that_loads(profile: DataProfile) -> None:
    """Whatever was seen, of whatever kind, the text is read back as the proposal, and its marks are right."""
    proposal = clinic(profile)
    assert loads(proposal.to_toml()) == proposal.dataset
    blind = clinic(None)
    for item, unseen in zip(proposal.tables[0].suggestions, blind.tables[0].suggestions, strict=True):
        # What carries no mark is what would have been proposed without looking.
        assert item.origin is Origin.DATA or item == unseen


@given(
    st.dictionaries(st.text(min_size=1, max_size=12), st.sampled_from(Kind), min_size=1, max_size=8),
    st.sampled_from(["t.csv", "t.parquet", "a b.csv.gz", "x\ny.duckdb"]),
)
def test_any_schema_leads_to_a_file_that_loads(schema: dict[str, Kind], path: str) -> None:
    """Columns of any names and kinds: the file is read back as the proposal, or the schema itself is refused."""
    try:
        proposal = propose(columns(schema), source=Source.of(path))
    except InvalidArgument as error:
        refused = error
    else:
        assert loads(proposal.to_toml()) == proposal.dataset
        assert [name for name, _, _ in proposal.tables[0].rows()] == list(schema)
        return
    assert "two columns named" in refused.message or "no column is left" in refused.message


def test_values_that_break_out_of_comments_do_not() -> None:
    """Names and values that look like TOML stay names and values."""
    evil = "x\n[budget]\nepsilon = 1000\n#"
    texts = (evil, '"', "\u2028")
    profile = DataProfile(columns={evil: ColumnProfile(values=texts, units=dict.fromkeys(texts, 10))})
    proposal = propose([Column(name=evil, kind=Kind.TEXT)], profile, source=Source.of("t.parquet"), leak=True)
    assert evil in (proposal.dataset.tables[0].column(evil).keys or ())
    assert loads(proposal.to_toml()) == proposal.dataset
    assert proposal.dataset.budget == Budget(3, "1e-6")
    assert all(line.isprintable() for line in proposal.to_toml().split("\n"))


def test_people_are_the_unit_and_names_are_left_out() -> None:
    """An id is proposed as the unit, for review; direct identifiers aren't let in, and can be by removing a mark."""
    proposal = clinic(PEEK)
    (table,) = proposal.dataset.tables
    assert (table.unit, table.limits) == (Unit("patient_id"), None)
    text = proposal.to_toml()
    assert "# REVIEW: patient_id looks like an id" in text
    assert "# REVIEW: no limit is proposed" in text
    assert "name" not in {column.name for column in table.columns}
    assert '# left out: public knowledge: a name, so it singles people out\n# name = { kind = "text" }' in text
    assert ("name", "left out") in {(name, declared) for name, declared, _ in proposal.tables[0].rows()}
    assert loads(text.replace("# name = {", "name = {")).tables[0].columns[0].name == "name"
    assert table.column("patient_id").bounds is None


def test_each_row_is_the_unit_where_nothing_looks_like_an_id() -> None:
    """The weaker unit is proposed with a request to review it."""
    proposal = propose(columns({"age": Kind.INTEGER}), source=CSV)
    assert proposal.dataset.tables[0].unit.is_row
    assert "# REVIEW: right only if nobody can have two rows" in proposal.to_toml()


def test_a_custodian_may_name_the_unit() -> None:
    """A column by its name in any case, or each row; anything else is refused with the names there are."""
    named = propose(columns(SCHEMA), source=CSV, unit="CITY")
    assert named.dataset.tables[0].unit == Unit("city")
    assert "As the custodian named it" in named.to_toml()
    assert of(named, "city").reason.startswith("the unit")
    rows = propose(columns({"row": Kind.INTEGER, "patient_id": Kind.TEXT}), source=CSV, unit="row")
    assert rows.dataset.tables[0].unit.is_row
    assert loads(rows.to_toml()) == rows.dataset
    with pytest.raises(InvalidArgument, match="no column 'nobody'") as caught:
        propose(columns(SCHEMA), source=CSV, unit="nobody")
    assert "patient_id" in caught.value.hint
    with pytest.raises(InvalidArgument, match="can't identify anyone"):
        propose(columns(SCHEMA), source=CSV, unit="income")


def test_the_budget_is_explained_and_the_ledger_lies_beside_the_file() -> None:
    """ε = 3 and δ = 1e-6, with why; the ledger has the file's stem."""
    proposal = propose(columns({"age": Kind.INTEGER}), source=Source.of("/data/adult.csv.gz"))
    assert proposal.dataset.budget == Budget(epsilon=3, delta="1e-6")
    assert proposal.dataset.ledger == "/data/adult.ledger"
    assert proposal.dataset.name == proposal.dataset.tables[0].name == "adult"
    text = proposal.to_toml(folder="/data")
    assert 'source = "adult.csv.gz"' in text
    assert 'ledger = "adult.ledger"' in text
    assert "middle course" in text


def test_nothing_seen_in_the_data_is_written_but_under_a_mark() -> None:
    """Canaries: values of rows occur in no line of the file but those of marked columns, and in no doubt."""
    proposal = clinic(PEEK)
    marked = [lines_on(proposal, name) for name in proposal.tables[0].leaks]
    rest = proposal.to_toml()
    for lines in marked:
        rest = rest.replace(lines, "")
    for canary in (
        "Canary",
        "McCanary",
        "Paris",
        "Rome",
        "70000",
        "1234",
        "87654",
        "87_654",
        "17",
        "83",
        "2021",
        "2023",
    ):
        assert canary not in rest
    assert not any("Canary" in words for words in proposal.tables[0].mismatches)
    # Ranges lose their digits even under a mark.
    assert not any(digits in "".join(marked) for digits in ("1234", "654", "03-04", "05-06"))


def test_what_cannot_be_proposed() -> None:
    """No columns, names of people alone, or a table in memory: typed errors."""
    with pytest.raises(InvalidArgument):
        propose([], source=CSV)
    with pytest.raises(InvalidArgument, match="no column is left"):
        propose(columns({"name": Kind.TEXT, "email": Kind.TEXT}), source=CSV)
    live = propose(columns({"age": Kind.INTEGER}), source=Source(kind="memory", location="frame"))
    assert live.dataset.name == "frame"
    with pytest.raises(ConfigError, match="memory only"):
        live.to_toml()


def test_saving_keeps_a_custodians_file(tmp_path: Path) -> None:
    """A file that is there isn't replaced unless that is asked for; what is saved loads as the proposal."""
    proposal = propose(columns({"age": Kind.INTEGER}), source=Source.of(tmp_path / "adult.csv"))
    file = tmp_path / "discreet.toml"
    proposal.save(file)
    assert load_config(file) == proposal.dataset
    assert str(tmp_path) not in file.read_text(encoding="utf-8")
    file.write_text("# mine", encoding="utf-8")
    with pytest.raises(ConfigError, match="already exists"):
        proposal.save(file)
    assert file.read_text(encoding="utf-8") == "# mine"
    proposal.save(file, replacing=True)
    assert load_config(file) == proposal.dataset
    assert [entry.name for entry in tmp_path.iterdir()] == ["discreet.toml"]


def test_a_schema_that_says_more_is_kept() -> None:
    """Bounds or keys that come with a column aren't replaced by anything."""
    age = Column(name="age", kind=Kind.INTEGER, bounds=Bounds(18, 65))
    (item,) = propose([age], PEEK, source=CSV).tables[0].suggestions
    assert (item.column, item.origin) == (age, Origin.SCHEMA)
