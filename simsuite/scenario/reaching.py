"""`[[event]]`: that a number of the run reaches a level."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from simsuite.errors import Mistake
from simsuite.scenario.common import Output, Section
from simsuite.scenario.types import Name
from simsuite.scenario.units import TEMPERATURE, Unit

LOOKS_HEAT, LOOKS_LINEAR = 1001, 10_001  # the default of output.looks
Place = Annotated[int, Field(ge=0)]


class Reaching(Section):
    """The base of an event. Which numbers there are depends on the solver."""

    expected_keys: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("level", "value", "threshold", "at", "equals", "when", "crosses"), "write `reaches`"),
        **dict.fromkeys(("above", "over", "exceeds", "greater"), 'write reaches = .., and direction = "up"'),
        **dict.fromkeys(("below", "under", "less"), 'write reaches = .., and direction = "down"'),
        **dict.fromkeys(("terminal", "end", "halt"), "write stop = true"),
        **dict.fromkeys(("probe", "quantity", "variable", "what", "component"), "write `of`"),
        "every": "write `looks` in [output], how often it is looked",
    }
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        "direction": {
            **dict.fromkeys(("rising", "rises", "positive", "above"), 'write "up"'),
            **dict.fromkeys(("falling", "falls", "negative", "below"), 'write "down"'),
            **dict.fromkeys(("both", "either"), 'write "any"'),
        }
    }
    name: Name | None = Field(
        None, description="its name in the results (default: what it is about, as in `max reaches 80`)"
    )
    direction: Literal["up", "down", "any"] = Field(
        "any", description="whether only rising (up) or falling (down) to the level counts"
    )
    stop: bool = Field(False, description="whether the run ends there, complete: at the next look")


class HeatReaching(Reaching):
    measured_in: ClassVar[Mapping[str, Unit]] = {"reaches": TEMPERATURE}
    expected_values: ClassVar[Mapping[str, Mapping[str, str]]] = {
        **Reaching.expected_values,
        "of": {
            **dict.fromkeys(("hottest", "maximum", "highest", "peak"), 'write "max"'),
            **dict.fromkeys(("coldest", "minimum", "lowest"), 'write "min"'),
            **dict.fromkeys(("average",), 'write "mean"'),
        },
    }
    examples: ClassVar[Mapping[str, str]] = {"of": 'write "max", "min", "mean" or the name of a probe'}
    named_by: ClassVar[Mapping[str, str]] = {"of": "probe"}
    of: Name = Field(
        description="what: max, min or mean, of all cells, or the name of a probe, which may not be one of these words"
    )
    reaches: float = Field(description="temperature that it comes to, K (or °C)")

    @property
    def title(self) -> str:
        return self.name or f"{self.of} reaches {self.reaches:g}"


class LinearReaching(Reaching):
    examples: ClassVar[Mapping[str, str]] = {"of": "write its number, from 0, or its name in [names], in quotes"}
    of: Name | Place = Field(
        description="which output, or state where there is no output_matrix: its name, or its number from 0"
    )
    sample: Place = Field(0, description="in which state of the batch, from 0")
    reaches: float = Field(description="value that it comes to")

    @property
    def title(self) -> str:
        return self.name or f"{self.of} reaches {self.reaches:g}"


def reaching_mistakes(given: Sequence[HeatReaching | LinearReaching], output: Output) -> Iterator[Mistake]:
    """Mistakes that do not depend on what there is to be watched."""
    seen: set[str] = set()
    for i, each in enumerate(given):
        if each.title in seen:
            message = f"there are two events named `{each.title}`"
            key = "of" if each.name is None else "name"
            yield Mistake(("event", i, key), message, "give one of them another `name`")
        seen.add(each.title)
    if output.looks is not None and not given:
        message = "nothing is looked for: there is no [[event]]"
        yield Mistake(("output", "looks"), message, "leave it out, or add an [[event]]", on_key=True)


def of_mistakes(given: Sequence[HeatReaching], probes: Sequence[str]) -> Iterator[Mistake]:
    """Mistakes about what is watched of temperatures."""
    words = ("max", "min", "mean")
    for i, each in enumerate(given):
        if each.of in words and each.of in probes:
            message = f"`{each.of}` is that of all cells, and the name of a probe"
            yield Mistake(("event", i, "of"), message, "give the probe another name")
        if each.of not in words and each.of not in probes:
            there = f"; probes: {', '.join(f'`{name}`' for name in probes[:8])}" if probes else "; there are no probes"
            yield Mistake(("event", i, "of"), f"there is no `{each.of}`", f"max, min or mean{there}")
