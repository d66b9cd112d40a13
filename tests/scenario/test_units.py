"""Numbers with units: "10 min", "35 degC", "20 W/(m²·K)"."""

from __future__ import annotations

import contextlib
import math
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from running import no_hang

from simsuite.scenario import numbers, units
from simsuite.scenario.units import Scales, Unit, UnitError, quantity

PLAIN, CELSIUS, YEARS, DIFFUSIVE = Scales(), Scales(celsius=True), Scales(years=True), Scales(diffusive=True)


@pytest.mark.parametrize(
    ("text", "unit", "scales", "value"),
    [
        # exact by the definitions of the SI brochure (9th edition, 2019) and of NIST SP 811 (2008)
        ("35 mm", units.LENGTH, PLAIN, 0.035),
        ("-2.5e2 µm", units.LENGTH, PLAIN, -2.5e-4),
        ("1 inch", units.LENGTH, PLAIN, 0.0254),
        ("1 ft", units.LENGTH, PLAIN, 0.3048),
        ("10min", units.SECONDS, PLAIN, 600.0),
        ("1.5 h", units.SECONDS, PLAIN, 5400.0),
        ("2 days", units.SECONDS, PLAIN, 172800.0),
        ("90 s", units.MINUTES, PLAIN, 1.5),
        ("2 h", units.RUN_TIME, PLAIN, 7200.0),
        ("18 months", units.RUN_TIME, YEARS, 1.5),
        ("35 degC", units.TEMPERATURE, PLAIN, 308.15),
        ("35 °C", units.TEMPERATURE, CELSIUS, 35.0),
        ("300 K", units.TEMPERATURE, CELSIUS, 26.85),
        ("-40 degF", units.TEMPERATURE, CELSIUS, -40.0),
        ("212 °F", units.TEMPERATURE, PLAIN, 373.15),
        ("0.5 K", units.DIFFERENCE, CELSIUS, 0.5),
        ("20 W/(m²·K)", units.TRANSFER, PLAIN, 20.0),
        ("20 W/m^2/degC", units.TRANSFER, PLAIN, 20.0),
        ("20 W m^-2 K^-1", units.TRANSFER, PLAIN, 20.0),
        ("3.6 kJ/(h m² K)", units.TRANSFER, PLAIN, 1.0),
        ("0.4 W/(cm*K)", units.CONDUCTIVITY, PLAIN, 40.0),
        ("8.96 g/cm³", units.DENSITY, PLAIN, 8960.0),
        ("0.385 kJ/kg/K", units.SPECIFIC_HEAT, PLAIN, 385.0),
        ("1 kcal/(kg K)", units.SPECIFIC_HEAT, PLAIN, 4184.0),
        ("1.2 cm²/s", units.DIFFUSIVITY, PLAIN, 1.2e-4),
        ("5 W/cm^2", units.FLUX, PLAIN, 5e4),
        ("5 MW/m^3", units.HEAT_DENSITY, PLAIN, 5e6),
        ("6 K/min", units.HEATING_RATE, PLAIN, 0.1),
        ("3 K*mm/s", units.FLUX, DIFFUSIVE, 0.003),
        ("5 %", units.PER_YEAR, YEARS, 0.05),
        ("5 %/year", units.PER_YEAR, YEARS, 0.05),
        ("20 percent", units.SHARE, YEARS, 0.2),
        ("90 deg", units.ANGLE, PLAIN, math.pi / 2),
        ("30 rpm", units.ANGLE, PLAIN, math.pi),
        ("4.7 kΩ", units.RESISTANCE, PLAIN, 4700.0),
        ("100 nF", units.CAPACITANCE, PLAIN, 1e-7),
        ("2 N/mm", units.STIFFNESS, PLAIN, 2000.0),
        # without a key: SI units
        ("5 W", None, PLAIN, 5.0),
        ("20 degC", None, CELSIUS, 20.0),
        ("20 degC", None, PLAIN, 293.15),
        ("250 g", None, PLAIN, 0.25),
        ("6 months", None, YEARS, 0.5),
        ("12 cm²", None, PLAIN, 0.0012),
        ("30 K", None, PLAIN, 30.0),
        ("-30 K", None, PLAIN, -30.0),
        # powers without a sign, and units that follow them
        ("7.8 g/cm3", units.DENSITY, PLAIN, 7800.0),
        ("7.8e3 kg m-3", units.DENSITY, PLAIN, 7800.0),
        ("15 W/(m2K)", units.TRANSFER, PLAIN, 15.0),
        # a number keeps its last digit, whatever follows
        ("0.1/hour", None, PLAIN, 0.1 / 3600),
        ("11/hour", None, PLAIN, 11 / 3600),
        ("2.1/s", None, PLAIN, 2.1),
        ("1e11/s", None, PLAIN, 1e11),
        ("0.1 1/hour", None, PLAIN, 0.1 / 3600),
        ("0.11/year", units.PER_YEAR, YEARS, 0.11),
        ("6 %/month", units.PER_YEAR, YEARS, 0.72),
        # years are the unit of time of gbm throughout
        ("2.5 %/year", None, YEARS, 0.025),
        ("0.11/year", None, YEARS, 0.11),
        ("4 1/year^2", None, YEARS, 4.0),
        ("2 1/month", None, YEARS, 24.0),
    ],
)
def test_numbers_with_units(text: str, unit: Unit | None, scales: Scales, value: float) -> None:
    found = quantity(text, unit, scales)
    assert found == pytest.approx(value, rel=4e-16)
    if "deg" not in text and "rpm" not in text:
        assert found == value


