"""``subflow bench``: how fast the simulator and the store are on this machine."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from subflow_app.cli.options import Json
from subflow_app.cli.terminal import print_json, print_note, print_tables

if TYPE_CHECKING:
    from collections.abc import Sequence

STORE = "store"
START = "start"
PLOTS = "plots"
CANVAS = "canvas"
RUN_WINDOW = "run-window"
SEEK = "seek"
SWEEP = "sweep"


def bench(
    workloads: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[WORKLOAD...]",
            help="Which; left out: all of the simulator's. `store` is the store's, seek the replay's, sweep that of "
            "sweeps; start, plots, canvas, run-window the window's.",
        ),
    ] = None,
    instructions: Annotated[
        bool, typer.Option("--instructions", help="Also count instructions per packet; needs valgrind and minutes.")
    ] = False,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Also measure how much longer a run takes that records its decisions.")
    ] = False,
    learning: Annotated[
        bool, typer.Option("--learning", help="Measure what learning rests on instead: policies and environments.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Measure packets per CPU-second for each named workload.

    Besides the simulator's: `store` is the database, `start` how the window starts, `plots` how fast it draws curves,
    `canvas` how fluid a topology of 400 nodes is, `run-window` how long the window does not answer while 100 flows run,
    `seek` how long a jump to any time of a run of 200 s takes, `sweep` what a run of a sweep costs beyond its
    simulation.

    With --learning the words are figures: policy_lstm, policy_mlp, environment, pause, checkpoint, and recipe:NAME,
    which trains a recipe and takes minutes; where it is not named, the card of its policy tells how long it took.
    """
    if learning:
        _learning(workloads, instructions or decisions, as_json=as_json)
        return
    from subflow_app.core.errors import InputError
    from subflow_sim.bench import WORKLOADS
    from subflow_sim.bench_batch import BATCH
    from subflow_sim.bench_instructions import has_valgrind

    others = {
        STORE: (_store_document, _print_store),
        START: (_start_document, _print_start),
        PLOTS: (_plots_document, _print_plots),
        CANVAS: (_canvas_document, _print_canvas),
        RUN_WINDOW: (_many_flows_document, _print_many_flows),
        SEEK: (_seek_document, _print_seek),
        SWEEP: (_sweep_document, _print_sweep),
    }
    names = list(dict.fromkeys(workloads or (*WORKLOADS, BATCH)))
    for name in names:
        if name not in (allowed := (*WORKLOADS, BATCH, *others)):
            raise InputError(f'there is no workload "{name}"; allowed are {", ".join(allowed)}')
    if instructions and not has_valgrind():
        raise InputError(
            "--instructions: valgrind is not installed, or this is a packaged program, which it cannot watch"
        )
    documents = [
        _simulator_document(name, instructions=instructions, decisions=decisions) for name in names if name in WORKLOADS
    ]
    if BATCH in names:
        documents.append(_batch_document())
    found = {name: measure() for name, (measure, _print) in others.items() if name in names}
    if as_json:
        print_json({"workloads": documents, **found})
        return
    if documents:
        _print_workloads(documents)
    for name, document in found.items():
        others[name][1](document)


def _learning(figures: Sequence[str] | None, has_others: bool, *, as_json: bool) -> None:
    """Measure figures of learning, all of them if none is named, beside their targets."""
    from subflow_app.bench import training
    from subflow_app.core.errors import InputError
    from subflow_app.core.text_table import TextColumn, TextTable
    from subflow_sim import bench_learning

    if has_others:
        raise InputError("--learning goes with neither --instructions nor --decisions")
    known = (*bench_learning.FIGURES, *training.figure_names())
    names = list(dict.fromkeys(figures or (*bench_learning.FIGURES, *training.ANSWERS)))
    for name in names:
        if name not in known:
            raise InputError(f'there is no figure "{name}" of learning; allowed are {", ".join(known)}')
    measured = []
    for name in names:
        print_note(f"measuring {name} ...")
        run_figure = bench_learning.run_figure if name in bench_learning.FIGURES else training.measure
        measured.append(run_figure(name))
    if not figures:
        measured += training.recipes_on_cards()
    if as_json:
        print_json({"learning": [asdict(figure) | {"is_met": figure.is_met} for figure in measured]})
        return
    columns = (
        TextColumn("Figure", is_number=False),
        TextColumn("What it is", is_number=False),
        TextColumn("Measured"),
        TextColumn("Target"),
        TextColumn("Met", is_number=False),
    )
    rows = tuple(
        (
            figure.name,
            figure.description,
            f"{figure.value:.4g} {figure.unit}",
            f"{'at most' if figure.is_limit else 'at least'} {figure.target:g}",
            "yes" if figure.is_met else "no",
        )
        for figure in measured
    )
    print_tables(TextTable("", columns, rows))


