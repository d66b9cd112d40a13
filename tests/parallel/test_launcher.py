"""Processes that simsuite starts itself, one for each GPU: by a stand-in for a launcher, and by MPI's."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from scenarios import SCENARIOS
from shared_runs import require_same, simsuite, with_mpi

import simsuite.backends.cuda as simsuite_cuda
from simsuite.cli.main import main
from simsuite.errors import DeviceError
from simsuite.parallel import installed, launcher
from simsuite.parallel.installed import Installed

LAUNCHER = """#!{python}
import pathlib, signal, sys, time
came = []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, lambda number, frame: came.append(signal.Signals(number).name))
pathlib.Path("words").write_text("\\n".join(sys.argv[1:]))
late = time.monotonic() + 60
while "{waits}" and not came and time.monotonic() < late:
    time.sleep(0.01)
pathlib.Path("came").write_text(" ".join(came))
sys.exit({code})
"""


MIXED = """#!{python}
import os, pathlib, subprocess, sys
here = str(pathlib.Path(__file__).parent)
said = ""
for rank in range(2):
    environment = dict(os.environ, PYTHONPATH=here, RANK=str(rank * {meet}), SIZE=str(1 + {meet}))
    done = subprocess.run(sys.argv[3:], env=environment, check=True, capture_output=True, text=True)
    said += done.stdout
print(said.replace("\\n", "") + "\\n" * said.count("\\n"), end="")
"""

FAKE_MPI = """import os


class COMM_WORLD:
    rank = int(os.environ["RANK"])

    @staticmethod
    def allreduce(number):
        return number * int(os.environ["SIZE"])


class MPI:
    COMM_WORLD = COMM_WORLD
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def stand_in(here: Path, monkeypatch: pytest.MonkeyPatch, code: int, vendor: str = "mpich", waits: str = "") -> None:
    path = here / "mpiexec"
    path.write_text(LAUNCHER.format(python=sys.executable, code=code, waits=waits), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setattr(launcher, "installed_mpi", lambda: Installed("Stand-in 1.0", vendor, None, path))


@pytest.mark.parametrize("words", [["--device", "cuda:all"], ["--device=cuda:all"]])
def test_a_process_for_each_gpu_is_started(here: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    stand_in(here, monkeypatch, code=5)
    monkeypatch.setattr(simsuite_cuda, "count_gpus", lambda: 3)
    monkeypatch.setattr(sys, "argv", ["simsuite", "run", "x.toml", *words, "-o", "runs/x", "--set", "grid.nx=9"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 5
    found = (here / "words").read_text().splitlines()
    assert found[:2] == ["-n", "3"]
    device = [word.replace("cuda:all", "cuda") for word in words]
    assert found[2:] == [
        sys.executable,
        "-m",
        "simsuite",
        "run",
        "x.toml",
        *device,
        "-o",
        "runs/x",
        "--set",
        "grid.nx=9",
    ]


@pytest.mark.parametrize(
    ("vendor", "number", "passed_on", "code"),
    [
        ("mpich", signal.SIGINT, "SIGINT", 130),
        ("mpich", signal.SIGHUP, "SIGTERM", 75),
        ("openmpi", signal.SIGINT, "SIGUSR1", 130),
        ("openmpi", signal.SIGTERM, "SIGUSR1", 75),
    ],
)
def test_signals_are_passed_on(
    here: Path, monkeypatch: pytest.MonkeyPatch, vendor: str, number: signal.Signals, passed_on: str, code: int
) -> None:
    """The launcher ends with 75, as processes do that were told to stop by the signal that it passes on."""
    stand_in(here, monkeypatch, 75, vendor, "waits")

    def send() -> None:
        while not (here / "words").exists():
            time.sleep(0.01)
        os.kill(os.getpid(), number)

    thread = threading.Thread(target=send)
    thread.start()
    before = signal.getsignal(number)
    assert launcher.run_in(2, ["run"]) == code
    thread.join()
    assert (here / "came").read_text() == passed_on
    assert signal.getsignal(number) == before


def test_without_gpus_the_device_is_an_error(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> int:
        raise DeviceError("there is no NVIDIA driver on this machine")

    monkeypatch.setattr(simsuite_cuda, "count_gpus", none)
    monkeypatch.setattr(sys, "argv", ["simsuite", "run", "x.toml", "--device", "cuda:all"])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 4


def test_the_launcher_beside_the_library_comes_first(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for place in ("of the library/bin", "of the path"):
        for name in ("mpiexec", "mpiexec.openmpi")[: 1 if place.endswith("bin") else 2]:
            (here / place).mkdir(parents=True, exist_ok=True)
            (here / place / name).write_text("")
            (here / place / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(here / "of the path"))
    monkeypatch.setattr(sys, "executable", str(here / "nowhere/python"))
    library = str(here / "of the library/lib/libmpi.so")
    assert installed._launcher("mpich", library) == here / "of the library/bin/mpiexec"
    assert installed._launcher("openmpi", library) == here / "of the path/mpiexec.openmpi"
    assert installed._launcher("mpich", None) == here / "of the path/mpiexec"
    monkeypatch.setenv("PATH", "")
    assert installed._launcher("mpich", None) is None


@with_mpi
def test_processes_are_started_by_the_launcher_of_mpi4py(here: Path) -> None:
    (here / "x.toml").write_text(SCENARIOS["ring"], encoding="utf-8")
    code = "import sys; from simsuite.parallel.launcher import run_in; sys.exit(run_in(2, sys.argv[1:]))"
    run = ["run", "x.toml", "-o", "run", "--json"]
    done = subprocess.run([sys.executable, "-c", code, *run], capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done
    assert '"processes": 2' in done.stdout
    (here / "alone").mkdir()
    (here / "alone/x.toml").write_text(SCENARIOS["ring"], encoding="utf-8")
    assert simsuite(1, run, here / "alone").code == 0
    require_same(here / "run", here / "alone/run")


@pytest.mark.parametrize("meet", [0, 1])
def test_lines_of_processes_that_come_mixed_are_no_sign_of_another_mpi(here: Path, meet: int) -> None:
    """Two processes may write `2`, `2` and then the ends of both lines."""
    (here / "mpi4py.py").write_text(FAKE_MPI, encoding="utf-8")
    path = here / "mpiexec"
    path.write_text(MIXED.format(python=sys.executable, meet=meet), encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    why = installed.trial(Installed("Stand-in 1.0", "mpich", None, path))
    assert why is None if meet else str(why).endswith("do not see each other")
