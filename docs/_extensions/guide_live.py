"""Figures of runs that their reader can run again, the page of the demo, and the page of all experiments.

A page of the guide names the place of a figure, as `guide_generated` reads it::

    ```{generated} live reno-sawtooth cwnd_pkts
    ```

Figures share one file with the core. The page of the demo contains it, so that it opens by itself.
"""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.features.exporting.core.live_figure import LiveFigure, live_figure
from subflow_app.features.exporting.core.study_pages import PAGE_NAME, gallery_page
from subflow_app.features.exporting.core.web_page import shared_parts
from subflow_app.features.gallery.core.exhibits import read_exhibit
from subflow_app.features.gallery.core.recipe_reader import recipe_names
from subflow_app.features.library.core.shipped import open_library
from subflow_app.foundation.errors import InputError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FIGURE = re.compile(r"^```\{generated\} +live +([^\n]+)\n```$", re.MULTILINE)
_FOLDER, _SHARED = "live", "shared.js"

DEMO_PAGE = "live.html"
"""Name of the demo's page, beside the first page of the guide."""
DEMO = "demo"
"""Name of its scenario."""


@cache
def _made(words: tuple[str, ...]) -> LiveFigure:
    scenario, quantity, *changes = words
    return live_figure(scenario, [quantity], changes, _SHARED)


@cache
def demo_figure() -> LiveFigure:
    """The demo, with a page that needs no other file."""
    return live_figure(DEMO, ["throughput_bps", "cwnd_pkts"])


def live(*words: str) -> str:
    """The recorded curve of a shipped scenario, which a click makes a run."""
    figure = _made(words)
    return _place(figure, words[0], f"{_FOLDER}/{figure.file}")


def demo() -> str:
    """The recorded curves of the demo, which a click makes a run."""
    return _place(demo_figure(), DEMO, f"../{DEMO_PAGE}")


def _place(figure: LiveFigure, scenario: str, address: str) -> str:
    """The HTML of a figure; the address of its page begins at the folder of `live.js`."""
    return (
        f'<figure class="live" data-live="{html.escape(address)}">'
        f'<div class="live-picture">{figure.picture}</div>'
        f"<figcaption><span>{html.escape(figure.title)} (<code>{html.escape(scenario)}</code>)</span> "
        '<button type="button" hidden>Run it here</button></figcaption></figure>\n'
    )


def _write(app: Sphinx, error: Exception | None) -> None:
    if error is not None or app.builder.name != "html":
        return
    texts = (Path(app.env.doc2path(page)).read_text(encoding="utf-8") for page in app.env.found_docs)
    figures = [_made(tuple(words.split())) for text in texts for words in _FIGURE.findall(text)]
    folder = Path(app.outdir) / "_static" / _FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _SHARED).write_text(shared_parts(), encoding="utf-8")
    for figure in figures:
        (folder / figure.file).write_text(figure.page, encoding="utf-8")
    (folder / PAGE_NAME).write_text(_gallery(), encoding="utf-8")
    (Path(app.outdir) / DEMO_PAGE).write_text(demo_figure().page, encoding="utf-8")


def _gallery() -> str:
    """The page of all experiments with the results that ship."""
    library = open_library()
    if library is None:
        raise InputError("the shipped results, which the guide shows, are missing; build them: `subflow library build`")
    with library:
        shown = {read_exhibit(None, name, library=library): library for name in recipe_names()}
        return gallery_page(shown, shared=_SHARED)


def setup(app: Sphinx) -> dict[str, Any]:
    """Writes the pages once those of the guide are."""
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
