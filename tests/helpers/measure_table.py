"""The numbers of a run as printed in each place: legend, results, history, compare, CSV, JSON, report and web page.

The command ``python -m tests.helpers.measure_table SCENARIO...`` prints the table of shipped scenarios as Markdown.
"""

from __future__ import annotations

import csv
import io
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

from subflow_app.features.comparison.core.conditions import group_runs
from subflow_app.features.comparison.core.group_table import compare_groups, table_csv
from subflow_app.features.history.cli import shown_document
from subflow_app.features.history.core.run_columns import column, read_totals
from subflow_app.features.paper.core.report import build_report, read_runs
from subflow_app.features.paper.core.report_file import render_report
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.plots.qt.legend_model import mean_values
from subflow_app.features.running.core.runs import RunJob
from subflow_app.features.traces.core.summary_text import flow_table, link_table
from subflow_app.features.traces.core.traces import StoredTraces
from subflow_app.vocabulary.measures import RUN_MEASURES, default_measures, flow_kind, measure, run_measure, run_values
from subflow_app.vocabulary.number_text import NOTHING
from subflow_sim import parse_scenario
from subflow_store import RunRow, Store, open_store

PLACES = ("legend", "results", "history", "compare", "CSV", "JSON", "report", "page")
OF_RUN = (
    *("goodput_bps", "mean_completion_s", "active_goodput_per_flow_bps", "weighted_rtt_s", "mean_rtt_s"),
    *("total_loss_ratio", "makespan_s", "jain"),
)
BESIDE = ("mean_rtt_s", "p95_rtt_s", "loss_ratio", "retransmits")
_HEADS = {
    "completion_s": ("Took", "s"),
    "active_goodput_bps": ("Goodput", "active Mbit/s"),
    "goodput_bps": ("Goodput", "Mbit/s"),
    "mean_rtt_s": ("RTT", "ms"),
    "p95_rtt_s": ("RTT p95", "ms"),
    "loss_ratio": ("Loss", "% of sent"),
    "retransmits": ("Retransmissions", "pkt"),
    "utilisation": ("Used", "% of time"),
}
_OF_RUNS_IN_REPORTS = {
    "goodput_bps": "Goodput",
    "mean_completion_s": "Completion time",
    "active_goodput_per_flow_bps": "Goodput while active, per flow",
    "weighted_rtt_s": "RTT",
    "jain": "Jain index",
}


@dataclass(slots=True)
class Printed:
    """A measure of a run as printed in each place, without its unit.

    Attributes:
        key: dotted key of the store.
        texts: by place; places that do not show the measure are omitted.
    """

    key: str
    texts: dict[str, str] = field(default_factory=dict)

    @property
    def is_equal(self) -> bool:
        """True if all places print the same, except for spaces between groups of digits."""
        return len({text.replace("\N{NARROW NO-BREAK SPACE}", "").replace(" ", "") for text in self.texts.values()}) < 2


def stored_run(store: Store, text: str, folder: Path | None = None) -> int:
    """Runs a scenario and stores it; returns the id of the run."""
    scenario = parse_scenario(text, folder=folder) if folder is not None else parse_scenario(text)
    result = RunJob(scenario, text, store=store).run()
    assert result.error is None
    assert result.run_id is not None
    return result.run_id


def printed(store: Store, run_id: int, page: Callable[[str], float | None] | None = None) -> list[Printed]:
    """The measures of a stored run: of the whole run, of its flows and of its links.

    Args:
        store: contains the run.
        run_id: id of the run.
        page: returns the value for a key in the core of a web page, SI; None: pages are omitted.
    """
    row = store.run(run_id)
    summary = row.summary or {}
    rows = {key: Printed(key) for key in _keys(summary)}
    places = {
        "legend": _legend(store, row),
        "results": _tables([flow_table(summary), link_table(summary)]),
        "history": _history(store, row, rows),
        "compare": _compared(row, rows),
        "CSV": _csv(row),
        "JSON": _json(row),
        "report": _report(store, row),
        "page": {key: _text(key, value) for key in rows if page is not None and (value := page(key)) is not None},
    }
    for place in PLACES:
        for key, text in places[place].items():
            if key in rows and text not in ("", NOTHING):
                rows[key].texts[place] = text
    return [row for row in rows.values() if row.texts]


def _text(key: str, value: float) -> str:
    return run_measure(key).text(value)


