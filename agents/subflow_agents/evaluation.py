"""Evaluation of policies: runs of a scenario with a policy and with classic controllers, on the same seeds.

The module needs no PyTorch. Each run equals a `subflow run` of the scenario with another controller on the flows under
evaluation: the core evaluates the policy file, as in all later uses.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from subflow_agents.config import CLASSICS
from subflow_agents.errors import ConfigError
from subflow_agents.reward_terms import reward_terms
from subflow_agents.scenarios import SINGLE_PATH_BASELINES, read_scenario, steered_flows
from subflow_sim.gate import toml_tree
from subflow_sim.stats import Estimate

if TYPE_CHECKING:
    from subflow_sim import Scenario, Simulation

LEAST_MBPS = 0.01
"""Lower bound of a flow's goodput in the logarithmic score, Mbit/s."""


@dataclass(frozen=True, slots=True)
class Contender:
    """A controller under evaluation.

    Attributes:
        label: displayed name.
        controller: TOML value of a flow's `controller`.
        name: name of the controller in the core.
        is_baseline: whether it only serves for comparison.
    """

    label: str
    controller: str
    name: str
    is_baseline: bool = False


@dataclass(frozen=True, slots=True)
class RunFigures:
    """The results of one run.

    Attributes:
        seed: seed of the run.
        goodput_bps: mean goodput of the flows under evaluation, each over its active time; NaN if all were inactive.
        total_goodput_bps: total goodput of all flows with congestion control over the measured time.
        other_goodput_bps: mean goodput of the flows that keep the scenario's controller; NaN if no flow does.
        rtt_s: mean RTT over the flows under evaluation; NaN without a sample.
        loss_ratio: packets lost over packets sent, mean over the flows under evaluation; NaN if all were inactive.
        jain: Jain's index of the goodputs of all flows with congestion control; NaN if undefined.
        score: sum over all flows with congestion control of ln(goodput in Mbit/s times the share of its packets that
            was not lost), at least LEAST_MBPS: proportional fairness in which wasted capacity counts like capacity
            taken from others.
        flows: goodput of each flow under evaluation, bit/s.
        reward: mean reward of a decision and its parts; see `subflow_agents.reward_terms`. Empty without an agent, and
            if only the summary of the run is known.
    """

    seed: int
    goodput_bps: float
    total_goodput_bps: float
    other_goodput_bps: float
    rtt_s: float
    loss_ratio: float
    jain: float
    score: float
    flows: dict[str, float] = field(default_factory=dict)
    reward: Mapping[str, float] = field(default_factory=dict)


FIGURES = ("goodput_bps", "total_goodput_bps", "other_goodput_bps", "rtt_s", "loss_ratio", "jain", "score")


