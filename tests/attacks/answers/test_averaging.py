"""Averaging succeeds against fresh noise, gains nothing against the gateway, and finds a gateway that leaks."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import inf
from pathlib import Path

import pyarrow as pa
import pytest

import discreet as dp
from discreet.anonymity import KAnonymity, anonymize, read
from discreet.attacks.answers import answers_needed, averaging, chance
from discreet.attacks.targets import Answering, Answers, Bare, Exact, Imputed, Reply
from discreet.attacks.targets.rows import Rows
from discreet.errors import InvalidArgument, NotTried, UnknownColumn
from discreet.stats import clopper_pearson

TRUTH = 4
QUESTION = "SELECT COUNT(*) FROM staff WHERE pay > 50"
PAY = pa.table({"pay": [70, 56, 48, 61, 52]})


def exact() -> Exact:
    """Five people, four of whom are asked for."""
    return Exact(PAY, name="staff")


class Known(Exact):
    """The exact answer, without running anything: thousands are asked for."""

    def _reply(self, sql: str) -> Reply:
        """Four."""
        del sql
        return Reply(value=TRUTH, deviation=0.0, epsilon=inf)


def gateway(folder: Path) -> dp.Protected:
    """The same behind an account of ε = 2."""
    return dp.protect(
        PAY,
        name="staff",
        unit=dp.Unit.row(),
        columns={"pay": dp.Bounds(0, 100)},
        budget=dp.Budget(epsilon=2),
        ledger=folder / "staff.ledger",
    )


class Leaky(Answering):
    """A wrong gateway: it says that an answer was released before, and draws fresh noise all the same."""

    def __init__(self) -> None:
        super().__init__("staff")
        self.bare = Bare(exact(), epsilon="0.5")

    @property
    def against(self) -> str:
        """What it says it is."""
        return "answers at ε = 1/2 each"

    def _reply(self, sql: str) -> Reply:
        """Paid once, fresh ever after."""
        reply = self.bare.ask(sql)
        if not self.replies:
            return reply
        return Reply(value=reply.value, deviation=reply.deviation, epsilon=0.0, reused=True)


def test_bare_noise_averages_out() -> None:
    """At ε = ½ as often as `chance` says; the twin, a single answer's chance, is refuted.

    60 attacks of 63 answers; the interval is exact at 1e-9. They succeed in 95.3 %, one answer alone in 24.5 %: a lower
    end above that takes 38 successes, so it is missed with a chance below 1e-14.
    """
    needed, trials = answers_needed("0.5"), 60
    bare = Bare(Known(PAY, name="staff"), epsilon="0.5")
    wins = sum(averaging(bare, QUESTION, repeats=needed, truth=TRUTH).success == 1 for _ in range(trials))
    low, high = clopper_pearson(wins, trials, 1 - 1e-9)
    assert low <= chance("0.5", needed, "median") <= high
    assert low > chance("0.5", 1, "median")


def test_the_result_says_what_it_took() -> None:
    """What was asked, what it cost, and an estimate after each answer."""
    found = averaging(Bare(exact(), epsilon=2), QUESTION, repeats=101, truth=TRUTH, estimator="mean")
    assert found.success == 1  # ½ is 8 deviations of the mean: missed with a chance below 1e-9
    assert (found.asked, found.fresh, found.reused, found.refused, found.leaked) == (101, 101, 0, 0, 0)
    assert found.epsilon == 202
    assert found.needed == answers_needed(2, "mean") == 7
    assert len(found.running) == len(found.answers) == 101
    assert found.running[-1] == found.estimate == pytest.approx(sum(found.answers) / 101)
    assert found.baseline == chance(2, 1, "median")
    assert found.guesses[0].what == "4"
    assert found.question == QUESTION
    assert f"question  {QUESTION}" in str(found)
    assert "nothing stopped the attacker" in found.verdict


def test_exact_answers_need_no_averaging() -> None:
    """One is enough, so a baseline of one answer is right always, and no other is asked for."""
    found = averaging(exact(), QUESTION, repeats=3, truth=TRUTH)
    assert (found.success, found.baseline, found.needed, found.estimate) == (1.0, 1.0, 1, 4)
    assert (found.asked, found.running, found.epsilon) == (1, (4,), inf)
    assert [str(guess) for guess in found.guesses] == ["the exact answer: 4, 100 % sure, right"]
    assert found.verdict == "one question is enough: the answer is exact"


def test_anonymised_rows_have_nothing_to_average() -> None:
    """They say the same each time, and by how much that is off isn't known, so nobody is sure of it."""
    table = read({"age": [20, 21, 40, 41], "ill": ["flu", "cold"] * 2})
    release = anonymize(
        table, quasi_identifiers=["age"], sensitive=["ill"], models=[KAnonymity(2)], algorithm="mondrian"
    )
    found = averaging(
        Imputed(Rows.of(release, original=table)), "SELECT COUNT(*) FROM people WHERE age = 20", repeats=9, truth=1
    )
    assert (found.asked, len(set(found.answers)), found.needed, found.baseline) == (9, 1, None, None)
    assert found.success == (found.answers[0] == 1)
    assert found.guesses == ()
    assert found.verdict == "the same answer each time, so that there is nothing to average"


