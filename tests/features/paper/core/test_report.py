"""Reports contain everything that a reader needs, as HTML and as PDF, for one run and for many."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pypdf import PdfReader
from tests.helpers.html_page import HtmlPage
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.window import TWO_PATHS

from subflow_app.features.paper.core import report as reports
from subflow_app.features.paper.core.report import Heading, Listing, Paragraph, Report, build_report, read_runs
from subflow_app.features.paper.core.report_file import render_report
from subflow_app.features.paper.core.report_tables import events_table
from subflow_app.features.paper.core.topology_sketch import sketch_of
from subflow_app.features.plots.core import PLOTS_BY_ID
from subflow_app.features.running.core.runs import RunJob
from subflow_app.foundation.citation import citation_bibtex, citation_text
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.tables import TextTable
from subflow_sim.scenario import parse_scenario
from subflow_store import Store, open_store

CROWD = TWO_PATHS.replace('controller = "lia"', 'controller = "lia"\ncount = 10').replace(
    "Two paths", "Ten <b>flows</b>"
)
MADE_AT = datetime(2026, 11, 22, 12, 30, tzinfo=UTC)


def add_run(store: Store, text: str, seed: int) -> int:
    return present(RunJob(parse_scenario(text), text, seed=seed, store=store).run().run_id)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Runs 1 to 3 are the same with three seeds, 4 has another controller, 5 has ten flows, 6 has events."""
    with open_store(tmp_path_factory.mktemp("report") / "runs.db") as made:
        for seed in (7, 8, 9):
            add_run(made, TWO_PATHS, seed)
        add_run(made, TWO_PATHS.replace("lia", "olia").replace("Two paths", "Two paths, OLIA"), 7)
        add_run(made, CROWD, 7)
        add_run(made, TWO_PATHS + '\n[[events]]\nat = "1s"\nlink = "wifi"\nup = false\nrate = "1Mbit/s"\n', 7)
        yield made


def report_on(store: Store, *numbers: int) -> Report:
    return build_report(read_runs(store, numbers), made_at=MADE_AT)


def tables(report: Report) -> dict[str, TextTable]:
    return {block.title: block for block in report.blocks if isinstance(block, TextTable)}


def headings(report: Report) -> list[str]:
    return [block.text for block in report.blocks if isinstance(block, Heading) and block.level == 1]


def test_report_of_one_run_has_everything(store: Store) -> None:
    report = report_on(store, 1)
    found = tables(report)
    row = store.run(1)

    assert report.title == "Two paths"
    assert report.subtitle.startswith("Report on run 1, made 2026-11-22 12:30 UTC with Subflow ")
    parts = ("Summary", "Setup", "Figures", "Results", "How to repeat it", "How to cite Subflow", "Appendix: scenario")
    assert headings(report) == [*parts]
    without = build_report(read_runs(store, [1]), plots=[PLOTS_BY_ID["utility"]])
    assert "Figures" not in headings(without), "no run has this plot"
    assert Paragraph(citation_text()) in report.blocks
    assert Listing(citation_bibtex()) in report.blocks
    assert found["Links"].rows[0] == ("wifi", "client ↔ server", "8 Mbit/s", "10 ms", "droptail, 20 pkt", "1 %")
    assert found["Flows"].rows[0][:4] == ("download", "mptcp", "server → client", "lia")
    assert found["Seeds and signatures"].rows[0][1:3] == ("7", row.signature)
    assert "Experiments" not in found
    versions = {row[0]: row[1] for row in found["Versions"].rows}
    assert {"Scenario format", "Python", "Platform", "Subflow that made this report"} <= set(versions)


def test_runs_that_differ_in_their_seed_are_one_experiment_with_an_interval(store: Store) -> None:
    table = tables(report_on(store, 1, 2, 3, 4))["Experiments"]
    goodputs = [store.run(number).goodput_bps or 0.0 for number in (1, 2, 3)]
    mean = sum(goodputs) / 3
    deviation = math.sqrt(sum((value - mean) ** 2 for value in goodputs) / 2)

    lia, olia = table.rows
    assert lia[:3] == ("Two paths", "lia", "3")
    # Student's t for two degrees of freedom: 4.3027.
    assert lia[3] == f"{mean / 1e6:.3f} ± {4.302653 * deviation / math.sqrt(3) / 1e6:.3f}"
    assert olia[:3] == ("Two paths, OLIA", "olia", "1")
    assert "±" not in olia[3]
    setups = headings(report_on(store, 1, 2, 4))[1:3]
    assert setups == ["Setup of runs 1, 2: Two paths", "Setup of run 4: Two paths, OLIA"]


def test_events_are_told_with_their_units(store: Store) -> None:
    assert tables(report_on(store, 6))["Events"].rows == (("1 s", "wifi", "down, rate 1 Mbit/s"),)
    changed = parse_scenario(TWO_PATHS + '\n[[events]]\nat = "1s"\nflow = "download"\ncontroller = "olia"\n')
    assert events_table(changed).rows == (("1 s", "download", "controller olia"),)


