"""From a scenario file to a validated model, or to a report of all its mistakes."""

from __future__ import annotations

import contextlib
import hashlib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

import tomli_w
from pydantic import BaseModel, ValidationError

from simsuite.errors import Mistake, ScenarioError
from simsuite.plugins import is_solver, part_of, solver_names
from simsuite.scenario.attached import TableError
from simsuite.scenario.branches import faults
from simsuite.scenario.constants import terms_in
from simsuite.scenario.diagnostics import AS_TOML, MAX_SHOWN, Document, joined, plain, render, render_override
from simsuite.scenario.numbers import Terms, unit_of
from simsuite.scenario.other_names import Renamed, by_keys, further_names, override_by_keys
from simsuite.scenario.overrides import Override, OverrideError, settings
from simsuite.scenario.shape import fields_of, header, models_at
from simsuite.scenario.source import Source, SourceError
from simsuite.scenario.spans import KeyPath, Table
from simsuite.scenario.units import symbol
from simsuite.scenario.words import mistakes
from simsuite.words import closest

Model: TypeAlias = Any
"""The model of a solver. Any: which of them it is depends on the file, and each has sections of its own, which are read
where the solver is known."""


class _Context(TypedDict):
    """What validators are told. base: the directory that names of data files start from. terms: what numbers written as
    text refer to."""

    base: Path
    terms: Terms


def stored_model(solver: str, text: str) -> Model:
    """The model of a resolved scenario, as results keep it. Its data files need not be there. Raises ValueError."""
    data = tomllib.loads(text)
    return model_class(solver).model_validate(data, context={"terms": terms_in(data)[0]})


def unit_of_key(solver: str, text: str, key: str) -> str:
    """The unit of a key, dotted as `--set` takes it, of a resolved scenario as results keep it, as "W/(m²·K)"; "" where
    the key has none. Raises ValueError where the text is damaged."""
    data = tomllib.loads(text)
    parts = [int(part) if part.isdecimal() else part for part in key.split(".")]
    while parts and isinstance(parts[-1], int):
        parts.pop()
    if not parts:
        return ""
    models = models_at(model_class(solver), data, tuple(parts[:-1]))
    model = next((each for each in models if parts[-1] in fields_of(each)), None)
    return "" if model is None else symbol(unit_of(model, str(parts[-1])), terms_in(data)[0].scales)


def model_class(solver: str) -> type[BaseModel]:
    """The model of a solver's scenarios. Raises KeyError where there is no such solver, and BrokenPlugin."""
    model: type[BaseModel] = part_of(solver, "scenario")
    return model


@dataclass(frozen=True)
class Scenario:
    """A scenario that can be run.

    model: what it says, with all defaults. path: its file. base: the directory that names of data files start from.
    """

    model: Model
    path: Path
    base: Path
    document: Document = field(repr=False, compare=False)

    @property
    def solver(self) -> str:
        name: str = self.model.solver
        return name

    @property
    def overrides(self) -> list[str]:
        """What is set on top of the file, as "key=value"."""
        return [override.text for override, _ in self.document.overrides]

    def resolved_toml(self) -> str:
        """The scenario with all defaults and overrides, as a file that loads back to an equal model."""
        return tomli_w.dumps(self._resolved())

    def _resolved(self) -> Table:
        table: Table = self.model.model_dump(mode="json", by_alias=True, exclude_none=True)
        return table

    def as_written(self, key: str) -> str:
        """A key, dotted as ``--set`` takes it, by the other name by which this scenario has it, "system.A"."""
        for written, own in self.document.renamed.items():
            name, other = (".".join(map(str, path)) for path in (own, written))
            if key == name or key.startswith(f"{name}."):
                return other + key.removeprefix(name)
        return key

    def differences(self, resolved: str) -> list[str]:
        """The keys, dotted as ``--set`` takes them, in which another resolved scenario differs from this one; of a list
        that is empty in one of them its own key, and not those within as well. Keys that it does not have, since it is
        of an earlier version, stand for their defaults."""
        other = tomllib.loads(resolved)
        with contextlib.suppress(ValidationError):
            context = {"base": self.base, "terms": terms_in(other)[0]}
            model = type(self.model).model_validate(other, context=context)
            other = model.model_dump(mode="json", by_alias=True, exclude_none=True)
        mine, theirs = dict(leaves(self._resolved(), ())), dict(leaves(other, ()))
        keys = dict.fromkeys([*mine, *theirs])
        differing = {key for key in keys if mine.get(key) != theirs.get(key)}
        parts = {key for key in differing if any(key[:n] in differing for n in range(1, len(key)))}
        found = [".".join(map(str, key)) for key in keys if key in differing - parts]
        # a constant that is used shows in the keys that it is used in, which are kept with their numbers
        return found if any(not name.startswith("constants.") for name in found) else []

    def files(self) -> dict[str, str]:
        """SHA-256 of every data file that the scenario refers to, by dotted key. Raises OSError if one has gone."""
        return {key: hashlib.sha256((self.base / name).read_bytes()).hexdigest() for key, name in self.file_names()}

    def file_names(self) -> Iterator[tuple[str, str]]:
        """Every data file that the scenario refers to: the dotted key, and the name as it stands there."""
        for key, name in leaves(self._resolved(), ()):
            if key[-1] == "file" and isinstance(name, str):
                yield ".".join(map(str, key[:-1])), name

    def explain(self, mistakes: Sequence[Mistake], colour: bool = False) -> ScenarioError:
        """The error for mistakes that only a solver can find, shown where they stand in the file."""
        return self.document.error(mistakes, colour)


