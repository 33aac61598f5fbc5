"""A document keeps any text, and every edit can be undone byte for byte."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tests.helpers.present import present
from tests.helpers.scenario_texts import leaves

from subflow_app.features.editor.core.scenario_doc import Change, ScenarioDoc, ScenarioFileError, split_key
from subflow_app.foundation.toml_edit import TomlEditError

SCENARIOS = sorted((Path(__file__).parents[4] / "assets" / "scenarios").glob("*.toml"))

DEMO = """\
format = 1
duration = "60s"           # a minute

[nodes.client]
at = [0, 0]
[nodes.server]

[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
queue = "67pkt"            # one and a half BDP

[links.lte]
ends = ["client", "server"]
rate = "8Mbit/s"

[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"         # coupled

[[events]]
at = "30s"
link = "wifi"
up = false
"""


@pytest.fixture
def doc() -> ScenarioDoc:
    return ScenarioDoc(DEMO)


def test_a_valid_text_is_a_scenario(doc: ScenarioDoc) -> None:
    assert (doc.is_valid, doc.problems) == (True, ())
    assert doc.scenario is doc.last_valid
    assert present(doc.scenario).links["wifi"].forward.rate_bps == 8e6


def test_the_new_document_is_ready_to_run() -> None:
    doc = ScenarioDoc.new()
    assert (doc.problems, doc.path, doc.title) == ((), None, "untitled")


def test_an_edit_is_heard_and_meant(doc: ScenarioDoc) -> None:
    heard: list[Change] = []
    unsubscribe = doc.subscribe(heard.append)

    change = doc.set_value("links.wifi.rate", "9Mbit/s")

    assert heard == [change] == [Change("value", ("links.wifi.rate",))]
    assert doc.text == DEMO.replace('rate = "8Mbit/s"', 'rate = "9Mbit/s"', 1)
    assert present(doc.scenario).links["wifi"].forward.rate_bps == 9e6
    unsubscribe()
    doc.set_value("seed", 2)
    assert len(heard) == 1


def test_an_impossible_value_is_kept_and_named(doc: ScenarioDoc) -> None:
    before = doc.scenario

    doc.set_value("links.wifi.loss", "120%")

    assert 'loss = "120%"' in doc.text
    assert not doc.is_valid
    assert doc.scenario is None
    assert doc.last_valid is before
    assert [problem.key for problem in doc.problems] == ["links.wifi.loss"]
    assert doc.problems_at("links.wifi.loss") == doc.problems_at("links.wifi") == doc.problems_at("") == doc.problems
    assert doc.problems_at("links.lte") == ()
    doc.set_value("links.wifi.loss", "12%")
    assert doc.is_valid


def test_text_that_is_no_toml_is_kept_and_can_be_replaced(doc: ScenarioDoc) -> None:
    broken = DEMO.replace('rate = "8Mbit/s"', 'rate = "8Mbit/s', 1)

    doc.set_text(broken)

    assert doc.text == broken
    assert not doc.is_toml
    assert doc.last_valid is not None
    assert doc.problems[0].line == 10  # the line of `rate` of wifi
    with pytest.raises(TomlEditError):
        doc.set_value("seed", 2)
    assert doc.text == broken
    doc.set_text(DEMO)
    assert doc.is_valid


def test_short_forms_grow_into_tables_and_shrink_back(doc: ScenarioDoc) -> None:
    doc.set_value("flows.download.controller.name", "uncoupled")
    assert 'controller = "uncoupled"         # coupled' in doc.text
    assert doc.value("flows.download.controller.name") == "uncoupled"

    doc.set_value("flows.download.controller.base", "newreno")
    assert 'controller = { name = "uncoupled", base = "newreno" }         # coupled' in doc.text
    assert doc.value("flows.download.controller.base") == "newreno"
    assert doc.is_valid

    for _ in range(2):  # also of an option that is not set
        assert doc.set_value("flows.download.controller.base", None).keys == ("flows.download.controller.base",)
        assert doc.value("flows.download.controller.base") is None
        assert 'controller = "uncoupled"         # coupled' in doc.text


def test_moving_a_node_changes_its_place_alone(doc: ScenarioDoc) -> None:
    change = doc.move_nodes({"client": (12.4, -7.6)})

    assert change == Change("layout", ("nodes.client.at",))
    assert doc.text == DEMO.replace("at = [0, 0]", "at = [12, -8]")
    assert doc.positions() == {"client": (12.0, -8.0)}
    before = doc.text
    with pytest.raises(TomlEditError, match="'nobody'"):
        doc.move_nodes({"nobody": (0, 0)})
    assert doc.text == before
    doc.set_value("links.wifi.loss", "120%")  # while another value is invalid
    doc.move_nodes({"client": (1, 2), "server": (3, 4)})
    assert doc.positions() == {"client": (1.0, 2.0), "server": (3.0, 4.0)}


def shared(before: list[str], after: list[str]) -> int:
    """The number of equal lines at the start."""
    alike = (a == b for a, b in zip(before, after, strict=False))
    return sum(1 for _ in itertools.takewhile(bool, alike))


def comments(text: str) -> list[str]:
    return [line.split("#", 1)[1] for line in text.splitlines() if "#" in line]


# Larger scenarios would test nothing more.
@for_each("path", [p for p in SCENARIOS if p.stat().st_size < 1800], ids=lambda path: path.stem)
def test_every_value_of_a_shipped_scenario_can_be_edited_in_place(path: Path) -> None:
    text = path.read_text()
    for key, value in leaves(ScenarioDoc(text).data):
        if key.startswith("training."):
            continue  # random draws are edited as text
        doc = ScenarioDoc(text)

        doc.set_value(key, "something else")

        # All other lines remain, in their order, including spaces.
        before, after = text.splitlines(), doc.text.splitlines()
        head, tail = shared(before, after), shared(before[::-1], after[::-1])
        assert len(after) - head - tail <= 1, key
        if not isinstance(value, list):
            assert len(before) - head - tail == 1, key
        assert doc.value(key) == "something else"
        doc.set_value(key, None)
        assert doc.value(key) is None
        assert comments(text) == comments(doc.text)


def test_events_are_added_and_removed(doc: ScenarioDoc) -> None:
    assert doc.add_event({"at": "40s", "link": "wifi", "up": True}) == Change("events", ("events.1",))
    assert [event.at_s for event in present(doc.scenario).events] == [30.0, 40.0]

    assert doc.remove_event(1) == Change("events", ("events.1",))
    assert doc.text == DEMO


def test_restoring_tells_the_change_again(doc: ScenarioDoc) -> None:
    change = doc.set_value("seed", 5)
    heard: list[Change] = []
    doc.subscribe(heard.append)

    doc.restore(DEMO, change)

    assert doc.text == DEMO
    assert heard == [change]


@for_each(
    ("key", "path"),
    [
        ("", ()),
        ("seed", ("seed",)),
        ("links.wifi.reverse.rate", ("links", "wifi", "reverse", "rate")),
        ("events[3].at", ("events", 3, "at")),
        ("events.3.at", ("events", 3, "at")),
        ("nodes.7.at", ("nodes", "7", "at")),  # a node may be called 7
    ],
)
def test_dotted_keys(key: str, path: tuple[str | int, ...]) -> None:
    assert split_key(key) == path


@pytest.mark.parametrize(
    "content", [DEMO.encode(), DEMO.replace("\n", "\r\n").encode(), b"\xef\xbb\xbf" + DEMO.encode()]
)
def test_a_file_that_is_not_edited_is_saved_byte_for_byte(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "demo.toml"
    path.write_bytes(content)

    doc = ScenarioDoc.open(path)
    doc.save()

    assert doc.is_valid
    assert path.read_bytes() == content


def test_bytes_that_are_no_text_are_a_problem_and_survive(tmp_path: Path) -> None:
    content = DEMO.encode().replace(b"# a minute", b"# caf\xe9")
    path = tmp_path / "latin.toml"
    path.write_bytes(content)

    doc = ScenarioDoc.open(path)
    doc.save()

    assert path.read_bytes() == content
    assert any("UTF-8" in problem.message and problem.line == 2 for problem in doc.problems)


def test_saving_elsewhere_makes_that_its_file(tmp_path: Path, doc: ScenarioDoc) -> None:
    with pytest.raises(ScenarioFileError, match="no file yet"):
        doc.save()
    target = tmp_path / "new.toml"

    doc.save(target)

    assert doc.path == target
    assert doc.title == "new.toml"
    assert target.read_text() == DEMO
    assert list(tmp_path.iterdir()) == [target]


def test_saving_keeps_permissions_and_links(tmp_path: Path, doc: ScenarioDoc) -> None:
    real = tmp_path / "real.toml"
    real.write_text("old")
    real.chmod(0o640)
    link = tmp_path / "link.toml"
    link.symlink_to(real)

    doc.save(link)

    assert link.is_symlink()
    assert real.read_text() == DEMO
    assert real.stat().st_mode & 0o777 == 0o640


def test_a_failed_save_leaves_the_old_file(tmp_path: Path, doc: ScenarioDoc, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "demo.toml"
    target.write_text("old")

    def fail(_self: Path, _target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", fail)
    with pytest.raises(ScenarioFileError, match=r"No space left on device.*save it elsewhere"):
        doc.save(target)

    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]
    assert doc.text == DEMO


def test_a_file_that_cannot_be_read_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(ScenarioFileError, match=r"missing\.toml cannot be opened: No such file"):
        ScenarioDoc.open(tmp_path / "missing.toml")
