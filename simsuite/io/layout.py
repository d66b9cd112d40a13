"""How a `Layout` becomes an HDF5 file that xarray, netCDF tools, ParaView and H5Web open.

- netCDF-4 and CF: every dimension is an HDF5 dimension scale, with or without values; attributes are fixed-length
  strings. Strings in datasets have variable length, which all of these tools read as strings.
- VTKHDF 2.0 (https://docs.vtk.org/en/latest/vtk_file_formats/vtkhdf_file_format/index.html): a group of attributes and
  soft links to the picture and its times. VTK 9.3 to 9.7 show it from the second frame on: they take a file with one
  step for one without time, and then look for a picture of rank 2.
- NeXus: root attributes that name the plot H5Web opens first.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor

import h5py
import numpy as np

from simsuite.core import HostArray, Image, Layout, Series, Variable
from simsuite.io.digests import FixedDigests, SeriesDigests, digest
from simsuite.provenance import HISTORY_BYTES

CONVENTIONS = "CF-1.11"
LIBVER = ("v110", "v110")  # the newest that netCDF tools and VTK read, the oldest with SWMR
STATUS_BYTES = 16
# netCDF's marker, in the NAME attribute, of a dimension that has no coordinate variable
_NO_COORDINATE = "This is a netCDF dimension but not a netCDF variable. %9d"
SMALL_CHUNK = 1 << 16  # bytes of a chunk of several rows
_MUCH = 1 << 20  # a row of so many bytes is written while a thread computes its digest
_AT_ONCE = ThreadPoolExecutor(1, "simsuite-digests")
_LARGEST_CHUNK = {"none": 1 << 30, "lossless": 1 << 22}


class Column:
    """A variable that grows along one of its axes, `axis`, one row at a time."""

    def __init__(self, dataset: h5py.Dataset, axis: int) -> None:
        self.dataset, self.axis = dataset, axis
        self._row: tuple[int, ...] = (*dataset.shape[:axis], 1, *dataset.shape[axis + 1 :])
        self._direct = dataset.chunks[axis] == 1 and dataset.compression is None

    def __len__(self) -> int:
        rows: int = self.dataset.shape[self.axis]
        return rows

    @property
    def row_bytes(self) -> int:
        itemsize: int = self.dataset.dtype.itemsize
        return math.prod(self._row) * itemsize

    def resize(self, n: int) -> None:
        self.dataset.resize(n, axis=self.axis)

    def write(self, k: int, row: HostArray) -> int:
        """Make `row` the last of k + 1 rows; returns its digest. row: shape of the variable without its growing axis.

        Raises ValueError when the shape is another one.
        """
        row = np.ascontiguousarray(row, dtype=self.dataset.dtype)
        if row.size != math.prod(self._row):
            raise ValueError(f"a row of {self.dataset.name} has shape {row.shape}, not that of {self._row}")
        row = row.reshape(self._row)
        self.resize(k + 1)
        found = _AT_ONCE.submit(digest, row) if row.nbytes >= _MUCH else None
        if self._direct:
            for offset, block in _chunks(row, self.dataset.chunks):
                self.dataset.id.write_direct_chunk((*offset[: self.axis], k, *offset[self.axis + 1 :]), block)
        else:
            self.dataset[(slice(None),) * self.axis + (slice(k, k + 1),)] = row
        return digest(row) if found is None else found.result()


def _chunks(row: HostArray, chunk: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], HostArray]]:
    """`row` in pieces of exactly the shape `chunk`, each with its offset; what lies beyond the edge is NaN or 0."""
    for offset in itertools.product(*(range(0, n, c) for n, c in zip(row.shape, chunk))):
        block = row[tuple(slice(o, o + c) for o, c in zip(offset, chunk))]
        if block.shape != chunk:
            whole = np.full(chunk, _fill(row.dtype), row.dtype)
            whole[tuple(map(slice, block.shape))] = block
            block = whole
        yield offset, np.ascontiguousarray(block)


def chunk_shape(row: tuple[int, ...], axis: int, itemsize: int, compression: str) -> tuple[int, ...]:
    """Chunks of up to 1024 small rows, or of one big row, cut into slabs where it is very big. row: without `axis`."""
    shape, largest = list(row), _LARGEST_CHUNK[compression]
    for i in range(len(row)):
        rest = itemsize * math.prod(row[i + 1 :])
        if rest * row[i] <= largest:
            break
        shape[i] = max(1, largest // rest)
        if rest <= largest:
            break
    together = min(1024, max(1, SMALL_CHUNK // (itemsize * math.prod(row))))
    return (*shape[:axis], together, *shape[axis:])


def _fill(dtype: np.dtype) -> float | int:
    return np.nan if dtype.kind in "fc" else 0


def set_text(attributes: h5py.AttributeManager, name: str, text: str) -> None:
    """Set an attribute to a fixed-length string, which netCDF calls NC_CHAR and which is the only kind that VTK's
    readers understand."""
    data = text.encode()
    dtype = h5py.string_dtype("ascii" if text.isascii() else "utf-8", max(len(data), 1))
    attributes.create(name, np.array(data, dtype=f"S{max(len(data), 1)}"), dtype=dtype)


def as_text(value: object) -> str:
    """The text of an attribute that `set_text` or h5py wrote; bytes that are not UTF-8, as of a damaged file, give
    replacement characters."""
    data = value if isinstance(value, bytes) else str(value).encode(errors="surrogateescape")
    return data.decode(errors="replace")


def series_dims(layout: Layout) -> dict[str, Series]:
    """The series by dimension."""
    return {s.dim: s for s in layout.series}


def plain_variables(layout: Layout) -> list[Variable]:
    """All variables but the coordinates of series."""
    coordinates = {s.coordinate.name for s in layout.series}
    return [v for v in layout.variables if v.name not in coordinates]


def growing_axis(variable: Variable, layout: Layout) -> tuple[str, int] | None:
    """The series' dimension along which `variable` grows and its axis. Raises ValueError when there are several."""
    dims = series_dims(layout)
    axes = [(d, i) for i, d in enumerate(variable.dims) if d in dims]
    if len(axes) > 1:
        raise ValueError(f"variable {variable.name} would grow along several dimensions: {variable.dims}")
    return axes[0] if axes else None


