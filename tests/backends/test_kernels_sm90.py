"""What can be known about the heat kernels on an H100/H200 without one: they compile, do not spill, and those of
float32 runs do no float64 arithmetic."""

from __future__ import annotations

import io
import re
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from numba import types
from sm90 import compile_sm90, few, others_long, passed, ptx_of

from simsuite.backends.kernel_cache import import_kernels
from simsuite.backends.program import compile_program, program_text
from simsuite.bench import machine_cuda
from simsuite.expressions import Expression
from simsuite.solvers.heat.adi import adi_cuda, lines_cuda
from simsuite.solvers.heat.arguments import Along, Factors, Flows, Law, LawEdges, Mesh, Plate, TableRows
from simsuite.solvers.heat.error_control import growth_cuda, missed_kinks_cuda
from simsuite.solvers.heat.exact import exact_cuda, trigonometric_cuda
from simsuite.solvers.heat.explicit import explicit_cuda, general
from simsuite.solvers.heat.explicit.launches_nvrtc import _TRIED, Variant
from simsuite.solvers.heat.explicit.resident import resident_variants
from simsuite.solvers.heat.explicit.streamed import streamed_variants
from simsuite.solvers.heat.operator import defect_cuda as controlled_cuda
from simsuite.solvers.heat.operator import edges_cuda, ledger_cuda, operator_cuda, sources_cuda
from simsuite.solvers.heat.results import measure_cuda
from simsuite.solvers.heat.rkl2 import plain_cuda as rkl2_plain_cuda
from simsuite.solvers.heat.rkl2 import rkl2_cuda

REAL = {"float32": types.float32, "float64": types.float64}
MOSTLY_REAL = others_long(REAL, {"float32"})  # where registers of float64 have no bound of their own
PLANES = [("float32", 2), ("float64", 2), ("float32", 3)]  # precision and dimensions of a field: 3 if compensated


def array(dtype: types.Type, ndim: int) -> types.Array:
    return types.Array(dtype, ndim, "C")


def plate_types(r: types.Type) -> types.Type:
    field, flag = array(r, 2), types.boolean
    arrays = {"gx": field, "gy": field, "c": field, "q": field, "edges": array(r, 1)}
    return passed(Plate, **arrays, heated=flag, wrap_x=flag, wrap_y=flag, zero=r)


def mesh_types(r: types.Type) -> types.Type:
    line, flag = array(r, 1), types.boolean
    return passed(Mesh, edges=line, ledger=line, q=r, wrap_x=flag, wrap_y=flag)


