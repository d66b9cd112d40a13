"""Numbers with a unit, written as text: "10 min", "35 degC", "20 W/(m²·K)".

Units are read and converted by Pint, which is imported where a scenario has one. A text gets to it only if it is a
plain number and a product of names with powers of one digit, so that nothing is evaluated. Conversions are made with
decimal numbers: "35 mm" is the same number as 0.035.
"""

from __future__ import annotations

import difflib
import functools
import math
import re
from collections.abc import Collection
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from simsuite.errors import UsageError

PintUnit: TypeAlias = Any
"""A unit of Pint's. Any: Pint is imported late, and its types depend on the type of its numbers."""

_LONG = 3  # letters of names that are compared with others
_LONGEST = 100  # characters of a number with its unit
# possessive: a number never gives up its last digits to a unit
_NUMBER = r"[-+]?(?>\d++\.?\d*+|\.\d++)(?>[eE][-+]?\d{1,3}(?![\d.]))?+"
_FACTOR = r"[A-Za-zµμ°Ω%]+(?:(?:\*\*|\^)?-?[1-9]|[²³])?"
_PRODUCT = rf"{_FACTOR}(?:\s*[*·/]\s*{_FACTOR}|(?:\s+|(?<=[\d²³])){_FACTOR})*"
_IN_BRACKETS = rf"\(\s*{_PRODUCT}\s*\)"
_UNIT = rf"(?:{_PRODUCT}|{_IN_BRACKETS})(?:\s*/\s*{_IN_BRACKETS})?"
_QUANTITY = re.compile(rf"\s*({_NUMBER})(?:\s*({_UNIT})|\s+(1\s*/\s*{_UNIT}))\s*")
_INVERSE = re.compile(rf"\s*({_NUMBER})\s*/\s*({_PRODUCT}|{_IN_BRACKETS})\s*")  # "0.05/year"
_DIVISOR = re.compile(r"/[^()/]*\*(?!\*)\s*[A-Za-z]")  # "W/m**2*K"
_NO_UNITS = ("pi", "e")  # though Pint takes them for such
_VARIABLES = ("x", "y", "t", "T")
_AS_PINT = {"²": "**2", "³": "**3", "^": "**", "·": "*", "Ω": "ohm", "μ": "µ", "%": "percent", "°": "deg"}

_CELSIUS, _FAHRENHEIT, _KELVIN = ("degC", "celsius"), ("degF", "fahrenheit"), ("K", "kelvin")
_ICE_POINT = Decimal("273.15")  # 0 °C in K
_CALENDAR = ("year", "years", "yr", "a", "month", "months")  # a month is a twelfth of a year

# names that people write for others, which are units of something else or of nothing
_MEANT = {"C": "degC", "F": "degF", "k": "K", "pct": "percent"}
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
    "W/m**3": "a heat source",
    "W/(m**2*K)": "a heat transfer coefficient",
    "W/(m*K)": "a thermal conductivity",
    "J/(kg*K)": "a specific heat",
    "J/kg": "a specific energy",
    "kg/m**3": "a density",
    "m**2/s": "a diffusivity",
    "N": "a force",
    "Pa": "a pressure",
    "V": "a voltage",
    "A": "a current",
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
PLAIN = Unit("dimensionless", "dimensionless")  # numbers of keys that have no unit; per cent are taken
PER_YEAR = Unit("1/year", other="dimensionless")  # 5 %, or 5 %/year
VOLATILITY = Unit("1/year**0.5", other="dimensionless")
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


