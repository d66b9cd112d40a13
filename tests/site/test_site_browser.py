"""The site in a browser, opened as files: every page, in both themes and on a phone; search and themes by keyboard."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from browsers import TEXTS, browser
from built_site import said_and_site

__all__ = ["said_and_site"]  # a fixture


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture
def page(chromium: Any, said_and_site: tuple[str, Path]) -> Iterator[Any]:
    """A page, not yet anywhere; errors, and what it asks of a network, fail the test."""
    wrong: list[str] = []
    found = chromium.new_page(viewport={"width": 1280, "height": 900})
    found.on("console", lambda told: wrong.append(told.text) if told.type in ("error", "warning") else None)
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.on("request", lambda asked: None if asked.url.startswith(("file:", "data:")) else wrong.append(asked.url))
    yield found
    found.close()
    assert wrong == []


def addresses(site: Path) -> list[str]:
    """All pages, and search that finds something."""
    found = [path.as_uri() for path in sorted(site.rglob("*.html"))]
    assert len(found) > 50
    return [*found, (site / "search.html").as_uri() + "?q=temperature"]


# pictures without words, or that are not there
PICTURES = "[...document.images].filter(i => !i.alt || !i.complete || !i.naturalWidth).map(i => i.src)"


def test_every_page_can_be_read(page: Any, said_and_site: tuple[str, Path]) -> None:
    """Texts stand out by 4.5 to 1, as WCAG 2.2 asks for at level AA (large ones would need less); pictures are there,
    with words; nothing is wider than a phone, as wide tables and blocks of code scroll within themselves."""
    faint, missing, wide = set(), {}, {}
    for address in addresses(said_and_site[1]):
        page.set_viewport_size({"width": 1280, "height": 900})
        page.goto(address)
        name = address.rpartition("/")[2]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            texts = page.evaluate(TEXTS)
            assert len(texts) > 10, address
            faint |= {(name, scheme, text[:80], round(ratio, 2)) for ratio, text in texts if ratio < 4.5}
        if found := page.evaluate(PICTURES):
            missing[name] = found
        page.set_viewport_size({"width": 360, "height": 740})
        if (width := page.evaluate("document.documentElement.scrollWidth")) > 360:
            wide[name] = width
    assert faint == set()
    assert missing == {}
    assert wide == {}


def test_wide_tables_scroll_on_a_phone(page: Any, said_and_site: tuple[str, Path]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    page.goto((said_and_site[1] / "verification.html").as_uri())
    boxes = page.evaluate("[...document.querySelectorAll('.table-wrapper')].map(e => [e.scrollWidth, e.clientWidth])")
    assert max(inner - outer for inner, outer in boxes) > 0
    assert all(outer < 360 for _, outer in boxes)
    scrolling = "[...document.querySelectorAll('.table-wrapper, pre')].filter(e => e.scrollWidth > e.clientWidth)"
    assert page.evaluate(f"{scrolling}.every(e => e.tabIndex === 0)"), "by keys, too"


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("emissivity", "keys.html"),
        ("open_simulation", "api/running.html#simsuite.open_simulation"),
        ("longstaff", "numerics.html"),
        ("scrontab OR requeue", None),
        ("super-time-stepping", "numerics.html"),
        ("max-minutes", "commands.html"),
        ("detuned", "gallery/rabi.html"),
        ("qwertzuiop", None),
    ],
)
def test_search_finds_what_it_should_without_a_network(
    page: Any, said_and_site: tuple[str, Path], words: str, wanted: str | None
) -> None:
    """From the first page, by the keyboard alone: to the field, words, Enter, to a result, Enter."""
    site = said_and_site[1]
    page.goto((site / "index.html").as_uri())
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.matches('input[name=q]')"):
            break
    page.keyboard.type(words)
    page.keyboard.press("Enter")
    page.wait_for_url("**/search.html?**")
    page.wait_for_function("!document.querySelector('#search-results > h2')?.textContent.includes('Searching')")
    page.wait_for_timeout(300)
    found = page.eval_on_selector_all("ul.search a", "all => all.map(a => a.getAttribute('href'))")
    if wanted is None:
        assert found == []
        assert "did not match any documents" in page.inner_text("#search-results")
        return
    assert wanted in [link.partition("?")[0] for link in found]
    while not page.evaluate("document.activeElement.closest('ul.search') !== null"):
        page.keyboard.press("Tab")
    first = page.evaluate("document.activeElement.href")
    page.keyboard.press("Enter")
    page.wait_for_url(first)
    assert page.inner_text("h1")


def test_the_first_key_skips_to_the_text(page: Any, said_and_site: tuple[str, Path]) -> None:
    page.goto((said_and_site[1] / "heat.html").as_uri())
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent").strip() == "Skip to content"
    shown = page.evaluate("document.activeElement.getBoundingClientRect().left")
    assert shown >= 0, "it is seen when it has the focus"
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('article, .content') !== null")


def test_the_theme_can_be_chosen_by_keys(page: Any, said_and_site: tuple[str, Path]) -> None:
    """A page has the picture of its theme."""
    page.goto((said_and_site[1] / "gallery" / "rabi.html").as_uri())
    page.evaluate("document.querySelector('.content-icon-container .theme-toggle').focus()")
    seen = set()
    for _ in range(3):
        page.keyboard.press("Enter")
        theme = page.evaluate("document.body.dataset.theme")
        pictures = [image for image in page.query_selector_all("article img") if image.is_visible()]
        assert len(pictures) == 1
        seen.add((theme, pictures[0].get_attribute("src").rpartition("_")[2]))
    assert {("light", "light.png"), ("dark", "dark.png")} <= seen
