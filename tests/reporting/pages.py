"""Reports as tests read them: elements in a tree, by Python's own parser, which is not what wrote them."""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

VOID = {"meta", "link", "img", "input", "br", "hr"}


@dataclass
class Element:
    """An element with what is in it: elements and texts."""

    tag: str
    attributes: dict[str, str]
    children: list[Element | str] = field(default_factory=list)

    def all(self, tag: str, kind: str = "") -> Iterator[Element]:
        """Elements of that tag below this one, of a class if need be, in the order of the page."""
        for child in self.children:
            if isinstance(child, Element):
                if child.tag == tag and (not kind or kind in child.attributes.get("class", "").split()):
                    yield child
                yield from child.all(tag, kind)

    def one(self, tag: str, kind: str = "") -> Element:
        (found,) = self.all(tag, kind)
        return found

    def elements(self) -> Iterator[Element]:
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.elements()

    @property
    def text(self) -> str:
        return "".join(child if isinstance(child, str) else child.text for child in self.children)


class _Parser(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.open = [Element("", {})]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"an attribute twice: {tag} {names}"
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> ends <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def parsed(path: Path) -> Element:
    """The report as a tree; every element that begins ends where it should."""
    text = path.read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>\n")
    parser = _Parser()
    parser.feed(text)
    parser.close()
    assert len(parser.open) == 1, f"<{parser.open[-1].tag}> has no end"
    return parser.open[0]


def data_of(figure: Element) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(figure.one("script", "data").text)
    return found


def doubles(text: str) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), "<f8")


def values_of_field(data: dict[str, Any]) -> np.ndarray:
    """[frame, y, x], worked out from the formula in the page, not by the code that wrote it."""
    codes = np.frombuffer(base64.b64decode(data["codes"]), "<u2").astype(np.float64)
    shape = (len(doubles(data["times"])), len(doubles(data["y"])), len(doubles(data["x"])))
    values = data["low"] + codes * (data["high"] - data["low"]) / data["levels"]
    return np.where(codes == data["missing"], np.nan, values).reshape(shape)


def tables(page: Element) -> dict[str, list[list[str]]]:
    """The cells of all tables by their captions, heads first."""
    return {
        each.one("caption").text: [
            [cell.text for cell in row.children if isinstance(cell, Element)] for row in each.all("tr")
        ]
        for each in page.all("table")
    }


def require_good_page(page: Element) -> None:
    """What holds for every report: one title, headings in order, tables and figures that can be read aloud, nothing
    from elsewhere, and a policy that lets this script and this style act, and no others."""
    assert page.one("html").attributes["lang"] == "en"
    assert page.one("title").text == page.one("h1").text != ""
    levels = [int(each.tag[1]) for each in page.elements() if each.tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1
    assert all(after - before <= 1 for before, after in itertools.pairwise(levels))
    for table in page.all("table"):
        assert table.one("caption").text or "series" in table.attributes["class"]
        heads = list(table.all("th"))
        assert heads
        assert all(head.attributes["scope"] in ("col", "row") for head in heads)
        widths = {sum(isinstance(cell, Element) for cell in row.children) for row in table.all("tr")}
        assert len(widths) == 1
    assert all(image.attributes["alt"].strip() for image in page.all("img"))
    for canvas in page.all("canvas"):
        assert canvas.attributes["aria-label"]
    for region in page.all("div", "scroll"):
        assert region.attributes["tabindex"] == "0"
        assert region.attributes["aria-label"]
    for element in page.elements():
        assert element.tag not in ("iframe", "object", "embed", "form", "base")
        assert not [name for name in element.attributes if name.startswith("on") or name == "style"]
        for name in ("src", "href", "action", "srcset", "data"):
            assert element.attributes.get(name, "data:").startswith("data:")
    policy = next(m.attributes["content"] for m in page.all("meta") if "content-security" in str(m.attributes).lower())
    (script,) = (each for each in page.all("script") if "type" not in each.attributes)
    for kind, text in (("script-src", script.text), ("style-src", page.one("style").text)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'; img-src data:;")
    assert "url(" not in page.one("style").text
    assert "@import" not in page.one("style").text
