"""`simsuite verify`: proof that a solver is right, or that a scenario has cells or paths enough."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simsuite.cli.console import print_json, say, writable
from simsuite.cli.run import Device, Json, Set, load_scenario
from simsuite.errors import PackageMissing, UsageError
from simsuite.words import closest, counted

if TYPE_CHECKING:
    from simsuite.core import Backend
    from simsuite.scenario import Scenario
    from simsuite.verify.checks import Check

VERIFIED = ("heat", "gbm", "linear")
REFINED = ("heat", "gbm")  # solvers whose scenarios can be refined


def verify(
    what: Annotated[
        str | None,
        typer.Argument(
            metavar="[heat|gbm|linear|SCENARIO]",
            help="A solver, or a scenario of heat or gbm to refine.",
            show_default=False,
        ),
    ] = None,
    set: Set = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="DIR", help="Draw errors over cells, steps or paths there.")
    ] = None,
    device: Device = None,
    quick: Annotated[bool, typer.Option("--quick", help="A solver: smaller grids, fewer paths, fewer checks.")] = False,
    levels: Annotated[
        int | None,
        typer.Option(
            "--levels", metavar="N", min=3, max=6, help="A scenario: grids twice as fine, or 4 times the paths."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a solver against exact and published answers, or how a scenario converges; exit with 5 if anything is off.

    Without an argument, check all solvers. Scenarios of heat and gbm can be refined, those of linear not yet.
    """
    if what is None or what in VERIFIED:
        if set or levels:
            raise UsageError("--set and --levels go with a scenario, not with a whole solver")
        _verify_solvers([what] if what else VERIFIED, output, device or "auto", quick, as_json)
    else:
        meant = closest(what, VERIFIED)
        if meant and not Path(what).exists():
            raise UsageError(f"no solver and no file is called {what!r}: did you mean {meant!r}?")
        if quick:
            raise UsageError("--quick goes with a solver, not with a scenario")
        _verify_scenario(Path(what), set, output, device, levels or 3, as_json)


def _verify_solvers(solvers: Sequence[str], output: Path | None, device: str, quick: bool, as_json: bool) -> None:
    from simsuite.backends import open_backend
    from simsuite.verify import report
    from simsuite.verify.checks import require

    writable(output)
    backend = open_backend(device)
    found: list[Check] = []
    notes: list[str] = [] if backend.note is None else [backend.note]
    for text in notes:
        say(f"note: {text}")

    def note(text: str) -> None:
        notes.append(text)
        say(f"note: {text}")

    for solver in solvers:
        say(f"verifying {solver} on {backend.name} ({backend.device_name})")
        checks = _shown(_checks(solver, backend, quick, note), report.header(_fancy()), as_json)
        if not as_json:
            print(report.summary(checks))
        if output is not None:
            {"heat": _draw_orders, "gbm": _draw_estimates, "linear": _draw_rod}[solver](output, checks)
        found += checks
    if as_json:
        _print_as_json(found, notes=notes)
    require(found)


def _checks(solver: str, backend: Backend, quick: bool, note: Callable[[str], None]) -> Iterator[Check]:
    if solver == "gbm":
        from simsuite.verify.gbm.all_checks import gbm_checks

        yield from gbm_checks(backend, quick, note)
    elif solver == "linear":
        PackageMissing.unless(["mpmath"], "verify", "verify linear")
        from simsuite.verify.linear.all_checks import linear_checks

        yield from linear_checks(backend, quick, note)
    else:
        PackageMissing.unless(["sympy"], "verify", "verify heat")
        from simsuite.verify.heat.all_checks import heat_checks

        with backend.on_threads(1):
            yield from heat_checks(backend, quick, note)


def _verify_scenario(
    path: Path, set: list[str] | None, output: Path | None, device: str | None, levels: int, as_json: bool
) -> None:
    from simsuite.assembly import device_of, make_backend, make_problem

    loaded = load_scenario(path, set, None, device)
    if loaded.solver not in REFINED:
        raise UsageError(f"{path} is a {loaded.solver} scenario; only those of {', '.join(REFINED)} can be refined yet")
    writable(output)
    opened = device_of(loaded, say)
    backend = make_backend(opened, make_problem(loaded, opened))  # making the problem also reports mistakes in the file
    refine = _refine_gbm if loaded.solver == "gbm" else _refine_heat
    refine(loaded, backend, levels, output, as_json)


def _refine_heat(loaded: Scenario, backend: Backend, levels: int, output: Path | None, as_json: bool) -> None:
    from simsuite.verify import report
    from simsuite.verify.checks import require
    from simsuite.verify.heat import scenario_report, scenario_study

    found = []
    for outcome in scenario_study.outcomes(loaded.model, loaded.base, backend, levels):
        found.append(outcome)
        if not as_json:
            say(f"done: {scenario_report.described(outcome)}")
    checks, why, expected = scenario_study.study(found), None, scenario_study.as_expected(found)
    if not checks[0].passed:
        why = scenario_study.cause(found, checks, loaded.base, backend)
        checks = scenario_study.with_cause(checks, why)
    if as_json:
        _print_as_json([*checks, *expected], levels=scenario_study.levels_of(found))
    else:
        print(report.table(scenario_report.table(found, checks)))
        print(scenario_report.verdict(checks, why))
        for check in expected:
            print(report.line(check, _fancy()))
    if output is not None:
        _draw_study(output, loaded.path.stem, found, checks)
    require([checks[0], *expected])  # the others are shown, not judged


