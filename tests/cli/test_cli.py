"""The command line: exit codes, what goes to stdout and what to stderr, and the JSON that other programs rely on."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import running
from running import simsuite
from schema_check import faults
from shared_runs import has_mpi

from simsuite.backends import open_backend
from simsuite.cli import app, doctor, progress
from simsuite.errors import DeviceError
from simsuite.io.reading import open_results
from simsuite.version import VERSION

ROOT = Path(__file__).parents[2]
SCENARIOS = sorted([*(ROOT / "scenarios").glob("*.toml"), *(ROOT / "simsuite" / "templates").glob("*.toml")])
COMMANDS = sorted(command.name or command.callback.__name__ for command in app.registered_commands)
Call = Callable[..., subprocess.CompletedProcess]

SMALL = {  # what makes the templates small
    "heat": ["grid.nx=8", "grid.ny=6", "output.frames=3", "output.samples=5"],
    "gbm": ["paths.count=2000", "time.steps=12", "output.frames=4", "output.store_paths=5"],
    "linear": ["time.steps=40", "output.frames=5"],
}


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Call:
    """`simsuite ARGS` in an empty directory."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return lambda *args: running.call(capsys, *args)


def small(solver: str, path: Path) -> list[str]:
    """A small scenario in `path`, as arguments of a command."""
    text = (ROOT / "simsuite" / "templates" / f"{solver}.toml").read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    return [str(path), *(word for setting in SMALL[solver] for word in ("--set", setting)), "--device", "cpu"]


@pytest.fixture
def heat_run(cli: Call) -> list[str]:
    """Arguments of a small heat run."""
    return ["run", *small("heat", Path("plate.toml"))]


def only_object(text: str) -> dict[str, Any]:
    """The one JSON object on stdout."""
    assert len(text.splitlines()) == 1
    found = json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} is no JSON"))
    assert isinstance(found, dict)
    return found


# ---- help


