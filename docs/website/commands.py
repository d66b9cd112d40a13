"""The page on all commands, made from the Typer application: its arguments and options, with defaults and limits."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import typer

from simsuite.cli import app

HEAD = """# All commands

This page is made from the command line itself; `simsuite COMMAND --help` prints the same. [](running.md) shows
the commands at work.

"""


def page() -> str:
    """The page in Markdown."""
    group = typer.main.get_command(app)
    # Any: Typer brings its own classes of commands, of which it exports no types
    context: Any = group.context_class(group, info_name="simsuite")
    names = group.list_commands(context)
    lines = [HEAD.rstrip(), "", "| command | does |", "|---|---|"]
    commands = {name: group.get_command(context, name) for name in names}
    for name, command in commands.items():
        first = inspect.cleandoc(command.help or "").split("\n\n")[0]
        lines.append(f"| [`simsuite {name}`](#simsuite-{name}) | {_plain(first)} |")
    lines += ["", *_table(group, context), _plain(group.epilog or ""), ""]
    for name, command in commands.items():
        inside = command.context_class(command, info_name=name, parent=context)
        usage = " ".join(command.collect_usage_pieces(inside))
        lines += [f"## `simsuite {name}`", "", *_paragraphs(command.help or ""), ""]
        lines += ["```text", f"simsuite {name} {usage}", "```", "", *_table(command, inside)]
    return "\n".join(lines) + "\n"


def _table(command: Any, context: Any) -> Iterator[str]:
    """A table of arguments and options. Any: as above."""
    yield from ("| argument, option | means |", "|---|---|")
    for parameter in command.get_params(context):
        record = parameter.get_help_record(context)
        if record is not None:
            names, text = record
            yield f"| {_code(names.strip().removeprefix('*').strip())} | {_plain(text)} |"
    yield ""


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield from (_plain(paragraph), "")


def _code(text: str) -> str:
    return "`" + text.replace("|", "\\|") + "`"


def _plain(text: str) -> str:
    """Text in one line, in which no character means anything but backticks."""
    words = re.sub(r"\s+", " ", text.strip())
    parts = re.split(r"(`[^`]*`)", words)
    parts[::2] = [re.sub(r"([\\*_<>\[\]|#])", r"\\\1", part) for part in parts[::2]]
    return "".join(parts)
