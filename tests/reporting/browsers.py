"""A browser without a window, and how far colours on a page are apart. What needs one skips where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
PROGRAM = os.environ.get("SIMSUITE_CHROMIUM") or next(filter(None, map(shutil.which, NAMES)), None)
# For each text of a page, its contrast with what is behind it, as WCAG 2.2 defines it, and the text.
TEXTS = """
() => {
  const parse = (text) => {
    const found = text.match(/rgba?\\(([^)]*)\\)/);
    const [r, g, b, a] = found[1].split(/[ ,/]+/).map(Number);
    return { rgb: [r, g, b], alpha: a === undefined ? 1 : a };
  };
  const light = ([r, g, b]) => {
    const linear = (v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    const [x, y, z] = [r, g, b].map((v) => linear(v / 255));
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parse(getComputedStyle(at).backgroundColor);
      if (colour.alpha === 1) return colour.rgb;
    }
    return [255, 255, 255];
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || !element.checkVisibility() || element.closest("script")) continue;
    const [p, q] = [light(parse(getComputedStyle(element).color).rgb), light(behind(element))];
    const ratio = (Math.max(p, q) + 0.05) / (Math.min(p, q) + 0.05);
    found.push([ratio, element.tagName + "." + element.className + ": " + walker.currentNode.textContent.trim()]);
  }
  return found;
}
"""


@contextmanager
def browser() -> Iterator[Any]:
    """A browser. Any: playwright has types only where it is installed."""
    playwright = pytest.importorskip("playwright.sync_api", reason="needs the package playwright")
    if PROGRAM is None:
        pytest.skip(f"needs a browser: {', '.join(NAMES)}, or SIMSUITE_CHROMIUM")
    sandbox = ["--no-sandbox"] if os.getuid() == 0 else []
    with playwright.sync_playwright() as started:
        found = started.chromium.launch(executable_path=PROGRAM, args=sandbox)
        yield found
        found.close()