def _keys(summary: Mapping[str, Any]) -> Iterator[str]:
    yield from OF_RUN
    for flow in summary["flows"]:
        yield from (f"flows.{flow['name']}.{each.key}" for each in default_measures(flow))
        yield from (f"flows.{flow['name']}.{key}" for key in BESIDE)
        for number, _ in enumerate(flow["subflows"], start=1):
            yield from (f"flows.{flow['name']}/{number}.{key}" for key in ("throughput_bps", "mean_rtt_s"))
    for link in summary["links"]:
        yield f"links.{link['name']}/{link['direction']}.utilisation"


def _legend(store: Store, row: RunRow) -> dict[str, str]:
    specs = [PLOTS_BY_ID[name] for name in ("throughput", "utilisation")]
    values = mean_values(specs, [StoredTraces(store, row.id)])
    shown: dict[str, str] = {}
    for flow in (row.summary or {})["flows"]:
        texts = values.flows[0, flow["name"]].brief.split(", ") if values.flows else []
        if len(texts) == len(default_measures(flow)):
            for each, text in zip(default_measures(flow), texts, strict=True):
                shown[f"flows.{flow['name']}.{each.key}"] = text.partition(" ")[0]
    for name, kind, found, decimals in zip(
        ("throughput_bps", "utilisation"), ("flows", "links"), values.columns, values.decimals, strict=True
    ):
        for curve, value in found.items():
            shown[f"{kind}.{curve.owner}.{name}"] = f"{value:.{decimals}f}"
    return shown


def _tables(tables: Sequence[Any]) -> dict[str, str]:
    """The cells of tables of flows and links: rows of subflows follow their flow and are numbered from 1."""
    shown: dict[str, str] = {}
    for table in tables:
        heads = [(each.title, each.unit) for each in table.columns]
        shown |= _cells(heads, table.rows)
    return shown


def _cells(heads: Sequence[tuple[str, str]], rows: Sequence[Sequence[str]]) -> dict[str, str]:
    shown: dict[str, str] = {}
    owner, number = "", 0
    is_links = heads[0][0] == "Link"
    for cells in rows:
        if is_links:
            name = f"links.{cells[0]}/{cells[1]}"
        elif cells[0].strip().startswith("·"):
            number += 1
            name = f"flows.{owner}/{number}"
        else:
            owner, number = cells[0], 0
            name = f"flows.{owner}"
        for key, head in _HEADS.items():
            # The goodput while active of subflows has no key.
            if head in heads and not (key == "active_goodput_bps" and "/" in name):
                shown[f"{name}.{key}"] = cells[heads.index(head)]
    return shown


def _history(store: Store, row: RunRow, keys: Mapping[str, Any]) -> dict[str, str]:
    of_flows = [key for key in keys if column(key).is_of_flows]
    read: dict[str, Any] = dict(read_totals(store, of_flows))
    read |= {key: store.values(key) for key in keys if column(key).of is None}
    listed = next(each for each in store.runs() if each.id == row.id)
    return {key: column(key).text(column(key).value(listed, read)) for key in keys}


def _compared(row: RunRow, keys: Mapping[str, Any]) -> dict[str, str]:
    table = compare_groups(group_runs([row]))
    return {each.column.key: each.column.text(each.estimates[0].mean) for each in table.rows if each.column.key in keys}


def _csv(row: RunRow) -> dict[str, str]:
    table = compare_groups(group_runs([row]))
    lines = list(csv.reader(io.StringIO(table_csv(table, table.rows))))[1:]
    return {line[0]: _text(line[0], float(line[2])) for line in lines}


def _json(row: RunRow) -> dict[str, str]:
    document = json.loads(json.dumps(shown_document(row), default=str))
    values: dict[str, Any] = {key: value for key, value in run_values(document["flows"]).items() if key in RUN_MEASURES}
    values["jain"] = document["fairness"]["jain"]
    for flow in document["flows"]:
        values |= {f"flows.{flow['name']}.{key}": value for key, value in flow.items()}
        for number, subflow in enumerate(flow["subflows"], start=1):
            values |= {f"flows.{flow['name']}/{number}.{key}": value for key, value in subflow.items()}
    for link in document["links"]:
        values |= {f"links.{link['name']}/{link['direction']}.{key}": value for key, value in link.items()}
    return {key: _text(key, value) for key, value in values.items() if isinstance(value, int | float)}


