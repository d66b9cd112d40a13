"""`simsuite doctor`: what works on this machine, in about ten lines, and what to do about what does not."""

from __future__ import annotations

import subprocess
import sys

import typer

from simsuite.cli.console import print_json, show
from simsuite.cli.run import Json
from simsuite.version import VERSION
from simsuite.words import counted

OK, NOT, BAD = "ok", "--", "!!"
BACKENDS = ("cpu", "cudasim", "cuda")
CUPY = ("cupy-cuda13x", "cupy-cuda12x", "cupy")  # CuPy's distributions, of which one should be installed
_STATES = {OK: "ok", NOT: "missing", BAD: "broken"}
_PACKAGES = ("numpy", "scipy", "numba", "h5py", "xarray", "matplotlib")
_EXPORT_PACKAGES = ("h5netcdf", "pandas", "pyarrow", "zarr", "vtk")  # of the extras `export` and `vtk`
_GPU_PACKAGES = ("numba-cuda", "cuda-bindings", "cuda-core", "pycuda")
_ADDING_ONE = 'extern "C" __global__ void add_one(double *x) { x[threadIdx.x] += 1.0; }'


def doctor(as_json: Json = False) -> None:
    """Say what works here and what to do about what does not."""
    import platform

    cupy = [name for name in CUPY if _version(name)] or ["cupy"]
    gpu = (*cupy, *_GPU_PACKAGES)
    system, packages = platform.platform(), {name: _version(name) for name in (*_PACKAGES, *_EXPORT_PACKAGES, *gpu)}
    if not as_json:
        show(f"simsuite {VERSION}, Python {platform.python_version()} on {system}")
        for title, names in (("packages", _PACKAGES), ("export", _EXPORT_PACKAGES), ("GPU", gpu)):
            show(f"{title:<10} " + ", ".join(f"{name} {packages[name] or '-'}" for name in names))
        show("driver     " + _driver())
        show("memory     " + _memory())
    devices = {}
    for device in BACKENDS:
        state, text = _try(device)
        devices[device] = {"state": _STATES[state], "message": text}
        if not as_json:
            show(f"{device:<10} [{state}] {text}")
    loaders = _loaders() if devices["cuda"]["state"] == _STATES[OK] else {}
    if loaders and not as_json:
        show("loaders    " + "; ".join(f"{name} [{state}]{said}" for name, (state, said) in loaders.items()))
    together = {"mpi": _mpi(), "nccl": _run("nccl()")}
    if not as_json:
        for name, (state, text) in together.items():
            show(f"{name:<10} [{state}] {text}")
    if as_json:
        about = {"simsuite": VERSION, "python": platform.python_version(), "system": system, "packages": packages}
        found = {name: {"state": _STATES[state], "message": said.strip()} for name, (state, said) in loaders.items()}
        several = {name: {"state": _STATES[state], "message": said} for name, (state, said) in together.items()}
        machine = {"driver": _driver(), "memory": _memory()}
        print_json({**about, **machine, "devices": devices, "loaders": found, **several})
    if any(found["state"] == _STATES[BAD] for found in devices.values()):
        raise typer.Exit(4)


def _version(package: str) -> str | None:
    import importlib.metadata as metadata

    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _driver() -> str:
    query = ["nvidia-smi", "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        found = subprocess.run(query, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return "no NVIDIA driver answers (nvidia-smi); GPUs need one, the CPU does not"
    return "; ".join(found.splitlines())


def _memory() -> str:
    import os

    page = os.sysconf("SC_PAGE_SIZE")
    text = f"{os.sysconf('SC_PHYS_PAGES') * page / 1e9:.1f} GB"
    if "SC_AVPHYS_PAGES" in os.sysconf_names:  # macOS does not have this name
        text = f"{os.sysconf('SC_AVPHYS_PAGES') * page / 1e9:.1f} GB of {text} free"
    return f"{text}, {counted(os.cpu_count() or 1, 'CPU core')}"


def _loaders() -> dict[str, tuple[str, str]]:
    """For each value of `run.loader`, whether it works on the first GPU, and what to do if it does not."""
    from simsuite.backends.loaders import LOADERS

    found = {}
    for name in LOADERS:
        state, said = _run(f"load({name!r})")
        found[name] = state, "" if state == OK else f" {said}"
    return found


def load(loader: str) -> None:
    """Launch a small kernel by a loader; exits with 4 where it cannot be used."""
    import tempfile
    from pathlib import Path

    import numpy as np

    from simsuite.backends import open_backend
    from simsuite.errors import DeviceError

    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory) / "add_one.cu"
        source.write_text(_ADDING_ONE, encoding="utf-8")
        try:
            backend = open_backend("cuda", loader)
            x = backend.zeros(32, np.float64)
            backend.program(source, {}).launcher("add_one", 1, 32)(x)
            right = bool(np.all(backend.to_host(x) == 1.0))
        except DeviceError as e:
            print(" ".join(str(e).split()))
            sys.exit(4)
    print("ok" if right else "computes wrong numbers")
    sys.exit(0 if right else 1)


