"""A parallel loop for kernels on the CPU that is quick to compile.

`numba.njit(parallel=True)` analyses every array expression of a function before it finds that there is one loop to
share out, and compiles the loop's body as a function of its own: 0.3 s and more for each kernel, more than all the rest
of it. `parallel_for` calls a compiled function on each thread for a part of the range, by the same threads of Numba's
(`numba_parallel_for`, the entry point that its parallel loops call), and adds next to nothing to what is compiled.

Numba optimises every function that a kernel calls, and turns it into machine code, before it does the same again as
part of the kernel. Bodies of loops, and what `procedure` decorates, become parts of the kernel at once, and what the
optimiser gets of them is kept for the next kernel.
"""

from __future__ import annotations

import inspect
import operator
import weakref
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import njit, types
from numba.core import cgutils, compiler
from numba.core.cpu import CPUTargetOptions
from numba.extending import intrinsic

# Decorators of a kernel, which Python calls, and of a part, a function which kernels call. Neither needs a wrapper for
# callers in C, nor a part one for callers in Python, and to compile a wrapper takes as long as many a loop.
kernel = njit(cache=True, error_model="numpy", no_cfunc_wrapper=True)
_PART = {"error_model": "numpy", "no_cfunc_wrapper": True, "no_cpython_wrapper": True, "forceinline": True}
part = njit(**_PART)
# A part that is called in one place: it becomes some lines of its caller, before types are known.
inlined = njit(inline="always")

# for each library that is compiled: the descriptors of the bodies in it, by body and types
_COMPILED: Any = weakref.WeakKeyDictionary()
_PARTS: Any = weakref.WeakKeyDictionary()  # for each body: what `_part` has made of it, by types
_SIZE = ir.IntType(64)
_BYTES = ir.IntType(8).as_pointer()
# The signature of a task, which Numba's layers of threads call with (addresses of arrays, numbers of items along each
# dimension, bytes between two items, a pointer to data of the caller).
_ITEMS = (_BYTES.as_pointer(), _SIZE.as_pointer(), _SIZE.as_pointer(), _BYTES)
_TASK = ir.FunctionType(ir.VoidType(), _ITEMS)
# The signature of `numba_parallel_for`, which calls it: (the task, these four, the number of further dimensions, the
# number of arrays, the number of threads).
_RUN = ir.FunctionType(ir.VoidType(), [_BYTES, *_ITEMS, _SIZE, _SIZE, ir.IntType(32)])


def _of_two(better: Callable[[Any, Any], Any], doc: str) -> Any:
    """A function of two numbers, for kernels, that returns the second if `better(second, first)` holds and else the
    first."""

    def call(typing_context: Any, a: Any, b: Any) -> Any:
        kind = typing_context.unify_types(a, b)

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            first, second = (context.cast(builder, v, k, kind) for v, k in zip(values, signature.args, strict=True))
            compare = context.get_function(better, types.boolean(kind, kind))
            return builder.select(compare(builder, (second, first)), second, first)

        return kind(a, b), generate

    call.__doc__ = doc
    return intrinsic(call)


# For each pair of types Numba compiles `min` and `max` as functions of their own, in every kernel that calls them.
lesser = _of_two(operator.lt, "What `min` is of two numbers.")
larger = _of_two(operator.gt, "What `max` is of two numbers.")


def parallel_for(body: Callable[..., None]) -> Any:
    """Decorator of the body of a loop, `body(begin, end, *arguments)`, which does what is to be done for the numbers
    begin .. end - 1, whatever the order of such ranges. It becomes a function of (n, arguments) for kernels to call,
    which calls the body for parts of 0 .. n - 1, one on each of `numba.get_num_threads()` threads, and returns when all
    are done.

    arguments: a tuple. The body returns nothing; an error that it raises is lost. A third argument of the function, an
    integer, is the largest number of threads to use.
    """

    @intrinsic
    def call(typing_context: Any, n: Any, arguments: Any, most: Any = None) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            compiled = _compiled(context, body, (types.int64, types.int64, *arguments.types), forceinline=True)
            numbers = [
                context.cast(builder, value, kind, types.int64)
                for value, kind in zip(values, signature.args, strict=True)
                if isinstance(kind, types.Integer)
            ]
            _launch(context, builder, compiled, numbers[0], numbers[1:], values[1])
            return context.get_dummy_value()

        return types.none(n, arguments, types.none if most is None else most), generate

    return call


