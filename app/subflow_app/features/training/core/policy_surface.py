"""A picture of a policy: its action as a function of two observation features.

All other features are held at the median of their observed values. To collect observations, the policy acts on its
training scenario for up to one second.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from subflow_app.features.catalog.core.uses import Use, read_scenario
from subflow_app.foundation.errors import InputError
from subflow_app.vocabulary.palette import TOTAL, ColourKey
from subflow_app.vocabulary.picture import ColourScale, Panel, PanelSeries
from subflow_sim.policy import Policy
from subflow_sim.scenario import Scenario
from subflow_sim.training import Distribution
from subflow_sim.vec_env import AgentSpec, VecEnv, with_learner

FloatArray = NDArray[np.float32]

DEFAULT_RESOLUTION = 41
# Maximum number of stored observations: enough for a steady median, and few enough to show each as a dot.
MOST_OBSERVATIONS = 500
# Margin around the observed range, as a share of it, so that no dots lie on the edge.
_MARGIN = 0.15


class ActingPolicy(Protocol):
    """The methods of a policy that a surface uses; `subflow_sim.policy.Policy` provides them."""

    def act_many(
        self, rows: FloatArray, acting: NDArray[np.bool_], mask: NDArray[np.bool_]
    ) -> tuple[FloatArray, FloatArray]:
        """Actions [B, S, A] and values [B] for observations [B, S, F].

        `mask` [B, S] marks the rows that belong to subflows, and `acting` [B, S] the subflows that act.
        """


@dataclass(frozen=True, slots=True)
class Feature:
    """A feature of the policy's observation.

    Attributes:
        name: name of the feature in the controller.
        unit: unit of the scaled value; usually empty.
        help: meaning of the feature.
        minimum: lower clipping limit.
        maximum: upper clipping limit.
    """

    name: str
    unit: str = ""
    help: str = ""
    minimum: float = -1.0
    maximum: float = 1.0


@dataclass(frozen=True, slots=True)
class Observations:
    """Recent decisions of a policy.

    Attributes:
        rows: float32 [n, S, F]: observations of the subflows for each decision, features in the order of the
            controller, latest record of the history first.
        mask: bool [n, S]: whether the row belongs to a subflow; other rows are padding.
        acting: bool [n, S]: whether the subflow acts.
    """

    rows: FloatArray
    mask: NDArray[np.bool_]
    acting: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, slots=True)
class PolicyOutput:
    """An action of a policy in the picture: name, unit and bounds, and `choices` for a discrete action."""

    name: str
    unit: str
    minimum: float
    maximum: float
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SeenPolicy:
    """A policy with the observations that its picture needs.

    Attributes:
        policy: the policy.
        features: features of one record of a subflow.
        outputs: actions of the policy.
        seen: recent observations of the policy.
    """

    policy: ActingPolicy
    features: tuple[Feature, ...]
    outputs: tuple[PolicyOutput, ...]
    seen: Observations


@dataclass(frozen=True, slots=True)
class Surface:
    """The action of a policy as a function of two features.

    Attributes:
        x: float32 [n]: values of the feature on the horizontal axis.
        y: float32 [m]: values of the feature on the vertical axis.
        action: float32 [m, n]: action of the policy at each point of the grid.
        points: float32 [k, 2]: recent observations as (x, y).
        point_actions: float32 [k]: action at these observations, with all features as observed.
    """

    x: FloatArray
    y: FloatArray
    action: FloatArray
    points: FloatArray
    point_actions: FloatArray

    def panel(self, x_text: str, y_text: str, scale: ColourScale) -> Panel:
        """The picture: a cell for each point of the grid, and a dot for each recent observation."""
        dots = PanelSeries(
            "",
            ColourKey(TOTAL, 0),
            0,
            False,
            self.points[:, 1].astype(np.float64),
            np.empty(0),
            x=self.points[:, 0].astype(np.float64),
        )
        cells = tuple(row.astype(np.float64) for row in self.action)
        area = (*_edges(self.x), *_edges(self.y))
        return Panel("map", "", x_text, y_text, (), np.empty(0), (dots,), cells=cells, scale=scale, cell_area=area)


def _edges(values: FloatArray) -> tuple[float, float]:
    """Outer edges of cells that are centred on the values."""
    half = (float(values[-1]) - float(values[0])) / (len(values) - 1) / 2
    return float(values[0]) - half, float(values[-1]) + half


def policy_surface(
    policy: ActingPolicy,
    features: Sequence[Feature],
    seen: Observations,
    x: int,
    y: int,
    *,
    output: int = 0,
    resolution: int = DEFAULT_RESOLUTION,
) -> Surface:
    """Evaluate a policy over a grid of two features of the acting subflow.

    All other features, and the rows of the other subflows, are held at the median of the observations. Each of the two
    features has the same value in all records of the history, as in a constant state.

    Args:
        policy: the policy.
        features: features of one record, in the order of the controller.
        seen: recent observations, at least one.
        x: index of the feature on the horizontal axis.
        y: index of the feature on the vertical axis.
        output: index of the action, for agents with several actions.
        resolution: number of values of each feature.

    Raises:
        InputError: if no observations are given.
        ValueError: if a feature does not exist.
    """
    if len(seen) == 0:
        raise InputError("no decision was seen yet")
    count = len(features)
    if not (0 <= x < count and 0 <= y < count):
        raise ValueError(f"features {x} and {y} of {count}")
    at_x, at_y = _grid(features[x], seen, x, count, resolution), _grid(features[y], seen, y, count, resolution)
    base, acting, mask = _typical(seen)
    rows = np.broadcast_to(base, (resolution * resolution, *base.shape)).copy()  # [B, S, F]
    slot = int(np.flatnonzero(acting)[0])
    grid_x, grid_y = np.meshgrid(at_x, at_y)  # [m, n] each
    # The same values in all records of the history. If x and y are the same feature, x takes precedence, and the
    # picture shows stripes.
    rows[:, slot, y::count] = grid_y.reshape(-1, 1)
    rows[:, slot, x::count] = grid_x.reshape(-1, 1)
    alike = rows.shape[:2]
    actions, _values = policy.act_many(rows, np.broadcast_to(acting, alike).copy(), np.broadcast_to(mask, alike).copy())
    surface = np.asarray(actions)[:, slot, output].reshape(resolution, resolution)
    which, slots = np.nonzero(seen.acting)
    lately, _values = policy.act_many(seen.rows, seen.acting, seen.mask)
    points = np.stack([seen.rows[which, slots, x], seen.rows[which, slots, y]], axis=1)
    return Surface(at_x, at_y, surface, points, np.asarray(lately)[which, slots, output])


def _grid(feature: Feature, seen: Observations, number: int, count: int, resolution: int) -> FloatArray:
    """Evenly spaced grid values of a feature, over its observed range plus margins, within its clipping limits.

    For a constant feature, the grid covers the whole range between the clipping limits.
    """
    values = seen.rows[seen.mask][:, number::count]
    low, high = float(values.min()), float(values.max())
    room = _MARGIN * (high - low)
    low, high = max(feature.minimum, low - room), min(feature.maximum, high + room)
    if not high > low:
        low, high = feature.minimum, feature.maximum
    return np.linspace(low, high, resolution, dtype=np.float32)


def _typical(seen: Observations) -> tuple[FloatArray, NDArray[np.bool_], NDArray[np.bool_]]:
    """A typical decision: median rows [S, F], mask of the acting subflow [S], mask of existing subflows [S].

    Only decisions with the same subflows as the latest one are used. In the others, some of the rows are padding, and
    a median that includes padding would not describe a subflow.
    """
    latest = seen.mask[-1]
    alike = (seen.mask == latest).all(axis=1)
    base = np.median(seen.rows[alike], axis=0).astype(np.float32)
    slot = int(np.flatnonzero(seen.acting[-1])[0])
    acting = np.zeros(len(latest), dtype=np.bool_)
    acting[slot] = True
    return base, acting, latest


# A seed that is used for no training run, and by default for no evaluation.
_SEED = 7_777_777
# After this number of steps, queues and estimates no longer resemble an empty network.
_SETTLING = 20
_LONGEST_S = 1.0


def observe_policy(path: Path, scenario_text: str, folder: Path | None = None) -> SeenPolicy:
    """Run a policy for `MOST_OBSERVATIONS` decisions, but for at most one second of wall time.

    Args:
        path: path of the policy file.
        scenario_text: TOML of its training scenario or distribution.
        folder: base of the relative paths in the scenario; None if it has no file.

    Raises:
        InputError: if the policy makes no decision in the scenario.
        PolicyError: if the file is not a policy.
        ScenarioError: if the scenario has problems, which the error lists.
        SimulationError: if the scenario has no flow for the policy.
    """
    policy = Policy.load(path)
    distribution = Distribution.from_scenario(read_scenario(Use.TRAIN, scenario_text, folder=folder))
    options = {**policy.options, "history": float(policy.history)}

    def make_scenario(env: int, episode: int) -> Scenario:
        return with_learner(distribution.draw(_SEED, env, episode), policy.controller, options)

    env = VecEnv(make_scenario, policy.controller, 1, seed=_SEED, slots=distribution.slots(policy.controller, options))
    seen = _watch(env, policy)
    if len(seen) == 0:
        raise InputError(f"{policy.controller} makes no decision on this scenario")
    return SeenPolicy(policy, _features(env.info), _outputs(env.info), seen)


def _watch(env: VecEnv, policy: Policy) -> Observations:
    rows: list[FloatArray] = []
    masks: list[NDArray[np.bool_]] = []
    actings: list[NDArray[np.bool_]] = []
    action = np.zeros((1, env.slots, env.info.action_width), np.float32)
    env.reset()
    deadline = time.monotonic() + _LONGEST_S
    steps = 0
    while len(rows) < MOST_OBSERVATIONS and time.monotonic() < deadline:
        # The rows of one agent form one observation; several agents may decide at the same instant.
        for agent in np.unique(env.agent[0][env.acting[0]]).tolist():
            own = env.agent[0] == agent
            row, mask, acting = env.obs[0][own][None], env.mask[0][own][None], env.acting[0][own][None]
            chosen, _values = policy.act_many(row, acting, mask)
            action[0][own] = chosen[0]
            if steps >= _SETTLING:
                rows.append(row[0].copy())
                masks.append(mask[0].copy())
                actings.append(acting[0].copy())
        env.step(action)
        steps += 1
    return _together(rows, masks, actings, env.info.width)


def _together(
    rows: list[FloatArray], masks: list[NDArray[np.bool_]], actings: list[NDArray[np.bool_]], width: int
) -> Observations:
    """Stack observations, each padded to the largest number of subflows in any of them."""
    slots = max((len(row) for row in rows), default=0)
    seen = Observations(
        np.zeros((len(rows), slots, width), np.float32),
        np.zeros((len(rows), slots), np.bool_),
        np.zeros((len(rows), slots), np.bool_),
    )
    for number, (row, mask, acting) in enumerate(zip(rows, masks, actings, strict=True)):
        seen.rows[number, : len(row)] = row
        seen.mask[number, : len(row)] = mask
        seen.acting[number, : len(row)] = acting & mask
    return seen


def _features(spec: AgentSpec) -> tuple[Feature, ...]:
    return tuple(Feature(each.name, each.unit, each.help, each.minimum, each.maximum) for each in spec.features)


def _outputs(spec: AgentSpec) -> tuple[PolicyOutput, ...]:
    if spec.choices:
        return (PolicyOutput("choice", "", 0.0, len(spec.choices) - 1.0, spec.choices),)
    return tuple(PolicyOutput(each.name, each.unit, each.minimum, each.maximum) for each in spec.actions)
