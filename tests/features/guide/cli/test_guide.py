from __future__ import annotations

from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow

from subflow_app.features.guide import core as guide


def test_a_page_has_address_and_anchor(subflow: Subflow, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "algorithms").mkdir()
    for page in ("index", "algorithms/lia", "command-line"):
        (tmp_path / f"{page}.html").write_text("a page")
    monkeypatch.setattr(guide, "guide_folder", lambda: tmp_path)
    assert subflow("guide", "lia").out.strip() == (tmp_path / "algorithms/lia.html").as_uri()
    told = subflow("guide", "command/run", "--json").document
    assert (told["path"], told["anchor"]) == (str(tmp_path / "command-line.html"), "command-run")
    answer = subflow("guide", "renno")
    assert (answer.code, 'no page on "renno"' in answer.err) == (2, True)
