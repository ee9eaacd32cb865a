"""What is attacked: rows that were published, exact answers, and private ones."""

from discreet.attacks.targets.answering import Answering, Bill, Reply
from discreet.attacks.targets.answers import Answers
from discreet.attacks.targets.bare import Bare
from discreet.attacks.targets.exact import Exact, Restricted
from discreet.attacks.targets.imputed import Imputed

__all__ = ["Answering", "Answers", "Bare", "Bill", "Exact", "Imputed", "Reply", "Restricted"]
