"""Labs on writing a controller: a reference solution passes, and the initial text of the student fails."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from tests.helpers.labs import SAWTOOTH_LAB, small_lab
from tests.helpers.members import for_each

from subflow_app.features.labs.core.lab_file import load_lab
from subflow_app.features.labs.core.runner import run_lab
from subflow_app.foundation.errors import LabError
from subflow_sim.script import SKELETONS

_SCRIPT = '[scripts]\nmine = "mine.py"\n\n[[steps]]\nid = "run"'
_START = """\
def on_ack(w, ack):
    slow_start(w, ack)


def on_loss(w, loss):
    w.ssthresh = max(w.cwnd / 2, 2)
"""


def _with_script(table: str = _SCRIPT) -> str:
    return SAWTOOTH_LAB.replace('[[steps]]\nid = "run"', table, 1)


@pytest.mark.parametrize(("name", "step"), [("13-write-lia", "couple"), ("14-beat-lia", "beat")])
def test_what_the_student_begins_with_does_not_pass_and_the_solution_does(name: str, step: str) -> None:
    lab = load_lab(name, language="en")
    assert run_lab(lab).problems == []
    steps = tuple(
        replace(each, do=tuple(order for order in each.do if not order.startswith("script "))) for each in lab.steps
    )
    assert steps != lab.steps
    outcome = run_lab(replace(lab, steps=steps))
    assert [each.step for each in outcome.steps if each.problem] == [step]
    assert "its check does not hold after its solution" in outcome.problems[0]


def test_a_script_of_a_lab_is_in_the_scenario_that_the_student_begins_with(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(_START)
    text = _with_script().replace('warmup = "5s" }', 'warmup = "5s", "flows.reno.controller" = "mine" }')
    lab = small_lab(tmp_path, text)
    assert "def on_loss(w, loss):" in lab.scenario_text()
    assert 'controller = "mine"' in lab.scenario_text()
    # The text of a shipped controller is accepted too.
    assert "RFC 6356" in small_lab(tmp_path, _with_script().replace("mine.py", "lia")).scenario_text()
    # A missing solution is an error only when the lab is carried out.
    lab = small_lab(tmp_path, _with_script().replace('do = ["run"]', 'do = ["script mine solution.py", "run"]', 1))
    (problem,) = run_lab(lab).problems
    assert '"solution.py" cannot be read' in problem


@for_each(
    ("table", "told"),
    [
        ('[scripts]\nlia = "mine.py"', 'the controller "lia" is built in already'),
        ('[scripts]\nmine = "other.py"', '"other.py" cannot be read'),
        ('[scripts]\nmine = "../mine.py"', "not within the folder of the scenario"),
        ('[scripts]\nmine = "nothing"', "no script of that name ships"),
        ("[scripts]\nmine = 3", "this is not a name of a file; allowed: a table [scripts]"),
        ('[scripts]\nmine = "broken.py"', "wcnd"),
    ],
)
def test_what_is_wrong_with_its_scripts_is_said(tmp_path: Path, table: str, told: str) -> None:
    (tmp_path / "mine.py").write_text(_START)
    (tmp_path / "broken.py").write_text(SKELETONS["controller"].replace("w.cwnd +=", "w.wcnd +="))
    with pytest.raises(LabError) as refused:
        small_lab(tmp_path, _with_script(f'{table}\n\n[[steps]]\nid = "run"'))
    assert told in str(refused.value)
