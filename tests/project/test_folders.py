"""That folders have few enough files to look through, and that imports among files and among folders point one way."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest
from test_architecture import PACKAGE, ROOT, imports, tree

MOST_FILES = 25  # of sources in a folder, those of its folders apart
SOURCES = {".py", ".cu", ".cuh"}
# The parts of simsuite, and of the solvers each one: packages whose folders are compared with each other.
INITS = {*PACKAGE.glob("*/__init__.py"), *PACKAGE.glob("solvers/*/__init__.py")} - {PACKAGE / "solvers" / "__init__.py"}
NAMES = sorted(str(path.parent.relative_to(PACKAGE)) for path in INITS)

Graph = Mapping[str, set[str]]


def module(path: Path) -> str:
    name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


def kernels_of(path: Path) -> Iterator[str]:
    """Modules that a file has a backend import: `backend.kernels("simsuite.solvers.gbm.statistics.statistics")`."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "kernels":
            for argument in node.args[:1]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield from (f"{argument.value}_{dialect}" for dialect in ("cpu", "cuda"))


def imports_within(package: Path) -> Graph:
    """What each module of a package imports of the same package: for types alone and inside functions, too."""
    modules = {module(path): path for path in package.rglob("*.py")}
    graph: dict[str, set[str]] = {name: set() for name in modules}
    for name, path in modules.items():
        for node, imported in imports(path):
            aliases = node.names if isinstance(node, ast.ImportFrom) else []
            whole = {f"{imported}.{alias.name}" for alias in aliases} & modules.keys()
            graph[name] |= (whole or {imported} & modules.keys()) - {name}
    return graph


def folders_within(package: Path) -> Graph:
    """What each folder imports of other folders of its package, kernels included; files beside the folders stand for
    themselves."""
    modules = {module(path): path for path in package.rglob("*.py") if path != package / "__init__.py"}

    def folder(name: str) -> str:
        above = name.rpartition(".")[0]
        return name if above == module(package) or modules[name].name == "__init__.py" else above

    graph: dict[str, set[str]] = {folder(name): set() for name in modules}
    for name, imported in imports_within(package).items():
        if name in modules:
            found = {folder(other) for other in {*imported, *kernels_of(modules[name])} if other in modules}
            graph[folder(name)] |= found - {folder(name)}
    return graph


def ring(graph: Graph) -> list[str]:
    """Names that import each other in a ring, if there are such, the first one again at the end."""
    finished: set[str] = set()

    def search(path: list[str]) -> list[str]:
        for name in sorted(graph.get(path[-1], set()) - finished):
            if name in path:
                return [*path[path.index(name) :], name]
            if found := search([*path, name]):
                return found
        finished.add(path[-1])
        return []

    return next((found for name in sorted(graph) if name not in finished and (found := search([name]))), [])


def crowded(folders: Iterable[Path]) -> list[str]:
    counts = {folder: sum(path.suffix in SOURCES for path in folder.iterdir()) for folder in folders}
    return [
        f"{folder.relative_to(PACKAGE.parent)}: {count} files" for folder, count in counts.items() if count > MOST_FILES
    ]


def folders_of(package: Path) -> list[Path]:
    return [package, *(path for path in package.rglob("*") if path.is_dir() and path.name != "__pycache__")]


@pytest.fixture
def solver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A solver of two folders with a module each, of which the first imports the second."""
    package = tmp_path / "simsuite"
    monkeypatch.setattr(f"{__name__}.PACKAGE", package)
    made = package / "solvers" / "made"
    for name, text in {"above/first": "from simsuite.solvers.made.below import second", "below/second": ""}.items():
        (made / name).parent.mkdir(parents=True)
        (made / f"{name}.py").write_text(text)
    return made


@pytest.mark.parametrize(
    "back",
    [
        "from simsuite.solvers.made.above.first import f",
        "from simsuite.solvers.made.above import first",
        "import simsuite.solvers.made.above.first",
        "if TYPE_CHECKING:\n    from simsuite.solvers.made.above.first import F",
        "def f():\n    from simsuite.solvers.made.above.first import f",
    ],
)
def test_a_ring_is_found(solver: Path, back: str) -> None:
    assert not ring(imports_within(solver))
    assert not ring(folders_within(solver))
    (solver / "below" / "second.py").write_text(back)
    first, second = "simsuite.solvers.made.above.first", "simsuite.solvers.made.below.second"
    imports.cache_clear()
    assert ring(imports_within(solver)) == [first, second, first]
    assert ring(folders_within(solver))


@pytest.mark.parametrize(
    "back",
    [
        'backend.kernels("simsuite.solvers.made.above.third")',
        "from simsuite.solvers.made.above import f",
    ],
    ids=["kernels", "the folder itself"],
)
def test_a_ring_of_folders_alone_is_found(solver: Path, back: str) -> None:
    """No module imports itself, by whatever way, but each folder the other one."""
    for name in ("third_cpu", "__init__"):
        (solver / "above" / f"{name}.py").write_text("")
    (solver / "below" / "second.py").write_text(back)
    assert not ring(imports_within(solver))
    assert ring(folders_within(solver))


def test_a_crowded_folder_is_found(solver: Path) -> None:
    for number in range(MOST_FILES):
        (solver / "above" / f"program_{number}.cu").write_text("")
    assert crowded(folders_of(solver)) == ["simsuite/solvers/made/above: 26 files"]


def test_all_packages_are_looked_at() -> None:
    assert {"solvers/gbm", "solvers/heat", "solvers/linear", "solvers/matmul", "verify", "bench", "io"} <= set(NAMES)


def test_modules_import_each_other_one_way() -> None:
    graph = imports_within(PACKAGE)
    assert sum(map(len, graph.values())) > len(graph)
    assert not ring(graph)


@pytest.mark.parametrize("name", NAMES)
def test_folders_import_each_other_one_way(name: str) -> None:
    assert not ring(folders_within(PACKAGE / name))


def test_folders_can_be_looked_through() -> None:
    assert not crowded([*folders_of(PACKAGE), *folders_of(ROOT / "tests")])
