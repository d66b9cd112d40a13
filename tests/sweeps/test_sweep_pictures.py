"""Pictures of sweeps: what is drawn where, of members as they would have ended."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.collections import QuadMesh
from matplotlib.container import ErrorbarContainer
from running import call
from test_goal import ROD

from simsuite.errors import SimsuiteError, UsageError
from simsuite.pictures.sheet import WARNING
from simsuite.pictures.sweeps.figure import sweep_figure
from simsuite.pictures.sweeps.study import Study, in_words
from simsuite.scenario import load
from simsuite.scenario.load import unit_of_key
from simsuite.sweeps.directory import Ended, SweepDirectory
from simsuite.sweeps.plan import Plan, make_plan, parse_axis


def made(
    path: Path, plan: Plan, solver: str = "heat", failed: Sequence[int] = (), left: Sequence[int] = (), **more: Any
) -> Study:
    """The directory of a sweep whose results are sums of its numbers."""
    files = SweepDirectory(path)
    path.mkdir()
    files.plan.write_text(json.dumps({"solver": solver, **asdict(plan), **more}), encoding="utf-8")
    for i, values in enumerate(plan.members):
        total = sum(value for value in values if isinstance(value, (int, float)))
        if solver == "heat":
            results: dict[str, float | None] = {"min": 300.0, "max": total, "probes.a": 2 * total, "energy.x": -total}
        else:
            results = {"options.call.price": total, "options.call.standard_error": 0.1 * total, "paths": 100.0}
        units = {"max": "K", "energy.x": "J m-1", "options.call.price": "price"}
        if i in failed:
            files.add([Ended(i, "failed", {}, {}, "it failed", 1.0)])
        elif i not in left:
            files.add([Ended(i, "complete", results, units, None, 1.0)])
    return Study.of(path)


def plan_of(*axes: str, paired: bool = False, random: int | None = None) -> Plan:
    return make_plan([parse_axis(axis) for axis in axes], paired, random, False, 1, 10_000)


def panels(study: Study, *what: str) -> list[Axes]:
    return [ax for ax in sweep_figure(study, what).figure.axes if ax.axison]


def crosses(ax: Axes) -> list[float]:
    return [x for line in ax.get_lines() if line.get_color() == WARNING for x in line.get_xdata()]


def test_lines_over_one_key(tmp_path: Path) -> None:
    """In the order of the key; what is the same in all members is left out; failed ones are marked."""
    study = made(tmp_path / "s", plan_of("grid.lx=8,4,2,1"), failed=[1])
    found = panels(study)
    assert [ax.get_ylabel() for ax in found] == ["max (K)", "probes.a"]
    for ax, factor in zip(found, (1, 2)):
        line = ax.get_lines()[0]
        assert line.get_linestyle() == "-"
        assert line.get_xdata().tolist() == [1, 2, 8]
        assert line.get_ydata().tolist() == [factor, 2 * factor, 8 * factor]
        assert crosses(ax) == [4]
    (other,) = panels(study, "energy.x")
    assert other.get_ylabel() == "energy.x (J/m)"
    with pytest.raises(UsageError, match=r"did you mean `probes\.a`"):
        panels(study, "probe.a")


def test_panels_of_one_unit_share_an_axis_where_their_values_are_alike(tmp_path: Path) -> None:
    """As those of temperatures at two places are, and a sum and its tenfold are not."""
    plan = plan_of("grid.lx=8,4,2,1")
    alike = {"max": lambda x: x + 300, "mean": lambda x: 1.1 * x + 300, "min": lambda x: 10 * x + 300}
    path = tmp_path / "s"
    files = SweepDirectory(path)
    path.mkdir()
    files.plan.write_text(json.dumps({"solver": "heat", **asdict(plan)}), encoding="utf-8")
    for i, (x,) in enumerate(plan.members):
        results = {name: float(value(x)) for name, value in alike.items()}
        files.add([Ended(i, "complete", results, dict.fromkeys(results, "K"), None, 1.0)])
    first, second = panels(Study.of(path), "max", "mean")
    assert first.get_ylim() == second.get_ylim()
    first, second = panels(Study.of(path), "max", "min")
    assert first.get_ylim() != second.get_ylim()
    assert first.get_ylim()[1] < 310


def test_scales(tmp_path: Path) -> None:
    for i, (values, scale) in enumerate(
        [("geomspace(1,1000,4)", "log"), ("linspace(1,1000,4)", "linear"), ("1,1000", "linear"), ("0,1,1000", "linear")]
    ):
        assert panels(made(tmp_path / str(i), plan_of(f"grid.lx={values}")))[0].get_xscale() == scale


def test_bars_and_a_line_for_each_of_few_values(tmp_path: Path) -> None:
    many, few = "asset.0.volatility=linspace(1,8,8)", "option.0.strike=90,100"
    for name, axes in (("a", (many, few)), ("b", (few, many))):
        (ax,) = panels(made(tmp_path / name, plan_of(*axes), "gbm"))
        assert ax.get_xlabel() == "asset.0.volatility"
        assert ax.get_ylabel() == "options.call.price (currency)"
        bars = [each for each in ax.containers if isinstance(each, ErrorbarContainer)]
        assert [each.get_label() for each in bars] == ["90", "100"]
        ends = np.array([segment[:, 1] for segment in bars[1].lines[2][0].get_segments()])
        wanted = np.arange(1.0, 9.0) + 100
        np.testing.assert_allclose(ends, np.stack([0.9 * wanted, 1.1 * wanted], axis=1))


def test_a_map_over_two_keys(tmp_path: Path) -> None:
    study = made(
        tmp_path / "s", plan_of("grid.lx=linspace(1,7,7)", "grid.ly=geomspace(1,1e6,7)"), failed=[9], left=[48]
    )
    ax = panels(study, "max")[0]
    mesh = next(each for each in ax.get_children() if isinstance(each, QuadMesh))
    field = mesh.get_array().reshape(7, 7)
    assert field[3, 2] == 3 + 1000
    assert field.mask.sum() == 2
    assert field.mask[2, 1]
    assert field.mask[6, 6]
    assert crosses(ax) == [2]
    assert (ax.get_xscale(), ax.get_yscale()) == ("linear", "log")
    assert ax.get_ylim() == pytest.approx((10**-0.5, 10**6.5))
    assert not study.finished


def test_points_for_samples_pairs_and_many_keys(tmp_path: Path) -> None:
    samples = plan_of("grid.lx=uniform(1,2)", "grid.ly=uniform(5,9)", random=20)
    pairs = plan_of("grid.lx=1,2", "time.stepper=adi,rkl2", paired=True)
    three = plan_of("grid.lx=1,2", "grid.ly=1,2", "time.stepper=adi,rkl2")
    for name, plan, keys in (("a", samples, 2), ("b", pairs, 2), ("c", three, 3)):
        found = panels(made(tmp_path / name, plan))
        assert len(found) == 2 * keys
        for ax in found:
            assert ax.get_lines()[0].get_linestyle() == "None"
            assert len(ax.get_lines()[0].get_xdata()) == len(plan.members)
    assert [text.get_text() for text in found[-1].get_xticklabels()] == ["adi", "rkl2"]
    (single,) = panels(made(tmp_path / "d", plan_of("grid.lx=uniform(1,2)", random=9)), "max")
    assert single.get_lines()[0].get_linestyle() == "None"


def test_the_target_of_a_search(tmp_path: Path) -> None:
    goal = {"name": "results.max", "target": 3.2, "tolerance": None}
    (ax,) = panels(made(tmp_path / "s", plan_of("grid.lx=1,9,3,4"), goal=goal))
    assert ax.get_ylabel() == "max (K)"
    assert [text.get_text() for text in ax.texts] == ["target 3.2"]
    assert ax.get_lines()[-1 if not crosses(ax) else -2].get_xdata().tolist() == [3]


def test_what_cannot_be_drawn(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError, match="no member of the sweep"):
        made(tmp_path / "s", plan_of("grid.lx=1,2"), failed=[0], left=[1])
    (tmp_path / "s" / "sweep.json").write_text("{")
    with pytest.raises(SimsuiteError, match="is damaged"):
        Study.of(tmp_path / "s")
    made(tmp_path / "t", plan_of("grid.lx=1,2"))
    for words, said in (
        ((tmp_path / "t", "--what", "maxx"), "did you mean `max`?"),
        ((tmp_path / "t", "-o", tmp_path / "a.docx"), "its name must end in"),
        ((tmp_path / "t", "-o", tmp_path / "none" / "a.png"), "cannot write"),
        ((tmp_path, "--what", "max"), "holds no run"),
    ):
        done = call(capsys, "plot", *words)
        assert done.returncode == 2
        assert said in done.stderr


def test_units_of_keys(tmp_path: Path) -> None:
    (tmp_path / "rod.toml").write_text(ROD, encoding="utf-8")
    text = load(tmp_path / "rod.toml").resolved_toml()
    for key, unit in {
        "boundary.right.h": "W/(m²·K)",
        "boundary.left.value": "K",
        "grid.lx": "m",
        "grid.nx": "",
        "material.conductivity": "W/(m·K)",
        "material.conductivity.0": "W/(m·K)",
        "probe.0.x": "m",
        "constants.h": "",
        "title": "",
        "no.such": "",
        "0": "",
    }.items():
        assert unit_of_key("heat", text, key) == unit


def test_a_sweep_is_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """From its members' runs, whose scenario says the title and the units."""
    monkeypatch.chdir(tmp_path)
    Path("rod.toml").write_text(f'title = "A rod of $x"\n{ROD}', encoding="utf-8")
    vary = ("--vary", "boundary.right.h=5,50,500", "-o", "s", "--workers", "1")
    assert call(capsys, "sweep", "rod.toml", *vary).returncode == 0
    done = call(capsys, "plot", "s")
    assert (done.returncode, done.stderr) == (0, "wrote s/plot.png\n")
    assert matplotlib.image.imread("s/plot.png").shape[1] == 1680
    study = Study.of(Path("s"))
    assert study.title == "A rod of $x"
    ax = panels(study, "results.probes.middle")[0]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("boundary.right.h (W/(m²·K))", "probes.middle (K)")
    assert call(capsys, "plot", "s", "--what", "mean", "--what", "max", "-o", "two.svg").returncode == 0
    assert Path("two.svg").exists()
    assert call(capsys, "sweep", "rod.toml", *vary, "--fresh").returncode == 0


