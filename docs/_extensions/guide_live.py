"""Figures of runs that their reader can run again, and the page of all experiments; once what all these pages share.

A page of the guide says where one goes, as `guide_generated` has it::

    ```{generated} live reno-sawtooth cwnd_pkts
    ```
"""

from __future__ import annotations

import html
import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_app.core.errors import InputError
from subflow_app.core.experiments.exhibits import read_exhibit
from subflow_app.core.experiments.recipe_files import recipe_names
from subflow_app.core.exporting.gallery_page import PAGE_NAME, gallery_page
from subflow_app.core.exporting.live_figure import LiveFigure, live_figure
from subflow_app.core.exporting.web_page import shared_parts
from subflow_app.core.library.shipped import open_library

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_FIGURE = re.compile(r"^```\{generated\} +live +([^\n]+)\n```$", re.MULTILINE)
_FOLDER, _SHARED = "live", "shared.js"


@cache
def _made(words: tuple[str, ...]) -> LiveFigure:
    scenario, quantity, *changes = words
    return live_figure(scenario, quantity, changes, _SHARED)


def live(*words: str) -> str:
    """The recorded curve of a shipped scenario, which a click makes a run."""
    figure = _made(words)
    return (
        f'<figure class="live" data-live="{html.escape(f"{_FOLDER}/{figure.file}")}">'
        f'<div class="live-picture">{figure.picture}</div>'
        f"<figcaption><span>{html.escape(figure.title)} (<code>{html.escape(words[0])}</code>)</span> "
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


def _gallery() -> str:
    """The page of all experiments with the results that ship."""
    library = open_library()
    if library is None:
        raise InputError("the guide shows the results that ship, and this tree has none: `subflow library build`")
    with library:
        shown = {read_exhibit(None, name, library=library): library for name in recipe_names()}
        return gallery_page(shown, shared=_SHARED)


def setup(app: Sphinx) -> dict[str, Any]:
    """Writes the pages once those of the guide are."""
    app.connect("build-finished", _write)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
