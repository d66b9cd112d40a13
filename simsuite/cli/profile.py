"""`simsuite run --profile`: what the run spent its time on, in words, as a timeline and as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from simsuite.cli.console import say

if TYPE_CHECKING:
    from simsuite.profiling.profiler import Profiler

PICTURE = "timeline.png"


def new_profiler() -> Profiler:
    """A profiler for a run; its module is loaded only where there is one."""
    from simsuite.profiling.profiler import Profiler

    return Profiler()


def tell_profile(profiler: Profiler, directory: Path, summary: dict[str, Any]) -> None:
    """Write the timeline of a run and its picture into the run's directory, and tell the shares of its time."""
    from simsuite.pictures.timeline import draw_timeline
    from simsuite.profiling.profiler import FILE
    from simsuite.version import VERSION

    if not profiler.timeline.spans:
        say("nothing was computed, so that there is no timeline; --fresh runs it again")
        return
    about = {"simsuite": VERSION, "solver": summary["solver"], "device": summary["device_name"]}
    shares = profiler.finish(directory, about)
    title = f"{directory.name}: what it spent its time on"
    draw_timeline(directory / PICTURE, profiler.timeline, title, about["device"])
    words = [f"steps took {shares['computing']:.0%} of {shares['seconds']:.3g} s"] if "computing" in shares else []
    for name, verb in (("copies", "copies to the host"), ("writing", "writing files")):
        if f"{name} seconds" in shares:
            share = shares[f"{name} meanwhile"]
            words.append(f"{verb} {shares[f'{name} seconds']:.3g} s, {share:.0%} of it while steps went on")
    say("profile: " + "; ".join(words))
    say(f"wrote {directory / FILE} (open it in https://ui.perfetto.dev) and {directory / PICTURE}")
