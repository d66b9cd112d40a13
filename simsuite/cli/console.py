"""Where text goes: data to stdout, messages to stderr, colour only where someone looks and wants it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar

import typer

from simsuite.cli.streams import give_up_stderr
from simsuite.errors import Mistake, ScenarioError, SimsuiteError, UsageError
from simsuite.words import printable

Choice = TypeVar("Choice", bound=Enum)


def one_of(choices: type[Choice]) -> Callable[[object], Choice]:
    """What turns a word of the command line into one of the choices, for typer. The error is in our words, since those
    of typer's own choices depend on what it checks them with."""

    def parse(word: object) -> Choice:
        try:
            return choices(word)
        except ValueError:
            known = ", ".join(f"'{choice.value}'" for choice in choices)
            raise typer.BadParameter(f"'{word}' is not one of {known}.") from None

    return parse


def wants_colour() -> bool:
    """Whether messages may be coloured (https://no-color.org)."""
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def show(text: str) -> None:
    """Print what a command was asked for, in which strings of files cannot steer the terminal."""
    print(printable(text, "\n"))


def say(text: str) -> None:
    """Print a message, in which strings of files cannot steer the terminal."""
    _tell(printable(text, "\n"))


def _tell(text: str) -> None:
    """Print a message to stderr. If that fails, the run goes on and no more messages are written."""
    try:
        print(text, file=sys.stderr, flush=True)
    except OSError:
        give_up_stderr()


def error(e: SimsuiteError) -> None:
    """Report an error; scenario errors bring their own report."""
    if isinstance(e, ScenarioError) and e.report.startswith(("error", "\033")):
        _tell(e.report)  # the report may be coloured, but has nothing else that steers a terminal
    else:
        say(f"error: {e}")


_printed = [False]  # whether this command has put a JSON object on stdout


def begin_command() -> None:
    """A new command begins, which has printed nothing yet."""
    _printed[0] = False


def print_json(data: Mapping[str, Any]) -> None:
    """Print one JSON object; NaN and Inf, which JSON does not have, become null. Nothing in it can steer a terminal."""
    from simsuite.io.directory import without_nan

    _printed[0] = True
    text = json.dumps(without_nan(data), ensure_ascii=False)
    print("".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in text))


def print_error_json(kind: str, message: str, exit_code: int, mistakes: Sequence[Mistake] = ()) -> None:
    """Print the JSON object of a command that failed, unless the command has printed one already.

    kind: the class of the error. mistakes: in a scenario, each with its path there.
    """
    if _printed[0]:
        return
    listed = [{"path": ".".join(map(str, m.path)), "message": m.message, "help": m.help} for m in mistakes]
    about = {"kind": kind, "message": message, **({"mistakes": listed} if listed else {})}
    print_json({"status": "error", "exit_code": exit_code, "error": about})


def writable(directory: Path | None) -> None:
    """Make the directory for what a command draws, so that an error there comes before minutes of work."""
    try:
        if directory is not None:
            directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {directory}: {error.strerror or error}") from error