def _mpi() -> tuple[str, str]:
    """Whether several processes can share a run here, and with what."""
    from simsuite.errors import SimsuiteError
    from simsuite.parallel.installed import installed_mpi, trial

    try:
        found = installed_mpi()
        why = trial(found)
    except SimsuiteError as error:
        return NOT, " ".join(str(error).split())
    arrays = {True: "CUDA-aware", False: "not CUDA-aware", None: "CUDA-aware or not"}[found.cuda]
    about = f"{found.name}, {arrays} (GPUs exchange by NCCL)"
    return (OK, f"{about}, {found.launcher}: two processes met") if why is None else (BAD, f"{about}: {why}")


def nccl() -> None:
    """Print which NCCL there is, and how GPUs are linked; exits with 4 where there is none, or no GPU."""
    from simsuite.backends.cuda import count_gpus
    from simsuite.backends.nccl import installed_nccl, links
    from simsuite.errors import DeviceError

    try:
        found = counted(count_gpus(), "GPU")
    except DeviceError as error:
        print(f"GPUs exchange nothing: {error}")
        sys.exit(4)
    try:
        found += f", {installed_nccl()}"
    except DeviceError as error:
        print(f"{found}; several would exchange over the host, which is slow: {error}")
        sys.exit(4)
    try:
        asked = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True, timeout=20, check=True)
        kinds = links(asked.stdout)
    except (OSError, subprocess.SubprocessError):
        kinds = []
    print(found + (f", linked by {', '.join(kinds)}" if kinds else ""))


def _try(device: str) -> tuple[str, str]:
    """Run a small heat problem in a process of its own: Numba chooses between GPU and simulator once for each
    process."""
    return _run(f"trial({device!r})")


def _run(call: str) -> tuple[str, str]:
    """Call a function of this module in a process of its own. Returns whether it works, and its last line."""
    code = f"from simsuite.cli import doctor; doctor.{call}"
    try:
        found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    except subprocess.TimeoutExpired:
        return BAD, "no answer within two minutes"
    text = (found.stdout or found.stderr).strip().splitlines() or ["no output"]
    if found.returncode == 0:
        return OK, text[-1]
    return (NOT if found.returncode == 4 else BAD), text[-1]


def trial(device: str) -> None:
    """One step of a small plate, compared with what it has to be; exits with 4 where there is no such device."""
    import time
    from pathlib import Path

    import numpy as np

    from simsuite.backends import open_backend
    from simsuite.errors import DeviceError
    from simsuite.scenario.heat import HeatScenario
    from simsuite.solvers.heat.problem import HeatProblem

    try:
        backend = open_backend(device)
    except DeviceError as e:
        print(e)
        sys.exit(4)
    plate = {
        "solver": "heat",
        "grid": {"nx": 8, "ny": 8},
        "material": {"diffusivity": 1.0},
        "initial": {"temperature": "x"},
        "time": {"end": 1e-3, "dt": 1e-3},
        "output": {"frames": 2},
    }
    problem = HeatProblem.from_scenario(HeatScenario.model_validate(plate), Path())
    began = time.monotonic()
    stepper = problem.stepper(backend, problem.initial())
    stepper.advance(1)
    with stepper.snapshot() as snapshot:
        got = np.array(snapshot.arrays["temperature"])
    want = problem.T0.copy()
    want[:, 0] += 1e-3 * 64 / 8
    want[:, -1] -= 1e-3 * 64 / 8
    if not np.allclose(got, want, rtol=0, atol=1e-14):
        print("computes wrong numbers")
        sys.exit(1)
    print(f"{backend.name}: {backend.device_name}, a small kernel ran and is right ({time.monotonic() - began:.1f} s)")