@dataclass(frozen=True, slots=True)
class ControllerResult:
    """Results of a contender over all seeds.

    Attributes:
        contender: the contender.
        runs: one run per seed, in the order of the seeds.
    """

    contender: Contender
    runs: tuple[RunFigures, ...]

    def figure(self, name: str) -> Estimate:
        """Mean and confidence interval of one of FIGURES over the seeds; runs with an undefined value do not count."""
        return Estimate.of(getattr(run, name) for run in self.runs)

    def flow(self, name: str) -> Estimate:
        """Mean and confidence interval of a flow's goodput over the seeds in which the flow was active, bit/s."""
        return Estimate.of(run.flows[name] for run in self.runs if name in run.flows)

    def reward(self) -> dict[str, Estimate]:
        """Mean and confidence interval of the reward and of its parts over the seeds; empty if they are unknown."""
        names = dict.fromkeys(name for run in self.runs for name in run.reward)
        return {name: Estimate.of(run.reward[name] for run in self.runs if name in run.reward) for name in names}


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Results of contenders on the same scenario and seeds.

    Attributes:
        scenario: title of the scenario.
        seeds: seeds of the runs.
        results: results by contender, in the requested order; baselines last.
    """

    scenario: str
    seeds: tuple[int, ...]
    results: tuple[ControllerResult, ...]

    @property
    def best_baseline(self) -> ControllerResult | None:
        """The baseline with the largest mean goodput; None without baselines."""
        baselines = [result for result in self.results if result.contender.is_baseline]
        return max(baselines, key=lambda result: result.figure("goodput_bps").mean, default=None)

    def ratio(self, result: ControllerResult) -> float:
        """Mean goodput of a contender divided by that of the best baseline; NaN without a baseline."""
        best = self.best_baseline
        divisor = math.nan if best is None else best.figure("goodput_bps").mean
        return result.figure("goodput_bps").mean / divisor if divisor > 0 else math.nan

    def to_json(self) -> dict[str, Any]:
        """The evaluation as a JSON object."""
        best = self.best_baseline
        return {
            "scenario": self.scenario,
            "seeds": list(self.seeds),
            "best_baseline": None if best is None else best.contender.label,
            "controllers": [
                {
                    "label": result.contender.label,
                    "controller": result.contender.name,
                    "is_baseline": result.contender.is_baseline,
                    "ratio_to_best_baseline": _number(self.ratio(result)),
                    **{name: result.figure(name).to_json() for name in FIGURES},
                    "reward": {name: each.to_json() for name, each in result.reward().items()},
                    "flows": {
                        name: result.flow(name).to_json() for name in (result.runs[0].flows if result.runs else {})
                    },
                }
                for result in self.results
            ],
        }


def read_contender(text: str, scenario: Scenario | None = None, *, is_baseline: bool = False) -> Contender:
    """A contender from its name on the command line.

    Args:
        text: path of a policy file, name of a controller or an agent, or a TOML table as in a scenario:
            `{ name = "mplibra", classic = "lia", policy = "random" }`.
        scenario: scenario that may define controllers; None: only built-in controllers.
        is_baseline: whether it only serves for comparison.

    Raises:
        ConfigError: if the text names no contender.
    """
    from subflow_agents.registry import agent, agent_names
    from subflow_sim.catalog import catalog, catalog_of
    from subflow_sim.errors import SimError

    if text.lstrip().startswith("{"):
        try:
            name = str(toml_tree(f"controller = {text}")["controller"]["name"])
        except (ValueError, KeyError) as error:
            raise ConfigError("contender", f"{text!r} is not a controller", '{ name = "...", ... }') from error
        return Contender(text, text, name, is_baseline)
    if text.endswith(".safetensors"):
        from subflow_sim.policy import Policy

        path = Path(text).resolve()
        try:
            name = str(Policy.load(path).document["controller"])
        except (OSError, SimError) as error:
            raise ConfigError("contender", f"{text}: {error}", "a policy file") from error
        return Contender(text, f"{{ name = {json.dumps(name)}, policy = {json.dumps(str(path))} }}", name, is_baseline)
    offered = catalog() if scenario is None else catalog_of(scenario)
    known = tuple(each.name for each in offered.controllers)
    if text in known:
        return Contender(text, json.dumps(text), text, is_baseline)
    if text in agent_names():
        name = agent(text).controller
        return Contender(text, f"{{ name = {json.dumps(name)}, policy = {json.dumps(text)} }}", name, is_baseline)
    allowed = f"a policy file, or one of {', '.join(dict.fromkeys((*known, *agent_names())))}"
    raise ConfigError("contender", f"unknown contender {text!r}", allowed)


def default_baselines(scenario: Scenario) -> tuple[str, ...]:
    """The coupled controllers if a flow under evaluation is an MPTCP flow, otherwise CUBIC and NewReno."""
    names = steered_flows(scenario, "a controller")
    return CLASSICS if any(scenario.flows[name].kind == "mptcp" for name in names) else SINGLE_PATH_BASELINES


def contender_scenario(
    contender: Contender, text: str, name: str, folder: str = "", overrides: Sequence[str] = ()
) -> tuple[Scenario, tuple[str, ...]]:
    """The scenario with the contender on the flows under evaluation, and the names of these flows.

    Raises:
        ScenarioError: if the contender's options do not fit the scenario.
        ConfigError: if the scenario has no flow for the contender.
    """
    from subflow_sim.catalog import catalog_of
    from subflow_sim.vec_env import scheduler_beside

    plain = read_scenario(text, name, folder, overrides)
    known = {each.name: each for each in catalog_of(plain).controllers}
    changes: list[str] = []
    names = steered_flows(plain, contender.name)
    for flow in names:
        changes.append(f"flows.{flow}.controller={contender.controller}")
        before = plain.flows[flow].scheduler.name
        # The scenario reader reports unknown names.
        scheduler = scheduler_beside(known[contender.name], before) if contender.name in known else before
        if scheduler != before:
            changes.append(f"flows.{flow}.scheduler={json.dumps(scheduler)}")
    return read_scenario(text, name, folder, [*overrides, *changes]), names


def run_once(
    scenario: Scenario, names: Sequence[str], seed: int, simulations: list[Simulation] | None = None
) -> RunFigures:
    """Runs a contender's scenario to its end, and returns the results.

    Args:
        scenario: scenario from `contender_scenario`.
        names: names of the flows under evaluation, from `contender_scenario`.
        seed: seed of the run.
        simulations: list whose content is replaced by the simulation, so that another thread can interrupt the run.
    """
    from subflow_sim import Simulation

    simulation = Simulation(scenario, seed=seed, sample_interval_s=max(1.0, scenario.duration_s))
    if simulations is not None:
        simulations[:] = [simulation]
    simulation.run_until(scenario.duration_s)
    figures = run_figures(simulation.summary(), scenario, names, seed)
    steps = simulation.take_agent_steps()
    if steps is None:
        return figures
    options = {flow.controller.name: flow.controller.options for flow in scenario.flows.values()}
    return replace(figures, reward=reward_terms(steps, options))


def run_figures(summary: Mapping[str, Any], scenario: Scenario, names: Sequence[str], seed: int) -> RunFigures:
    """Results from the summary of a run of a contender's scenario; parameters as for `run_once`."""
    flows = [flow for flow in summary["flows"] if flow["kind"] in ("tcp", "mptcp") and flow["active_s"] > 0]
    steered = [flow for flow in flows if _key(flow["name"], scenario) in names]
    others = [flow for flow in flows if _key(flow["name"], scenario) not in names]
    jain = summary["fairness"]["jain"]
    return RunFigures(
        seed=seed,
        goodput_bps=_mean(flow["active_goodput_bps"] for flow in steered),
        total_goodput_bps=math.fsum(flow["goodput_bps"] for flow in flows),
        other_goodput_bps=_mean(flow["active_goodput_bps"] for flow in others),
        rtt_s=_mean(flow["mean_rtt_s"] for flow in steered if flow["mean_rtt_s"] is not None),
        loss_ratio=_mean(flow["loss_ratio"] for flow in steered),
        jain=math.nan if jain is None else float(jain),
        score=math.fsum(
            math.log(max((1 - flow["loss_ratio"]) * flow["active_goodput_bps"] / 1e6, LEAST_MBPS)) for flow in flows
        ),
        flows={flow["name"]: float(flow["active_goodput_bps"]) for flow in steered},
    )


