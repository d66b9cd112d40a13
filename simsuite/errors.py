"""What can go wrong, each with the exit code that the command line answers with.

0 done · 1 another error · 2 usage or scenario error · 3 numerical failure · 4 no usable device or not enough memory ·
5 a comparison or verification failed · 75 stopped early with a valid checkpoint · 130 the same, by Ctrl-C.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Advice:
    """What to do about an error, in the words of the command line and in those of `simsuite.run`."""

    command: str
    python: str


AFRESH = Advice("start the run again with --fresh", "start the run again with fresh=True")


class SimsuiteError(Exception):
    """Base of every error that simsuite raises on purpose.

    message: what is wrong. advice: ends the message, in the words of the command line unless `in_python` is called.
    """

    exit_code = 1

    def __init__(self, message: str = "", advice: Advice | None = None) -> None:
        super().__init__(message if advice is None else message + advice.command)
        self._message, self._advice = message, advice

    def in_python(self) -> None:
        """Give the advice in the words of `simsuite.run`, for errors that a Python program will see."""
        if self._advice is not None:
            self.args = (self._message + self._advice.python,)

    def leaves(self, safe: str) -> None:
        """Say what is safe of a run that this error ended."""
        self._message = f"{self}; {safe}"
        self.args = (self._message,)


@dataclass(frozen=True)
class Mistake:
    """One mistake in a scenario.

    path: keys (and list indices) from the root of the file to the place, e.g. ``("boundary", "left", "value")``.
    message: what is wrong, in one line. help: what to do about it. column: offset within the value's own text, for
    expressions. on_key: the caret goes under the key instead of the value.
    """

    path: tuple[str | int, ...]
    message: str
    help: str | None = None
    column: int | None = None
    on_key: bool = False


class ScenarioError(SimsuiteError):
    """The scenario cannot be run as written. `mistakes` holds every mistake found."""

    exit_code = 2

    def __init__(self, mistakes: Iterable[Mistake], report: str | None = None) -> None:
        self.mistakes = tuple(mistakes)
        self.report = report or "\n".join(
            f"{'.'.join(map(str, m.path))}: {m.message}" + (f" ({m.help})" if m.help else "") for m in self.mistakes
        )
        super().__init__(self.report)


class UsageError(SimsuiteError):
    """A command was asked for something that makes no sense here."""

    exit_code = 2


class NumericalFailure(SimsuiteError):
    """NaN, Inf or divergence. The last good checkpoint is left as it was. cell: where it came up on a grid, along x and
    along y from 0; None where no cell is to blame."""

    exit_code = 3

    def __init__(self, message: str, cell: tuple[int, int] | None = None) -> None:
        super().__init__(message)
        self.cell = cell


class DeviceError(SimsuiteError):
    """There is no usable device, or not enough memory on it."""

    exit_code = 4


class DeviceFailure(DeviceError):
    """A device failed while it worked, and this process cannot use it any more."""


class PackageMissing(SimsuiteError):
    """A package that only some commands need is not installed. The text names it, and how to get it."""

    @classmethod
    def unless(cls, packages: Iterable[str], extra: str, who: str) -> None:
        """Raise PackageMissing unless all packages can be imported. extra: the extra of simsuite that installs them.
        who: what needs them."""
        for package in packages:
            if importlib.util.find_spec(package) is None:
                raise cls(f"{who} needs {package}, which is not installed: pip install 'simsuite[{extra}]'")


class LibraryMissing(DeviceError):
    """A library that the device works better with is not installed. The text says which, and how to get it."""


class DiskError(SimsuiteError):
    """The disk is full or fails. The exit code is 75 where a checkpoint is safe, from which the run will go on."""

    def leaves(self, safe: str) -> None:
        super().leaves(safe)
        self.exit_code = 75


class ProcessFailure(SimsuiteError):
    """Another process of a run that several share has failed. Its exit code is that of this error."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class VerificationFailure(SimsuiteError):
    """A comparison or verification found something wrong."""

    exit_code = 5
