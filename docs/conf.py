"""How Sphinx makes the site from the pages that `python -m website` writes: see website/__init__.py."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from simsuite.version import VERSION

project = "simsuite"
author = "the simsuite developers"
copyright = "the simsuite developers, Apache-2.0"
version = release = VERSION

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "website.docstrings"]
source_suffix = {".md": "markdown"}
root_doc = "index"
language = "en"
myst_enable_extensions = ["attrs_inline", "colon_fence"]
myst_heading_anchors = 3
default_role = "literal"  # what docstrings have in backticks
highlight_language = "text"  # indented blocks: mostly what people type

autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_maximum_signature_line_length = 90
# types of other packages, names of types within a module, and type variables
nitpick_ignore_regex = [("py:.*", r"(?!simsuite\b).*"), ("py:class", r"simsuite\..*\.T")]
nitpick_ignore = [("py:class", "simsuite.scenario.common.Output")]  # `[output]` of a scenario: its page is that on keys

html_theme = "furo"
html_title = f"simsuite {VERSION}"
html_static_path = ["website/static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_copy_source = False
html_show_sphinx = False
html_permalinks_icon = "#"
html_show_search_summary = False  # which browsers do not let pages fetch where they are opened as files
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