def history_type() -> np.dtype:
    """The type of the attribute `history`, which has room for lines to come."""
    text: np.dtype = h5py.string_dtype("utf-8", HISTORY_BYTES)
    return text


def build(
    file: h5py.File,
    layout: Layout,
    attributes: Mapping[str, str | int | float],
    compression: str,
    history: str = "",
) -> None:
    """Fill the new `file` with every object and attribute that it will ever hold, so that SWMR writing can begin."""
    set_text(file.attrs, "Conventions", CONVENTIONS)
    file.attrs.create("status", np.bytes_("running"), dtype=f"S{STATUS_BYTES}")
    file.attrs.create("history", np.array(history.encode(), history_type()), dtype=history_type())
    for name, value in attributes.items():
        file.attrs[name] = value  # strings with variable length: a scenario may exceed what a fixed one can hold
    variables = [s.coordinate for s in layout.series] + plain_variables(layout)
    coordinates = [v for v in variables if v.dims == (v.name,)]
    others = [v for v in variables if v.dims != (v.name,)]
    kept = {}  # a dataset whose closing fails cannot be abandoned: none is closed before all is written
    for variable in coordinates:
        kept[variable.name] = _create(file, variable, layout, compression)
        kept[variable.name].make_scale(variable.name)
    for dim in dict.fromkeys(d for v in others for d in v.dims if d not in kept):
        kept[dim] = _plain_dimension(file, dim, layout)
    for variable in others:
        kept[variable.name] = _create(file, variable, layout, compression)
        for axis, dim in enumerate(variable.dims):
            kept[variable.name].dims[axis].attach_scale(kept[dim])
    for series in layout.series:
        growing = {v.name: growing_axis(v, layout) for v in [series.coordinate, *plain_variables(layout)]}
        axes = {name: found[1] for name, found in growing.items() if found is not None and found[0] == series.dim}
        kept[f"digests of {series.dim}"] = SeriesDigests.create(file, series.dim, axes)
    fixed = [v for v in plain_variables(layout) if growing_axis(v, layout) is None]
    known = {v.name: None if v.values is None else _fixed_values(v, layout) for v in fixed}
    kept["digests of the rest"] = FixedDigests.create(file, known)
    if layout.image is not None:
        _vtkhdf(file, layout, layout.image)
    _nexus(file, layout)
    file.flush()


