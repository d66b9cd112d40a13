"""A second process that compiles kernels of a run: what it compiles, what it leaves alone, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simsuite.backends import compile_ahead
from simsuite.backends.threads import threads_available

SCENARIOS = Path(__file__).parents[2] / "scenarios"
COUNTED = Path(__file__).parents[1] / "counted_run.py"
PLATE: dict[str, Any] = {
    "solver": "heat",
    "grid": {"nx": 12, "ny": 9, "lx": 1.0, "ly": 1.0},
    "material": {"diffusivity": 1.0},
    "initial": {"temperature": "sin(pi*x)*sin(pi*y)"},
    "boundary": {"left": {"kind": "temperature", "value": "sin(t)"}},
    "time": {"end": 0.5, "stepper": "auto"},
    "run": {"device": "cpu"},
}
pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has locks on files without names"),
    pytest.mark.skipif(threads_available() < 2, reason="a second process needs a second core"),
]


def environment(tmp_path: Path) -> dict[str, str]:
    return os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}


def python(text: str, tmp_path: Path) -> str:
    """What a program prints that begins with an empty cache."""
    command = [sys.executable, "-c", textwrap.dedent(text)]
    return subprocess.run(command, env=environment(tmp_path), capture_output=True, text=True, check=True).stdout


def until(true: Callable[[], bool]) -> None:
    late = time.monotonic() + 60.0
    while not true():
        assert time.monotonic() < late
        time.sleep(0.02)


PROGRAM = """
    import os, time
    import numpy as np
    from numba.core import event
    from simsuite.backends.cpu import CpuBackend

    class Compiled(event.Listener):
        names = []
        def on_start(self, event):
            self.names.append(event.data["dispatcher"].py_func.__name__)
        def on_end(self, event): ...

    def ended():
        processes = open(f"/proc/self/task/{os.getpid()}/children").read().split()
        return all(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[0] == "Z" for process in processes)

    event.register("numba:compile", Compiled())
    backend = CpuBackend()
    kernels = backend.kernels("simsuite.solvers.heat.operator.defect")
    T, D = np.ones((3, 4)), np.zeros((3, 4))

    def rehearse(other):
        kernels.judge(T, T, 2.0, D, 0.0, np.zeros((3, 3)))
        kernels.gather(T, 3 * T, 2.0, True, D)
        {more}

    with backend.compiling_ahead(rehearse):
        rows = np.zeros((3, 3))
        kernels.judge(T, 0 * T, 2.0, D, 0.0, rows)
        late = time.monotonic() + 60
        while not ended() and time.monotonic() < late:
            time.sleep(0.01)
        before = len(Compiled.names)
        kernels.gather(T, 3 * T, 2.0, True, D)
        print(*Compiled.names[before:], D[0, 0], rows.max())
    try:
        os.waitpid(-1, os.WNOHANG)
        print("somebody is left")
    except ChildProcessError:
        print("nobody is left")
"""


def helped(more: str, tmp_path: Path) -> list[str]:
    return python(PROGRAM.replace("{more}", more), tmp_path).splitlines()


def test_the_run_finds_what_the_other_process_has_compiled(tmp_path: Path) -> None:
    """And runs it itself: the rehearsal's own call, with other numbers, changes nothing."""
    assert helped("", tmp_path) == ["-4.0 2.0", "nobody is left"]


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM, signal.SIGPROF])
def test_the_run_compiles_what_the_other_process_does_not(end: signal.Signals, tmp_path: Path) -> None:
    found, left = helped(f"os.kill(os.getpid(), {end.value})", tmp_path)
    assert found == "gather -4.0 2.0"
    assert left == "nobody is left"


def test_what_was_called_before_an_error_is_compiled(tmp_path: Path) -> None:
    """In a rehearsal there are no data, so functions of Python may fail."""
    assert helped("raise ZeroDivisionError", tmp_path) == ["-4.0 2.0", "nobody is left"]


def test_a_process_that_hangs_is_not_waited_for_for_ever(tmp_path: Path) -> None:
    """Stopped while it compiles, it holds its claim; the run ends it, and compiles the kernel itself."""
    more = "from simsuite.backends import compile_ahead, numba_cache; compile_ahead.CompileAhead.found = hang"
    text = PROGRAM.replace("{more}", more).replace("while not ended() and", "while not stopped() and")
    text = text.replace(
        '    event.register("numba',
        """    def hang(*arguments):
        os.kill(os.getpid(), signal.SIGSTOP)

    def stopped():
        processes = open(f"/proc/self/task/{os.getpid()}/children").read().split()
        return any(" T " in open(f"/proc/{process}/stat").read() for process in processes)

    import signal
    from simsuite.backends import compile_ahead
    compile_ahead.PATIENCE = 0.5
    event.register("numba""",
        1,
    )
    found, left = python(text, tmp_path).splitlines()
    assert found.split()[-2:] == ["-4.0", "2.0"]
    assert left == "nobody is left"


