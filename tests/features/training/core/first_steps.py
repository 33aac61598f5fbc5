"""Trains the beginning of the recipe `drl-cc`, and writes down its figures: a policy can be made again from its recipe.

    python -m tests.features.training.core.first_steps [--update]        show the figures, or write them down

The results of neural networks depend on the machine in the last digits. A file of figures therefore names the kind of
its machine and its processor: other kinds cannot repeat the figures, and other processors not the transitions.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import platform
import re
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subflow_agents import Report, ReportKind
from subflow_app.features.training.core.training_setup import load_recipe, prepare, request_of, with_changes

RECIPE = "drl-cc"
FIGURES = Path(__file__).with_name("first_steps.json")
STEPS = 300

_EVERY = 100
# With fewer transitions before the first update than by default, the networks learn within these steps.
_CHANGES = ("options.warmup=100",)
_SETTINGS = {"steps": STEPS, "evaluation_every": 0, "report_every": _EVERY, "checkpoint_minutes": 1e6}
# These metrics depend on the clock.
_TIMES = ("elapsed_s", "steps_per_s", "updates_per_s", "sim_s_per_s", "eta_s")
_EXACT = ("step", "updates", "episodes", "return_mean", "goodput_bps", "flow_goodput_bps", "loss_ratio", "jain")


@dataclass(slots=True)
class FirstSteps:
    """Figures of the beginning of a training.

    Attributes:
        machine: kind of the machine.
        processor: maker, family and model; empty if unknown.
        transitions: SHA-256 of all observed transitions, hex.
        exact: metrics of environments and returns in each report; the same on each machine of this kind.
        learned: the other metrics, of the neural networks.
    """

    machine: str
    processor: str = ""
    transitions: str = ""
    exact: list[dict[str, float]] = field(default_factory=list)
    learned: list[dict[str, float]] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The figures as a JSON object."""
        return {name: getattr(self, name) for name in ("machine", "processor", "transitions", "exact", "learned")}


def machine_kind() -> str:
    """Everything on which the last digits of a neural network depend."""
    import torch

    return f"{platform.machine()} {torch.backends.cpu.get_cpu_capability()}, torch {torch.__version__}"


def processor() -> str:
    """Maker, family and model of the processor; empty where Linux does not show them."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:
        return ""
    return " ".join(re.findall(r"^(?:vendor_id|cpu family|model)\s*: (.*)$", text.partition("\n\n")[0], re.MULTILINE))


def first_steps() -> FirstSteps:
    """Train the beginning of the recipe."""
    from subflow_agents.checkpoint import load_latest, tensors_under
    from subflow_agents.reports import NoControl
    from subflow_agents.training import run_training

    found = FirstSteps(machine_kind(), processor())

    def note(report: Report) -> None:
        if report.kind is ReportKind.METRICS:
            values = {name: value for name, value in report.values.items() if name not in _TIMES}
            found.exact.append({name: value for name, value in values.items() if name in _EXACT})
            found.learned.append({name: value for name, value in values.items() if name not in _EXACT})

    request = with_changes(request_of(load_recipe(RECIPE)), _CHANGES, **_SETTINGS)
    with tempfile.TemporaryDirectory() as folder:
        run_training(prepare(request, folder), NoControl(), note)
        checkpoint, _path, _problems = load_latest(Path(folder))
    digest = hashlib.sha256()
    for name, column in sorted(tensors_under("learner", checkpoint.tensors).items()):
        if name.startswith("replay."):
            digest.update(name.encode())
            digest.update(column.tobytes())
    found.transitions = digest.hexdigest()
    return found


def kept() -> FirstSteps:
    """The figures that were written down."""
    return FirstSteps(**json.loads(FIGURES.read_text(encoding="utf-8")))


def main() -> int:
    """Shows the figures, or writes them down."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--update", action="store_true", help=f"write {FIGURES.name}")
    is_update = parser.parse_args().update
    text = json.dumps(first_steps().to_json(), indent=1) + "\n"
    if is_update:
        FIGURES.write_text(text, encoding="utf-8")
    sys.stdout.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
