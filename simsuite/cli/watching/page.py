"""What is shown of a run, arranged on a page of so many columns and rows."""

from __future__ import annotations

from simsuite.cli.terminals.colours import Depth, paint, rgb
from simsuite.cli.terminals.half_blocks import RESET
from simsuite.cli.terminals.wrapping import wrapped
from simsuite.cli.watching.drawing import draw
from simsuite.cli.watching.words_on_run import ending, headline, number_lines, progress_lines
from simsuite.io.directory import RunDirectory
from simsuite.watching.newest import Fan, Field, Newest, Size
from simsuite.watching.standing import Standing
from simsuite.words import printable

_MOST_NUMBERS = 6  # lines of numbers below the picture
_DONE = rgb("2f6690")


def page(
    run: RunDirectory, standing: Standing, newest: Newest | None, size: Size, depth: Depth, hint: str = ""
) -> list[str]:
    """At most `size.rows` lines, none longer than `size.columns`: a headline, the picture in what is left, how far the
    run is, numbers, how it ended. hint: the last line, on keys."""

    def fitted(*lines: str) -> list[str]:
        return [piece for line in lines for piece in wrapped(printable(line), size.columns)]

    head = fitted(headline(run, standing))
    below = [*_bar(standing, size.columns, depth), *fitted(*progress_lines(standing))]
    numbers = number_lines(newest, size.columns, min(_MOST_NUMBERS, size.rows // 4)) if newest is not None else []
    numbers = fitted(*numbers)
    end = fitted(*ending(run, standing), *([hint] if hint else []))
    room = size.rows - len(head) - len(below) - len(numbers) - len(end)
    picture = _picture(newest, Size(size.columns, room), depth)
    lines = [*head, *picture, *below, *numbers]
    return [*_clipped(lines, size.rows - len(end)), *end][: size.rows]


def _clipped(lines: list[str], most: int) -> list[str]:
    return lines[: max(most, 0)]


def _picture(newest: Newest | None, room: Size, depth: Depth) -> list[str]:
    if newest is None or newest.picture is None:
        return []
    title = printable(_title(newest))
    lines = wrapped(title, room.columns)
    drawn = draw(newest.picture, Size(room.columns, room.rows - len(lines)), depth)
    return [*lines, *drawn] if drawn else []


def _title(newest: Newest) -> str:
    picture = newest.picture
    assert picture is not None
    unit = f", {picture.unit}" if picture.unit else ""
    if isinstance(picture, Field):
        return f"temperature{unit} at {picture.at}"
    if isinstance(picture, Fan):
        more = f" ({newest.choices} assets: Tab shows the next)" if newest.choices > 1 else ""
        return f"price of {picture.name}{unit}: quantiles up to {picture.at}{more}"
    more = f" (and {picture.more} more)" if picture.more else ""
    return f"state{unit}: {', '.join(picture.names)}{more}"


def _bar(standing: Standing, columns: int, depth: Depth) -> list[str]:
    """A bar as long as the part of the work that is done."""
    percent = standing.note.get("percent")
    if percent is None or standing.over:
        return []
    width = min(columns - 2, 60)
    done = min(max(round(width * float(percent) / 100), 0), width)
    if depth is Depth.PLAIN:
        return [f"[{'#' * done}{'.' * (width - done)}]"]
    return [f"[\033[{paint(_DONE, depth, behind=True)}m{' ' * done}{RESET}{' ' * (width - done)}]"]
