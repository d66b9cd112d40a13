"""A run that goes on under other conditions than it began says which, since last bits may be others."""

from __future__ import annotations

from pathlib import Path

import pytest
from running import call
from test_resume import HEAT, SHORT, write

from simsuite.backends import open_backend
from simsuite.conditions import changed, conditions
from simsuite.version import VERSION


def test_what_changed_is_named_and_nothing_else() -> None:
    backend = open_backend("cpu")
    now = conditions(backend)
    assert {"device", "device_name", "version", "numba", "numpy"} <= now.keys()
    assert changed(now, backend) is None
    assert changed({}, backend) is None, "checkpoints of before say nothing of it"
    assert changed(now | {"numba": "0.1", "steps": 3}, backend) == (
        f"this run was on numba 0.1; from here on it is on numba {now['numba']}, and last bits may be others"
    )
    other = str(changed(now | {"device": "cuda", "device_name": "H200", "version": "0.0.1"}, backend))
    assert other.startswith(f"this run was on cuda, simsuite 0.0.1; from here on it is on cpu, simsuite {VERSION}, and")
    assert "was on Zen 9; from here on it is on " in str(changed(now | {"device_name": "Zen 9"}, backend))


def test_a_run_continued_by_another_version_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    plate = write(tmp_path / "plate.toml", HEAT, SHORT)
    with monkeypatch.context() as earlier:
        earlier.setattr("simsuite.conditions.VERSION", "0.0.7")
        assert call(capsys, "run", plate, "-o", tmp_path / "run", "--max-minutes", 0).returncode == 75
    goes_on = call(capsys, "run", plate, "-o", tmp_path / "run", "--max-minutes", 0)
    assert "this run was on simsuite 0.0.7; from here on it is on simsuite 0.1.0, and last bits" in goes_on.stderr
    assert "this run was on simsuite 0.0.7" in (tmp_path / "run" / "log.txt").read_text(encoding="utf-8")
    assert "this run was on" not in call(capsys, "run", plate, "-o", tmp_path / "run").stderr