def procedure(body: Callable[..., None]) -> Any:
    """Decorator of a function that kernels call, which returns nothing and is optimised with each kernel. Where an
    argument is None, what stands under `if argument is not None` is left out before that. A call whose first argument
    is None is left out itself, wherever that None comes from."""

    def call(typing_context: Any, *kinds: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            if kinds and kinds[0] == types.none:
                return context.get_dummy_value()
            compiled = _compiled(context, body, signature.args, forceinline=False)
            function = context.declare_function(builder.module, compiled)
            status, _ = context.call_conv.call_function(builder, function, types.none, compiled.argtypes, values)
            with cgutils.if_unlikely(builder, status.is_error):
                context.call_conv.return_status_propagate(builder, status)
            return context.get_dummy_value()

        return types.none(*kinds), generate

    signature = inspect.signature(body)
    context = inspect.Parameter("typing_context", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    call.__signature__ = signature.replace(parameters=[context, *signature.parameters.values()])  # type: ignore[attr-defined]
    call.__name__, call.__doc__ = body.__name__, body.__doc__
    made = intrinsic(call)
    made.py_func = body  # functions that Numba compiles have this attribute, too
    return made


def _compiled(context: Any, body: Callable[..., None], kinds: tuple[Any, ...], forceinline: bool) -> Any:
    """The descriptor of the body compiled for arguments of these types, which is added to the library that is being
    compiled. forceinline: whether the body is inlined in each function that calls it. Bodies of loops are: that costs
    nothing, since one function calls each of them, and some loops take half as long."""
    library = context.active_code_library
    found = _COMPILED.setdefault(library, {})
    if (body, kinds) not in found:
        made, own = _part(context, body, kinds, forceinline)
        library._final_module.link_in(own._final_module, preserve=True)
        # the function is removed once it has been inlined
        library.get_function(made.llvm_func_name).linkage = "linkonce_odr"
        for used in own._linking_libraries:
            library.add_linking_library(used)
        found[body, kinds] = made
    return found[body, kinds]


def _part(context: Any, body: Callable[..., None], kinds: tuple[Any, ...], forceinline: bool) -> tuple[Any, Any]:
    """The descriptor of a body, and a library with it, which is copied into libraries that need it and never finished
    itself. Both are kept: the code that Numba makes of a body for the optimiser is the same in every kernel, and to
    make it takes as long as all the optimising."""
    made = _PARTS.setdefault(body, {})
    if kinds not in made:
        own = context.codegen().create_library(body.__qualname__)
        flags = compiler.Flags()
        CPUTargetOptions.parse_as_flags(flags, _PART | {"nopython": True, "forceinline": forceinline})
        flags.no_compile = True
        compiled = compiler.compile_internal(context.typing_context, context, own, body, kinds, types.none, flags, {})
        # functions with other kinds of linkage are copied only if they are called
        own.get_function(compiled.fndesc.llvm_func_name).linkage = "weak_odr"
        made[kinds] = compiled.fndesc, own
    return made[kinds]


def _launch(context: Any, builder: Any, compiled: Any, total: Any, most: Any, arguments: Any) -> None:
    """Call a compiled body for 0 .. total - 1, on as many threads as Numba may use, but no more than any of the numbers
    in `most`."""
    available = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_SIZE, []), "get_num_threads")
    count = builder.call(available, [])
    for limit in (total, *most):
        count = builder.select(builder.icmp_signed("<", count, limit), count, limit)
    place = cgutils.alloca_once_value(builder, cgutils.pack_struct(builder, (total, count, arguments)))
    task = _task(context, builder.module, compiled, place.type)
    # Item number i of an array of single bytes that begins at address 0 has the address i.
    addresses = cgutils.alloca_once_value(builder, _BYTES(None))
    counts, distances = (cgutils.alloca_once_value(builder, number) for number in (count, _SIZE(1)))
    items = (addresses, counts, distances, builder.bitcast(place, _BYTES))
    run = cgutils.get_or_insert_function(builder.module, _RUN, "numba_parallel_for")
    with builder.if_else(builder.icmp_signed(">", count, _SIZE(1))) as (several, one):
        with several:
            threads = builder.trunc(count, ir.IntType(32))
            builder.call(run, [builder.bitcast(task, _BYTES), *items, _SIZE(0), _SIZE(1), threads])
        with one:
            builder.call(task, items)


def _task(context: Any, module: Any, compiled: Any, place_type: Any) -> Any:
    """The function that a thread calls for some of the parts: those whose numbers are the addresses it is given."""
    task = ir.Function(module, _TASK, module.get_unique_name(f"{compiled.mangled_name}.part"))
    task.linkage = "internal"
    builder = ir.IRBuilder(task.append_basic_block("entry"))
    addresses, counts, distances, place = task.args
    total, parts, arguments = cgutils.unpack_tuple(builder, builder.load(builder.bitcast(place, place_type)), 3)
    first, distance = builder.ptrtoint(builder.load(addresses), _SIZE), builder.load(distances)
    function, kinds = context.declare_function(module, compiled), compiled.argtypes
    values = cgutils.unpack_tuple(builder, arguments, len(kinds) - 2)
    values = [_uncounted(context, builder, kind, value) for kind, value in zip(kinds[2:], values, strict=True)]
    with cgutils.for_range(builder, builder.load(counts)) as loop:
        number = builder.add(first, builder.mul(loop.index, distance))
        begin, end = (builder.sdiv(builder.mul(total, k), parts) for k in (number, builder.add(number, _SIZE(1))))
        context.call_conv.call_function(builder, function, types.none, kinds, [begin, end, *values])
    builder.ret_void()
    return task


def _uncounted(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """An array, or a tuple with arrays, without the address of its count of references, which the caller keeps: if
    threads counted each reference to a row that they take, they would wait for each other."""
    if isinstance(kind, types.BaseTuple):
        elements = cgutils.unpack_tuple(builder, value, len(kind.types))
        for i, (inner, element) in enumerate(zip(kind.types, elements, strict=True)):
            value = builder.insert_value(value, _uncounted(context, builder, inner, element), i)
        return value
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = cgutils.get_null_value(array.meminfo.type)
    array.parent = cgutils.get_null_value(array.parent.type)
    return array._getvalue()
