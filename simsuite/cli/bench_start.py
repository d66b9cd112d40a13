"""`simsuite bench start`: how long runs take from the start of their process to the first step."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simsuite.cli.console import print_json, say
from simsuite.errors import UsageError


def bench_start(
    scenarios: Sequence[Path], device: str, cold: bool, busy: bool, output: Path | None, as_json: bool
) -> None:
    """Print a row for each run as it is done. Raises UsageError for scenarios that are not there."""
    from simsuite.bench.start.measure import StartWish, measurements, templates
    from simsuite.bench.start.report import TABLE
    from simsuite.io.directory import without_nan
    from simsuite.version import VERSION

    missing = [str(path) for path in scenarios if not path.is_file()]
    if missing:
        raise UsageError(f"there is no file {missing[0]}")
    wish = StartWish(scenarios or templates(), device, cold, busy)
    rows: list[dict[str, Any]] = []
    for row in measurements(wish):
        if not rows and not as_json:
            print(f"device      {row['device']} ({row['device_name']})", *TABLE.head(), sep="\n", flush=True)
        if as_json:
            say(f"done: {row['scenario']}, cache {row['cache']}")
        else:
            print(TABLE.line(row), flush=True)
        rows.append(row)
    whole = without_nan({"simsuite": VERSION, "what": "start", "rows": rows})
    if as_json:
        print_json(whole)
    if output is not None:
        (output / "bench.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        say(f"wrote {output / 'bench.json'}")
