"""Charts: pictures of answers, drawn once and shown everywhere.

A chart is chosen by the keys of groups: along an order (dates, whole numbers, bins) a line with a band, few categories
as bars, two keys as panels or as a heat map, and more than can be labelled as a ranking. What isn't known isn't drawn:
a value that tells nothing has no bar, an unknown interval no whisker. Everything is made of what was released.

A drawing is marks on a sheet, without script or style sheet: `svg` writes them for a page or a file, and
`discreet.plot.png` paints the same ones.
"""

from discreet.results.charts.choice import NARROW, WIDE, Chart, charts, drawn
from discreet.results.charts.drawing import Drawing
from discreet.results.charts.spending import spending
from discreet.results.charts.svg import svg

__all__ = ["NARROW", "WIDE", "Chart", "Drawing", "charts", "drawn", "spending", "svg"]
