"""The Typer application: commands parse, call and print. What they call is imported when they run."""

from __future__ import annotations

import sys
import traceback

import typer

from simsuite.cli import bench, check, doctor, info, new, plot, run, schema, verify
from simsuite.cli.console import error
from simsuite.errors import SimsuiteError
from simsuite.version import VERSION

app = typer.Typer(
    name="simsuite",
    help="Time-stepping simulations on a GPU from one TOML file: heat conduction, geometric Brownian motion, "
    "linear systems.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Exit codes: 0 done, 1 internal error, 2 usage or scenario error, 3 numerical failure, 4 no usable device, "
    "5 a comparison failed, 75 stopped early (run again to continue), 130 the same by Ctrl-C.",
)
app.command()(run.run)
app.command()(run.resume)
app.command()(check.check)
app.command()(info.info)
app.command()(plot.plot)
app.command()(new.new)
app.command()(doctor.doctor)
app.command()(schema.schema)
app.command()(verify.verify)
app.command()(bench.bench)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"simsuite {VERSION}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help="Print the version."),
) -> None:
    pass


def main() -> None:
    """Run the command line and exit with the codes of `simsuite.errors`."""
    try:
        app()
    except SimsuiteError as e:
        error(e)
        sys.exit(e.exit_code)
    except BrokenPipeError:
        sys.stderr.close()  # whoever read our output has gone; there is no one to tell
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        print("error: this is a bug in simsuite; please report it with the text above", file=sys.stderr)
        sys.exit(1)
