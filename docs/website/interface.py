"""Pages on Python's interface: what is public in `simsuite`, and what packages with solvers of their own build on."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import simsuite
import simsuite.errors

HEADS = {
    "running": (
        "Running scenarios",
        "A scenario is a file, or a dictionary of the same form. The functions are those of `simsuite` itself:",
    ),
    "objects": (
        "What they return",
        "Runs, sweeps and searches that have ended, and a simulation that is stepped by hand.",
    ),
    "errors": (
        "Errors",
        "All that simsuite raises on purpose derives from `SimsuiteError`, and has the exit code with which the "
        "command line answers it. Those that `simsuite` does not name itself are in `simsuite.errors`.",
    ),
    "plugins": (
        "For solvers of your own",
        "What [](../plugins.md) builds on. Until version 1.0 these interfaces may change.",
    ),
}
FUNCTIONS = ("run", "load", "sweep", "open_simulation")
# By heading: modules, and the names in them that packages with solvers of their own need.
PLUGINS: Mapping[str, Mapping[str, Sequence[str]]] = {
    "What a package registers": {"simsuite.plugins": ["Solver", "BrokenPlugin"]},
    "Scenarios": {
        "simsuite.scenario.any_scenario": ["AnyScenario"],
        "simsuite.scenario.common": ["Section"],
        "simsuite.errors": ["Mistake", "Advice"],
    },
    "Problems and steppers": {
        "simsuite.core": ["Problem", "Stepper", "Snapshot", "Pending", "Clock"],
        "simsuite.solvers.equal_steps": ["EqualSteps"],
        "simsuite.solvers.schedule": ["frame_steps"],
    },
    "What result files hold": {"simsuite.core": ["Layout", "Series", "Variable", "Image"]},
    "Devices": {"simsuite.core": ["Backend", "Program", "Recorder", "Fence", "Fourier", "Products"]},
    "Pictures": {
        "simsuite.pictures.recording": ["Recording", "Field"],
        "simsuite.pictures.sheet": ["Sheet", "Subject"],
        "simsuite.pictures.look": ["Look"],
    },
    "What some problems can do besides": {
        "simsuite.capabilities": [],
        "simsuite.crossings.looks": ["Looks", "Condition", "Reading"],
        "simsuite.communication.communicator": ["Communicator", "Halos"],
    },
}
TRIAL = "simsuite.sweeps.goal.Trial"  # of which a `Solution` has a list
BARE = {"AnyScenario", "Section"}  # models, whose other members are those of pydantic


def pages() -> dict[str, str]:
    """The pages by name, in Markdown with directives of autodoc."""
    found = {"api/index.md": _index()}
    for name, (title, words) in HEADS.items():
        found[f"api/{name}.md"] = "\n".join([f"# {title}", "", words, "", *_body(name)])
    return found


def _index() -> str:
    example = [line.removeprefix("    ") for line in (simsuite.__doc__ or "").splitlines() if line[:4] in ("    ", "")]
    lines = ["# Python interface", "", "```python", "\n".join(example).strip(), "```", ""]
    return "\n".join([*lines, *(f"- [{title}]({name}.md): {words}" for name, (title, words) in HEADS.items()), ""])


def _body(name: str) -> Iterable[str]:
    public = [name for name in simsuite.__all__ if not name.startswith("__")]
    errors = [n for n in vars(simsuite.errors) if _is_error(getattr(simsuite.errors, n))]
    if name == "running":
        return [_directive("autofunction", f"simsuite.{n}{_signature(getattr(simsuite, n))}") for n in FUNCTIONS]
    if name == "objects":
        rest = [n for n in public if n not in FUNCTIONS and n not in errors]
        return [_directive("autoclass", n, members=True) for n in (*(f"simsuite.{n}" for n in rest), TRIAL)]
    if name == "errors":
        ours = [f"simsuite.{n}" if n in public else f"simsuite.errors.{n}" for n in errors]
        return [_directive("autoexception", n) for n in ours]
    return [line for heading, modules in PLUGINS.items() for line in _section(heading, modules)]


def _is_error(thing: object) -> bool:
    return isinstance(thing, type) and issubclass(thing, simsuite.SimsuiteError)


def _section(heading: str, modules: Mapping[str, Sequence[str]]) -> Iterable[str]:
    yield from (f"## {heading}", "")
    for module, names in modules.items():
        if not names:
            yield _directive("automodule", module, members=True)
        for name in names:
            kind = "autofunction" if name[0].islower() else "autoclass"
            yield _directive(kind, f"{module}.{name}", members=name not in BARE and kind == "autoclass")


class _Text(str):
    """The annotation of an argument, which is shown without quotes."""

    __repr__ = str.__str__


def _signature(function: Any) -> str:
    """The signature with all defaults, which those of overloads have not."""
    found = inspect.signature(function)
    arguments = [each.replace(annotation=_Text(each.annotation)) for each in found.parameters.values()]
    return str(found.replace(parameters=arguments, return_annotation=_Text(found.return_annotation)))


def _directive(kind: str, name: str, members: bool = False) -> str:
    return "\n".join(["```{eval-rst}", f".. {kind}:: {name}", *(["   :members:"] if members else []), "```", ""])