class _Tables(HTMLParser):
    """The tables of a page: headings as (title, unit), and rows of cells."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[list[str]]] = []
        self._is_cell = False

    def handle_starttag(self, tag: str, _attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append([])
        elif tag in ("td", "th") and self.tables:
            self.tables[-1][-1].append("")
            self._is_cell = True
        elif tag == "span" and self._is_cell:  # the unit of a heading
            self.tables[-1][-1][-1] += "\n"

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._is_cell = False

    def handle_data(self, data: str) -> None:
        if self._is_cell:
            self.tables[-1][-1][-1] += data


def _report(store: Store, row: RunRow) -> dict[str, str]:
    parser = _Tables()
    parser.feed(render_report(build_report(read_runs(store, [row.id]), plots=[])).decode("utf-8"))
    shown: dict[str, str] = {}
    for head, *rows in (table for table in parser.tables if table):
        titles = [_title_and_unit(text) for text in head]
        if titles[0][0] in ("Flow", "Link") and any(each in titles for each in _HEADS.values()):
            shown |= _cells(titles, rows)
        elif titles[0][0] == "Run" and ("Status", "") in titles:
            names = [title for title, _ in titles]
            shown |= {key: rows[0][names.index(name)] for key, name in _OF_RUNS_IN_REPORTS.items() if name in names}
    return shown


def _title_and_unit(text: str) -> tuple[str, str]:
    title, _, unit = text.partition("\n")
    return title.strip(), unit.strip()


def core_page(text: str) -> Callable[[str], float | None]:
    """Values of a scenario by key, computed by the core of web pages."""
    from tests.helpers.web_core import WebCore

    from subflow_sim.portable import portable

    scenario = parse_scenario(text)
    core = WebCore()
    run = core.open(portable(scenario, scenario.seed), scenario.seed, 0.1)
    core.finish(run)
    core.checked("results", run)
    told = json.loads(core.text())
    values: dict[str, Any] = {}
    subflows = iter(told.get("subflows", ()))
    for flow in told["flows"]:
        values |= {f"flows.{flow['name']}.{key}": value for key, value in flow.items()}
        for number, _ in enumerate(scenario.flows[flow["name"].partition(".")[0]].paths, start=1):
            values |= {f"flows.{flow['name']}/{number}.{key}": value for key, value in next(subflows, {}).items()}
    for link in told["links"]:
        values |= {f"links.{link['name']}.{key}": value for key, value in link.items()}
    return lambda key: value if isinstance(value := values.get(key), int | float) else None


def markdown(named: Mapping[str, Sequence[Printed]]) -> str:
    """The tables of all scenarios joined in one Markdown table, with a column for each place."""
    lines = [f"| scenario | measure | unit | {' | '.join(PLACES)} | equal |", "|" + "---|" * (len(PLACES) + 4)]
    for name, rows in named.items():
        for row in rows:
            cells = [row.texts.get(place, NOTHING) for place in PLACES]
            equal = "yes" if row.is_equal else "**no**"
            lines.append(f"| {name} | `{row.key}` | {measure(row.key).unit} | {' | '.join(cells)} | {equal} |")
    return "\n".join(lines) + "\n"


def _few(rows: Sequence[Printed], summary: Mapping[str, Any]) -> list[Printed]:
    """The measures of the run, of the first flow of each kind and of the busiest link, to fit a page.

    A measure that differs between places is always included.
    """
    flows = {flow_kind(flow): f"flows.{flow['name']}" for flow in reversed(summary["flows"])}
    link = max(summary["links"], key=lambda each: float(each["utilisation"]))
    begins = (
        *(f"{flow}{end}" for flow in flows.values() for end in "./"),
        f"links.{link['name']}/{link['direction']}.",
    )
    return [row for row in rows if not row.is_equal or row.key in OF_RUN or row.key.startswith(begins)]


def main(names: Sequence[str]) -> None:
    """Prints the table of scenarios, named as on the command line, with overrides after a comma: ``demo,seed=2``."""
    from subflow_app.features.editor.core.scenario_source import open_scenario

    found: dict[str, list[Printed]] = {}
    with tempfile.TemporaryDirectory() as folder, open_store(Path(folder) / "runs.db") as store:
        for called in names:
            name, *changes = called.split(",")
            source = open_scenario(name, overrides=changes)
            result = RunJob(source.scenario, source.text, store=store).run()
            assert result.run_id is not None
            page = None
            try:
                page = core_page(source.text)
            except Exception as error:  # policies and scripts of a scenario are not passed to the core here
                sys.stderr.write(f"{name}: no page: {error}\n")
            summary = store.run(result.run_id).summary or {}
            found[called] = _few(printed(store, result.run_id, page), summary)
    sys.stdout.write(markdown(found))


if __name__ == "__main__":
    main(sys.argv[1:])
