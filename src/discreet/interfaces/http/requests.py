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
    """The service that answers; looked up here and now, for a thread would take longer to come by."""
    found: Service = request.app.state.service
    return found


Serving = Annotated[Service, Depends(_service)]


def _who(
    request: Request, service: Serving, shown: Annotated[HTTPAuthorizationCredentials | None, Depends(_BEARER)]
) -> Caller:
    """Whoever sent the request."""
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


class Offered(_Terms):  # type: ignore[misc]  # of all terms that there are, which are told elsewhere
    """What is offered for a question, or for several together; numbers may be texts, which are read exactly."""

    def terms(self) -> dict[str, Any]:
        """What is offered, without what wasn't said."""
        named = self.model_dump(include=set(Offered.model_fields))
        return {name: value for name, value in named.items() if value is not None}


class Bound(Offered):
    """What is offered, and what it is offered for or else nothing."""

    digest: str | None = Field(None, description="Of the plan that it must be.")
    approval: str | None = Field(None, description="The id of a request, by whose approval it is asked.")
    version: int | None = Field(
        None,
        ge=1,
        lt=2**53,
        description="Of the tables: what is stored of this version is the answer, and nothing is asked or paid for. A "
        "certificate names it, as `data_version`.",
    )


class Asked(Bound):
    """A question, and what is offered for it."""

    question: str = Field(description="One SELECT, in SQL.")


class Requested(Offered):
    """A question that is to be approved, what will be offered for it, and why it is asked."""

    question: str = Field(description="One SELECT, in SQL.")
    purpose: str = Field(description="What the answer is for, for the custodian.")


class Approving(BaseModel):
    """What an approval is good for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    days: int = Field(7, description="For how many days it holds, from 1 to 366.")
    any_version: bool = Field(default=False, description="Of any version of the tables, not of the one in force alone.")


class Denying(BaseModel):
    """Why a request is denied."""

    model_config = ConfigDict(extra="forbid", strict=True)

    reason: str = Field("", description="For who made it.")


class Share(BaseModel):
    """What somebody may spend in all."""

    model_config = ConfigDict(extra="forbid", strict=True)

    epsilon: Number | None = Field(None, description="In ε.")
    rho: Number | None = Field(None, description="In ρ; with a δ.")
    delta: Number | None = Field(None, description="In δ.")


class AskedTogether(Bound):
    """A workload: questions that are planned and answered together, and what is offered for all of them."""

    questions: list[str] = Field(description="Each one SELECT, in SQL.")


class Issuing(BaseModel):
    """Whom a token is for, and what it allows."""

    model_config = ConfigDict(extra="forbid", strict=True)

    subject: str = Field(description="Who will hold it: the analyst's name in the account.")
    role: str = Field("analyst", description="analyst, custodian, auditor or operator.")
    days: int = Field(90, description="For how many days it holds.")
    most_epsilon: Number | None = Field(None, description="The ceiling on what one question may cost in ε.")
    most_rho: Number | None = Field(None, description="The ceiling in ρ; it lets Gaussian noise in beside one in ε.")
    share: Share | Literal["all"] | None = Field(
        None,
        description="What all questions of the subject may cost together; for an analyst a tenth of the budget if it "
        "is left out, and `all` is all of it.",
    )
    renews: Literal["monthly"] | None = Field(
        None, description="`monthly`: the share is for each calendar month, in UTC, rather than in all."
    )
    datasets: list[str] = Field([], description="Whose tables it is for, by the names of accounts; else this one's.")

    def shared(self) -> Budget | Literal["all"] | None:
        """What the subject may spend, in all or in each month; None if nothing is said.

        Raises:
            InvalidArgument: it is no budget, or nothing renews.
        """
        if self.share == ALL and self.renews is None:
            return "all"
        return share_of(self.share.model_dump() if isinstance(self.share, Share) else None, self.renews)


class Admitting(BaseModel):
    """How the tables are to be admitted."""

    model_config = ConfigDict(extra="forbid", strict=True)

    group: str | None = Field(None, description="Only the tables of this refresh group; '' is those that name none.")
    scheduled: bool = Field(
        default=False, description="Advance the version whatever happens; if nothing can be read, serve what there was."
    )
    at_most_unreadable: Number | None = Field(
        None,
        description="The part of a table's records, or of a column's values, that may be unreadable this time; "
        "unless given, what each table declares.",
    )