def load(
    path: str | Path,
    overrides: Sequence[str] = (),
    base: Path | None = None,
    colour: bool = False,
    override_name: str = "--set ",
    options: Mapping[str, str] | None = None,
) -> Scenario:
    """The scenario in a file, with ``key=value`` overrides on top.

    base: where names of data files start from (default: the file's directory). colour: of the report. override_name:
    what reports put before an override. options: see `Document`. Raises `ScenarioError` with a report of every mistake.
    """
    path = Path(path)
    try:
        source = Source.read(path)
    except SourceError as error:
        raise _unreadable(Source(str(path), ""), error, colour) from None
    where = path.parent if base is None else base
    return _loaded(source, path, where, overrides, colour, override_name, options or {})


def load_table(
    table: Mapping[str, object],
    path: Path,
    overrides: Sequence[str] = (),
    override_name: str = "--set ",
    options: Mapping[str, str] | None = None,
) -> Scenario:
    """The scenario that a Python dictionary holds, as a file would. path: what its file would be called; names of data
    files start from the working directory. Raises `ScenarioError`, and `UsageError` for what a scenario cannot hold."""
    source = Source(AS_TOML, "\n".join(settings(table)))
    return _loaded(source, path, Path(), overrides, False, override_name, options or {})


def _loaded(
    source: Source,
    path: Path,
    base: Path,
    overrides: Sequence[str],
    colour: bool,
    override_name: str,
    options: Mapping[str, str],
) -> Scenario:
    document, data = _read(source, overrides, colour, override_name, options)
    found, model = _model(data)
    if model is None:
        raise document.error(found, colour)
    data, document = _attached(data, document, model, base, colour)
    terms, wrong = terms_in(data)
    if wrong:  # expressions that use these constants cannot be judged
        raise document.error(wrong, colour)
    context: _Context = {"base": base, "terms": terms}
    try:
        return Scenario(model.model_validate(_with_values(data, terms), context=context), path, base, document)
    except ValidationError as error:
        found = [_of_lists(mistake, document, model) for mistake in _mistakes(error, model, data, terms)]
        raise document.error([*found, *_between_sound_parts(found, model, data, context)], colour) from None


def _attached(
    data: Table, document: Document, model: type[BaseModel], base: Path, colour: bool
) -> tuple[Table, Document]:
    """The contents of a file with those of the table that it names, if the model has such a key; and where both stand.
    Raises ScenarioError."""
    attach = getattr(model, "attach", None)
    if attach is None:
        return data, document
    try:
        data, attached = attach(data, base)
    except TableError as error:
        found = [Mistake((), message, help) for _, message, help in error.found]
        blocks = [render(error.name, error.text, span, message, help, colour) for span, message, help in error.found]
        raise ScenarioError(found, joined(blocks[:MAX_SHOWN], len(blocks))) from None
    return data, replace(document, attached=attached)


