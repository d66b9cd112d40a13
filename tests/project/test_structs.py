"""Structs that programs in CUDA C++ take by value: compilers lay them out as `solvers.structs` does."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from cuda_host import HostCuda, host_cuda
from sm90 import ptx_of

from simsuite.backends.program import _passed
from simsuite.solvers.gbm.paths import path_arguments, payoff_arguments
from simsuite.solvers.heat.explicit import arguments as heat
from simsuite.solvers.structs import Array, Int, Long, Real, layout_of, packed, types_of

__all__ = ["host_cuda"]  # a fixture

REAL = {"float32": "float", "float64": "double"}
C_TYPES = {np.int32: "int", np.uint32: "unsigned", np.int64: "long long", np.uint64: "unsigned long long"}
CHECK = """
template <typename A> struct is_pointer { static constexpr bool yes = false; };
template <typename A> struct is_pointer<A*> { static constexpr bool yes = true; };
template <typename A, typename B> struct is { static constexpr bool same = false; };
template <typename A> struct is<A, A> { static constexpr bool same = true; };
"""


class Mixed(NamedTuple):
    """Of every kind, with room between some of them."""

    count: Int
    values: Array
    factor: Real
    last: Int
    stride: Long


DECLARED = (heat, path_arguments, payoff_arguments)
STRUCTS = [
    (module, struct)
    for module in DECLARED
    for struct in vars(module).values()
    if isinstance(struct, type) and struct.__module__ == module.__name__
]


def source(module: object) -> str:
    return Path(str(module.__file__)).with_suffix(".cuh").read_text(encoding="utf-8")  # type: ignore[attr-defined]


def checks(struct: type, layout: np.dtype, real: str) -> str:
    """What a compiler is to find true."""
    name, lines = struct.__name__, [f"static_assert(sizeof({struct.__name__}) == {layout.itemsize});"]
    for field, kind in types_of(struct).items():
        assert layout.fields is not None
        lines.append(f"static_assert(__builtin_offsetof({name}, {field}) == {layout.fields[field][1]});")
        own = f"decltype({name}::{field})"
        wanted = C_TYPES.get(kind, real)
        lines.append(
            f"static_assert(is_pointer<{own}>::yes);"
            if kind == "address"
            else f"static_assert(is<{own}, {wanted}>::same);"
        )
    return "\n".join(lines)


@functools.cache
def knows_offsets() -> bool:
    """Whether NVRTC has `__builtin_offsetof`, which that of CUDA 13.0 does not have yet."""
    try:
        ptx_of("struct One { int a; };\nstatic_assert(__builtin_offsetof(One, a) == 0);")
    except AssertionError:
        return False
    return True


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize(("module", "struct"), STRUCTS, ids=lambda each: each.__name__.rpartition(".")[2])
def test_a_struct_is_the_same_in_both_languages(module: object, struct: type, precision: str) -> None:
    if not knows_offsets():
        pytest.skip("this NVRTC does not say where fields of a struct are")
    real = REAL[precision]
    same = checks(struct, layout_of(struct, np.dtype(precision)), real)
    precisions = "".join(f"#define {name} {real}\n" for name in ("REAL", "STATE", "NORMAL"))
    ptx_of(f"{precisions}{source(module)}\n{CHECK}\n{same}")


@pytest.mark.parametrize("module", DECLARED, ids=lambda module: module.__name__)
def test_all_structs_are_compared_and_have_no_further_fields(module: object) -> None:
    text = re.sub(r"//[^\n]*", "", source(module))
    declared = {
        name: [field for line in body.split(";") for field in re.findall(r"(\w+)\s*(?:,|$)", line.strip())]
        for name, body in re.findall(r"struct (\w+) \{(.*?)\};", text, re.DOTALL)
    }
    assert declared == {struct.__name__: list(types_of(struct)) for owner, struct in STRUCTS if owner is module}


@pytest.mark.parametrize("change", ["name", "type", "order"])
def test_a_difference_is_found(change: str) -> None:
    fields = {"name": "wrap_x, wrap_z; real q;", "type": "wrap_x, wrap_y; float q;", "order": "wrap_y, wrap_x; real q;"}
    layout = layout_of(heat.Mesh, np.dtype(np.float64))
    text = f"typedef double real; struct Mesh {{ int {fields[change]} }};\n{CHECK}\n"
    with pytest.raises(AssertionError):
        ptx_of(text + checks(heat.Mesh, layout, "double"))


@pytest.mark.parametrize("precision", REAL)
def test_values_are_where_the_layout_says(host_cuda: HostCuda, precision: str) -> None:
    values = np.arange(3.0)
    struct = packed(host_cuda, Mixed(-7, values, 0.25, 9, 1 << 40), precision)
    read = np.frombuffer(struct.tobytes(), layout_of(Mixed, np.dtype(precision)))[0]
    assert read.tolist() == (-7, values.ctypes.data, 0.25, 9, 1 << 40)
    assert _passed(struct) is struct, "CuPy passes a NumPy array of one element by value"
    with pytest.raises(OverflowError):
        packed(host_cuda, Mixed(1 << 31, values, 0.25, 9, 0), precision)
