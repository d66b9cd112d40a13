"""Expressions as CUDA C++: every operation compiles for an H100/H200, the text computes what NumPy does, and it is
arithmetic and nothing else."""

from __future__ import annotations

import ctypes
import io
import itertools
import random
import re
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest
from test_expressions import AGREEING, RTOL, SINGULAR
from test_hostile_expressions import ONLY_LARGE, REFUSED

from simsuite.backends import open_backend
from simsuite.errors import DeviceError
from simsuite.expressions import Expression, ExpressionError
from simsuite.expressions.evaluate import OPERATIONS
from simsuite.expressions.tree import FUNCTIONS, LARGEST_INTEGER_POWER, Apply, IntegerPower, Name, Node, Number, walk

VARIABLES = ("x", "y", "t", "T")
TEXTS = [
    *AGREEING,
    *SINGULAR,
    *("1e-40*x - 0.12345678901234567", "-x - -0.1*y", "1 - -1.5", "--x", "x**7 + x**-7", "5e-324*x", "1e22 + x"),
    *("not x and y or t < T", "where(x, y, t)", "where(x > 0, where(y > 0, log(y), x), sqrt(-x)) + log(y)"),
    *("max(x, y, t, T)", "min(0.5, T)", "1 if x <= y < t else T", "(x >= y) + (x == y)*2 + (t != T)*4"),
    *("1e6*exp(-((x - 0.1*t)**2 + (y - 0.5)**2)/1e-4)", "20*(310 - T)", "sin(x)*y*sin(x)**3*exp(sin(x))"),
]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1e300, -5e-324, np.inf, -np.inf, np.nan]
ARITHMETIC = ("+", "-", "*", "/", "neg", "sqrt", "abs", "sign", "step", "floor", "ceil", "min", "max", "where")
ARITHMETIC += ("<", "<=", ">", ">=", "==", "!=", "and", "or", "not", "%", "//")


def made_up(source: random.Random, operations: Sequence[str], depth: int = 5) -> Node:
    """A tree of random operations, numbers and variables."""
    if depth == 0 or source.random() < 0.1:
        if source.random() < 0.6:
            return Name(source.choice(VARIABLES))
        return Number(source.choice([0.0, -0.0, 1.0, -3.0, 0.1, -1e-3, 7.25, 1e5]))
    if source.random() < 0.1:
        exponents = [n for n in range(-LARGEST_INTEGER_POWER, LARGEST_INTEGER_POWER + 1) if n]
        return IntegerPower(made_up(source, operations, depth - 1), source.choice(exponents))
    op = source.choice(operations)
    count = FUNCTIONS[op][0] if op in FUNCTIONS else 1 if op in ("neg", "not") else 2
    if op in ("min", "max"):
        count = source.randint(2, 3)
    return Apply(op, tuple(made_up(source, operations, depth - 1) for _ in range(count)))


def expressions_made_up(seed: int, count: int, operations: Sequence[str]) -> list[Expression]:
    source = random.Random(seed)
    return [Expression.from_tree(made_up(source, operations), VARIABLES) for _ in range(count)]


EXACT = expressions_made_up(1, 60, ARITHMETIC)
ALL = [*(Expression.parse(text, VARIABLES) for text in TEXTS), *EXACT]
LOOP = """
{qualifiers} void run{i}(const double* x, const double* y, const double* t, const double* T, double* result, long n)
{{
    for (long i = 0; i < n; i++) result[i] = f{i}(x[i], y[i], t[i], T[i]);
}}
"""


def source(qualifiers: str) -> str:
    """A unit of all the expressions, with a loop over points for each."""
    units = (e.cuda_function(f"f{i}", VARIABLES) + LOOP.format(qualifiers=qualifiers, i=i) for i, e in enumerate(ALL))
    return "\n".join(units)


def test_the_list_has_every_operation() -> None:
    nodes = [node for expression in ALL[: len(TEXTS)] for node in walk(expression.tree)]
    assert {node.op for node in nodes if isinstance(node, Apply)} == OPERATIONS.keys()
    assert any(isinstance(node, IntegerPower) for node in nodes)


