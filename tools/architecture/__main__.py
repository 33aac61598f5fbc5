"""Draws the packages and features of the program as layers, from the imports between their modules.

python -m tools.architecture            the drawing of the guide, docs/figures/architecture.svg
python -m tools.architecture --outline  its boxes and arrows, a line each
python -m tools.architecture --walks    the walks of docs/architecture.md, counted again; --long: each function

``python -m tests.helpers.import_graph`` prints circles among the same imports.
"""

from __future__ import annotations

import argparse
import sys

from tools.architecture import drawing, walks
from tools.architecture.house import read_house


def main(arguments: list[str]) -> int:
    """Runs the command line; returns the exit code."""
    assert __doc__ is not None
    parser = argparse.ArgumentParser(prog="python -m tools.architecture", description=__doc__.splitlines()[0])
    parser.add_argument("--outline", action="store_true", help="print boxes and arrows instead")
    parser.add_argument("--walks", action="store_true", help="count the functions and files of walks")
    parser.add_argument("--long", action="store_true", help="with each function of the walks")
    options = parser.parse_args(arguments)
    if options.walks:
        sys.stdout.write(walks.report(is_long=options.long))
    elif options.outline:
        sys.stdout.write("\n".join(read_house().outline()) + "\n")
    else:
        drawing.FIGURE.write_text(drawing.svg(read_house()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
