"""Decisions of dev.py, tested without installing anything."""

from __future__ import annotations

import ast
import fcntl
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from tests.helpers.members import for_each

SOURCE = Path(__file__).resolve().parents[1] / "dev.py"


@pytest.fixture
def dev(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """dev.py as a module, with its folders moved into an empty checkout."""
    spec = importlib.util.spec_from_file_location("dev", SOURCE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    root = tmp_path / "checkout"
    for folder in ("sim/core/cc", "sim/bindings", "app", ".venv"):
        (root / folder).mkdir(parents=True)
    for file in ("CMakeLists.txt", "pyproject.toml", "sim/core/link.cpp", "sim/core/cc/lia.h", "app/window.py"):
        (root / file).write_text("first version", encoding="utf-8")
    folders = {
        "ROOT": "",
        "BUILD": "build",
        "LOGS": "build/logs",
        "PACKAGE": "build/package/dist/subflow",
        "VENV": ".venv",
    }
    for name, place in {**folders, "ENVIRONMENT_STAMP": ".venv/environment", "CORE_STAMP": ".venv/core"}.items():
        monkeypatch.setattr(module, name, root / place)
    return module


# Choice of the Python


def test_an_old_python_can_read_it_far_enough_to_say_which_one_it_needs() -> None:
    assert ast.parse(SOURCE.read_text(encoding="utf-8"), feature_version=(3, 8)).body


@for_each("version", [(3, 10, 12), (3, 15, 0)])
def test_a_python_out_of_range_ends_with_what_is_needed(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, version: tuple[int, int, int]
) -> None:
    monkeypatch.setattr(sys, "version_info", version)
    monkeypatch.setattr(dev.shutil, "which", lambda name: None)  # no other Python is installed
    with pytest.raises(SystemExit, match=r"needs Python 3\.11 to 3\.14"):
        dev.use_supported_python()


# System packages


@for_each(
    ("version_text", "expected"),
    [
        ("g++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright", True),
        ("c++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0\nCopyright", False),
        ("Debian clang version 14.0.6\nTarget: x86_64", False),
        ("Ubuntu clang version 18.1.3 (1ubuntu1)", True),
        ("sh: 1: c++: not found", False),
    ],
)
def test_a_compiler_is_taken_by_its_own_version_not_its_distributions(
    dev: ModuleType, version_text: str, expected: bool
) -> None:
    assert dev.compiler_is_new_enough(version_text) is expected


def test_a_package_under_its_new_name_counts_by_what_it_provides(
    dev: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "dpkg-query"
    script.write_text(
        "#!/bin/sh\n"
        "echo 'installed libglib2.0-0t64 libglib2.0-0 (= 2.80.0-6ubuntu3.4)'\n"
        "echo 'config-files libegl1 '\n"  # removed, but its settings remain
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    installed = dev.installed_system_packages()
    assert "libglib2.0-0" in installed
    assert "libegl1" not in installed


def test_without_root_the_one_line_that_installs_what_is_missing_is_printed(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev.os, "geteuid", lambda: 1000)
    monkeypatch.setattr(dev.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(dev, "build_packages", lambda: ["g++"])
    monkeypatch.setattr(dev, "installed_system_packages", lambda: {*dev.QT_PACKAGES, *dev.TEST_PACKAGES} - {"xvfb"})
    with pytest.raises(dev.SetUpError) as told:
        dev.provide_system_packages(dev.TEST_PACKAGES)
    line = "sudo apt-get update && sudo apt-get install -y --no-install-recommends g++ xvfb"
    assert line in [text.strip() for text in str(told.value).splitlines()]


# .venv and PyTorch

PINNED = {
    "build-system": {"requires": ["nanobind==3.1.0"]},
    "project": {
        "dependencies": ["numpy>=2,<3"],
        "optional-dependencies": {
            "build": [],
            "train": ["safetensors==0.8.0", "torch==2.13.0"],
            "envs": ["gymnasium==1.4.0"],
            "dev": ["ruff==0.17.6", "stable-baselines3==2.9.2"],
            **{extra: [] for extra in ("cluster", "pcap", "docs", "package")},
        },
    },
}


def test_a_venv_is_kept_only_where_and_with_what_it_was_made(dev: ModuleType) -> None:
    home = os.path.dirname(os.path.abspath(dev.BASE_PYTHON))  # noqa: PTH100, PTH120 - as venv writes it
    version = f"3.{sys.version_info.minor}"
    made_here = f"home = {home}\nversion = {version}.1\ncommand = python -m venv {dev.VENV}\n"
    assert dev.venv_is_ours(made_here)
    assert not dev.venv_is_ours(made_here.replace(str(dev.VENV), "/old/place/.venv"))
    assert not dev.venv_is_ours(made_here.replace(f"version = {version}.", "version = 3.9."))
    assert not dev.venv_is_ours(made_here.replace(f"home = {home}", "home = /opt/other/bin"))
    assert not dev.venv_is_ours("")


@for_each(
    ("needs", "expected"),
    [
        (["sympy>=1.13.3", "networkx"], False),
        (["sympy>=1.13.3", 'nvidia-cublas==13.1; platform_system == "Linux"'], True),
        (["triton==3.5; platform_machine == 'x86_64'"], True),
        (None, True),  # pip found no suitable version
    ],
)
def test_a_build_with_cuda_is_known_by_what_it_would_bring(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, needs: list[str] | None, expected: bool
) -> None:
    report = json.dumps({"install": [{"metadata": {"requires_dist": needs}}]})
    answer = subprocess.CompletedProcess([], returncode=1 if needs is None else 0, stdout=report)
    monkeypatch.setattr(dev.subprocess, "run", lambda *args, **options: answer)
    assert dev.brings_cuda("torch==2.13.0") is expected


def test_without_pytorch_the_set_up_goes_on(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*args: object) -> None:
        raise dev.SetUpError("Installing torch failed")

    monkeypatch.setattr(dev, "project", lambda: PINNED)
    monkeypatch.setattr(dev, "installed_version", lambda name: "")
    monkeypatch.setattr(dev, "brings_cuda", lambda requirement: False)
    monkeypatch.setattr(dev, "do", fail)
    dev.install_torch(cuda=False)
    assert "Training is not available" in capsys.readouterr().out


def test_what_needs_pytorch_is_installed_with_it_and_not_before(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dev, "project", lambda: PINNED)
    pinned = ("nanobind==3.1.0", "numpy>=2,<3", "safetensors==0.8.0", "gymnasium==1.4.0", "ruff==0.17.6")
    assert dev.requirements() == list(pinned)


@for_each(
    ("installed", "brings_cuda", "expected"),
    [
        ({}, False, ["torch==2.13.0", "stable-baselines3==2.9.2"]),
        ({}, True, ["torch==2.13.0+cpu", "stable-baselines3==2.9.2"]),
        ({"torch": "2.12.0"}, False, ["torch==2.13.0", "stable-baselines3==2.9.2"]),
        # the build that is installed
        ({"torch": "2.13.0+cpu"}, True, ["torch==2.13.0+cpu", "stable-baselines3==2.9.2"]),
        ({"torch": "2.13.0+cpu", "stable-baselines3": "2.9.2"}, True, None),
    ],
)
def test_pytorch_is_installed_as_it_is_needed(
    dev: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    installed: dict[str, str],
    brings_cuda: bool,
    expected: list[str] | None,
) -> None:
    done: list[list[str]] = []
    monkeypatch.setattr(dev, "project", lambda: PINNED)
    monkeypatch.setattr(dev, "installed_version", lambda name: installed.get(name, ""))
    monkeypatch.setattr(dev, "brings_cuda", lambda requirement: brings_cuda)
    monkeypatch.setattr(dev, "do", lambda what, log_name, *commands: done.extend(commands))
    dev.install_torch(cuda=False)
    assert [command[-2:] for command in done] == ([] if expected is None else [expected])


# Steps that are repeated, and when


@pytest.fixture
def steps(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Sets up with steps that only record their name; returns the names of one call."""
    done: list[str] = []
    monkeypatch.setattr(dev, "provide_system_packages", lambda *packages, **options: None)
    monkeypatch.setattr(dev, "venv_is_ours", lambda text: True)
    monkeypatch.setattr(dev, "make_venv", lambda: done.append("venv"))
    monkeypatch.setattr(dev, "requirements", list)
    monkeypatch.setattr(dev, "install_torch", lambda cuda: done.append("torch"))
    monkeypatch.setattr(dev, "do", lambda what, log_name, *commands: done.append(log_name))

    def set_up() -> list[str]:
        done.clear()
        dev.set_up()
        return list(done)

    return set_up


ALL_STEPS = ["venv", "pip", "torch", "core"]


@for_each(
    ("change", "redone"),
    [
        *((source, ["core"]) for source in ("sim/core/link.cpp", "sim/bindings/new.cpp", "CMakeLists.txt")),
        ("sim/core/cc/lia.h", ["core"]),
        ("-sim/core/cc/lia.h", ["core"]),  # removed
        ("app/window.py", []),
        ("pyproject.toml", ALL_STEPS),
    ],
)
def test_a_change_brings_up_to_date_what_is_made_of_it(
    dev: ModuleType, steps: Callable[[], list[str]], change: str, redone: list[str]
) -> None:
    assert steps() in (ALL_STEPS, [])
    assert steps() == []
    if change.startswith("-"):
        (dev.ROOT / change[1:]).unlink()
    else:
        (dev.ROOT / change).write_text("second version, longer", encoding="utf-8")
    assert steps() == redone


@for_each(("change", "redone"), [("sim/core/link.cpp", ["core"]), ("pyproject.toml", ["venv", "pip", "torch", "core"])])
def test_what_was_interrupted_is_done_again(
    dev: ModuleType,
    steps: Callable[[], list[str]],
    monkeypatch: pytest.MonkeyPatch,
    change: str,
    redone: list[str],
) -> None:
    def interrupt(what: str, log_name: str, *commands: object) -> None:
        raise KeyboardInterrupt

    steps()
    (dev.ROOT / change).write_text("second version, longer", encoding="utf-8")
    with monkeypatch.context() as patch:
        patch.setattr(dev, "do", interrupt)
        with pytest.raises(KeyboardInterrupt):
            steps()
    assert steps() == redone


def test_a_venv_that_pip_was_killed_in_is_made_anew_and_one_that_pip_refused_to_change_is_kept(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    done: list[str] = []
    monkeypatch.setattr(dev, "venv_is_ours", lambda text: True)
    monkeypatch.setattr(dev, "PYTHON", "/bin/true")  # pip answers
    monkeypatch.setattr(dev, "do", lambda what, log_name, *commands: done.append(log_name))
    dev.make_venv()
    assert done == []
    dev.ENVIRONMENT_STAMP.write_text(dev.UNFINISHED)
    caches = dev.BUILD / "cp311" / "CMakeCache.txt", dev.BUILD / "asan" / "CMakeCache.txt"
    for file in (*caches, dev.PACKAGE / "subflow"):
        file.parent.mkdir(parents=True)
        file.write_text("made before")
    dev.make_venv()
    assert done == ["venv"]
    assert not dev.VENV.exists()
    assert not any(cache.parent.exists() for cache in caches)
    assert (dev.PACKAGE / "subflow").read_text() == "made before"


def test_two_calls_keep_out_of_each_others_way(dev: ModuleType) -> None:
    other_call = os.open(dev.ROOT, os.O_RDONLY)
    try:
        with dev.only_one(), pytest.raises(BlockingIOError):
            fcntl.flock(other_call, fcntl.LOCK_EX | fcntl.LOCK_NB)
        fcntl.flock(other_call, fcntl.LOCK_EX | fcntl.LOCK_NB)  # free again
    finally:
        os.close(other_call)


def test_a_failure_shows_the_end_of_its_output_and_where_the_rest_is(dev: ModuleType) -> None:
    code = "import sys; print(*range(100), sep='\\n'); sys.exit(3)"
    failure = dev.run_logged("step", [sys.executable, "-c", "print('fine')"], [sys.executable, "-c", code])
    for told in ("    99\n", "    70\n", "exit code 3", "build/logs/step.log"):
        assert told in failure
    assert "    69\n" not in failure  # 30 lines
    assert "fine" in (dev.ROOT / "build/logs/step.log").read_text(encoding="utf-8")


# The jobs


def test_a_package_that_was_not_made_cannot_be_tested(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["dev.py", "test-package"])
    monkeypatch.setattr(sys, "platform", "linux")
    output = dev.BUILD / "package"

    def refused() -> str:
        assert dev.main() == 1
        *lacking, remedy = capsys.readouterr().err.strip().splitlines()
        assert remedy == "Make them first: python3 dev.py package"
        return "\n".join(lacking)

    assert refused() == f"{dev.PACKAGE / 'subflow'} is missing: nothing is frozen."
    dev.PACKAGE.mkdir(parents=True)
    (dev.PACKAGE / "subflow").touch()
    (output / "subflow-0.1.0-linux-x86_64.tar.xz").touch()
    assert refused() == f"{output / 'subflow_*.deb'} is missing: nothing can be installed."
    (output / "subflow_0.1.0_amd64.deb").touch()
    os.utime(output / "subflow_0.1.0_amd64.deb", (0, 0))
    assert refused().startswith(f"{output / 'subflow_*.deb'} is older than")
    os.utime(output / "subflow_0.1.0_amd64.deb")
    assert dev.lacking_packages() == []


class _HandedOver(Exception):  # noqa: N818 - not an error
    """Replaces the change to another program, after which no code runs."""


@pytest.fixture
def handed_over(dev: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Callable[[list[str]], list[str]]:
    """The words that `dev.py run` passes to `python -m subflow_app`."""

    def hand_over(*words: Any) -> None:
        raise _HandedOver(*map(str, words))

    monkeypatch.setattr(dev, "set_up", lambda: None)
    monkeypatch.setattr(dev, "hand_over", hand_over)
    monkeypatch.setattr(dev.sys, "platform", "linux")
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)

    def words(arguments: list[str]) -> list[str]:
        with pytest.raises(_HandedOver) as caught:
            dev.run(arguments)
        assert caught.value.args[1:3] == ("-m", "subflow_app")
        return list(caught.value.args[3:])

    return words


def test_run_opens_the_demo_in_the_window(
    dev: ModuleType, handed_over: Callable[[list[str]], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAYLAND_DISPLAY", "wayland-0")
    assert handed_over([]) == [str(dev.ROOT / "assets/scenarios/demo.toml")]
    assert handed_over(["mine.toml", "--seed", "3"]) == ["mine.toml", "--seed", "3"]


def test_run_without_a_display_runs_the_scenario_and_exports_it(
    handed_over: Callable[[list[str]], list[str]], capsys: pytest.CaptureFixture[str]
) -> None:
    words = "run mine.toml --seed 3 --export subflow-demo"
    assert handed_over(["mine.toml", "--seed", "3"]) == words.split()
    assert "No display" in capsys.readouterr().out


@for_each(
    ("words", "own", "handed_on"),
    [
        (["run", "--set", "links.wifi.loss=1%"], ["run"], ["--set", "links.wifi.loss=1%"]),
        (["golden", "--update"], ["golden"], ["--update"]),
        (["lock", "--upgrade"], ["lock"], ["--upgrade"]),
        (["test", "--full", "--", "-x", "tests/sim"], ["test", "--full"], ["-x", "tests/sim"]),
        (["test", "-k", "lia"], ["test", "-k", "lia"], []),
        (["test", "tests/sim/test_env.py", "--", "-x"], ["test", "tests/sim/test_env.py"], ["-x"]),
    ],
)
def test_words_for_others_are_handed_on_as_they_are(
    dev: ModuleType, words: list[str], own: list[str], handed_on: list[str]
) -> None:
    assert dev.split_words(words) == (own, handed_on)
    assert dev.arguments_parser().parse_args(own).command == words[0]


def stand_in_for_pytest(dev: ModuleType, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    (dev.ROOT / "bin").mkdir()
    (dev.ROOT / "bin/pytest").write_text(f"#!/bin/sh\n{script}\n")
    (dev.ROOT / "bin/pytest").chmod(0o755)
    monkeypatch.setattr(dev, "BIN", dev.ROOT / "bin")
    monkeypatch.setattr(dev, "set_up", lambda *packages, **options: None)


def test_every_check_runs_after_one_failed_and_pytest_has_the_last_word(
    dev: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    failing = [sys.executable, "-c", "print('the finding'); raise SystemExit(1)"]
    passing = [sys.executable, "-c", ""]
    stand_in_for_pytest(dev, monkeypatch, "echo 7 passed")
    lanes = [[dev.Check("first", [failing]), dev.Check("second", [passing])], [dev.Check("beside", [passing])]]
    monkeypatch.setattr(dev, "checks", lambda _full: lanes)
    assert dev.test(full=False, expression=None, paths=[], pytest_arguments=[]) == 1
    lines = capfd.readouterr().out.splitlines()
    assert {"first FAILED", "second ok", "beside ok"} <= {" ".join(line.split()[:2]) for line in lines}
    assert any("the finding" in line for line in lines)
    assert lines[-2:] == ["Failed before the Python tests: first", "7 passed"]


@pytest.mark.parametrize(("expression", "paths"), [("lia", []), (None, ["tests/sim"])])
def test_a_part_of_the_tests_begins_at_once(
    dev: ModuleType,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    expression: str | None,
    paths: list[str],
) -> None:
    stand_in_for_pytest(dev, monkeypatch, 'echo "$@"; echo "kept: $PYTHONDONTWRITEBYTECODE"')
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    monkeypatch.delattr(dev, "checks")
    assert dev.test(full=False, expression=expression, paths=paths, pytest_arguments=["-x"]) == 0
    picked = ["-k", "lia"] if expression else ["tests/sim"]
    # In one process, and with bytecode for the next run.
    assert capfd.readouterr().out.splitlines() == [" ".join(["-n0", *picked, "-x"]), "kept: "]
