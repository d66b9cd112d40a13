"""Data files and scenarios of others, changed at random: each is read or refused in 5 s of a core and a gigabyte."""

from __future__ import annotations

import errno
import functools
import random
import re
import resource
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse
import tomli_w
from PIL import Image

from .campaigns import Case
from .forks import ended, forked
from .runs import Run

SECONDS, MEMORY, BATCH = 5, 1 << 30, 25
HEAT = """solver = "heat"
grid = {nx = 6, ny = 5, lx = 1.0, ly = 1.0}
material = {diffusivity = 1.0}
time = {end = 0.1, dt = 0.001, stepper = "explicit"}
"""


def strangers(runs: list[Run], count: int, chance: random.Random, work: Path) -> Iterator[Case]:
    """Files of all kinds that scenarios name, and scenarios themselves, with a few changes each."""
    names = _originals(work / "strangers")
    for first in range(0, count, BATCH):
        seeds = [(chance.choice(names), chance.randrange(1 << 30)) for _ in range(min(BATCH, count - first))]
        yield from _batch(seeds, work)


def _batch(seeds: list[tuple[str, int]], work: Path) -> Iterator[Case]:
    """So many files, read by one child; one that ends it is named, and another child reads the rest."""
    while seeds:
        with forked(functools.partial(_read_all, seeds, work / "strangers"), work / "output") as child:
            done = ended(child, work / "output")
        said = re.findall(r"^case (.*)$", done.output, re.MULTILINE)
        for (name, seed), outcome in zip(seeds, said):
            good = outcome in ("read", "refused")
            yield Case(f"{name}: {outcome.partition(':')[0]}", not good, f"{name}, seed {seed}", outcome)
        if len(said) < len(seeds):
            name, seed = seeds[len(said)]
            how = "hangs" if done.code in (None, -signal.SIGPROF) else f"ends with {done.code}"
            yield Case(f"{name}: {how}", True, f"{name}, seed {seed}", done.output)
        seeds = seeds[len(said) + 1 :]


def _read_all(seeds: list[tuple[str, int]], originals: Path) -> int:
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    for name, seed in seeds:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        outcome = _read(originals, name, random.Random(seed))
        signal.setitimer(signal.ITIMER_PROF, 0)
        print("case", outcome, flush=True)
    return 0


def _read(originals: Path, name: str, chance: random.Random) -> str:
    from simsuite.assembly import device_of, make_problem
    from simsuite.errors import DeviceError, SimsuiteError
    from simsuite.scenario import load

    place = originals.parent / "changed"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(originals, place)
    changed = place / name
    changed.write_bytes(mutated((originals / name).read_bytes(), chance))
    path = changed if changed.suffix == ".toml" else place / f"{changed.name}.toml"
    try:
        scenario = load(path)
        make_problem(scenario, device_of(scenario))
    except (DeviceError, MemoryError) as error:
        return f"too much memory: {error}".replace("\n", " ")
    except SimsuiteError as error:
        return "too much memory" if "nable to allocate" in str(error) else "refused"
    except OSError as error:
        return "refused" if error.errno == errno.ENAMETOOLONG else f"OSError: {error}"  # which the command line tells
    except BaseException as error:
        return f"{type(error).__name__}: {error}".replace("\n", " ")
    return "read"


def mutated(data: bytes, chance: random.Random) -> bytes:
    """The data with one to four changes: bits, bytes, numbers, parts missing, doubled or moved."""
    changed = bytearray(data)
    for _ in range(chance.randrange(1, 5)):
        at, other = (chance.randrange(len(changed) + 1) for _ in range(2))
        n = chance.choice((1, 2, 4, 8, 64))
        how = chance.randrange(8)
        if how == 0 and at < len(changed):
            changed[at] ^= 1 << chance.randrange(8)
        elif how == 1:
            changed[at : at + n] = chance.randbytes(n)
        elif how == 2:
            changed[at : at + n] = chance.choice((b"\0", b"\xff", b"\x7f", b"[", b'"', b"9")) * n
        elif how == 3:
            del changed[at:]
        elif how == 4:
            del changed[at : at + n]
        elif how == 5:
            changed[at:at] = changed[other : other + n] * chance.choice((1, 2, 1000))
        else:
            numbers = list(re.finditer(rb"\d+", changed))
            if numbers:
                found = chance.choice(numbers)
                value = chance.choice((b"0", b"-1", b"2147483648", b"9999999999999999999", b"1e999", b"nan", b"70000"))
                changed[found.start() : found.end()] = value
    return bytes(changed)


def _originals(place: Path) -> list[str]:
    """Files that are as they should be, each with a scenario that names it. Returns their names and those of some
    scenarios."""
    place.mkdir()
    matrix, field = np.arange(16.0).reshape(4, 4) / 20, np.linspace(0, 1, 30).reshape(5, 6)
    np.save(place / "a.npy", matrix)
    np.savetxt(place / "a.csv", matrix, delimiter=",")
    scipy.io.mmwrite(place / "a.mtx", scipy.sparse.coo_matrix(matrix))
    scipy.io.mmwrite(place / "b.mtx", matrix)
    scipy.sparse.save_npz(place / "a.npz", scipy.sparse.csr_matrix(matrix))
    np.save(place / "field.npy", field)
    for name in ("a.npy", "a.csv", "a.mtx", "b.mtx", "a.npz"):
        (place / f"{name}.toml").write_text(
            f'solver = "linear"\nsystem = {{kind = "discrete", matrix = {{file = "{name}"}}}}\n'
            "initial = {state = [1.0, 0.0, 0.0, 0.0]}\ntime = {steps = 3}\n"
        )
    (place / "field.npy.toml").write_text(HEAT + 'initial = {temperature = {file = "field.npy"}}\n')
    for suffix in ("png", "bmp", "gif", "tif", "jpg"):
        picture = f"mask.{suffix}"
        Image.fromarray((field > 0.5).astype(np.uint8) * 255).save(place / picture)
        region = f'region = [{{shape = "mask", file = "{picture}", temperature = 1.0}}]'
        (place / f"{picture}.toml").write_text(HEAT + region)
    from test_resume import GBM, WARM

    for name, scenario in (("heat", WARM), ("gbm", GBM)):
        (place / f"{name}.toml").write_text(tomli_w.dumps(scenario))
    return sorted(
        path.name
        for path in place.iterdir()
        if path.suffix != ".toml" or path.name in ("heat.toml", "gbm.toml", "a.npy.toml")
    )
