"""Which tests are quick, and which are left to `make thorough`: together they are all, each in one of both.

A test function with many cases has only some of them among the quick ones, spread over the list. One that takes long
even so is named in costly.txt, which is written from the durations that pytest has measured:

    python -m pytest --junitxml cpu.xml; NUMBA_ENABLE_CUDASIM=1 python -m pytest --junitxml simulator.xml
    python tests/quick.py cpu.xml simulator.xml
"""

from __future__ import annotations

import ast
import sys
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar
from xml.etree import ElementTree

CASES = 3  # the most cases of a test function that are quick
SECONDS = 1.0  # A test function whose quick cases take longer than this is costly.
LIST = Path(__file__).with_name("costly.txt")

T = TypeVar("T")
Name = tuple[str, str, bool]  # file without its ending, function, and whether it runs on the simulator


def some(cases: Sequence[T]) -> list[T]:
    """The first case, the last one, and those in the middle that make up CASES."""
    if len(cases) <= CASES:
        return list(cases)
    return [cases[round(i * (len(cases) - 1) / (CASES - 1))] for i in range(CASES)]


def quick(names: Sequence[Name], costly: Iterable[Name]) -> list[bool]:
    """Whether each test is quick. names: of the function of each, in the order of its cases."""
    places: dict[Hashable, list[int]] = defaultdict(list)
    for place, name in enumerate(names):
        places[name].append(place)
    left_out = set(costly)
    found = {place for name, own in places.items() if name not in left_out for place in some(own)}
    return [place in found for place in range(len(names))]


def read_costly() -> list[Name]:
    """The functions that costly.txt names."""
    words = (line.split() for line in LIST.read_text(encoding="utf-8").splitlines())
    return [(file, function, bool(simulator)) for file, function, *simulator in words]


def durations(report: Path) -> dict[Name, list[float]]:
    """The seconds of each case of each function in a report in JUnit's form."""
    found: dict[Name, list[float]] = defaultdict(list)
    for case in ElementTree.parse(report).getroot().iter("testcase"):
        function = case.attrib["name"].partition("[")[0]
        file = case.attrib["classname"].rpartition(".")[2]
        found[file, function, "cudasim" in case.attrib["name"]].append(float(case.attrib["time"]))
    return found


def costly(measured: Mapping[Name, Sequence[float]]) -> list[Name]:
    """The functions whose quick cases take longer than SECONDS together."""
    return sorted(name for name, seconds in measured.items() if sum(some(seconds)) > SECONDS)


def functions() -> set[tuple[str, str]]:
    """The file, without its ending, and the name of each test function that there is."""
    files = ((path.stem, ast.parse(path.read_text(encoding="utf-8"))) for path in LIST.parent.rglob("test_*.py"))
    return {(stem, node.name) for stem, tree in files for node in tree.body if isinstance(node, ast.FunctionDef)}


def main() -> None:
    """Write costly.txt from reports; of a function that several of them have, the last one counts."""
    measured: dict[Name, list[float]] = {}
    for report in sys.argv[1:]:
        measured |= durations(Path(report))
    there = functions()
    found = [name for name in costly(measured) if name[:2] in there]
    lines = [f"{file} {function}" + " simulator" * simulator for file, function, simulator in found]
    LIST.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
