"""How large the files of a run will be, before it begins.

The structure of a results file (objects, attributes, numbers that do not grow) is made in memory and measured. To that
come chunks, which take their whole size however few rows are in them, and what says where they are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace

import h5py

from simsuite.core import Layout, Variable
from simsuite.io.digests import TOGETHER
from simsuite.io.layout import LIBVER, build, chunk_shape, growing_axis, length, plain_variables, stored_type

_LARGE = 1 << 20  # a variable that does not grow is counted, and not made, if it has more bytes
_OBJECT = 1_000  # bytes of a variable beside its numbers, about
_PLACE = 8  # bytes that say where a chunk is
_CHECKPOINT = 8_000  # bytes of a checkpoint beside its arrays, about


def results_bytes(layout: Layout, attributes: Mapping[str, str], compression: str = "none") -> int:
    """The bytes of results.h5 once all rows are in it, as if nothing could be compressed."""
    chunks = sum(count * (size + _PLACE) for count, size, _ in _chunks(layout, compression))
    return _structure(layout, attributes, compression) + _fixed_bytes(layout) + chunks


def checkpoint_bytes(state: int, layout: Layout, attributes: Mapping[str, str]) -> int:
    """The bytes of the largest checkpoint of a state that takes `state` bytes in it: beside that it has all of the
    results file but numbers that do not grow and chunks that are full."""
    rest = sum(count * _PLACE + (size if rows > 1 else 0) for count, size, rows in _chunks(layout, "none"))
    return state + _structure(layout, attributes, "none") + rest + _CHECKPOINT


def _structure(layout: Layout, attributes: Mapping[str, str], compression: str) -> int:
    """The bytes of the structure of a results file, without its numbers."""
    large = [v for v in _fixed(layout) if _bytes(v, layout) > _LARGE]
    kept = tuple(v for v in layout.variables if all(v is not other for other in large))
    made = replace(layout, variables=kept)
    memory = {"driver": "core", "backing_store": False, "block_size": 512}
    with h5py.File("structure", "w", libver=LIBVER, track_order=True, **memory) as file:
        build(file, made, attributes, compression)
        return int(file.id.get_filesize()) - _fixed_bytes(made) + _OBJECT * len(large)


def _fixed(layout: Layout) -> list[Variable]:
    """The variables that do not grow."""
    return [v for v in plain_variables(layout) if growing_axis(v, layout) is None]


def _fixed_bytes(layout: Layout) -> int:
    return sum(_bytes(v, layout) for v in _fixed(layout))


def _bytes(variable: Variable, layout: Layout) -> int:
    return math.prod(length(dim, layout, variable) for dim in variable.dims) * stored_type(variable).itemsize


def _chunks(layout: Layout, compression: str) -> Iterator[tuple[int, int, int]]:
    """For each array that grows, digests included: the number of its chunks, and the bytes and rows of each."""
    steps = {series.dim: len(series.steps) for series in layout.series}
    columns = dict.fromkeys(steps, 0)
    for variable in [*(s.coordinate for s in layout.series), *plain_variables(layout)]:
        found = growing_axis(variable, layout)
        if found is None:
            continue
        dim, axis = found
        columns[dim] += 1
        row = tuple(length(d, layout, variable) for d in variable.dims if d != dim)
        itemsize = stored_type(variable).itemsize
        chunk = chunk_shape(row, axis, itemsize, compression)
        shape = (*row[:axis], steps[dim], *row[axis:])
        yield math.prod(-(-n // c) for n, c in zip(shape, chunk)), math.prod(chunk) * itemsize, chunk[axis]
    for dim, count in columns.items():
        yield -(-steps[dim] // TOGETHER), TOGETHER * count * 8, TOGETHER