def run(tmp_path: Path, name: str, threads: int | str) -> tuple[int, str]:
    """How many functions a run compiles itself, with an empty cache, and the field that it comes to."""
    scenario = PLATE | {"run": {"device": "cpu", "threads": threads}}
    command = [sys.executable, str(COUNTED), json.dumps(scenario), str(tmp_path / name), "temperature"]
    cache = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / f"cache of {name}")}
    done = subprocess.run(command, env=cache, capture_output=True, text=True, check=True)
    compiled, field = done.stdout.split()[-2:]
    assert not done.stderr
    return int(compiled), field


def test_same_bits_with_and_without_a_second_process(tmp_path: Path) -> None:
    alone, field = run(tmp_path, "alone", 1)
    helped, same = run(tmp_path, "helped", "auto")
    assert same == field
    assert helped <= alone


def children(process: subprocess.Popen[str]) -> list[str]:
    return Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()


def test_a_run_that_is_killed_leaves_no_process_and_no_lock(tmp_path: Path) -> None:
    (tmp_path / "plate.json").write_text(json.dumps(PLATE))
    program = f"import json, simsuite; simsuite.run(json.load(open({str(tmp_path / 'plate.json')!r})), directory='run')"
    process = subprocess.Popen([sys.executable, "-c", program], env=environment(tmp_path), cwd=tmp_path, text=True)
    until(lambda: bool(children(process)))
    (child,) = children(process)
    process.send_signal(signal.SIGKILL)
    process.wait()
    again = subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path), cwd=tmp_path, capture_output=True, text=True
    )
    assert again.returncode == 0, again.stderr
    until(lambda: not Path(f"/proc/{child}").exists() or "State:\tZ" in Path(f"/proc/{child}/status").read_text())


def test_no_second_process_beside_other_threads() -> None:
    """One of them may hold a lock that nobody would open in the copy."""
    over = threading.Event()
    other = threading.Thread(target=over.wait)
    other.start()
    assert not compile_ahead.can_help()
    over.set()
    other.join()


@pytest.mark.parametrize("name", ["gbm", "gbm_sobol", "heat", "heat_sine", "linear", "markov", "ornstein_uhlenbeck"])
def test_a_rehearsal_calls_all_kernels_of_a_run(name: str, tmp_path: Path) -> None:
    text = f"""
        from pathlib import Path
        from simsuite.assembly import _rehearse, device_of, make_problem
        from simsuite.backends import compile_ahead
        from simsuite.backends.cpu import _Rehearsing
        from simsuite.scenario import load

        scenario = load(Path({str(SCENARIOS / name) + ".toml"!r}), ["run.device='cpu'"])
        problem = make_problem(scenario, device_of(scenario))
        calls = compile_ahead._called_by(lambda: _rehearse(problem, _Rehearsing(None)))
        print(*{{call.func.__self__.py_func.__name__ for call in calls}})
    """
    rehearsed = set(python(text, tmp_path).split())
    text = f"""
        import simsuite
        from numba.core import event

        class Compiled(event.Listener):
            depth, names = 0, set()
            def on_start(self, event):
                if self.depth == 0:
                    self.names.add(event.data["dispatcher"].py_func.__name__)
                self.depth += 1
            def on_end(self, event):
                self.depth -= 1

        event.register("numba:compile", Compiled())
        options = {{"run.device": "cpu", "run.threads": 1}}
        simsuite.run({str(SCENARIOS / name) + ".toml"!r}, set=options, directory={str(tmp_path / "run")!r})
        print(*Compiled.names)
    """
    called = set(python(text, tmp_path).split())
    assert called
    assert called <= rehearsed


def test_a_system_without_such_files_or_copies_does_without(monkeypatch: pytest.MonkeyPatch) -> None:
    """As macOS, or a container that forbids them: the run compiles all itself."""

    def forbidden(*arguments: Any) -> Any:
        raise PermissionError("not permitted")

    monkeypatch.setattr(compile_ahead, "can_help", lambda: True)
    for name in ("memfd_create", "fork"):
        with monkeypatch.context() as without:
            without.setattr(compile_ahead.os, name, forbidden)
            with compile_ahead.compile_ahead(lambda: None) as helper:
                for kernel in ("one", "two"):
                    helper.missing(kernel)
                    helper.found(kernel)


def test_no_second_process_elsewhere_than_on_linux(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compile_ahead.sys, "platform", "darwin")
    assert not compile_ahead.can_help()
    with compile_ahead.compile_ahead(lambda: None) as helper:
        helper.missing("one")
        helper.found("one")
        assert helper._claims is None
