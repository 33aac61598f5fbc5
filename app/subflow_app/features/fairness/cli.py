"""``subflow fairness``: compares the goodputs of connections with their fair shares of the network."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from subflow_app.foundation.errors import InputError
from subflow_app.terminal.options import Database, Json, opened_store, run_number, time_option
from subflow_app.terminal.terminal import print_json, print_line, print_tables

if TYPE_CHECKING:
    from subflow_app.features.fairness.core.analysis import FairnessAnalysis


def fairness(
    runs: Annotated[list[str] | None, typer.Argument(metavar="[RUN]...", help="Numbers of runs, or `last`.")] = None,
    *,
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", metavar="FILE", help="Only the fair splits of a scenario, without a run."),
    ] = None,
    overrides: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Change a value of that scenario. Repeatable."),
    ] = None,
    begin: Annotated[
        str | None,
        typer.Option("--from", metavar="TIME", help="Start of the interval; default: the end of the warm-up."),
    ] = None,
    end: Annotated[
        str | None, typer.Option("--to", metavar="TIME", help="End of the interval; default: that of the run.")
    ] = None,
    trade_off: Annotated[
        str | None,
        typer.Option(
            "--trade-off",
            metavar="KIND",
            help="Weigh runs: throughput against `delay` or `friendliness`; completion time against delay: `transfer`.",
        ),
    ] = None,
    csv_file: Annotated[
        Path | None, typer.Option("--csv", metavar="FILE", help="Also write the points of --trade-off there.")
    ] = None,
    database: Database = None,
    as_json: Json = False,
) -> None:
    """Compare the goodputs of connections with fair splits.

    The fair splits are computed for the network of the run. The table also shows the share on a single path.
    Max-min fair: no connection could get more without taking from one that has no more than it. Proportionally
    fair: the sum of the logarithms of the rates is largest. Both let an mptcp connection split its data over its
    paths in any way. One path: the share of a connection if each used only its best path. Pooling is goodput
    divided by this share. All rates are payload. Capacities are those of the links at the time, less headers and
    datagram flows. If links or flows change within the interval, shares are means over it.
    """
    from subflow_app.features.catalog.core.uses import Use
    from subflow_app.features.editor.core.scenario_source import open_scenario
    from subflow_app.features.fairness.core.analysis import analysis_document, run_analysis, scenario_analysis
    from subflow_app.features.traces.core.traces import StoredTraces

    from_s = None if begin is None else time_option("--from", begin)
    to_s = None if end is None else time_option("--to", end)
    if (scenario is None) == (not runs):
        raise InputError("give either numbers of runs or --scenario FILE")
    if overrides and scenario is None:
        raise InputError("--set requires --scenario FILE")
    if csv_file is not None and trade_off is None:
        raise InputError("--csv requires --trade-off")
    if trade_off is not None:
        if scenario is not None or from_s is not None or to_s is not None:
            raise InputError(
                "--trade-off compares runs after their warm-up; do not combine it with --scenario, --from or --to"
            )
        _weigh(runs or [], trade_off, csv_file, database, as_json=as_json)
        return
    if scenario is not None:
        analysis = scenario_analysis(
            open_scenario(scenario, use=Use.FAIRNESS, overrides=overrides or ()).scenario, from_s, to_s
        )
        if as_json:
            print_json({"scenario": analysis.title} | analysis_document(analysis))
        else:
            _print_analysis(analysis)
        return
    with opened_store(database, read_only=True) as store:
        numbers = list(dict.fromkeys(run_number(store, run) for run in runs or ()))
        analyses = [run_analysis(StoredTraces(store, number), from_s, to_s) for number in numbers]
    if as_json:
        print_json(
            {"runs": [{"run_id": n} | analysis_document(each) for n, each in zip(numbers, analyses, strict=True)]}
        )
        return
    for position, (number, analysis) in enumerate(zip(numbers, analyses, strict=True)):
        if position:
            print_line()
        _print_analysis(analysis, number)


def _weigh(runs: list[str], name: str, csv_file: Path | None, database: Path | None, *, as_json: bool) -> None:
    from subflow_app.features.fairness.core.trade_offs import (
        TradeOffKind,
        point_table,
        points_document,
        trade_off_points,
        write_points,
    )
    from subflow_app.features.traces.core.traces import StoredTraces

    if name not in list(TradeOffKind):
        raise InputError(f'--trade-off = "{name}": must be one of {", ".join(TradeOffKind)}')
    kind = TradeOffKind(name)
    with opened_store(database, read_only=True) as store:
        numbers = list(dict.fromkeys(run_number(store, run) for run in runs))
        points = trade_off_points([StoredTraces(store, number) for number in numbers], kind)
    if csv_file is not None:
        write_points(points, kind, csv_file)
    if as_json:
        print_json(points_document(points, kind, numbers))
        return
    print_tables(point_table(points, kind, numbers))


def _print_analysis(analysis: FairnessAnalysis, run: int | None = None) -> None:
    from subflow_app.features.fairness.core.analysis_view import bottleneck_table, meaning, share_table, window_text

    print_line(f"{'' if run is None else f'Run {run}: '}{analysis.title}, {window_text(analysis)}")
    print_line()
    print_tables(share_table(analysis), *([bottleneck_table(analysis)] if analysis.bottlenecks else []))
    print_line()
    if analysis.is_run and len(analysis.connections) > 1:
        print_line(
            f"Jain index {analysis.jain:.3f}; distance to the max-min fair split {analysis.to_max_min:.3f}, to the "
            f"proportionally fair one {analysis.to_proportional:.3f} (0: reached)"
        )
    print_line(meaning(analysis))
    for notice in analysis.notices:
        print_line(notice)
