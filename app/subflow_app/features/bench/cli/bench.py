"""``subflow bench``: measures the speed of the simulator on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.foundation.json_document import fields
from subflow_app.foundation.resources import way_on
from subflow_app.terminal.options import Json
from subflow_app.terminal.terminal import print_json, print_line, print_note, print_rows
from subflow_app.vocabulary.number_text import count_text, fixed
from subflow_app.vocabulary.tables import Column, NumberColumn


def bench(
    workloads: Annotated[
        list[str] | None, typer.Argument(metavar="[WORKLOAD...]", help="Names of workloads; default: all.")
    ] = None,
    instructions: Annotated[
        bool,
        typer.Option(
            "--instructions",
            help="Also count instructions per packet, with --scale per crossing of the mesh; needs valgrind, takes "
            "minutes.",
        ),
    ] = False,
    decisions: Annotated[
        bool, typer.Option("--decisions", help="Also measure how much recording decisions slows a run.")
    ] = False,
    scale: Annotated[
        bool,
        typer.Option(
            "--scale", help="Instead, measure how cost grows with flows, subflows, rates, hops and environments."
        ),
    ] = False,
    figure: Annotated[
        Path | None,
        typer.Option("--figure", metavar="FILE", help="Also plot the results of --scale: .svg, .pdf or .png."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure packets per CPU-second for each named workload."""
    from subflow_sim.bench_instructions import has_valgrind

    if instructions and not has_valgrind():
        raise InputError(
            "--instructions: valgrind is not installed, or this is the packaged program, which valgrind cannot measure"
        )
    if scale:
        if workloads or decisions:
            raise InputError("--scale measures networks of its own: name no workload or --decisions")
        _scale(figure, instructions=instructions, as_json=as_json)
        return
    if figure is not None:
        raise InputError("--figure draws what --scale measures: give both")
    from subflow_sim.bench import WORKLOADS
    from subflow_sim.bench_batch import BATCH
    from subflow_sim.build import build_text

    known = (*WORKLOADS, BATCH)
    names = list(dict.fromkeys(workloads or known))
    for name in names:
        if name not in known:
            listed = f"allowed: {', '.join(known)}"
            raise InputError(f'unknown workload "{name}"; {way_on(name, known, listed)}')
    documents = [
        _simulator_document(name, instructions=instructions, decisions=decisions) for name in names if name in WORKLOADS
    ]
    if BATCH in names:
        documents.append(_batch_document())
    if as_json:
        print_json({"build": build_text(), "workloads": documents})
    else:
        _print_workloads(documents)
        print_line(f"build: {build_text()}")


def _scale(figure: Path | None, *, instructions: bool, as_json: bool) -> None:
    from subflow_app.features.bench.cli.bench_scale import measured_scale, print_scale, save_scale
    from subflow_app.features.paper.core.figure_plan import figure_kind
    from subflow_sim.build import build_text

    if figure is not None:
        figure_kind(figure)  # refuses an unknown format before the measurement, which takes a minute
    documents = measured_scale(instructions=instructions)
    if as_json:
        print_json({"build": build_text(), "scale": documents})
    else:
        print_scale(documents)
        print_line(f"build: {build_text()}")
    if figure is not None:
        save_scale(documents, figure)
        print_note(f"{figure} drawn")


def _simulator_document(name: str, *, instructions: bool, decisions: bool) -> dict[str, Any]:
    from subflow_sim.bench import recording_cost, run_workload

    print_note(f"measuring {name} ...")
    result = run_workload(name)
    document = fields(result, "name", "description", "packets", "cpu_s", "packets_per_cpu_s")
    if instructions:
        from subflow_sim.bench_instructions import instructions_per_packet

        print_note(f"counting the instructions of {name} ...")
        document["instructions_per_packet"] = instructions_per_packet(name)
    if decisions:
        print_note(f"recording the decisions of {name} ...")
        cost = recording_cost(name)
        document |= {"decisions": cost.decisions, "recording_ratio": cost.ratio}
    return document


def _batch_document() -> dict[str, Any]:
    from subflow_sim.bench_batch import BATCH, DESCRIPTION, run_batch

    print_note(f"measuring {BATCH} ...")
    return {"name": BATCH, "description": DESCRIPTION, **asdict(run_batch())}


def _print_workloads(documents: Sequence[dict[str, Any]]) -> None:
    columns: tuple[Column[dict[str, Any]], ...] = (
        Column("Workload", lambda told: told["name"]),
        Column("Description", lambda told: told["description"]),
        NumberColumn("Packets", lambda told: told["packets"], count_text),
        NumberColumn("CPU", lambda told: told["cpu_s"], fixed(2), "s"),
        NumberColumn("Packets", lambda told: told["packets_per_cpu_s"], count_text, "per CPU s"),
        NumberColumn("Instructions", lambda told: told.get("instructions_per_packet"), count_text, "per packet"),
        NumberColumn("Scaling", lambda told: told.get("scaling_efficiency"), fixed(3)),
        NumberColumn("Recording", lambda told: told.get("recording_ratio"), fixed(2), "times"),
    )
    print_rows(documents, columns)
