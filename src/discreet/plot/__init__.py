"""Pictures of results, for those who look, print in grey, can't tell red from green, or have a page read to them.

Each function takes numbers, or objects that give them, and returns a Matplotlib `Figure` that belongs to no window;
`save` writes it. Nothing here knows a mechanism or draws noise. Needs Matplotlib: `pip install 'discreet[plot]'`.

* What a mechanism does to two neighbours: `neighbours`, `loss`.
* What it is proved to give away: `delta`, `composition`.
* What it is good for, and what it isn't: `accuracy`, `averaging`.
* Who is exposed in a table, and by what: `class_sizes`, `column_risks`.
* What attacks achieve: `outcomes`, `candidates`, `recovery`, `members`.
"""

from discreet.plot.accuracy import accuracy
from discreet.plot.averaging import averages_needed, averaging
from discreet.plot.composition import composition
from discreet.plot.delta import delta
from discreet.plot.drawing.drawable import AdditiveNoise, Curve
from discreet.plot.drawing.numbers import spaced
from discreet.plot.drawing.saving import save
from discreet.plot.drawing.sheet import note
from discreet.plot.exposure.candidates import candidates
from discreet.plot.exposure.class_sizes import class_sizes
from discreet.plot.exposure.column_risks import column_risks
from discreet.plot.exposure.members import members
from discreet.plot.exposure.outcomes import outcomes
from discreet.plot.exposure.recovery import recovery
from discreet.plot.loss import loss
from discreet.plot.losses import LossLaw, odds
from discreet.plot.neighbours import neighbours

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
    "recovery",
    "save",
    "spaced",
]
