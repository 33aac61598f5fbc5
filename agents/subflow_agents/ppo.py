"""Proximal policy optimisation for agents that choose one of several actions for one subflow.

Source: Schulman, Wolski, Dhariwal, Radford, Klimov, "Proximal Policy Optimization Algorithms", 2017, with details from
Huang et al., "The 37 Implementation Details of PPO", 2022 (below: "details").
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from subflow_agents.errors import CheckpointError, ConfigError
from subflow_agents.judge import Judge
from subflow_agents.learner import BoolArray, FloatArray, LearnerSetup, LearnerState, PolicyParts, TrainingEnv
from subflow_agents.ppo_config import PpoConfig
from subflow_agents.torch_state import load_module, load_optimiser, module_tensors, optimiser_tensors

IndexArray: TypeAlias = NDArray[np.int64]

# Both networks: two hidden layers of tanh units, orthogonal weights with these gains (detail 2).
_HIDDEN_GAIN = math.sqrt(2)
_POLICY_GAIN = 0.01  # makes the initial policy nearly uniform
_VALUE_GAIN = 1.0
_ADAM_EPSILON = 1e-5  # detail 3
_ENOUGH_LANES = 0.6  # share of the lanes with open decisions that must be full for an update
_RETURN_MEMORY = 0.9  # decay per rollout of the running moments of returns


def advantages(
    reward: NDArray[np.float64],
    value: NDArray[np.float64],
    boundary: BoolArray,
    bootstrap: NDArray[np.float64],
    count: IndexArray,
    last_value: NDArray[np.float64],
    gamma: float,
    gae_lambda: float,
) -> NDArray[np.float64]:
    """Generalised advantage estimates of L lanes, each with its own number of decisions.

    Args:
        reward: [T, L], reward of each decision.
        value: [T, L], value of the state in which the decision was made.
        boundary: [T, L], whether an episode ended with the decision.
        bootstrap: [T, L], at a boundary the value of the final state; 0 for terminal states.
        count: [L], number of decisions of the lane, <= T.
        last_value: [L], value of the state after the lane's last decision; ignored if an episode ended with it.
        gamma: discount.
        gae_lambda: lambda.

    Returns:
        float64 [T, L]; 0 beyond `count`.

    Source: Schulman et al. 2016, equation (16): A_t = delta_t + gamma lambda A_t+1, delta_t = r_t + gamma V_t+1 - V_t.
    """
    result = np.zeros_like(reward)
    following = np.zeros(reward.shape[1])
    following_value = last_value.copy()
    for t in range(len(reward) - 1, -1, -1):
        there = t < count
        next_value = np.where(boundary[t], bootstrap[t], following_value)
        delta = reward[t] + gamma * next_value - value[t]
        advantage = delta + gamma * gae_lambda * np.where(boundary[t], 0.0, following)
        result[t] = np.where(there, advantage, 0.0)
        following = np.where(there, advantage, following)
        following_value = np.where(there, value[t], following_value)
    return result


@dataclass(slots=True)
class _Rollout:
    """Decisions of L lanes with their outcomes, at most T per lane."""

    obs: FloatArray  # [T, L, F]
    choice: IndexArray  # [T, L]
    log_prob: NDArray[np.float64]  # [T, L], under the policy that made the choice
    value: NDArray[np.float64]  # [T, L]
    reward: NDArray[np.float64]  # [T, L]
    boundary: BoolArray  # [T, L]
    bootstrap: NDArray[np.float64]  # [T, L]
    count: IndexArray  # [L]

    @classmethod
    def empty(cls, steps: int, lanes: int, width: int) -> _Rollout:
        shape = (steps, lanes)
        return cls(
            obs=np.zeros((*shape, width), dtype=np.float32),
            choice=np.zeros(shape, dtype=np.int64),
            log_prob=np.zeros(shape),
            value=np.zeros(shape),
            reward=np.zeros(shape),
            boundary=np.zeros(shape, dtype=np.bool_),
            bootstrap=np.zeros(shape),
            count=np.zeros(lanes, dtype=np.int64),
        )


@dataclass(slots=True)
class _Open:
    """The latest decision of each lane, while its outcome is still unknown."""

    there: BoolArray  # [L]
    agent: NDArray[np.int32]  # [L]
    obs: FloatArray  # [L, F]
    choice: IndexArray  # [L]
    log_prob: NDArray[np.float64]  # [L]
    value: NDArray[np.float64]  # [L]

    @classmethod
    def none(cls, lanes: int, width: int) -> _Open:
        return cls(
            there=np.zeros(lanes, dtype=np.bool_),
            agent=np.full(lanes, -1, dtype=np.int32),
            obs=np.zeros((lanes, width), dtype=np.float32),
            choice=np.zeros(lanes, dtype=np.int64),
            log_prob=np.zeros(lanes),
            value=np.zeros(lanes),
        )


@dataclass(slots=True)
class _Batch:
    """A full rollout, from which the minibatches of an update are taken."""

    obs: FloatArray  # [B, F]
    choice: IndexArray  # [B]
    log_prob: FloatArray  # [B]
    advantage: FloatArray  # [B], normalised to mean 0 and standard deviation 1
    target: FloatArray  # [B], target of the value network
    order: IndexArray  # [B], order of the current pass
    at: IndexArray  # [2]: next pass and minibatch


class PpoLearner:
    """PPO over any number of environments whose agents each choose among several actions for one subflow.

    A slot of an environment is a lane. The critic learns returns normalised to mean 0 and variance 1 (van Hasselt et
    al., "Learning values across many orders of magnitude", 2016), because returns of fast and slow links differ
    greatly.
    """

    def __init__(
        self, config: PpoConfig, setup: LearnerSetup, judge: Judge | None = None, *, is_critic_blind: bool = False
    ) -> None:
        """Creates networks and memory for a setup.

        Args:
            config: options of PPO.
            setup: agent and environments.
            judge: computes rewards from measurements of the simulator, which the critic receives, too; epochs cut short
                by the end of an episode are then ignored. None: the agents' own rewards are used.
            is_critic_blind: whether the critic receives only the policy's observation, even with a judge.

        Raises:
            ConfigError: if the agents have another scope or continuous actions.
        """
        spec = setup.spec
        if spec.scope != "subflow" or len(spec.choices) < 2:
            raise ConfigError("agent", f"PPO chooses for one subflow; the agent of {spec.controller} does not")
        self.config = config
        self.spec = spec
        self._lanes = setup.num_envs * setup.slots
        self._slots = setup.slots
        torch_rng = torch.Generator().manual_seed(setup.seed)
        self._rng = np.random.Generator(np.random.PCG64(setup.seed))
        self._judge = judge
        self._is_critic_blind = is_critic_blind or judge is None
        # A stored state contains the policy's observation, then the additional input of the critic.
        width = spec.width + (0 if judge is None or self._is_critic_blind else judge.width)
        self._actor = _network(spec.width, config.hidden, len(spec.choices), _POLICY_GAIN, torch_rng)
        last = self._actor[-1]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            last.bias[spec.neutral_choice] = config.keep_logit
        self._critic = _network(width, config.hidden, 1, _VALUE_GAIN, torch_rng)
        parameters = [*self._actor.parameters(), *self._critic.parameters()]
        self._optimizer = torch.optim.Adam(parameters, lr=config.learning_rate, eps=_ADAM_EPSILON, fused=True)
        self._return_mean, self._return_std = 0.0, 1.0
        self._return_moments = np.zeros(3)  # decayed sums of weight, return and squared return

        steps = max(2, math.ceil(config.rollout / setup.num_envs))
        self._rollout = _Rollout.empty(steps, self._lanes, width)
        self._open = _Open.none(self._lanes, width)
        self._batch: _Batch | None = None
        self._sums: dict[str, float] = {}
        self._counts: dict[str, int] = {}

    def observe(self, env: TrainingEnv) -> int:
        """Completes the decisions whose outcomes have arrived, and returns how many."""
        opened, rollout = self._open, self._rollout
        acting = env.acting.reshape(-1)
        same = opened.there & (opened.agent == env.agent.reshape(-1))
        # A full lane waits for the other lanes.
        closes = acting & same & (rollout.count < self._quota())
        ended = np.repeat(env.terminated | env.truncated, self._slots)
        if self._judge is not None:
            closes &= ~ended
            self._judge.see(_truth_of(env), env.acting)
        closing = np.flatnonzero(closes)
        # These decisions get no outcome, because their agents are gone, their lanes are full or, with a judge, their
        # episodes have ended. Their value bootstraps the decision before them.
        lost = np.flatnonzero(opened.there & ~closes & (acting | ended | ~same) & (rollout.count > 0))
        lost = lost[~rollout.boundary[rollout.count[lost] - 1, lost]]
        rollout.boundary[rollout.count[lost] - 1, lost] = True
        rollout.bootstrap[rollout.count[lost] - 1, lost] = opened.value[lost]
        if len(closing):
            at = rollout.count[closing]
            rewards = env.reward.reshape(-1) if self._judge is None else self._judge.rewards(_truth_of(env))
            reward = rewards[closing]
            for name in ("obs", "choice", "log_prob", "value"):
                getattr(rollout, name)[at, closing] = getattr(opened, name)[closing]
            rollout.reward[at, closing] = reward
            rollout.boundary[at, closing] = ended[closing]
            rollout.bootstrap[at, closing] = 0.0
            rollout.count[closing] += 1
            # A time limit ends an episode but not the connection: the final state is bootstrapped with its value.
            cut = closing[np.repeat(env.truncated & ~env.terminated, self._slots)[closing]]
            if len(cut):
                final = self._states(env)[cut]
                rollout.bootstrap[rollout.count[cut] - 1, cut] = self._values(final)
            self._note("return_mean", float(reward.sum()), len(closing))
        # Decisions of agents that act now or are absent, and decisions in ended episodes, are no longer open.
        opened.there &= ~acting & ~ended & same
        if self._judge is not None:
            self._judge.forget(ended)
        return len(closing)

    def act(self, env: TrainingEnv) -> FloatArray:
        """Actions sampled from the policy: float32 [N, S, 1]."""
        opened = self._open
        ended = np.repeat(env.terminated | env.truncated, self._slots)
        lanes = np.flatnonzero(env.acting.reshape(-1) & ~ended)
        action = np.zeros((self._lanes, 1), dtype=np.float32)
        if len(lanes):
            obs = self._states(env)[lanes]
            log_probs = self._log_probs(obs[:, : self.spec.width])
            # The largest of log p + Gumbel noise is a sample from p.
            choice = (log_probs + self._rng.gumbel(size=log_probs.shape)).argmax(1)
            opened.there[lanes] = True
            opened.agent[lanes] = env.agent.reshape(-1)[lanes]
            opened.obs[lanes] = obs
            opened.choice[lanes] = choice
            opened.log_prob[lanes] = log_probs[np.arange(len(lanes)), choice]
            opened.value[lanes] = self._values(obs)
            action[lanes, 0] = choice
        return action.reshape(env.num_envs, self._slots, 1)

    def learn(self, progress: float) -> int:
        """Makes one gradient step if an update is due; returns the number of steps.

        Must follow `act`, which computes the values of open decisions.
        """
        config, count = self.config, self._rollout.count
        is_full = count >= self._quota()
        # For each lane with an open decision, whether the lane is full
        lanes = is_full[self._open.there]
        if self._batch is None and is_full.any() and lanes.sum() >= _ENOUGH_LANES * len(lanes):
            self._batch = self._gathered()
        batch = self._batch
        if batch is None:
            return 0
        epoch, part = (int(x) for x in batch.at)
        rows = np.array_split(batch.order, min(config.minibatches, len(batch.order)))
        took_step = self._step(batch, rows[part], progress)
        part += 1
        if part == len(rows):
            epoch, part = epoch + 1, 0
            self._rng.shuffle(batch.order)
        batch.at[:] = epoch, part
        if not took_step or epoch == config.epochs:
            self._batch = None
        return int(took_step)

    def metrics(self) -> dict[str, float]:
        """Means since the last call, by metric."""
        means = {name: total / self._counts[name] for name, total in self._sums.items()}
        self._sums.clear()
        self._counts.clear()
        return means

    def policy(self) -> PolicyParts:
        """The policy network, whose largest output is the choice, and the value network unless it is privileged."""
        spec = self.spec
        actor, actor_tensors = _exported("actor", self._actor)
        document: dict[str, Any] = {
            "observation": {"features": [feature.name for feature in spec.features], "history": spec.history},
            "action": {"names": [], "choices": list(spec.choices)},
            "options": {},
            "actor": actor,
        }
        if not self._is_critic_blind:
            # The critic's additional input exists only in training.
            return PolicyParts(document, actor_tensors)
        critic, critic_tensors = _exported("critic", self._critic)
        last = f"critic.layers.{len(critic['layers']) - 1}"
        for part in ("weight", "bias"):
            critic_tensors[f"{last}.{part}"] = (critic_tensors[f"{last}.{part}"] * self._return_std).astype(np.float32)
        critic_tensors[f"{last}.bias"] += np.float32(self._return_mean)
        document["critic"] = {**critic, "takes_action": False}
        return PolicyParts(document, {**actor_tensors, **critic_tensors})

    def state(self) -> LearnerState:
        """Weights, Adam's moments, gathered decisions, and the state of the generator."""
        state = LearnerState()
        for name, net in (("actor", self._actor), ("critic", self._critic)):
            state.tensors |= module_tensors(name, net)
        state.tensors |= optimiser_tensors("adam", self._optimizer)
        for name, part in (("rollout", self._rollout), ("open", self._open), ("batch", self._batch)):
            if part is not None:
                for item in fields(part):
                    state.tensors[f"{name}.{item.name}"] = getattr(part, item.name).copy()
        state.tensors["return_moments"] = self._return_moments.copy()
        if self._judge is not None:
            state.tensors["judge.beside"] = self._judge.beside.copy()
        state.values = {
            "luck": self._rng.bit_generator.state,
            "return_mean": self._return_mean,
            "return_std": self._return_std,
            "sums": dict(self._sums),
            "counts": dict(self._counts),
        }
        return state

    def load_state(self, state: LearnerState) -> None:
        """Replaces the complete state by a result of `state()`.

        Raises:
            CheckpointError: if the network or the number of environments differs.
        """
        tensors, mine = state.tensors, self.state().tensors
        for name, here in mine.items():
            if name.startswith(("adam.", "batch.")):
                continue
            if name not in tensors or tensors[name].shape != here.shape:
                raise CheckpointError(f"the checkpoint's {name} is of another network or number of environments")
        for name, net in (("actor", self._actor), ("critic", self._critic)):
            load_module(name, net, tensors)
        load_optimiser("adam", self._optimizer, tensors)
        for prefix, part in (("rollout", self._rollout), ("open", self._open)):
            for item in fields(part):
                setattr(part, item.name, tensors[f"{prefix}.{item.name}"].copy())
        self._batch = None
        if "batch.at" in tensors:
            self._batch = _Batch(**{item.name: tensors[f"batch.{item.name}"].copy() for item in fields(_Batch)})
        self._return_moments = tensors["return_moments"].copy()
        if self._judge is not None:
            self._judge.beside = tensors["judge.beside"].copy()
        self._rng.bit_generator.state = state.values["luck"]
        self._return_mean = float(state.values["return_mean"])
        self._return_std = float(state.values["return_std"])
        self._sums = dict(state.values["sums"])
        self._counts = dict(state.values["counts"])

    def _quota(self) -> int:
        """Maximum number of decisions of a lane in an update, so that subflows that act often get no more weight."""
        lanes = max(1, int(self._open.there.sum()))
        return min(len(self._rollout.reward), max(2, math.ceil(self.config.rollout / lanes)))

    def _gathered(self) -> _Batch:
        """The decisions of the rollout with their advantages; empties the rollout."""
        config, rollout = self.config, self._rollout
        there = np.arange(len(rollout.reward))[:, None] < rollout.count  # [T, L]
        if self._return_moments[0] == 0:
            self._begin_values(float(rollout.reward[there].mean()) / (1 - config.gamma))
        advantage = advantages(
            rollout.reward,
            rollout.value,
            rollout.boundary,
            rollout.bootstrap,
            rollout.count,
            np.where(self._open.there, self._open.value, 0.0),
            config.gamma,
            config.gae_lambda,
        )
        returns = (advantage + rollout.value)[there]  # [B]
        self._follow_returns(returns)
        advantage = advantage[there]
        self._note("q_mean", float(rollout.value[there].sum()), len(returns))
        self._note("td_error", float(np.abs(advantage).sum()), len(returns))
        scaled = (advantage - advantage.mean()) / (advantage.std() + 1e-8)
        order = np.arange(len(returns))
        self._rng.shuffle(order)
        rollout.count[:] = 0
        return _Batch(
            obs=rollout.obs[there],
            choice=rollout.choice[there],
            log_prob=rollout.log_prob[there].astype(np.float32),
            advantage=scaled.astype(np.float32),
            target=((returns - self._return_mean) / self._return_std).astype(np.float32),
            order=order,
            at=np.zeros(2, dtype=np.int64),
        )

    def _begin_values(self, value: float) -> None:
        """Initialises the values of all states with the discounted sum of the first rollout's mean reward.

        Otherwise the critic would need hundreds of updates to learn this sum.
        """
        self._return_mean += value
        self._rollout.value += value
        self._rollout.bootstrap[self._rollout.bootstrap != 0] += value  # 0 marks a terminal state
        self._open.value += value

    def _follow_returns(self, returns: NDArray[np.float64]) -> None:
        """Updates the running mean and deviation with these returns [B], and preserves the critic's outputs."""
        fresh = np.array([1.0, returns.mean(), np.square(returns).mean()])
        self._return_moments = _RETURN_MEMORY * self._return_moments + (1 - _RETURN_MEMORY) * fresh
        _, mean, square = self._return_moments / self._return_moments[0]
        std = max(math.sqrt(max(square - mean * mean, 0.0)), 1e-3)
        # van Hasselt et al. 2016, equations (7) and (8)
        last = self._critic[-1]
        assert isinstance(last, nn.Linear)
        with torch.no_grad():
            last.weight.mul_(self._return_std / std)
            last.bias.mul_(self._return_std).add_(self._return_mean - mean).div_(std)
        self._return_mean, self._return_std = float(mean), std

    def _step(self, batch: _Batch, rows: IndexArray, progress: float) -> bool:
        """Makes a gradient step on these rows of the batch, or returns False if the policy has moved too far."""
        config = self.config
        obs = torch.from_numpy(batch.obs[rows])
        advantage = torch.from_numpy(batch.advantage[rows])
        log_probs = torch.log_softmax(self._actor(obs[:, : self.spec.width]), 1)  # [b, choices]
        log_prob = log_probs.gather(1, torch.from_numpy(batch.choice[rows])[:, None])[:, 0]
        log_ratio = log_prob - torch.from_numpy(batch.log_prob[rows])
        ratio = log_ratio.exp()
        # Schulman, "Approximating KL divergence", 2020: the estimator k3
        kl = float((ratio - 1 - log_ratio).mean().detach())
        if batch.at.any():  # the policy that gathered the batch differs from itself by rounding alone
            self._note("kl", kl)
        if kl > config.kl_stop:
            return False
        # PPO, equation (7)
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        actor_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(log_probs.exp() * log_probs).sum(1).mean()
        below = 9 * (config.entropy_floor - entropy).clamp(min=0)
        critic_loss = (self._critic(obs)[:, 0] - torch.from_numpy(batch.target[rows])).square().mean()
        loss = actor_loss + config.value_weight * critic_loss - config.entropy_weight * (entropy - below)

        share = max(0.0, 1 - progress) if config.anneal else 1.0
        self._optimizer.param_groups[0]["lr"] = config.learning_rate * share
        self._optimizer.zero_grad()
        loss.backward()
        for name, net in (("actor", self._actor), ("critic", self._critic)):
            norm = nn.utils.clip_grad_norm_(net.parameters(), config.gradient_norm)
            self._note(f"{name}_grad_norm", float(norm))
        self._optimizer.step()
        self._note("actor_loss", float(actor_loss.detach()))
        self._note("critic_loss", float(critic_loss.detach()))
        self._note("entropy", float(entropy.detach()))
        return True

    def _states(self, env: TrainingEnv) -> FloatArray:
        """The stored states of all lanes: [L, F]."""
        obs = env.obs.reshape(self._lanes, -1)
        if self._judge is None or self._is_critic_blind:
            return obs
        return np.concatenate([obs, self._judge.seen(_truth_of(env))], axis=1)

    def _log_probs(self, obs: FloatArray) -> NDArray[np.float64]:
        """Log-probabilities of the choices: [n, choices]."""
        with torch.no_grad():
            return torch.log_softmax(self._actor(torch.from_numpy(obs)).double(), 1).numpy()

    def _values(self, obs: FloatArray) -> NDArray[np.float64]:
        """Values of these observations [n, F]: float64 [n]."""
        with torch.no_grad():
            normal: NDArray[np.float64] = self._critic(torch.from_numpy(obs))[:, 0].double().numpy()
        return normal * self._return_std + self._return_mean

    def _note(self, name: str, total: float, count: int = 1) -> None:
        self._sums[name] = self._sums.get(name, 0.0) + total
        self._counts[name] = self._counts.get(name, 0) + count


