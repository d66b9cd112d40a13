"""The shape of the house: who may import whom, who may know about devices, and what importing costs."""

from __future__ import annotations

import ast
import functools
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "simsuite"
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST = 400  # lines: a file is as long as its one idea, which may take some more than a page or two

# What each part may import of the others; any part may import itself. Solvers are handed over as names, "module:Class",
# and imported when they are needed.
BASE = {"core", "errors"}
ALLOWED = {
    "__init__": {"api", "errors", "simulation", "version"},
    "__main__": {"cli"},
    "api": BASE
    | {
        "assembly",
        "execution",
        "exporting",
        "io",
        "notebooks",
        "parallel",
        "plotting",
        "progress",
        "reporting",
        "scenario",
        "simulation",
        "stopping",
        "summaries",
        "sweeps",
    },
    "backends": BASE | {"words"},
    "bench": BASE
    | {
        "__main__",
        "assembly",
        "backends",
        "capabilities",
        "communication",
        "execution",
        "io",
        "parallel",
        "progress",
        "routes",
        "scenario",
        "solvers",
        "verify",
        "version",
    },
    "cli": {"*"},
    "comparison": BASE | {"io", "scenario"},
    "conditions": {"capabilities", "core", "version"},
    "continuation": BASE | {"assembly", "io", "scenario", "words"},
    "core": set(),
    "crossings": {"core"},
    "elementary_functions": set(),
    "errors": set(),
    "exporting": BASE | {"io", "provenance", "words"},
    "expressions": {"words"},
    "same_run": BASE | {"io", "scenario"},
    "io": BASE | {"capabilities", "provenance", "version", "words"},
    "capabilities": {"communication", "core", "crossings"},
    "communication": {"core"},
    "libraries": set(),
    "loop": {"capabilities", "core", "io"},
    "pictures": BASE | {"comparison", "expressions", "io", "plugins", "scenario", "solvers", "sweeps", "words"},
    "plotting": BASE | {"assembly", "backends", "io", "pictures", "scenario", "solvers"},
    "repairing": BASE | {"inspection", "io"},
    "reporting": BASE | {"inspection", "io", "pictures", "solvers", "summaries", "sweeps", "version", "words"},
    "rng": {"elementary_functions"},
    "routes": BASE | {"backends", "rng"},
    "running": BASE
    | {
        "assembly",
        "capabilities",
        "crossings",
        "io",
        "loop",
        "parallel",
        "progress",
        "provenance",
        "same_run",
        "scenario",
        "words",
    },
    "scenario": {"errors", "expressions", "plugins", "words"},
    "assembly": BASE
    | {
        "backends",
        "capabilities",
        "communication",
        "io",
        "libraries",
        "plugins",
        "scenario",
        "version",
        "words",
    },
    "execution": BASE
    | {
        "assembly",
        "capabilities",
        "conditions",
        "same_run",
        "io",
        "loop",
        "parallel",
        "profiling",
        "progress",
        "running",
        "provenance",
        "scenario",
        "version",
    }
    | {"words"},
    "inspection": BASE | {"io", "progress"},
    "profiling": {"capabilities", "core"},
    "notebooks": BASE | {"pictures", "progress", "sweeps", "words"},
    "progress": BASE | {"capabilities", "io", "words"},
    "provenance": {"version", "words"},
    "watching": BASE | {"inspection", "io", "words"},
    "words": set(),
    "simulation": BASE | {"words", "assembly", "capabilities", "notebooks", "progress", "scenario"},
    "parallel": BASE | {"assembly", "capabilities", "communication", "io", "scenario", "stopping", "version"},
    "parallel_for": set(),
    "plugins": {"errors"},
    "sobol": {"elementary_functions", "libraries", "rng"},
    "solvers": BASE
    | {
        "communication",
        "crossings",
        "elementary_functions",
        "expressions",
        "libraries",
        "parallel_for",
        "rng",
        "scenario",
        "sobol",
        "words",
    },
    "stopping": set(),
    "sweeps": BASE
    | {
        "assembly",
        "backends",
        "capabilities",
        "execution",
        "exporting",
        "io",
        "progress",
        "provenance",
        "scenario",
        "stopping",
        "version",
        "words",
    },
    "summaries": BASE | {"solvers", "sweeps", "words"},
    "templates": set(),
    "verify": BASE | {"assembly", "backends", "capabilities", "expressions", "scenario", "solvers", "words"},
    "version": set(),
}
EXPLAINED = re.compile(r"[#.] Any: \w")
LIBRARIES = {  # and which parts may import these
    "cupy": {"backends", "bench", "routes"},
    "cupy_backends": {"backends"},
    "cuda": {"backends", "routes"},
    "numba": {
        "backends",
        "bench",
        "elementary_functions",
        "expressions",
        "parallel_for",
        "rng",
        "routes",
        "sobol",
        "solvers",
    },
    "pycuda": {"backends", "routes"},
    "h5py": {"comparison", "exporting", "inspection", "io", "pictures", "sweeps"},
    "xarray": {"api", "exporting"},
    "pandas": {"api", "exporting"},
    "pyarrow": {"exporting"},
    "zarr": {"exporting"},
    "vtkmodules": {"exporting"},
    "IPython": {"notebooks"},
    "matplotlib": {"pictures"},
    "imageio_ffmpeg": {"pictures"},
    "mpi4py": {"parallel"},
    "typer": {"cli"},
    "rich": {"cli"},
    "pydantic": {"scenario"},
    "sympy": {"expressions"},
    "torch": {"bench", "routes"},
    "jax": {"bench"},
    "pde": {"bench"},
    "devito": {"bench"},
    "QuantLib": {"bench"},
}
DEVICE_WORDS = re.compile(r"(^|_)(stream|event|graph|pinned)s?(_|$)")


