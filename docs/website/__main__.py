"""Writes the sources of the site into a directory, from which Sphinx makes it: python -m website DIRECTORY"""

from __future__ import annotations

import argparse
from pathlib import Path

from website.pages import write_pages

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m website", description=__doc__)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cache", type=Path, help="where runs of the gallery are kept; default: beside the directory")
    parser.add_argument("--only", help="names of the scenarios that are run for the gallery: heat,rabi; default: all")
    given = parser.parse_args()
    cache = given.cache or given.directory.with_name("gallery")
    write_pages(given.directory, cache, None if given.only is None else given.only.split(","))
