"""The Typer application: commands parse, call and print. What they call is imported when they run."""

from __future__ import annotations

import errno
import os
import sys
import traceback
from typing import NoReturn

import typer

from simsuite.cli import bench, check, compare, doctor, export, info, keys, new, plot, run, verify
from simsuite.cli.console import begin_command, error, print_error_json, say, say_unbroken
from simsuite.cli.memory import lacks_memory, require_addresses
from simsuite.cli.reports import command as report
from simsuite.cli.sweeps import command as sweep
from simsuite.cli.videos import command as video
from simsuite.cli.watching import command as watching
from simsuite.errors import DeviceError, DeviceFailure, ScenarioError, SimsuiteError, UsageError
from simsuite.parallel.launch import be_silent, rank_and_size
from simsuite.version import VERSION

app = typer.Typer(
    name="simsuite",
    help="Time-stepping simulations on a GPU from one TOML file: heat conduction, geometric Brownian motion, "
    "linear systems.",
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 1 another error, 2 usage or scenario error, 3 numerical failure, 4 no usable device, "
    "5 a comparison failed, 75 stopped early (run again to continue), 130 the same by Ctrl-C.",
)
app.command()(run.run)
app.command()(run.resume)
app.command()(sweep.sweep)
app.command()(check.check)
app.command()(check.repair)
app.command()(info.info)
app.command("list")(info.list_runs)
app.command()(watching.watch)
app.command()(compare.compare)
app.command()(plot.plot)
app.command()(report.report)
app.command()(video.animate)
app.command()(export.export)
app.command()(new.new)
app.command()(doctor.doctor)
app.command()(keys.schema)
app.command()(keys.explain)
app.command()(verify.verify)
app.command()(bench.bench)


# errors of the system that are about the name of a file, or about who may use it
_OF_NAMES = (errno.ENAMETOOLONG, errno.EACCES, errno.EPERM, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.EROFS)

_SHARED = ("run", "resume")  # commands that several processes can share


def _version(wanted: bool) -> None:
    if wanted:
        print(f"simsuite {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", "-V", "-v", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with the codes of `simsuite.errors`. With --json every error is an object too."""
    try:
        _run(as_json="--json" in sys.argv[1:])
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is no one to tell
        sys.exit(1)


def _run(as_json: bool) -> None:
    """Run the command line, and put errors into words."""
    begin_command()
    if rank_and_size()[0] > 0:
        be_silent()
    try:
        _require_single("".join(sys.argv[1:2]))
        require_addresses()
        app(prog_name="simsuite")
    except SystemExit as e:
        # the text of Click's error if the command line makes no sense
        usage = getattr(e.__context__, "format_message", None)
        if as_json and usage is not None:
            print_error_json("UsageError", usage(), 2)
        elif usage is not None and (help := _help_with_options(sys.argv[1:])):
            say(f"help: {help}")
        raise
    except SimsuiteError as e:
        _end(e, as_json)
    except BrokenPipeError:
        raise
    except Exception as e:
        if lacks_memory(e):
            _end(DeviceError(f"there is not enough memory on this machine: {e}"), as_json)
        if isinstance(e, OSError) and e.errno in _OF_NAMES and e.filename is not None:
            _end(UsageError(f"cannot use {os.fsdecode(e.filename)}: {e.strerror}"), as_json)
        say_unbroken(traceback.format_exc().rstrip())
        say("error: this is a bug in simsuite; please report it with the text above")
        if as_json:
            print_error_json(type(e).__name__, str(e), 1)
        sys.exit(1)


def _require_single(command: str) -> None:
    """Raises UsageError for a command that a launcher of MPI has started several times, but that cannot be shared."""
    size = rank_and_size()[1]
    if size > 1 and command and not command.startswith("-") and command not in _SHARED:
        help = f"mpiexec can start {' and '.join(_SHARED)} alone"
        raise UsageError(f"{size} processes cannot share `simsuite {command}`\n  = help: {help}")


def _help_with_options(words: list[str]) -> str | None:
    """What to write in place of options that do not exist, where that is known; else None."""
    if setting := _setting_in_pieces(words):
        return f"write --set {setting}, in one piece"
    for word, after in zip(words, [*words[1:], ""]):
        option, _, value = word.partition("=")
        if option == "--tolerance":
            return f"write --set time.tolerance={value or after or '1e-4'}"
        if option in ("--resume", "--continue", "--restart"):
            return "the same command, without an option, continues an interrupted run; --fresh would discard it"
        if option == "--dry-run":
            return "`simsuite check SCENARIO` says what a run would do, and runs nothing"
    return None


def _setting_in_pieces(words: list[str]) -> str | None:
    """How a setting of a command line is written in one word, if it is in several, as in `--set KEY VALUE` or
    `--set KEY = VALUE`; None if none is."""
    for i, option in enumerate(words):
        key, first, second = [*words[i + 1 : i + 4], "", "", ""][:3]
        if option != "--set" or ("=" in key and not key.endswith("=")):
            continue
        value = first if key.endswith("=") or first != "=" else second
        if key and value and not value.startswith("--"):
            return f"{key.removesuffix('=')}={value.removeprefix('=')}"
    return None


def _end(e: SimsuiteError, as_json: bool) -> NoReturn:
    """Say what went wrong, and exit with its code."""
    error(e)
    if as_json:
        mistakes = e.mistakes if isinstance(e, ScenarioError) else ()
        message = "; ".join(m.message for m in mistakes) or str(e)
        print_error_json(type(e).__name__, message, e.exit_code, mistakes)
    if isinstance(e, DeviceFailure):  # else each library would complain that it cannot free its memory on the device
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(e.exit_code)
    sys.exit(e.exit_code)
