"""Input perturbation: each person randomises what they hold before they send it, so the collector need not be trusted.

Every protocol is a frozen set of public parameters with a randomiser (`randomise` for one person, `randomise_all` for
many), an unbiased estimator with ± (`estimate`), and a bound on what a report gives away (`loss`, `event`). Protocols
that keep their answers say instead what all reports of a value that never changes give away together
(`loss_if_unchanged`, `event_if_unchanged`). Between a person's value and their report there are only integers.

* Counts of few values: `RandomisedResponse`; of up to thousands: `UnaryEncoding`, `HadamardResponse`, `LocalHashing`.
* Counts of anything, from short reports: `CountMeanSketch`, `HadamardCountMeanSketch`, on `fingerprints` of texts.
* The values that many hold, when nobody can list them all: `HeavyHitters`.
* Means of bounded numbers: `OneBitMean`, `PiecewiseMean`, `LocalLaplace`.
* The same value day after day, if it doesn't change: `Rappor`, `MemoisedOneBit`, `BitFlip`.
* What it costs not to be trusted: `side_by_side`.
"""

from discreet.textbook.local.bit_flip import BitFlip, BitFlipMemos
from discreet.textbook.local.count_mean_sketch import CountMeanSketch, HadamardCountMeanSketch
from discreet.textbook.local.estimates import Estimate
from discreet.textbook.local.hadamard import HadamardResponse
from discreet.textbook.local.hashing import fingerprints
from discreet.textbook.local.heavy_hitters import Found, HeavyHitters
from discreet.textbook.local.local_hashing import LocalHashing
from discreet.textbook.local.means import LocalLaplace, OneBitMean, PiecewiseMean
from discreet.textbook.local.memoised import MemoisedOneBit, OneBitMemos
from discreet.textbook.local.randomised_response import RandomisedResponse
from discreet.textbook.local.rappor import Rappor
from discreet.textbook.local.side_by_side import SideBySide, side_by_side
from discreet.textbook.local.unary_encoding import UnaryEncoding

__all__ = [
    "BitFlip",
    "BitFlipMemos",
    "CountMeanSketch",
    "Estimate",
    "Found",
    "HadamardCountMeanSketch",
    "HadamardResponse",
    "HeavyHitters",
    "LocalHashing",
    "LocalLaplace",
    "MemoisedOneBit",
    "OneBitMean",
    "OneBitMemos",
    "PiecewiseMean",
    "RandomisedResponse",
    "Rappor",
    "SideBySide",
    "UnaryEncoding",
    "fingerprints",
    "side_by_side",
]