def _with_values(data: Table, terms: Terms) -> Table:
    """The contents of a file with the values of its constants."""
    return data | {"constants": dict(terms.constants)} if terms.constants else data


def _of_lists(mistake: Mistake, document: Document, model: type[BaseModel]) -> Mistake:
    """The mistake, in other words where an override sets a key of a list's element but the file does not have that list
    of tables."""
    target, field = document.made(mistake.path), fields_of(model).get(str(mistake.path[0])) if mistake.path else None
    if target is None or field is None or not (title := header(str(mistake.path[0]), field)).startswith("[["):
        return mistake
    key = next(str(name) for name in reversed(target) if not str(name).isdigit())
    element = f"{mistake.path[0]}.0.{key}"
    help = f"`{mistake.path[0]}` is a list of tables, and the file has none: put {title} into it; `{element}` is then"
    help += f" the `{key}` of the first"
    return replace(mistake, help=help)


def _mistakes(error: ValidationError, model: type[BaseModel], data: Table, terms: Terms) -> list[Mistake]:
    found = faults(error, data, further_names(model))
    return [mistake for fault in found for mistake in mistakes(fault, model, data, terms)]


def _between_sound_parts(
    found: Sequence[Mistake], model: type[BaseModel], data: Table, context: _Context
) -> Iterator[Mistake]:
    """Mistakes between those parts of a scenario in which none was found, which models are not asked about before all
    parts are sound."""
    divide = getattr(model, "sound_parts", None)
    parts = None if divide is None else divide(data, [mistake.path for mistake in found])
    if parts is None:
        return
    try:
        model.model_validate(_with_values(parts.data, context["terms"]), context=context)
    except ValidationError as error:
        for mistake in _mistakes(error, model, parts.data, context["terms"]):
            path = parts.in_file(mistake.path)
            further = None if path is None else replace(mistake, path=path)
            if further is not None and further not in found:
                yield further


def _unreadable(source: Source, error: SourceError, colour: bool) -> ScenarioError:
    report = plain(error.message, error.help, colour)
    if error.span:
        report = render(source.name, source.text, error.span, error.message, error.help, colour)
    return ScenarioError([Mistake((), error.message, error.help)], report)


def _read(
    source: Source, overrides: Sequence[str], colour: bool, override_name: str, options: Mapping[str, str]
) -> tuple[Document, Table]:
    try:
        data = source.parse()
    except SourceError as error:
        raise _unreadable(source, error, colour) from None
    model = _model(data)[1]
    renamed: Renamed = {} if model is None else by_keys(data, model)
    applied: list[tuple[Override, KeyPath]] = []
    failed: list[tuple[Mistake, str]] = []
    for text in overrides:
        try:
            override = Override.parse(text)
            if model is not None and (own := override_by_keys(override, model)) != override:
                first, second = ((each.names[0][0], each.names[1][0]) for each in (override, own))
                override, renamed = own, {**renamed, first: second}
            applied.append((override, override.apply(data)))
        except OverrideError as error:
            how = colour, override_name, options.get(text)
            report = render_override(text, error.span, error.message, error.help, *how)
            failed.append((Mistake((), error.message, error.help), report))
    if failed:
        raise ScenarioError([mistake for mistake, _ in failed], joined([report for _, report in failed], len(failed)))
    return Document(source, tuple(applied), override_name, options, renamed=renamed), data


def _model(data: Table) -> tuple[list[Mistake], type[BaseModel] | None]:
    solver = data.get("solver")
    if isinstance(solver, str) and is_solver(solver):
        return [], model_class(solver)
    names = solver_names()
    known = ", ".join(f'"{name}"' for name in names)
    if solver is None:
        return [Mistake((), "missing key `solver`", f"begin with solver = one of {known}")], None
    close = closest(solver, names) if isinstance(solver, str) else None
    help = f'did you mean "{close}"?' if close else None
    return [Mistake(("solver",), f"`solver` must be one of {known}", help)], None


def leaves(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, object]]:
    """Every value of a nested table that is not itself a table or a list with tables in it."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from leaves(item, (*path, key))
    elif isinstance(value, list) and any(isinstance(item, dict) for item in value):
        for i, item in enumerate(value):
            yield from leaves(item, (*path, i))
    else:
        yield path, value
