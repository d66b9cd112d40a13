"""`simsuite check`: what a scenario will do, without doing it."""

from __future__ import annotations

from simsuite.cli.console import print_json, say, with_prefix
from simsuite.cli.run import Device, Directory, Json, ScenarioFile, Set, load_scenario


def check(
    scenario: ScenarioFile, set: Set = None, output: Directory = None, device: Device = None, as_json: Json = False
) -> None:
    """Find every mistake in a scenario; print steps, dt, memory on the device and bytes on disk."""
    from simsuite.assembly import default_directory, device_of, estimate, make_problem

    loaded = load_scenario(scenario, set, output, device)
    found = estimate(make_problem(loaded, device_of(loaded, say)))
    if as_json:
        print_json({"scenario": str(scenario), "solver": loaded.solver, "valid": True, **found})
        return
    print(f"{scenario} is a valid {loaded.solver} scenario")
    steps = f"{found['steps']} of dt = {found['dt']:.6g}"
    if found["adaptive"]:
        steps = f"about {found['steps']}, as long as the error in time allows"
    print(f"  steps      {steps}, {found['frames']} frames")
    if "stepper_reason" in found:
        print(f"  stepper    {found['stepper']}: {found['stepper_reason']}")
    if "matrix" in found:
        print(f"  matrix     {found['matrix']}")
    print(f"  memory     {with_prefix(found['device_bytes'], 'B')} on the device")
    print(f"  disk       {with_prefix(found['disk_bytes'], 'B')} in {default_directory(loaded) / 'results.h5'}")
