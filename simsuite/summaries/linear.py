"""What is said of the results of a linear system."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from simsuite.summaries.numbers import FEW, MANY, row, tree
from simsuite.words import printable

_OF_SECONDS = {  # units of numbers of a system in continuous time; others have no unit, or that of the state
    "spectral_abscissa": "1/s",
    "abscissa_error": "1/s",
    "real": "1/s",
    "imag": "rad/s",
    "time_constant": "s",
    "frequency": "Hz",
}
_OF_STEPS = {"time_constant": "steps", "frequency": "1/step", "period": "steps"}
_OF_ANALYSIS = {  # whether time is continuous or not
    **dict.fromkeys(("natural_frequency", "peak_frequency", "lowest", "highest"), "rad/s"),
    **dict.fromkeys(("gain_crossings", "phase_crossings"), "rad/s"),
    **dict.fromkeys([f"{name}_margin_frequency" for name in ("gain", "phase", "delay", "modulus")], "rad/s"),
    **dict.fromkeys(("phase_margin", "phase_margins"), "degrees"),
    **dict.fromkeys(("delay_margin", "delay_margins", "end", "peak_time", "poles.time_constant"), "s"),
}
_RELATIVE_NUMBERS = dict.fromkeys(("residual", "distance", "spectral_radius", "radius_error"), "1")
_RELATIVE = "(of the smallest change that loses one, relative to A, balanced, and to each"
_NOTES = {
    "change": "(by which one more step would change an entry, at most, before it is rounded)",
    "residual": "(largest difference to the state as found in another way, relative to its largest entry)",
    "controllability.distance": f"{_RELATIVE} column of B)",
    "observability.distance": f"{_RELATIVE} row of C)",
    "gain_margin": "(factor of the gain at which the closed loop is on the boundary)",
    "modulus_margin": "(least distance of L from -1)",
    "gramian_error": "(relative, of the largest entry of a Gramian)",
}


def linear_lines(results: Mapping[str, Any], verbose: bool) -> Iterator[str]:
    """Lines of text with the results of a linear system. verbose: with matrices and longer lists."""
    notes = _NOTES | _norm_notes(results) | _units(results)
    rest = {key: value for key, value in results.items() if key not in ("extremes", "events")}
    yield from tree(rest, "  ", notes, MANY if verbose else FEW)
    seen = "frames and looks" if "events" in results else "frames"
    state = results.get("state", results.get("state_real"))
    alone = state is not None and len(state[0]) == 1
    for name, told in results.get("extremes", {}).items():
        member = name.partition(".")[0] if "." in name else ""  # of several that are one run
        sample = "" if alone else f" of sample {told['sample']}"
        note = f"(the largest entry of all {seen}: {printable(told['component'])}{sample}, "
        yield row(f"largest {member}".rstrip(), told["value"], f"{note}t = {told['time']:.6g} s)", "  ")
    if verbose and not {"state", "state_real"} & results.keys():
        yield f"  {'state':<20} more than {MANY} numbers: the last frame in results.h5"


def linear_unit(name: tuple[str, ...], results: Mapping[str, Any]) -> str:
    """The unit of a number, whose name may end with places in a list; "" if it has none, or that of the state."""
    keys = [part for part in name if not part.isdecimal()]
    units = _units(results) | _RELATIVE_NUMBERS
    return units.get(".".join(keys[-2:]), units.get(keys[-1], ""))


def _units(results: Mapping[str, Any]) -> dict[str, str]:
    continuous = "spectral_abscissa" in results.get("analysis", {})
    return {**(_OF_SECONDS if continuous else _OF_STEPS), **_OF_ANALYSIS, **_of_places(continuous)}


def _of_places(continuous: bool) -> dict[str, str]:
    """The units of poles and zeros, which of a discrete system have none."""
    units = {"real": "1/s", "imag": "rad/s"} if continuous else {"real": "", "imag": ""}
    return {f"{place}.{part}": unit for place in ("poles", "zeros") for part, unit in units.items()}


def _norm_notes(results: Mapping[str, Any]) -> dict[str, str]:
    """Notes on the norm and the state: of a system with an output, which has a result on observability, they tell X
    from C X."""
    names = ", ".join(map(printable, results.get("components", [])[:FEW]))
    states = ("state", "state_real", "state_imag")
    if "observability" not in results.get("analysis", {}):
        return {
            "norm": "(Frobenius norm of X, the whole state)",
            **dict.fromkeys(states, f"({names})" if names else ""),
        }
    output = dict.fromkeys(states, f"(output C X: {names})" if names else "(output C X)")
    return {"norm": "(Frobenius norm of X, the whole state, not of C X)", **output}
