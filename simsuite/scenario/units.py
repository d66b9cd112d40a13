"""Numbers with a unit, written as text: "10 min", "35 degC", "20 W/(m²·K)".

Units are read and converted by Pint, which is imported where a scenario has one. A text gets to it only if it is a
plain number and a product of names with powers of one digit, so that nothing is evaluated. Conversions are made with
decimal numbers: "35 mm" is the same number as 0.035.
"""

from __future__ import annotations

import difflib
import functools
import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

PintUnit: TypeAlias = Any
"""A unit of Pint's. Any: Pint is imported late, and its types depend on the type of its numbers."""

_LONGEST = 100  # characters of a number with its unit
_NUMBER = r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d{1,3})?"
_FACTOR = r"[A-Za-zµμ°Ω%]+(?:(?:\*\*|\^)-?\d|[²³])?"
_PRODUCT = rf"{_FACTOR}(?:\s*[*·/]\s*{_FACTOR}|\s+{_FACTOR})*"
_UNIT = rf"(?:1\s*/\s*)?(?:{_PRODUCT}|\(\s*{_PRODUCT}\s*\))(?:\s*/\s*\(\s*{_PRODUCT}\s*\))?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})\s*")
_AS_PINT = {"²": "**2", "³": "**3", "^": "**", "·": "*", "Ω": "ohm", "μ": "µ", "%": "percent", "°": "deg"}

_CELSIUS, _FAHRENHEIT, _KELVIN = ("degC", "celsius"), ("degF", "fahrenheit"), ("K", "kelvin")
_ICE_POINT = Decimal("273.15")  # 0 °C in K
_MONTHS = {**dict.fromkeys(("year", "years", "yr", "y", "a"), 12), **dict.fromkeys(("month", "months"), 1)}

# names that people write for others, which are units of something else or of nothing
_MEANT = {"C": "degC", "F": "degF", "sec": "s", "secs": "s", "mins": "min", "hr": "h", "hrs": "h", "k": "K"}
_COMMON = (
    *("m", "mm", "cm", "km", "metre", "meter", "s", "ms", "min", "minute", "h", "hour", "day", "month", "year"),
    *("K", "degC", "degF", "W", "kW", "mW", "watt", "J", "kJ", "kg", "g", "N", "Pa", "rad", "deg", "ohm", "F"),
    "percent",
)
_QUANTITIES = {
    "m": "a length",
    "m**2": "an area",
    "m**3": "a volume",
    "s": "a time",
    "1/s": "a rate",
    "m/s": "a speed",
    "kg": "a mass",
    "K": "a temperature",
    "W": "a power",
    "J": "an energy",
    "C": "an electric charge",
    "F": "a capacitance",
    "ohm": "a resistance",
    "W/m**2": "a heat flux",
    "dimensionless": "a plain number",
}


class UnitError(Exception):
    """Why a number with a unit cannot be taken. column: where the unit stands in the text."""

    def __init__(self, message: str, column: int) -> None:
        super().__init__(message)
        self.message = message
        self.column = column


@dataclass(frozen=True)
class Unit:
    """What a key is measured in.

    name: as Pint reads it. diffusive: the same where a material is given by its diffusivity alone, so that heat is
    divided by ρc. other: another unit in which its numbers may be written as well.
    """

    name: str
    diffusive: str = ""
    other: str = ""


LENGTH = Unit("m")
SECONDS = Unit("s")
MINUTES = Unit("min")
YEARS = Unit("year")
RUN_TIME = Unit("the unit of time.end")  # years with gbm, else seconds
TEMPERATURE = Unit("the unit of temperatures")  # K or °C
DIFFERENCE = Unit("K")
DIFFUSIVITY = Unit("m**2/s")
CONDUCTIVITY = Unit("W/(m*K)")
DENSITY = Unit("kg/m**3")
SPECIFIC_HEAT = Unit("J/(kg*K)")
FLUX = Unit("W/m**2", "K*m/s")
TRANSFER = Unit("W/(m**2*K)", "m/s")
HEAT_DENSITY = Unit("W/m**3", "K/s")
WATTS = Unit("W")
HEATING_RATE = Unit("K/s")
SHARE = Unit("dimensionless")
PLAIN = SHARE  # numbers of keys that have no unit; per cent are taken
PER_YEAR = Unit("1/year", other="dimensionless")  # 5 %, or 5 %/year
ANGLE = Unit("rad", other="rad/s")
MASS = Unit("kg")
STIFFNESS = Unit("N/m")
FRICTION = Unit("N*s/m")
RESISTANCE = Unit("ohm")
CAPACITANCE = Unit("F")


@dataclass(frozen=True)
class Scales:
    """What a scenario decides about units. celsius: its temperatures are in °C. years: its times are in years.
    diffusive: its material is given by the diffusivity alone."""

    celsius: bool = False
    years: bool = False
    diffusive: bool = False


