"""Settings of every Python test: the user's files stay untouched, no screen is needed, long tests need --full.

This file is imported before any test module, hence before Qt, matplotlib and platformdirs read the environment.
"""

from __future__ import annotations

import gc
import os
import tempfile
from collections.abc import Generator
from pathlib import Path

import hypothesis
import pytest

_HOME = tempfile.TemporaryDirectory(prefix="subflow-tests-")
_CACHE = Path(__file__).resolve().parents[1] / "build" / "test-cache"

for _name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
    _folder = Path(_HOME.name, _name.lower())
    _folder.mkdir(mode=0o700)
    os.environ[_name] = str(_folder)

# Without a cache, matplotlib reads every font of the machine, for seconds; this cache is kept between runs.
os.environ["MPLCONFIGDIR"] = str(_CACHE / "matplotlib")
os.environ["MPLBACKEND"] = "Agg"

# Qt draws to memory, the same on every machine; scaling and style do not depend on the user's settings.
os.environ["QT_QPA_PLATFORM"] = "offscreen"
for _name in ("QT_SCALE_FACTOR", "QT_SCREEN_SCALE_FACTORS", "QT_FONT_DPI", "QT_QPA_PLATFORMTHEME", "QT_STYLE_OVERRIDE"):
    os.environ.pop(_name, None)

# Tables and progress bars have a fixed width and no colours, and output is buffered as for most users.
os.environ.update(COLUMNS="120", NO_COLOR="1", LC_ALL="C.UTF-8", TZ="UTC")
for _name in ("FORCE_COLOR", "CLICOLOR_FORCE", "PYTHONUNBUFFERED", "PYTHONIOENCODING"):
    os.environ.pop(_name, None)

pytest_plugins = ("tests.helpers.command_line", "tests.helpers.qt_fixtures")

# Files that take more than eight seconds of processor time, longest first.
LONGEST_FILES = (
    "docs/test_printed_code.py",
    "features/training/qt/test_training_page.py",
    "shell/test_main_window.py",
    "features/running/qt/test_run_control.py",
    "toolkit/test_workspaces.py",
    "sim/test_oracles_multipath.py",
    "features/plots/qt/test_plots.py",
    "features/exporting/qt/test_export.py",
    "features/comparison/qt/test_comparison.py",
    "features/history/qt/test_history.py",
    "features/paper/core/test_figures.py",
    "features/gallery/qt/test_gallery.py",
    "features/editor/qt/test_inspector.py",
    "shell/test_everyday.py",
    "shell/test_walk.py",
    "features/training/cli/test_train.py",
    "features/training/core/test_training.py",
    "agents/test_training.py",
    "features/labs/qt/test_labs.py",
    "shell/test_journey.py",
    "features/labs/core/test_lab_file.py",
    "features/paper/qt/test_reporting.py",
)

# Seeds derive only from the code under test, so that a failure occurs again on the next run and on other machines.
hypothesis.settings.register_profile("quick", max_examples=25, derandomize=True, deadline=None)
hypothesis.settings.register_profile("full", max_examples=2000, deadline=None)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds --full and --packaged."""
    parser.addoption("--full", action="store_true", help="also what takes long, and many more examples")
    parser.addoption("--packaged", action="store_true", help="try what dev.py package has made, on a bare system too")


def pytest_configure(config: pytest.Config) -> None:
    """Chooses how many examples the property tests draw."""
    hypothesis.settings.load_profile("full" if config.getoption("--full") else "quick")


def pytest_unconfigure() -> None:
    """Removes what the tests wrote as the user's data."""
    _HOME.cleanup()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """The garbage collector skips modules and tests, which stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves tests marked as `full` to --full, and begins with the files that take longest.

    If they came last, one worker would run them while the others wait.
    """
    for item in items if not config.getoption("--full") else ():
        if (mark := item.get_closest_marker("full")) is not None:
            item.add_marker(pytest.mark.skip(reason=f"{mark.args[0]}: --full"))
    rank = {Path(__file__).parent / name: place for place, name in enumerate(LONGEST_FILES)}
    items.sort(key=lambda item: rank.get(item.path, len(rank)))


@pytest.fixture(autouse=True)
def _own_user_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each test finds an empty database and no settings, whatever other tests wrote."""
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "user" / name.lower()))
