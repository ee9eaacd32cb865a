"""A queue in which subjects have equal shares of the time."""

from __future__ import annotations

from threading import Thread

from hypothesis import given
from hypothesis import strategies as st

from discreet.service.fair_queue import FairQueue

PATIENCE = 60.0
ASKED = st.tuples(st.sampled_from("abcd"), st.integers(1, 100))


@given(st.lists(ASKED, max_size=30))
def test_subjects_share_the_time(asked: list[tuple[str, int]]) -> None:
    """Of those who still wait, nobody had more than one question's time more than another; one's own stay in order."""
    queue: FairQueue[tuple[str, int, int]] = FairQueue()
    items = [(subject, seconds, place) for place, (subject, seconds) in enumerate(asked)]
    for item in items:
        queue.put(item[0], item, seconds=item[1])
    assert len(queue) == len(items)
    queue.close()
    had = dict.fromkeys("abcd", 0)
    taken = list[tuple[str, int, int]]()
    while (item := queue.take()) is not None:
        taken.append(item)
        had[item[0]] += item[1]
        ahead = {each: had[each] for each in had if any(each == left[0] for left in items if left not in taken)}
        longest = max((each[1] for each in items), default=0)
        assert not ahead or max(ahead.values()) - min(ahead.values()) <= longest
    assert sorted(taken) == sorted(items)
    for subject in had:
        own = [place for name, _, place in taken if name == subject]
        assert own == sorted(own)
    assert not queue.wait()


@given(st.integers(1, 100), st.lists(st.integers(1, 100), min_size=1, max_size=8), st.integers(0, 8))
def test_a_short_question_waits_for_no_more_than_the_one_that_runs(short: int, long: list[int], before: int) -> None:
    """However much somebody else has queued, and however long that takes: of it as much goes first as one's own."""
    queue: FairQueue[str] = FairQueue()
    for seconds in long:
        queue.put("bob", f"bob {seconds}", seconds=seconds)
    for _ in range(min(before, len(long))):
        queue.take()
    queue.put("ann", "ann", seconds=short)
    ahead = list[int]()
    while (item := queue.take()) != "ann":
        assert item is not None
        ahead.append(int(item.removeprefix("bob ")))
    assert sum(ahead) <= short + max(long)
    assert len(ahead) <= 1 or sum(ahead[1:]) <= short


def test_nobody_saves_up_time_by_asking_nothing() -> None:
    """Ann asks alone for an hour; then bob's first ten minutes don't all go before hers."""
    queue: FairQueue[str] = FairQueue()
    for _ in range(60):
        queue.put("ann", "ann", seconds=60)
        queue.take()
    for _ in range(3):
        queue.put("bob", "bob", seconds=60)
        queue.put("ann", "ann", seconds=60)
    assert [queue.take() for _ in range(6)] == ["bob", "ann"] * 3


def test_of_one_name_one_is_out_at_a_time() -> None:
    """Others go before the next of it, and nobody is woken for what can't be taken; it has its turn afterwards."""
    queue: FairQueue[str] = FairQueue()
    for number, name in enumerate(["same", "same", "other", "same"]):
        queue.put(f"subject {number}", f"{number} {name}", seconds=number, name=name)
    assert [queue.take(), queue.take(), queue.take()] == ["0 same", "2 other", None]
    woken = list[bool]()
    waiting = Thread(target=lambda: woken.append(queue.wait()))
    waiting.start()
    queue.done("other")
    waiting.join(0.05)
    assert not woken
    queue.done("same")
    waiting.join(PATIENCE)
    assert woken == [True]
    assert [queue.take(), queue.take(), len(queue)] == ["1 same", None, 1]
    queue.close()
    assert queue.empty() == ["3 same"]
    assert not queue.wait()


def test_a_closed_queue_sends_everybody_home() -> None:
    """Those who wait for something as well."""
    queue: FairQueue[int] = FairQueue()
    found: list[bool] = []
    waiting = [Thread(target=lambda: found.append(queue.wait())) for _ in range(3)]
    for thread in waiting:
        thread.start()
    queue.close()
    for thread in waiting:
        thread.join(PATIENCE)
    assert found == [False] * 3
