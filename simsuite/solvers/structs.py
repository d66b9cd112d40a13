"""Structs that kernels in CUDA C++ take by value: several arguments under one name, filled in once for many launches.

In Python a struct is a NamedTuple whose fields are annotated with `Array`, `Int`, `Uint`, `Long`, `Ulong` or `Real`; in
CUDA C++ it is declared under the same name, with the same fields in the same order. Both are laid out by the rules of
C, and `tests/test_structs.py` has the compiler compare names, types and places of fields.
"""

from __future__ import annotations

from typing import Annotated, Any, get_type_hints

import numpy as np

from simsuite.core import Backend

_ADDRESS, _PRECISION = "address", "precision"

Array = Annotated[Any, _ADDRESS]  # an array in the device's memory, which the kernel gets as a pointer
Int = Annotated[int, np.int32]
Uint = Annotated[int, np.uint32]
Long = Annotated[int, np.int64]
Ulong = Annotated[int, np.uint64]
Real = Annotated[float, _PRECISION]  # a number in the precision of the run


def types_of(struct: type) -> dict[str, Any]:
    """The annotations of a struct's fields, by their names."""
    return {name: hint.__metadata__[0] for name, hint in get_type_hints(struct, include_extras=True).items()}


def layout_of(struct: type, real: np.dtype) -> np.dtype:
    """The layout of a struct, with padding as in C. real: the precision of the run."""
    special = {_ADDRESS: np.dtype(np.uint64), _PRECISION: real}
    return np.dtype([(name, special.get(kind, kind)) for name, kind in types_of(struct).items()], align=True)


def packed(backend: Backend, values: Any, real: Any) -> np.ndarray:
    """A struct with these values, as launches take it. It does not keep its arrays alive; the caller has to.

    values: an instance of the NamedTuple. real: the precision of the run.
    """
    struct = np.zeros((), layout_of(type(values), np.dtype(real)))
    for name, kind in types_of(type(values)).items():
        value = getattr(values, name)
        struct[name] = backend.address(value) if kind == _ADDRESS else value
    return struct
