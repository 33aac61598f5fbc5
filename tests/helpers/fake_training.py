"""A trainer that learns nothing, follows the protocol of `subflow_agents.training`, and fails on request.

Options: `step_s` is the duration of a step; `fail_at` is the step at which it raises `error`; `exit_at` is the step at
which its process exits without a message; `full_at` is the first step at which checkpoints meet a full disk; `noise`
prints to stdout; `checkpoint_every` is in steps.
"""

from __future__ import annotations

import errno
import json
import os
import time
from pathlib import Path
from typing import Any

from subflow_agents import AgentError, Command, Control, DivergenceError, Report, ReportKind, TrainingConfig

ERRORS: dict[str, Exception] = {
    "divergence": DivergenceError("q_mean", 7),
    "agent": AgentError("nothing to learn"),
    "bug": ZeroDivisionError("a bug"),
    "memory": MemoryError(),
}


def run_training(config: TrainingConfig, control: Control, report: Any) -> None:
    """Counts steps until the budget is spent."""
    FakeTraining(config, control, report).run()


class FakeTraining:
    def __init__(self, config: TrainingConfig, control: Control, report: Any) -> None:
        self.config, self.control, self._report = config, control, report
        self.folder = Path(config.folder)
        self.options = dict(config.options)
        self.started = time.monotonic()
        self.step = self._last_checkpoint() if config.resume else 0

    def run(self) -> None:
        self._state("starting")
        self._state("running")
        if self.options.get("noise"):
            print('{"kind": "state", "values": {"state": "failed"}}')  # noqa: T201 - as a library might print
        while self.step < (self.config.steps or 10**9):
            if self._obey(self.control.poll()):
                return
            time.sleep(self.options.get("step_s", 0.001))
            self.step += 1
            self._misbehave()
            self.report(Report(ReportKind.METRICS, self._metrics()))
            if self.step % self.options.get("checkpoint_every", 50) == 0:
                self._checkpoint()
        self._checkpoint()
        self._state("finished")

    def report(self, report: Report) -> None:
        """Reports into the folder and to the caller, like the real trainer."""
        try:
            with (self.folder / "metrics.jsonl").open("a", encoding="utf-8") as file:
                file.write(json.dumps(report.to_json()) + "\n")
        except OSError as error:
            report.values["unwritten"] = str(error)
        self._report(report)

    def _obey(self, command: Command) -> bool:
        """True if the training must end."""
        if command is Command.PAUSE:
            self._state("paused")
            while (command := self.control.poll()) in (Command.NONE, Command.CHECKPOINT):
                if command is Command.CHECKPOINT:
                    self._checkpoint()
                time.sleep(0.01)
            if command is Command.STOP:
                return self._obey(command)
            self._state("running")
        elif command is Command.CHECKPOINT:
            self._checkpoint()
        elif command is Command.EVALUATE:
            (self.folder / "best.safetensors").write_bytes(b"policy")
            self.report(Report(ReportKind.EVALUATION, evaluation(self.step)))
        elif command is Command.STOP:
            self._checkpoint()
            self._state("stopped")
            return True
        return False

    def _misbehave(self) -> None:
        if self.step == self.options.get("fail_at", -1):
            raise ERRORS[self.options.get("error", "divergence")]
        if self.step == self.options.get("exit_at"):
            os._exit(3)

    def _metrics(self) -> dict[str, Any]:
        elapsed_s = time.monotonic() - self.started
        return {"step": self.step, "elapsed_s": elapsed_s, "return_mean": -1.0 / self.step, "q_mean": float("nan")}

    def _checkpoint(self) -> None:
        path = self.folder / f"checkpoint-{self.step}.json"
        part = path.with_suffix(".part")
        try:
            if self.step >= self.options.get("full_at", 10**9):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            part.write_text(json.dumps({"step": self.step}))
            part.replace(path)
        except OSError as error:
            part.unlink(missing_ok=True)
            self.report(Report(ReportKind.CHECKPOINT, {"step": self.step, "path": None, "error": error.strerror}))
            return
        self.report(Report(ReportKind.CHECKPOINT, {"step": self.step, "path": str(path)}))

    def _last_checkpoint(self) -> int:
        return max((json.loads(path.read_text())["step"] for path in self.folder.glob("checkpoint-*.json")), default=0)

    def _state(self, state: str) -> None:
        self.report(Report(ReportKind.STATE, {"state": state, "step": self.step}))


def evaluation(step: int) -> dict[str, Any]:
    """The report of an evaluation: the agent gets `step` Mbit/s, OLIA 1 Mbit/s."""

    def controller(label: str, mbps: float, *, is_baseline: bool) -> dict[str, Any]:
        goodput = {"mean": mbps * 1e6, "ci95": 1e5, "values": [mbps * 1e6] * 3}
        score = {"mean": mbps, "ci95": None, "values": [mbps]}
        return {"label": label, "is_baseline": is_baseline, "goodput_bps": goodput, "score": score}

    return {
        "step": step,
        "is_best": True,
        "controllers": [
            controller("fake", float(step), is_baseline=False),
            controller("olia", 1.0, is_baseline=True),
        ],
    }
