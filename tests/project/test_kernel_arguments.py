"""That kernels, and the functions they are made of, take few arguments: more are grouped by meaning in a NamedTuple,
in CUDA C++ in a struct (`solvers.structs`)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from test_architecture import PACKAGE, tree

MOST = 12
COMPILER = PACKAGE / "parallel_for.py"  # which passes on whatever arguments a function has
# What decorates functions that Numba compiles, by the last part of its name; those of `simsuite.parallel_for`, too.
DECORATORS = {"jit", "njit", "vectorize", "guvectorize", "intrinsic", "register_jitable"}
DECORATORS |= {"kernel", "part", "inlined", "procedure", "parallel_for"}
PROGRAMS = sorted(path for path in PACKAGE.rglob("*.cu*") if path.suffix in (".cu", ".cuh"))
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_KERNEL = re.compile(r"__global__\s+void\s*(?:__launch_bounds__\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?(\w+)\s*\(")


def is_compiler(node: ast.expr) -> bool:
    """Whether this is one of the decorators, with or without options."""
    while isinstance(node, ast.Call):
        node = node.func
    return getattr(node, "attr", getattr(node, "id", "")) in DECORATORS


def compiled(module: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions that Numba compiles, and those that write code for it: decorated, or passed to what decorates."""
    called = {
        node.args[0].id
        for node in ast.walk(module)
        if isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Name) and is_compiler(node.func)
    }
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef) and (node.name in called or any(map(is_compiler, node.decorator_list))):
            yield node


def long_functions(module: ast.Module) -> list[str]:
    """Names and numbers of arguments of compiled functions with more than MOST, or with any number."""
    found = []
    for function in compiled(module):
        given = function.args
        count = len([*given.posonlyargs, *given.args, *given.kwonlyargs])
        if count > MOST or given.vararg or given.kwarg:
            found.append(f"{function.name}: {'any' if given.vararg or given.kwarg else count}")
    return found


def kernels(text: str) -> dict[str, int]:
    """How many arguments each kernel in CUDA C++ has, by name."""
    text = _COMMENT.sub("", text)
    found = {}
    for match in _KERNEL.finditer(text):
        depth, count, end = 1, 1, match.end()
        while depth > 0:
            depth += {"(": 1, "<": 1, ")": -1, ">": -1}.get(text[end], 0)
            count += text[end] == "," and depth == 1
            end += 1
        found[match[1]] = count if text[match.end() : end - 1].strip() else 0
    return found


def arguments(n: int) -> str:
    return ", ".join(f"a{i}" for i in range(n))


@pytest.mark.parametrize(
    "text",
    [
        "@kernel\ndef f({}): pass",
        "@cuda.jit(cache=True)\ndef f({}): pass",
        "def g():\n    @njit(_nrt=False)\n    def f({}): pass",
        "def f({}): pass\ng = cuda.jit(device=True)(f)",
        "@parallel_for\ndef f({}): pass",
    ],
)
def test_a_long_function_is_found(text: str) -> None:
    assert not long_functions(ast.parse(text.format(arguments(MOST))))
    assert long_functions(ast.parse(text.format(arguments(MOST + 1)))) == [f"f: {MOST + 1}"]
    assert long_functions(ast.parse(text.format("a, *b"))) == ["f: any"]
    assert not long_functions(ast.parse(f"def f({arguments(MOST + 1)}): pass"))


def test_arguments_in_cuda_are_counted() -> None:
    text = """
    extern "C" __global__ void __launch_bounds__(32 * WARPS, BLOCKS(2))
    first(const real* x /* a, b */, pair<int, real> y,  // c, d
          int (*f)(int, int)) { g(1, 2); }
    __global__ void second() {}
    """
    assert kernels(text) == {"first": 3, "second": 0}


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: path.name)
def test_all_kernels_in_cuda_are_counted(path: Path) -> None:
    text = _COMMENT.sub("", path.read_text(encoding="utf-8"))
    assert len(re.findall(r"\b__global__\b", text)) == len(kernels(text))


def test_kernels_take_few_arguments() -> None:
    paths = sorted({*PACKAGE.rglob("*.py")} - {COMPILER})
    assert sum(len(list(compiled(tree(path)))) for path in paths) > 300, "or none is found"
    assert not [f"{path.relative_to(PACKAGE)}: {text}" for path in paths for text in long_functions(tree(path))]


def test_programs_take_few_arguments() -> None:
    found = {
        f"{path.relative_to(PACKAGE)}: {name}": count
        for path in PROGRAMS
        for name, count in kernels(path.read_text(encoding="utf-8")).items()
        if count > MOST
    }
    assert not found