def _refine_gbm(loaded: Scenario, backend: Backend, levels: int, output: Path | None, as_json: bool) -> None:
    from simsuite.verify import report
    from simsuite.verify.checks import require
    from simsuite.verify.gbm import scenario_study

    found = []
    for level in scenario_study.levels_of(loaded.model, backend, levels):
        found.append(level)
        if not as_json:
            say(f"done: {counted(level.paths, 'path')}")
    checks = _shown(scenario_study.study(loaded.model, found, say), report.header(_fancy()), as_json)
    if as_json:
        _print_as_json(checks, levels=[{"paths": level.paths} for level in found])
    else:
        print(report.summary(checks))
    if output is not None:
        _draw_levels(output, loaded.path.stem, checks)
    require(checks)


def _fancy() -> bool:
    """Whether special characters and colours may be written to stdout (https://no-color.org)."""
    return sys.stdout.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def _shown(checks: Iterable[Check], header: str, as_json: bool) -> list[Check]:
    """All checks, each printed as it is done, unless there is to be one JSON object."""
    from simsuite.verify.report import line

    if as_json:
        return list(checks)
    print(header, flush=True)
    found = []
    for check in checks:
        print(line(check, _fancy()), flush=True)
        found.append(check)
    return found


def _print_as_json(checks: Sequence[Check], **more: Any) -> None:
    passed = bool(checks) and all(check.passed for check in checks)
    print_json({"passed": passed, **more, "checks": [check.as_json() for check in checks]})


def _draw_orders(directory: Path, checks: Sequence[Check]) -> None:
    """Draw a picture for each stepper, with all errors to which lines were fitted."""
    from simsuite.pictures.convergence import Curve, Panel, draw_orders

    fitted = [{**check.data, "kind": check.kind} for check in checks if "factor" in check.data]
    for stepper in dict.fromkeys(data["stepper"] for data in fitted):
        panels = []
        of_stepper = [data for data in fitted if data["stepper"] == stepper]
        for kind, material in dict.fromkeys((data["kind"], data["material"]) for data in of_stepper):
            group = [data for data in of_stepper if (data["kind"], data["material"]) == (kind, material)]
            curves = [Curve(d["edge"], d["sizes"], d["errors"], d["order"], d["factor"]) for d in group]
            size = "cell along x, m" if kind.endswith("space") else "time step, s"
            panels.append(Panel(f"{kind}, {material}", size, "relative error", group[0]["expected"], curves))
        path = directory / f"heat_{stepper}.png"
        draw_orders(path, f"heat, {stepper}", "errors of manufactured and exact solutions, and fitted lines", panels)
        say(f"wrote {path}")


def _draw_rod(directory: Path, checks: Sequence[Check]) -> None:
    """Draw how the solution for a rod of ever more points converges to that of the heat equation."""
    from simsuite.pictures.convergence import Curve, Panel, draw_orders

    fitted = [(check.name, check.data) for check in checks if "factor" in check.data]
    curves = [Curve(name, d["sizes"], d["errors"], d["order"], d["factor"]) for name, d in fitted]
    path = directory / "linear_heat1d.png"
    panel = Panel("second differences, exact in time", "between points, m", "relative error", 2.0, curves)
    draw_orders(path, "linear, heat1d", "decaying sines against the heat equation", [panel])
    say(f"wrote {path}")


def _draw_estimates(directory: Path, checks: Sequence[Check]) -> None:
    """Draw how estimates converge to the exact value, for all estimators."""
    from simsuite.pictures.estimates import Estimates, draw_estimates

    drawn = [
        Estimates(d["estimator"], d["paths"], d["differences"], d["standard_errors"], d["order"])
        for d in (check.data for check in checks)
        if "differences" in d
    ]
    path = directory / "gbm_convergence.png"
    draw_estimates(path, "gbm", "an arithmetic Asian call, by estimators", drawn)
    say(f"wrote {path}")


def _draw_levels(directory: Path, name: str, checks: Sequence[Check]) -> None:
    """Draw a panel for each option whose price is known, with the errors at each level."""
    from simsuite.pictures.estimates import Estimates, draw_estimates

    drawn = [
        Estimates(c.name, d["paths"], [[p - d["exact"]] for p in d["prices"]], d["standard_errors"], d["order"])
        for c, d in ((check, check.data) for check in checks)
        if d.get("exact") is not None and "prices" in d and min(d["standard_errors"]) > 0
    ]
    if not drawn:
        say("nothing is drawn: no option has a price to compare with")
        return
    path = directory / f"{name}.png"
    draw_estimates(path, name, "options whose prices are known", drawn)
    say(f"wrote {path}")


def _draw_study(directory: Path, name: str, found: Sequence[Any], checks: Sequence[Check]) -> None:
    from simsuite.pictures.convergence import Curve, Panel, draw_orders
    from simsuite.verify.heat.scenario_report import lines

    drawn = [Curve(*line) for line in lines(found, checks)]
    if not drawn:
        say("nothing is drawn: all grids give the same")
        return
    path = directory / f"{name}.png"
    what = "changes from each grid to the next" if "gci" in checks[0].data else "errors against the reference"
    draw_orders(path, name, what, [Panel("", "cell along x, m", "K", 2.0, drawn)])
    say(f"wrote {path}")
