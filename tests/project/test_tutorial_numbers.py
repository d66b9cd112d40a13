"""What tutorials show is right, by means that simsuite has no part in: closed forms, SciPy, QuantLib, python-control.

`test_docs_examples` holds the pages to what commands print; here the numbers on the pages themselves are judged.
"""

from __future__ import annotations

import math
import re

import control
import numpy as np
import pytest
import QuantLib as ql
from conftest import ROOT
from scipy import sparse
from scipy.linalg import solve_continuous_are, solve_continuous_lyapunov
from scipy.sparse.linalg import spsolve

PLACE = ROOT / "docs" / "tutorials"
THERMAL, OPTIONS, CONTROL = ((PLACE / f"{name}.md").read_text("utf-8") for name in ("thermal", "options", "control"))
NUMBER = r"([-+]?\d[\d.]*(?:e[-+]?\d+)?)"


def shown(page: str, *patterns: str) -> list[float]:
    """The numbers on a page in the first place where these patterns, of which each has one, come in this order."""
    found = re.search(".*?".join(patterns), page, re.DOTALL)
    assert found, patterns
    return [float(text) for text in found.groups()]


def steady_board(nx: int, ny: int, copper: float = 60.0, h: float = 12.0) -> np.ndarray:
    """The steady temperatures of the board, °C (ny, nx), by finite volumes with harmonic means, written down again."""
    dx, dy, d = 0.08 / nx, 0.05 / ny, 1.6e-3
    x, y = np.meshgrid((np.arange(nx) + 0.5) * dx, (np.arange(ny) + 0.5) * dy)
    k = np.where((x > 0.010) & (x < 0.046) & (y > 0.004) & (y < 0.046), copper, 18.0)
    heat = 4.5 / (0.014 * 0.014) * ((x > 0.016) & (x < 0.030) & (y > 0.018) & (y < 0.032)) * dx * dy
    heat += 1.5 / (0.008 * 0.010) * ((x > 0.056) & (x < 0.064) & (y > 0.020) & (y < 0.030)) * dx * dy
    number = np.arange(nx * ny).reshape(ny, nx)
    rows, columns, values = [], [], []
    for a, b, size in (
        ((slice(None), slice(1, None)), (slice(None), slice(None, -1)), d * dy / dx),
        ((slice(1, None), slice(None)), (slice(None, -1), slice(None)), d * dx / dy),
    ):
        conductance = (size * 2 * k[a] * k[b] / (k[a] + k[b])).ravel()
        i, j = number[a].ravel(), number[b].ravel()
        rows += [i, j, i, j]
        columns += [j, i, i, j]
        values += [-conductance, -conductance, conductance, conductance]
    matrix = sparse.coo_matrix((np.concatenate(values), (np.concatenate(rows), np.concatenate(columns)))).tocsr()
    matrix += 2 * h * dx * dy * sparse.identity(nx * ny)
    return 25 + spsolve(matrix.tocsc(), heat.ravel()).reshape(ny, nx)


def test_the_board_in_its_steady_state() -> None:
    """The columns of the table: min, max, mean, and the probe, between four cells."""
    for nx, ny in ((80, 50), (160, 100), (320, 200)):
        values = shown(THERMAL, rf"\n +{nx} +{ny}" + 4 * rf" +{NUMBER}")
        exact = steady_board(nx, ny)
        i, j = round(0.023 / 0.08 * nx), ny // 2
        probe = exact[j - 1 : j + 1, i - 1 : i + 1].mean()
        assert values == pytest.approx([exact.min(), exact.max(), exact.mean(), probe], abs=1e-6)


def test_the_mean_of_the_board_follows_its_closed_form() -> None:
    mean = 25 + 6 / (24 * 0.004) * (1 - math.exp(-600 * 24 / (1.9e6 * 1.6e-3)))
    found, error = *shown(THERMAL, rf"mean +{NUMBER}"), *shown(THERMAL, rf"time error claimed: {NUMBER}")
    assert abs(found - mean) < error
    hotter = {h: 25 + 6 / (2 * h * 0.004) * (1 - math.exp(-600 * 2 * h / (1.9e6 * 1.6e-3))) for h in (8, 12, 24)}
    for copper, h in ((20, 8), (20, 24), (60, 12), (200, 24)):
        assert shown(THERMAL, rf"\n +{copper} +{h} +[\d.]+ +[\d.]+ +{NUMBER}") == [pytest.approx(hotter[h], abs=1e-3)]


