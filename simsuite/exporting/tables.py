"""Results as tables: one for each set of dimensions that rows run along, with names and units in the header.

Rows run along time, along the cells of fields, stored paths, the states of a batch and the members of a sweep; names,
such as those of probes and assets, and other short dimensions are spread over columns: `probe_temperature.weld [K]`.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from simsuite.core import HostArray
from simsuite.exporting.contents import Contents, Stored

# dimensions that rows run along, wherever they stand; without one of them, the first of a variable is taken
_DOWN = ("time", "sample", "y", "x", "path_id")
_WIDEST = 256  # entries of a dimension that is spread over columns
_NAMES = {  # what tables are called, by a variable in them; the others by their dimensions
    "temperature": "fields",
    "energy_stored": "samples",
    "option_price": "options",
    "price_mean": "assets",
    "path": "paths",
    "state": "states",
    "state_real": "states",
    "eigenvalue_real": "modes",
    "matrix_magnitude": "matrix",
}
_MAIN = ("members", "samples", "options", "assets", "states")  # the first of these is the main table
_BLOCK = 1 << 20  # numbers of a variable that are read at once


@dataclass(frozen=True)
class Table:
    """Columns of the same length. dims, shape: of its rows, which are in C order. keys: the columns that say where a
    row is, by dimension; those of the variables follow. whole: whether rows run along the cells of a plate."""

    name: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    keys: tuple[Stored | str, ...]
    variables: tuple[Stored, ...]
    labels: Mapping[str, tuple[str, ...]]

    @property
    def is_field(self) -> bool:
        return {"x", "y"} <= set(self.dims)

    def columns(self) -> dict[str, str]:
        """The header of each column, in which its unit stands, and its unit, "" without one."""
        found = {}
        for key in self.keys:
            name, unit = (key, "") if isinstance(key, str) else (key.name, key.unit)
            found[_headed(name, unit)] = unit
        for variable in self.variables:
            for name in self._spread(variable):
                found[_headed(name, variable.unit)] = variable.unit
        return found

    def blocks(self) -> Iterator[list[HostArray]]:
        """The columns piece by piece, in the order of `columns`, each a one-dimensional array of the type that it is
        stored as. There is one piece at least.

        Raises SimsuiteError where the file is damaged."""
        first, rest = (self.shape[0], self.shape[1:]) if self.shape else (1, ())
        row = int(np.prod(rest, dtype=np.int64))
        widest = max([1, *(int(np.prod(v.shape, dtype=np.int64)) // max(1, first * row) for v in self.variables)])
        step = max(1, _BLOCK // max(1, row * widest))
        for start in range(0, max(first, 1), step):
            part = slice(start, min(start + step, first))
            yield [*self._key_columns(part), *itertools.chain(*(self._read(v, part) for v in self.variables))]

    def _key_columns(self, part: slice) -> Iterator[HostArray]:
        shape = (part.stop - part.start, *self.shape[1:])
        for i, key in enumerate(self.keys):
            along = slice(None) if i else part
            values = np.arange(self.shape[i])[along] if isinstance(key, str) else key.read(along)
            axes = [1] * len(shape)
            axes[i] = shape[i]
            yield np.broadcast_to(values.reshape(axes), shape).ravel()

    def _read(self, variable: Stored, part: slice) -> Iterator[HostArray]:
        """The columns of a variable, in the order of `_spread`."""
        index = [part if self.dims[:1] == (dim,) else slice(None) for dim in variable.dims]
        down = [variable.dims.index(dim) for dim in self.dims]
        across = [i for i in range(len(variable.dims)) if i not in down]
        values = np.transpose(variable.read(*index), (*across, *down))
        rows = int(np.prod(values.shape[len(across) :], dtype=np.int64))
        yield from values.reshape(-1, rows) if values.size else [values.ravel()] * len(self._spread(variable))

    def _spread(self, variable: Stored) -> list[str]:
        """The names of the columns of a variable, without units."""
        labels = [self.labels[dim] for dim in variable.dims if dim not in self.dims]
        return [".".join(filter(None, (variable.name, *each))) for each in itertools.product(*labels)]


def tables_of(contents: Contents, chosen: Collection[str] | None = None) -> dict[str, Table]:
    """All tables of a run by name, the main one first, or those with the variables that are chosen."""
    groups: dict[tuple[str, ...], list[Stored]] = {}
    coordinates = {c.name for v in contents.variables.values() for d in v.dims if (c := contents.coordinate(d))}
    for variable in contents.variables.values():
        if variable.name not in coordinates:
            groups.setdefault(_down(variable, contents.swept), []).append(variable)
    found: dict[str, Table] = {}
    for dims, variables in groups.items():
        name = next((_NAMES[v.name] for v in variables if v.name in _NAMES), "_".join(dims) or "numbers")
        name = "members" if dims and dims == contents.swept else name
        kept = tuple(v for v in variables if chosen is None or v.name in chosen)
        if kept:
            found[name] = _table(contents, name, dims, kept)
    order = sorted(found, key=lambda name: _MAIN.index(name) if name in _MAIN else len(_MAIN))
    return {name: found[name] for name in order}


def variables_by_table(contents: Contents) -> dict[str, list[str]]:
    """The names of the variables of each table, by its name."""
    return {name: [v.name for v in table.variables] for name, table in tables_of(contents).items()}


def _headed(name: str, unit: str) -> str:
    """A header: the name, with its unit if it has one; numbers without dimension have the unit 1."""
    return name if unit in ("", "1") else f"{name} [{unit}]"


def _down(variable: Stored, swept: tuple[str, ...]) -> tuple[str, ...]:
    """The dimensions that rows run along: those of members of a sweep, and of what has many entries; a batch of one
    state has no rows of its own."""
    sizes = dict(zip(variable.dims, variable.shape))
    single = {"sample"} if sizes.get("sample") == 1 and "time" in sizes else set()
    down = {*swept, *_DOWN} - single
    fixed = [d for d in variable.dims if d in down] or variable.dims[:1]
    return tuple(d for d in variable.dims if d in fixed or sizes[d] > _WIDEST)


def _table(contents: Contents, name: str, dims: tuple[str, ...], variables: tuple[Stored, ...]) -> Table:
    first = variables[0]
    shape = tuple(first.shape[first.dims.index(dim)] for dim in dims)
    keys = tuple(contents.coordinate(dim) or dim for dim in dims)
    across = {dim: n for v in variables for dim, n in zip(v.dims, v.shape) if dim not in dims}
    return Table(name, dims, shape, keys, variables, {dim: _labels(contents, dim, n) for dim, n in across.items()})


def _labels(contents: Contents, dim: str, n: int) -> tuple[str, ...]:
    """What the entries along a dimension are called in headers; a single one without a name is not called anything."""
    coordinate = contents.coordinate(dim)
    if coordinate is None or (coordinate.dataset.dtype.kind in "iu" and n == 1):
        return ("",) if n == 1 else tuple(map(str, range(n)))
    return tuple(map(str, coordinate.read().tolist()))
