"""Record or compare the bits of all results: `cd tests; PYTHONPATH=cli:runs python -m bits [--device cpu] [--write]
[PART OF A NAME]`.

For whoever moves code and means to change no result: record before the first change, compare after each. What is
recorded, in golden/bits.json, holds for one processor and one set of libraries, which it names; elsewhere record first,
from the commit before.
The simulator is `--device cudasim`, with NUMBA_ENABLE_CUDASIM=1.
"""

from __future__ import annotations

import argparse
import logging
import sys
import tempfile
from pathlib import Path

from bits.cases import cases
from bits.record import environment, hashes, load, store


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bits", description=__doc__)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cudasim", "cuda"))
    parser.add_argument("--write", action="store_true", help="record, in place of comparing")
    parser.add_argument("part", nargs="?", default="", help="only runs whose name has this")
    wanted = parser.parse_args()
    logging.getLogger("simsuite").setLevel(logging.CRITICAL)
    known = load().get(wanted.device, {})
    if not wanted.write and known.get("environment") != environment(wanted.device):
        print(f"recorded for {known.get('environment')}, this is {environment(wanted.device)}", file=sys.stderr)
        return 2
    found: dict[str, dict[str, str]] = {}
    changed = 0
    with tempfile.TemporaryDirectory() as scratch:
        for number, (name, scenario) in enumerate(cases(small=wanted.device == "cudasim")):
            if wanted.part not in name:
                continue
            found[name] = hashes(scenario, wanted.device, Path(scratch) / str(number))
            before = known.get("runs", {}).get(name)
            if not wanted.write and before != found[name]:
                changed += 1
                names = {
                    key for key in {*found[name], *(before or {})} if found[name].get(key) != (before or {}).get(key)
                }
                print(f"{name}: {', '.join(sorted(names))} changed", flush=True)
    if wanted.write:
        store(wanted.device, found)
    refused = sum("refused" in run for run in found.values())
    print(f"{len(found)} runs on {wanted.device}, {refused} of them refused, {changed} changed")
    return 1 if changed else 0


if __name__ == "__main__":
    sys.exit(main())
