"""Reports that commands write: files that are whole or not there at all, and pages of HTML that fetch nothing."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from discreet.errors import ExtraMissing, InvalidArgument

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Write: TypeAlias = Callable[[Path], object]
"""Writes a file to the path that it is given, which ends as the file's own does."""


def refuse_to_replace(path: Path, *, force: bool, read: Iterable[Path] = (), endings: Sequence[str] = ()) -> None:
    """Refuse before anything is computed, where a file is in the way or couldn't be written.

    Args:
        path: what is to be written.
        force: whether a file that is there may be replaced.
        read: files that are read; none of them may be replaced, `force` or not.
        endings: that the file may have; any, if there are none.

    Raises:
        InvalidArgument: there is a file, and it may not be replaced; or it is a folder; or its own folder isn't there,
            or takes no files; or its ending is another.
    """
    with _named(path):
        if path.is_dir():
            raise InvalidArgument(f"{str(path)!r} is a folder", hint="name a file in it")
        if endings and path.suffix.lower() not in endings:
            raise InvalidArgument(f"{path.name!r} doesn't end in {' or '.join(endings)}")
        for each in read:
            if path.resolve() == each.resolve():
                raise InvalidArgument(f"{str(path)!r} would replace a file that is read", hint="write to another file")
        if path.exists() and not force:
            raise InvalidArgument(f"the file {str(path)!r} is there already", hint="--force replaces it")
        _refuse_folder(path)


def _refuse_folder(path: Path) -> None:
    """Refuse a file whose folder takes none: one is made there and taken away again, as only that can tell.

    Raises:
        InvalidArgument: there is no such folder, or nothing can be written to it.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise InvalidArgument(f"there is no folder {str(folder)!r}", hint="make it first, or write to another")
    try:
        with ExitStack() as cleaning:
            _draft(path, cleaning)
    except OSError as error:
        raise InvalidArgument(
            f"nothing can be written to the folder {str(folder)!r}: {error.strerror}", hint="write to another folder"
        ) from None


def write_all(files: Mapping[Path, Write]) -> None:
    """Write each file under another name beside its place, and move them there once all are complete.

    Whatever goes wrong meanwhile, Ctrl-C included, none of them is there, nor half of one; what was there before, is.

    Args:
        files: where each belongs, and what writes it.

    Raises:
        InvalidArgument: one can't be written.
    """
    with ExitStack() as cleaning:
        drafts: dict[Path, Path] = {}
        for path, write in files.items():
            with _named(path):
                drafts[path] = _draft(path, cleaning)
                write(drafts[path])
                drafts[path].chmod(0o666 & ~_umask())
        with ExitStack() as undoing:
            for path, draft in drafts.items():
                with _named(path):
                    _undo_by(undoing, path, cleaning)
                    draft.replace(path)
            undoing.pop_all()


def write_text(path: Path, text: str) -> None:
    """Write a text file, whole or not at all.

    Raises:
        InvalidArgument: it can't be written.
    """
    write_all({path: lambda draft: draft.write_text(text, encoding="utf-8")})


def _draft(path: Path, cleaning: ExitStack) -> Path:
    """A new file beside a file's place, that is gone in the end."""
    handle, name = tempfile.mkstemp(prefix=f".{path.stem[:100]}.", suffix=path.suffix, dir=path.absolute().parent)
    draft = Path(name)
    cleaning.callback(draft.unlink, missing_ok=True)
    os.close(handle)
    return draft


def _undo_by(undoing: ExitStack, path: Path, cleaning: ExitStack) -> None:
    """Keep what is at a place, so that it can be put back; nothing is put where nothing was."""
    if not path.exists():
        undoing.callback(path.unlink, missing_ok=True)
        return
    kept = _draft(path, cleaning)
    kept.unlink()
    with suppress(OSError):  # a file system without links: then what was there can't be put back
        os.link(path, kept)
        undoing.callback(kept.replace, path)


@contextmanager
def _named(path: Path) -> Iterator[None]:
    """Say which file an error of the system is about.

    Raises:
        InvalidArgument: the file can't be written.
    """
    try:
        yield
    except OSError as error:
        raise InvalidArgument(f"the file {str(path)!r} can't be written: {error.strerror}") from None


def _umask() -> int:
    """What a new file of this process isn't allowed to be; temporary files are nobody else's to read."""
    mask = os.umask(0)
    os.umask(mask)
    return mask


# ── Pages of HTML, which can be sent, printed and kept; every name in them is escaped ─────────────────────────────────

_STYLE = """
:root { color-scheme: light; }
body { font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif; color: #222; background: #fff; max-width: 48rem;
  margin: 2rem auto; padding: 0 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; }
p.key { font-size: 1.15rem; } .note { color: #595959; }
div.wide { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; font-size: .92rem; }
th, td { text-align: left; padding: .3rem .8rem .3rem 0; border-bottom: 1px solid #d9d9d9; vertical-align: top; }
tbody th { font-weight: normal; min-width: 7.5rem; overflow-wrap: anywhere; }
td:last-child { overflow-wrap: anywhere; }
th.n, td.n { text-align: right; font-variant-numeric: tabular-nums; overflow-wrap: normal; white-space: nowrap; }
thead th.n { white-space: normal; } tr :last-child { padding-right: 0; }
figure { margin: 1rem 0 1.6rem; overflow-x: auto; } figure svg { max-width: 100%; min-width: 34rem; height: auto; }
ol li, ul li { margin-bottom: .4rem; }
@media (max-width: 30rem) { table { font-size: .8rem; } tbody th { min-width: 5.5rem; }
  th, td { padding-right: .5rem; } }
@media print { body { margin: 0; padding: 0; max-width: none; font-size: 11pt; } h2 { break-after: avoid; }
  tr, figure, li { break-inside: avoid; } thead { display: table-header-group; } }
"""

