"""The page: one file that loads nothing, put together from its sections and from the files in the folder `page`."""

from __future__ import annotations

import base64
import datetime
import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template

from simsuite.errors import UsageError
from simsuite.reporting.markup import escaped, paragraph, section
from simsuite.version import VERSION
from simsuite.words import with_prefix

LARGEST = 20_000_000  # bytes of a report
_SCRIPTS = ("drawing.js", "chart.js", "field.js", "start.js")
_TITLE = 300  # the most characters of a title


@dataclass(frozen=True)
class Section:
    """A heading with what stands below it, in HTML."""

    title: str
    html: str


@dataclass(frozen=True)
class Page:
    """A report. kind: what it is on, in a few words. status: how that ended, and good: whether that is well."""

    title: str
    kind: str
    status: str
    good: bool
    sections: Sequence[Section]

    def html(self, now: datetime.datetime) -> str:
        """The file. Where it would be larger than LARGEST, its largest sections are left out, and it says so."""
        sections = list(self.sections)
        while len((text := self._html(sections, now)).encode()) > LARGEST:
            k = max(range(len(sections)), key=lambda i: len(sections[i].html))
            left = with_prefix(len(sections[k].html.encode()), "B")
            note = f"left out: with it, {left}, this file would be larger than {with_prefix(LARGEST, 'B')}"
            sections[k] = Section(sections[k].title, paragraph(note, "note"))
        return text

    def _html(self, sections: Sequence[Section], now: datetime.datetime) -> str:
        style, script = _part("report.css"), f'"use strict";\n(() => {{\n{"".join(map(_part, _SCRIPTS))}}})();\n'
        title = self.title if len(self.title) <= _TITLE else self.title[:_TITLE] + " …"
        return Template(_part("page.html")).substitute(
            title=escaped(" ".join(title.split())),
            kind=escaped(self.kind),
            status=paragraph(self.status, f"status {'good' if self.good else 'bad'}"),
            body="".join(section(each.title, each.html) for each in sections),
            style=style,
            script=script,
            style_hash=_hash(style),
            script_hash=_hash(script),
            generator=escaped(f"simsuite {VERSION}"),
            date=escaped(now.isoformat(sep=" ", timespec="seconds")),
        )


def write(page: Page, path: Path) -> None:
    """Write the report in place of a file that is there, whole or not at all. Raises UsageError where that fails."""
    text = page.html(datetime.datetime.now().astimezone())
    new = path.with_name(f"{path.name}.new")
    try:
        new.write_text(text, encoding="utf-8", newline="\n")
        os.replace(new, path)
    except OSError as error:
        new.unlink(missing_ok=True)
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from error


def require_name(path: Path) -> None:
    """Raises UsageError unless a report may have that name."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise UsageError(f"cannot write a report to {path}: its name must end in .html")


def _part(name: str) -> str:
    return files("simsuite.reporting").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    """What a policy names a style or a script by; whatever else the page held would not be run."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
