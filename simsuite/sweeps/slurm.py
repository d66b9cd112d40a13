"""A script for SLURM: an array of tasks, each of which runs some members of a sweep.

A task that its time limit, or somebody, asks to stop leaves checkpoints, has itself queued again, and goes on where it
was. Outside of an array the script puts the results of all members together.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

WARNING = 60  # seconds before the time limit at which a task is asked to stop
STOPPED = 75  # the exit code of a sweep that was stopped and will go on
_ENDED = 128 + 15  # what bash has for a process that SIGTERM ended, as it does before the sweep handles it

_SCRIPT = """\
#!/bin/bash
# Written by `simsuite sweep --slurm`: {members} members, {per_task} in each of {tasks} tasks. Submit it by
#     job=$(sbatch --parsable {name})
#     sbatch --dependency=afterany:$job --wrap {merge}
# the second of which puts the results together in {results}.
# Add here what your cluster wants: --partition, --account, --gres=gpu:1, --cpus-per-task, --mem
#SBATCH --job-name={job}
#SBATCH --array=0-{last_task}
#SBATCH --time=01:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@{warning}

cd {directory} || exit 1
sweep=({command})
if [ -z "${{SLURM_ARRAY_TASK_ID:-}}" ]; then
    exec "${{sweep[@]}}"
fi

first=$((SLURM_ARRAY_TASK_ID * {per_task}))
last=$((first + {per_task} - 1))
if [ "$last" -gt {last_member} ]; then last={last_member}; fi

# A signal is passed on to the sweep, which writes checkpoints and ends with code {stopped}, or with
# {ended} where it has not begun yet; `wait` then waits again.
told=0
child=
trap 'told=1; if [ -n "$child" ]; then kill -TERM "$child" 2>/dev/null; fi' TERM
"${{sweep[@]}}"{retry} --members "$first-$last" &
child=$!
if [ "$told" = 1 ]; then kill -TERM "$child"; fi
told=1
while [ "$told" = 1 ]; do
    told=0
    wait "$child"
    code=$?
done
if [ "$code" -eq {stopped} ] || [ "$code" -eq {ended} ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}"
fi
exit "$code"
"""


def tasks(members: int, per_task: int) -> int:
    """How many tasks run so many members."""
    return -(-members // per_task)


def script(
    path: Path, command: Sequence[str], directory: Path, results: Path, members: int, per_task: int, retry: bool
) -> str:
    """The text of the script.

    path: where it will be. command: the words of the sweep of all members. directory: in which the command is run.
    results: the file that it writes. retry: whether tasks run members again that failed.
    """
    count = tasks(members, per_task)
    return _SCRIPT.format(
        members=members,
        per_task=per_task,
        tasks=count,
        name=_in_comment(path.name),
        merge=_in_comment(f"bash {shlex.quote(str(path.resolve()))}"),
        results=str(results).encode("unicode_escape").decode(),
        job=_plain(path.stem),
        last_task=count - 1,
        warning=WARNING,
        directory=shlex.quote(str(directory)),
        command=shlex.join(command),
        last_member=members - 1,
        stopped=STOPPED,
        ended=_ENDED,
        retry=" --retry" if retry else "",
    )


def _in_comment(word: str) -> str:
    """A word of a command in a comment, which has one line."""
    return shlex.quote(word).encode("unicode_escape").decode()


def _plain(name: str) -> str:
    """A name of letters, digits and a few signs, for a line that no shell reads."""
    return "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "_" for c in name) or "sweep"
