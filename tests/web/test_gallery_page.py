"""The page of the experiments: its text on each, and the runs that it simulates again when one is opened."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, wait_until
from tests.helpers.experiments import FixedValues
from tests.helpers.pages import READY, data_of, state

from subflow_app.features.exporting.core import study_pages
from subflow_app.features.exporting.core.study_pages import write_gallery_page
from subflow_app.features.gallery.core.exhibits import Exhibit, read_exhibit
from subflow_app.features.gallery.core.figure import experiment_figure
from subflow_app.features.gallery.core.recipe_reader import load_recipe
from subflow_app.features.gallery.core.report_tables import settled_mark
from subflow_app.features.gallery.core.reproduction import Reproduction
from subflow_app.features.gallery.core.results import Results, settlement_counts
from subflow_app.foundation.errors import InputError
from subflow_store import Store, open_store

# Runs of three series, one of them of a learning agent; and a training.
NAMES = ("rl-explore-fig5", "rl-explore-fig2")
TRAINED = {
    (measure, agent, ""): (value,)
    for measure, value in (("reward", 2.0), ("early", 1.0), ("steps", 50_000.0))
    for agent in ("RL-explore", "Pure RL")
}


def trained_exhibit(name: str) -> Exhibit:
    """A training experiment with given values, because training takes minutes."""
    recipe = load_recipe(name)
    results = Results(recipe, FixedValues(TRAINED), is_quick=True, seeds=(1,))
    verdicts = results.verdicts()
    counts = settlement_counts(verdicts)
    return Exhibit(name, recipe, results, verdicts, experiment_figure(results), counts=counts)


@pytest.fixture(scope="module")
def exhibits(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[Exhibit, Store | None]]:
    runs, training = NAMES
    # Made here, because results of the library count only for the scenarios and policies that they were made with.
    with open_store(tmp_path_factory.mktemp("store") / "runs.db") as store:
        Reproduction(load_recipe(runs), store, is_quick=True).run()
        yield {read_exhibit(store, runs): store, trained_exhibit(training): store}


@pytest.fixture(scope="module")
def page(exhibits: dict[Exhibit, Store | None], tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_gallery_page(exhibits, tmp_path_factory.mktemp("gallery") / "experiments.html")


def test_each_has_its_claim_verdicts_figure_and_runs(page: Path, exhibits: dict[Exhibit, Store | None]) -> None:
    text = page.read_text(encoding="utf-8")
    data = data_of(text)
    throughput, training = data["chapters"]
    assert throughput["group"] == "RL-explore"
    assert throughput["title"] == "Figure 5: Throughput on a link of fixed rate"
    assert throughput["texts"][0].startswith("The paper: ")
    assert len(throughput["tables"][0]["rows"]) == 5
    (first, _) = exhibits
    marks = [f"{settled_mark(way)} {number}" for way, number in first.counts.items() if number]
    assert throughput["mark"] == "  ".join(marks)
    assert sum(first.counts.values()) == 5
    assert [data["runs"][number]["name"] for number in throughput["runs"]] == ["RL-explore", "CUBIC", "Reno"]
    assert training["runs"] == []
    assert training["texts"][-1].startswith("This experiment trains agents")
    # Without scripts the page also shows figures and verdicts, and the figures appear only there.
    recorded = text[text.index('id="recorded"') : text.index('id="app"')]
    assert [recorded.count(f'id="figure-{name}"') for name in NAMES] == [1, 1]
    assert recorded.count("<table>") == 2
    assert "data:image/svg+xml" not in text[text.index('id="app"') :]


def test_what_is_too_large_or_was_not_run_is_listed_with_the_reason(
    exhibits: dict[Exhibit, Store | None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(study_pages, "MOST_BYTES", 1000)
    monkeypatch.setattr(study_pages, "render_figure", None)
    bare = {Exhibit(each.name, each.recipe, each.results): store for each, store in exhibits.items()}
    with pytest.raises(InputError, match=r"rl-explore-fig5: .* rl-explore-fig2: .* trains"):
        write_gallery_page(bare, tmp_path / "none.html")
    (first, *_) = exhibits
    with pytest.raises(InputError, match=r"rl-explore-fig5: .*`subflow reproduce rl-explore-fig5`"):
        write_gallery_page({Exhibit(first.name, first.recipe): None}, tmp_path / "none.html")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.full("two browsers start and simulate")
def test_the_runs_of_what_is_opened_are_made_again(browser: Browser, page: Path) -> None:
    browser.open(page.as_uri())
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    assert browser.run("document.querySelectorAll('#runs input[type=checkbox]').length") == 2
    assert browser.run("document.querySelector('#guide figure img').naturalWidth") > 100
    menus = "[...document.querySelectorAll('#guide select')]"
    browser.run(f"({menus}[2].value = '', {menus}[1].value = '2', {menus}[1].dispatchEvent(new Event('change')), 0)")
    wait_until(browser, "document.getElementById('tables').textContent.includes('newreno')")
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
    browser.run("([...document.querySelectorAll('.contents button')][1].click(), 0)")
    wait_until(browser, "document.body.classList.contains('idle')")
    assert browser.run("document.getElementById('bar').offsetHeight") == 0
    assert "This experiment trains agents" in browser.run("document.getElementById('guide').innerText")
    # By its name in the address, which links of the guide use.
    browser.run("(location.hash = 'rl-explore-fig5', 0)")
    wait_until(browser, "!document.body.classList.contains('idle')")
    wait_until(browser, READY)
    assert state(browser).startswith("✓")