def require_layout(file: h5py.File, layout: Layout) -> None:
    """Raise ValueError unless `file` has the variables of `layout`, of the same types and sizes."""
    for variable in [s.coordinate for s in layout.series] + plain_variables(layout):
        dataset = file[variable.name]
        growing = growing_axis(variable, layout)
        expected = tuple(
            None if growing == (d, i) else length(d, layout, variable) for i, d in enumerate(variable.dims)
        )
        if dataset.maxshape != expected or dataset.dtype != stored_type(variable):
            raise ValueError(f"{variable.name} has another shape or type than in this run")


def restore_fixed(file: h5py.File, layout: Layout) -> None:
    """Write numbers that do not grow and are known from the layout again, where they are others in `file`."""
    for variable in plain_variables(layout):
        dataset = file[variable.name]
        if variable.values is None or growing_axis(variable, layout) is not None or dataset.dtype.kind == "O":
            continue
        values = _fixed_values(variable, layout)
        if dataset[...].tobytes() != values.tobytes():
            dataset[...] = values


def stored_type(variable: Variable) -> np.dtype:
    """The type as which the variable is stored; strings have variable length."""
    if variable.values is not None and np.asarray(variable.values).dtype.kind in "USO":
        text: np.dtype = h5py.string_dtype()
        return text
    number: np.dtype = np.dtype(variable.dtype)
    return number


def length(dim: str, layout: Layout, variable: Variable) -> int:
    if dim in layout.sizes:
        n = layout.sizes[dim]
    elif variable.values is not None:
        n = np.shape(variable.values)[variable.dims.index(dim)]
    else:
        raise ValueError(f"the layout gives no length for dimension {dim} of variable {variable.name}")
    if n < 1:
        raise ValueError(f"dimension {dim} of variable {variable.name} is empty")
    return n


def _create(file: h5py.File, variable: Variable, layout: Layout, compression: str) -> h5py.Dataset:
    growing, dtype = growing_axis(variable, layout), stored_type(variable)
    options: dict[str, object] = {"track_order": True, "dtype": dtype}
    if growing is not None:
        dim, axis = growing
        row = tuple(length(d, layout, variable) for d in variable.dims if d != dim)
        chunks = chunk_shape(row, axis, dtype.itemsize, compression)
        options |= {
            "shape": (*row[:axis], 0, *row[axis:]),
            "maxshape": (*row[:axis], None, *row[axis:]),
            "chunks": chunks,
            "fillvalue": _fill(dtype),
        }
        if compression == "lossless" and chunks[axis] == 1:
            options |= {"shuffle": True, "compression": "gzip", "compression_opts": 4}
    else:
        options["data"] = _fixed_values(variable, layout)
    dataset = file.create_dataset(variable.name, **options)
    for key, text in _attributes(variable, layout, growing).items():
        set_text(dataset.attrs, key, text)
    return dataset


