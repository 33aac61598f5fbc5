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
    "canvas": "frame rate of the canvas with a topology of 400 nodes",
    "emulator": "rate that the link emulator carries in real time, and the lateness of packets",
    "learning": "speed of policies, environments and trainings; NAME: policy_mlp, recipe:drl-cc, …",
    "many_flows": "longest time without an answer from the window while 100 flows run",
    "plots": "drawing time of curves, with our settings and with pyqtgraph's defaults",
    "seek": "duration of a jump to any time of a run of 200 s",
    "start": "time until the window is painted, usable, and lists stored runs",
    "store": "time to store, read, list and search runs, compared with the simplest SQLite code",
    "sweep": "overhead of a run in a sweep beyond its simulation, and speed-up by all cores",
}
"""Descriptions by name; the module of this name in this folder measures by its function `document`."""


def main(words: list[str]) -> int:
    """Measures the given part; returns the exit code."""
    lines = "\n".join(f"  {name:<12}{text}" for name, text in MEASURES.items())
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("dev.py measure", description=f"{__doc__}\n{lines}", formatter_class=plain)
    parser.add_argument("what", choices=MEASURES, metavar="WHAT")
    parser.add_argument("names", nargs="*", metavar="NAME", help="figures of learning; default: all but recipes")
    options = parser.parse_args(words)
    if options.names and options.what != "learning":
        parser.error("only figures of learning have names")
    os.environ["QT_QPA_PLATFORM"] = "offscreen"
    document = importlib.import_module(f"tools.measure.{options.what}").document(*options.names)
    sys.stdout.write(json.dumps(document, indent=2) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
