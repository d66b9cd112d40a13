"""What commands print in terminals of 45, 80 and 160 columns, without colours, and into a pipe: golden texts.

To write them anew: ``SIMSUITE_GOLDEN=write pytest tests/cli/test_terminal_widths.py``; then read them.
"""

from __future__ import annotations

import json
import os
import random
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numba
import pytest
from running import call
from terminals import Shown, terminal_in_place_of_streams

import simsuite.cli.doctor
from simsuite.cli import main
from simsuite.cli.terminals.wrapping import columns_of, fitted, fitted_report, wrapped
from simsuite.execution import Execution
from simsuite.io.directory import RunDirectory

GOLDEN = Path(__file__).parents[1] / "golden" / "terminal"
FILES = {
    "plate.toml": """
solver = "heat"
title = "Plate"
grid = {nx = 12, ny = 8, lx = 0.3, ly = 0.2}
material = {conductivity = 45.0, density = 7800.0, specific_heat = 470.0}
initial = {temperature = "20 + 100*x"}
boundary = {left = {kind = "temperature", value = 20.0}, right = {kind = "convection", h = 25.0, ambient = 35.0}}
probe = [{name = "weld", x = 0.1, y = 0.1}, {name = "a corner of the plate", x = 0.29, y = 0.19}]
time = {end = 30.0, stepper = "explicit", dt = 1.0}
output = {frames = 3}
run = {device = "cpu", threads = 1}
""",
    "basket.toml": """
solver = "gbm"
market = {rate = 0.05}
asset = [{name = "A", spot = 100.0, volatility = 0.2}, {name = "B", spot = 50.0, volatility = 0.3}]
time = {end = 1.0, steps = 4}
paths = {count = 4096}
option = [{name = "call on A", style = "european", asset = "A", payoff = "call", strike = 100.0}]
run = {device = "cpu", threads = 1}
""",
    "spring.toml": """
solver = "linear"
system = {kind = "continuous", matrix = [[0.0, 1.0], [-4.0, -0.1]]}
initial = {state = [1.0, 0.0]}
time = {dt = 0.1, steps = 50}
run = {device = "cpu", threads = 1}
""",
    "wrong.toml": """
solver = "heat"
grid = {nx = 12, ny = 8}
material = {diffusivity = 1.0, conductvity_of_the_plate = 3.0, another_one = 2.0}
initial = {temperature = "20 + 100*x + sin(3*pi*x)*sin(2*pi*y) + exp(-(x - 0.3)**2 - (y - 0.4)**2) + warmth*exp(-y)"}
time = {end = 30.0}
""",
}
COMMANDS = {
    "run_heat": ("run", "plate.toml", "--fresh"),
    "run_gbm": ("run", "basket.toml", "--fresh"),
    "run_linear": ("run", "spring.toml", "--fresh"),
    "info_heat": ("info", "runs/plate"),
    "info_gbm": ("info", "runs/basket"),
    "info_linear": ("info", "runs/spring"),
    "info_of_all": ("info", "runs"),
    "check_heat": ("check", "plate.toml"),
    "check_gbm": ("check", "basket.toml"),
    "check_mistakes": ("check", "wrong.toml"),
    "doctor": ("doctor",),
}
WIDTHS = (45, 80, 160)
KNOWN = {"wall_seconds": 83.25, "compile_seconds": 12.5, "rate": 1.234e8}  # in place of what differs from run to run
DOCTOR = {
    "trial('cpu')": ("ok", "cpu: Model CPU 9000, a small kernel ran and is right (0.3 s)"),
    "trial('cudasim')": ("ok", "cudasim: Numba CUDA simulator, a small kernel ran and is right (0.2 s)"),
    "trial('cuda')": ("--", "there is no NVIDIA driver on this machine"),
    "nccl()": ("--", "GPUs exchange nothing: there is no NVIDIA driver on this machine"),
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A directory with the scenarios."""
    path = tmp_path_factory.mktemp("terminal")
    for name, text in FILES.items():
        (path / name).write_text(text, encoding="utf-8")
    return path


def _of_any_run(summary: Mapping[str, Any]) -> dict[str, Any]:
    """The summary with known numbers, of a known machine, so that lines are broken where they are elsewhere."""
    rounded = _rounded(summary["results"])
    return {**summary, "results": rounded, **KNOWN, "device_name": "Model CPU 9000", "threads": 1}


def _rounded(value: Any) -> Any:
    """Without the last digits, which differ from machine to machine."""
    if isinstance(value, dict):
        return {key: _rounded(each) for key, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(each) for each in value]
    if isinstance(value, float):
        return float(f"{value:.6g}") if abs(value) > 1e-7 else 0.0
    return value


@pytest.fixture
def known(place: Path, monkeypatch: pytest.MonkeyPatch, one_thread: None) -> None:
    """In that directory, where clock, machine and versions are always the same."""
    monkeypatch.chdir(place)
    monkeypatch.delenv("NO_COLOR", raising=False)
    run, write = Execution.run, RunDirectory.write_summary
    monkeypatch.setattr(Execution, "run", lambda self: _of_any_run(run(self)))
    monkeypatch.setattr(RunDirectory, "write_summary", lambda self, found: write(self, _of_any_run(found)))
    monkeypatch.setattr("simsuite.backends.cpu._cpu_name", lambda: "Model CPU 9000")
    doctor = simsuite.cli.doctor
    monkeypatch.setattr(doctor, "_run", DOCTOR.__getitem__)
    about = "MPICH 12.3.4, not CUDA-aware (GPUs exchange by NCCL), /usr/bin/mpiexec.mpich: two processes met"
    monkeypatch.setattr(doctor, "_mpi", lambda: ("ok", about))
    monkeypatch.setattr(doctor, "_version", lambda name: "12.34.5")
    monkeypatch.setattr(
        doctor, "_driver", lambda: "no NVIDIA driver answers (nvidia-smi); GPUs need one, the CPU does not"
    )
    monkeypatch.setattr(doctor, "_memory", lambda: "20.0 GB of 25.3 GB free, 2 CPU cores")
    monkeypatch.setattr(doctor, "VERSION", "1.2.3")
    monkeypatch.setattr("simsuite.provenance.origin.command_line", lambda: "simsuite run")
    monkeypatch.setattr("simsuite.provenance.origin.now", lambda: "2026-01-02T03:04:05Z")
    monkeypatch.setattr("socket.gethostname", lambda: "node7")
    monkeypatch.setattr("simsuite.io.disk.free_bytes", lambda directory: 10**11)
    monkeypatch.setattr("platform.platform", lambda: "Linux-6.1.0-x86_64-with-glibc2.36")
    monkeypatch.setattr("platform.python_version", lambda: "3.12.1")


def in_columns(columns: int, args: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> Shown:
    """What `simsuite ARGS` shows in a terminal."""
    numba.set_num_threads(1)
    with terminal_in_place_of_streams(columns, monkeypatch) as shown, monkeypatch.context() as patch:
        patch.setattr(sys, "argv", ["simsuite", *args])
        try:
            main()
        except SystemExit as end:
            print(f"[exit code {end.code or 0}]")
    return shown


def without_escapes(sent: bytes) -> str:
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", sent.decode())


def words(text: str) -> list[str]:
    return text.split()


@pytest.mark.parametrize("name", COMMANDS)
def test_what_terminals_show(name: str, known: None, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No line is longer than the terminal, no word broken or left out: the words are those that a pipe gets."""
    args = COMMANDS[name]
    if name.startswith("info"):
        for each in ("plate.toml", "basket.toml", "spring.toml"):
            call(capsys, "run", each, "-q")
    call(capsys, *args)  # compiles kernels
    piped = call(capsys, *args)
    parts = {"pipe, stdout": piped.stdout, "pipe, stderr": piped.stderr}
    for columns in WIDTHS:
        shown = in_columns(columns, args, monkeypatch)
        assert shown.lines[-1] == f"[exit code {piped.returncode}]"
        assert max(map(columns_of, shown.lines)) <= columns
        # the screen would show a line that the terminal had to break as several
        assert max(map(columns_of, re.split(r"[\r\n]+", without_escapes(shown.sent)))) <= columns
        text = "\n".join(shown.lines[:-1]) + "\n"
        if name.endswith("_gbm"):  # names of the rows of tables come again with each group of columns
            assert set(words(text)) == set(words(piped.stderr + piped.stdout))
        elif name != "check_mistakes":  # in which parts of lines of the file are shown
            assert words(text) == words(piped.stderr + piped.stdout)
        parts[f"{columns} columns"] = text
    monkeypatch.setenv("NO_COLOR", "1")
    plain = in_columns(80, args, monkeypatch)
    assert "\n".join(plain.lines[:-1]) + "\n" == parts["80 columns"]
    assert not re.search(rb"\x1b\[[0-9;]*[34][0-9]", plain.sent), "a colour"
    found = "".join(f"==== {part}\n{text}" for part, text in parts.items())
    golden = GOLDEN / f"{name}.txt"
    if os.environ.get("SIMSUITE_GOLDEN") == "write":
        golden.write_text(found, encoding="utf-8")
    assert found == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", COMMANDS)
def test_json_is_one_line_wherever_it_goes(
    name: str, known: None, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    args = (*COMMANDS[name], "--json")
    call(capsys, *args)
    piped = call(capsys, *args)
    shown = in_columns(45, args, monkeypatch)
    lines = [line for line in re.split(r"[\r\n]+", without_escapes(shown.sent)) if line.startswith("{")]
    assert [f"{line}\n" for line in lines] == [piped.stdout]
    assert isinstance(json.loads(lines[0]), dict)


def test_lines_are_broken_between_words_and_numbers_keep_their_units() -> None:
    line = "  took       23 s, of which 19 s to start, then 41.4 Mcell-steps/s"
    assert wrapped(line, 80) == [line]
    assert wrapped(line, 43) == ["  took       23 s, of which 19 s to start,", "             then 41.4 Mcell-steps/s"]
    assert wrapped("    delta            0.63706 ± 0.00040     per unit", 40) == [
        "    delta            0.63706 ± 0.00040",
        "      per unit",
    ]
    assert wrapped("a word_that_is_longer_than_that b", 10) == ["a", "  word_that_is_longer_than_that", "  b"]
    assert wrapped("漢字 漢字 漢字", 9) == ["漢字 漢字", "  漢字"]
    assert wrapped("\033[1mbold words\033[0m here", 10) == ["\033[1mbold words\033[0m", "  here"]
    assert fitted("", 10) == ""


def test_any_text_keeps_its_words() -> None:
    """Random lines, at random widths: the same words in the same order, and none too long but single words."""
    random.seed(5)
    pieces = ["a", "is", "number", "12.5", "±", "=", "..", "s", "/path/to/a/file.h5", "   ", "\033[1m", "W/m", "漢字"]
    for _ in range(3000):
        line = " ".join(random.choice(pieces) for _ in range(random.randrange(30)))
        width = random.randrange(5, 60)
        found = wrapped(line, width)
        assert words(" ".join(found)) == words(line)
        for piece in found:
            glued = re.split(r" (?![±=]|\.\.|s\b|is\b|a\b|W/m)(?<![±=] )(?<!\.\. )", piece.strip())
            assert columns_of(piece) <= width or len(glued) == 1 or len(found) == 1


def test_a_report_keeps_its_carets_below_what_they_mean() -> None:
    line = "temperature = '20 + 100*x + sin(3*x) + verylongname*exp(-x*x) + 1000 + 2000'"
    at, name = line.index("verylongname"), "verylongname"
    report = (
        f"error: unknown name\n --> a.toml:7:{at + 1}\n  |\n7 | {line}\n  | {' ' * at}{'^' * len(name)}\n  = help: no"
    )
    for width in range(25, 120):
        lines = fitted_report(report, width).split("\n")
        assert max(map(len, lines)) <= width
        (carets,) = [i for i, each in enumerate(lines) if "^" in each]
        begin = lines[carets].index("^")
        marked = lines[carets - 1][begin : lines[carets].rindex("^") + 1]
        assert name.startswith(marked)
        assert len(marked) >= min(len(name), width // 3)


def test_tables_are_cut_between_columns() -> None:
    rows = [f"    {name:<8}" + "".join(f"  {10**k:>{k + 4}}" for k in range(8)) for name in ("first", "the last")]
    text = "\n".join(["above", *rows, "below"])
    assert fitted(text, 120) == text
    for width in range(26, 100):
        lines = fitted(text, width).split("\n")
        assert (lines[0], lines[-1]) == ("above", "below")
        assert max(map(len, lines)) <= width
        inner = lines[1:-1]
        starts = [line.split("  ")[2].strip() for line in inner]
        assert set(starts) == {"first", "the last"}
        for name, row in zip(("first", "the last"), rows):
            numbers = [
                word for line in inner if line.strip().startswith(name) for word in line.split()[len(name.split()) :]
            ]
            assert numbers == row.split()[len(name.split()) :]
