"""Reports: what a run or a sweep found, as one HTML file that loads nothing and can be looked at anywhere."""

from __future__ import annotations

import warnings
from pathlib import Path


def report(directory: Path, path: Path) -> None:
    """Write the report on the run or the sweep in `directory`, as far as it got, to `path`, an .html file, in place of
    one that is there. It has at most 20 MB.

    Raises UsageError for another suffix, where there is no run, and where the file cannot be written; SimsuiteError
    where files of the run are damaged.
    """
    from simsuite.reporting import page, run, sweep

    page.require_name(path)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")  # the warning would print a character, perhaps a control character
        found = sweep.page_of(directory) if (directory / "sweep.json").is_file() else run.report_run(directory)
    page.write(found, path)