def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def part(path: Path) -> str:
    """The part of the house that a file belongs to: its package, or its own name."""
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def place(path: Path, node: ast.AST) -> str:
    return f"{path.relative_to(ROOT)}:{getattr(node, 'lineno', 0)}"


@functools.cache
def imports(path: Path) -> list[tuple[ast.AST, str]]:
    """Every module that a file imports, wherever in it: (where, "simsuite.io.results_file")."""
    found: list[tuple[ast.AST, str]] = []
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            found += ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{place(path, node)}: a relative import"
            assert node.module is not None
            if node.module == "simsuite":
                found += ((node, f"simsuite.{alias.name}") for alias in node.names)
            else:
                found.append((node, node.module))
    return found


def test_the_walk_sees_imports() -> None:
    found = {name for _, name in imports(PACKAGE / "cli" / "doctor.py")}
    assert {"typer", "simsuite.version", "simsuite.solvers.heat.problem"} <= found
    assert len(FILES) > 50


def test_every_part_has_its_place() -> None:
    assert {part(path) for path in FILES} <= ALLOWED.keys()
    assert set().union(*ALLOWED.values()) - {"*"} <= ALLOWED.keys()


@pytest.mark.parametrize("name", sorted({part(path) for path in FILES}))
def test_imports_point_one_way(name: str) -> None:
    wrong = []
    for path in FILES:
        if part(path) != name:
            continue
        for node, module in imports(path):
            top, _, rest = module.partition(".")
            target = rest.partition(".")[0] or "__init__"
            if top == "simsuite" and target != name and not {"*", target} & ALLOWED[name]:
                wrong.append(f"{place(path, node)}: {name} must not import {module}")
    assert not wrong, "\n".join(wrong)


def test_pictures_take_nothing_from_solvers_but_what_is_given_or_known_exactly() -> None:
    known = {"simsuite.solvers.gbm.reference_prices.prices", "simsuite.solvers.gbm.reference_prices.laws"}
    known |= {
        "simsuite.solvers.gbm.payoff_samples",  # of which pictures are given some
        "simsuite.solvers.gbm.statistics.statistics",  # how wide intervals by Student's law are
        "simsuite.solvers.heat.statement",
        "simsuite.solvers.heat.grid.sampling",
    }  # what a scenario gives of a plate
    taken = {module for path in FILES if part(path) == "pictures" for _, module in imports(path)}
    assert {module for module in taken if "solvers" in module} <= known


