"""The command ``subflow assess``: verdicts, the dossier, and refused input."""

from __future__ import annotations

import json
from pathlib import Path

from tests.helpers.command_line import Subflow
from tests.helpers.members import for_each

ROOT = Path(__file__).resolve().parents[4]


def test_criteria_and_claims_are_listed(subflow: Subflow) -> None:
    document = json.loads(subflow("assess", "--list", "--json").out)
    sections = [each["section"] for each in document["criteria"]]
    assert {"5.1.1", "5.1.2", "5.1.3", "5.1.4", "5.1.5", "5.2.1", "5.2.2", "5.2.3", "7.1", "7.10"} <= set(sections)
    assert {"improve", "do-no-harm", "balance"} <= {each["name"] for each in document["claims"]}
    assert "collapse" in subflow("assess", "--list").out


def test_a_dossier_is_written(subflow: Subflow, tmp_path: Path) -> None:
    out = tmp_path / "dossier"
    script = ROOT / "assets" / "controllers" / "lia.py"
    (tmp_path / "mine.py").write_bytes(script.read_bytes())
    quickly = ("--quick", "--jobs", 1, "--db", tmp_path / "a.db", "--json")
    only = ("--only", "collapse", "--only", "bufferbloat")
    result = subflow("assess", tmp_path / "mine.py", *only, *quickly, "--out", out)
    assert result.code == 0
    document = result.document
    verdicts = {each["name"]: each["verdict"] for each in document["criteria"]}
    # The candidate fills a buffer and backs off like NewReno.
    assert verdicts == {"collapse": "met", "bufferbloat": "not met"}
    assert {len(each["seeds"]) for each in document["criteria"]} == {5}

    crate = json.loads((out / "ro-crate-metadata.json").read_text())
    listed = {each["@id"] for each in crate["@graph"] if each["@type"] == "File"}
    written = {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()}
    assert listed == written - {"ro-crate-metadata.json"}
    assert {"assessment.html", "assessment.pdf", "results.csv", "criteria/collapse.toml"} <= listed
    page = (out / "assessment.html").read_text()
    assert "Section 5.1.1: Half of all packets are lost" in page

    # A criterion of the dossier is an ordinary experiment, whose runs exist already.
    again = subflow("reproduce", out / "criteria" / "collapse.toml", *quickly)
    assert again.code == 0
    experiment = again.document["experiments"][0]
    assert experiment["reused"] == experiment["runs"] > 0


def test_a_claim_is_searched(subflow: Subflow, tmp_path: Path) -> None:
    out = tmp_path / "dossier"
    result = subflow(
        *("assess", "olia", "--quick", "--only", "no-slower", "--minutes", "0.02", "--jobs", "1", "--no-store"),
        *("--out", str(out), "--json"),
    )
    assert result.code == 0
    search = json.loads(result.out)["searches"][0]
    assert search["claim"] == "no-slower"
    assert search["networks"] > 0
    assert (search["verdict"] == "not met") == bool(search["found"])
    assert (out / "counterexamples").exists() == bool(search["found"])


@for_each(
    ("line", "told"),
    [
        (("assess",), "a controller is missing"),
        (("assess", "nobody"), 'unknown controller "nobody"'),
        (("assess", "oracle"), "oracle is not a congestion controller"),
        (("assess", "lia", "--minutes", "-1"), "--minutes -1"),
        (("assess", "lia", "--minutes", "nan"), "--minutes nan"),
        (("assess", "lia", "--seeds", "3"), "a verdict needs at least 5"),
        (("assess", "lia", "--only", "colapse"), 'did you mean "collapse"?'),
        (("assess", "lia:gain=3"), "gain"),
        (("assess", "lia", "--out", __file__), "this is a file, not a folder"),
    ],
)
def test_what_cannot_be_is_told(subflow: Subflow, line: tuple[str, ...], told: str) -> None:
    result = subflow(*line)
    assert result.code == 2
    assert told in result.err
    assert "Traceback" not in result.err
