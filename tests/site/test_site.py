"""The site is built without a warning, and every link in it leads somewhere."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from built_site import read_page, said_and_site
from conftest import ROOT
from website.pages import written_pages

import simsuite

__all__ = ["said_and_site"]  # a fixture


def test_it_is_built_without_a_warning(said_and_site: tuple[str, Path]) -> None:
    said, site = said_and_site
    assert said.strip() == ""
    for name, _ in written_pages():
        assert (site / name).with_suffix(".html").exists(), name
    for scenario in (ROOT / "scenarios").glob("*.toml"):
        assert (site / "gallery" / scenario.name).with_suffix(".html").exists()
    assert "rabi_light.png" in (site / "gallery" / "rabi.html").read_text(encoding="utf-8")


def test_links_lead_somewhere(said_and_site: tuple[str, Path]) -> None:
    """To pages, places on them, and files; none to what only the repository has."""
    site = said_and_site[1]
    wrong, seen = [], 0
    for path in sorted(site.rglob("*.html")):
        page = read_page(path)
        for link in (*page.links, *page.loads):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https", "data", "mailto"):
                continue
            seen += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            there = target.is_file() and target.is_relative_to(site.resolve())
            if not there or (parts.fragment and target.suffix == ".html" and not named(target, parts.fragment)):
                wrong.append(f"{path.relative_to(site)}: {link}")
    assert seen > 1000
    assert wrong == []


def named(page: Path, fragment: str) -> bool:
    return unquote(fragment) in read_page(page).places


def test_nothing_is_loaded_from_elsewhere(said_and_site: tuple[str, Path]) -> None:
    site = said_and_site[1]
    loads = {link for path in site.rglob("*.html") for link in read_page(path).loads}
    assert [link for link in loads if urlsplit(link).scheme not in ("", "data")] == []
    styles = {path: path.read_text(encoding="utf-8") for path in site.rglob("*.css")}
    assert [path for path, text in styles.items() if "@import" in text or "url(http" in text or "url(//" in text] == []


def test_all_that_is_public_is_described(said_and_site: tuple[str, Path]) -> None:
    places = {place for path in said_and_site[1].glob("api/*.html") for place in read_page(path).places}
    public = {f"simsuite.{name}" for name in simsuite.__all__ if not name.startswith("__")}
    assert public <= places
    assert {"simsuite.Run.export", "simsuite.Simulation.advance", "simsuite.core.Problem.stepper"} <= places
    commands = read_page(said_and_site[1] / "commands.html").places
    assert {"simsuite-run", "simsuite-sweep", "simsuite-doctor"} <= commands
