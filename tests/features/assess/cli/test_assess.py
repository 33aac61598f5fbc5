"""``subflow assess`` from the command line: verdicts, the dossier, and what it refuses."""

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
    result = subflow(
        *("assess", str(tmp_path / "mine.py"), "--quick", "--only", "collapse", "--only", "bufferbloat"),
        *("--jobs", "1", "--db", str(tmp_path / "a.db"), "--out", str(out), "--json"),
    )
    assert result.code == 0
    document = json.loads(result.out)
    verdicts = {each["name"]: each["verdict"] for each in document["criteria"]}
    # It fills a buffer as NewReno does, and backs off as NewReno does
    assert verdicts == {"collapse": "met", "bufferbloat": "not met"}
    assert {len(each["seeds"]) for each in document["criteria"]} == {5}

    crate = json.loads((out / "ro-crate-metadata.json").read_text())
    listed = {each["@id"] for each in crate["@graph"] if each["@type"] == "File"}
    assert listed == {path.relative_to(out).as_posix() for path in out.rglob("*") if path.is_file()} - {
        "ro-crate-metadata.json"
    }
    assert {"assessment.html", "assessment.pdf", "results.csv", "criteria/collapse.toml"} <= listed
    page = (out / "assessment.html").read_text()
    assert "Section 5.1.1: Half of all packets are lost" in page

    # A criterion of the dossier is an experiment like any other, and its runs exist already
    again = subflow(
        *("reproduce", str(out / "criteria" / "collapse.toml"), "--quick", "--jobs", "1"),
        *("--db", str(tmp_path / "a.db"), "--json"),
    )
    assert again.code == 0
    experiment = json.loads(again.out)["experiments"][0]
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
    ],
)
def test_what_cannot_be_is_told(subflow: Subflow, line: tuple[str, ...], told: str) -> None:
    result = subflow(*line)
    assert result.code == 2
    assert told in result.err
    assert "Traceback" not in result.err


def test_the_folder_may_not_be_a_file(subflow: Subflow, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = subflow("assess", "lia", "--out", str(tmp_path / "file"))
    assert result.code == 2
    assert "this is a file, not a folder" in result.err
