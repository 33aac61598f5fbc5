"""`subflow export-topology`."""

from __future__ import annotations

from pathlib import Path

from tests.helpers.command_line import Subflow

from subflow_app.features.testbed.core.formats import FORMATS


def test_each_format_is_written_and_says_what_it_leaves_out(subflow: Subflow, tmp_path: Path) -> None:
    for name, made in FORMATS.items():
        out = tmp_path / f"net{made.suffix}"
        document = subflow("export-topology", "lab-two-paths", "--format", name, "-o", out, "--json").document
        assert (document["file"], document["format"]) == (str(out), name)
        assert document["left_out"]
        assert out.stat().st_size > 300
    told = subflow("export-topology", "lab-two-paths", "--format", "netns", "-o", tmp_path / "a.sh").out
    assert "other than in the simulation:" in told
    assert "flows.download: Linux has no controller lia" in told


def test_an_unknown_format_names_those_that_exist(subflow: Subflow) -> None:
    answer = subflow("export-topology", "demo", "--format", "ns3")
    assert answer.code == 2
    assert '--format = "ns3": must be one of graphml, netns, mininet, containerlab, tc' in answer.err
    assert "Any of graphml, netns, mininet, containerlab, tc." in " ".join(
        subflow("export-topology", "--help").out.split()
    )