@pytest.mark.parametrize(
    "text",
    ["2*m", "m", "2", "2 if t > 1 else 3", "5 % 2", "x mm", "1 2 mm", "5 mm + 2", "", "5 m^-12", "3 pi", "5/t"],
)
def test_other_texts_are_left_to_expressions(text: str) -> None:
    assert quantity(text, units.LENGTH, PLAIN) is None


@pytest.mark.parametrize(
    ("text", "unit", "scales", "said"),
    [
        ("10 min", units.LENGTH, PLAIN, "`min` is the unit of a time, and this is in m"),
        ("35 degC", units.LENGTH, PLAIN, "`degC` is the unit of a temperature, and this is in m"),
        ("2 degC", units.DIFFERENCE, PLAIN, "a difference of temperatures: in K"),
        ("20 C", units.TEMPERATURE, PLAIN, "is the unit of an electric charge; did you mean `degC`?"),
        ("20 F", units.TEMPERATURE, PLAIN, "is the unit of a capacitance; did you mean `degF`?"),
        ("5 metr", units.LENGTH, PLAIN, "unknown unit `metr`; did you mean `metre`?"),
        ("5 cells", units.PLAIN, PLAIN, "unknown unit `cells`"),
        ("5 m", units.PLAIN, PLAIN, "`m` is the unit of a length, and numbers are written without a unit here"),
        ("5 W/m^2", units.FLUX, DIFFUSIVE, "in K·m/s, as [material] gives the diffusivity alone"),
        ("90 days", units.YEARS, YEARS, "is a convention"),
        ("2 weeks", None, YEARS, "is a convention"),
        ("1 year", units.LENGTH, YEARS, "this is in m"),
        ("0.1 1/day", None, YEARS, "is a convention"),
        ("1 Hz", None, YEARS, "is a convention"),
        ("2 W", None, YEARS, "is a convention"),
        ("5 dB", units.LENGTH, PLAIN, "is no unit that a number can be converted from"),
        ("0.1 1/day", units.PER_YEAR, YEARS, "is a convention"),
        ("30 K", None, CELSIUS, "of a temperature or of a difference"),
        ("-300 degC", units.TEMPERATURE, PLAIN, "is below absolute zero"),
        ("-300 degC", None, CELSIUS, "is below absolute zero"),
        ("15 KW", None, PLAIN, "did you mean `kW`?"),
        ("7.8 Kg/m³", units.DENSITY, PLAIN, "did you mean `kg`?"),
        ("5 Cm", units.LENGTH, PLAIN, "did you mean `cm`?"),
        ("10 Min", units.SECONDS, PLAIN, "did you mean `min`?"),
        ("1 pct", units.SHARE, PLAIN, "did you mean `percent`?"),
        ("20 W/m²K", units.TRANSFER, PLAIN, "a divisor of several units is in brackets"),
        ("-1 1/s", units.PLAIN, PLAIN, "numbers are written without a unit here"),
    ],
)
def test_units_of_something_else(text: str, unit: Unit | None, scales: Scales, said: str) -> None:
    with pytest.raises(UnitError) as caught:
        quantity(text, unit, scales)
    assert said in caught.value.message
    assert text[caught.value.column :] == text.split(" ", 1)[1]


@settings(max_examples=300, deadline=None)
@given(
    st.decimals(-1000, 1000, places=4),
    st.sampled_from([("mm", -3), ("cm", -2), ("km", 3), ("µm", -6), ("m", 0), ("dm", -1), ("nm", -9)]),
)
def test_prefixes_move_the_decimal_point(number: object, prefix: tuple[str, int]) -> None:
    """What is written with a prefix is the number that is written with an exponent, to the bit."""
    name, exponent = prefix
    assert quantity(f"{number} {name}", units.LENGTH, PLAIN) == float(f"{number}e{exponent}")


@settings(max_examples=500, deadline=None)
@given(st.text("0123456789.eE+-*/^()[]{}%°µΩ mskgKWJhdegCmin_²³·,;'\"\\\n\x00", max_size=120))
def test_no_text_does_anything_but_give_a_number_or_an_error(text: str) -> None:
    with no_hang():
        for scales in (PLAIN, CELSIUS, YEARS):
            for unit in (units.LENGTH, units.TEMPERATURE, None):
                with contextlib.suppress(UnitError):
                    found = quantity(text, unit, scales)
                    assert found is None or isinstance(found, float)


def test_pint_is_imported_where_there_is_a_unit_only() -> None:
    code = "import sys, simsuite.scenario.heat, simsuite.scenario.units as u\n"
    code += "assert u.quantity('2*w', u.LENGTH, u.Scales()) is None and 'pint' not in sys.modules\n"
    code += "u.quantity('2 mm', u.LENGTH, u.Scales()); assert 'pint' in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@settings(max_examples=300, deadline=None)
@given(st.decimals(-1000, 1000, places=3), st.sampled_from(["/h", " / h", "/(h)", "/s", "/day", "/m"]))
def test_numbers_divided_by_constants_are_not_units(number: object, rest: str) -> None:
    """Also where the name of the constant is that of a unit, and whatever digit the number ends in."""
    names = {"h": 25.0, "s": 3.0, "day": 0.5, "m": 7.0}
    found = numbers.number(f"{number}{rest}", numbers.Terms(names), None)
    assert found == float(str(number)) / names[rest.strip(" /()")]


def test_a_constant_named_like_a_unit_is_asked_about() -> None:
    with pytest.raises(UnitError, match="`h` is a unit and a constant here: write 5\\*h"):
        numbers.number("5 h", numbers.Terms({"h": 25.0}), None)
