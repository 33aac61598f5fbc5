"""Conformance checks of a controller or scheduler script in small networks, compared with a simple reference.

Each check is a separate scenario that contains the script, so that a person can open its run to find the cause of a
failure. The reference is the same network with NewReno or the scheduler minrtt in place of the script. Most checks
require only half the goodput that the reference achieves, because only broken scripts fail to reach it.

A further check runs the script in a quick form of the arena's networks, and ranks it among the shipped results. The
ranking is not stored, because a script under development is not an entrant of the arena.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

from subflow_app.features.arena.core.entrants import Entrant, entrant_of
from subflow_app.features.arena.core.job import ArenaJob
from subflow_app.features.arena.core.results import Board, entry, in_known_families, known_board
from subflow_app.features.arena.core.standings import standings
from subflow_app.features.catalog.core.uses import Use
from subflow_app.features.editor.core.scenario_source import ScenarioSource, source_of
from subflow_app.features.editor.core.scripts import script_table
from subflow_app.features.library.core.shipped import shipped_outcomes
from subflow_app.features.running.core.run_task import RunOutcome, RunTask, make_run
from subflow_app.foundation.jobs.executors import ExecutorMaker, executor_maker
from subflow_app.foundation.jobs.job import Batch, Job
from subflow_app.foundation.jobs.progress import JobProgress
from subflow_app.foundation.jobs.tasks import OnStart
from subflow_app.foundation.toml_edit import Lines, render, set_value
from subflow_app.vocabulary.language import tr, translatable
from subflow_sim.arena.networks import Network
from subflow_sim.arena.utility import GATE
from subflow_sim.scenario_model import ScriptFile, ScriptKind
from subflow_sim.script_reader import SUFFIX
from subflow_store import open_store
from subflow_store.database import IN_MEMORY

Verdict = Literal["pass", "fail", "error"]

HALF = 0.5
"""Minimum share of the goodput of the reference."""

STARVED = 0.1
"""Minimum goodput of each of many flows, as a share of their mean."""

_NEAR = 0.05
"""Largest deficit in the arena score with which a script is still rated as good as NewReno."""

_PLAINEST: Mapping[ScriptKind, str] = {"controller": "newreno", "scheduler": "minrtt"}
_SAMPLE_INTERVAL_S = 0.1
_FLOW, _BESIDE = "checked", "newreno"

_SCENARIO = """\
format = 1
name = {title}
duration = "{check.duration_s}s"
warmup = "{check.warmup_s}s"
seed = 1

