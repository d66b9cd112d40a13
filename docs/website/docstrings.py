"""An extension of Sphinx: docstrings of this house for autodoc.

They explain arguments in sentences, ``name: what it is.``, of which several may stand in a paragraph, and end with what
is raised. Here these become lists, so that they are found as quickly as in other documentation; attributes of a class
with a comment beside them do, too. Signatures are left out where nobody calls the class: of errors, of models of
scenarios, of protocols, and of what simsuite returns.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from collections.abc import Iterator
from typing import Any

import pydantic

import simsuite.errors

RETURNED = {"simsuite.Run", "simsuite.Simulation", "simsuite.Solution", "simsuite.Sweep"}
ERROR = re.compile(r"\b[A-Z]\w*[a-z]\w*\b")
ATTRIBUTE = re.compile(r"^    (\w+): [^#\n]+  # (.+)$", re.MULTILINE)
RAISES = re.compile(r"(?:(?<=\. )|^)Raises (?=[A-Z])")


def setup(app: Any) -> dict[str, bool]:
    """Called by Sphinx. Any: `sphinx.application.Sphinx`."""
    app.connect("autodoc-process-docstring", _process)
    app.connect("autodoc-process-signature", _signature)
    return {"parallel_read_safe": True}


def _process(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    lines[:] = rearranged(lines, names_of(thing))
    if what == "class":
        lines += [line for name, words in attributes(thing) for line in (f"- ``{name}``: {words}", "")]
    if what == "exception":
        lines += [f"Exit code of the command line: {thing.exit_code}", ""]


def _signature(app: Any, what: str, name: str, thing: Any, options: Any, given: Any, returned: Any) -> Any:
    if what in ("class", "exception"):
        of_a_kind = issubclass(thing, (BaseException, pydantic.BaseModel)) or getattr(thing, "_is_protocol", False)
        return ("", "") if of_a_kind or name in RETURNED else None
    return None


def names_of(thing: Any) -> list[str]:
    """Names of the arguments of a function, or of the fields of a class."""
    if dataclasses.is_dataclass(thing):
        return [field.name for field in dataclasses.fields(thing)]
    if isinstance(thing, type) and issubclass(thing, BaseException):
        return list(inspect.signature(thing.__init__).parameters)
    if isinstance(thing, type):
        annotated = list(inspect.get_annotations(thing))
        return annotated + [name for name in vars(thing) if not name.startswith("_")]
    try:
        return list(inspect.signature(thing).parameters)
    except (TypeError, ValueError):  # properties, and what is not called
        return []


def attributes(thing: type) -> list[tuple[str, str]]:
    """(name, comment) of the attributes of a class that a comment beside them explains."""
    return ATTRIBUTE.findall(inspect.getsource(thing))


def rearranged(lines: list[str], names: list[str]) -> list[str]:
    """The text of a docstring with a list of arguments in place of the sentences that explain them."""
    found: list[str] = []
    for paragraph in _paragraphs(lines):
        if paragraph[0].startswith((" ", "\t", ".. ", ">>>")):
            found += [*paragraph, ""]
            continue
        for item in _items(" ".join(paragraph), names):
            found += [item, ""]
    return found


def _paragraphs(lines: list[str]) -> Iterator[list[str]]:
    paragraph: list[str] = []
    for line in lines:
        if line.strip():
            paragraph.append(line)
        elif paragraph:
            yield paragraph
            paragraph = []
    if paragraph:
        yield paragraph


def _items(text: str, names: list[str]) -> Iterator[str]:
    """A paragraph cut before each argument that it explains, and before what is raised."""
    either = "|".join(map(re.escape, names)) or "(?!)"
    start = re.compile(rf"(?:(?<=[.;] )|^)((?:{either})(?:\[[^\]]*\])?(?:, (?:{either}))*): ")
    cuts = [(match.start(), match.end(), match[1]) for match in start.finditer(text)]
    cuts += [(match.start(), match.end(), "") for match in RAISES.finditer(text)]
    cuts.sort()
    before = text[: cuts[0][0]] if cuts else text
    if before.strip():
        yield before.strip()
    for (_, end, name), (following, _, _) in zip(cuts, [*cuts[1:], (len(text), 0, "")]):
        words = text[end:following].strip()
        if name:
            yield f"- {', '.join(f'``{each}``' for each in name.split(', '))}: {words}"
        else:
            yield f"**Raises** {ERROR.sub(_linked, words)}"


def _linked(match: re.Match[str]) -> str:
    """The name of an error of simsuite as a link to what it means."""
    name = match[0]
    if not hasattr(simsuite.errors, name):
        return name
    module = "simsuite" if name in simsuite.__all__ else "simsuite.errors"
    return f":py:exc:`~{module}.{name}`"