def _truth_of(env: TrainingEnv) -> FloatArray:
    assert env.truth is not None  # learners with a judge request it
    return env.truth


def _network(inputs: int, hidden: int, outputs: int, last_gain: float, rng: torch.Generator) -> nn.Sequential:
    layers: list[nn.Module] = []
    for width in (hidden, hidden):
        layers += [_linear(inputs, width, _HIDDEN_GAIN, rng), nn.Tanh()]
        inputs = width
    return nn.Sequential(*layers, _linear(inputs, outputs, last_gain, rng))


def _linear(inputs: int, outputs: int, gain: float, rng: torch.Generator) -> nn.Linear:
    layer = nn.Linear(inputs, outputs)
    nn.init.orthogonal_(layer.weight, gain, generator=rng)
    nn.init.zeros_(layer.bias)
    return layer


def _exported(name: str, net: nn.Sequential) -> tuple[dict[str, Any], dict[str, FloatArray]]:
    """A network in the form of the policy document, and its tensors."""
    layers: list[dict[str, Any]] = []
    tensors: dict[str, FloatArray] = {}
    for position, layer in enumerate(net):
        if isinstance(layer, nn.Linear):
            layers.append({"type": "linear", "in": layer.in_features, "out": layer.out_features})
            for part in ("weight", "bias"):
                tensor: Tensor = getattr(layer, part)
                tensors[f"{name}.layers.{position}.{part}"] = tensor.detach().numpy().astype("<f4", copy=True)
        else:
            layers.append({"type": "tanh"})
    return {"encoder": {"type": "none"}, "input": "slot", "slots": 1, "layers": layers}, tensors