[nodes.client]
[nodes.server]
{links}
[flows.checked]
kind = "mptcp"
from = "server"
to = "client"
controller = {controller}
scheduler = {scheduler}
paths = {paths}
count = {check.count}
{more}{script}"""

_LINK = """
[links.{name}]
ends = ["client", "server"]
rate = "{check.rate}"
delay = "20ms"
queue = "{check.queue}"
{check.link}"""

_NEWRENO_BESIDE = """
[flows.newreno]
kind = "tcp"
from = "server"
to = "client"
controller = "newreno"
paths = [["first"]]
"""


@dataclass(frozen=True, slots=True)
class Question:
    """A question about a script.

    Attributes:
        id: key in documents.
        title: a word or two, in English.
        question: text of the question, in English.
        tells: text of the answer, in English, with placeholders such as `{share}` for its numbers.
    """

    id: str
    title: str
    question: str
    tells: str


@dataclass(frozen=True, slots=True)
class Check(Question):
    """A question that is answered by a run of a small network.

    Attributes:
        kinds: kinds of scripts to which the check applies.
        rate: rate of each link.
        queue: capacity of the queue of each link.
        link: further TOML lines of each link.
        more: further TOML tables of the scenario.
        count: number of flows with the script.
        duration_s: simulated time of the run, s.
        warmup_s: unmeasured time at the beginning, s.
        judges: computes a share from the flows with the script and the reference flows, and whether the share suffices.
    """

    judges: Callable[[_Flows, _Flows], tuple[float, bool]]
    kinds: Sequence[ScriptKind] = ("controller", "scheduler")
    rate: str = "10Mbit/s"
    queue: str = "50pkt"
    link: str = ""
    more: str = ""
    count: int = 1
    duration_s: int = 20
    warmup_s: int = 2

    def source(self, kind: ScriptKind, name: str, text: str | None = None) -> ScenarioSource:
        """The scenario of the check for a controller or scheduler.

        Args:
            kind: controller or scheduler.
            name: name of the algorithm.
            text: text of the script; None for a built-in algorithm.

        Raises:
            ScenarioError: if the script has errors.
        """
        links = ("first", "second") if kind == "scheduler" else ("first",)
        script = ""
        if text is not None:
            script = f"\n{script_table(kind, name)}content = {render(Lines(text))}\n"
        plain: object = {"name": "uncoupled", "base": "newreno"} if name == "newreno" else name
        written = _SCENARIO.format(
            check=self,
            title=render(f"{name}: {self.question}"),
            links="".join(_LINK.format(check=self, name=each) for each in links),
            controller=render(plain if kind == "controller" else "lia"),  # type: ignore[arg-type]  # a text or table
            scheduler=render(name if kind == "scheduler" else "minrtt"),
            paths=render([[each] for each in links]),
            more=self.more,
            script=script,
        )
        return source_of(Use.ASSESS, written)


_Flows = Sequence[Mapping[str, Any]]


def _goodput(flows: _Flows, name: str = _FLOW) -> float:
    return math.fsum(flow["goodput_bps"] for flow in flows if flow["name"].partition(".")[0] == name)


def _share(script: _Flows, plainest: _Flows) -> tuple[float, bool]:
    reference = _goodput(plainest)
    share = _goodput(script) / reference if reference else 1.0
    return share, share >= HALF


def _least_of_many(script: _Flows, plainest: _Flows) -> tuple[float, bool]:
    mean = _goodput(script) / max(1, len(script))
    least = min(flow["goodput_bps"] for flow in script) / mean if mean else 0.0
    return least, least >= STARVED and _share(script, plainest)[1]


def _left_to_newreno(script: _Flows, plainest: _Flows) -> tuple[float, bool]:
    share = _goodput(script, _BESIDE) / _goodput(plainest, _BESIDE)
    return share, share >= GATE


def _down(from_s: float, to_s: float) -> str:
    """TOML events that take the link `first` down between two times, s."""
    return "".join(
        f'\n[[events]]\nat = "{at_s}s"\nlink = "first"\nup = {up}\n' for at_s, up in ((from_s, "false"), (to_s, "true"))
    )


_OF_PLAINEST = translatable("{share} of what {plainest} gets")

CHECKS: tuple[Check, ...] = (
    Check(
        "loss", translatable("Loss"), translatable("does it survive loss?"), _OF_PLAINEST, _share, link='loss = "1%"'
    ),
    Check(
        "timeouts",
        translatable("Timeouts"),
        translatable("does it survive timeouts?"),
        _OF_PLAINEST,
        _share,
        # Repeated outages of 0.6 s, long enough for retransmission timeouts.
        more="".join(_down(at, at + 0.6) for at in (3, 7, 11, 15)),
    ),
    Check(
        "buffer",
        translatable("Buffer"),
        translatable("does it survive one packet of buffer?"),
        _OF_PLAINEST,
        _share,
        queue="1pkt",
    ),
    Check(
        "outage",
        translatable("Outage"),
        translatable("does it come back after an outage of five seconds?"),
        _OF_PLAINEST,
        _share,
        more=_down(5, 10),
        duration_s=40,
        warmup_s=20,
    ),
    Check(
        "hundred",
        translatable("100 flows"),
        translatable("can a hundred flows share a link?"),
        translatable("the smallest of them has {share} of their mean"),
        _least_of_many,
        rate="100Mbit/s",
        queue="400pkt",
        count=100,
    ),
    Check(
        "newreno",
        translatable("Fair"),
        translatable("is it fair to NewReno?"),
        translatable("a NewReno beside it keeps {share} of what it gets beside another"),
        _left_to_newreno,
        kinds=("controller",),
        more=_NEWRENO_BESIDE,
        duration_s=60,
        warmup_s=10,
    ),
)
"""Checks in the order of display; those of a scheduler use two links."""


ARENA = Question(
    "arena",
    translatable("Arena"),
    translatable("how does it score in the arena?"),
    translatable("score {score}, place {rank} of {count}; NewReno has {reference}; worst in {network}"),
)


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of a check.

    Attributes:
        check: the question.
        verdict: "pass" or "fail"; "error" if a run failed.
        value: the share, or the score in the arena; 0 if a run failed.
        text: the answer, in the language of the window; the reason if a run failed.
        source: scenario of the run that gave the result.
    """

    check: Question
    verdict: Verdict
    value: float
    text: str
    source: ScenarioSource

    @property
    def number(self) -> str:
        """Short text of `value`; empty if a run failed."""
        if self.verdict == "error":
            return ""
        return f"{self.value:.2f}" if self.check is ARENA else f"{self.value:.0%}"

    def document(self) -> dict[str, Any]:
        """The finding as a JSON document."""
        return {"check": self.check.id, "verdict": self.verdict, "value": self.value, "text": self.text}


def questions_of(kind: ScriptKind) -> tuple[Question, ...]:
    """The questions about scripts of this kind, in the order of display."""
    return (*checks_of(kind), ARENA) if kind == "controller" else checks_of(kind)


def checks_of(kind: ScriptKind) -> tuple[Check, ...]:
    """The checks that apply to scripts of this kind, in the order of display."""
    return tuple(check for check in CHECKS if kind in check.kinds)


