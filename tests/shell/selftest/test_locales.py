"""In every locale the window opens and a run draws its curves, with the user's language and numbers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.helpers.locales import made_locales

from subflow_app.foundation.paths import SELFTEST_CHECK
from subflow_app.shell.selftest.checks import windows
from subflow_app.shell.selftest.outcome import ANSWER_FILE
from subflow_app.shell.selftest.runner import own_surroundings

TOLD = {
    "tr_TR": "tr_TR, numbers as 1.234,5: File",
    "az_AZ": "az_AZ, numbers as 1.234,5: File",
    "de_DE": "de_DE, numbers as 1.234,5: Datei",
    "ar_EG": "ar_EG, numbers as ١٬٢٣٤٫٥: File",
    "C": "C, numbers as 1234.5: File",
}
TIMEOUT_S = 120


def started(name: str, folder: Path, places: Path) -> subprocess.Popen[str]:
    """The check of the self-test, started like the program in this locale."""
    folder.mkdir()
    environment = own_surroundings(os.environ, folder / "user") | {
        "LC_ALL": name if name == "C" else f"{name}.UTF-8",
        "LOCPATH": str(places),
    }
    words = [sys.executable, "-m", "subflow_app", SELFTEST_CHECK, windows.OWN_LOCALE.name, str(folder)]
    return subprocess.Popen(words, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


@pytest.mark.skipif(sys.platform != "linux", reason="locales are made by localedef of glibc")
def test_the_window_opens_in_every_locale(tmp_path: Path) -> None:
    places = made_locales(name for name in TOLD if name != "C")

    processes = {name: started(name, tmp_path / name, places) for name in TOLD}
    said = {name: process.communicate(timeout=TIMEOUT_S)[0] for name, process in processes.items()}

    assert said == dict.fromkeys(TOLD, "")
    answers = {name: json.loads((tmp_path / name / ANSWER_FILE).read_text()) for name in TOLD}
    assert {name: answer["state"] for name, answer in answers.items()} == dict.fromkeys(TOLD, "ok"), answers
    wrong = {name: answer["told"] for name, answer in answers.items() if not answer["told"].startswith(TOLD[name])}
    assert wrong == {}