def _fixed_values(variable: Variable, layout: Layout) -> HostArray:
    """The values of a variable that does not grow, strings as objects; NaN or 0 for what is known only at the end."""
    shape, dtype = tuple(length(d, layout, variable) for d in variable.dims), stored_type(variable)
    if variable.values is None:
        return np.full(shape, _fill(dtype), dtype)
    values = np.asarray(variable.values)
    if values.shape != shape:
        raise ValueError(f"variable {variable.name} has values of shape {values.shape}, its dimensions say {shape}")
    if dtype.kind != "O":
        return values.astype(dtype)
    texts = [v.decode() if isinstance(v, bytes) else str(v) for v in values.ravel()]
    return np.array(texts, dtype=object).reshape(shape)


def _attributes(variable: Variable, layout: Layout, growing: tuple[str, int] | None) -> dict[str, str]:
    """The attributes of the variable in the file: its own, and those that CF wants besides, for auxiliary coordinates
    and the axes of the picture."""
    attributes = dict(variable.attrs)
    if growing is not None:
        coordinate = series_dims(layout)[growing[0]].coordinate.name
        if coordinate not in (variable.name, growing[0]):
            attributes.setdefault("coordinates", coordinate)
    if layout.image is not None and variable.dims == (variable.name,):
        dims = next(v.dims for v in layout.variables if v.name == layout.image.variable)
        if variable.name in dims:
            attributes.setdefault("axis", "TYX"[dims.index(variable.name)])
    return attributes


def _plain_dimension(file: h5py.File, dim: str, layout: Layout) -> h5py.Dataset:
    """Make a dimension scale without values, which takes no space and keeps readers from inventing a name for the
    dimension."""
    if dim in series_dims(layout):
        scale = file.create_dataset(dim, (0,), ">f4", maxshape=(None,), chunks=(1024,))
    else:
        first = next(v for v in layout.variables if dim in v.dims)
        scale = file.create_dataset(dim, (length(dim, layout, first),), ">f4")
    scale.make_scale(_NO_COORDINATE % len(scale))
    return scale


def _vtkhdf(file: h5py.File, layout: Layout, image: Image) -> None:
    """Write the group by which VTK finds the picture. A 2-D picture has rank (time, y, x), as VTK refuses any z of 1;
    links are soft, as h5netcdf fails on hard ones."""
    ny, nx = file[image.variable].shape[1:]
    group = file.create_group("VTKHDF")
    group.attrs["Version"] = np.array([2, 0], np.int64)
    set_text(group.attrs, "Type", "ImageData")
    group.attrs["WholeExtent"] = np.array([0, nx - 1, 0, ny - 1, 0, 0], np.int64)
    group.attrs["Origin"] = np.array([*image.origin, 0.0])
    group.attrs["Spacing"] = np.array([*image.spacing, 1.0])
    group.attrs["Direction"] = np.eye(3).ravel()
    group.create_group("PointData")[image.variable] = h5py.SoftLink("/" + image.variable)
    steps = group.create_group("Steps")
    steps.attrs["NSteps"] = np.int64(0)
    time = next(v.dims[0] for v in layout.variables if v.name == image.variable)
    steps["Values"] = h5py.SoftLink("/" + series_dims(layout)[time].coordinate.name)


def _nexus(file: h5py.File, layout: Layout) -> None:
    """Name the picture, or else the first thing that grows, as what H5Web shows first."""
    shown = [v for v in plain_variables(layout) if growing_axis(v, layout) is not None]
    if layout.image is not None:
        shown = [v for v in shown if v.name == layout.image.variable]
    if not shown:
        return
    set_text(file.attrs, "NX_class", "NXdata")
    set_text(file.attrs, "signal", shown[0].name)
    axes = {s.dim: s.coordinate.name for s in layout.series}
    axes |= {v.name: v.name for v in layout.variables if v.dims == (v.name,) and file[v.name].dtype.kind in "iuf"}
    file.attrs["axes"] = np.array([axes.get(dim, ".") for dim in shown[0].dims], dtype="S")
