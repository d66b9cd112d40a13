"""What is in the distributions that pip installs, built here from the files under version control."""

from __future__ import annotations

import ast
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from conftest import ROOT
from test_architecture import imports

PACKAGE = ROOT / "simsuite"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PEERS = {"torch", "jax", "pde", "devito", "QuantLib"}  # that benchmarks are compared with where they are installed
PARTS = {"llvmlite", "pydantic-core"}  # of numba and pydantic, which name the versions that they need
NOT_SHIPPED = {".gitignore", ".ci/run"}
GENERATED = re.compile(r"PKG-INFO|setup\.cfg|simsuite\.egg-info/.*")


# packages that only some commands need
SOMETIMES = {
    "xarray",
    "h5netcdf",
    "pandas",
    "zarr",
    "pyarrow",
    "vtk",
    "sympy",
    "mpmath",
    "pycuda",
    "imageio-ffmpeg",
    "mpi4py",
}
WITHOUT = """
import sys
sys.modules.update(dict.fromkeys({packages!r}))
DIR = {directory!r}
import simsuite
from simsuite.cli.verify import _checks
EDGE = {{"kind": "insulated"}}
SCENARIO = {{
    "solver": "heat",
    "grid": {{"nx": 4, "ny": 4, "lx": 1.0, "ly": 1.0}},
    "material": {{"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0}},
    "initial": {{"temperature": 300.0}},
    "boundary": dict.fromkeys(("left", "right", "bottom", "top"), EDGE),
    "time": {{"end": 1.0}},
    "run": {{"device": "cpu"}},
}}
EXACT = {{"temperature": "300 + sin(x)*cos(y)*exp(-t)", "manufactured": True}}
WARM = dict.fromkeys(("left", "right", "bottom", "top"), {{"kind": "temperature"}})
MADE = SCENARIO | {{"reference": EXACT, "boundary": WARM}}
MADE.pop("initial")
try:
    {code}
except simsuite.SimsuiteError as e:
    print(e)
"""


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """Names of all files under version control that are in the working tree."""
    found = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode or not found.stdout:
        pytest.skip("not in a git checkout")
    return {name for name in found.stdout.split("\0") if name and (ROOT / name).exists()}


def build(kind: str, source: Path, target: Path) -> Path:
    """The sdist or wheel that setuptools makes of a source tree, as pip would have it made."""
    target.mkdir()
    code = f"from setuptools import build_meta; print(build_meta.build_{kind}({str(target)!r}))"
    subprocess.run([sys.executable, "-c", code], cwd=source, check=True, capture_output=True, timeout=120)
    (found,) = target.iterdir()
    return found


