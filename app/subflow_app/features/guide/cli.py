"""``subflow guide``: the address of a page of the user guide, and the build of the guide."""

from __future__ import annotations

from typing import Annotated

import typer

from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line

Topic = Annotated[
    str,
    typer.Argument(
        metavar="[TOPIC]",
        help="A controller, a scheduler, a view of the window, or command/NAME, section/NAME (of a scenario file), "
        "plot/NAME. Default: the first page.",
    ),
]
Build = Annotated[bool, typer.Option("--build", help="Build the guide first if it is not built; that needs Sphinx.")]


def guide(topic: Topic = "", build: Build = False, as_json: Json = False) -> None:
    """Print the address of a page of the user guide.

    In the window, Shift+F1 opens it.
    """
    from subflow_app.features.guide.core import GuideBuild, find_topic, guide_file, guide_folder

    found = find_topic(topic)
    if build and guide_folder() is None:
        GuideBuild().run().check()
    path, anchor = guide_file(found)
    address = path.as_uri() + (f"#{anchor}" if anchor else "")
    if as_json:
        print_json({"topic": found, "path": str(path), "anchor": anchor, "address": address})
    else:
        print_line(address)