def test_a_sweep_without_a_title_is_headed_by_what_varies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also where all members share one run: their scenario has units, and perhaps a title, all the same."""
    monkeypatch.chdir(tmp_path)
    text = """
        solver = "linear"
        constants = {a = 1.0}
        system = {kind = "continuous", matrix = [["-a"]]}
        initial.state = [1.0]
        time = {dt = 0.1, steps = 5}
        run.device = "cpu"
    """
    Path("decay.toml").write_text("\n".join(map(str.strip, text.splitlines())), encoding="utf-8")
    for title, headed in (([], "Sweep over constants.a and initial.state.0"), (["--set", "title=Decay"], "Decay")):
        vary = ("--vary", "constants.a=1,2", "--vary", "initial.state.0=1,2")
        assert call(capsys, "sweep", "decay.toml", *vary, *title, "-o", headed).returncode == 0
        study = Study.of(Path(headed))
        assert study.title == headed
        assert sweep_figure(study, ()).figure.texts[0].get_text() == headed


def test_what_varies_in_words() -> None:
    assert in_words(Plan(("a", "b", "c"), ((1, 2, 3),), (1,)), None) == "Sweep over a, b and c"
    assert in_words(Plan(("a",), ((1,),), (1,)), {"name": "max", "target": 3.0}) == "Search for a by max"