def test_the_goal_of_the_board_is_reached_in_the_steady_state_too() -> None:
    """With so much air the board is in its steady state after ten minutes, to some tenths of a kelvin."""
    (h,) = shown(THERMAL, rf"answer +constants.h = {NUMBER}")
    assert steady_board(80, 50, h=h)[24:26, 22:24].mean() == pytest.approx(80, abs=0.3)


def process(spot: float, volatility: float, rate: float, dividend: float = 0.0) -> ql.BlackScholesMertonProcess:
    today, days, calendar = ql.Date(1, 1, 2025), ql.Actual365Fixed(), ql.NullCalendar()
    ql.Settings.instance().evaluationDate = today
    curves = (ql.YieldTermStructureHandle(ql.FlatForward(today, value, days)) for value in (dividend, rate))
    smile = ql.BlackVolTermStructureHandle(ql.BlackConstantVol(today, calendar, volatility, days))
    return ql.BlackScholesMertonProcess(ql.QuoteHandle(ql.SimpleQuote(spot)), *curves, smile)


def test_the_call_and_its_greeks() -> None:
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, 105.0), ql.EuropeanExercise(ql.Date(1, 1, 2026)))
    option.setPricingEngine(ql.AnalyticEuropeanEngine(process(100, 0.2, 0.05)))
    exact = [option.NPV(), option.delta(), option.gamma(), option.vega(), option.rho(), option.theta()]
    names = ["price", r"delta \(A\)", r"gamma \(A\)", r"vega \(A\)", "rho", "theta"]
    for name, value in zip(names, exact):
        found, error = shown(OPTIONS, rf"{name} +{NUMBER} ± {NUMBER}")
        assert abs(found - value) < 4 * error, name
    assert shown(OPTIONS, rf"exact {NUMBER}, simulated") == [pytest.approx(exact[0], abs=1e-4)]
    (strike_80,) = shown(OPTIONS, rf"\n +80 +{NUMBER}")
    assert strike_80 == pytest.approx(24.5888, abs=4 * 0.061)


def test_the_implied_volatility() -> None:
    option = ql.VanillaOption(ql.PlainVanillaPayoff(ql.Option.Call, 105.0), ql.EuropeanExercise(ql.Date(1, 1, 2026)))
    exact = option.impliedVolatility(10.0, process(100, 0.2, 0.05))
    found, error = shown(OPTIONS, rf"answer +asset.0.volatility = {NUMBER}", rf"makes one of {NUMBER} in asset")
    assert abs(found - exact) < 4 * error


def test_the_option_that_is_watched_at_all_times() -> None:
    option = ql.BarrierOption(
        ql.Barrier.DownOut, 85.0, 0.0, ql.PlainVanillaPayoff(ql.Option.Call, 100.0),
        ql.EuropeanExercise(ql.Date(1, 1, 2026)),
    )  # fmt: skip
    option.setPricingEngine(ql.AnalyticBarrierEngine(process(100, 0.2, 0.05)))
    found, error = shown(OPTIONS, rf"at all times\n +price +{NUMBER} ± {NUMBER}")
    assert abs(found - option.NPV()) < 4 * error


def note(coupon: float, correlation: float, paths: int = 400_000) -> tuple[float, float]:
    """The value of the note and its standard error, by NumPy."""
    rng = np.random.default_rng(11)
    z = rng.normal(size=(2, paths, 6))
    z[1] = correlation * z[0] + math.sqrt(1 - correlation**2) * z[1]
    grow = [(0.03 - q - v**2 / 2) * 0.5 + v * math.sqrt(0.5) * z[a] for a, (v, q) in enumerate(((0.2, 0), (0.3, 0.02)))]
    worst = np.exp(np.cumsum(grow, axis=2)).min(axis=0)
    value, alive, missed = np.zeros(paths), np.ones(paths, bool), np.zeros(paths)
    for date in range(6):
        discount = math.exp(-0.03 * (date + 1) / 2)
        paid = alive & (worst[:, date] >= 0.8)
        missed += alive
        value += discount * 1000 * coupon * np.where(paid, missed, 0)
        missed[paid] = 0
        called = alive & (worst[:, date] >= 1) & (1 <= date < 5)
        value += discount * 1000 * called
        alive &= ~called
    value += discount * 1000 * alive * np.where(worst[:, -1] >= 0.7, 1, np.minimum(worst[:, -1], 1))
    return float(value.mean()), float(value.std() / math.sqrt(paths))


