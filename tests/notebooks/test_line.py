"""The line that says in a notebook how far a run is. IPython is played by a module with the two functions in use."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numba
import pytest

import simsuite
from simsuite.notebooks.line import Line, for_notebooks
from simsuite.progress import Silent

PLATE = {
    "solver": "heat",
    "grid": {"nx": 6, "ny": 4},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "x*y"},
    "boundary": {"left": {"kind": "temperature", "value": "sin(30*t)"}},
    "time": {"end": 0.05},
    "output": {"frames": 5},
}


class Front:
    """A front end that keeps all that it is shown, and fails from the `broken`th time on."""

    def __init__(self, broken: int | None = None) -> None:
        self.shown: list[dict[str, str]] = []
        self._broken = broken

    def display(self, bundle: dict[str, str], raw: bool, display_id: bool) -> Front:
        assert display_id
        return self.update(bundle, raw)

    def update(self, bundle: dict[str, str], raw: bool) -> Front:
        assert raw
        if self._broken is not None and len(self.shown) >= self._broken:
            raise ConnectionError("the front end has gone")
        self.shown.append(bundle)
        return self


def kernel(monkeypatch: pytest.MonkeyPatch, front: Front, shell: Any) -> None:
    package, display = ModuleType("IPython"), ModuleType("IPython.display")
    package.get_ipython = lambda: shell  # type: ignore[attr-defined]
    display.display = front.display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", package)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr("simsuite.notebooks.line.SECONDS", 0.0)
    numba.set_num_threads(1)


@pytest.mark.parametrize("shell", [None, SimpleNamespace()], ids=["no shell", "a terminal"])
def test_there_is_no_line_outside_of_a_kernel(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    reporter = Silent()
    kernel(monkeypatch, Front(), shell)
    assert for_notebooks(reporter) is reporter
    monkeypatch.delitem(sys.modules, "IPython")
    assert for_notebooks(reporter) is reporter


def test_a_run_in_a_kernel_shows_one_line_that_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    front = Front()
    kernel(monkeypatch, front, SimpleNamespace(kernel=object()))
    assert isinstance(for_notebooks(Silent()), Line)
    run = simsuite.run(PLATE, device="cpu", directory=tmp_path / "run")
    assert run.summary["status"] == "complete"
    texts = [bundle["text/plain"] for bundle in front.shown]
    assert texts[0] == "heat: compiling"
    assert any("%, t = " in text for text in texts[1:-1])
    assert all(" of 0.05" in text for text in texts[1:-1])
    assert texts[-1] == "heat: 100.0 %"
    assert front.shown[0]["text/html"] == "<pre>heat: compiling</pre>"


@pytest.mark.parametrize("broken", [0, 2])
def test_a_front_end_that_has_gone_does_not_end_a_run(
    broken: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    front = Front(broken)
    kernel(monkeypatch, front, SimpleNamespace(kernel=object()))
    assert simsuite.run(PLATE, device="cpu", directory=tmp_path / "run").summary["status"] == "complete"
    assert len(front.shown) == broken
