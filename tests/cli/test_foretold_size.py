"""What `check` says of the disk, beside the files of the run, small and large."""

from __future__ import annotations

import json

import numpy as np
import pytest
import tomli_w
from running import call

from simsuite.core import Layout, Series, Variable
from simsuite.io import size
from simsuite.io.results_file import ResultsFile
from simsuite.io.size import results_bytes

PROBE = [{"name": "middle", "x": 0.5, "y": 0.5}]
HEAT = {
    "solver": "heat",
    "grid": {"nx": 16, "ny": 12, "lx": 1.0, "ly": 1.0},
    "material": {"conductivity": 1.0, "density": 1.0, "specific_heat": 1.0},
    "time": {"end": 1.0, "dt": 1e-3, "stepper": "explicit"},
    "probe": PROBE,
}
GBM = {
    "solver": "gbm",
    "asset": [{"name": "A", "spot": 100.0, "volatility": 0.2}],
    "market": {"rate": 0.03},
    "time": {"end": 1.0, "steps": 2000},
    "paths": {"count": 64},
    "option": [{"name": "call", "style": "european", "payoff": "call", "strike": 100.0}],
}
LINEAR = {
    "solver": "linear",
    "system": {"kind": "discrete", "matrix": [[0.5, 0.1], [0.0, 0.9]]},
    "initial": {"state": [1.0, 2.0]},
    "time": {"steps": 4000},
}


@pytest.mark.parametrize("frames", [2, 900])
@pytest.mark.parametrize("given", [HEAT, GBM, LINEAR], ids=lambda given: given["solver"])
def test_results_and_checkpoints_are_as_large_as_foretold(tmp_path, capsys, given, frames):
    """785 B were said of 143 kB where numbers alone were counted."""
    path, out = tmp_path / "s.toml", tmp_path / "run"
    output = {"frames": frames, "checkpoint_every": 700}
    path.write_text(tomli_w.dumps({**given, "output": output, "run": {"device": "cpu"}}), encoding="utf-8")
    said = json.loads(call(capsys, "check", path, "--json").stdout)
    done = call(capsys, "run", path, "-o", out, "-q")
    assert done.returncode == 0, done.stderr
    true = (out / "results.h5").stat().st_size
    assert 0.95 * true < said["disk_bytes"] <= true, "a disk with so much room is not refused"
    kept = [name.stat().st_size for name in (out / "checkpoint.h5", out / "checkpoint.previous.h5") if name.exists()]
    assert 0.6 * said["checkpoint_bytes"] < max(kept) < 1.05 * said["checkpoint_bytes"]
    shown = call(capsys, "check", path).stdout
    assert "and two checkpoints of up to " in shown


@pytest.mark.parametrize("compression", ["none", "lossless"])
def test_large_numbers_that_do_not_grow_are_counted_and_not_made(tmp_path, compression, monkeypatch):
    n, rows = 300, 5
    time = Variable("time", ("time",))
    layout = Layout(
        sizes={"i": n, "j": n},
        series=(Series("time", time, tuple(range(rows))),),
        variables=(
            time,
            Variable("i", ("i",), values=np.arange(float(n))),
            Variable("field", ("time", "i", "j")),
            Variable("known", ("i", "j"), values=np.random.default_rng(1).random((n, n))),
            Variable("later", ("i", "j")),
        ),
    )
    path = tmp_path / "results.h5"
    rng = np.random.default_rng(2)
    with ResultsFile.create(path, layout, {"scenario": "x" * 500}, compression) as file:
        for k in range(rows):
            file.append("time", {"time": np.array(float(k)), "field": rng.random((n, n))})
    for large in (size._LARGE, 1000):
        monkeypatch.setattr(size, "_LARGE", large)
        said = results_bytes(layout, {"scenario": "x" * 500}, compression)
        true = path.stat().st_size
        assert 0.95 * true < said < (1.01 if compression == "none" else 1.25) * true