def test_the_note() -> None:
    found, error = shown(OPTIONS, rf"    note\n +price +{NUMBER} ± {NUMBER}")
    exact, other = note(0.04, 0.6)
    assert abs(found - exact) < 4 * math.hypot(error, other)
    (coupon,) = shown(OPTIONS, rf"answer +option.0.coupon = {NUMBER}")
    exact, other = note(coupon, 0.6)
    assert abs(1000 - exact) < 4 * math.hypot(1, other)
    found, error = (float(text) for text in re.findall(rf"    note\n +price +{NUMBER} ± {NUMBER}", OPTIONS)[-1])
    exact, other = note(0.04, 0.9)
    assert abs(found - exact) < 4 * math.hypot(error, other)


M, m, l, b, g = 0.5, 0.2, 0.3, 0.1, 9.81
A = np.array([[0, 1, 0, 0], [0, -b / M, -m * g / M, 0], [0, 0, 0, 1], [0, b / (M * l), (M + m) * g / (M * l), 0]])
B = np.array([[0], [1 / M], [0], [-1 / (M * l)]])
K = np.array([[-3.16, -3.51, -23.37, -3.82]])


def test_the_gains() -> None:
    lqr = control.lqr(A, B, np.diag([10, 1, 10, 1]), np.eye(1))[0]
    assert shown(CONTROL, r"\[ *" + " +".join(4 * [NUMBER])) == pytest.approx(lqr[0], abs=0.006)
    assert lqr == pytest.approx(B.T @ solve_continuous_are(A, B, np.diag([10, 1, 10, 1]), np.eye(1)))
    assert pytest.approx(lqr, abs=0.006) == K


def test_the_poles() -> None:
    real = shown(CONTROL, "poles\n +real " + ",".join(4 * [f" *{NUMBER}"]))
    assert sorted(real) == pytest.approx(sorted(np.linalg.eigvals(A).real), abs=1e-6)
    poles = np.linalg.eigvals(A - B @ K)
    (slowest,) = shown(CONTROL, rf"verdict +stable\n +spectral_abscissa +{NUMBER}")
    assert slowest == pytest.approx(poles.real.max(), abs=1e-6)
    damping = shown(CONTROL, rf"damping +{NUMBER}, 1, 1")
    pair = poles[poles.imag > 0]
    assert damping == pytest.approx(-pair.real / abs(pair), abs=1e-6)
    final, peak, push = shown(CONTROL, rf"final_value +{NUMBER}", rf"peak +{NUMBER}", rf"final_value +{NUMBER}")
    _, y = control.step_response(control.ss(A - B @ K, B * K[0, 0], [[1, 0, 0, 0]], 0), np.linspace(0, 8, 801))
    assert [final, push] == pytest.approx([1, 1 / K[0, 0]], abs=1e-6)
    assert peak == pytest.approx(y.max(), abs=1e-4)


def test_the_margins() -> None:
    gain, phase, _, at_phase, at_gain, _ = control.stability_margins(control.ss(A, B, K, 0), returnall=False)
    assert shown(CONTROL, rf"gain_margin +{NUMBER}", rf"phase_margin +{NUMBER}", rf"delay_margin +{NUMBER}") == [
        pytest.approx(gain, rel=1e-5),
        pytest.approx(phase, rel=1e-5),
        pytest.approx(math.radians(phase) / at_gain, rel=1e-5),
    ]
    assert at_phase > 0


def test_how_far_gusts_push_the_cart() -> None:
    gusts = np.array([[0], [0], [0], [0.2]])
    law = solve_continuous_lyapunov(A - B @ K, -gusts @ gusts.T)
    assert law == pytest.approx(control.lyap(A - B @ K, gusts @ gusts.T))
    assert shown(CONTROL, rf"position ± {NUMBER} m, angle ± {NUMBER}") == pytest.approx(
        [law[0, 0] ** 0.5, law[2, 2] ** 0.5], abs=1e-4
    )


def test_between_which_lengths_the_loop_is_stable() -> None:
    (length,) = shown(CONTROL, rf"answer +constants.l = {NUMBER}")
    near = []
    for rod in (0.999 * length, 1.001 * length):
        a = A.copy()
        a[3] *= l / rod
        near.append(np.linalg.eigvals(a - B * np.array([[1], [1], [1], [l / rod]]) @ K).real.max())
    assert near[0] < 0 < near[1]