def test_every_operation_compiles_for_sm90() -> None:
    core = pytest.importorskip("cuda.core")
    program = core.Program(source('extern "C" __global__'), "c++", core.ProgramOptions(arch="sm_90", std="c++17"))
    log = io.StringIO()
    code = program.compile("cubin", logs=log).code
    warnings = set(re.findall(r"warning #[\w-]+: (.*)", log.getvalue()))
    assert warnings <= {"division by zero"}, "which is meant"
    assert all(f"run{i}".encode() in code for i in range(len(ALL)))


@pytest.fixture(scope="module")
def host(tmp_path_factory: pytest.TempPathFactory) -> Callable[[int, np.ndarray], np.ndarray]:
    """Runs the text of the i-th expression, compiled as C++, at points (4, n)."""
    compiler = next(filter(None, map(shutil.which, ("g++", "clang++", "c++"))), None)
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    directory: Path = tmp_path_factory.mktemp("host")
    unit = directory / "expressions.cpp"
    head = "#include <cmath>\nusing namespace std;\n#define __device__\n#define __forceinline__ inline\n"
    unit.write_text(head + source('extern "C"'))
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-Werror=overflow"]
    subprocess.run([compiler, *flags, str(unit), "-o", str(directory / "expressions.so")], check=True, timeout=300)
    library = ctypes.CDLL(str(directory / "expressions.so"))

    def run(i: int, points: np.ndarray) -> np.ndarray:
        rows = [np.ascontiguousarray(row) for row in points]
        result = np.empty(points.shape[1])
        arrays = [ctypes.c_void_p(array.ctypes.data) for array in (*rows, result)]
        getattr(library, f"run{i}")(*arrays, ctypes.c_long(result.size))
        return result

    return run


def points() -> np.ndarray:
    """Random ones, then all combinations of special values in three of the variables."""
    random_ones = np.random.default_rng(7).uniform(-5, 5, (4, 200))
    special = np.array(list(itertools.product(SPECIAL, repeat=3))).T
    return np.concatenate([random_ones, np.concatenate([special, special[:1]])], axis=1)


def assert_agrees_with_numpy(found: np.ndarray, expression: Expression, where: np.ndarray) -> None:
    expected = np.broadcast_to(expression(**dict(zip(VARIABLES, where))), where.shape[1])
    if expression.text.endswith("**0.5"):  # NumPy may take a root, which at -inf is no power
        found, expected = (values[np.isfinite(where[0])] for values in (found, expected))
    np.testing.assert_allclose(found, expected, rtol=RTOL, atol=0, err_msg=expression.text)


def assert_equals_scalar_function(found: np.ndarray, expression: Expression, where: np.ndarray) -> None:
    """To the bit, with the signs of zeros, but for the bits of NaN."""
    function = expression.simulated_function(VARIABLES)
    expected = np.array([function(*point) for point in where.T.tolist()])
    np.testing.assert_array_equal(found, expected, err_msg=expression.text)
    number = ~np.isnan(expected)
    np.testing.assert_array_equal(np.signbit(found[number]), np.signbit(expected[number]), err_msg=expression.text)


@pytest.mark.parametrize("i", range(len(TEXTS)), ids=TEXTS)
def test_agrees_with_numpy(i: int, host: Callable[[int, np.ndarray], np.ndarray]) -> None:
    assert_agrees_with_numpy(host(i, points()), ALL[i], points())


def test_does_what_the_scalar_function_does(host: Callable[[int, np.ndarray], np.ndarray]) -> None:
    where = points()[:, ::3]
    for i, expression in enumerate(EXACT, len(TEXTS)):
        assert_equals_scalar_function(host(i, where), expression, where)