def test_the_gateway_gives_one_answer(tmp_path: Path) -> None:
    """Twelve repetitions are charged once, and hold one number."""
    with gateway(tmp_path) as protected:
        found = averaging(Answers(protected, epsilon="0.5"), QUESTION, repeats=12, truth=TRUTH)
        assert protected.spent.epsilon == Fraction(1, 2)
    assert len(set(found.answers)) == 1
    assert (found.fresh, found.reused, found.refused, found.leaked) == (1, 11, 0, 0)
    assert found.epsilon == 0.5
    assert found.verdict.startswith("nothing gained")
    assert found.guesses[0].confidence == chance("0.5", 1, "median")


def test_the_gateway_refuses_other_words(tmp_path: Path) -> None:
    """What it takes for other questions it charges, until nothing is left: four answers where 63 are needed."""
    wordings = [f"SELECT COUNT(*) FROM staff WHERE pay > 50 AND pay < {high}" for high in range(200, 220)]
    with gateway(tmp_path) as protected:
        found = averaging(Answers(protected, epsilon="0.5"), wordings, repeats=20, truth=TRUTH)
        assert protected.spent.epsilon == found.epsilon
    assert found.refused == 1
    assert found.question == wordings[0]
    assert found.fresh <= 4 < (found.needed or 0)
    assert found.epsilon <= 2
    assert found.leaked == 0


def test_a_leaky_gateway_is_caught() -> None:
    """Answers that cost nothing and differ are a fault: forty alike have a chance below 1e-20."""
    found = averaging(Leaky(), QUESTION, repeats=41)
    assert found.leaked > 0
    assert found.epsilon == 0.5
    assert found.verdict.startswith("a fault")


def test_a_gateway_that_forgets_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real one, made to draw anew whenever it gives a stored answer."""
    with gateway(tmp_path) as protected:
        plain, noise = type(protected).ask, Bare(exact(), epsilon="0.5").mechanism

        def forgetful(self: dp.Protected, question: str, **terms: object) -> dp.Answer:
            """Draw fresh noise for what was paid for before."""
            answer = plain(self, question, **terms)  # type: ignore[call-overload]  # as it was called
            if answer.reused:
                columns = [replace(one, values=tuple(noise.release(list(one.values)))) for one in answer.columns]
                return answer.__replace__(columns=tuple(columns))
            return answer

        monkeypatch.setattr(type(protected), "ask", forgetful)
        assert (
            averaging(Answers(protected, epsilon="0.5"), QUESTION, repeats=17).leaked > 0
        )  # 16 zeros: 0.245^16 < 1e-9


def test_noise_of_another_law_has_no_count_of_answers(tmp_path: Path) -> None:
    """Gaussian noise, or that of a sum: what is said of counts isn't said of them."""
    with dp.protect(
        PAY,
        name="staff",
        unit=dp.Unit.row(),
        columns={"pay": dp.Bounds(0, 100)},
        budget=dp.Budget(epsilon=5, delta=1e-6),
        ledger=tmp_path / "staff.ledger",
    ) as protected:
        for target, question in [
            (Answers(protected, rho="0.01"), QUESTION),
            (Answers(protected, epsilon="0.5"), "SELECT SUM(pay) FROM staff"),
        ]:
            found = averaging(target, question, repeats=2)
            assert (found.needed, found.baseline, found.guesses) == (None, None, ())
            assert found.estimate is not None


def test_refused_at_once(tmp_path: Path) -> None:
    """An offer above the budget: nothing was tried."""
    with gateway(tmp_path) as protected, pytest.raises(NotTried):
        averaging(Answers(protected, epsilon=3), QUESTION, repeats=5, truth=TRUTH)


def test_nonsense_is_refused(tmp_path: Path) -> None:
    """No question, no repetition, and a question that the gateway doesn't take."""
    with pytest.raises(InvalidArgument):
        averaging(exact(), [], repeats=1)
    with pytest.raises(InvalidArgument):
        averaging(exact(), QUESTION, repeats=0)
    with gateway(tmp_path) as protected, pytest.raises(UnknownColumn):
        averaging(Answers(protected, epsilon=1), "SELECT SUM(nope) FROM staff", repeats=2)
