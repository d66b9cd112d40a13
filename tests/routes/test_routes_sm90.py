"""Every kernel of the roads compiled for an H100, without a GPU."""

import ast
import itertools
from pathlib import Path
from string import Template

import pytest
from sm90 import compile_sm90, ptx_of

from simsuite import routes
from simsuite.backends.numba_cuda import import_numba_cuda

LESSONS = Path(routes.__file__).parent
REALS = ("float", "double")
FLAGS = ("false", "true")
SOURCES = [
    *(("heat/step.cu", f"step<{real}>") for real in REALS),
    *(("heat/step_torch.cu", f"{kernel}<{real}>") for kernel in ("step", "adjoint") for real in REALS),
    *(
        ("gbm/paths.cu", f"{kernel}<{real}, {flag}>")
        for kernel, real, flag in itertools.product(("paths", "with_derivatives"), REALS, FLAGS)
    ),
    *(("matmul/product.cu", f"product<{real}>") for real in REALS),
]


@pytest.mark.parametrize(("file", "name"), SOURCES)
def test_programs_compile(file, name):
    from cuda.core import Program, ProgramOptions

    text = (LESSONS / file).read_text(encoding="utf-8")
    program = Program(text, "c++", ProgramOptions(std="c++17", arch="sm_90"))
    assert len(program.compile("cubin", name_expressions=(name,)).code) > 1000


def constant(file, name):
    """The text of a module-level constant, or of the argument of the call that it is made by."""
    for node in ast.parse((LESSONS / file).read_text(encoding="utf-8")).body:
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == name:
            value = node.value.args[0] if isinstance(node.value, ast.Call) else node.value
            return ast.literal_eval(value)
    raise AssertionError(f"{file} has no {name}")


@pytest.mark.parametrize("real", REALS)
def test_templates_of_pycuda_compile(real):
    blocks = {"bx": 64, "by": 4, "rows": 4}
    texts = [Template(constant("heat/pycuda_module.py", "TEXT")).substitute(real=real, **blocks)]
    functions = (LESSONS / "gbm/paths.cu").read_text(encoding="utf-8")
    for asian in FLAGS:
        template = Template(constant("gbm/pycuda_module.py", "TEXT"))
        texts.append(template.substitute(functions=functions, real=real, asian=asian, threads=128))
    for each, depth in constant("matmul/pycuda_module.py", "CANDIDATES"):
        template = Template(constant("matmul/pycuda_module.py", "TEXT"))
        texts.append(template.substitute(real=real, each=each, depth=depth, t=16))
    for text in texts:
        assert ".entry" in ptx_of(text)


@pytest.mark.parametrize("real", REALS)
def test_statements_of_pycuda_compile(real):
    """As PyCUDA's elementwise kernels have them, in a loop over elements."""
    for file, name, arguments in (
        ("heat/pycuda_arrays.py", "STEP", f"{real} *v, const {real} *u, int nx, int ny, {real} rx, {real} ry"),
        ("matmul/pycuda_arrays.py", "DOT", f"{real} *c, const {real} *a, const {real} *b, int k, int columns"),
    ):
        statement = constant(file, name).replace("{real}", real)
        loop = "for (unsigned long i = threadIdx.x; i < n; i += blockDim.x) {"
        assert ".entry" in ptx_of(f"__global__ void run({arguments}, unsigned long n) {{ {loop} {statement}; }} }}")


def compiled(kernel, signature):
    import_numba_cuda()
    return compile_sm90(kernel, signature)


@pytest.mark.parametrize("width", [32, 64])
def test_numba_kernels_of_heat_stay_in_their_precision(width):
    import_numba_cuda()
    from numba import types

    from simsuite.routes.heat import numba_cuda, numba_shared

    real = types.float32 if width == 32 else types.float64
    plate = types.Array(real, 2, "C")
    for kernel in (numba_cuda.step, numba_shared.make_step(real)):
        ptx, info = compiled(kernel, (plate, plate, real, real))
        assert info["spill_bytes"] == info["stack_bytes"] == 0
        assert (".f64" in ptx) == (width == 64)
    assert info["shared_bytes"] == numba_shared.WIDTH * numba_shared.HEIGHT * width // 8


def test_the_tile_of_the_product_is_kept_in_registers():
    import_numba_cuda()
    from numba import types

    from simsuite.routes.matmul import numba_cuda, numba_shared

    matrix = types.Array(types.float32, 2, "C")
    for kernel in (numba_cuda.multiply, numba_shared.make_kernel(types.float32)):
        ptx, info = compiled(kernel, (matrix,) * 3)
        assert info["spill_bytes"] == info["stack_bytes"] == 0, "sums are in local memory"
        assert ".f64" not in ptx


@pytest.mark.parametrize("asian", [False, True])
def test_numba_kernels_of_paths_compile(asian):
    import_numba_cuda()
    from numba import types

    from simsuite.routes.gbm import numba_philox, numba_xoroshiro

    real = types.float32
    out, market = types.Array(real, 1, "C"), (real,) * 5
    _, info = compiled(numba_philox.make_kernel(real, asian), (out, *market, types.int64, types.uint64))
    assert info["spill_bytes"] == 0
    from numba.cuda.random import xoroshiro128p_type

    states = types.Array(xoroshiro128p_type, 1, "C")
    _, info = compiled(numba_xoroshiro.make_kernel(real, asian), (states, out, *market, types.int64))
    assert info["spill_bytes"] == 0
