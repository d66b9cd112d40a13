"""Autocallable notes against a simulation that keeps the books of each path, and against a lattice for one asset."""

from __future__ import annotations

import math

import numpy as np
import pytest
from gbm_problems import problem, run
from scipy import signal, special

from simsuite.backends.cpu import CpuBackend
from simsuite.scenario.gbm import Autocallable

pytestmark = pytest.mark.usefixtures("one_thread")

RATE = [[0.0, 0.01], [0.7, 0.05]]
SPOTS, VOLATILITIES, YIELDS, CORRELATION = (100.0, 40.0), (0.25, 0.35), (0.02, 0.0), 0.4
END, STEPS = 2.0, 24


def interest(begin: float, end: float) -> float:
    return sum(
        (min(end, b) - max(begin, a)) * r for a, b, r in ((0, 0.7, 0.01), (0.7, 9, 0.05)) if end > a and begin < b
    )


def note(**keys) -> dict:
    return {"style": "autocallable", "observations": 8, **keys}


NOTES = {
    "plain": note(coupon=0.03),
    "athena": note(coupon=0.03, coupon_level=1.0, memory=True, protection=0.7),
    "phoenix": note(coupon=0.02, coupon_level=0.75, memory=True, first_call=3, protection=0.6),
    "forgets": note(coupon=0.02, coupon_level=0.8, call_level=[1.1, 1.05, 1, 1, 1, 0.95, 0.95, 0.9], protection=0.65),
    "dates": note(coupon=0.02, coupon_level=0.8, memory=True, protection=0.75, watched="dates", notional=1000.0),
    "steps": note(coupon=0.01, protection=0.75, watched="steps"),
    "one": note(observations=1, coupon=0.1, coupon_level=1.0, protection=0.8),
    "listed": note(observations=[0.5, 1.0, 1.25], maturity=1.25, coupon=0.03, coupon_level=0.9, memory=True),
    "never": note(call_level=50.0, coupon=0.02, coupon_level=0.9, memory=True, protection=0.01),
}


def priced(notes, count, seed, backend, assets=2, **changes) -> dict[str, tuple[float, float]]:
    """Price and standard error of each note, by simsuite."""
    asset = [{"spot": s, "volatility": v, "dividend_yield": q} for s, v, q in zip(SPOTS, VOLATILITIES, YIELDS)]
    market = {"rate": RATE} | ({"correlation": [[1.0, CORRELATION], [CORRELATION, 1.0]]} if assets == 2 else {})
    stated = problem(
        market=market,
        asset=asset[:assets],
        time={"end": END, "steps": STEPS},
        paths={"count": count},
        option=[{"name": name, **keys} for name, keys in notes.items()],
        run={"seed": seed, **changes},
    )
    results, _ = run(stated, backend)
    return {name: (o["price"], o["standard_error"]) for name, o in results["options"].items()}


def dates_of(keys) -> list[int]:
    end = keys.get("maturity", END)
    given = keys["observations"]
    times = given if isinstance(given, list) else [end * (i + 1) / given for i in range(given)]
    return [round(t / END * STEPS) for t in times]


def simulated(keys, performances: np.ndarray) -> np.ndarray:
    """[path]: what a note pays, discounted payment by payment. performances: [step, path], the worst of the assets."""
    o = Autocallable.model_validate(keys)
    paths = performances.shape[1]
    alive, unpaid, value = np.ones(paths, bool), np.zeros(paths), np.zeros(paths)
    steps = dates_of(keys)
    for i, step in enumerate(steps):
        worst, discount = performances[step], math.exp(-interest(0, step / STEPS * END))
        unpaid[alive] += 1
        due = alive & (worst >= o.coupon_level)
        value[due] += o.notional * o.coupon * discount * (unpaid[due] if o.memory else 1.0)
        unpaid[due] = 0
        if i + 1 == len(steps):
            lowest = {
                "end": worst,
                "dates": performances[steps].min(0),
                "steps": performances[1 : step + 1].min(0),
            }[o.watched]
            back = np.where(lowest >= o.protection, 1.0, np.minimum(worst, 1.0))
            value[alive] += o.notional * discount * back[alive]
        elif i + 1 >= o.first_call:
            called = alive & (worst >= o.call_levels[i])
            value[called] += o.notional * discount
            alive &= ~called
    return value