def quantity(text: str, unit: Unit | None, scales: Scales, taken: Collection[str] = ()) -> float | None:
    """The number that a text such as "10 min" or "0.05/year" stands for in the unit of a key, or if there is none in SI
    units, with gbm in years in place of seconds; None for a text that is no number with a unit. taken: names that stand
    for something else. Raises `UnitError` for an unknown unit, or one of something else."""
    match = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    inverse = _INVERSE.fullmatch(text) if match is None and len(text) <= _LONGEST else None
    if match is not None:
        number, written, column = Decimal(match[1]), match[2] or match[3], match.start(2 if match[2] else 3)
        name = _as_pint(written)
    elif inverse is not None:
        number, written, column = Decimal(inverse[1]), f"1/{inverse[2]}", inverse.start(2)
        name = _as_pint(f"1/({inverse[2].strip('() ')})" if inverse[2].startswith("(") else written)
    else:
        return None
    names = _names_in(name)
    if not names.isdisjoint(_NO_UNITS) or (inverse is not None and not names.isdisjoint((*_VARIABLES, *taken))):
        return None
    if name in taken:
        message = f"`{name}` is a unit and a constant here: write {number}*{name} if the constant is meant, else "
        raise UnitError(f"{message}give the constant another name", column)
    try:
        return _read(number, name, unit, scales)
    except _Unfit as error:
        raise UnitError(error.message.format(written), column) from None
    except (TypeError, ValueError, ArithmeticError, LookupError, AttributeError):
        # what Pint raises for units by logarithm, such as dB, and with others by which one cannot multiply
        raise UnitError(f"`{written}` is no unit that a number can be converted from", column) from None


def time_from(text: str, years: bool = False) -> float:
    """A time, in s or in years, that an option of a command gives as a number or with a unit. Raises UsageError."""
    try:
        value: float | None = float(text)
    except ValueError:
        try:
            value = quantity(text.strip(), YEARS if years else SECONDS, Scales(years=years))
        except UnitError as error:
            raise UsageError(f"cannot read {text!r} as a time: {error}") from error
    if value is None or not math.isfinite(value):
        raise UsageError(f'cannot read {text!r} as a time: write a number, or one with a unit, "2 min"')
    return value


def _read(number: Decimal, name: str, unit: Unit | None, scales: Scales) -> float:
    if unit in (TEMPERATURE, None) and (kelvin := _kelvin(number, name)) is not None:
        if unit is None and name in _KELVIN and scales.celsius:
            raise _Unfit(
                "`{}` may be meant of a temperature or of a difference, without a unit here: write "
                f"{kelvin - _ICE_POINT} for that temperature, in °C, and {number} for that difference"
            )
        if kelvin < 0 and not (unit is None and name in _KELVIN):
            raise _Unfit(f"{number} `{{}}` is below absolute zero")
        return float(kelvin - _ICE_POINT if scales.celsius else kelvin)
    return _converted(number, name, unit, scales)


def _names_in(unit: str) -> set[str]:
    """The names in a unit as Pint reads it."""
    return set(re.findall(r"[A-Za-zµ_]+", unit))


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
    text = re.sub(r"(?<=[A-Za-zµ])(?=-?\d)", "**", text)  # "m-3", "cm3"
    text = re.sub(r"(?<=\d)(?=[A-Za-zµ])", "*", text)  # "m²K"
    return re.sub(r"(?<=\w)\s+(?=\w)", "*", text.strip())


def _kelvin(number: Decimal, unit: str) -> Decimal | None:
    """A temperature in K, if its unit is one of temperatures."""
    if unit in _CELSIUS:
        return number + _ICE_POINT
    if unit in _FAHRENHEIT:
        return (number - 32) * 5 / 9 + _ICE_POINT
    return number if unit in _KELVIN else None


def _check_calendar(name: str) -> None:
    """Raises `_Unfit` for a unit with a time that has a number of years by convention only."""
    if any("[time]" in _registry().parse_units(each).dimensionality for each in _names_in(name) - {*_CALENDAR}):
        raise _Unfit('times are in years, and how many these are is a convention: 90 days may be "90/365"')