class ConformanceJob(Batch[Check]):
    """Runs all checks of a script. Call `run` on a worker thread, because it blocks; other methods suit any thread.

    If the script has errors, the job ends early and its outcome contains the error.

    Args:
        kind: kind of the script.
        name: name of the script.
        text: text of the script.
        jobs: number of simultaneous runs.
        executor: creates the executor of the runs; None to choose one that suits `jobs`.
    """

    def __init__(
        self, kind: ScriptKind, name: str, text: str, *, jobs: int = 1, executor: ExecutorMaker | None = None
    ) -> None:
        self.checks = checks_of(kind)
        super().__init__(executor or executor_maker(jobs), len(self.checks), "conformance")
        self._kind, self._name, self._text = kind, name, text
        self._sources: dict[str, ScenarioSource] = {}
        self._findings: dict[str, Finding] = {}
        self.asked: tuple[Question, ...] = self.checks

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The findings of the completed checks, in the order of the checks."""
        known = dict(self._findings)
        return tuple(known[check.id] for check in self.checks if check.id in known)

    def _work(self) -> None:
        self._make(self.checks)

    def _task(self, item: Check) -> Callable[[OnStart], Any]:
        self._sources[item.id] = item.source(self._kind, self._name, self._text)
        plainest = item.source(self._kind, _PLAINEST[self._kind])
        return partial(_run_both, _task_of(self._sources[item.id]), _task_of(plainest))

    def _keep(self, item: Check, outcome: tuple[RunOutcome, RunOutcome]) -> None:
        self._findings[item.id] = _found(item, self._kind, self._sources[item.id], *outcome)
        self._tell(finished=self._progress.finished + 1, doing=tr(item.title))

    def _give_up(self, item: Check, problem: str) -> None:
        super()._give_up(item, problem)
        self._findings[item.id] = Finding(item, "error", 0.0, problem, self._sources[item.id])


class ArenaTrial(Job):
    """Runs a controller in a quick form of the arena's networks; otherwise like `ConformanceJob`.

    Args:
        name: name of the script.
        text: text of the script.
        jobs: number of simultaneous runs.
    """

    def __init__(self, name: str, text: str, *, jobs: int = 1) -> None:
        super().__init__(1, "arena")
        self._script = ScriptFile(name, "controller", text, f"{name}{SUFFIX}")
        self._jobs = jobs
        self._job: ArenaJob | None = None
        self.asked: tuple[Question, ...] = (ARENA,)
        self.findings: tuple[Finding, ...] = ()

    @property
    def progress(self) -> JobProgress:
        """Progress of the runs in the arena."""
        job = self._job
        return self._progress if job is None or self._progress.finished else job.progress

    def stop(self) -> None:
        """End the job soon."""
        super().stop()
        if self._job is not None:
            self._job.stop()

    def _work(self) -> None:
        # Only families in which others have shipped results, because a rank needs them.
        everybody = in_known_families(entry(is_quick=True), shipped_outcomes())
        own = entrant_of(self._script)
        with open_store(IN_MEMORY) as store:
            self._job = ArenaJob(replace(everybody, entrants=(own,)), store, jobs=self._jobs)
            if self.is_stopped:
                return
            self._job.run().check()
            if self.is_stopped:
                return
            known = replace(everybody, entrants=(*everybody.entrants, own))
            board = known_board(known, store, shipped_outcomes(), lambda: self.is_stopped)
        self.findings = (self._found(own, board),)
        self._tell(finished=1)

    def _found(self, own: Entrant, board: Board) -> Finding:
        ranked = [each for each in standings(board) if each.is_complete or each.name == own.name]
        scores = {each.name: each.score.mean for each in ranked}
        better = sum(score > scores[own.name] for score in scores.values())
        results = {net.name: (board.results[own.name, net.name].utility, net) for net in board.entry.networks()}
        _utility, worst = min(results.values(), key=lambda each: each[0])
        reference = scores.get(_PLAINEST["controller"], math.nan)
        text = tr(
            ARENA.tells,
            score=f"{scores[own.name]:.2f}",
            rank=better + 1,
            count=len(scores),
            reference=f"{reference:.2f}",
            network=worst.name,
        )
        is_enough = not scores[own.name] < reference - _NEAR
        return Finding(ARENA, "pass" if is_enough else "fail", scores[own.name], text, self._source(own, worst))

    def _source(self, own: Entrant, net: Network) -> ScenarioSource:
        """A network of the arena with the script in it."""
        text = own.put_into(net.text, net.competes)
        text = set_value(text, ("name",), f"{own.name}: {net.name}")
        return source_of(Use.ASSESS, text)


def _task_of(source: ScenarioSource) -> RunTask:
    return RunTask(source.scenario, source.scenario.seed, _SAMPLE_INTERVAL_S, keeps_traces=False)


def _run_both(script: RunTask, plainest: RunTask, on_start: OnStart) -> tuple[RunOutcome, RunOutcome]:
    return make_run(script, on_start), make_run(plainest, on_start)


def _found(check: Check, kind: ScriptKind, source: ScenarioSource, script: RunOutcome, plainest: RunOutcome) -> Finding:
    if script.failure or plainest.failure:
        return Finding(check, "error", 0.0, script.failure or plainest.failure, source)
    share, is_enough = check.judges(script.summary["flows"], plainest.summary["flows"])
    text = tr(check.tells, share=f"{share:.0%}", plainest=_PLAINEST[kind])
    return Finding(check, "pass" if is_enough else "fail", share, text, source)