REMEDY = (
    "<p>Coarser columns and left-out rows make this table safer, but never safe: two such releases can be intersected, "
    "and a class can say what everybody in it has. Answers with calibrated noise, from a budget, are protected whoever "
    "asks and whatever else they know; <code>discreet init</code> sets that up.</p>"
)
"""What protects better than coarser rows, for reports on rows."""


def page(title: str, parts: Iterable[str]) -> str:
    """A whole page. A number stays with its percent sign.

    Args:
        title: in words, not escaped.
        parts: of its body, in HTML.

    Examples:
        >>> print(page("a < b", ["<p>so</p>"]).splitlines()[-3])
        <h1>a &lt; b</h1>
    """
    head = (
        '<meta charset="utf-8">\n<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>"
    )
    body = re.sub(r"(?<=\d) %", "\u00a0%", "\n".join([f"<h1>{escape(title)}</h1>", *parts]))
    return f'<!doctype html>\n<html lang="en">\n<head>\n{head}\n</head>\n<body><main>\n{body}\n</main></body></html>\n'


def section(heading: str, *parts: str) -> list[str]:
    """A heading, in words, and what is under it, in HTML."""
    return [f"<h2>{escape(heading)}</h2>", *parts]


def items(sentences: Iterable[str], *, numbered: bool = False) -> str:
    """Sentences as a list.

    Examples:
        >>> items(["1 < 2"])
        '<ul><li>1 &lt; 2</li></ul>'
    """
    kind = "ol" if numbered else "ul"
    return f"<{kind}>" + "".join(f"<li>{escape(each)}</li>" for each in sentences) + f"</{kind}>"


def table(head: Sequence[str], body: Iterable[Sequence[str]], *, numbers: int) -> str:
    """A table whose first column names its rows, and whose last `numbers` columns are numbers.

    Args:
        head: names of the columns.
        body: rows with as many texts.
        numbers: how many columns are set to the right.
    """
    kinds = ["" if place < len(head) - numbers else ' class="n"' for place in range(len(head))]
    names = "".join(f'<th scope="col"{kind}>{escape(name)}</th>' for kind, name in zip(kinds, head, strict=True))
    rows = "".join(f"<tr>{_row(kinds, row)}</tr>\n" for row in body)
    return f'<div class="wide"><table>\n<thead><tr>{names}</tr></thead>\n<tbody>\n{rows}</tbody></table></div>'


def _row(kinds: Sequence[str], row: Sequence[str]) -> str:
    """The cells of a row."""
    first, *rest = (f"{kind}>{escape(cell)}" for kind, cell in zip(kinds, row, strict=True))
    return f'<th scope="row"{first}</th>' + "".join(f"<td{cell}</td>" for cell in rest)


def figures(draw: Iterable[Callable[[], Figure]]) -> list[str]:
    """Figures as parts of a page, or a note where Matplotlib isn't installed.

    Args:
        draw: makes each of them.
    """
    try:
        from discreet.plot import sheet

        drawn = [sheet.svg(each()) for each in draw]
    except ExtraMissing as error:
        return [f'<p class="note">Figures are left out: {escape(error.message)} ({escape(error.hint)}).</p>']
    # On a phone a figure keeps letters that can be read, and is moved sideways; so the keyboard must reach it.
    return [f'<figure tabindex="0">{inlined(svg, f"figure{number}")}</figure>' for number, svg in enumerate(drawn, 1)]


def inlined(svg: str, prefix: str) -> str:
    """An SVG file as an element of a page: the names that it gives are made its own, texts stay as they are.

    Args:
        svg: a whole file.
        prefix: that no other figure of the page has.

    Examples:
        >>> inlined('<?xml?><svg aria-labelledby="t d"><g id="t"/><use href="#t"/>id="t"</svg>', "f")
        '<svg aria-labelledby="f-t f-d"><g id="f-t"/><use href="#f-t"/>id="t"</svg>'
    """
    return re.sub(r"<[^<>]+>", lambda tag: _owned(tag[0], prefix), svg[svg.index("<svg") :].strip())


def _owned(tag: str, prefix: str) -> str:
    """A tag whose names have a prefix."""
    tag = re.sub(r'(?<=[\s])id="([^"]+)"', rf'id="{prefix}-\1"', tag)
    tag = re.sub(r'((?:xlink:)?href)="#([^"]+)"', rf'\1="#{prefix}-\2"', tag)
    tag = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", tag)
    return re.sub(
        r'aria-labelledby="([^"]+)"',
        lambda names: f'aria-labelledby="{" ".join(f"{prefix}-{name}" for name in names[1].split())}"',
        tag,
    )
