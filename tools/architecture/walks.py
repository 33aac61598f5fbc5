"""Walks of a value through the running program: a scenario from file to core, a sweep from dialog to figure.

A function counts if it receives the value, a part of the value, or something that a counted function made from it. Each
call from one function to another counts once, at its first occurrence, so that loops add nothing. A return is a call
into a file that the walk had left.
"""

from __future__ import annotations

import dataclasses
import enum
import inspect
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType

from tests.helpers.import_graph import ROOT, SOURCES

DEMO = ROOT / "assets" / "scenarios" / "demo.toml"
_FOLDERS = tuple(f"{folder}{os.sep}" for folder in SOURCES.values())
_PLAIN = (type(None), bool, int, float, enum.Enum, type, type(sys), CodeType)


class Walk:
    """The calls along the way of a value.

    Args:
        value: the value to follow.
        leaves_out: Folders whose functions do not count.
    """

    def __init__(self, value: object, leaves_out: Iterable[Path] = ()) -> None:
        self.calls: dict[tuple[CodeType | None, CodeType], None] = {}
        """Pairs of caller and called function, in the order of their first calls."""
        self._left_out = tuple(f"{folder}{os.sep}" for folder in leaves_out)
        self._known: dict[int, object] = {}  # by id; keeps the objects alive, so that no id is used again
        self.learn(value)

    @property
    def functions(self) -> int:
        """Number of functions called."""
        return len(set(self._called()))

    @property
    def files(self) -> int:
        """Number of files with a called function."""
        return len(set(self._way()))

    @property
    def folders(self) -> int:
        """Number of folders with such a file."""
        return len({Path(file).parent for file in self._way()})

    @property
    def returns(self) -> int:
        """Number of calls into a file that the walk had left."""
        way = self._way()
        stays = sum(one != other for one, other in zip(["", *way], way, strict=False))
        return stays - self.files

    def lines(self) -> Iterator[str]:
        """Each stay in a file, with the functions called there."""
        before = ""
        for called in self._called():
            file = Path(called.co_filename).relative_to(ROOT).as_posix()
            yield f"{'' if file == before else f'{file}{os.linesep}'}    {called.co_qualname}"
            before = file

    def _called(self) -> list[CodeType]:
        return [called for _caller, called in self.calls if not called.co_filename.startswith(self._left_out)]

    def _way(self) -> list[str]:
        return [called.co_filename for called in self._called()]

    def learn(self, value: object) -> None:
        """Marks a value and its parts as known."""
        # Short words and identifiers may also be constants of the program.
        is_word = isinstance(value, str) and (value.isidentifier() or len(value) < 2)
        if isinstance(value, _PLAIN) or is_word or inspect.isroutine(value) or id(value) in self._known:
            return
        if isinstance(value, tuple | frozenset) and not value:
            return
        self._known[id(value)] = value
        if isinstance(value, dict):
            parts = [*value.keys(), *value.values()]
        elif isinstance(value, list | tuple | set | frozenset):
            parts = list(value)
        elif dataclasses.is_dataclass(value):
            parts = [getattr(value, each.name, None) for each in dataclasses.fields(value)]
        else:
            parts = []
        for part in parts:
            self.learn(part)

    @contextmanager
    def watched(self) -> Iterator[None]:
        """Watches every call of this thread and of threads started meanwhile."""
        threading.setprofile(self._see)
        sys.setprofile(self._see)
        try:
            yield
        finally:
            sys.setprofile(None)
            threading.setprofile(None)

    def _see(self, frame: FrameType, event: str, result: object) -> None:
        code = frame.f_code
        if event not in ("call", "return") or not code.co_filename.startswith(_FOLDERS) or code.co_name[0] == "<":
            return
        given = [frame.f_locals.get(name) for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]]
        if not any(id(each) in self._known for each in given if not isinstance(each, _PLAIN)):
            return
        if event == "call":
            caller = frame.f_back
            while caller is not None and not caller.f_code.co_filename.startswith(_FOLDERS):
                caller = caller.f_back
            self.calls.setdefault((None if caller is None else caller.f_code, code))
        else:
            self.learn(given[0] if code.co_name == "__init__" else result)


def reading() -> Walk:
    """The demo from its text to the scenario model."""
    from subflow_sim.scenario import parse_scenario

    text = DEMO.read_text(encoding="utf-8")
    walk = Walk(text)
    with walk.watched():
        parse_scenario(text)
    return walk


def lowering() -> Walk:
    """The demo from the scenario model to the network of the core."""
    from subflow_sim.scenario import load_scenario
    from subflow_sim.simulation import Simulation

    scenario = load_scenario(DEMO)
    walk = Walk(scenario)
    with walk.watched():
        Simulation(scenario, seed=1)
    return walk


def sweep() -> Walk:
    """Sweeps three losses and two seeds of the demo, from the dialog's draft to a figure, without the simulator."""
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtWidgets import QApplication

    from subflow_app.features.paper.core.figure_plan import FigurePlan
    from subflow_app.features.paper.core.figures import save_figure
    from subflow_app.features.plots.qt.panel_plot import PanelPlot
    from subflow_app.features.sweeps.core.sweep_draft import SweepDraft, estimate_draft
    from subflow_app.features.sweeps.core.sweep_job import SweepJob
    from subflow_app.features.sweeps.core.sweep_results import stored_table
    from subflow_app.features.sweeps.core.views.choice import show
    from subflow_app.features.sweeps.core.views.study import study_of
    from subflow_app.features.sweeps.core.views.view import ViewChoice
    from subflow_store import open_store

    application = QApplication.instance() or QApplication([])
    text = DEMO.read_text(encoding="utf-8")
    draft = SweepDraft("", (("links.wifi.loss", "0%, 1%, 2%"),), "1..2")
    walk = Walk(draft, leaves_out=(SOURCES["subflow_sim"],))
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "runs.db") as store, walk.watched():
        plan = estimate_draft(draft, text, DEMO.parent, store.path).plan
        assert plan is not None
        job = SweepJob(plan, store)
        job.run()
        assert job.sweep_id is not None
        table = stored_table(store, job.sweep_id)
        walk.learn(table)
        shown = show(ViewChoice("lines"), study_of(table))
        chart = PanelPlot("sweep_lines", "Lines")
        chart.show_panel(shown.content.panel, shown.content.hits)
        panel = chart.shown_panel()
        assert panel is not None
        save_figure(FigurePlan(panels=(panel,)), Path(folder) / "sweep.svg")
    chart.deleteLater()
    application.processEvents()
    return walk


WALKS: dict[str, Callable[[], Walk]] = {
    "a scenario from text to model": reading,
    "a scenario from model to core": lowering,
    "a sweep from dialog to figure": sweep,
}


def report(*, is_long: bool = False) -> str:
    """A line for each walk; if long, with every function on the way."""
    lines = []
    for name, take in WALKS.items():
        walk = take()
        counts = f"{walk.functions} functions, {walk.files} files, {walk.folders} folders, {walk.returns} returns"
        lines += [f"{name}: {counts}", *(walk.lines() if is_long else ())]
    return "\n".join(lines) + "\n"
