"""Reports on experiments: page and PDF agree, and files with the numbers accompany them."""

from __future__ import annotations

import csv
import io
from datetime import UTC, datetime
from pathlib import Path

import pypdf
import pytest
from tests.helpers.experiments import GOODPUT, TINY, FixedValues, tiny_results
from tests.helpers.html_page import HtmlPage
from tests.helpers.present import present

from subflow_app.features.gallery.core.report import ReportFiles, run_again_text, write_pages, write_report
from subflow_app.features.gallery.core.report_tables import results_csv, verdicts_csv
from subflow_app.features.gallery.core.results import Results
from subflow_app.foundation.errors import ExportError, InputError

MADE = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> list[Results]:
    """The small experiment, and another without values of LIA."""
    whole = tiny_results(tmp_path_factory.mktemp("whole"))
    other = TINY.replace('paper = "drl-cc"', 'paper = "mplibra"').replace('figure = "3a"', 'figure = "table I"')
    values = {place: given for place, given in GOODPUT.items() if place[1] != "LIA"}
    partly = tiny_results(tmp_path_factory.mktemp("partly"), other, FixedValues(values, {"LIA": "no agent"}))
    return [partly, whole]


@pytest.fixture(scope="module")
def files(results: list[Results], tmp_path_factory: pytest.TempPathFactory) -> ReportFiles:
    """The report on both."""
    return write_report(results, tmp_path_factory.mktemp("report") / "out", made_at=MADE)


def test_page_holds_figures_verdicts_rulings_and_settings(files: ReportFiles):
    text = files.html.read_text()
    page = HtmlPage(text)
    told = " ".join(" ".join(page.words).split())
    # Papers appear in their own order, regardless of the order of the results.
    assert [link for link in page.links if link.startswith("#s")] == [f"#s{number}" for number in range(7)]
    assert {link[1:] for link in page.links} <= set(page.ids)
    assert told.index("Figure 3a: Goodput against loss") < told.index("Table I: Goodput against loss")
    expected = (
        *("made 2026-01-02 03:04 UTC", "✓ inside band", "✗ outside band", "– not measured", "in 1.15 .. 1.25"),
        *("Not measured: LIA: no agent", "& keeps <its> share.", "Both get about the same", "Reading here"),
        *("subflow reproduce tiny", "+20 % over LIA (4.20 Mbit/s with our LIA)", "95 % intervals"),
    )
    assert [each for each in expected if each not in told] == []
    assert {"good", "bad"} <= set(page.classes)
    assert text.count("<svg") == 2
    assert len(page.ids) == len(set(page.ids))
    assert "http" not in text.replace("http://www.w3.org", "").replace("http-equiv", "")
    counts = next(line for line in text.splitlines() if "Inside band" in line)
    # DRL-CC: 5.25 Mbit/s lies in its band, a ratio of 4.4 / 3.5 does not; less goodput with more loss holds.
    assert " ".join(HtmlPage(counts).words).endswith("DRL-CC 1 1 1 1 0 0 MPLibra 1 0 0 0 0 3 All 2 1 1 1 0 3")


def test_paper_says_the_same_on_numbered_pages_with_contents(files: ReportFiles):
    reader = pypdf.PdfReader(files.pdf)
    pages = [page.extract_text() for page in reader.pages]
    assert len(pages) >= 3
    first = pages[0]
    for title in ("Figure 3a: Goodput against loss", "Table I: Goodput against loss"):
        # Each title appears on a page after the contents.
        assert any(title in page for page in pages[1:]) or first.count(title) > 1
    told = " ".join(" ".join(pages).split())
    for expected in ("✓ inside band", "Not measured: LIA: no agent", "subflow reproduce tiny", "Page 2"):
        assert expected in told, expected
    assert present(reader.metadata).title == "Reproduction of 2 papers"


def test_numbers_are_written_for_machines(files: ReportFiles, results: list[Results]):
    rows = list(csv.DictReader(io.StringIO(files.results.read_text())))
    assert len(rows) == 8 + 16
    assert list(rows[-16]) == ["experiment", "quick", "series", "point", "seed", "measure", "unit", "value", "agents"]
    assert list(rows[-16].values()) == ["tiny", "false", "OLIA", "1%", "1", "goodput", "bit/s", "6000000.0", "printed"]
    verdicts = list(csv.DictReader(io.StringIO(files.verdicts.read_text())))
    assert [row["verdict"] for row in verdicts] == ["not measured"] * 3 + ["inside band", "outside band", "claim holds"]
    assert verdicts[4]["kind"] == "band"
    assert verdicts[4]["expected"] == "in 1.15 .. 1.25"
    assert verdicts[5]["expected"].startswith(">")
    assert "LIA" in verdicts[0]["why"]
    assert results_csv(results) == files.results.read_text()
    assert verdicts_csv(results) == files.verdicts.read_text()


def test_pages_of_the_documentation_are_small_and_name_their_figures(results: list[Results], tmp_path: Path):
    page, *figures = write_pages(results, tmp_path / "docs")
    text = page.read_text()
    assert "| All | 2 | 1 | 1 | 1 | 0 | 3 |" in text
    assert "(figures/tiny.svg)" in text
    assert "keeps \\<its\\> share." in text
    assert text.endswith("\n")
    assert figures
    for figure in figures:
        assert figure.stat().st_size < 40_000
        assert figure.read_bytes().startswith(b"<?xml")


def test_command_of_other_seeds_names_them(tmp_path: Path):
    results = tiny_results(tmp_path)
    assert run_again_text(results) == "subflow reproduce tiny"
    other = Results(results.recipe, results.values, is_quick=True, seeds=(1, 2, 3))
    assert run_again_text(other) == "subflow reproduce tiny --quick --seeds 1..3"


def test_report_on_nothing_and_folder_that_cannot_be_made_are_refused(results: list[Results], tmp_path: Path):
    with pytest.raises(InputError, match="needs an experiment"):
        write_report([], tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(ExportError, match="cannot be written"):
        write_report(results, tmp_path / "file" / "out")
