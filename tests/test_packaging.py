"""What is in the distributions that pip installs, built here from the files under version control."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

NOT_SHIPPED = {".gitignore", ".ci/run"}
GENERATED = re.compile(r"PKG-INFO|setup\.cfg|simsuite\.egg-info/.*")


@pytest.fixture(scope="module")
def tracked() -> set[str]:
    """Names of all files under version control that are in the working tree."""
    found = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if found.returncode:
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
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    environment = os.environ | {"PYTHONPATH": str(sdist), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(command, cwd=sdist, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout[-2000:]
    assert "tests/test_packaging.py: " in done.stdout


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
