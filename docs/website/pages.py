"""The sources of the site: pages of docs as they stand but for links that leave docs, and pages that are made."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Iterator
from pathlib import Path, PurePosixPath

from website import commands, gallery, interface
from website.navigation import contents, placed

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MARK = ".made-by-website"  # a file in directories whose other files this module may delete
# Pages beside docs, and what they are called here.
BESIDE = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "scenarios": "gallery/index.md",
}
LANGUAGES = {
    ".c": "c",
    ".cu": "cuda",
    ".cuh": "cuda",
    ".def": "text",
    ".md": "md",
    ".py": "python",
    ".sh": "bash",
    ".sub": "text",
    ".toml": "toml",
    ".yml": "yaml",
}
LINK = re.compile(r"\[([^\[\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)")
NAME = re.compile(r"[\w./-]+\.md")  # text of links that a page's title says better
FENCED = re.compile(r"(^(`{3,}).*?^\2`*$)", re.MULTILINE | re.DOTALL)


class Pages:
    """Files of the site's sources by name, collected before they are written. Bytes, or text."""

    def __init__(self) -> None:
        self.files: dict[str, str | bytes] = {}

    def add_page(self, name: str, text: str, origin: str) -> None:
        """Add a page of Markdown. origin: the file in the repository from which its links start."""
        self.files[name] = ""  # so that pages may link to each other
        directory = PurePosixPath(name).parent.as_posix()

        def rewritten(match: re.Match[str]) -> str:
            words, link, anchor = match[1], match[2], match[3] or ""
            path = os.path.normpath(os.path.join(os.path.dirname(origin), link))
            if "://" in link or not (ROOT / path).exists():
                return match[0]
            here = self._place(path)
            shown = "" if NAME.fullmatch(words) and here.endswith(".md") else words
            return f"[{shown}]({os.path.relpath(here, directory)}{anchor})"

        parts = FENCED.split(text)
        # the split leaves text, block, the block's fence, text, ..
        parts[::3] = [LINK.sub(rewritten, part) for part in parts[::3]]
        # what people type has no prompt, which is what highlighting as a console goes by
        parts[1::3] = [re.sub(r"^(`+)console$", r"\1bash", part, count=1, flags=re.MULTILINE) for part in parts[1::3]]
        del parts[2::3]
        self.files[name] = "".join(parts)

    def _place(self, path: str) -> str:
        """The name here of a file or directory of the repository; it is added if it has none yet."""
        inside = PurePosixPath(path)
        if path in BESIDE:
            return BESIDE[path]
        if inside.parts[0] == "docs" and (ROOT / path).is_file() and inside.suffix != ".py":
            return PurePosixPath(*inside.parts[1:]).as_posix()
        if inside.parts[0] == "scenarios" and inside.suffix == ".toml":
            return f"gallery/{inside.stem}.md"
        if inside.suffix in LANGUAGES or (ROOT / path).is_dir():
            name = f"files/{path}.md"
            if name not in self.files:
                self.files[name] = file_page(path)
            return name
        name = f"files/{path}"
        self.files[name] = (ROOT / path).read_bytes()
        return name


def file_page(path: str) -> str:
    """A page that shows a file of the repository, or all files of a directory."""
    whole = ROOT / path
    lines = ["---", "orphan: true", "---", "", f"# `{path}`", ""]
    for file in [whole] if whole.is_file() else list(_sources(whole)):
        text = file.read_text(encoding="utf-8").rstrip("\n")
        fence = "`" * (max(map(len, re.findall(r"`{3,}", text)), default=2) + 1)
        lines += [] if file == whole else [f"## `{file.relative_to(whole).as_posix()}`", ""]
        lines += [f"{fence}{LANGUAGES[file.suffix]}", text, fence, ""]
    return "\n".join(lines)


def _sources(directory: Path) -> Iterator[Path]:
    for path in sorted(directory.rglob("*")):
        inside = path.relative_to(directory).parts
        if path.suffix in LANGUAGES and path.is_file() and not any(part.startswith((".", "build")) for part in inside):
            yield path


def written_pages() -> Iterator[tuple[str, Path]]:
    """(name here, file) of all pages that people write."""
    for name, here in BESIDE.items():
        if (ROOT / name).is_file() and here != "index.md":
            yield here, ROOT / name
    for path in sorted(DOCS.rglob("*.md")):
        yield path.relative_to(DOCS).as_posix(), path


def collect(cache: Path, drawn: Collection[str] | None) -> dict[str, str | bytes]:
    """All files of the site's sources, by name. cache, drawn: as for the gallery."""
    pages = Pages()
    for name, path in written_pages():
        pages.add_page(name, path.read_text(encoding="utf-8"), path.relative_to(ROOT).as_posix())
    for path in sorted((DOCS / "images").rglob("*.png")):
        pages.files[path.relative_to(DOCS).as_posix()] = path.read_bytes()
    pages.files |= {"commands.md": commands.page(), **interface.pages(), **gallery.files(cache, drawn)}
    names = [name.removesuffix(".md") for name in pages.files if name.endswith(".md") and not name.startswith("files/")]
    for page, groups in placed(set(names)).items():
        text = pages.files[f"{page}.md"]
        assert isinstance(text, str)
        pages.files[f"{page}.md"] = text + contents(groups, page)
    return pages.files


def write_pages(target: Path, cache: Path, drawn: Collection[str] | None = None) -> None:
    """Write the sources of the site to a directory; files that are as they should be are left, so that Sphinx need not
    read them again, and files that are no part of it are deleted, if the directory was written by this function. cache,
    drawn: as for the gallery."""
    if target.exists() and any(target.iterdir()) and not (target / MARK).exists():
        raise SystemExit(f"{target} holds something else: name another directory")
    files = collect(cache, drawn) | {MARK: ""}
    for name, content in files.items():
        path, wanted = target / name, content.encode() if isinstance(content, str) else content
        if not path.exists() or path.read_bytes() != wanted:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(wanted)
    for path in target.rglob("*"):
        if path.is_file() and path.relative_to(target).as_posix() not in files:
            path.unlink()