def evaluate(
    contenders: Sequence[str],
    scenario: str,
    seeds: Sequence[int],
    *,
    baselines: Sequence[str] | None = None,
    name: str = "scenario",
    folder: str = "",
    overrides: Sequence[str] = (),
    run: Callable[[Scenario, Sequence[str], int], RunFigures] = run_once,
) -> Evaluation:
    """Runs contenders and baselines on the same seeds.

    Args:
        contenders: policy files, agents, controllers; see `read_contender`.
        scenario: TOML text.
        seeds: seeds of the runs.
        baselines: controllers for comparison; None: `default_baselines`.
        name: name of the scenario in messages.
        folder: folder of files referenced by the scenario.
        overrides: "KEY=VALUE" settings of the scenario.
        run: function that executes one run; callers replace it to use several processes or to interrupt runs.

    Raises:
        ConfigError: if a text names no contender, or the scenario has no flow for a contender.
        ScenarioError: if the scenario is not usable with a contender.
    """
    plain = read_scenario(scenario, name, folder, overrides)
    if baselines is None:
        baselines = default_baselines(plain)
    everybody = [
        *(read_contender(text, plain) for text in contenders),
        *(read_contender(text, plain, is_baseline=True) for text in baselines if text not in contenders),
    ]
    results = []
    for contender in everybody:
        changed, names = contender_scenario(contender, scenario, name, folder, overrides)
        results.append(ControllerResult(contender, tuple(run(changed, names, seed) for seed in seeds)))
    return Evaluation(plain.name, tuple(seeds), tuple(results))


def _key(instance: str, scenario: Scenario) -> str:
    """The name of a flow in the scenario file, given the name of one of its instances in a run."""
    return instance if instance in scenario.flows else instance.rpartition(".")[0]


def _mean(values: Iterable[float]) -> float:
    kept = list(values)
    return math.fsum(kept) / len(kept) if kept else math.nan


def _number(value: float) -> float | None:
    return value if math.isfinite(value) else None
