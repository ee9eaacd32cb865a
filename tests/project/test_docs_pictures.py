"""An answer that a page shows as text is the one in the picture beside it, and is about right."""

from __future__ import annotations

import re

import numpy as np

from discreet.census import synthetic
from support.pages import pages
from support.pictures import ANSWERS, FOLDER, drawn
from support.project import ROOT, name

SHOWN = {name(page): drawn(page.read_text(encoding="utf-8")) for page in (ROOT / "README.md", *pages())}
VALUE = re.compile(r"^ *(?P<group>\S.*?)  +(?P<value>\d+) ± (?P<radius>\d+)$", re.MULTILINE)


def test_the_readme_and_the_landing_page_show_the_answer_of_their_picture() -> None:
    """Each value with its ± stands in the picture too, and lies no further from the truth than thrice its ±."""
    assert set(ANSWERS) >= {picture for page in SHOWN.values() for picture in page}
    assert SHOWN["README.md"] == SHOWN["docs/index.md"]
    text = SHOWN["README.md"]["answer-bars"]
    picture = (FOLDER / "answer-bars.svg").read_text(encoding="utf-8")
    people = synthetic()
    education, income = people["education"].to_numpy(zero_copy_only=False), people["income"].to_numpy()
    values = list(VALUE.finditer(text))
    assert {found["group"] for found in values} == set(education)
    for found in values:
        assert f"{int(found['value']):,} ± {int(found['radius']):,}" in picture
        truth = np.nanmean(income[education == found["group"]])
        assert abs(int(found["value"]) - truth) <= 3 * int(found["radius"])