@pytest.mark.parametrize(("precision", "dimensions"), PLANES)
@pytest.mark.parametrize("kernel", ["steps_short", "step_tall"])
def test_explicit_step(kernel: str, precision: str, dimensions: int) -> None:
    r = REAL[precision]
    field = array(r, dimensions)
    several = (types.int64, types.int64) if kernel == "steps_short" else ()
    signature = types.void(field, field, mesh_types(r), types.int64, r, *several)
    ptx, info = compile_sm90(getattr(explicit_cuda, kernel), signature)
    assert info["spill_bytes"] == 0
    if kernel == "step_tall":
        assert info["registers"] <= 40, "more registers lower the occupancy, and with it the rate"
    assert ("fma.rn.f64" in ptx) == (precision == "float64")
    if precision == "float32":
        assert not re.findall(r"\.f64", ptx)


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("kernel", ["gather", "judge", "grow", "shift", "slope", "multiply", "weigh", "bend"])
def test_errors_of_steps_as_long_as_they_may_be(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field = array(r, 2)
    module, signature = {
        "gather": (controlled_cuda, (field, field, r, types.boolean, field)),
        "judge": (controlled_cuda, (field, field, r, field, r, array(types.float64, 2))),
        "grow": (growth_cuda, (field, field, field, field, r)),
        "shift": (growth_cuda, (field, r, field)),
        "slope": (growth_cuda, (field, field, field, r, r)),
        "multiply": (growth_cuda, (field, field, r)),
        "weigh": (growth_cuda, (field, field, field, field, field, *[r] * 7)),
        "bend": (missed_kinks_cuda, (field, field, field, field, field, r)),
    }[kernel]
    ptx, info = compile_sm90(getattr(module, kernel), types.void(*signature))
    assert info["spill_bytes"] == 0
    if precision == "float32":
        assert not re.findall(r"(?:add|sub|mul|fma|div)[.\w]*\.f64", ptx)


def test_warps_have_the_shared_memory_they_need() -> None:
    """That of an H200's multiprocessor is 228 KB, with 1 KB of every block for the system."""
    for precision, by_kinds in (*general.SHAPES.items(), *general.HELD_SHAPES.items()):
        for kinds, shapes in by_kinds.items():
            for shape in (general.Shape(*numbers) for numbers in shapes):
                block = shape.shared_bytes(kinds, 0, np.dtype(precision).itemsize, planes=1)
                assert shape.blocks * (block + 1024) <= 228 * 1024
                assert _TRIED % shape.depth == 0, "or trials would take different numbers of steps"


@pytest.mark.parametrize("precision", REAL)
def test_the_arithmetic_that_a_device_is_measured_by(precision: str) -> None:
    """As many fused multiply-adds as are counted, and nothing beside them in the loop but counting."""
    r = REAL[precision]
    ptx, info = compile_sm90(machine_cuda.chains, types.void(array(r, 1), r, r, types.int64))
    assert info["spill_bytes"] == 0
    assert len(re.findall(rf"fma\.rn\.f{precision[-2:]}", ptx)) == machine_cuda.PER_ROUND
    assert not re.findall(rf"mul\S*\.f{precision[-2:]}", ptx)
    if precision == "float32":
        assert not re.findall(r"\.f64", ptx)


@pytest.mark.parametrize("precision", REAL)
def test_measurements(precision: str) -> None:
    r = REAL[precision]
    real, index = array(types.float64, 1), array(types.int64, 1)
    rows = types.void(array(r, 2), array(r, 2), types.boolean, real, real, real, real, index, index, index)
    flags = (types.boolean, types.boolean)
    probe = types.void(array(r, 2), array(r, 1), types.int64, *flags, index, index, real, real, real)
    for kernel, signature in ((measure_cuda.rows, rows), (measure_cuda.probe, probe)):
        _, info = compile_sm90(kernel, signature)
        assert info["spill_bytes"] == 0


def written(template: str, args: tuple[str, ...], **texts: str) -> ModuleType:
    """The kernels that a template becomes with expressions of `args`."""
    sources = {name: Expression.parse(text, args).scalar_source(name, args, False)[0] for name, text in texts.items()}
    return import_kernels(f"simsuite.solvers.{template}_cuda", sources)


@pytest.mark.parametrize("text", ["sin(t)*x**2 + y", "where(x > t, exp(-x), min(y, 1, t))", "hypot(x, y)/t"])
def test_table_of_an_expression(text: str) -> None:
    real = array(types.float64, 1)
    f8, i8 = types.float64, types.int64
    signature = types.void(array(types.float32, 2), i8, real, real, f8, f8, i8, i8, real, real, i8)
    own = written("table", ("x", "y", "t"), expression=text)
    _, info = compile_sm90(own.fill, signature)
    assert info["spill_bytes"] == 0


@pytest.mark.parametrize("precision", MOSTLY_REAL)
@pytest.mark.parametrize("kernel", ["deviation", "add", "decay", "propagate", "total", "book"])
def test_exact_step(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field, line, parts = array(r, 2), array(r, 1), array(r, 3)
    signature = {
        "deviation": (field, r, field),
        "add": (field, field),
        "decay": (line, r, r, r, field, line),
        "propagate": (field, field, field, field, line, r, r, field, field, parts, parts),
        "total": (parts, field),
        "book": (field, field, field, r, r, line, line),
    }[kernel]
    ptx, info = compile_sm90(getattr(exact_cuda, kernel), types.void(*signature))
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] == 0
    if precision == "float32":
        assert not re.findall(r"\.f64", ptx)


@pytest.mark.parametrize("precision", MOSTLY_REAL)
@pytest.mark.parametrize("kernel", ["move", "pair", "turn", "unpair"])
def test_steps_around_fourier_transforms(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field, line, spectrum, first = array(r, 2), array(r, 1), array(r, 3), types.int64
    places, pairs = array(types.uint32, 1), array(types.uint32, 2)
    signature = {
        "move": (field, first, places, line, field),
        "pair": (field, first, pairs, field, spectrum),
        "turn": (field, places, line, first, field),
        "unpair": (spectrum, pairs, field, first, field),
    }[kernel]
    ptx, info = compile_sm90(getattr(trigonometric_cuda, kernel), types.void(*signature))
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] == 0
    assert info["registers"] <= 64, "more registers lower the occupancy, and with it the rate"
    assert info["shared_bytes"] <= 48 * 1024
    assert (".f64" in ptx) == (precision == "float64")


FLAG, INDEX, DOUBLE = types.boolean, types.int64, types.float64
DOUBLES = array(DOUBLE, 1)


def operator_signatures(r: types.Type, dimensions: int = 2) -> dict[str, tuple[object, types.Type]]:
    """The kernels that every step of the general operator consists of, for runs in the precision r. dimensions: of the
    fields of an explicit step."""
    field, line, stepped = array(r, 2), array(r, 1), array(r, dimensions)
    operator = (plate_types(r), INDEX)
    flows = passed(Flows, power=DOUBLES, held=array(INDEX, 2), ledger=line)
    return {
        "rate": (operator_cuda.rate, types.void(field, field, *operator)),
        "step": (operator_cuda.step, types.void(stepped, stepped, *operator, r)),
        "book": (operator_cuda.book, types.void(field, *operator, flows, r, r, r)),
        "first_stage": (rkl2_cuda.first_stage, types.void(field, field, field, r, *operator)),
        "later_stage": (rkl2_cuda.later_stage, types.void(*[field] * 5, *[r] * 4, *operator)),
        "rate_rows": (operator_cuda.rate_rows, types.void(field, *operator, DOUBLES)),
        "fold": (ledger_cuda.fold, types.void(line, array(DOUBLE, 2))),
    }


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("kernel", operator_signatures(types.float64))
def test_general_operator(kernel: str, precision: str) -> None:
    ptx, info = compile_sm90(*operator_signatures(REAL[precision])[kernel])
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] == 0
    if kernel in ("rate", "step", "first_stage", "later_stage"):
        assert info["registers"] <= 40, "more registers lower the occupancy, and with it the rate"
        assert (".f64" in ptx) == (precision == "float64")
    if kernel == "book" and precision == "float32":
        arithmetic = re.findall(r"\b(?:add|sub|mul|div|fma)\S*\.f64", ptx)
        assert len(arithmetic) == 1, "of the power of sources, a float64 number for a whole row of cells, and no other"


