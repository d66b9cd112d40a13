"""The report on a sweep, or on a search for the value of a key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from simsuite.pictures.sweeps import draw_sweep
from simsuite.pictures.sweeps.study import Study, in_words
from simsuite.reporting import provenance
from simsuite.reporting.figures import picture
from simsuite.reporting.markup import Cell, Content, facts, paragraph, table
from simsuite.reporting.page import Page, Section
from simsuite.reporting.toml_text import scenario_text
from simsuite.sweeps.directory import Ended, SweepDirectory
from simsuite.sweeps.plan import Plan, value_in_words
from simsuite.sweeps.table import main_numbers, standard_error_of
from simsuite.words import counted, duration

_COLUMNS = 24  # results in the table


def page_of(directory: Path) -> Page:
    """The report. Raises SimsuiteError where the sweep is damaged."""
    files = SweepDirectory(directory)
    solver, plan, goal = files.stored()
    ended = files.read()
    members, failed = len(plan.members), sum(each.status == "failed" for each in ended.values())
    study = Study.of(directory) if any(each.status == "complete" for each in ended.values()) else None
    whole = len(ended) >= members
    state = "Running" if files.in_use else "Complete" if whole else "Stopped"
    status = f"{state}: {len(ended)} of {counted(members, 'member')} ended" + (f", {failed} failed" if failed else "")
    title = in_words(plan, goal) if study is None else study.title
    sections = list(_sections(files, solver, plan, goal, ended, study))
    kind = "A search by simsuite" if goal is not None else "A sweep of simsuite"
    return Page(title, f"{kind}, solver {solver}", status, whole and not failed, sections)


def _sections(
    files: SweepDirectory,
    solver: str,
    plan: Plan,
    goal: Mapping[str, Any] | None,
    ended: Mapping[int, Ended],
    study: Study | None,
) -> Iterator[Section]:
    yield Section("What varies", _plan(plan, goal, ended, study))
    if study is not None:
        alt = f"{study.title}: what came out over the keys that vary; the numbers are in the table of members"
        drawn = picture(lambda path: draw_sweep(files.path, path), alt, "What simsuite plot draws of the sweep.")
        yield Section("Picture", drawn)
    yield Section("Members", _members(solver, plan, ended, study) + _failures(plan, ended))
    if files.scenario.exists():
        yield Section("Scenario", scenario_text(files.scenario.read_text("utf-8"), "The scenario of all members"))
    yield Section("Origin", provenance.of_sweep(files.path))


def _plan(plan: Plan, goal: Mapping[str, Any] | None, ended: Mapping[int, Ended], study: Study | None) -> str:
    """Keys with their values, and what a search was for."""
    rows: list[Sequence[Content]] = []
    for k in range(len(plan.keys)):
        values = list(dict.fromkeys(value_in_words(values[k]) for values in plan.members))
        shown = ", ".join(values[:12]) + (f", .. ({len(values)} values)" if len(values) > 12 else "")
        rows.append([_key(plan, study, k), shown])
    seconds = sum(each.seconds for each in ended.values())
    how = "one after another" if goal is not None else "all combinations of the values"
    how = how if goal is not None or plan.is_product else "each with values of its own"
    pairs = [("members", f"{len(plan.members)}, {how}"), ("time of all runs", duration(seconds))]
    if goal is not None:
        pairs = [
            ("looked for", f"the value of {plan.keys[0]} at which {goal['name']} is {goal['target']:.10g}"),
            *_answer(plan, goal, ended),
            *pairs,
        ]
    return facts(pairs) + table("Keys that vary", ("key", "values"), rows)


def _answer(plan: Plan, goal: Mapping[str, Any], ended: Mapping[int, Ended]) -> Iterator[tuple[str, str]]:
    """The member that came closest to what was looked for."""
    name, target = str(goal["name"]).removeprefix("results."), float(goal["target"])
    known = {i: value for i, each in ended.items() if (value := each.results.get(name)) is not None}
    if known:
        best = min(known, key=lambda i: abs(known[i] - target))
        yield "closest", f"{plan.words(best)}: {name} = {known[best]:.10g}"


def _key(plan: Plan, study: Study | None, k: int) -> str:
    return plan.keys[k] if study is None else study.key_label(k)


def _members(solver: str, plan: Plan, ended: Mapping[int, Ended], study: Study | None) -> str:
    """The table of all members, with the results that people look for first."""
    names = list(dict.fromkeys(name for each in ended.values() for name in each.results))
    main = main_numbers(solver, names) or names
    errors = {name: error for name in main if (error := standard_error_of(name, names))}
    columns = [name for name in main if name not in errors.values()][:_COLUMNS]
    header = ["member", *(_key(plan, study, k) for k in range(len(plan.keys))), "status"]
    for name in columns:
        header += [name if study is None else study.label(name)] + ["± standard error"] * (name in errors)
    rows: list[Sequence[Content]] = []
    for i, values in enumerate(plan.members):
        each = ended.get(i)
        row: list[Content] = [i, *map(_value, values), "not done yet" if each is None else each.status]
        for name in columns:
            row.append(_result(each, name))
            if name in errors:
                row.append(_result(each, errors[name], 3))
        rows.append(row)
    more = len(main) - len(errors) - len(columns)
    left = f" {counted(more, 'more result')} in sweep.h5." if more > 0 else ""
    text = paragraph(f"A click on the head of a column sorts by it.{left}", "note needs-script")
    return text + table("Members with their results", header, rows, True, "all of them are in sweep.h5")


def _value(value: object) -> Content:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        return Cell(value_in_words(value), float(value), True)
    return value_in_words(value)


def _result(each: Ended | None, name: str, digits: int = 10) -> Cell:
    value = None if each is None else each.results.get(name)
    return Cell("–", None, True) if value is None else Cell(f"{value + 0.0:.{digits}g}", float(value), True)


def _failures(plan: Plan, ended: Mapping[int, Ended]) -> str:
    rows: list[Sequence[Content]] = [
        [str(i), plan.words(i), each.error or ""] for i, each in sorted(ended.items()) if each.status == "failed"
    ]
    return table("Members that failed", ("member", "values", "why"), rows) if rows else ""
