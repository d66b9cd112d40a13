"""The site, built once for all tests of a session, with two scenarios run for the gallery; what stands in its pages."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import ROOT

DRAWN = "markov,rabi"  # scenarios that take a second each


def build(place: Path) -> str:
    """Build the site in `place`/site; returns what Sphinx said. A warning of Sphinx is an error."""
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    pages = [sys.executable, "-m", "website", str(place / "pages"), "--only", DRAWN]
    subprocess.run(pages, cwd=ROOT / "docs", env=environment, check=True, capture_output=True, timeout=600)
    sphinx = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-n", "-c", str(ROOT / "docs")]
    sphinx += [str(place / "pages"), str(place / "site")]
    done = subprocess.run(sphinx, env=environment, capture_output=True, text=True, timeout=600, check=False)
    return done.stdout + done.stderr + ("" if done.returncode == 0 else f"\nexit code {done.returncode}")


@pytest.fixture(scope="session")
def said_and_site(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What Sphinx said, and the directory of the site. Of several processes of tests one builds it."""
    for module in ("sphinx", "myst_parser", "furo", "sphinx_copybutton"):
        pytest.importorskip(module, reason="needs what pip install 'simsuite[docs]' brings")
    place = tmp_path_factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        place = place.parent
    place = place / "built_site"
    place.mkdir(exist_ok=True)
    with (place / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (place / "said").exists():
            (place / "said").write_text(build(place), encoding="utf-8")
    return (place / "said").read_text(encoding="utf-8"), place / "site"


@dataclass
class Page(HTMLParser):
    """What a page links to and loads, and the names of its places."""

    links: list[str] = field(default_factory=list)
    loads: list[str] = field(default_factory=list)
    places: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        super().__init__()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        self.places |= {found[name] for name in ("id", "name") if name in found}
        if tag == "a" and "href" in found:
            self.links.append(found["href"])
        elif "src" in found or (tag == "link" and "href" in found):
            self.loads.append(found.get("src") or found["href"])


@cache
def read_page(path: Path) -> Page:
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    return page