def test_solvers_do_not_know_each_other() -> None:
    wrong = []
    solvers = PACKAGE / "solvers"
    for path in solvers.rglob("*.py"):
        for node, module in imports(path):
            other = re.match(r"simsuite\.solvers\.(heat|gbm|linear)\b", module)
            if other and other[1] != path.relative_to(solvers).parts[0]:
                wrong.append(f"{place(path, node)}: {module}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("library", LIBRARIES)
def test_libraries_stay_where_they_belong(library: str) -> None:
    wrong = [
        f"{place(path, node)}: {module}"
        for path in FILES
        for node, module in imports(path)
        if module.partition(".")[0] == library and part(path) not in LIBRARIES[library]
    ]
    assert not wrong, "\n".join(wrong)


def test_kernels_for_gpus_are_in_files_that_say_so() -> None:
    """`numba.cuda` is imported by modules named `*_cuda` only, which a backend imports when it needs them."""
    wrong = []
    for path in (PACKAGE / "solvers").rglob("*.py"):
        for node in ast.walk(tree(path)):
            names = [alias.name for alias in node.names] if isinstance(node, (ast.Import, ast.ImportFrom)) else []
            module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
            if ("cuda" in names and module == "numba") or "numba.cuda" in [module, *names]:
                wrong += [] if path.stem.endswith("_cuda") else [place(path, node)]
    assert not wrong, "\n".join(wrong)


def names_in(node: ast.AST) -> list[str]:
    """What an API is used through. Plain variables are left out: random numbers come in streams, too."""
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.keyword):
        return [node.arg or ""]
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [re.sub(r"(?<=[a-z])(?=[A-Z])", "_", node.name).lower()]
    return []


def test_only_backends_know_streams_events_graphs_and_pinned_memory() -> None:
    wrong = [
        f"{place(path, node)}: {name}"
        for path in FILES
        if part(path) not in ("backends", "bench", "routes")
        for node in ast.walk(tree(path))
        for name in names_in(node)
        if DEVICE_WORDS.search(name)
    ]
    assert not wrong, "\n".join(wrong)


def is_backend_name(node: ast.AST) -> bool:
    """`backend.name`, `self._backend.name`, and anything's `dialect`."""
    if not isinstance(node, ast.Attribute):
        return False
    owner = node.value.attr if isinstance(node.value, ast.Attribute) else getattr(node.value, "id", "")
    return node.attr == "dialect" or (node.attr == "name" and owner.lstrip("_") == "backend")


def asks_which_backend(node: ast.AST) -> bool:
    """A comparison with a text, `match`, `.startswith(..)` and the like of a backend's name."""
    if isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
        constant = any(isinstance(n, ast.Constant) for side in sides for n in ast.walk(side))
        return constant and any(is_backend_name(side) for side in sides)
    if isinstance(node, ast.Match):
        return is_backend_name(node.subject)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return is_backend_name(node.func.value)
    return False


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ('if backend.name == "cpu": pass', True),
        ('if self._backend.dialect in ("cuda",): pass', True),
        ('backend.name.startswith("cuda")', True),
        ("print(backend.name)", False),
        ("if backend.name != before: pass", False),
    ],
)
def test_the_question_which_backend_is_recognised(code: str, found: bool) -> None:
    assert any(map(asks_which_backend, ast.walk(ast.parse(code)))) is found


def test_only_backends_ask_which_backend_it_is() -> None:
    wrong = [
        place(path, node)
        for path in FILES
        if part(path) != "backends"
        for node in ast.walk(tree(path))
        if asks_which_backend(node)
    ]
    assert not wrong, "\n".join(wrong)