def test_html_is_one_file_without_scripts_whose_texts_are_escaped(store: Store) -> None:
    text = render_report(report_on(store, 5, 1)).decode()
    page = HtmlPage(text)

    assert "script" not in page.tags
    assert all(link.startswith("#") for link in page.links)
    assert not re.search(r"@import|url\((?!#)", text)
    assert len(page.ids) == len(set(page.ids))
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert page.tags.count("svg") == page.tags.count("figure") == 2 + 4  # two topologies, four plots
    assert "<b>flows" not in text
    words = "".join(page.words)
    assert "Ten <b>flows</b>" in words
    assert CROWD.strip() in words  # the exact scenario
    assert "subflow run scenario-1.toml --seed 7" in words


@pytest.mark.parametrize(
    ("numbers", "least_pages", "page", "width_mm"),
    [
        pytest.param((1,), 3, "a4", 210.0, marks=pytest.mark.full("one run alone, on the other page")),
        ((1, 2, 4), 5, "letter", 215.9),
        pytest.param((5,), 5, "a4", 210.0, marks=pytest.mark.full("one run alone, on the other page")),
    ],
)
def test_pdf_has_pages_of_all_texts(
    store: Store, numbers: tuple[int, ...], least_pages: int, page: str, width_mm: float
) -> None:
    report = replace(report_on(store, *numbers), kind="pdf", page=reports.page_size(page))
    content = render_report(report)
    reader = PdfReader(io.BytesIO(content))
    texts = [each.extract_text() for each in reader.pages]
    whole = "\n".join(texts)

    assert len(texts) >= least_pages
    assert float(reader.pages[0].mediabox.width) == pytest.approx(width_mm / 25.4 * 72, abs=0.1)
    assert b"/Type3" not in content
    for number, text in enumerate(texts, start=1):
        assert f"Page {number}" in text
    for words in (*headings(report), *(table.title for table in tables(report).values())):
        assert words in whole
    for run in numbers:
        assert store.run(run).signature in whole
    assert 'queue = "40pkt"' in whole
    assert present(reader.metadata).title == report.title


def test_tables_that_break_have_their_head_again(store: Store) -> None:
    report = report_on(store, 5)
    table = tables(report)["Per flow and subflow"]
    long = replace(table, rows=table.rows * 4)
    made = replace(report, kind="pdf", blocks=(Heading("Results"), long))
    texts = [page.extract_text() for page in PdfReader(io.BytesIO(render_report(made))).pages]

    assert len(texts) >= 2
    assert all("Goodput" in text and "RTT p95" in text for text in texts)
    assert sum(text.count("download.10") for text in texts) == 4


@for_each("kind", reports.REPORT_KINDS)
def test_same_report_is_the_same_file(store: Store, kind: reports.ReportKind) -> None:
    report = replace(report_on(store, 1), kind=kind)
    assert render_report(report) == render_report(report)


def test_pdf_lists_its_headings_with_their_pages_and_shows_texts_as_they_are() -> None:
    texts = ("<b>wifi</b> &amp; \u202eGrößen שלום", *(f"Filler {number}" for number in range(40)))
    blocks = [block for text in texts for block in (Heading(text), Paragraph("three lines " * 40))]
    report = Report(texts[0], "subtitle", (*blocks, Heading("Last", 2), Paragraph("end")), "pdf", contents=2)
    pages = [page.extract_text() for page in PdfReader(io.BytesIO(render_report(report))).pages]

    assert "<b>wifi</b> &amp; \\u202eGrößen" in pages[0]
    assert len(pages) > 3
    for heading in ("Filler 10", "Filler 39", "Last"):
        (page,) = [number for number, text in enumerate(pages[1:], start=2) if heading in text.splitlines()]
        assert page > 2 or heading == "Filler 10"
    assert "Last" in pages[-1]
    assert str(len(pages)) in pages[0].split()


def test_runs_that_cannot_be_reported_on_are_refused(tmp_path: Path) -> None:
    with open_store(tmp_path / "runs.db") as store:
        number = add_run(store, TWO_PATHS, 1)
        store.delete([number])
        for numbers, why in (([], "needs a run"), (range(1, 61), "at most 50 runs"), ([number], "run 1 is deleted")):
            with pytest.raises(InputError, match=why):
                read_runs(store, numbers)
    for name, why in (("x.docx", r"not \"\.docx\""), ("x", "no suffix")):
        with pytest.raises(InputError, match=why):
            reports.report_kind(Path(name))
    with pytest.raises(InputError, match="must be one of a4, letter"):
        reports.page_size("a3")


def test_a_run_without_scenario_and_summary_still_gives_a_report(store: Store) -> None:
    (run,) = read_runs(store, [1])
    report = build_report([replace(run, scenario=None)])

    assert "Links" not in [block.title for block in report.blocks if isinstance(block, TextTable)][:2]
    assert render_report(report)
    bare = replace(run, scenario=None, row=run.row._replace(summary=None, scenario_text=None, machine=None))
    text = render_report(build_report([bare])).decode()
    assert ("without a summary" in text, "was not kept" in text) == (True, True)


def test_topology_is_drawn_as_on_the_canvas() -> None:
    sketch = sketch_of(parse_scenario(TWO_PATHS))

    assert {node.name for node in sketch.nodes} == {"client", "server"}
    assert [link.label for link in sketch.links] == ["wifi: 8 Mbit/s, 10 ms", "lte: 4 Mbit/s, 30 ms"]
    assert sketch.links[0].bow == -sketch.links[1].bow
    assert [label for label, _ in sketch.ways] == ["download · wifi", "download · lte"]
    assert sketch.links[0].lanes == (sketch.ways[0][1],)
