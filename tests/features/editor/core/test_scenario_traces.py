"""Scenarios that name a delivery trace: the text stored with a run works without the file."""

from __future__ import annotations

from tests.helpers.present import present

from subflow_app.features.editor.core.form import form_for
from subflow_app.features.editor.core.form_text import check_text
from subflow_app.features.editor.core.scenario_doc import ScenarioDoc
from subflow_app.features.editor.core.scenario_source import open_scenario, with_contents
from subflow_app.features.traces.core.scenario_hash import scenario_hash
from subflow_app.features.traces.core.traces import stored_condition
from subflow_sim.catalog import catalog
from subflow_sim.scenario import parse_scenario

TEXT = """\
format = 1
duration = "5s"
[nodes.a]
[nodes.b]
[links.l]
ends = ["a", "b"]
rate = { trace = "up.trace" }  # what was recorded
queue = { discipline = "codel", target = "2ms" }
loss = { model = "gilbert", p = "1%", r = "25%" }
[links.l.reverse]
rate = { trace = "down.trace" }
[links.m]
ends = ["a", "b"]
rate = "8Mbit/s"
[flows]
f = { kind = "tcp", from = "a", to = "b", paths = [["l"]] }
"""


def _files(folder) -> str:
    (folder / "up.trace").write_text("1\n2\n3\n")
    (folder / "down.trace").write_text("5\n5\n")
    (folder / "scenario.toml").write_text(TEXT)
    return str(folder / "scenario.toml")


def test_the_text_stored_with_a_run_holds_its_traces(tmp_path) -> None:
    source = open_scenario(_files(tmp_path), overrides=["name=stored"])
    assert 'content = "1 2 3"' in source.text
    assert 'content = "5 5"' in source.text
    assert "# what was recorded" in source.text
    for file in tmp_path.iterdir():
        file.unlink()
    assert parse_scenario(source.text) == source.scenario
    assert with_contents(source.text, source.scenario) == source.text


def test_the_text_stored_with_a_run_holds_recorded_delays_with_their_unit(tmp_path) -> None:
    _files(tmp_path)
    (tmp_path / "delays.txt").write_text("20\n21.5\n")
    (tmp_path / "table.csv").write_text("time_ms,rtt_ms\n0,40\n30,50\n60,40\n")
    path = tmp_path / "scenario.toml"
    path.write_text(TEXT.replace('rate = { trace = "down', 'delay = { trace = "table.csv" }\nrate = { trace = "down'))
    source = open_scenario(str(path), overrides=["links.l.delay={ trace = 'delays.txt', interval = '50ms' }"])
    for file in tmp_path.iterdir():
        file.unlink()
    again = parse_scenario(source.text)
    assert again == source.scenario
    assert scenario_hash(again) == scenario_hash(source.scenario)
    link = again.links["l"]
    assert present(link.forward.delay_trace).delays_us.tolist() == [20_000, 21_500]
    assert present(link.reverse.delay_trace).interval_s == 0.03


def test_a_large_recording_is_stored_compressed(tmp_path) -> None:
    """Half a million deliveries are 3 MB as a file; the text of the run takes less than a twentieth of that."""
    path = _files(tmp_path)
    times = [1 + number // 4 for number in range(500_000)]
    (tmp_path / "up.trace").write_text("\n".join(map(str, times)))
    source = open_scenario(path)
    assert len(source.text) < 150_000
    (tmp_path / "up.trace").unlink()
    assert parse_scenario(source.text).links["l"].forward == source.scenario.links["l"].forward


def test_runs_of_another_recording_are_no_repetitions(tmp_path) -> None:
    path = _files(tmp_path)
    first = open_scenario(path).text
    (tmp_path / "up.trace").write_text("1\n2\n4\n")
    assert stored_condition(first, 1) != stored_condition(open_scenario(path).text, 2)


def test_a_document_finds_traces_beside_its_file(tmp_path) -> None:
    doc = ScenarioDoc.open(_files(tmp_path))
    assert doc.problems == ()
    scenario = present(doc.scenario)
    assert scenario.links["l"].reverse.trace is not None
    assert parse_scenario(with_contents(doc.text, scenario)).links == scenario.links


def test_a_document_without_a_file_says_why_it_cannot_find_one() -> None:
    doc = ScenarioDoc(TEXT)
    assert {problem.key for problem in doc.problems} == {"links.l.rate.trace", "links.l.reverse.rate.trace"}
    assert all("has no folder" in problem.message for problem in doc.problems)


def test_the_form_of_a_link_shows_tables_as_they_stand_and_takes_others(tmp_path) -> None:
    doc = ScenarioDoc.open(_files(tmp_path))
    fields = present(form_for(doc, "links.m", catalog())).fields()
    queue = next(field for field in fields if field.key == "links.m.queue")
    good = check_text(doc, queue.key, queue.param, '{ discipline = "fq_codel" }')
    assert (good.value, good.message) == ({"discipline": "fq_codel"}, "")
    bad = check_text(doc, queue.key, queue.param, '{ discipline = "red", flows = 5 }')
    assert "a red queue has no flows" in bad.message


def test_the_form_of_a_link_has_the_options_of_its_queue(tmp_path) -> None:
    doc = ScenarioDoc.open(_files(tmp_path))

    def fields() -> dict[str, tuple[str, str]]:
        shown = present(form_for(doc, "links.l", catalog())).fields()
        return {field.key.removeprefix("links.l."): (field.text, field.placeholder) for field in shown}

    expected = {
        "rate": ('{ trace = "up.trace" }', ""),
        "queue.limit": ("", "1000pkt"),
        "queue.discipline": ("codel", "droptail"),
        "queue.target": ("2ms", "5ms"),
        "queue.interval": ("", "0.1s"),
        "loss": ('{ model = "gilbert", p = "1%", r = "25%" }', "0%"),
        "handover.rate": ("", "100%"),
        "access.kind": ("", "wifi"),
        "reverse.rate": ('{ trace = "down.trace" }', 'also { trace = "up.trace" }'),
    }
    assert {key: value for key, value in fields().items() if key in expected} == expected
    assert "queue.max_p" not in fields()
    # After a change of the discipline the form keeps an option of the old one, so that it can be removed.
    doc.set_value("links.l.queue.discipline", "red")
    assert "queue.max_p" in fields()
    assert [problem.key for problem in doc.problems] == ["links.l.queue.target"]
    doc.set_value("links.l.queue.target", None)
    assert doc.problems == ()


def test_choosing_a_discipline_keeps_the_limit() -> None:
    doc = ScenarioDoc(TEXT.split("[links.l]")[0] + '[links.l]\nends = ["a", "b"]\nrate = "8Mbit/s"\nqueue = "67pkt"\n')
    doc.set_value("links.l.queue.discipline", "codel")
    assert doc.value("links.l.queue") == {"limit": "67pkt", "discipline": "codel"}
    doc.set_value("links.l.queue.limit", "50pkt")
    doc.set_value("links.l.queue.discipline", None)
    assert doc.value("links.l.queue") == "50pkt"
