"""Whether what a directory holds is the run of a scenario, so that it may be continued."""

from __future__ import annotations

import json
from collections.abc import Sequence

from simsuite.errors import AFRESH, Advice, SimsuiteError, UsageError
from simsuite.io.checkpoint import Checkpoint
from simsuite.io.directory import RunDirectory
from simsuite.io.reading import reading
from simsuite.scenario import Scenario
from simsuite.scenario.load import Model, stored_model

_FEW = 5  # how many differing keys a message names
_MAY_DIFFER = frozenset(  # keys that may be changed when a run is continued
    {
        "title",
        "run.device",
        "run.threads",
        "run.loader",
        "output.directory",
        "output.checkpoint_minutes",
        "output.checkpoint_every",
    }
)
OF_TIME = ("time.end", "time.steps", "output.frames", "output.every", "output.times", "output.samples", "output.looks")
"""Keys that a run with a later end, which goes on with an earlier one, may have changed."""
_WITHOUT_A_CHECKPOINT = frozenset({"paths.batch"})  # keys on which checkpoints depend, but no result does
_ELSEWHERE = Advice(
    "--fresh discards that run, -o DIR writes this one elsewhere",
    "fresh=True discards that run, directory=.. writes this one elsewhere",
)
_LONGER = Advice(
    f"--extend goes on with that run to a later end, {_ELSEWHERE.command}",
    f"extend=True goes on with that run to a later end, {_ELSEWHERE.python}",
)


def require_same_scenario(scenario: Scenario, directory: RunDirectory, begun: bool) -> None:
    """Raise UsageError where `directory` holds a run of another scenario. begun: whether it has results to go by."""
    before = directory.read_scenario()
    if before is None:
        return
    may_differ = _MAY_DIFFER if directory.has_checkpoint else _MAY_DIFFER | _WITHOUT_A_CHECKPOINT
    differing = _differing(scenario, before, may_differ)
    if begun:
        with reading(directory.results) as file:
            files = dict(json.loads(file.attrs["input_files"]))
        differing += [f"the contents of {key}" for key, name in scenario.files().items() if name != files.get(key)]
    if differing:
        named = _listed(list(map(scenario.as_written, differing)))
        raise UsageError(
            f"{directory.path} holds a run of another scenario; it differs in {named}\n  = help: ",
            _LONGER if _is_longer(scenario, before, differing) else _ELSEWHERE,
        )


def _is_longer(scenario: Scenario, before: str, differing: Sequence[str]) -> bool:
    """Whether a scenario differs in a later end alone, to which the run `before` can go on."""
    if scenario.solver == "gbm" or not all(key.startswith(OF_TIME) for key in differing):
        return False
    try:
        ends = [_end(model) for model in (stored_model(scenario.solver, before), scenario.model)]
    except ValueError:  # of an earlier version
        return False
    return ends[0] is not None and ends[1] is not None and ends[1] > ends[0]


def _end(model: Model) -> float | None:
    """The time at which a run of heat or of a linear system ends; None for a steady state."""
    if model.solver == "linear":
        return float(model.time.steps * model.dt)
    return None if model.time.end is None else float(model.time.end)


def differing_keys(scenario: Scenario, before: str) -> list[str]:
    """The keys in which the resolved scenario of a run differs from this one, but for those that may be changed while
    the run goes on."""
    return _differing(scenario, before, _MAY_DIFFER)


def identity(scenario: Scenario) -> dict[str, str]:
    """What a checkpoint says of the run that it belongs to."""
    return {"scenario": scenario.resolved_toml()}


def require_its_checkpoint(scenario: Scenario, directory: RunDirectory, found: Checkpoint) -> None:
    """Raise SimsuiteError unless the checkpoint belongs to a run of this scenario. A checkpoint without the results'
    metadata, from which a finished run was to be extended, is not checked."""
    if found.results is None:
        return
    try:
        differing = _differing(scenario, str(found.meta["scenario"]), _MAY_DIFFER)
    except (KeyError, ValueError, RecursionError) as error:
        raise SimsuiteError(f"the checkpoint in {directory.path} does not say of which run it is; ", AFRESH) from error
    if differing:
        raise SimsuiteError(
            f"the checkpoint in {directory.path} is of another run, which differs in {_listed(differing)}; bring the "
            "right one back from a copy, or ",
            AFRESH,
        )


def _listed(keys: list[str]) -> str:
    """The keys in words: all of them if they are few, else the first few and how many more there are."""
    more = len(keys) - _FEW
    return ", ".join(keys) if more <= 1 else f"{', '.join(keys[:_FEW])} and {more} more"


def _differing(scenario: Scenario, before: str, may_differ: frozenset[str]) -> list[str]:
    """The keys in which a resolved scenario `before` differs from this one, but for those in `may_differ`."""
    if not scenario.model.random:
        may_differ |= {"run.seed"}
    return [key for key in scenario.differences(before) if key not in may_differ]
