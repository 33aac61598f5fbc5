"""How the user guide is built: Sphinx, Markdown, and nothing from the network. ``python3 dev.py docs`` builds it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent / "_extensions"))

from subflow_app import __version__

project = "Subflow"
author = "Subflow contributors"
copyright = "Subflow contributors, MIT licence"
release = version = __version__
language = "en"

extensions = ["myst_parser", "guide_mathml", "guide_generated", "guide_live", "guide_site", "guide_search"]
extensions += ["sphinx_copybutton"]
myst_enable_extensions = ["dollarmath", "deflist", "attrs_inline"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
exclude_patterns = ["README.md", "_extensions", "images", "skeletons"]
if "site" not in tags:  # noqa: F821 - a name that Sphinx defines here
    exclude_patterns.append("examples.*")
    suppress_warnings = ["toc.excluded"]

html_theme = "furo"
html_title = "Subflow user guide"
html_favicon = "../assets/icon.svg"
html_math_renderer = "mathml"
html_static_path = ["_static", "../assets/web/explorable.js"]
html_js_files = ["explorable.js", "live.js"]
html_css_files = ["guide.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}

copybutton_prompt_text = "$ "  # where a block has prompts, only the commands behind them are copied
