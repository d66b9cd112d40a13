"""Runs several command lines of simsuite one after another in the same processes, which takes less time than as many
processes: commands.py FILE, a JSON list of [directory, words..]. After each the
exit codes so far are printed as a JSON list.

With ONE_GPU in the environment all processes of a machine take its first GPU."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

from one_gpu import share_one_gpu

from simsuite.cli.main import main
from simsuite.parallel.launch import rank_and_size


def code_of(words: list[str]) -> int:
    sys.argv[1:] = words
    try:
        main()
    except SystemExit as end:
        return int(end.code or 0)
    return 0


if "ONE_GPU" in os.environ:
    share_one_gpu()
codes, out = [], sys.stdout
for directory, *words in json.loads(Path(sys.argv[1]).read_text(encoding="utf-8")):
    Path(directory).mkdir(parents=True, exist_ok=True)
    os.chdir(directory)
    codes.append(code_of(words))
    if rank_and_size()[0] == 0:
        print(json.dumps(codes), file=out, flush=True)