def _simulator_document(name: str, *, instructions: bool, decisions: bool) -> dict[str, Any]:
    from subflow_sim.bench import run_workload

    print_note(f"measuring {name} ...")
    result = run_workload(name)
    document = {
        "name": result.name,
        "description": result.description,
        "packets": result.packets,
        "cpu_s": result.cpu_s,
        "packets_per_cpu_s": result.packets_per_cpu_s,
    }
    if instructions:
        from subflow_sim.bench_instructions import instructions_per_packet

        print_note(f"counting the instructions of {name} ...")
        document["instructions_per_packet"] = instructions_per_packet(name)
    if decisions:
        from subflow_sim.bench import recording_cost

        print_note(f"recording the decisions of {name} ...")
        cost = recording_cost(name)
        document |= {"decisions": cost.decisions, "recording_ratio": cost.ratio}
    return document


def _batch_document() -> dict[str, Any]:
    from subflow_sim.bench_batch import BATCH, DESCRIPTION, run_batch

    print_note(f"measuring {BATCH} ...")
    return {"name": BATCH, "description": DESCRIPTION, **asdict(run_batch())}


def _store_document() -> dict[str, Any]:
    from subflow_store.bench import run_store_benchmark

    print_note(f"measuring {STORE} ...")
    from subflow_app.bench.history_list import measure_list

    return dict(run_store_benchmark(measure_list))


def _print_workloads(documents: Sequence[dict[str, Any]]) -> None:
    from subflow_app.core.number_text import NOTHING, count_text
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = (
        TextColumn("Workload", is_number=False),
        TextColumn("What it is", is_number=False),
        TextColumn("Packets"),
        TextColumn("CPU", "s"),
        TextColumn("Packets", "per CPU s"),
        TextColumn("Instructions", "per packet"),
        TextColumn("Scaling"),
        TextColumn("Recording", "times"),
    )
    rows = tuple(
        (
            document["name"],
            document["description"],
            count_text(document["packets"]),
            f"{document['cpu_s']:.2f}",
            count_text(document["packets_per_cpu_s"]),
            count_text(document.get("instructions_per_packet")),
            f"{document['scaling_efficiency']:.3f}" if "scaling_efficiency" in document else NOTHING,
            f"{document['recording_ratio']:.2f}" if "recording_ratio" in document else NOTHING,
        )
        for document in documents
    )
    print_tables(TextTable("", columns, rows))


def _print_store(document: dict[str, Any]) -> None:
    """What the store takes, what the plainest SQLite code for the same blobs takes, and how many times as much."""
    from subflow_app.core.number_text import NOTHING, count_text
    from subflow_app.core.text_table import TextColumn, TextTable

    workload = document["workload"]
    columns = (
        TextColumn("Operation", is_number=False),
        TextColumn("Store"),
        TextColumn("Plain SQLite"),
        TextColumn("Ratio"),
    )
    reference, ratio = document["reference"], document["ratio"]
    rows = tuple(
        (
            name,
            f"{value:.3f}",
            f"{reference[name]:.3f}" if name in reference else NOTHING,
            f"{ratio[name]:.2f}" if name in ratio else NOTHING,
        )
        for name, value in document["store"].items()
    )
    title = f"A run of {count_text(workload['samples'])} samples in {workload['columns']} columns"
    print_tables(TextTable(title, columns, rows))


def _start_document() -> dict[str, Any]:
    from subflow_app.bench.start import TARGET_S, measure_start

    print_note("measuring the start of the window ...")
    figures = ("wall_s", "best_wall_s", "cpu_s", "best_cpu_s")
    times = {moment: {name: getattr(at, name) for name in figures} for moment, at in measure_start().items()}
    return {**times, "target_s": TARGET_S}


def _print_start(document: dict[str, Any]) -> None:
    from subflow_app.core.text_table import TextColumn, TextTable

    moments = {
        "painted": "it is painted",
        "usable": "it can be used",
        "listed": "stored runs are listed",
        "plain": "a window with an empty plot alone",
    }
    figures = {"wall_s": "Time", "best_wall_s": "Best time", "cpu_s": "CPU", "best_cpu_s": "Best CPU"}
    columns = (
        TextColumn("From the command until", is_number=False),
        *(TextColumn(title, "s") for title in figures.values()),
    )
    rows = tuple((text, *(f"{document[moment][name]:.2f}" for name in figures)) for moment, text in moments.items())
    print_tables(TextTable(f"Start of the window (can be used: target {document['target_s']:g} s)", columns, rows))


def _plots_document() -> dict[str, Any]:
    print_note("measuring the plots ...")
    from subflow_app.bench.plots import CURVES, SAMPLES, TARGET_MS, measure_plots

    frames = {view: asdict(times) for view, times in measure_plots().items()}
    return {"curves": CURVES, "samples": SAMPLES, "target_ms": TARGET_MS, "frames": frames}


