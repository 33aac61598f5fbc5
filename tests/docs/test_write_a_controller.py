"""The page on writing controllers: its fragments are in order, and its figures equal those of the program."""

from __future__ import annotations

import pytest
from tests.helpers.printed_code import ROOT, Block, blocks

from subflow_sim import _core
from subflow_sim.script import MAX_SCRIPT_BYTES, check_script, kind_of
from subflow_sim.script_reader import shipped_scripts

PAGE = ROOT / "docs" / "write-a-controller.md"
TEXT = PAGE.read_text(encoding="utf-8")
FRAGMENTS = [block for block in blocks(PAGE) if block.language == "text" and "def " in block.text]


@pytest.mark.parametrize("fragment", FRAGMENTS, ids=lambda block: f"line {block.line}")
def test_a_fragment_is_in_order(fragment: Block) -> None:
    assert check_script(fragment.text, kind_of(fragment.text)) == ()


def test_limits_and_names_are_those_of_the_program() -> None:
    assert f"at most {MAX_SCRIPT_BYTES // 1000} kB, and at most 4 096 instructions" in TEXT
    assert _core.SCRIPT_MOST_INSTRUCTIONS == 4096
    assert [name for name in shipped_scripts() if f"`{name}`" not in TEXT] == []
