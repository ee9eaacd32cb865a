"""Proposals: what `discreet init` proposes to declare, from names, public knowledge and, as marked leaks, the data."""

from discreet.tables.proposals.codebooks import codebook
from discreet.tables.proposals.data_profile import ColumnProfile, DataProfile, profile_table
from discreet.tables.proposals.names import joined, plain, without_owner
from discreet.tables.proposals.proposal import Proposal, propose, propose_together
from discreet.tables.proposals.public_knowledge import knowledge
from discreet.tables.proposals.shared_ids import shared_names
from discreet.tables.proposals.suggestion import Origin, Suggestion
from discreet.tables.proposals.table_proposal import ProposalInput, TableProposal
from discreet.tables.proposals.unit_choice import is_number_of_a_person, likely_unit, rank_of_id

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