@pytest.mark.gpu
def test_agrees_on_a_gpu() -> None:
    try:
        open_backend("cuda")
    except DeviceError as reason:
        pytest.skip(str(reason))
    import cupy

    where = points()[:, ::3]
    arguments = [cupy.asarray(np.ascontiguousarray(row)) for row in where]
    module = cupy.RawModule(code=source('extern "C" __global__'), options=("--std=c++17", "--fmad=false"))
    for i, expression in enumerate(ALL):
        result = cupy.empty(where.shape[1])
        module.get_function(f"run{i}")((1,), (1,), (*arguments, result, np.int64(result.size)))
        check = assert_agrees_with_numpy if i < len(TEXTS) else assert_equals_scalar_function
        # CUDA's logarithm of a negative subnormal number is that of zero.
        known = ~(where == -5e-324).any(axis=0) if "log" in expression.text else np.full(where.shape[1], True)
        check(result.get()[known], expression, where[:, known])


TOKEN = re.compile(
    r"\s+|[{}();,]|[-+*/<>]|[<>=!]=|=|&&|\|\||\?|:"
    r"|(?:const|double|if|else|return)\b|[av]\d+\b|(?:0x[01]\.[0-9a-f]{13}p[+-]\d+|\d+\.\d|\d\.?\d*e\+\d+)(?![\w.])"
    r"|(?:sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|exp|log|log10|sqrt|pow|hypot|erf|erfc|fabs|floor|ceil|fmod"
    r"|copysign|isnan)(?=\()"
)
HEAD = "__device__ __forceinline__ double source_0(double a0, double a1, double a2, double a3)\n{\n"


def assert_is_arithmetic(text: str) -> None:
    """Nothing but assignments to new variables and choices between them; an assignment to nothing else."""
    assert text.startswith(HEAD)
    assert text.endswith(";\n}\n")
    position = len(HEAD) - 2
    while position < len(text):
        token = TOKEN.match(text, position)
        assert token, text[position : position + 40]
        position = token.end()
    line = re.compile(r" *(?:(?:const double |)v\d+ = [^;=]*(?:[!=<>]=[^;=]*)*;|double v\d+;|if \(\S+ != 0\.0\) \{)")
    for part in text.splitlines()[2:-2]:
        assert line.fullmatch(part) or part.strip() in ("} else {", "}")


@pytest.mark.parametrize("name", REFUSED)
def test_hostile_text_gives_no_text(name: str) -> None:
    with pytest.raises(ExpressionError):
        Expression.parse(REFUSED[name], VARIABLES).cuda_function("source_0", VARIABLES)


def test_the_text_is_arithmetic_and_nothing_else() -> None:
    large = [Expression.parse(text, VARIABLES) for text in (*ONLY_LARGE, "1 if x else " * 60 + "2", "x\n+\ty")]
    for expression in [*ALL, *large, *expressions_made_up(2, 300, [*OPERATIONS])]:
        assert_is_arithmetic(expression.cuda_function("source_0", VARIABLES))


def test_names_of_variables_do_not_get_into_the_text() -> None:
    variables = ("mean(A)", "sin", "double", "x); asm(", "/*")
    tree = Apply("+", (Name("x); asm("), Apply("*", (Name("sin"), Apply("sin", (Name("double"),))))))
    text = Expression.from_tree(tree, variables).cuda_function("source_0", variables)
    assert_is_arithmetic(text.replace(", double a4)", ")"))


@pytest.mark.parametrize("name", ["", "1f", "f(", "f g", "f\n", "sin", "a0", "v1", "ä", "f;"])
def test_a_function_needs_a_name_of_its_own(name: str) -> None:
    with pytest.raises(ValueError, match="cannot name"):
        Expression.parse("x").cuda_function(name, VARIABLES)


def test_needs_all_arguments() -> None:
    with pytest.raises(TypeError, match="needs arguments for T"):
        Expression.parse("x + T", VARIABLES).cuda_function("f", ("x", "y", "t"))


def test_repeated_parts_are_computed_once() -> None:
    text = Expression.parse("sin(x)*y + sin(x)**3 + where(y > 0, sin(x), 1)").cuda_function("f", VARIABLES)
    assert text.count("sin(") == 1


def test_the_same_text_every_time() -> None:
    """Compiled kernels are kept by their text."""
    texts = {Expression.parse(text, VARIABLES).cuda_function("f", VARIABLES) for text in ["x*y+1e-4"] * 3}
    assert len(texts) == 1
