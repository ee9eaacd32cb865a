"""The pages of the documentation, and the fenced blocks in them."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from support.project import DOCS

_FENCE = re.compile(r"^(?P<indent> *)```(?P<language>\w*)(?P<rest>.*)$")
_MARK = re.compile(r"^ *<!-- test: (?P<words>.+?) -->$")


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block.

    A comment above the fence, `<!-- test: … -->`, says how it is tried: `output` (what the block before it prints),
    `refused CODE` (it must fail with this error), `needs FILE` (it runs where that file is), or `not run: REASON`.

    Args:
        language: what stands after the backticks; empty if nothing does.
        text: what stands between the fences.
        line: of the opening fence.
        mark: the words of the comment; empty if there is none.
    """

    language: str
    text: str
    line: int
    mark: str = ""


def pages() -> list[Path]:
    """All pages of the documentation."""
    return sorted(DOCS.rglob("*.md"))


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    found: list[Block] = []
    body: list[str] = []
    mark, opened = "", None
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None:
            comment = _MARK.match(line)
            if fence:
                opened, body = (fence["language"], number, len(fence["indent"])), []
            elif comment:
                mark = comment["words"]
            elif line.strip():
                mark = ""
        elif fence and not fence["language"]:
            found.append(Block(opened[0], "\n".join(body) + "\n", opened[1], mark))
            mark, opened = "", None
        else:
            body.append(line[opened[2] :])
    if opened is not None:
        raise ValueError(f"the block that opens on line {opened[1]} never closes")
    return found


def commands(block: Block) -> list[str]:
    """The commands of a console block: what follows `$ `, with lines that end in a backslash joined, no comments."""
    joined = block.text.replace("\\\n", " ")
    return [line[2:].partition("  #")[0].strip() for line in joined.splitlines() if line.startswith("$ ")]


def spoken(text: str) -> str:
    """A page without its generated parts: what somebody wrote."""
    return re.sub(r"<!-- generated: .+? -->.*?<!-- end -->", "", text, flags=re.DOTALL)