def _print_plots(document: dict[str, Any]) -> None:
    from subflow_app.core.number_text import count_text
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = (
        TextColumn("What is shown", is_number=False),
        TextColumn("A frame", "ms"),
        TextColumn("pyqtgraph's own", "ms"),
        TextColumn("Frames", "per s"),
    )
    rows = tuple(
        (view, f"{times['ours_ms']:.1f}", f"{times['plain_ms']:.1f}", f"{1e3 / times['ours_ms']:.0f}")
        for view, times in document["frames"].items()
    )
    title = f"Processor time of {document['curves']} curves of {count_text(document['samples'])} samples"
    print_tables(TextTable(f"{title} (target {document['target_ms']:.1f} ms)", columns, rows))


def _canvas_document() -> dict[str, Any]:
    from subflow_app.bench.canvas import LINKS, NODES, TARGET_FPS, measure_canvas

    print_note("measuring the canvas ...")
    figures = measure_canvas()
    named = {figure.name: asdict(figure) | ({"fps": figure.fps} if figure.is_frame else {}) for figure in figures}
    return {"nodes": NODES, "links": LINKS, "target_fps": TARGET_FPS, "figures": named}


def _print_canvas(document: dict[str, Any]) -> None:
    from subflow_app.core.number_text import NOTHING
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = (TextColumn("What is done", is_number=False), TextColumn("CPU", "ms"), TextColumn("Frames", "per s"))
    rows = tuple(
        (figure["description"], f"{figure['cpu_ms']:.1f}", f"{figure['fps']:.0f}" if "fps" in figure else NOTHING)
        for figure in document["figures"].values()
    )
    title = f"A topology of {document['nodes']} nodes and {document['links']} links"
    print_tables(TextTable(f"{title} (target {document['target_fps']:g} frames per s)", columns, rows))


def _many_flows_document() -> dict[str, Any]:
    from subflow_app.bench.many_flows import FLOWS, TARGET_MS, measure_many_flows

    print_note("measuring the window while flows run ...")
    return {"flows": FLOWS, "target_ms": TARGET_MS, "runs": [asdict(figure) for figure in measure_many_flows()]}


def _print_many_flows(document: dict[str, Any]) -> None:
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = (TextColumn("Speed", is_number=False), TextColumn("CPU", "ms"), TextColumn("Time", "ms"))
    rows = tuple((run["speed"], f"{run['cpu_ms']:.0f}", f"{run['wall_ms']:.0f}") for run in document["runs"])
    title = f"Longest time without an answer while {document['flows']} flows run"
    print_tables(TextTable(f"{title} (target {document['target_ms']:g} ms of CPU)", columns, rows))


def _seek_document() -> dict[str, Any]:
    from subflow_app.bench.seek import DURATION_S, TARGET_MS, measure_seek

    print_note("measuring jumps in time ...")
    runs = [asdict(figure) for figure in measure_seek()]
    return {"duration_s": DURATION_S, "target_ms": TARGET_MS, "runs": runs}


def _print_seek(document: dict[str, Any]) -> None:
    from subflow_app.core.number_text import count_text
    from subflow_app.core.text_table import TextColumn, TextTable
    from subflow_sim.limits import bytes_text

    columns = (
        TextColumn("Run", is_number=False),
        TextColumn("Crossings"),
        TextColumn("Run", "CPU s"),
        TextColumn("First pass", "CPU s"),
        TextColumn("States"),
        TextColumn("Memory"),
        *(TextColumn(title, "CPU ms") for title in ("Median", "95 %", "Worst")),
    )
    rows = tuple(
        (
            run["description"],
            count_text(run["crossings"]),
            *(f"{run[figure]:.2f}" for figure in ("run_cpu_s", "prepare_cpu_s")),
            count_text(run["states"]),
            bytes_text(run["bytes"]),
            *(f"{run[figure]:.1f}" for figure in ("median_ms", "p95_ms", "worst_ms")),
        )
        for run in document["runs"]
    )
    title = f"Jumps in time in runs of {document['duration_s']:g} s (target {document['target_ms']:g} ms at worst)"
    print_tables(TextTable(title, columns, rows))


def _sweep_document() -> dict[str, Any]:
    from subflow_app.bench.sweep import measure_sweep

    print_note("measuring a sweep ...")
    speed = measure_sweep()
    return asdict(speed) | {"overhead_ms": speed.overhead_ms, "speed_up": speed.speed_up}


def _print_sweep(document: dict[str, Any]) -> None:
    from subflow_app.core.text_table import TextColumn, TextTable

    columns = (
        TextColumn("Simulations alone", "CPU s"),
        TextColumn("Sweep, one process", "CPU s"),
        TextColumn("Beyond the simulation", "CPU ms a run"),
        TextColumn("Sweep, one process", "s"),
        TextColumn("Sweep, all cores", "s"),
        TextColumn("Speed-up"),
    )
    row = (
        f"{document['bare_cpu_s']:.2f}",
        f"{document['one_cpu_s']:.2f}",
        f"{document['overhead_ms']:.1f}",
        f"{document['one_s']:.2f}",
        f"{document['all_s']:.2f}",
        f"{document['speed_up']:.2f}",
    )
    print_tables(TextTable(f"A sweep of {document['runs']} runs on {document['cores']} cores", columns, (row,)))
