"""The report on a run, as far as it got."""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simsuite.errors import UsageError
from simsuite.inspection import inspect
from simsuite.io.directory import RunDirectory
from simsuite.io.layout import as_text
from simsuite.io.reading import reading
from simsuite.pictures import draw
from simsuite.pictures.recording import Recording
from simsuite.reporting import provenance
from simsuite.reporting.figures import picture
from simsuite.reporting.markup import Content, details, escaped, facts, paragraph, table
from simsuite.reporting.page import Page, Section
from simsuite.reporting.toml_text import scenario_text
from simsuite.summaries.lines import head_facts, short_stepper, summary_lines
from simsuite.summaries.units import rows as all_rows
from simsuite.words import duration, measured

_KINDS = {"heat": "Heat conduction", "gbm": "Geometric Brownian motion", "linear": "Linear system"}
_MOST_NUMBERS = 2000  # of the table of all numbers
_LINES = 400  # of what the terminal shows


def page_of(run: RunDirectory) -> Page:
    """The report. Raises UsageError where there is no run, SimsuiteError where its files are damaged."""
    found = inspect(run)
    if not run.results.exists():
        return Page(run.path.resolve().name, "a run", _status(found), False, [Section("Origin", _origin(run, {}))])
    drawn = _picture(run)
    with reading(run.results) as file:
        recording = Recording(run.path, file)
        attributes = {name: as_text(value) for name, value in file.attrs.items() if isinstance(value, (str, bytes))}
        kind = f"{_KINDS[recording.solver]}, a run of simsuite"
        good = found["status"] == "complete"
        sections = list(_sections(run, recording, found, attributes, drawn))
        return Page(recording.title, kind, _status(found), good, sections)


def _picture(run: RunDirectory) -> str:
    """What `simsuite plot` draws; "" without frames. It opens the results by itself: they must not be open already, as
    HDF5 refuses to open a file twice in different ways, which is what a run that goes on asks for.

    Raises UsageError for results of an unknown solver."""
    with reading(run.results) as file:
        recording = Recording(run.path, file)
        solver, title, frames = recording.solver, recording.title, recording.frames
    if solver not in _KINDS:
        raise UsageError(f"{run.results} was made by solver {solver!r}, which has no reports")
    alt = f"{title}: what `simsuite plot` draws of the run; its numbers are in the tables of this page"
    return picture(lambda path: draw(run.path, path), alt, "What simsuite plot draws of the run.") if frames else ""


def _sections(
    run: RunDirectory, recording: Recording, found: Mapping[str, Any], attributes: Mapping[str, str], drawn: str
) -> Iterator[Section]:
    solver = importlib.import_module(f"simsuite.reporting.{recording.solver}")
    summary = found["summary"]
    yield Section(
        "What came out", _so_far(found) if summary is None else _results(summary, solver.results(summary, recording))
    )
    yield Section("Picture", drawn)
    if recording.frames:
        yield from solver.sections(recording)
    yield Section("Scenario", _scenario(run, attributes))
    yield Section("Origin", _origin(run, attributes))


def _results(summary: Mapping[str, Any], tables: str) -> str:
    """Facts, warnings, the tables of the solver, all numbers, and the lines of the terminal."""
    text = facts((name, value) for name, value in head_facts(summary, True))
    for warning in summary.get("warnings", ()):
        text += paragraph(f"Warning: {warning}", "warning")
    numbers: list[Sequence[Content]] = []
    for row in all_rows(summary):
        numbers.append(row)
        if len(numbers) == _MOST_NUMBERS:
            break
    caption = "Numbers by their names in summary.json"
    every = details("All numbers", table(caption, ("name", "value", "unit"), numbers, True))
    lines = summary_lines(summary, True)
    words = "\n".join(lines[:_LINES] + ["  .."] * (len(lines) > _LINES))
    said = details(
        "In the words of simsuite info -v",
        f'<pre tabindex="0" role="region" aria-label="summary">{escaped(words)}</pre>\n',
    )
    return text + tables + every + said


def _so_far(found: Mapping[str, Any]) -> str:
    """What is known of a run that has no summary: it was killed, failed, or goes on."""
    pairs = [("state", _status(found))]
    if "device" in found:
        pairs.append(("device", f"{found['device']} ({found.get('device_name', 'unknown')})"))
    if "stepper" in found:
        pairs.append(("stepper", short_stepper(found, False)))
    checkpoint = found["checkpoint"]
    if checkpoint is not None:
        at = "" if checkpoint.get("time") is None else f", t = {_time(checkpoint['time'], found)}"
        pairs.append(("checkpoint", str(checkpoint.get("stage", f"step {checkpoint['step']}{at}"))))
    if "resume" in found:
        pairs.append(("to go on", found["resume"] + (", once that is put right" if "failure" in found else "")))
    shapes = {name: " × ".join(map(str, shape)) or "one" for name, shape in found["datasets"].items()}
    rows: list[Sequence[Content]] = [[name, shape] for name, shape in shapes.items()]
    held = details("What results.h5 holds so far", table("Arrays in results.h5", ("name", "shape"), rows))
    return facts(pairs) + paragraph("There are no final results: what follows is as far as the run got.") + held


def _status(found: Mapping[str, Any]) -> str:
    """How the run ended, or how far it is."""
    status = str(found["status"]).capitalize()
    words = []
    if "percent" in found:
        status += f" at {found['percent']:.1f} %"
    if found["status"] in ("running", "killed") and found.get("solver") != "gbm" and "steps" in found:
        words.append(f"step {found['steps']}, t = {_time(found['time'], found)} of {_time(found['end'], found)}")
    if found["status"] == "running" and found.get("seconds_left") is not None:
        words.append(f"about {duration(found['seconds_left'])} left")
    if "failure" in found:
        words.append(found["failure"])
    return ": ".join([status, ", ".join(words)]) if words else status


def _time(value: float, found: Mapping[str, Any]) -> str:
    return measured(f"{value:.6g}", found.get("time_unit", ""))


def _scenario(run: RunDirectory, attributes: Mapping[str, str]) -> str:
    text = run.read_scenario() if run.scenario.exists() else attributes.get("scenario")
    return "" if text is None else scenario_text(text, "The resolved scenario, with all defaults")


def _origin(run: RunDirectory, attributes: Mapping[str, str]) -> str:
    return provenance.of_run(run, dict(attributes))


def report_run(directory: Path) -> Page:
    """The report on the run in a directory."""
    return page_of(RunDirectory.of(directory))
