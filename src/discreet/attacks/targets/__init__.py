"""Targets of attacks: rows that were published, exact answers, and private ones."""

from discreet.attacks.targets.answering import Answering, Bill, Reply
from discreet.attacks.targets.exact_answers import Exact, Imputed, Restricted
from discreet.attacks.targets.fresh_noise import Bare
from discreet.attacks.targets.noisy_answers import Answers

__all__ = ["Answering", "Answers", "Bare", "Bill", "Exact", "Imputed", "Reply", "Restricted"]