def worst_paths(paths: int, seed: int, assets: int) -> np.ndarray:
    """[step, path]: the worst performance."""
    random = np.random.default_rng(seed)
    dt, logarithms, found = END / STEPS, np.zeros((2, paths)), [np.ones(paths)]
    for k in range(STEPS):
        z = random.standard_normal((2, paths))
        z[1] = CORRELATION * z[0] + math.sqrt(1 - CORRELATION**2) * z[1]
        for a in range(2):
            growth = interest(k * dt, (k + 1) * dt) - YIELDS[a] * dt
            logarithms[a] += growth - VOLATILITIES[a] ** 2 / 2 * dt + VOLATILITIES[a] * math.sqrt(dt) * z[a]
        found.append(np.exp(logarithms[:assets].min(0)))
    return np.array(found)


def test_prices_are_those_of_a_simulation_that_keeps_books():
    """Of 9 notes on the worst of two assets."""
    found = priced(NOTES, 200_000, 3, CpuBackend())
    performances = worst_paths(200_000, 11, 2)
    for name, keys in NOTES.items():
        values = simulated(keys, performances)
        price, error = found[name]
        z = (price - values.mean()) / math.hypot(error, values.std() / math.sqrt(len(values)))
        assert abs(z) < 4, (name, price, values.mean())
        assert error == pytest.approx(values.std() / math.sqrt(200_000), rel=0.05), name


def random_note(random) -> dict:
    count = int(random.integers(2, 9))
    dates = [int(STEPS * (i + 1) / count + 0.5) for i in range(count)]
    levels = sorted(random.uniform(0.8, 1.2, count).tolist(), reverse=True)
    return note(
        observations=[d / STEPS * END for d in dates],
        coupon=float(random.uniform(0, 0.05)),
        coupon_level=float(random.choice([0.0, 0.7, 0.95])),
        memory=bool(random.integers(2)),
        first_call=int(random.integers(1, count + 1)),
        call_level=levels if random.integers(2) else float(random.uniform(0.9, 1.1)),
        protection=float(random.uniform(0.5, 1.0)),
        watched=str(random.choice(["end", "dates"])),
    )


