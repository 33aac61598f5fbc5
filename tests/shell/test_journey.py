"""The journey of a person with only the window, from an empty canvas to a figure for a paper.

The journey writes pictures for viewing: set SUBFLOW_PLOT_DIR to keep them.
"""

from __future__ import annotations

import csv
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PySide6.QtGui import QImage
from tests.helpers.journey import ACCESS, FLOWS, HOSTS, ROUTERS, SIZE, THEMES, Journey
from tests.helpers.present import present
from tests.helpers.window import ScriptedDialogs

from subflow_app.shell.main_window import MainWindow

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ("1-paths", "1-flow", "2-drawn", "3-lia", "3-olia", *(f"4-fairness-{theme}" for theme in THEMES), "5-figure")


def kept(tmp_path: Path, name: str) -> Path:
    folder = Path(os.environ["SUBFLOW_PLOT_DIR"]) if "SUBFLOW_PLOT_DIR" in os.environ else tmp_path
    (folder / name).mkdir(parents=True, exist_ok=True)
    return folder / name


@pytest.mark.timeout(240)
@pytest.mark.own_window
def test_a_person_draws_runs_reads_and_exports(window: MainWindow, dialogs: ScriptedDialogs, tmp_path: Path) -> None:
    folder = kept(tmp_path, "journey-100")
    window.resize(SIZE)
    window.document_stack.setClean()
    journey = Journey(window, dialogs, folder)

    journey.draw()
    doc = window.documents.doc
    assert doc.is_valid, doc.problems
    assert [*doc.data["nodes"]] == [*HOSTS, *ROUTERS]
    assert len(doc.data["links"]) == 2 + len(ACCESS)
    # The multipath flow over both bottlenecks, the others over one each.
    crossed = {name: {link for path in flow["paths"] for link in path} for name, flow in doc.data["flows"].items()}
    assert [crossed[f"f{number}"] & {"l1", "l2"} for number in (1, 2, 3)] == [{"l1", "l2"}, {"l1"}, {"l2"}]
    assert len(crossed) == len(FLOWS)

    journey.run("lia")
    journey.run("olia")
    store = present(window.database.store)
    assert [store.run(run_id).status for run_id in journey.run_ids.values()] == ["finished", "finished"]

    journey.compare()
    # Fairness in the plots equals fairness in the summaries of the runs.
    (bars,) = [plot for plot in window.plots.stack.plots if plot.spec.id == "fairness_bars"]
    shown = [bar.mean for bar in bars.shown_bars()]
    assert shown == pytest.approx([store.run(run_id).jain for run_id in journey.run_ids.values()], abs=1e-6)
    # Two bottlenecks of 5 Mbit/s for three connections, coupled: 10/3 each (algorithms, T-10b).
    # One run of each: Jain's index is 0.925 for LIA with this seed, and 0.987 for OLIA.
    assert min(shown) > 0.9

    figure, data = journey.export()
    box = present(re.search(rb"/MediaBox \[ 0 0 ([0-9.]+)", figure.read_bytes()))
    assert float(box[1]) == pytest.approx(88.9 / 25.4 * 72, abs=0.5)
    with data.open(encoding="utf-8", newline="") as file:
        heading, *rows = csv.reader(file)
    assert heading[0] == "time_s"
    assert {"run 1:f1/1:throughput_bps", "run 2:f1/1:throughput_bps"} <= set(heading)
    assert len(rows) == 1200  # 120 s in samples of 100 ms
    for name in PICTURES:
        assert not QImage(str(folder / f"{name}.png")).isNull(), name


@pytest.mark.full("the same way once more")
@pytest.mark.timeout(240)
def test_the_way_is_the_same_at_200_percent(tmp_path: Path) -> None:
    folder = kept(tmp_path, "journey-200")
    environment = os.environ | {"QT_SCALE_FACTOR": "2", "QT_QPA_PLATFORM": "offscreen"}
    done = subprocess.run(
        [sys.executable, "-m", "tests.helpers.journey", str(folder)],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )

    assert done.returncode == 0, done.stderr
    assert "warning" not in done.stderr.lower()
    assert QImage(str(folder / "2-drawn.png")).width() == 2 * SIZE.width()
    assert (folder / "fairness.pdf").read_bytes().startswith(b"%PDF")
