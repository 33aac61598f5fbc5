"""Each command of the command line with typical arguments, in an order that provides the input of each."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.helpers.command_line import SCENARIO
from tests.helpers.experiments import tiny_recipe
from tests.helpers.fake_kernel import ONE_PATH
from tests.helpers.labs import small_lab

GRAPH = Path(__file__).resolve().parent / "graphs" / "alpine.graphml"

Line = tuple[str, int | None]

# Arguments of each command in order, with the exit code if it differs from 0.
COMMANDS: dict[str, list[str | Line]] = {
    "trainings": ["trainings"],
    "trainings show": ["trainings show 1"],
    "trainings pause": ["trainings pause 1"],
    "trainings resume": ["trainings resume 1"],
    "trainings checkpoint": ["trainings checkpoint 1"],
    "trainings evaluate": ["trainings evaluate 1"],
    "trainings rename": ["trainings rename 1 Mine"],
    "trainings note": ["trainings note 1 'for the paper'"],
    "trainings stop": ["trainings stop 1"],
    "trainings delete": ["trainings delete 1 --files"],
    "train": ["train ddpg-mpcc --scenario t-ddpg-c --steps 60 --eval-every 0 --out trained"],
    "agents": ["agents"],
    "agents show": ["agents show drl-cc"],
    "agents promote": ["agents promote last --name mine"],
    "run": ["run two.toml --decisions --seed 1", "run two.toml --seed 2"],
    "show": ["show last"],
    "explain": ["explain 1 download/1 --at 1s"],
    "fairness": ["fairness 1"],
    "fork": ["fork 1 --at 1s --set links.wifi.loss=5%"],
    "replay": ["replay 1 --at 1s --packets --json"],
    "export": [
        "export 1 --format parquet,pcapng,svg --figure cwnd",
        "export 2 --format bundle --out data",
        "export 2 --page",
    ],
    "verify": ["verify data/run-2.subflow.zip"],
    "report": ["report 1 -o report.html --figure cwnd"],
    "compare": ["compare 1 2"],
    "import-trace": ["import-trace measured.csv"],
    "export-topology": ["export-topology two.toml -o two.graphml"],
    "import": ["import alpine.graphml -o alpine.toml", "import run-2.html"],
    "evaluate": ["evaluate drl-cc --scenario two.toml --seeds 1-1 --baselines lia"],
    "compare-kernel": [("compare-kernel one.toml --repetitions 1 --seeds 1", None)],  # impossible on some machines
    "emulate": [("emulate one.toml --seconds 1 -- sleep 0.1", None)],  # likewise
    "sweep": ["sweep two.toml --axis links.wifi.loss=0%,1% --seeds 1 --jobs 2"],
    "sweeps": ["sweeps"],
    "sweeps show": ["sweeps show last"],
    "sweeps resume": ["sweeps resume last --jobs 1"],
    "sweeps plans": ["sweeps plans"],
    "sweeps rename": ["sweeps rename last Mine"],
    "sweeps delete": ["sweeps delete last"],
    "reproduce": ["reproduce tiny.toml --jobs 1"],
    "arena": ["arena --family slow --controllers lia --numbers 1 --jobs 1"],
    "assess": ["assess lia --quick --only collapse --jobs 1"],
    "break": ["break no-slower --networks 24 --jobs 1"],
    "leaderboard": ["leaderboard --list"],
    "library build": ["library build tiny.toml --out library.db --jobs 1"],
    "library info": ["library info"],
    "library list": ["library list --file library.db"],
    "library check": ["library check --file library.db --sample 1"],
    "library copy": ["library copy tiny.toml --file library.db"],
    "labs": ["labs"],
    "labs check": ["labs check 01-small.md"],
    "labs begin": ["labs begin 01-small.md", "run 01-small.toml"],
    "labs show": ["labs show 01-small.md"],
    "labs hint": ["labs hint 01-small.md"],
    "labs next": ["labs next 01-small.md"],
    "labs answer": ["labs answer 01-small.md bdp 83", "labs answer 01-small.md who 'The queue'"],
    "labs predict": ["labs predict 01-small.md 2"],
    "labs result": ["labs result 01-small.md --student Ada --out ada.json"],
    "labs key": ["labs key"],
    "labs publish": ["labs publish 01-small.md --key k --out students"],
    "labs page": ["labs page 01-small.md"],
    "labs class": [
        "labs result 01-small.md --student Ada --out students/ada.json",
        "labs class students --lab 01-small.md",
    ],
    "labs verify": ["labs verify ada.json --lab 01-small.md"],
    "runs": ["runs"],
    "runs QUERY": ["runs 'lia goodput>1Mbit/s'"],
    "runs rename": ["runs rename 1 Mine"],
    "runs tag": ["runs tag 1 paper"],
    "runs untag": ["runs untag 1 paper"],
    "runs note": ["runs note 1 'for the paper'"],
    "runs delete": ["runs delete 2"],
    "runs restore": ["runs restore 2"],
    "runs purge": ["runs purge"],
    "check": ["check library.db"],
    "salvage": ["salvage library.db -o salvaged.db"],
    "upgrade": ["upgrade library.db"],
    "bench": ["bench A"],
    "controllers": ["controllers"],
    "controllers NAME": ["controllers lia"],
    # The kernel of the machine decides about a controller; a name that does not exist is refused everywhere.
    "controllers load": [("controllers load no-such-script", 2)],
    "controllers loaded": ["controllers loaded"],
    "controllers new": ["controllers new my-controller"],
    "controllers check": ["controllers check my-controller.py"],
    "controllers convert": ["controllers convert my-controller.py --to cpp"],
    "schedulers": ["schedulers"],
    "schedulers NAME": ["schedulers minrtt"],
    "schedulers new": ["schedulers new my-scheduler"],
    "schedulers check": ["schedulers check my-scheduler.py"],
    "scenarios": ["scenarios"],
    "schema": ["schema"],
    "guide": [("guide lia", None)],  # the guide may not be built
    "window": ["window two.toml"],
}


def make_files(folder: Path) -> None:
    """Write the files that the commands read."""
    short = SCENARIO.replace('duration = "10s"', 'duration = "2s"').replace('warmup = "2s"', 'warmup = "500ms"')
    (folder / "two.toml").write_text(short, encoding="utf-8")
    (folder / "one.toml").write_text(ONE_PATH.replace("5s", "1s"), encoding="utf-8")
    (folder / "measured.csv").write_text("t_ms;window;delay (ms)\n100;10;40\n200;11;41\n", encoding="utf-8")
    shutil.copyfile(GRAPH, folder / GRAPH.name)
    tiny_recipe(folder)
    small_lab(folder)
