"""Requests: who sends one, and what its body, in JSON, may hold."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import Depends, Request
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, create_model

from discreet.errors import (
    Unauthenticated,
)
from discreet.privacy import Budget
from discreet.query.planner import OFFERED, Number
from discreet.service import ALL, Caller, Service, share_of

_BEARER = HTTPBearer(
    scheme_name="token",
    description="A token that the custodian made, `dsc_…`; or the provider's, where people sign in by OpenID Connect.",
    auto_error=False,
)


async def _service(request: Request) -> Service:
    """The service that answers. Async, because a thread would take longer to start than this takes."""
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


def _who(
    request: Request, service: Serving, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Caller:
    """The caller who sent the request."""
    if shown is None:
        raise Unauthenticated
    caller = service.caller(shown.credentials)
    request.state.token = caller.token  # for the log
    return caller


Who = Annotated[Caller, Depends(_who)]

_FIELDS: dict[str, Any] = {
    name: (OFFERED[name].sent | None, Field(None, description=OFFERED[name].words))
    for name in dict.fromkeys(("epsilon", "rho", *OFFERED))  # in this order since the first version
}
_Terms: Any = create_model("_Terms", __config__=ConfigDict(extra="forbid", strict=True), **_FIELDS)


class Offered(_Terms):  # type: ignore[misc]  # made of all terms that there are, which are listed elsewhere
    """The offer for a question, or for several together; numbers may be texts, which are read exactly."""

    def terms(self) -> dict[str, Any]:
        """The terms that were given, by name."""
        named = self.model_dump(include=set(Offered.model_fields))
        return {name: value for name, value in named.items() if value is not None}


class Bound(Offered):
    """An offer that can name the plan, the approval or the version without which nothing is asked."""

    digest: str | None = Field(None, description="The digest that its plan must have, or nothing is asked.")
    approval: str | None = Field(None, description="The id of the approved request that allows it.")
    version: int | None = Field(
        None,
        ge=1,
        lt=2**53,
        description="A version of the tables, as certificates name it (`data_version`): the answer that is stored for "
        "it is given, and nothing is asked or paid for.",
    )


class Asked(Bound):
    """A question, and the offer for it."""

    question: str = Field(
        description="One SELECT, in SQL; or `SUMMARIZE` and a table, to which there are `answers` as to a workload."
    )


class Requested(Offered):
    """A question that needs approval, the offer for it, and its purpose."""

    question: str = Field(description="One SELECT, in SQL.")
    purpose: str = Field(description="What the answer is for; the custodian reads this.")


class Approving(BaseModel):
    """How far an approval goes."""

    model_config = ConfigDict(extra="forbid", strict=True)

    days: int = Field(7, description="How many days it is valid, from 1 to 366.")
    any_version: bool = Field(default=False, description="For any version of the tables, not only the one in force.")


class Denying(BaseModel):
    """Why a request is denied."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str = Field("", description="The reason, for the analyst who requested it.")


class Share(BaseModel):
    """The most that someone may spend, in all or in each month."""

    model_config = ConfigDict(extra="forbid", strict=True)

    epsilon: Number | None = Field(None, description="In ε.")
    rho: Number | None = Field(None, description="In ρ; with a δ.")
    delta: Number | None = Field(None, description="In δ.")


class AskedTogether(Bound):
    """A workload: questions that are planned and answered together, and the offer for all of them."""

    questions: list[str] = Field(description="Each one SELECT, in SQL; or `SUMMARIZE`, which stands for several.")


class Issuing(BaseModel):
    """Whom a token is for, and what it allows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    subject: str = Field(description="Who will hold it: the analyst's name in the account.")
    role: str = Field("analyst", description="analyst, custodian, auditor or operator.")
    days: int = Field(90, description="How many days it is valid.")
    most_epsilon: Number | None = Field(None, description="The ceiling on what one question may cost in ε.")
    most_rho: Number | None = Field(None, description="The ceiling in ρ; beside one in ε, it allows Gaussian noise.")
    share: Share | Literal["all"] | None = Field(
        None,
        description="The most that all questions of the subject may cost together; `all` means the whole budget. For "
        "an analyst, a tenth of the budget if left out.",
    )
    renews: Literal["monthly"] | None = Field(
        None, description="`monthly`: the share is for each calendar month (UTC), not in all."
    )
    datasets: list[str] = Field([], description="The accounts it is for, by name; this one if left out.")

    def shared(self) -> Budget | Literal["all"] | None:
        """What the subject may spend, in all or in each month; None if nothing is said.

        Raises:
            InvalidArgument: it is no budget, or nothing renews.
        """
        if self.share == ALL and self.renews is None:
            return "all"
        return share_of(self.share.model_dump() if isinstance(self.share, Share) else None, self.renews)


class Admitting(BaseModel):
    """How to admit the tables."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: str | None = Field(None, description="Only the tables of this refresh group; '' means those that name none.")
    scheduled: bool = Field(
        default=False, description="Advance the version whatever happens; if nothing can be read, keep the old tables."
    )
    at_most_unreadable: Number | None = Field(
        None,
        description="The part of a table's records, or of a column's values, that may be unreadable this time; if "
        "left out, the part that each table declares.",
    )