@pytest.fixture(scope="module")
def sdist(tracked: set[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that the source distribution unpacks to."""
    place = tmp_path_factory.mktemp("sdist")
    for name in tracked:
        (place / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, place / "checkout" / name)
    shutil.unpack_archive(build("sdist", place / "checkout", place / "built"), place / "unpacked")
    (found,) = (place / "unpacked").iterdir()
    return found


@pytest.fixture(scope="module")
def wheel(sdist: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory that a wheel, made from the source distribution, installs."""
    place = tmp_path_factory.mktemp("wheel")
    source = shutil.copytree(sdist, place / "source")  # building leaves files behind
    shutil.unpack_archive(build("wheel", source, place / "built"), place / "installed", format="zip")
    return place / "installed"


def files(directory: Path) -> set[str]:
    return {path.relative_to(directory).as_posix() for path in directory.rglob("*") if path.is_file()}


def test_the_source_distribution_has_every_file(sdist: Path, tracked: set[str]) -> None:
    found = {name for name in files(sdist) if not GENERATED.fullmatch(name)}
    assert found == tracked - NOT_SHIPPED


def test_the_wheel_has_every_file_of_the_package(wheel: Path, tracked: set[str]) -> None:
    found = {name for name in files(wheel) if ".dist-info/" not in name}
    assert found == {name for name in tracked if name.startswith("simsuite/")}


def test_tests_of_the_source_distribution_can_be_collected(sdist: Path) -> None:
    """All of them: what they import and read when they are imported is there."""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "--assert=plain"]
    environment = os.environ | {"PYTHONPATH": str(sdist), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=sdist, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "tests/project/test_packaging.py: " in done.stdout


def test_benchmarks_with_known_answers_are_installed(wheel: Path, tracked: set[str]) -> None:
    code = "from simsuite.verify import benchmarks as b; print(b.__file__, *(f.name for f in b.benchmark_files()))"
    environment = os.environ | {"PYTHONPATH": str(wheel)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=wheel, env=environment, capture_output=True, text=True, check=True
    )
    where, *names = done.stdout.split()
    assert Path(where).is_relative_to(wheel)
    shipped = {Path(name).name for name in tracked if re.fullmatch(r"simsuite/verify/benchmarks/.*\.toml", name)}
    assert len(shipped) >= 28
    assert set(names) == shipped


@pytest.mark.parametrize(
    ("package", "code", "said"),
    [
        ("xarray", "simsuite.run(SCENARIO, directory=DIR).dataset", "run.dataset needs xarray"),
        ("h5netcdf", "simsuite.run(SCENARIO, directory=DIR).dataset", "run.dataset needs h5netcdf"),
        ("sympy", "list(_checks('heat', None, True, print))", "verify heat needs sympy"),
        ("mpmath", "list(_checks('linear', None, True, print))", "verify linear needs mpmath"),
        ("sympy", "simsuite.run(MADE, directory=DIR)", "[reference] manufactured needs sympy"),
    ],
)
def test_a_package_that_is_missing_is_named_with_what_installs_it(
    package: str, code: str, said: str, tmp_path: Path
) -> None:
    extra = "xarray" if package in ("xarray", "h5netcdf") else "verify"
    script = WITHOUT.format(packages=[package], directory=str(tmp_path / "run"), code=code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert said in done.stdout, done.stderr
    assert f"pip install 'simsuite[{extra}]'" in done.stdout


def test_a_run_and_its_picture_need_none_of_what_is_left_out(tmp_path: Path) -> None:
    code = "print(simsuite.run(SCENARIO, directory=DIR).summary['status'])"
    script = WITHOUT.format(packages=sorted(SOMETIMES), directory=str(tmp_path / "run"), code=code)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split()[-1] == "complete"


def named(node: ast.AST, module: str) -> list[str]:
    """The modules that an import names; `cuda` is a namespace, of which each part is in a distribution of its own."""
    if isinstance(node, ast.ImportFrom) and module == "cuda":
        return [f"cuda.{alias.name}" for alias in node.names]
    return [module]


def required(module: str) -> str:
    """The name under which the distribution with a module is declared, without the CUDA version that some end with."""
    top, _, rest = module.partition(".")
    others = {"cupy_backends": "cupy", "PIL": "pillow", "vtkmodules": "vtk"}
    distribution = f"cuda-{rest.partition('.')[0]}" if top == "cuda" else others.get(top, top)
    return distribution.replace("_", "-")


def declared(requirements: list[str]) -> set[str]:
    names = {re.match(r"[\w-]+", requirement)[0] for requirement in requirements}  # type: ignore[index]
    return {re.sub(r"-cuda1\dx$", "", name) for name in names}


@pytest.mark.parametrize("extra", ["cuda12", "cuda13"])
def test_every_library_that_is_imported_is_declared(extra: str) -> None:
    """Those of GPUs with the extra, those of some commands with theirs, all others always."""
    always = declared(PROJECT["dependencies"]) | SOMETIMES
    with_gpus = declared(PROJECT["optional-dependencies"][extra])
    found = {name for path in PACKAGE.rglob("*.py") for node, module in imports(path) for name in named(node, module)}
    ours = sys.stdlib_module_names | PEERS | {"simsuite", "_numba_cuda_redirector", "IPython"}  # notebooks bring it
    needed = {required(name) for name in found if name.partition(".")[0] not in ours}
    assert {"cuda-core", "cuda-bindings", "cuda-pathfinder", "cupy", "numba"} <= needed
    assert needed <= always | with_gpus | PARTS
    assert {name for name in needed if name.startswith(("cuda-", "cupy"))} <= with_gpus


@pytest.mark.parametrize("extra", ["cuda12", "cuda13"])
def test_an_extra_is_of_one_version_of_cuda(extra: str) -> None:
    version = extra.removeprefix("cuda")
    requirements = PROJECT["optional-dependencies"][extra]
    assert f"numba-cuda[cu{version}]" in {requirement.partition(">")[0] for requirement in requirements}
    named = {
        found for requirement in requirements for found in re.findall(r"cuda(\d\d)x|\[cu(\d\d)\]|==(\d\d)", requirement)
    }
    assert {number for group in named for number in group if number} == {version}
