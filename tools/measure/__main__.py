"""Measures one part of Subflow and prints the results with their targets as a JSON document.

    python3 dev.py measure WHAT [NAME ...]

`subflow bench` measures for users: packets per CPU-second of the simulator.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import sys

MEASURES = {
    "canvas": "how fluid a topology of 400 nodes is",
    "learning": "how policies decide, environments step, trainings answer; NAME: policy_mlp, recipe:drl-cc, …",
    "many_flows": "how long the window does not answer while 100 flows run",
    "plots": "how fast curves are drawn, with our settings and with pyqtgraph's own",
    "seek": "how long a jump to any time of a run of 200 s takes",
    "start": "how long the window takes until it is painted, can be used, and lists stored runs",
    "store": "how fast runs are stored, read, listed and searched, beside the plainest SQLite code",
    "sweep": "what a run of a sweep costs beyond its simulation, and what all cores gain",
}
"""Descriptions by name; the module of this name in this folder measures by its function `document`."""


def main(words: list[str]) -> int:
    """Measures the given part; returns the exit code."""
    lines = "\n".join(f"  {name:<12}{text}" for name, text in MEASURES.items())
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("dev.py measure", description=f"{__doc__}\n{lines}", formatter_class=plain)
    parser.add_argument("what", choices=MEASURES, metavar="WHAT")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures of learning; left out: all but recipes")
    options = parser.parse_args(words)
    if options.names and options.what != "learning":
        parser.error("only figures of learning have names")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    document = importlib.import_module(f"tools.measure.{options.what}").document(*options.names)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
