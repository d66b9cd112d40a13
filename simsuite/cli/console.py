"""Where text goes: data to stdout, messages to stderr, colour only where someone looks and wants it."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TextIO, TypeVar

import typer

from simsuite.cli.streams import give_up_stderr
from simsuite.cli.terminals.wrapping import fitted, fitted_report
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


def columns(stream: TextIO) -> int | None:
    """How many columns the terminal has that a stream goes to; None where it goes elsewhere, or that is not known."""
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return None


def show(text: str) -> None:
    """Print what a command was asked for, in which strings of files cannot steer the terminal; there lines are broken
    between words, elsewhere they stay whole."""
    width = columns(sys.stdout)
    shown = printable(text, "\n")
    print(shown if width is None else fitted(shown, width))


def say(text: str) -> None:
    """Print a message, like what `show` prints."""
    width = columns(sys.stderr)
    said = printable(text, "\n")
    _tell(said if width is None else fitted(said, width))


def say_unbroken(text: str) -> None:
    """Print a message whose lines stay as they are, such as a traceback."""
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
        width = columns(sys.stderr)
        # the report may be coloured, but has nothing else that steers a terminal
        _tell(e.report if width is None else fitted_report(e.report, width))
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
