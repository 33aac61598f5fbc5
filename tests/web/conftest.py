"""A stored run and its page."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.helpers.browsers import Browser, Chromium, Firefox, chromium_path, firefox_path

from subflow_app.features.catalog.core.catalog import app_catalog
from subflow_app.features.exporting.core.web_page import write_page
from subflow_app.features.running.core.runs import RunJob
from subflow_sim import parse_scenario
from subflow_store import Store, open_store

_PATHS = {"chromium": chromium_path, "firefox": firefox_path}
SCENARIO = """\
format = 1
name = "Two paths </script><b>& more"
duration = "8s"
[nodes.client]
[nodes.server]
[links.wifi]
ends = ["client", "server"]
rate = "8Mbit/s"
delay = "10ms"
queue = "30pkt"
loss = "0.5%"
[links.lte]
ends = ["client", "server"]
rate = "4Mbit/s"
delay = "30ms"
queue = "40pkt"
reverse = { rate = "1Mbit/s" }
[flows.download]
kind = "mptcp"
from = "server"
to = "client"
controller = "lia"
paths = [["wifi"], ["lte"]]
[[events]]
at = "6s"
link = "lte"
rate = "2Mbit/s"
"""


def stored_run(store: Store, text: str = SCENARIO, seed: int = 3) -> int:
    """Number of a finished run."""
    result = RunJob(parse_scenario(text, algorithms=app_catalog()), text, seed=seed, store=store).run()
    assert result.run_id is not None
    return result.run_id


def saved_file(browser: Browser, folder: Path, suffix: str) -> Path:
    """The file that the browser has saved, after the download is complete."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        found = [path for path in folder.glob(f"*{suffix}") if path.stat().st_size > 0]
        if found and not list(folder.glob("*.part")) and not list(folder.glob("*.crdownload")):
            return found[0]
        time.sleep(0.1)
    raise AssertionError(f"nothing was saved in {folder}")


@pytest.fixture(scope="session")
def store() -> Store:
    return open_store(":memory:")


@pytest.fixture(scope="session")
def run_id(store: Store) -> int:
    return stored_run(store)


@pytest.fixture(scope="session")
def page(store: Store, run_id: int, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_page(store, [run_id], tmp_path_factory.mktemp("pages") / "run.html")


@pytest.fixture(scope="session", params=["chromium", "firefox"])
def browser(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    if _PATHS[request.param]() is None:
        pytest.skip(f"{request.param} is not installed here: Debian and Ubuntu get it from dev.py")
    folder = tmp_path_factory.mktemp(request.param)
    made: Browser = Chromium(folder) if request.param == "chromium" else Firefox(folder)
    made.folder = folder  # type: ignore[attr-defined]
    yield made
    made.close()
