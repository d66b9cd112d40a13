"""Selection of those of pydantic's errors that matter to users.

For a value that fits no branch of a union pydantic lists the errors of all branches, with the branches' names among
the keys of each error's place. Here the errors are put back into a tree, of every union only the branch is kept that
the value came closest to, and a misspelt key is one error instead of an unknown and a missing key.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import ValidationError

from simsuite.scenario.common import FieldMistake
from simsuite.scenario.shape import holds
from simsuite.scenario.spans import KeyPath, Table
from simsuite.words import LIKE_SHORT, closest

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MAX_ERRORS = 200  # more errors are of no use to anyone, and a hostile file can cause half a million

Context: TypeAlias = dict[str, Any]
"""What pydantic says of an error besides its type, by name. Any: which names there are, with values of which types,
depends on the type of the error, and pydantic does not say."""
_TAG_ERRORS = {"union_tag_invalid": "literal_error", "union_tag_not_found": "missing"}


@dataclass
class Fault:
    """What is wrong at a path. kinds: pydantic's error types; several where every branch of a union wants another
    type of value. expected: the words that a literal allows. suggestion: the name of a missing key that an unknown
    key probably means.
    """

    path: KeyPath
    kinds: list[str]
    input: object
    context: Context
    expected: list[str] = field(default_factory=list)
    suggestion: str | None = None

    @property
    def is_mismatch(self) -> bool:
        """Whether the value is of another sort than wanted, so that it was hardly meant for this branch."""
        return all(kind.endswith("_type") or kind == "literal_error" for kind in self.kinds)


@dataclass
class _Node:
    path: KeyPath
    faults: list[Fault] = field(default_factory=list)
    keys: dict[str | int, _Node] = field(default_factory=dict)
    branches: dict[str | int, _Node] = field(default_factory=dict)


Names: TypeAlias = Mapping[KeyPath, tuple[str, ...]]
"""Further names of keys, see `other_names`, by the paths of the keys."""


def faults(error: ValidationError, data: Table, names: Names) -> list[Fault]:
    """The faults of `data` that the user should know about. names: by which keys may be written as well."""
    root = _Node(())
    for details in error.errors(include_url=False)[:MAX_ERRORS]:
        _insert(root, data, details)
    return _collapse(root, names)


def _insert(root: _Node, data: object, details: ErrorDetails) -> None:
    node, value, tags = root, data, _tags(data)
    *front, last = details["loc"] or (None,)
    for key in front:
        if holds(value, key) and key not in tags:
            value = value[key]
            node, tags = node.keys.setdefault(key, _Node((*node.path, key))), _tags(value)
        else:
            node, tags = node.branches.setdefault(key, _Node(node.path)), tags - {key}
    if last is not None:
        if holds(value, last) or details["type"] == "missing":
            node = node.keys.setdefault(last, _Node((*node.path, last)))
        else:
            node = node.branches.setdefault(last, _Node(node.path))
    node.faults.append(_fault(node.path, details))


def _tags(value: object) -> set[str]:
    """What may stand for the branch of a tagged union in an error's place: the value of some key."""
    return {item for item in value.values() if isinstance(item, str)} if isinstance(value, dict) else set()


def _fault(path: KeyPath, details: ErrorDetails) -> Fault:
    kind, value, context = details["type"], details["input"], details.get("ctx", {})
    if kind in _TAG_ERRORS:
        key = context["discriminator"].strip("'")
        expected = re.findall(r"'([^']*)'", context.get("expected_tags", ""))
        value = value.get(key) if isinstance(value, dict) else value
        return Fault((*path, key), [_TAG_ERRORS[kind]], value, context, expected)
    expected = re.findall(r"'([^']*)'", context.get("expected", "")) if kind == "literal_error" else []
    return Fault(path, [kind], value, context, expected)


def _collapse(node: _Node, names: Names) -> list[Fault]:
    found = list(node.faults)
    for child in node.keys.values():
        found += _collapse(child, names)
    if node.branches:
        found += _closest(node.path, [_collapse(child, names) for child in node.branches.values()])
    return _without_misspelt(found, len(node.path) + 1, names)


def _closest(path: KeyPath, branches: list[list[Fault]]) -> list[Fault]:
    fitting = [b for b in branches if not (len(b) == 1 and b[0].path == path and b[0].is_mismatch)]
    if fitting:
        return min(fitting, key=lambda b: (-min(map(_reached, b)), sum(0.5 if f.suggestion else 1 for f in b)))
    first = branches[0][0]
    for other in branches[1:]:
        first.kinds += other[0].kinds
        first.expected += other[0].expected
    return [first]


def _reached(fault: Fault) -> int:
    """How many keys deep a fault is. A mistake that a validator reports may be deeper than the table that it checks."""
    error = fault.context.get("error")
    return len(fault.path) + (min(len(m.path) for m in error.mistakes) if isinstance(error, FieldMistake) else 0)


def _without_misspelt(found: list[Fault], depth: int, names: Names) -> list[Fault]:
    """Joins an unknown key of a table with the missing key that it resembles, by one of its names."""
    unknown = {f.path[-1]: f for f in found if len(f.path) == depth and f.kinds == ["extra_forbidden"]}
    missing = [f for f in found if len(f.path) == depth and f.kinds == ["missing"]]
    for fault in missing:
        candidates = [str(key) for key, other in unknown.items() if other.suggestion is None]
        key, *others = str(fault.path[-1]), *names.get(fault.path, ())
        alike = {key: closest(key, candidates), **{other: closest(other, candidates, LIKE_SHORT) for other in others}}
        meant, written = next(((name, found) for name, found in alike.items() if found), (None, None))
        if written is not None:
            unknown[written].suggestion = meant
            found.remove(fault)
    return found
