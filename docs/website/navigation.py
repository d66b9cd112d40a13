"""Which page stands where in the list at the side of the site."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase

# Groups of pages, by name without the ending. A pattern takes the pages that are named nowhere, in alphabetical order.
GROUPS: Mapping[str, Sequence[str]] = {
    "First steps": ["start", "gallery/index"],
    "Tutorials": [
        *("tutorials/thermal", "tutorials/options", "tutorials/control", "tutorials/teaching", "tutorials/clusters"),
        "tutorials/*",
    ],
    "Guides": ["heat", "gbm", "linear", "running", "cluster", "durability", "plugins", "*"],
    "Reference": ["keys", "expressions", "commands", "api/index", "glossary"],
    "Numerics": ["numerics"],
    "How we know it is right": ["correctness", "verification", "benchmarks"],
    "How fast and why": ["performance", "bench", "profiling", "routes"],
    "Project": ["changelog", "contributing", "architecture", "support", "security"],
}
# Pages that stand below another one.
BELOW: Mapping[str, Sequence[str]] = {
    "gallery/index": ["gallery/*"],
    "api/index": ["api/running", "api/objects", "api/errors", "api/plugins"],
    "numerics": [
        *("notes/heat_steppers", "notes/heat_error_control", "notes/gbm_greeks", "notes/gbm_standard_errors"),
        *("notes/gbm_variance_reduction", "notes/linear_*"),
    ],
    "performance": ["notes/starting", "notes/heat_*", "notes/gbm_*", "notes/matmul_*"],
    "architecture": ["notes/*"],
}


def placed(names: set[str]) -> dict[str, dict[str, list[str]]]:
    """Which of these pages each page lists: by page, and by heading, which is "" below other pages."""
    wanted = {"index": GROUPS, **{page: {"": patterns} for page, patterns in BELOW.items()}}
    left = names - set(wanted)
    left -= {pattern for groups in wanted.values() for patterns in groups.values() for pattern in patterns}
    found: dict[str, dict[str, list[str]]] = {}
    for page, groups in wanted.items():
        if page not in names:
            continue
        for heading, patterns in groups.items():
            chosen = [name for pattern in patterns for name in _matching(pattern, names, left)]
            if chosen:
                found.setdefault(page, {})[heading] = chosen
    return found


def _matching(pattern: str, names: set[str], left: set[str]) -> Iterator[str]:
    """The pages that a pattern stands for; those that it takes by a star are left no more. A star is for names within
    a folder."""
    if "*" not in pattern:
        yield from {pattern} & names
        return
    chosen = sorted(n for n in left if fnmatchcase(n, pattern) and n.count("/") == pattern.count("/"))
    left.difference_update(chosen)
    yield from chosen


def contents(groups: Mapping[str, Sequence[str]], page: str) -> str:
    """Lists of pages for the side, which do not show on the page itself."""
    lines = []
    for heading, names in groups.items():
        lines += ["", "```{toctree}", ":hidden:", *([f":caption: {heading}"] if heading else []), ""]
        lines += [f"/{name}" for name in names if name != page]
        lines += ["```"]
    return "\n".join(lines) + "\n"
