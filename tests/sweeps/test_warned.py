"""What a sweep says of mistakes in what varies, and of what is probably not meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from running import call

import simsuite
from simsuite.cli.sweeps.progress import warns
from simsuite.errors import ScenarioError
from simsuite.sweeps.plan import Plan
from simsuite.sweeps.sweep import Sweep

PLATE = """\
solver = "heat"
grid = {nx = 8, ny = 8}
boundary.left = {kind = "temperature", value = 1.0}
run.device = "cpu"

[material]
diffusivity = 1.0

[time]
end = 0.01
"""
NO_EFFECT = "time.end has no effect with steady = true"


@pytest.fixture(autouse=True)
def _plate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plate.toml").write_text(PLATE, encoding="utf-8")


@pytest.mark.parametrize(
    ("options", "place", "message"),
    [
        (["--vary", "material.diffusivty=1,2"], "--vary material.diffusivty=1", "unknown key `diffusivty`"),
        (["--vary", "material.diffusivity=-1,2"], "--vary material.diffusivity=-1", "must be greater than 0"),
        (["--vary", "grid.nx.a=1,2"], "--vary grid.nx.a=1", "neither a table nor a list"),
        (["--vary", "time.end=1,2", "--set", "grid.nx=-1"], "--set grid.nx=-1", "must be at least 1"),
        (["--vary", "time.end=1,2", "--device", "gpu"], "--device gpu", "cannot be"),
    ],
)
def test_mistakes_stand_where_they_were_made(
    options: list[str], place: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    done = call(capsys, "sweep", "plate.toml", *options)
    assert done.returncode == 2
    first, second, *_ = done.stderr.splitlines()
    assert message in first
    assert second == f" --> {place}"


def test_mistakes_from_python_stand_at_the_argument() -> None:
    for table in (False, True):
        given = {"solver": "heat", "grid": {"nx": 8, "ny": 8}, "material": {"diffusivity": 1.0}, "time": {"end": 1.0}}
        with pytest.raises(ScenarioError, match=r"--> vary: time\.edn=1\n"):
            simsuite.sweep(given if table else "plate.toml", {"time.edn": [1, 2]}, directory="s")
        with pytest.raises(ScenarioError, match=r"--> set: grid\.nxx=5\n"):
            simsuite.sweep(given if table else "plate.toml", {"time.end": [1, 2]}, set={"grid.nxx": 5}, directory="s")


def test_warnings_are_told_once_with_their_member(capsys: pytest.CaptureFixture[str]) -> None:
    done = call(capsys, "sweep", "plate.toml", "--vary", "time.steady=false,true", "-q", "--json", "-o", "s")
    said = [line for line in done.stderr.splitlines() if NO_EFFECT in line]
    assert len(said) == 1
    assert said[0].startswith(f"warning: time.steady=true: {NO_EFFECT}")
    assert [text for text in json.loads(done.stdout)["warnings"] if text.startswith(NO_EFFECT)] == [
        said[0].removeprefix("warning: time.steady=true: ")
    ]


def test_warnings_about_the_first_member_come_before_it_runs(capsys: pytest.CaptureFixture[str]) -> None:
    options = ("--vary", "material.diffusivity=1,2", "--set", "time.steady=true")
    done = call(capsys, "sweep", "plate.toml", *options, "--slurm", "job.sh")
    assert done.returncode == 0
    assert done.stderr.startswith(f"warning: {NO_EFFECT}")


def test_of_many_warnings_the_first_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    whole = Sweep(Path("plate.toml"), Plan(("grid.nx",), tuple((n,) for n in range(30)), (30,)), Path("s"))
    tell = warns(whole)
    for i in range(30):
        whole.warnings.append(f"text {i}")
        tell(f"text {i}", i)
    said = capsys.readouterr().err.splitlines()
    assert said[:2] == ["warning: grid.nx=0: text 0", "warning: grid.nx=1: text 1"]
    assert len(said) == 11
    assert "there are more" in said[-1]
