"""Together: a workload asked at once. One debit pays for all of it, and all of it is answered, or nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.errors import DiscreetError, QuestionFailed
from discreet.gateway.answer import Answer, groups_from_json, groups_to_json
from discreet.gateway.answering import prepare, run
from discreet.gateway.answers import Group, Workload
from discreet.gateway.asked import Asked
from discreet.gateway.current import Current
from discreet.gateway.reuse import holding, topic_of
from discreet.query.planner import cost_to_dict

if TYPE_CHECKING:
    from discreet.ledger import Account, Reservation


@dataclass(frozen=True, slots=True)
class Desk:
    """What it takes to answer a workload.

    Args:
        account: that pays.
        current: the versions of the tables in force.
    """

    account: Account
    current: Current

    def ask(self, workload: Workload, analyst: str | None) -> list[Answer]:
        """Look for the stored answers, or pay for new ones: see `Protected.ask`."""
        self.current.check()
        version = self.current.version_for(*workload.bundles)
        stored = self.account.stored(workload.digest, version)
        if stored is not None:
            released = [groups_from_json(part["groups"]) for part in stored.answer["parts"]]
            return list(_answers(workload, released, stored.certificate, stored.entry, reused=True))
        return self._answer(workload, version, analyst)

    def _answer(self, workload: Workload, version: int, analyst: str | None) -> list[Answer]:
        """Prepare, reserve, run, release, commit: all or nothing."""
        for bundle in workload.bundles:
            prepare(bundle, self.current.engine)
        reservation = self.account.reserve(
            question=workload.digest, text=workload.text, version=version, event=workload.event, analyst=analyst
        )
        released = self._run(workload)
        proof = _certificate(workload, version=version, entry=reservation.entry, analyst=analyst)
        if released is None or not self._keep(reservation, workload, proof, released):
            with suppress(DiscreetError):
                self.account.fail(reservation)
            raise QuestionFailed
        return list(_answers(workload, released, proof, reservation.entry, reused=False))

    def _run(self, workload: Workload) -> list[list[Group]] | None:
        """The released groups of each bundle; None if any of them failed."""
        released = []
        for bundle in workload.bundles:
            groups = run(bundle, self.current.engine)
            if groups is None:
                return None
            released.append(groups)
        return released

    def _keep(
        self,
        reservation: Reservation,
        workload: Workload,
        proof: Mapping[str, object],
        released: Sequence[Sequence[Group]],
    ) -> bool:
        """Store the answers with their debit; what can't be stored isn't given."""
        asked = Asked(
            questions=tuple((each.text, each.dialect) for each in workload.questions),
            request=workload.request,
            together=True,
        )
        parts = [{"groups": groups_to_json(groups)} for groups in released]
        answer = {"parts": parts, "asked": asked.to_json(), "holds": holding(workload.bundles)}
        topics = [(topic_of(bundle), self.current.version_for(bundle)) for bundle in workload.bundles]
        try:
            self.account.commit(reservation, certificate=proof, answer=answer, topics=topics)
        except DiscreetError:
            return False
        return True


def _answers(
    workload: Workload,
    released: Sequence[Sequence[Group]],
    proof: Mapping[str, object],
    entry: int,
    *,
    reused: bool,
) -> Iterator[Answer]:
    """The answer to each question."""
    for plan, groups in workload.answers(released, entry):
        yield Answer(plan=plan, groups=groups, certificate=proof, entry=entry, reused=reused)


def _certificate(workload: Workload, *, version: int, entry: int, analyst: str | None) -> dict[str, object]:
    """What was done for all answers together; all of it public."""
    from discreet import __version__

    return {
        "discreet": __version__,
        "text": workload.text,
        "analyst": analyst,
        "data_version": version,
        "entry": entry,
        "workload": workload.to_dict(),
        "cost": cost_to_dict(workload.event),
    }