def test_help_names_every_command_and_exit_code(cli: Call) -> None:
    shown = cli("--help")
    assert shown.returncode == 0
    assert shown.stderr == ""
    assert {"run", "resume", "check", "info", "plot", "new", "doctor", "repair", "schema"} <= set(COMMANDS)
    for name in COMMANDS:
        assert re.search(rf"^\W*{name} +[A-Z]", shown.stdout, re.MULTILINE), name
    for code in ("0", "1", "2", "3", "4", "5", "75", "130"):
        assert re.search(rf"\b{code}\b", shown.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_describes_every_command_and_option(cli: Call, name: str) -> None:
    shown = cli(name, "--help")
    assert shown.returncode == 0
    assert f"simsuite {name}" in shown.stdout
    command = next(c for c in app.registered_commands if (c.name or c.callback.__name__) == name)
    first = (command.callback.__doc__ or "").splitlines()[0]
    assert first[:60] in shown.stdout
    for line in re.findall(r"^│ +-.*$", shown.stdout, re.MULTILINE):
        assert re.search(r"[a-z]{3,}.*\s[A-Z\[].*[a-z.]", line), f"an option without a description: {line}"


def test_version(cli: Call) -> None:
    assert cli("--version").stdout == f"simsuite {VERSION}\n"


def test_no_command_shows_help_and_is_an_error(cli: Call) -> None:
    shown = cli()
    assert shown.returncode == 2
    assert "Usage" in shown.stdout + shown.stderr


# ---- mistakes


def no_gpu() -> bool:
    try:
        open_backend("cuda")
    except DeviceError:
        return True
    return False


MISTAKES = {
    "unknown command": (["walk"], 2, "walk"),
    "unknown flag": (["run", "s.toml", "--fast"], 2, "--fast"),
    "no scenario": (["run"], 2, "SCENARIO"),
    "negative time": (["run", "s.toml", "--max-minutes", "-1"], 2, "--max-minutes"),
    "missing file": (["run", "nowhere.toml"], 2, "nowhere.toml"),
    "a directory": (["check", "."], 2, "."),
    "bad TOML": (["run", "bad.toml"], 2, "bad.toml:2:"),
    "unknown key": (["run", "s.toml", "--set", "grid.nz=3"], 2, "grid.nz=3"),
    "unstable dt": (["run", "s.toml", "--set", "time.dt=1e6"], 2, "largest stable dt"),
    "unstable dt, check": (["check", "s.toml", "--set", "time.dt=1e6"], 2, "largest stable dt"),
    "unknown device": (["run", "s.toml", "--device", "tpu"], 2, "tpu"),
    "no such GPU": (["run", "s.toml", "--device", "cuda:99"], 4, ""),
    "no run, info": (["info", "nowhere"], 2, "holds no run"),
    "no run, plot": (["plot", "nowhere"], 2, "holds no run"),
    "no run, resume": (["resume", "nowhere"], 2, "holds no run"),
    "data, info": (["info", "rows.csv"], 2, "rows.csv is not a file of a run"),
    "data, plot": (["plot", "rows.csv"], 2, "rows.csv is not a file of a run"),
    "data, resume": (["resume", "rows.csv"], 2, "rows.csv is not a file of a run"),
    "data, run": (["run", "rows.csv"], 2, '"rows.csv"}' + "\n"),
    "data, check": (["check", "rows.csv"], 2, "'rows.csv' is a file of data, not a scenario"),
    "a run, run": (["run", "runs/old"], 2, "`simsuite resume runs/old` continues it"),
    "a run, check": (["check", "runs/old"], 2, "runs/old is the directory of a run, not a scenario"),
    "unknown solver, new": (["new", "wave"], 2, "wave"),
    "unknown solver, schema": (["schema", "wave"], 2, "wave"),
    "a file in the way": (["run", "s.toml", "-o", "s.toml"], 2, "s.toml"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_has_its_exit_code_and_says_so_on_stderr(cli: Call, case: str) -> None:
    args, code, words = MISTAKES[case]
    small("heat", Path("s.toml"))
    Path("bad.toml").write_text('solver = "heat"\n[grid\nnx = 3\n', encoding="utf-8")
    Path("rows.csv").write_text("0.5,0.5\n0.25,0.75\n", encoding="utf-8")
    Path("runs/old").mkdir(parents=True)
    Path("runs/old/progress.json").write_text("{}", encoding="utf-8")
    done = cli(*args)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert words in done.stderr
    assert "rror" in done.stderr
    assert "Traceback" not in done.stderr
    assert not Path("runs/s/results.h5").exists()


def test_too_little_memory_is_said_before_the_run(
    cli: Call, heat_run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_room(*args: object) -> None:
        raise MemoryError("Unable to allocate 728. TiB")

    with monkeypatch.context() as patch:
        patch.setattr("simsuite.backends.cpu.CpuBackend.memory_free", lambda self: 1000)
        refused = cli(*heat_run)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert re.search(r"needs \S+ GB on cpu, which has \S+ GB free", refused.stderr)
    monkeypatch.setattr("simsuite.solvers.heat.problem.HeatProblem.from_scenario", no_room)
    refused = cli(*heat_run)
    assert (refused.returncode, refused.stdout) == (4, "")
    assert refused.stderr == "error: there is not enough memory on this machine: Unable to allocate 728. TiB\n"
    assert not Path("runs/plate/results.h5").exists()


def test_no_gpu_is_said_and_not_replaced(cli: Call) -> None:
    if not no_gpu():
        pytest.skip("there is a GPU")
    small("heat", Path("s.toml"))
    refused = cli("run", "s.toml", "--device", "cuda")
    assert refused.returncode == 4
    assert refused.stderr.startswith("error: ")
    done = cli("run", *small("heat", Path("s.toml"))[:-1], "auto")
    assert done.returncode == 0
    assert done.stderr.startswith("running on the CPU: ")


def test_a_mistake_is_shown_in_the_file(cli: Call) -> None:
    Path("s.toml").write_text('solver = "linear"\n[system]\nkind = "discreet"\n', encoding="utf-8")
    done = cli("check", "s.toml")
    assert done.returncode == 2
    assert "s.toml:3:8" in done.stderr
    assert "^^" in done.stderr
    assert 'did you mean "discrete"?' in done.stderr
    assert "\033" not in done.stderr


# ---- run

COMMON = {
    "status": str,
    "solver": str,
    "directory": str,
    "device": str,
    "device_name": str,
    "precision": str,
    "stepper": str,
    "kernel": str,
    "steps": int,
    "time": float,
    "wall_seconds": float,
    "compile_seconds": float,
    "rate": (float, type(None)),  # of a run that ends with its first stretch of steps none is known
    "rate_unit": str,
    "results": dict,
}


@pytest.mark.parametrize("solver", SMALL)
def test_run_prints_the_promised_object(cli: Call, solver: str) -> None:
    done = cli("run", *small(solver, Path("s.toml")), "--json")
    assert done.returncode == 0, done.stderr
    found = only_object(done.stdout)
    for key, kind in COMMON.items():
        assert isinstance(found[key], kind), key
    assert (found["status"], found["solver"], found["device"]) == ("complete", solver, "cpu")
    assert found["directory"] == "runs/s"
    assert 0 < found["compile_seconds"] <= found["wall_seconds"]
    results = found["results"]
    if solver == "heat":
        assert found["time"] == 600.0
        assert results["min"] <= results["mean"] <= results["max"]
        assert list(results["probes"]) == ["middle"]
        energy = results["energy"]
        assert {"stored", "boundary", "source", "residual"} <= energy.keys()
        assert abs(energy["stored"] - energy["boundary"] - energy["source"] - energy["residual"]) <= 1e-9 * abs(
            energy["stored"]
        )
        assert abs(energy["residual"]) <= 1e-10 * abs(energy["stored"])
    elif solver == "gbm":
        assert (found["steps"], found["time"], results["paths"]) == (12, 1.0, 2000)
        for option in ("call", "asian"):
            one = results["options"][option]
            low, high = one["ci95"]
            assert low < one["price"] < high
            assert one["standard_error"] == pytest.approx((high - low) / 2 / 1.96, rel=1e-3)
        asset = results["assets"]["A"]
        assert asset["mean"] > 0 < asset["std"]
        assert list(asset["quantiles"]) == ["0.05", "0.25", "0.5", "0.75", "0.95"]
        assert list(asset["quantiles"].values()) == sorted(asset["quantiles"].values())
    else:
        assert (found["steps"], found["time"]) == (40, pytest.approx(0.4))
        assert results["norm"] == pytest.approx(math.hypot(*(row[0] for row in results["state"])))
        assert isinstance(results["method"], str)


def test_reference_errors_are_in_the_object(cli: Call) -> None:
    done = cli("run", ROOT / "scenarios" / "heat_sine.toml", "--set", "grid.nx=8", "--set", "grid.ny=8", "--json")
    error = only_object(done.stdout)["results"]["error"]
    assert 0 < error["l2"] <= error["linf"] < 0.1


def test_data_on_stdout_and_messages_on_stderr(cli: Call, heat_run: list[str]) -> None:
    done = cli(*heat_run)
    assert done.returncode == 0
    assert done.stdout.startswith("heat complete: ")
    assert done.stdout.endswith("runs/plate/results.h5\n")
    for words in ("float64", "rkl2", "cpu", "middle", "residual"):
        assert words in done.stdout
    again = cli(*heat_run)
    assert again.stdout == done.stdout
    assert "finished" in again.stderr
    assert "\033" not in done.stdout + done.stderr


def test_quiet_says_nothing_but_warnings_and_what_json_asks_for(cli: Call, heat_run: list[str]) -> None:
    for extra, code in (["--max-minutes", "0"], 75), ([], 0), ([], 0):
        done = cli(*heat_run, "-q", *extra)
        assert (done.returncode, done.stdout, done.stderr) == (code, "", "")
    assert json.loads(cli(*heat_run, "-q", "--json").stdout)["status"] == "complete"
    slow = cli(*heat_run, "-q", "-o", "large", "--set", "grid.lx=4e4", "--set", "grid.ly=3e4")
    assert (slow.returncode, slow.stdout) == (0, "")
    assert slow.stderr
    assert all(line.startswith("warning: ") for line in slow.stderr.splitlines())


def test_the_files_of_a_run_have_their_places(cli: Call, heat_run: list[str]) -> None:
    assert cli(*heat_run, "--max-minutes", "0").returncode == 75
    names = {path.name for path in Path("runs/plate").iterdir()}
    assert {"results.h5", "checkpoint.h5", "scenario.toml", "log.txt"} <= names
    resolved = tomllib.loads(Path("runs/plate/scenario.toml").read_text(encoding="utf-8"))
    assert resolved["grid"] == {"nx": 8, "ny": 6, "lx": 0.4, "ly": 0.3}
    assert resolved["run"]["device"] == "cpu"
    assert cli(*heat_run, "-o", "elsewhere/deep").returncode == 0
    assert Path("elsewhere/deep/results.h5").exists()
    assert cli("run", "plate.toml", *heat_run[2:], "--set", "output.directory=named").returncode == 0
    assert Path("named/results.h5").exists()


def test_set_reaches_into_tables_and_lists(cli: Call, heat_run: list[str]) -> None:
    changes = [
        "probe.0.name=moved",
        "probe.0.x=0.1",
        'boundary.top={kind = "convection", h = 5.0, ambient = 10.0}',
        "boundary.left.value=20 + 10*sin(t)",
        "output={times = [0.0, 300.0]}",
        "title=Two words",
    ]
    changed = [word for change in changes for word in ("--set", change)]
    done = cli(*heat_run, *changed, "--json")
    assert done.returncode == 0, done.stderr
    assert list(only_object(done.stdout)["results"]["probes"]) == ["moved"]
    with open_results(Path("runs/plate/results.h5")) as file:
        assert file["time"][...].tolist() == [0.0, 300.0, 600.0]
        assert file.attrs["title"] in ("Two words", b"Two words")


def test_progress_without_a_terminal_is_plain_lines(
    cli: Call, heat_run: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress.Lines, "every", 0.0)
    done = cli(*heat_run)
    lines = [line for line in done.stderr.splitlines() if "%" in line]
    assert lines
    for line in lines:
        assert re.fullmatch(r" *[\d.]+ %  t = \S+ s of 600, .* left", line), line
    shares = [float(line.split("%")[0]) for line in lines]
    assert shares == sorted(shares)
    assert shares[-1] == 100.0


# ---- the other commands


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_check_accepts_what_is_shipped(cli: Call, path: Path) -> None:
    done = cli("check", path, "--json")
    assert done.returncode == 0, done.stderr
    found = only_object(done.stdout)
    assert found["valid"] is True
    assert found["steps"] > 0
    assert found["dt"] > 0
    assert min(found["frames"], found["device_bytes"], found["disk_bytes"]) > 0
    shown = cli("check", path).stdout
    assert f"is a valid {found['solver']} scenario" in shown
    assert not Path("runs").exists()


def test_check_foretells_the_run(cli: Call, heat_run: list[str]) -> None:
    said = only_object(cli("check", *heat_run[1:], "--json").stdout)
    done = only_object(cli(*heat_run, "--json").stdout)
    assert said["adaptive"]
    assert said["steps"] / 4 < done["steps"] < 4 * said["steps"], "about as many"
    assert re.search(r"^  time +some [\d.]+ s to [\d.]+ s at what is usual", cli("check", *heat_run[1:]).stdout, re.M)
    fixed = [*heat_run[1:], "--set", "time.dt=0.5"]
    assert only_object(cli("check", *fixed, "--json").stdout)["steps"] == 1200
    with open_results(Path("runs/plate/results.h5")) as file:
        assert said["frames"] == len(file["time"])
    assert said["disk_bytes"] == pytest.approx(Path("runs/plate/results.h5").stat().st_size, rel=0.05)


def test_check_says_why_it_cannot_tell_the_time(cli: Call) -> None:
    assert cli("new", "gbm", "-o", "some.toml").returncode == 0
    known = cli("check", "some.toml", "--set", "paths.count=5000").stdout
    assert re.search(r"^  time +(about|less than) ", known, re.M)
    given = ["check", "some.toml", "--set", "paths.count=5000", "--set", "paths.target_standard_error=0.5"]
    until = "not known before: paths are made until paths.target_standard_error is reached, 5000 at most"
    assert re.search(f"^  time +{until}$", cli(*given).stdout, re.M)
    levels = ["--set", "paths.multilevel=true", "--set", "time.scheme=milstein", "--set", "time.steps=240"]
    assert re.search(r"^  time +not known before: levels and paths are as many as", cli(*given, *levels).stdout, re.M)


def test_schema_describes_what_is_shipped(cli: Call) -> None:
    done = cli("schema")
    assert done.returncode == 0
    schema = json.loads(done.stdout)
    assert schema["$schema"].startswith("https://json-schema.org/")
    for path in SCENARIOS:
        scenario = tomllib.loads(path.read_text(encoding="utf-8"))
        assert list(faults(scenario, schema, schema)) == [], path
        own = json.loads(cli("schema", scenario["solver"]).stdout)
        assert list(faults(scenario, own, own)) == [], path
    heat = tomllib.loads((ROOT / "scenarios" / "heat.toml").read_text(encoding="utf-8"))
    for table, key, value in [
        ("grid", "nx", 0),
        ("grid", "nz", 3),
        ("material", "density", -1.0),
        ("time", "end", [1.0]),
    ]:
        wrong = heat | {table: heat[table] | {key: value}}
        assert list(faults(wrong, schema, schema)), f"{table}.{key} = {value!r}"
    assert list(faults({"solver": "wave"}, schema, schema))


@pytest.mark.parametrize("solver", SMALL)
def test_new_writes_a_scenario_that_runs(cli: Call, solver: str) -> None:
    made = cli("new", solver)
    assert made.returncode == 0
    assert made.stdout == ""
    assert f"simsuite run {solver}.toml" in made.stderr
    assert cli("check", f"{solver}.toml").returncode == 0
    text = Path(f"{solver}.toml").read_text(encoding="utf-8")
    Path(f"{solver}.toml").write_text(text + "# mine\n", encoding="utf-8")
    refused = cli("new", solver)
    assert refused.returncode == 2
    assert "exists already" in refused.stderr
    assert Path(f"{solver}.toml").read_text(encoding="utf-8").endswith("# mine\n")
    assert cli("new", solver, "-o", "other.toml").returncode == 0
    assert Path("other.toml").read_text(encoding="utf-8") == text
    assert cli("new", solver, "-o", "no/such/place.toml").returncode == 2


def test_new_names_a_schema_that_lies_beside_it(cli: Call, tmp_path: Path) -> None:
    assert cli("new", "linear", "-o", "cases/rod.toml").returncode == 2, "there is no such folder"
    Path("cases").mkdir()
    assert cli("new", "linear", "-o", "cases/rod.toml").returncode == 0
    first, *_ = Path("cases/rod.toml").read_text(encoding="utf-8").splitlines()
    beside = Path("cases") / first.removeprefix("#:schema ")
    schema = json.loads(beside.read_text(encoding="utf-8"))
    assert schema == json.loads(cli("schema", "linear").stdout)
    assert not list(faults(tomllib.loads(Path("cases/rod.toml").read_text(encoding="utf-8")), schema, schema))
    beside.write_text(json.dumps({"title": schema["title"], "of": "another version"}), encoding="utf-8")
    assert cli("new", "linear", "-o", "cases/other.toml").returncode == 0
    assert json.loads(beside.read_text(encoding="utf-8")) == schema
    for mine in ("[1, 2]", "no JSON", '{"title": "My data"}'):
        beside.write_text(mine, encoding="utf-8")
        told = cli("new", "linear", "-o", f"cases/{len(mine)}.toml")
        assert told.returncode == 0
        assert "is another file, and stays" in told.stderr
        assert beside.read_text(encoding="utf-8") == mine


def test_new_without_a_schema(cli: Call) -> None:
    assert cli("new", "gbm", "--no-schema").returncode == 0
    assert not Path("gbm.schema.json").exists()
    assert "#:schema" not in Path("gbm.toml").read_text(encoding="utf-8")


def test_info_on_stopped_and_finished_runs(cli: Call, heat_run: list[str]) -> None:
    assert cli(*heat_run, "--max-minutes", "0").returncode == 75
    stopped = only_object(cli("info", "runs/plate", "--json").stdout)
    assert (stopped["status"], stopped["checkpoint_step"]) == ("stopped", 1)
    assert stopped["datasets"]["temperature"] == [1, 6, 8]
    done = only_object(cli(*heat_run, "--json").stdout)
    finished = only_object(cli("info", "runs/plate", "--json").stdout)
    assert finished["status"] == "complete"
    assert finished["datasets"]["temperature"] == [3, 6, 8]
    assert finished["summary"] == done
    shown = cli("info", "runs/plate").stdout
    for words in ("heat run, complete, on cpu", "temperature", "3 x 6 x 8"):
        assert words in shown
    assert "checkpoint" not in shown, "a run that has ended needs none"
    assert finished["checkpoint_step"] is None


@pytest.mark.parametrize("solver", SMALL)
def test_plot_writes_a_png(cli: Call, solver: str) -> None:
    assert cli("run", *small(solver, Path("s.toml")), "-q").returncode == 0
    done = cli("plot", "runs/s", "-o", "out.png")
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "wrote out.png" in done.stderr
    assert Path("out.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert Path("out.png").stat().st_size > 5000
    assert cli("plot", "runs/s", "-o", "out.docx").returncode == 2


def test_doctor_says_what_works_in_a_few_lines(cli: Call) -> None:
    done = cli("doctor")
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert len(lines) <= 14
    assert lines[0].startswith(f"simsuite {VERSION}, Python {sys.version_info.major}.{sys.version_info.minor}")
    states = {line.split()[0]: line for line in lines if re.match(r"\w+ +\[..\] ", line)}
    assert states.keys() == {"cpu", "cudasim", "cuda", "mpi", "nccl"}
    for device in ("cpu", "cudasim"):
        assert "[ok]" in states[device]
        assert "is right" in states[device]
    assert ("[--]" if no_gpu() else "[ok]") in states["cuda"]
    assert ("two processes met" if has_mpi() else "[--]") in states["mpi"]


def test_doctor_knows_the_memory_also_where_the_system_does_not_say_how_much_is_free(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(os.sysconf_names, "SC_AVPHYS_PAGES")  # as on macOS
    assert re.fullmatch(r"\d+\.\d GB, \d+ CPU cores?", doctor._memory())
    monkeypatch.undo()
    assert re.fullmatch(r"\d+\.\d GB of \d+\.\d GB free, \d+ CPU cores?", doctor._memory())


# ---- streams


def test_a_reader_that_leaves_is_no_reason_to_complain(tmp_path: Path) -> None:
    command = f"{sys.executable} -m simsuite schema"
    for reader in ("head -1", "true"):
        shell = subprocess.run(
            ["bash", "-c", f"{command} | {reader}; echo ${{PIPESTATUS[0]}}"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )
        assert shell.stderr == "", reader
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:  # one whose reader left before anything was written
        done = subprocess.run(
            [sys.executable, "-m", "simsuite", "--version"], stdout=gone, stderr=subprocess.PIPE, text=True, timeout=60
        )
    assert done.stderr == ""


@pytest.mark.parametrize("command", ["check none.toml", "info none", "run none.toml"])
def test_an_error_as_json_has_a_reader_that_leaves(tmp_path: Path, command: str) -> None:
    """The error is told on stderr, and then only that."""
    read, write = os.pipe()
    os.close(read)
    with os.fdopen(write, "w") as gone:
        words = [sys.executable, "-u", "-m", "simsuite", *command.split(), "--json"]
        done = subprocess.run(words, stdout=gone, stderr=subprocess.PIPE, text=True, timeout=60, cwd=tmp_path)
    assert done.stderr.startswith("error: ")
    assert "Traceback" not in done.stderr
    assert done.returncode == 1


@pytest.mark.parametrize(("variable", "coloured"), [({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)])
def test_colour_only_for_terminals_that_want_it(tmp_path: Path, variable: dict[str, str], coloured: bool) -> None:
    pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
    (tmp_path / "s.toml").write_text('solver = "heat"\n', encoding="utf-8")
    ours, theirs = pty.openpty()
    environment = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [sys.executable, "-m", "simsuite", "check", "s.toml"],
        cwd=tmp_path,
        stderr=theirs,
        stdout=subprocess.PIPE,
        env=environment | {"TERM": "xterm"} | variable,
    )
    os.close(theirs)
    shown = b""
    try:
        while part := os.read(ours, 4096):
            shown += part
    except OSError:  # the other end has closed it
        pass
    finally:
        os.close(ours)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 2
    assert out == b""
    assert b"missing" in shown
    assert (b"\033[" in shown) is coloured


def test_an_error_inside_is_reported_as_a_bug(cli: Call, heat_run: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr("simsuite.execution.march", broken)
    done = cli(*heat_run)
    assert done.returncode == 1
    assert "ZeroDivisionError: of ours" in done.stderr
    assert "this is a bug in simsuite" in done.stderr


def test_python_m_is_the_same_program(tmp_path: Path) -> None:
    done = simsuite("--version", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"simsuite {VERSION}\n", "")


def test_check_promises_no_more_mistakes_than_it_finds(cli: Call) -> None:
    """Whether shapes fit is known once the step has a length."""
    matrices = '[system]\nkind = "continuous"\nmatrix = [[0.0, 1.0], [-2.0, -0.3]]\noutput_matrix = [[1.0, 0.0, 0.0]]\n'
    Path("m.toml").write_text(
        f'solver = "linear"\n{matrices}[initial]\nstate = [1.0, 0.0, 0.0]\n[time]\nsteps = 9\n', encoding="utf-8"
    )
    assert "needs `dt`" in cli("check", "m.toml").stderr
    assert "2 mistakes" in cli("check", "m.toml", "--set", "time.dt=0.1").stderr
    words = " ".join(cli("check", "--help").stdout.split())
    assert "Find every mistake" not in words
    assert "once they are put right, those of how values and data fit together" in words


@pytest.mark.parametrize(
    "words",
    ["time.tolerance 1e-4", "time.tolerance = 1e-4", "time.tolerance= 1e-4", "time.tolerance =1e-4"],
)
def test_a_setting_in_several_words_is_shown_in_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str
) -> None:
    done = running.call(capsys, "check", tmp_path / "s.toml", "--set", *words.split())
    assert done.returncode == 2
    assert "write --set time.tolerance=1e-4, in one piece" in done.stderr


def test_no_help_about_a_setting_that_is_in_one_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    done = running.call(capsys, "check", tmp_path / "s.toml", "--set", "time.tolerance=1e-4", "again")
    assert done.returncode == 2
    assert "in one piece" not in done.stderr


@pytest.mark.parametrize(
    ("words", "help"),
    [
        (("--tolerance", "1e-4"), "help: write --set time.tolerance=1e-4\n"),
        (("--tolerance=1e-4",), "help: write --set time.tolerance=1e-4\n"),
        (
            ("--resume",),
            "help: the same command, without an option, continues an interrupted run; --fresh would discard it\n",
        ),
        (("--dry-run",), "help: `simsuite check SCENARIO` says what a run would do, and runs nothing\n"),
    ],
)
def test_options_that_one_would_expect_are_answered(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], help: str
) -> None:
    done = running.call(capsys, "run", tmp_path / "s.toml", *words)
    assert done.returncode == 2
    assert done.stderr.endswith(help)
