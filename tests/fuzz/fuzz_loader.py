"""The scenario loader under Atheris (libFuzzer for Python): whatever the text, a scenario or a list of problems.

`python3 dev.py fuzz loader` installs Atheris and runs this on a corpus of the shipped scenarios.
"""

from __future__ import annotations

import sys

import atheris

from subflow_sim.catalog import catalog
from subflow_sim.errors import ScenarioError
from subflow_sim.scenario import parse_scenario


def load(data: bytes) -> None:
    """One input. What it raises ends the fuzzer, which keeps the input as a file `crash-...`."""
    try:
        parse_scenario(data.decode("utf-8", errors="replace"), file="<fuzz>")
    except ScenarioError as error:
        if not error.problems or not all(str(problem).startswith("<fuzz>") for problem in error.problems):
            raise RuntimeError("a refusal that does not say where") from error


if __name__ == "__main__":
    catalog()  # imports what is imported late, before the code that is there by then is instrumented
    load(b"")
    atheris.instrument_all()
    atheris.Setup(sys.argv, load)
    atheris.Fuzz()