def lattice(keys, cells: int = 6000) -> float:
    """The price of a note on the first asset alone, backwards from date to date on a grid of log S.

    The state is a cell, the number of dates without a coupon since the last, and whether protection is lost. A cell
    that a level divides counts with both of its parts, so that the error is of second order in the width of cells.
    """
    o = Autocallable.model_validate(keys)
    steps = dates_of(keys)
    times = [0.0, *(step / STEPS * END for step in steps)]
    wide = 9 * VOLATILITIES[0] * math.sqrt(END)
    width = 2 * wide / cells
    centres = -wide + width * (np.arange(cells) + 0.5)

    def above(level: float) -> np.ndarray:
        """[cell]: the part of it above a level."""
        return np.clip((centres + width / 2 - math.log(level)) / width, 0, 1) if level > 0 else np.ones(cells)

    last = len(steps)
    value = np.zeros((2, last + 1, cells))  # lost, dates without a coupon
    for i in range(last, 0, -1):
        after, value = value, np.zeros_like(value)
        paid = above(o.coupon_level)
        ended = (above(o.call_levels[i - 1]) if i >= o.first_call else np.zeros(cells)) if i < last else np.ones(cells)
        safe = above(o.protection)
        for lost in range(2):
            for unpaid in range(i):
                coupon = o.coupon * ((unpaid + 1) if o.memory else 1)
                kept = safe if o.watched == "dates" else np.ones(cells)
                if i == last:
                    whole = safe * (0.0 if lost and o.watched == "dates" else 1.0)
                    goes_on = whole + (1 - whole) * np.minimum(np.exp(centres), 1.0)
                    now = paid * coupon + goes_on
                else:
                    stays = [kept * after[lost, m] + (1 - kept) * after[1, m] for m in (0, unpaid + 1)]
                    goes_on = ended + (1 - ended) * (paid * stays[0] + (1 - paid) * stays[1])
                    now = paid * coupon + goes_on
                value[lost, unpaid] = now
        value = carried(value, times[i] - times[i - 1], interest(times[i - 1], times[i]), width)
    middle = value[0, 0, cells // 2 - 1 : cells // 2 + 1].mean()  # log S = 0 lies between two cells
    return float(o.notional * middle)


def carried(value: np.ndarray, t: float, interest_earned: float, width: float) -> np.ndarray:
    """The discounted expectation of values over the time between two dates."""
    drift = interest_earned - YIELDS[0] * t - VOLATILITIES[0] ** 2 / 2 * t
    spread = VOLATILITIES[0] * math.sqrt(t)
    reach = math.ceil((8 * spread + abs(drift)) / width)
    edges = (np.arange(-reach, reach + 2) - 0.5) * width
    weights = np.diff(special.ndtr((edges - drift) / spread))
    padded = np.pad(value, ((0, 0), (0, 0), (reach, reach)), mode="edge")
    return math.exp(-interest_earned) * signal.fftconvolve(padded, weights[None, None, ::-1], mode="valid", axes=2)


def test_the_lattice_converges():
    coarse, fine, finest = (lattice(NOTES["phoenix"], cells) for cells in (1500, 3000, 6000))
    assert abs(finest - fine) < abs(fine - coarse) < 1e-3
    assert abs(finest - fine) < 3e-4


def test_random_notes_on_one_asset_are_worth_what_a_lattice_says():
    random = np.random.default_rng(5)
    notes = {f"n{i}": random_note(random) for i in range(12)} | {n: NOTES[n] for n in ("athena", "phoenix", "dates")}
    found = priced(notes, 200_000, 8, CpuBackend(), assets=1)
    scores = [(found[name][0] - lattice(keys)) / found[name][1] for name, keys in notes.items()]
    assert max(map(abs, scores)) < 4, dict(zip(notes, scores))


@pytest.mark.gpu
@pytest.mark.parametrize("kernel", ["nvrtc", "numba"])
def test_a_gpu_has_the_prices_of_the_lattice(kernel, cuda):
    notes = {name: NOTES[name] for name in ("athena", "phoenix", "forgets", "dates")}
    found = priced(notes, 1_000_000, 8, cuda, assets=1, kernel=kernel)
    for name, keys in notes.items():
        assert abs(found[name][0] - lattice(keys)) < 4.5 * found[name][1], name


def test_deltas_are_slopes_of_prices():
    """By the score of the first step, on many paths, against simulations from two spots on common random numbers; the
    levels are shares of the price at the start of the note and do not move with the spot."""
    keys = NOTES["athena"]
    performances = worst_paths(400_000, 7, 1)
    moved = [simulated(keys, performances * scale).mean() for scale in (1.02, 0.98)]
    spread = (simulated(keys, performances * 1.02) - simulated(keys, performances * 0.98)).std() / math.sqrt(400_000)
    slope, error = (moved[0] - moved[1]) / (0.04 * SPOTS[0]), spread / (0.04 * SPOTS[0])
    stated = problem(
        market={"rate": RATE},
        asset=[{"spot": SPOTS[0], "volatility": VOLATILITIES[0], "dividend_yield": YIELDS[0]}],
        time={"end": END, "steps": STEPS},
        paths={"count": 400_000},
        option=[keys | {"greeks": True}],
    )
    results, _ = run(stated, CpuBackend())
    option = results["options"]["option1"]
    assert option["greeks_method"]["delta"] != "none"
    assert abs(option["delta"][0] - slope) < 4 * math.hypot(option["delta_standard_error"][0], error)
    for name in ("rho", "theta"):
        assert option[name] is None
        assert "rate" in option["reasons"][name]


@pytest.mark.parametrize("spot", [49.0, 50.0, 97.3])
def test_a_price_at_its_level_counts(spot):
    """Without noise and interest prices stay where they are, at all levels exactly."""
    stated = problem(
        market={"rate": 0.0},
        asset=[{"spot": spot, "volatility": 0.0}],
        time={"end": 1.0, "steps": 4},
        option=[note(observations=4, coupon=0.05, coupon_level=1.0, protection=1.0, watched="steps")],
    )
    results, _ = run(stated, CpuBackend())
    assert results["options"]["option1"]["price"] == pytest.approx(105.0, rel=1e-12)


def test_more_dates_than_there_is_room_for_are_told_at_once():
    with pytest.raises(ValueError, match="looks at more than 33 dates"):
        problem(time={"end": 1.0, "steps": 1000}, option=[note(observations=252, memory=True)])
