"""Notes on the drawing: read with the scenario, without effect on a run."""

from __future__ import annotations

import pytest
from tests.helpers.scenario_texts import TWO_PATHS, problem_of, read

from subflow_sim.scenario import Note, parse_scenario
from subflow_sim.simulation import Simulation

NOTES = """
[[notes]]
at = [10, -20.5]
text = "first line\\nsecond line"
"""


def test_notes_are_part_of_the_scenario():
    assert read(TWO_PATHS).notes == ()
    assert read(TWO_PATHS + NOTES).notes == (Note((10.0, -20.5), "first line\nsecond line"),)


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("at = [10, -20.5]\n", "", "notes[0].at"),
        ('text = "first', 'title = "x"\ntext = "first', "notes[0].title"),
        ("first line", "\\u0007", "notes[0].text"),
        ("first line", "a" * 2001, "notes[0].text"),
    ],
)
def test_a_note_that_cannot_be_is_a_problem(old, new, key):
    assert problem_of(TWO_PATHS + NOTES.replace(old, new)).key == key


def test_notes_leave_the_signature_alone():
    def signature(text):
        simulation = Simulation(parse_scenario(text.replace('"60s"', '"1s"')))
        simulation.run_until(1.0)
        return simulation.signature()

    assert signature(TWO_PATHS + NOTES) == signature(TWO_PATHS)
