"""An answer that a page shows as text is the one in its picture; the console is shown in light and in dark."""

from __future__ import annotations

import re
import struct
from pathlib import Path

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


CONSOLE = re.compile(
    r'<source media="\(prefers-color-scheme: dark\)" srcset="(?:docs/)?pictures/(?P<dark>[\w-]+)\.png">\n'
    r'<img src="(?:docs/)?pictures/(?P<light>[\w-]+)\.png"'
)


def test_pictures_of_the_console_are_in_light_and_in_dark() -> None:
    """Wherever one stands its twin does, of the same size; and none is left over."""
    shown = set()
    for page in (ROOT / "README.md", *pages()):
        text = page.read_text(encoding="utf-8")
        pairs = [(pair["light"], pair["dark"]) for pair in CONSOLE.finditer(text)]
        assert all(dark == f"{light}-dark" for light, dark in pairs), page
        assert text.count("pictures/console-") == 2 * len(pairs), page
        shown |= {each for pair in pairs for each in pair}
    assert shown == {file.stem for file in FOLDER.glob("console-*.png")}
    for dark in FOLDER.glob("*-dark.png"):
        light = dark.with_name(dark.name.replace("-dark", ""))
        assert size(light) == size(dark)
        assert light.read_bytes() != dark.read_bytes()


def size(picture: Path) -> tuple[int, int]:
    """Its width and height, as the header of a PNG has them."""
    width, height = struct.unpack(">II", picture.read_bytes()[16:24])
    return width, height