def test_a_compensated_step_with_the_general_operator() -> None:
    ptx, info = compile_sm90(*operator_signatures(types.float32, 3)["step"])
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] == 0
    assert info["registers"] <= 40, "more registers lower the occupancy, and with it the rate"
    assert ".f64" not in ptx


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize(("kernel", "registers"), [("stage", 40), ("stage_tall", 64)])
def test_stage_with_constant_coefficients(kernel: str, registers: int, precision: str) -> None:
    """Several cells a thread need more registers, and have more loads under way for it."""
    r = REAL[precision]
    table = passed(TableRows, at=INDEX, at0=INDEX)
    signature = types.void(*[array(r, 2)] * 4, mesh_types(r), passed(Factors, mu=r, nu=r, r=r, g=r, b=r), table)
    ptx, info = compile_sm90(getattr(rkl2_plain_cuda, kernel), signature)
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] == 0
    assert info["registers"] <= registers, "more registers lower the occupancy, and with it the rate"
    assert (".f64" in ptx) == (precision == "float64")


@pytest.mark.parametrize("precision", REAL)
def test_rows_of_the_edge_table(precision: str) -> None:
    field = array(REAL[precision], 2)
    integers, table = array(INDEX, 1), array(DOUBLE, 2)
    signature = types.void(integers, table, DOUBLES, DOUBLES, field, FLAG, field, INDEX, INDEX)
    _, info = compile_sm90(edges_cuda.edge_rows, signature)
    assert info["spill_bytes"] == 0


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("text", ["0.5 + T/700", "where(which == 2, k*sqrt(T/300), exp(-x)*(1 + y))"])
def test_conductivity_that_depends_on_temperature(text: str, precision: str) -> None:
    field = array(REAL[precision], 2)
    own = written("heat.operator.conduct", ("x", "y", "T", "k", "which"), along_x=text, along_y=text)
    sizes = {"dx": DOUBLE, "dy": DOUBLE, "numbers_x": DOUBLES, "numbers_y": DOUBLES}
    law = passed(Law, kx=array(DOUBLE, 2), ky=array(DOUBLE, 2), which=array(INDEX, 2), **sizes)
    edges = passed(LawEdges, kinds=array(INDEX, 1), data=array(DOUBLE, 2), k=DOUBLES)
    signature = types.void(field, plate_types(REAL[precision]), law, edges, INDEX)
    _, info = compile_sm90(own.conduct, signature)
    assert info["spill_bytes"] == 0


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("text", ["20*(310 - T)", "1e6*exp(-((x - 0.1*t)**2 + (y - 0.5)**2)/1e-4)"])
def test_sources(text: str, precision: str) -> None:
    field = array(REAL[precision], 2)
    own = written("heat.operator.source", ("x", "y", "t", "T", "marked"), expression=text)
    where = (DOUBLE, DOUBLE, field, field, field, DOUBLES, INDEX)
    _, info = compile_sm90(own.source, types.void(field, DOUBLES, INDEX, *where, array(types.uint8, 2), DOUBLES))
    assert info["spill_bytes"] == 0


