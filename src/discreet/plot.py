"""Pictures of results, for those who look, print in grey, can't tell red from green, or have a page read to them.

Each function takes numbers, or objects that give them, and returns a Matplotlib `Figure` that belongs to no window;
`save` writes it. Nothing here knows a mechanism or draws noise. Needs Matplotlib: `pip install 'discreet[plot]'`.

* What a mechanism does to two neighbours: `neighbours`, `loss`.
* What it is proved to give away: `delta`, `composition`.
* What it is good for, and what it isn't: `accuracy`, `averaging`.
* Who is exposed in a table, and by what: `class_sizes`, `column_risks`.
* What attacks achieve: `outcomes`, `candidates`, `recovery`, `members`.

Answers draw themselves, without Matplotlib: `answer.to_svg()`. `png` paints the same picture.
"""

from discreet.textbook.plots.accuracy import accuracy
from discreet.textbook.plots.attacks import candidates, members, outcomes, recovery
from discreet.textbook.plots.averaging import averages_needed, averaging
from discreet.textbook.plots.guarantees import Curve, composition, delta
from discreet.textbook.plots.loss import loss
from discreet.textbook.plots.loss_law import AdditiveNoise, LossLaw, odds
from discreet.textbook.plots.neighbours import neighbours
from discreet.textbook.plots.numbers import spaced
from discreet.textbook.plots.painting import png
from discreet.textbook.plots.risks import class_sizes, column_risks
from discreet.textbook.plots.saving import save
from discreet.textbook.plots.sheet import note

__all__ = [
    "AdditiveNoise",
    "Curve",
    "LossLaw",
    "accuracy",
    "averages_needed",
    "averaging",
    "candidates",
    "class_sizes",
    "column_risks",
    "composition",
    "delta",
    "loss",
    "members",
    "neighbours",
    "note",
    "odds",
    "outcomes",
    "png",
    "recovery",
    "save",
    "spaced",
]
