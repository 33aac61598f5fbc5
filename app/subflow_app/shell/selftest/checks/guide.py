"""The user guide and the pages of help: there for every panel, controller and scheduler, in every language."""

from __future__ import annotations

from subflow_app.foundation.paths import is_frozen
from subflow_app.shell.selftest.check import Check, NotHereError, Place, require


def check(_place: Place) -> str:
    """Looks for their pages."""
    from subflow_app.features.guide.core import guide_folder, guide_page
    from subflow_app.foundation.resources import resource_path
    from subflow_app.vocabulary.language import ENGLISH, LANGUAGES
    from subflow_sim.catalog import controllers, schedulers

    panels = sorted(path.stem for path in resource_path("help").glob("*.md"))
    for code in LANGUAGES:
        for panel in panels:
            page = resource_path(f"help/{panel}.md" if code == ENGLISH else f"help/{code}/{panel}.md")
            require(page.read_text(encoding="utf-8").strip(), f"{page} is empty")
    folder = guide_folder()
    if folder is None:
        require(not is_frozen(), "the user guide is missing")
        raise NotHereError(f"{len(panels)} pages of help; the guide is not built: python3 dev.py docs")
    topics = ["", *(f"controller/{each.name}" for each in controllers())]
    topics += [f"scheduler/{each.name}" for each in schedulers()]
    missing = [topic for topic in topics if not (folder / guide_page(topic).file).is_file()]
    require(not missing, f"the guide has no page on {', '.join(missing)}")
    pages = sum(1 for _ in folder.rglob("*.html"))
    return f"{pages} pages of the guide, {len(panels)} of help in {len(LANGUAGES)} languages"


CHECK = Check("guide", check)
