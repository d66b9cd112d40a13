"""How solvers are found, and what is said of plug-ins that are missing or broken."""

from __future__ import annotations

import importlib.metadata
import os
from pathlib import Path

import pytest
from plugin_site import WAVE, add, add_wave, on_path
from running import call

from simsuite.backends import open_backend
from simsuite.errors import ScenarioError
from simsuite.plugins import BUILT_IN, BrokenPlugin, is_solver, part_of, solver_named, solver_names
from simsuite.scenario import load

ROOT = Path(__file__).parents[2]


def test_names_of_simsuite_are_known_without_a_look_at_what_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    def asked(**which: str) -> None:
        raise AssertionError("entry points were looked through")

    monkeypatch.setattr(importlib.metadata, "entry_points", asked)
    for name in BUILT_IN:
        assert is_solver(name)
        for part in ("scenario", "problem", "picture"):
            assert part_of(name, part) is not None
    assert load(ROOT / "scenarios" / "heat.toml").solver == "heat"


def test_plug_ins_come_after_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_wave(tmp_path / "site")
    add(tmp_path / "site", "heat", "heat = simsuite_wave:SOLVER")
    assert "wave" not in solver_names()
    with on_path(tmp_path / "site", monkeypatch):
        assert solver_names() == ["heat", "gbm", "linear", "wave"]
        assert solver_named("wave").scenario == "simsuite_wave.scenario:WaveScenario"
        assert solver_named("heat") is BUILT_IN["heat"], "a name of simsuite cannot be taken"
    assert not is_solver("wave")


def said(text: str, tmp_path: Path) -> str:
    path = tmp_path / "a.toml"
    path.write_text(text)
    with pytest.raises(ScenarioError) as error:
        load(path)
    return str(error.value)


def test_an_unknown_solver_is_answered_with_all_that_there_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_wave(tmp_path / "site")
    with on_path(tmp_path / "site", monkeypatch):
        found = said('solver = "wawe"\n', tmp_path)
        assert '`solver` must be one of "heat", "gbm", "linear", "wave"' in found
        assert 'did you mean "wave"?' in found
        assert '"linear", "wave"' in said("", tmp_path)
    assert "wave" not in said('solver = "none"\n', tmp_path)


BROKEN = {
    "module": ("import no_such_module", "SOLVER", "ModuleNotFoundError: No module named 'no_such_module'"),
    "attribute": ("", "SOLVER", "AttributeError"),
    "raises": ("raise RuntimeError('not today')", "SOLVER", "RuntimeError: not today"),
    "other": ("SOLVER = 3", "SOLVER", "is no simsuite.plugins.Solver, but"),
}


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_one_is_named(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    source, attribute, expected = BROKEN[kind]
    site = tmp_path / "site"
    site.mkdir()
    (site / f"broken_{kind}.py").write_text(source)
    add(site, "odd", f"odd = broken_{kind}:{attribute}")
    (tmp_path / "a.toml").write_text('solver = "odd"\n')
    with on_path(site, monkeypatch):
        done = call(capsys, "run", tmp_path / "a.toml")
        assert call(capsys, "check", ROOT / "scenarios" / "heat_sine.toml").returncode == 0, "others go on"
    assert done.returncode == 2
    assert "the solver 'odd' of simsuite-odd 0.1.0" in done.stderr
    assert expected in done.stderr
    assert "Traceback" not in done.stderr


def test_a_part_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    site.mkdir()
    lines = "from simsuite.plugins import Solver\nSOLVER = Solver('simsuite.scenario.heat:Missing', 'nowhere:P')\n"
    (site / "partly.py").write_text(lines)
    add(site, "partly", "partly = partly:SOLVER")
    with on_path(site, monkeypatch):
        with pytest.raises(BrokenPlugin, match=r"'partly' of simsuite-partly 0.1.0 .*scenario = .*Missing"):
            part_of("partly", "scenario")
        with pytest.raises(BrokenPlugin, match=r"problem = 'nowhere:P'.*No module named 'nowhere'"):
            part_of("partly", "problem")
        assert part_of("partly", "picture") is None


def test_two_packages_with_one_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add_wave(tmp_path / "site")
    add(tmp_path / "site", "wave", "wave = other_waves:SOLVER", "other-waves")
    with (
        on_path(tmp_path / "site", monkeypatch),
        pytest.raises(BrokenPlugin, match=r"other-waves 0.1.0 and simsuite-wave|simsuite-wave 0.1.0 and other-waves"),
    ):
        solver_named("wave")


def test_kernels_are_compiled_anew_when_another_file_of_the_plug_in_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = tmp_path / "site" / "mine"
    mine.mkdir(parents=True)
    (mine / "__init__.py").touch()
    lines = ("from simsuite.parallel_for import kernel", "from mine.parts import twice", "@kernel", "def f(x):")
    (mine / "f_cpu.py").write_text("\n".join([*lines, "    return twice(x)\n"]))
    part = "from simsuite.parallel_for import part\n\n@part\ndef twice(x):\n    return {} * x\n"
    found = []
    for factor in (2.0, 3.0, 2.0):
        (mine / "parts.py").write_text(part.format(factor))
        os.utime(mine / "parts.py", (factor, factor))
        with on_path(tmp_path / "site", monkeypatch):
            found.append(open_backend("cpu").kernels("mine.f").f(1.5))
    assert found == [3.0, 4.5, 3.0]


def test_a_run_whose_plug_in_has_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    add_wave(tmp_path / "site")
    small = ("--set", "grid.nx=8", "--set", "grid.ny=8", "--set", "output.frames=3")
    with on_path(tmp_path / "site", monkeypatch):
        assert call(capsys, "run", WAVE / "wave.toml", "-o", "run", *small).returncode == 0
        assert call(capsys, "run", WAVE / "wave.toml", "-o", "part", *small, "--max-minutes", 0).returncode == 75
    assert call(capsys, "info", "run").returncode == 0
    assert "displacement" in call(capsys, "info", "run").stdout
    plot = call(capsys, "plot", "run")
    assert plot.returncode == 2
    assert "was made by solver 'wave', which is not installed here" in plot.stderr
    resume = call(capsys, "resume", "part")
    assert resume.returncode == 2
    assert '`solver` must be one of "heat", "gbm", "linear"' in resume.stderr
