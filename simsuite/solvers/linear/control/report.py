"""What `[analysis]` asks for: variables of the result file, and results."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from simsuite.core import Variable
from simsuite.libraries import decomposing
from simsuite.scenario.linear.analysis import AnalysisKeys, Frequencies, ResponseTimes
from simsuite.solvers.linear.control.gramians import Gramians, gramians
from simsuite.solvers.linear.control.margins import Margins, margins
from simsuite.solvers.linear.control.phase import unwrapped
from simsuite.solvers.linear.control.plant import Plant
from simsuite.solvers.linear.control.ranges import frequency_range, response_end
from simsuite.solvers.linear.control.step_response import step_response
from simsuite.solvers.linear.control.transfer import FrequencyResponse

PRINTED = 64  # Lists of up to so many numbers are printed among the results.
CHANNELS = 16  # Up to so many pairs of an input and an output are listed among the results.
_CHANNEL = ("output", "input")


@dataclass(frozen=True)
class ControlReport:
    """What is asked for of a plant. Each part is computed when it is first needed.

    inputs, outputs: their names. driven: whether the system has inputs. stable: tells whether it is known to be stable.
    verdict: tells what it is instead. run: the length of the run, s.
    """

    asked: AnalysisKeys
    plant: Plant
    inputs: Sequence[str]
    outputs: Sequence[str]
    driven: bool
    stable: Callable[[], bool]
    verdict: Callable[[], str]
    run: float

    @cached_property
    def frequencies(self) -> np.ndarray:
        """rad/s, increasing."""
        low, high = frequency_range(self.plant)
        asked = self.asked.bode if isinstance(self.asked.bode, Frequencies) else Frequencies()
        low = min(low, asked.to / 10) if asked.from_ is None and asked.to is not None else low
        high = max(high, asked.from_ * 10) if asked.to is None and asked.from_ is not None else high
        low, high = asked.from_ or low, min(asked.to or high, self.plant.highest)
        found = np.geomspace(low, high, asked.points)
        found[0], found[-1] = low, high
        return found

    @cached_property
    def _response(self) -> np.ndarray:
        """(frequencies, q, p)"""
        return FrequencyResponse(self.plant)(self.frequencies)

    @cached_property
    def _static(self) -> np.ndarray:
        """G (q, p) at the frequency 0; NaN where it grows without end towards it. With a pole there, which an output
        may not see, G is that of two frequencies far below all others, if these agree.
        """
        plant, response = self.plant, FrequencyResponse(self.plant)
        place = 0.0 if plant.continuous else 1.0
        if not np.any(np.abs(plant.poles - place) <= plant.rounding):
            return response(np.zeros(1))[0].real
        G = response(frequency_range(plant)[0] * np.array([1e-8, 1e-9]))
        with np.errstate(invalid="ignore"):
            steady = np.abs(G[0] - G[1]) <= 1e-6 * np.abs(G[1])
        return np.where(steady, G[1].real, np.nan)

    @cached_property
    def _phase(self) -> np.ndarray:
        """(frequencies, q, p), rad"""
        found = np.empty(self._response.shape)
        for i, j in np.ndindex(self.plant.D.shape):
            found[:, i, j] = unwrapped(self.plant.channel(i, j), self.frequencies, self._response[:, i, j])
        return found

    @cached_property
    def _sampling(self) -> tuple[float, int]:
        """(stride, samples) of step responses. stride: in s, or of a discrete system in whole steps."""
        asked = self.asked.step_response
        asked = asked if isinstance(asked, ResponseTimes) else ResponseTimes()
        end = asked.end or response_end(self.plant, self.stable(), self.run)
        if self.plant.continuous:
            return end / (asked.points - 1), asked.points
        steps = max(round(end / self.plant.dt), 1)
        stride = max(math.ceil(steps / (asked.points - 1)), 1)
        return stride, steps // stride + 1

    @cached_property
    def _times(self) -> np.ndarray:
        stride, samples = self._sampling
        return np.arange(samples) * (stride if self.plant.continuous else stride * self.plant.dt)

    @cached_property
    def _step_response(self) -> np.ndarray:
        """(samples, q, p)"""
        return step_response(self.plant, *self._sampling)

    @cached_property
    def _margins(self) -> Margins:
        return margins(self.plant)

    @cached_property
    def _gramians(self) -> Gramians | str:
        """The Gramians, or the reason why there are none."""
        if not self.stable():
            return f"Gramians are sums over all time, which grow without end: the system is {self.verdict()}"
        try:
            return gramians(self.plant)
        except ValueError as e:
            return str(e)

    @cached_property
    def _poles(self) -> np.ndarray:
        return _sorted(self.plant, self.plant.poles)

    @cached_property
    def _zeros(self) -> np.ndarray:
        return _sorted(self.plant, self.plant.zeros) if self.driven else np.empty(0, np.complex128)

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes of the dimensions that `variables` have and that no coordinate tells."""
        n = len(self.plant.A)
        found = {"pole": n, "zero": len(self._zeros)} if self.asked.poles else {}
        found |= {"gramian_row": n, "gramian_column": n, "order": n} if self.asked.gramians else {}
        return {name: size for name, size in found.items() if size}

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The variables in the result file. All are known from the start; those without any value are left out."""
        with decomposing(len(self.plant.A)), np.errstate(all="ignore"):
            return tuple(v for v in self._all() if v.values is not None and np.size(v.values))

    def _all(self) -> Iterator[Variable]:
        if self.driven and (self.asked.bode is not False or self.asked.step_response is not False):
            yield Variable("input", ("input",), str, {"long_name": "name of the input"}, np.array(self.inputs))
            yield Variable("output", ("output",), str, {"long_name": "name of the output"}, np.array(self.outputs))
        if self.asked.bode is not False:
            yield _known("frequency", ("frequency",), "rad s-1", "angular frequency", self.frequencies)
            size, phase = np.abs(self._response), self._phase
            dims = (*_CHANNEL, "frequency")
            yield _known("bode_magnitude", dims, "1", "modulus of the frequency response", _by_channel(size))
            yield _known("bode_phase", dims, "rad", "phase of the frequency response, continuous", _by_channel(phase))
        if self.asked.step_response is not False:
            yield _known("response_time", ("response_time",), "s", "time since the input has jumped", self._times)
            text = "output after the input has jumped from 0 to 1, from rest"
            yield _known("step_response", (*_CHANNEL, "response_time"), "1", text, _by_channel(self._step_response))
        yield from self._of_poles() if self.asked.poles else ()
        yield from self._of_gramians() if self.asked.gramians else ()
        yield from self._of_margins() if self.asked.margins else ()

    def _of_poles(self) -> Iterator[Variable]:
        unit = "s-1" if self.plant.continuous else "1"
        frequency, damping, constant = _described(self.plant, self._poles)
        yield _known("pole_real", ("pole",), unit, "real part of a pole", self._poles.real)
        yield _known("pole_imag", ("pole",), unit, "imaginary part of the same", self._poles.imag)
        yield _known("pole_natural_frequency", ("pole",), "rad s-1", "natural frequency of the pole", frequency)
        yield _known("pole_damping", ("pole",), "1", "damping ratio of the pole", damping)
        yield _known("pole_time_constant", ("pole",), "s", "time constant, negative of what grows", constant)
        yield _known("zero_real", ("zero",), unit, "real part of a zero of all inputs and outputs", self._zeros.real)
        yield _known("zero_imag", ("zero",), unit, "imaginary part of the same", self._zeros.imag)

    def _of_gramians(self) -> Iterator[Variable]:
        found = self._gramians
        if not isinstance(found, str):
            dims = ("gramian_row", "gramian_column")
            yield _known("controllability_gramian", dims, "1", "controllability Gramian", found.controllability)
            yield _known("observability_gramian", dims, "1", "observability Gramian", found.observability)
            yield _known("hankel_singular_value", ("order",), "1", "Hankel singular value", found.hankel)

    def _of_margins(self) -> Iterator[Variable]:
        found, dim, other = self._margins, ("gain_crossing",), ("phase_crossing",)
        yield _known(*dim, dim, "rad s-1", "frequency at which the modulus of the loop is 1", found.gain_crossings)
        yield _known("phase_margin", dim, "degree", "phase margin there", np.degrees(found.phase_margins))
        yield _known("delay_margin", dim, "s", "delay that takes the loop to -1 there", found.delay_margins)
        yield _known(
            *other, other, "rad s-1", "frequency at which the loop is real and negative", found.phase_crossings
        )
        yield _known("gain_margin", other, "1", "factor of the gain that takes the loop to -1", found.gain_margins)
        yield _known("modulus_margin", (), "1", "least distance of the loop from -1", np.array(found.modulus))

    def results(self) -> dict[str, Any]:
        """The results that are printed and stored under "analysis"."""
        found: dict[str, Any] = {}
        with decomposing(len(self.plant.A)), np.errstate(all="ignore"):
            if self.asked.margins:
                found["margins"] = margins_in_words(self._margins)
            if self.asked.step_response is not False:
                found["step_response"] = self._steps_in_words()
            if self.asked.bode is not False:
                found["bode"] = self._bode_in_words()
            if self.asked.gramians:
                found |= self._gramians_in_words()
            if self.asked.poles:
                found |= self._poles_in_words()
        return found

    def _poles_in_words(self) -> dict[str, Any]:
        if len(self._poles) > PRINTED:
            return {}
        poles = self._poles[self._poles.imag >= 0]
        frequency, damping, constant = _described(self.plant, poles)
        found: dict[str, Any] = {
            "poles": {
                "real": poles.real.tolist(),
                "imag": poles.imag.tolist(),
                "natural_frequency": _finite(frequency),
                "damping": _finite(damping),
                "time_constant": _finite(constant),
            }
        }
        zeros = self._zeros[self._zeros.imag >= 0]
        return found | ({"zeros": {"real": zeros.real.tolist(), "imag": zeros.imag.tolist()}} if len(zeros) else {})

    def _channels(self) -> Iterator[tuple[str, int, int]]:
        """The pairs that are listed: what they are called, and the numbers of output and input."""
        if self.plant.D.size <= CHANNELS:
            for i, j in np.ndindex(self.plant.D.shape):
                yield f"{self.inputs[j]} -> {self.outputs[i]}", i, j

    def _bode_in_words(self) -> dict[str, Any]:
        w = self.frequencies
        found: dict[str, Any] = {"lowest": float(w[0]), "highest": float(w[-1]), "points": len(w)}
        for name, i, j in self._channels():
            size = np.abs(self._response[:, i, j])
            k = int(np.argmax(size))
            found[name] = {
                "static_gain": _number(self._static[i, j]),
                "peak": _number(size[k]),
                "peak_frequency": float(w[k]),
            }
        return found

    def _steps_in_words(self) -> dict[str, Any]:
        t, static = self._times, self._static if self.stable() else np.full(self.plant.D.shape, np.nan)
        found: dict[str, Any] = {"end": float(t[-1]), "points": len(t)}
        for name, i, j in self._channels():
            y = self._step_response[:, i, j]
            k = int(np.argmax(np.abs(y)))
            found[name] = {
                "final_value": _number(static[i, j]),
                "last": _number(y[-1]),
                "peak": _number(y[k]),
                "peak_time": float(t[k]),
            }
        return found

    def _gramians_in_words(self) -> dict[str, Any]:
        found = self._gramians
        if isinstance(found, str):
            return {"gramians_note": found}
        listed = {"hankel_singular_values": found.hankel.tolist()} if len(found.hankel) <= PRINTED else {}
        return {"gramians": listed | {"gramian_error": found.error}}


def margins_in_words(found: Margins) -> dict[str, Any]:
    """The margins as results: of several crossings those count that are nearest to instability, of gains by ratio."""
    words: dict[str, Any] = {"closed_loop": "stable" if found.closed_loop_stable else "unstable"}
    for name, values, at in (
        ("gain_margin", found.gain_margins, found.phase_crossings),
        ("phase_margin", np.degrees(found.phase_margins), found.gain_crossings),
        ("delay_margin", found.delay_margins, found.gain_crossings),
    ):
        with np.errstate(divide="ignore"):
            away = np.abs(np.log(values)) if name == "gain_margin" else np.abs(values)
        k = int(np.argmin(away)) if len(away) else None
        words[name] = None if k is None else _number(values[k])
        words[f"{name}_frequency"] = None if k is None else float(at[k])
    words["modulus_margin"], words["modulus_margin_frequency"] = found.modulus, _number(found.modulus_frequency)
    if math.isinf(found.modulus_frequency):
        words["modulus_margin_note"] = "approached at ever higher frequencies"
    if len(found.gain_crossings):
        words["gain_crossings"] = found.gain_crossings.tolist()
        words["phase_margins"] = np.degrees(found.phase_margins).tolist()
        words["delay_margins"] = found.delay_margins.tolist()
    if len(found.phase_crossings):
        words["phase_crossings"], words["gain_margins"] = found.phase_crossings.tolist(), _finite(found.gain_margins)
    return words


def _known(name: str, dims: tuple[str, ...], unit: str, long_name: str, values: np.ndarray) -> Variable:
    attrs = {"units": unit, "long_name": long_name}
    return Variable(name, dims, attrs=attrs, values=np.asarray(values, np.float64, order="C"))


def _by_channel(values: np.ndarray) -> np.ndarray:
    """(q, p, k) from (k, q, p)."""
    return np.moveaxis(values, 0, -1)


def _sorted(plant: Plant, places: np.ndarray) -> np.ndarray:
    """Poles or zeros from the slowest on; of a pair the one with the positive imaginary part comes first."""
    return places[np.lexsort((-places.imag, places.real, np.round(np.abs(plant.rates(places)), 12)))]


def _described(plant: Plant, poles: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Natural frequency (rad/s), damping ratio and time constant (s) of poles; not finite where there is none. What
    rounding of A may amount to counts as 0.
    """
    rates = plant.rates(poles)
    rounding = plant.rounding if plant.continuous else plant.rounding / plant.dt
    real, imag = (np.where(np.abs(part) <= rounding, 0.0, part) for part in (rates.real, rates.imag))
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency = np.hypot(real, imag)
        damping = np.where(np.isinf(frequency), 1.0, 0.0 - real / frequency)
        return frequency, damping, -1.0 / real


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _finite(values: np.ndarray) -> list[float | None]:
    return [_number(value) for value in values]