def typed_strictly() -> set[str]:
    """The parts for which pyproject.toml has mypy demand types of everything."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["mypy"]["overrides"]
    names = [name for table in settings if table.get("disallow_untyped_defs") for name in table["module"]]
    return {name.removeprefix("simsuite.").removesuffix(".*") for name in names}


def unexplained(source: str) -> list[int]:
    """The lines with an `Any` for which no sentence or comment that begins with "Any: " gives the reason, in the line
    itself, the one before or the two after."""
    lines = source.splitlines()
    found = {n.lineno for n in ast.walk(ast.parse(source)) if isinstance(n, ast.Name) and n.id == "Any"}
    return [n for n in sorted(found) if not EXPLAINED.search(" ".join(lines[max(n - 2, 0) : n + 2]))]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("x: Any = 1", [1]),
        ("x: Any = 1  # Any: CuPy has no types", []),
        ('X = Any\n"""An array. Any: CuPy has no types."""', []),
        ("def f(a: list[Any]) -> Any: ...", [1]),
    ],
)
def test_an_any_without_a_reason_is_recognised(source: str, found: list[int]) -> None:
    assert unexplained(source) == found


def test_the_parts_that_all_others_rely_on_say_why_a_type_is_any() -> None:
    parts = {"api", "backends", "core", "io", "loop", "scenario"}
    assert parts <= typed_strictly()
    files = [path for path in FILES if part(path) in parts]
    wrong = [f"{path.relative_to(ROOT)}:{n}" for path in files for n in unexplained(path.read_text(encoding="utf-8"))]
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_files_are_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST


def modules_after(code: str) -> set[str]:
    """The top-level modules that a new interpreter has imported after `code`, and those of simsuite in full."""
    report = "import json, sys; print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    command = [sys.executable, "-c", f"{code}\n{report}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    modules = json.loads(done.stderr.splitlines()[-1])
    return {name if name.startswith("simsuite") else name.partition(".")[0] for name in modules}


HEAVY = {"cupy", "h5py", "h5netcdf", "matplotlib", "numba", "numpy", "pydantic", "scipy", "sympy", "xarray"}
HELP = """
import runpy, sys
sys.argv = ["simsuite", *{args}]
try:
    runpy.run_module("simsuite", run_name="__main__")
except SystemExit as end:
    assert not end.code
"""


@pytest.mark.parametrize("args", [["--help"], ["--version"], ["run", "--help"]], ids=" ".join)
def test_help_imports_nothing_heavy(args: list[str]) -> None:
    modules = modules_after(HELP.format(args=args))
    assert "simsuite.cli.main" in modules
    typer = {"pydantic"} if len(args) > 1 else set()  # newer ones describe the parameters of a command with it
    assert not (HEAVY - typer) & modules


def test_the_package_imports_nothing_heavy() -> None:
    modules = modules_after("import simsuite; simsuite.__version__; simsuite.SimsuiteError")
    assert "simsuite.errors" in modules
    assert not HEAVY & modules


def test_sympy_is_imported_for_derivatives_only() -> None:
    parse = (
        "from simsuite.expressions import Expression; e = Expression.parse('x*x'); e(x=1.0); e.scalar_function(('x',))"
    )
    assert "sympy" not in modules_after(parse)
    assert "sympy" in modules_after(parse + "; e.derivative('x')")


@pytest.mark.parametrize("name", ["heat.toml", "heat_sine.toml"])
def test_check_does_without_sympy(name: str) -> None:
    modules = modules_after(HELP.format(args=["check", str(ROOT / "scenarios" / name)]))
    assert "simsuite.solvers.heat.problem" in modules
    assert "sympy" not in modules


def test_a_device_can_be_chosen_after_the_problem_is_known() -> None:
    """Numba takes GPU or simulator when it is first imported, so what comes before the choice must not import it."""
    problems = [f"simsuite.solvers.{path.parent.name}.problem" for path in (PACKAGE / "solvers").glob("*/problem.py")]
    assert len(problems) == 3
    modules = modules_after("import simsuite.execution, " + ", ".join(problems))
    assert {*problems, "numpy"} <= modules
    assert not {"numba", "cupy", "matplotlib", "xarray"} & modules


def test_files_are_written_without_devices() -> None:
    modules = modules_after("import " + ", ".join(f"simsuite.io.{p.stem}" for p in (PACKAGE / "io").glob("[a-z]*.py")))
    assert "simsuite.io.results_file" in modules
    assert not {"numba", "cupy", "scipy", "xarray"} & modules


def test_what_is_imported_later_is_imported_when_it_is_used() -> None:
    """Options without closed forms do not need scipy.special, whose import takes longer than that of NumPy."""
    text = (
        "import sys; from simsuite.solvers.gbm.statistics import statistics; from simsuite.libraries import special; "
        "before = 'scipy.special' in sys.modules; print(before, special.ndtr(0.0), 'scipy.special' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout == "False 0.5 True\n"
