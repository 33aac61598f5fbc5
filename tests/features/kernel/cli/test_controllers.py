"""The commands ``subflow controllers load`` and ``loaded``: names, options, refused input; a fake and this kernel."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from tests.helpers.command_line import Subflow
from tests.helpers.fake_kernel import FakeController
from tests.helpers.kernel_loading import needs_kernel
from tests.helpers.members import for_each

from subflow_app.features.kernel.core import loading
from subflow_app.features.kernel.core.kernel_script import KernelScript
from subflow_app.features.kernel.core.loading import Report, loaded_controllers


class Failing(FakeController):
    """A controller whose calls fail."""

    scripts: list[KernelScript] = []  # noqa: RUF012 - emptied by the fixture

    def __init__(self, script: KernelScript) -> None:
        super().__init__(script)
        self.scripts.append(script)

    def poll(self) -> Report:
        return Report(3, 7, "division by zero", 0)

    def __enter__(self) -> Failing:
        return self

    def __exit__(self, *_: object) -> None: ...


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> list[KernelScript]:
    Failing.scripts.clear()
    monkeypatch.setattr(loading, "LoadedController", Failing)
    return Failing.scripts


def test_failed_calls_are_reported_by_line(subflow: Subflow, failing: list[KernelScript]) -> None:
    answer = subflow("controllers", "load", "vegas", "--seconds", 0.8)
    assert (answer.code, answer.out) == (0, "sf_vegas_000000\n")
    assert answer.err.count("3 calls failed in the kernel, at last in line 7: division by zero") == 1


def test_options_change_the_script(subflow: Subflow, failing: list[KernelScript]) -> None:
    for words in ((), ("--set", "beta=6"), ("--set", "alpha=2")):
        assert subflow("controllers", "load", "vegas", "--seconds", 0.1, *words).code == 0
    usual, other, default = failing
    assert other.blob != usual.blob
    assert default == usual


def test_a_file_is_loaded_by_its_name(subflow: Subflow, failing: list[KernelScript], tmp_path: Path) -> None:
    path = tmp_path / "My-Own.py"
    path.write_text("def on_ack(w, ack):\n    w.cwnd += 1 / w.cwnd\n", encoding="utf-8")
    document = subflow("controllers", "load", path, "--seconds", 0.1, "--json").document
    assert document == {"name": "sf_myown_000000", "script": "My-Own"}


@for_each(
    ("words", "said"),
    [
        (("nothing",), '"nothing": no script of that name ships'),
        (("nothing.py",), "nothing.py: cannot be read"),
        (("pcc",), "pcc line 38: plan: the kernel reports no monitor intervals"),
        (("minrtt",), "minrtt line 11: select: this is a scheduler"),
        (("vegas", "--set", "delta=1"), 'vegas has no option "delta"; allowed: alpha, beta, gamma'),
        (("vegas", "--set", "beta=much"), "must be 0 to 1e+06, in SI units"),
        (("vegas", "--set", "beta=-1"), "must be 0 to 1e+06, in SI units"),
        (("cubic", "--set", "fast_convergence=1"), "must be true or false"),
        (("newreno", "--set", "beta=1"), "allowed: none, as it has no options"),
    ],
)
def test_bad_input_is_exit_code_2(
    subflow: Subflow, failing: list[KernelScript], words: tuple[str, ...], said: str
) -> None:
    answer = subflow("controllers", "load", *words)
    assert answer.code == 2
    assert said in answer.err
    assert failing == []


def test_mistakes_of_a_script_have_their_places(subflow: Subflow, failing: list[KernelScript], tmp_path: Path) -> None:
    path = tmp_path / "wrong.py"
    path.write_text("def on_ack(w, ack):\n    w.cwnd += acked\n", encoding="utf-8")
    answer = subflow("controllers", "load", path)
    assert answer.code == 2
    assert f"{path}:2:15: " in answer.err


def test_a_machine_that_cannot_says_how(subflow: Subflow, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading, "reason_against", lambda: f"give it once: {loading.grant_command()}")
    answer = subflow("controllers", "load", "lia")
    assert (answer.code, answer.out) == (1, "")
    assert answer.err.count("sudo setcap cap_bpf,cap_perfmon+ep ") == 1


def test_only_our_controllers_are_listed(subflow: Subflow, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    names = tmp_path / "names"
    names.write_text("reno cubic sf_lia_000000 bbr sf_bdp_000001 sfq\n", encoding="ascii")
    monkeypatch.setattr(loading, "_AVAILABLE", names)
    assert subflow("controllers", "loaded").out == "sf_bdp_000001\nsf_lia_000000\n"
    assert subflow("controllers", "loaded", "--json").document == ["sf_bdp_000001", "sf_lia_000000"]
    names.write_text("reno cubic\n", encoding="ascii")
    answer = subflow("controllers", "loaded")
    assert (answer.code, answer.out) == (0, "")
    assert "No controller of Subflow" in answer.err


def test_this_kernel_holds_a_controller_for_a_while(subflow: Subflow) -> None:
    needs_kernel()
    began_s = time.monotonic()
    answer = subflow("controllers", "load", "lia", "--seconds", 0.5)
    assert answer.code == 0, answer.err
    assert answer.out.startswith("sf_lia_")
    assert time.monotonic() - began_s >= 0.5
    assert answer.out.strip() not in loaded_controllers()
