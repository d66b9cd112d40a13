"""A scenario file with colours for its parts: the same characters, in elements of HTML."""

from __future__ import annotations

import re

from simsuite.reporting.markup import details, escaped
from simsuite.words import with_prefix

_HIGHLIGHTED = 200_000  # characters up to which parts have colours
_MOST = 1_000_000  # characters that are shown
_SHORT = 60  # lines that are unfolded from the start
_PARTS = re.compile(
    r'''(?P<comment>\#[^\n]*)
    |(?P<string>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')
    |(?P<table>^[ \t]*\[\[?[^\[\]\n=]+\]\]?(?=[ \t]*(?:\#|$)))
    |(?P<key>[A-Za-z0-9_-]+(?:[ \t]*\.[ \t]*[A-Za-z0-9_-]+)*(?=[ \t]*=))
    |(?P<number>(?<![\w.])[+-]?(?:0x[0-9a-fA-F_]+|\d[\d_]*(?:\.[\d_]+)?(?:[eE][+-]?\d+)?|inf|nan)(?![\w.]))
    |(?P<word>\b(?:true|false)\b)''',
    re.VERBOSE | re.MULTILINE | re.DOTALL,
)


def highlighted(text: str) -> str:
    """The text as HTML, whose text content is the text. Numbers and words within strings have the strings' colour."""
    found, at = [], 0
    for match in _PARTS.finditer(text):
        found += [escaped(text[at : match.start()]), f'<span class="{match.lastgroup}">{escaped(match[0])}</span>']
        at = match.end()
    return "".join([*found, escaped(text[at:])])


def scenario_text(text: str, name: str) -> str:
    """A scenario, to be unfolded where it is long. name: what it is."""
    shown = text[:_MOST]
    inside = highlighted(shown) if len(shown) <= _HIGHLIGHTED else escaped(shown)
    cut = "" if len(text) <= _MOST else f"; the first {with_prefix(_MOST, 'B')} of {with_prefix(len(text), 'B')}"
    pre = f'<pre class="toml" tabindex="0" role="region" aria-label="{escaped(name)}"><code>{inside}</code></pre>\n'
    return details(
        f"{name}, {len(text.splitlines())} lines of TOML{cut}", pre, text.count("\n") <= _SHORT, in_print=True
    )