@pytest.mark.parametrize("precision", REAL)
@pytest.mark.parametrize("kernel", ["add_products", "sums", "book"])
def test_sources_that_are_products(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field, doubles, line, index = array(r, 2), array(DOUBLE, 2), array(r, 1), types.int64
    arguments = {
        "add_products": (field, field, index, index, index, field, field, field, DOUBLES, index, r),
        "sums": (field, index, index, index, index, doubles),
        "book": (doubles, field, *[index] * 6, r, line, index, index),
    }
    ptx, info = compile_sm90(getattr(sources_cuda, kernel), types.void(*arguments[kernel]))
    assert info["spill_bytes"] == 0
    assert info["stack_bytes"] == 0
    fused = {"add_products": f"fma.rn.f{precision[-2:]}", "sums": "add.f64", "book": "fma.rn.f64"}
    assert fused[kernel] in ptx


@pytest.mark.parametrize("precision", MOSTLY_REAL)
@pytest.mark.parametrize(
    "kernel", ["edge_data", "right_side", "transpose", "ahead", "largest_rows", "largest", "solve"]
)
def test_adi(kernel: str, precision: str) -> None:
    r = REAL[precision]
    field, line, flag, index = array(r, 2), array(r, 1), types.boolean, types.int64
    arguments = {
        "edge_data": (field, field, field, line, index, index, r, r, index, index, flag),
        "right_side": (field, plate_types(r), index, r, field),
        "transpose": (field, field),
        "ahead": (field, field, r, field),
        "largest_rows": (field, field, field, field),
        "largest": (field, r, line),
        "solve": (field, passed(Along, g=field, c=field, edges=line, first=index, wrap=flag), index, r, r, field),
    }
    module = lines_cuda if kernel == "solve" else adi_cuda
    ptx, info = compile_sm90(getattr(module, kernel), types.void(*arguments[kernel]))
    assert info["spill_bytes"] == 0
    assert info["shared_bytes"] <= 48 * 1024
    if precision == "float32":
        assert not re.findall(r"\.f64", ptx)


def programs() -> dict[str, Variant]:
    """All programs of the explicit step that a tuner may choose from, for two widths of grids."""
    found = {}
    for dtype in map(np.dtype, REAL):
        for extent in ((16384, 16384), (400, 601), (1024, 1024)):
            for wrapped in (False, True):
                several = streamed_variants(extent, dtype, wrapped, wrapped, processors=132)
                several += resident_variants(extent, dtype, False, False, True, 132, together=0)
                if dtype == np.float32:
                    several += streamed_variants(extent, dtype, wrapped, wrapped, 132, compensated=True)
                    several += resident_variants(extent, dtype, False, False, True, 132, 0, compensated=True)
                for variant in several:
                    found[f"{variant.source.stem} {' '.join(map(str, variant.macros.values()))}"] = variant
        for uniform, heated, even, held, terms in (
            (False, False, True, False, 0),
            (False, False, False, False, 0),
            (False, True, False, True, 0),
            (True, False, True, False, 1),
            (False, True, False, False, 3),
        ):
            for ny, nx in ((16384, 16384), (400, 601)):
                made = SimpleNamespace(
                    ny=ny,
                    nx=nx,
                    wrap_x=False,
                    wrap_y=False,
                    static=(True,) if heated else (),
                    uniform=uniform,
                    any_held=held,
                    inverse_capacity=np.ones(1) if even else np.arange(2.0),
                )
                several = general.general_variants(made, dtype, terms, processors=132)
                if dtype == np.float32:
                    several += general.general_variants(made, dtype, terms, 132, compensated=True)[:1]
                for variant in several:
                    found[f"{variant.source.stem} {' '.join(map(str, variant.macros.values()))}"] = variant
    return found


def tightest(programs: dict[str, Variant]) -> list[str]:
    """One of each code: what differs in nothing but how warps are shared out to blocks differs in the registers that
    are left for a thread, and here are those with the fewest."""
    found: dict[str, tuple[int, int, str]] = {}
    for name, variant in programs.items():
        rest = [f"{macro}={value}" for macro, value in variant.macros.items() if macro not in ("WARPS", "BLOCKS")]
        warps, code = int(variant.macros["WARPS"]), f"{variant.source.stem} {rest}"
        own = warps * int(variant.macros.get("BLOCKS", 1)), warps, name
        found[code] = max(found.get(code, own), own)
    return [name for *_, name in found.values()]


FOUND = programs()
TIGHTEST = {name: (FOUND[name].source, FOUND[name].macros) for name in tightest(FOUND)}
OF_EACH = {
    name: (s, {(s.stem, macro): value for macro, value in macros.items()}) for name, (s, macros) in TIGHTEST.items()
}
FEWEST = few(OF_EACH, 1)


@pytest.mark.parametrize("name", others_long(dict.fromkeys([*FEWEST, *few(TIGHTEST)]), FEWEST))
def test_programs_of_several_steps(name: str) -> None:
    """With every value of each macro of each source, and `make long` with every two that meet."""
    source, macros = TIGHTEST[name]
    log = io.StringIO()
    compile_program(source, macros, "sm_90", log)
    assert set(re.findall(r"(\d+) bytes spill", log.getvalue())) == {"0"}


def test_programs_fit_in_shared_memory() -> None:
    assert max(variant.shared_bytes for variant in FOUND.values()) <= 227 * 1024


@pytest.mark.parametrize(
    ("source", "compensated"), [("streamed", 0), ("streamed", 1), ("resident", 0), ("resident", 1), ("general", 0)]
)
def test_programs_in_float32_do_no_float64_arithmetic(source: str, compensated: int) -> None:
    found = (variant for name, variant in FOUND.items() if name.startswith(f"{source} float"))
    variant = next(variant for variant in found if variant.macros.get("COMPENSATED", 0) == compensated)
    text = ptx_of(program_text(variant.source, variant.macros))
    assert "fma.rn.f32" in text
    assert ".ftz" not in text
    assert ".f64" not in text
