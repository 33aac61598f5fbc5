"""Files for the Linux desktop: menu entry, file types, icons, description, manual page."""

from __future__ import annotations

import gzip
from datetime import UTC, datetime
from pathlib import Path

import icons
import project_urls
from linux.archive import Tree

HERE = Path(__file__).resolve().parent
APPSTREAM_ID = "io.github.subflow.subflow"
SCREENSHOTS = {
    "window": "A run of two paths: topology, throughput, congestion window and round-trip time",
    "time": "A stored run at one moment, with the packets on its links",
    "lab": "A guided lab: the predicted congestion window over the simulated one",
    "script": "A controller written as text, and its run over that of another",
    "dark": "The window in dark colours",
}
"""Pictures of `docs/images` for software centres; the first is the default."""


def add(tree: Tree, prefix: str, version: str, time_s: int) -> None:
    """Adds the files to a tree.

    Args:
        tree: receives the files.
        prefix: a data folder of the desktop, e.g. ``usr/share/``.
        version: version of the program.
        time_s: time of the release in seconds since 1970.
    """
    tree.add(f"{prefix}applications/subflow.desktop", HERE / "subflow.desktop")
    tree.add(f"{prefix}mime/packages/subflow.xml", HERE / "subflow-mime.xml")
    tree.add(f"{prefix}metainfo/{APPSTREAM_ID}.metainfo.xml", filled("metainfo.xml", version, time_s))
    tree.add(f"{prefix}man/man1/subflow.1.gz", packed(filled("subflow.1", version, time_s)))
    for size in icons.MENU_SIZES_PX:
        tree.add(f"{prefix}icons/hicolor/{size}x{size}/apps/subflow.png", icons.png(size))
    tree.add(f"{prefix}icons/hicolor/scalable/apps/subflow.svg", icons.SOURCE)


def filled(template: str, version: str, time_s: int) -> str:
    """A template of this folder with the version and date of the release."""
    date = datetime.fromtimestamp(time_s, UTC).strftime("%Y-%m-%d")
    text = (HERE / template).read_text(encoding="utf-8")
    return text.replace("@LINKS@\n", _links(version)).replace("@VERSION@", version).replace("@DATE@", date)


def _links(version: str) -> str:
    """Addresses and pictures for software centres; empty if the project's address is unknown."""
    home = project_urls.homepage()
    if home is None:
        return ""
    pages = {"homepage": "", "bugtracker": "/issues", "vcs-browser": ""}
    lines = [f'<url type="{kind}">{home}{path}</url>' for kind, path in pages.items()]
    lines.append("<screenshots>")
    for number, (name, caption) in enumerate(SCREENSHOTS.items()):
        lines.append('  <screenshot type="default">' if number == 0 else "  <screenshot>")
        lines.append(f"    <caption>{caption}</caption>")
        lines.append(f'    <image type="source">{home}/raw/v{version}/docs/images/{name}.png</image>')
        lines.append("  </screenshot>")
    lines.append("</screenshots>")
    return "".join(f"  {line}\n" for line in lines)


def packed(text: str) -> bytes:
    """A text compressed by gzip without a timestamp."""
    return gzip.compress(text.encode(), mtime=0)