def _converted(number: Decimal, name: str, unit: Unit | None, scales: Scales) -> float:
    wanted = [] if unit is None else _names(unit, scales)
    if name in (*_CELSIUS, *_FAHRENHEIT):
        difference = "a difference of temperatures: " if unit == DIFFERENCE else ""
        raise _Unfit(f"`{{}}` is the unit of a temperature, and this is {difference}{_shown(wanted[0])}")
    # within a product or a quotient, a degree is a difference of temperatures
    parsed = _parsed(re.sub(r"\bdeg(?=[CF]\b)", "delta_deg", name))
    value = number * parsed
    fitting = [each for each in wanted if value.is_compatible_with(_registry().parse_units(each))]
    if scales.years and unit != MINUTES and (fitting or unit is None):
        _check_calendar(name)
    if unit is None:
        base = value.to_base_units().magnitude
        power = parsed.dimensionality.get("[time]", 0) if scales.years else 0
        return float(base / _registry().Quantity(Decimal(1), "year").to("s").magnitude ** power)
    if fitting:
        return float(value.to(_registry().parse_units(fitting[0])).magnitude)
    if unit == PLAIN:
        raise _Unfit(f"`{{}}` {_measure(parsed)}, and numbers are written without a unit here{_near(name, wanted)}")
    alone = ", as [material] gives the diffusivity alone" if scales.diffusive and unit.diffusive else ""
    brackets = "; a divisor of several units is in brackets: W/(m²·K)" if _DIVISOR.search(name) else ""
    raise _Unfit(f"`{{}}` {_measure(parsed)}, and this is {_shown(wanted[0])}{alone}{_near(name, wanted)}{brackets}")


def _names(unit: Unit, scales: Scales) -> list[str]:
    """The units that a key can be given in, as Pint reads them, first its own."""
    if unit == RUN_TIME:
        return ["year" if scales.years else "s"]
    if unit == TEMPERATURE:
        return ["degC" if scales.celsius else "K"]
    name = unit.diffusive if scales.diffusive and unit.diffusive else unit.name
    return [name, unit.other] if unit.other else [name]


def symbol(unit: Unit, scales: Scales) -> str:
    """A unit as it stands beside numbers, "W/(m²·K)"; "" for plain numbers."""
    name = _names(unit, scales)[0]
    if name == "dimensionless":
        return ""
    name = name.replace("year**0.5", "√year")
    return name.replace("**2", "²").replace("**3", "³").replace("*", "·").replace("degC", "°C")


def _parsed(unit: str) -> PintUnit:
    registry = _registry()
    names = sorted(_names_in(unit))
    for name in names:
        if name not in registry:
            raise _Unfit(f"unknown unit `{name}`{_near(name)}")
    if names == ["C"] or names == ["F"]:
        raise _Unfit(f"`{{}}` {_measure(registry.parse_units(unit))}{_near(unit)}")
    return registry.parse_units(unit)


def _near(name: str, wanted: Collection[str] = ()) -> str:
    """What may have been meant by the name of a unit, as the end of a message: one in other letters, small or capital,
    before one that is spelt a little differently. wanted: the units of which it has to be one, if that is known."""
    if not name.isalpha():
        return ""
    found = [_MEANT[name]] if name in _MEANT else [each for each in _COMMON if each.lower() == name.lower()]
    if not found and len(name) >= _LONG:
        found = difflib.get_close_matches(name.lower(), _COMMON, 1)
    fits = not wanted or any(_registry().parse_units(each).is_compatible_with(found[0]) for each in wanted if found)
    return f"; did you mean `{found[0]}`?" if found and found[0] != name and fits else ""


def _measure(unit: PintUnit) -> str:
    """What a unit is one of, after its name."""
    said = (said for name, said in _QUANTITIES.items() if unit.is_compatible_with(_registry().parse_units(name)))
    known = next(said, None)
    return f"is the unit of {known}" if known else f"is a unit of the dimensions {unit.dimensionality}"


def _shown(unit: str) -> str:
    """In what unit a number is."""
    shown = unit.replace("year**0.5", "sqrt(year)").replace("**", "^").replace("*", "·")
    return "a plain number" if unit == "dimensionless" else f"in {shown}"


@functools.cache
def _registry() -> PintUnit:
    import pint

    return pint.UnitRegistry(non_int_type=Decimal)