def looks_like_quantity(text: str) -> bool:
    """Whether a text is a number followed by what could be a unit."""
    return len(text) <= _LONGEST and _QUANTITY.fullmatch(text) is not None


def quantity(text: str, unit: Unit | None, scales: Scales) -> float | None:
    """The number that a text such as "10 min" stands for in the unit of a key, or in SI units if there is none; None
    for a text that is no number with a unit. Raises `UnitError` for an unknown unit, or one of something else."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if match is None:
        return None
    number, name, column = Decimal(match[1]), _as_pint(match[2]), match.start(2)
    if unit in (TEMPERATURE, None) and (kelvin := _kelvin(number, name)) is not None:
        return float(kelvin - _ICE_POINT if scales.celsius else kelvin)
    try:
        if scales.years and unit in (YEARS, RUN_TIME, None) and _is_time(name):
            return _years(number, name)
        return _converted(number, name, unit, scales)
    except _Unfit as error:
        raise UnitError(error.message.format(match[2]), column) from None


class _Unfit(Exception):
    """Why a unit cannot be taken. message: with braces where the unit stands as it was written."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


def _as_pint(text: str) -> str:
    """A unit with multiplication signs, powers and names as Pint wants them."""
    for sign, instead in _AS_PINT.items():
        text = text.replace(sign, instead)
    text = re.sub(r"\bdeg\s+(?=[CF]\b)", "deg", text)  # "° C"
    return re.sub(r"(?<=\w)\s+(?=\w)", "*", text.strip())


def _kelvin(number: Decimal, unit: str) -> Decimal | None:
    """A temperature in K, if its unit is one of temperatures."""
    if unit in _CELSIUS:
        return number + _ICE_POINT
    if unit in _FAHRENHEIT:
        return (number - 32) * 5 / 9 + _ICE_POINT
    return number if unit in _KELVIN else None


def _is_time(name: str) -> bool:
    return name in _MONTHS or str(_parsed(name).dimensionality) == "[time]"


def _years(number: Decimal, name: str) -> float:
    """A time in years. How many days one has is a matter of convention."""
    if name not in _MONTHS:
        raise _Unfit('times are in years, and how many these are is a convention: 90 days may be "90/365"')
    return float(number * _MONTHS[name] / 12)


def _converted(number: Decimal, name: str, unit: Unit | None, scales: Scales) -> float:
    wanted = [] if unit is None else _names(unit, scales)
    if name in (*_CELSIUS, *_FAHRENHEIT):
        difference = "a difference of temperatures: " if unit == DIFFERENCE else ""
        raise _Unfit(f"`{{}}` is the unit of a temperature, and this is {difference}{_shown(wanted[0])}")
    # within a product or a quotient, a degree is a difference of temperatures
    parsed = _parsed(re.sub(r"\bdeg(?=[CF]\b)", "delta_deg", name))
    value = number * parsed
    if unit is None:
        return float(value.to_base_units().magnitude)
    for each in wanted:
        if value.is_compatible_with(_registry().parse_units(each)):
            return float(value.to(_registry().parse_units(each)).magnitude)
    alone = ", as [material] gives the diffusivity alone" if scales.diffusive and unit.diffusive else ""
    raise _Unfit(f"`{{}}` {_measure(parsed)}, and this is {_shown(wanted[0])}{alone}")


def _names(unit: Unit, scales: Scales) -> list[str]:
    """The units that a key can be given in, as Pint reads them, first its own."""
    if unit == RUN_TIME:
        return ["year" if scales.years else "s"]
    if unit == TEMPERATURE:
        return ["degC" if scales.celsius else "K"]
    name = unit.diffusive if scales.diffusive and unit.diffusive else unit.name
    return [name, unit.other] if unit.other else [name]


def _parsed(unit: str) -> PintUnit:
    registry = _registry()
    names = re.findall(r"[A-Za-zµ_]+", unit)
    for name in names:
        if name not in registry:
            near = _MEANT.get(name) or next(iter(difflib.get_close_matches(name, _COMMON, 1)), None)
            raise _Unfit(f"unknown unit `{name}`" + (f"; did you mean `{near}`?" if near else ""))
    if names == ["C"] or names == ["F"]:
        raise _Unfit(f"`{{}}` {_measure(registry.parse_units(unit))}; did you mean `deg{names[0]}`?")
    return registry.parse_units(unit)


def _measure(unit: PintUnit) -> str:
    """What a unit is one of, after its name."""
    said = (said for name, said in _QUANTITIES.items() if unit.is_compatible_with(_registry().parse_units(name)))
    return f"is the unit of {next(said, f'something of the dimension {unit.dimensionality}')}"


def _shown(unit: str) -> str:
    """In what unit a number is."""
    return "a plain number" if unit == "dimensionless" else f"in {unit.replace('**', '^').replace('*', '·')}"


@functools.cache
def _registry() -> PintUnit:
    import pint

    return pint.UnitRegistry(non_int_type=Decimal)
