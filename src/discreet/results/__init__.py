"""Results: answers as data, for all who have nothing but an answer.

An answer holds its values, the ± of each, what it cost and the certificate of what was done. It is made by the
gateway, or of the JSON that one was written as: neither needs an engine, a ledger or a plan to be read, shown or kept.
"""

from discreet.results.answer import Answer, Explanation, Signer
from discreet.results.certificate import certificate, said_in_full, said_once
from discreet.results.columns import (
    AnswerColumn,
    Ends,
    Intervals,
    arrow_kind,
    cell_text,
    cell_texts,
    decimal_kind,
    decimal_of,
)
from discreet.results.contradictions import contradictions
from discreet.results.cost import (
    Cost,
    Note,
    answered_already,
    entries_in_words,
    left_in_words,
    prospect,
    state_in_words,
)
from discreet.results.cut_off import CutOff, Moved
from discreet.results.signatures import (
    PublicKey,
    SignatureCheck,
    heads_in,
    signature_of,
    verify_certificate,
    verify_head,
)
from discreet.results.summary import (
    BAR,
    BLANK,
    PARTS,
    SUMMARIZE,
    Count,
    Summary,
    counts_text,
    is_summary,
    quoted,
    summarize,
    with_left,
)
from discreet.results.tabular import no_formula, plain, to_arrow_stream, to_csv, with_ends

__all__ = [
    "BAR",
    "BLANK",
    "PARTS",
    "SUMMARIZE",
    "Answer",
    "AnswerColumn",
    "Cost",
    "Count",
    "CutOff",
    "Ends",
    "Explanation",
    "Intervals",
    "Moved",
    "Note",
    "PublicKey",
    "SignatureCheck",
    "Signer",
    "Summary",
    "answered_already",
    "arrow_kind",
    "cell_text",
    "cell_texts",
    "certificate",
    "contradictions",
    "counts_text",
    "decimal_kind",
    "decimal_of",
    "entries_in_words",
    "heads_in",
    "is_summary",
    "left_in_words",
    "no_formula",
    "plain",
    "prospect",
    "quoted",
    "said_in_full",
    "said_once",
    "signature_of",
    "state_in_words",
    "summarize",
    "to_arrow_stream",
    "to_csv",
    "verify_certificate",
    "verify_head",
    "with_ends",
    "with_left",
]
