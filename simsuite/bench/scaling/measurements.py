"""`simsuite bench scaling`: the same problems in one process and in several, one a GPU, or one a core of a CPU.

Weak scaling: as many times more work as there are processes; strong: the same work. Efficiency is the rate of n
processes by n times that of one. All states of strong scaling are compared with those of one process, to the bit.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.backends.threads import cores
from simsuite.bench import effort
from simsuite.bench.findings import Found, Row, Wish, gathered, require_right
from simsuite.bench.machine import measure_machine
from simsuite.bench.scaling.model import Link, Share
from simsuite.bench.scaling.problems import SCENARIOS, SHARED, SIZES
from simsuite.capabilities import Linking
from simsuite.core import Backend
from simsuite.errors import SimsuiteError
from simsuite.parallel.installed import Installed, installed_mpi

SECTIONS = ("measured", "links", "predicted")
PREDICTED = (64, 1024)  # processes
_LIMIT = 600  # seconds for all measurements with one number of processes
_OF_ROW = ("problem", "scaling", "precision", "size", "processes")


def measurements(backend: Backend, wish: Wish) -> Iterator[tuple[str, Row]]:
    """(section, row) for all measurements as they are done; the first row is the machine's. Raises UsageError where
    there is no MPI, though there is more than one device, and SimsuiteError with the last line of a process that
    fails."""
    machine = measure_machine(backend, ("float32",), effort.QUICK.patience)
    yield "machine", {"copy_bytes_per_second": machine.copy, "fma_per_second": dict(machine.fma)}
    devices = _devices(backend)
    mpi = installed_mpi() if devices > 1 else None
    cases = list(_cases(backend, wish))
    alone: dict[tuple[Any, ...], Row] = {}
    rows, exchanged = [], list[Row]()
    for processes in _numbers(devices):
        asked = json.dumps({"seconds": 0.2 if wish.quick else 2.0, "cases": cases})
        for row in _done(processes, mpi, asked):
            if "exchanged" in row:
                exchanged.append(row | {"processes": processes})
                continue
            case = tuple(row[key] for key in _OF_ROW[:-1])
            one = alone.setdefault(case, row)
            row["efficiency"] = row["rate"] / processes / one["rate"]
            row["right"] = row["scaling"] == "weak" or row["digest"] == one["digest"]
            row |= {"largest_error": 0.0 if row["right"] else 1.0, "error_limit": 0.0}
            rows.append(row)
            yield "measured", row
    if exchanged:
        yield from _predictions(rows, exchanged, alone)


def _predictions(
    rows: list[Row], exchanged: list[Row], alone: Mapping[tuple[Any, ...], Row]
) -> Iterator[tuple[str, Row]]:
    most = max(row["processes"] for row in exchanged)
    found = [row for row in exchanged if row["processes"] == most]
    link = Link.fitted([row["exchanged"] for row in found], [row["seconds"] for row in found])
    exchanges = [{"bytes": row["exchanged"], "seconds": row["seconds"]} for row in found]
    yield (
        "links",
        {"processes": most, "latency": link.latency, "bandwidth": link.bandwidth, "exchanges": exchanges},
    )
    for case, one in alone.items():
        shared = next(row for row in rows if row["processes"] == most and tuple(row[k] for k in _OF_ROW[:-1]) == case)
        row_bytes = shared["bytes"] * shared["exchanges"]  # there are as many steps between exchanges as rows in one
        share = Share(one["seconds"], one["steps"], SHARED[one["problem"]](one["size"]), row_bytes, one["look_bytes"])
        measured = [row["processes"] for row in rows if tuple(row[k] for k in _OF_ROW[:-1]) == case][1:]
        for processes in (*measured, *PREDICTED):
            yield (
                "predicted",
                {
                    **{key: one[key] for key in _OF_ROW},
                    "processes": processes,
                    "efficiency": share.efficiency(processes, link, one["scaling"] == "weak"),
                    "measured": next(
                        (row["efficiency"] for row in rows
                         if row["processes"] == processes and tuple(row[k] for k in _OF_ROW[:-1]) == case),
                        None,
                    ),
                },
            )  # fmt: skip


def _devices(backend: Backend) -> int:
    if not isinstance(backend, Linking):
        return cores()
    from simsuite.backends.cuda import count_gpus

    return count_gpus()


def _numbers(devices: int) -> list[int]:
    """1, 2, 4 .. and all devices."""
    doubled = [1 << k for k in range(devices.bit_length()) if 1 << k < devices]
    return [*doubled, devices]


def _cases(backend: Backend, wish: Wish) -> Iterator[dict[str, Any]]:
    kind = backend.dialect
    for problem in SCENARIOS:
        if not wish.wants(problem):
            continue
        for size in wish.sizes or (SIZES[problem][kind][int(wish.quick)],):
            for precision in wish.precisions:
                for scaling in ("weak", "strong"):
                    yield {"problem": problem, "scaling": scaling, "size": size, "precision": precision, "device": kind}


def _done(processes: int, mpi: Installed | None, asked: str) -> Iterator[Row]:
    """What so many processes print."""
    command = [sys.executable, "-m", "simsuite.bench.scaling.worker", asked]
    environment = None
    if processes > 1:
        assert mpi is not None
        command, environment = [*mpi.command(processes), *command], mpi.environment
    try:
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=_LIMIT, check=False,
            stdin=subprocess.DEVNULL,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise SimsuiteError(f"{processes} processes were not done after {_LIMIT} s; --quick measures less") from None
    if done.returncode != 0:
        why = (done.stderr.strip().splitlines() or ["no message"])[-1]
        raise SimsuiteError(f"{processes} processes end with exit code {done.returncode}: {why}")
    for line in done.stdout.splitlines():
        yield json.loads(line)


def document(backend: Backend, wish: Wish, found: Found) -> dict[str, Any]:
    """The document of all measurements, for --json and bench.json."""
    return gathered("scaling", {wish.only or "all": SECTIONS}, backend, wish, found)


def require(found: Found) -> None:
    """Raise VerificationFailure (exit code 5) if several processes do not come to the bits of one."""
    require_right(found, described)


def described(row: Row) -> str:
    """What a row is about."""
    return ", ".join(f"{row[key]}" for key in _OF_ROW if key in row) or "links"
