"""Proposals: what `discreet init` proposes to declare, from names, public knowledge and, as marked leaks, the data."""

from discreet.tables.proposals.data_profile import ColumnProfile, DataProfile, profile_table
from discreet.tables.proposals.names import is_number_of_a_person, joined, likely_unit, plain, rank_of_id, without_owner
from discreet.tables.proposals.proposal import Proposal, ProposalInput, TableProposal, propose, propose_together
from discreet.tables.proposals.public_knowledge import codebook, knowledge
from discreet.tables.proposals.shared_ids import shared_names
from discreet.tables.proposals.suggestion import Origin, Suggestion

__all__ = [
    "ColumnProfile",
    "DataProfile",
    "Origin",
    "Proposal",
    "ProposalInput",
    "Suggestion",
    "TableProposal",
    "codebook",
    "is_number_of_a_person",
    "joined",
    "knowledge",
    "likely_unit",
    "plain",
    "profile_table",
    "propose",
    "propose_together",
    "rank_of_id",
    "shared_names",
    "without_owner",
]
