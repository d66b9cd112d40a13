"""`[names]` and `[analysis]` of a linear scenario: what its states, inputs and outputs are called, and what of control
theory is computed of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, TypeAlias

from pydantic import AfterValidator, Field, model_validator

from simsuite.scenario.common import Positive, Section
from simsuite.scenario.types import Name, mistake
from simsuite.scenario.units import SECONDS, Unit

_MOST = 100_000


def _each_once(names: list[str]) -> list[str]:
    """The names, none of which occurs twice."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise mistake((i,), f"`{name}` is the name of two", "each needs a name of its own")
    return names


Names: TypeAlias = Annotated[list[Name], Field(min_length=1), AfterValidator(_each_once)]


class NamesOf(Section):
    """What the parts of a linear system are called."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("states", "x", "component", "components"), "did you mean `state`?"),
        **dict.fromkeys(("inputs", "u"), "did you mean `input`?"),
        **dict.fromkeys(("outputs", "y"), "did you mean `output`?"),
    }
    state: Names | None = Field(None, description="a name for each component of the state, each row of A")
    input: Names | None = Field(
        None, description="a name for each input, each column of B; a file of inputs is read by these names"
    )
    output: Names | None = Field(None, description="a name for each output, each row of C")


class Frequencies(Section):
    """At which frequencies a response is computed."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("start", "min", "low", "begin"), "write `from`, the lowest frequency, rad/s"),
        **dict.fromkeys(("stop", "max", "high", "end"), "write `to`, the highest frequency, rad/s"),
        **dict.fromkeys(("n", "count", "number", "frequencies"), "write `points`"),
    }
    from_: Positive | None = Field(
        None, alias="from", description="the lowest frequency, rad/s (default: a decade below all poles and zeros)"
    )
    to: Positive | None = Field(
        None,
        description="the highest frequency, rad/s (default: a decade above all poles and zeros; of a discrete system "
        "half a turn a step, pi/dt, which is also the highest there is)",
    )
    points: Annotated[int, Field(ge=2, le=_MOST)] = Field(
        500, description="how many frequencies, spaced evenly on a logarithmic axis, both ends included"
    )

    @model_validator(mode="after")
    def _in_order(self) -> Frequencies:
        if self.from_ is not None and self.to is not None and self.from_ >= self.to:
            raise mistake(("to",), f"must be more than `from`, {self.from_:g}")
        return self


class ResponseTimes(Section):
    """At which times a response is computed."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("time", "stop", "to", "duration"), "write `end`, the last time, s"),
        **dict.fromkeys(("n", "count", "number", "steps"), "write `points`"),
    }
    measured_in: ClassVar[Mapping[str, Unit]] = {"end": SECONDS}
    end: Positive | None = Field(
        None, description="the last time, s (default: eight time constants of the slowest mode that decays, if all do)"
    )
    points: Annotated[int, Field(ge=2, le=_MOST)] = Field(
        201,
        description="how many times, evenly spaced, 0 and the end included; of a discrete system at most, as they are "
        "whole steps",
    )


class AnalysisKeys(Section):
    """What of control theory is computed, from the inputs u to the outputs y = C x + D u."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("frequency_response", "freqresp", "nyquist", "frequency"), "write bode = true"),
        **dict.fromkeys(("step", "stepresponse"), "write step_response = true"),
        **dict.fromkeys(("margin", "gain_margin", "phase_margin", "stability_margins"), "write margins = true"),
        **dict.fromkeys(("gramian", "hankel", "hankel_singular_values"), "write gramians = true"),
        **dict.fromkeys(("zeros", "pole", "eigenvalues", "damping", "pzmap"), "write poles = true"),
        **dict.fromkeys(("controllability", "observability", "rank"), "ranks are among the results of every run"),
    }
    bode: bool | Frequencies = Field(
        False,
        description="the frequency response from each input to each output: magnitude and phase; or {from = .., to = "
        ".., points = ..}",
    )
    step_response: bool | ResponseTimes = Field(
        False,
        description="the response of each output to a jump of each input from 0 to 1, from rest, without error of "
        "discretisation; or {end = .., points = ..}",
    )
    poles: bool = Field(
        False, description="poles and zeros, with natural frequency, damping ratio and time constant of each pole"
    )
    gramians: bool = Field(
        False, description="controllability and observability Gramians and Hankel singular values of a stable system"
    )
    margins: bool = Field(
        False,
        description="gain, phase, delay and modulus margins of a loop with one input and one output under unit "
        "negative feedback, with all crossover frequencies",
    )

    @property
    def asked(self) -> list[str]:
        """The keys of what is to be computed."""
        return [key for key in type(self).model_fields if getattr(self, key) is not False]
