"""Deterministic policy gradients over sets of subflows, with a representation shared by actor and critic.

DDPG as in Algorithm 1 of DRL-CC (Xu et al. 2019): h = R(s), a = pi(e, h) + noise, Q(e, h, a). R is the encoder, s the
rows of all observed subflows, and e the rows that the head of a network receives (`nets.py`). By default the gradient
of the critic's loss stops at h, and the gradient of the actor's loss reaches R only through pi. TD3 and SAC differ in
their targets.
"""

from __future__ import annotations

import copy
import math
from collections import defaultdict
from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from subflow_agents.checkpoint import tensors_under
from subflow_agents.ddpg_options import DdpgConfig
from subflow_agents.errors import CheckpointError, ConfigError
from subflow_agents.learner import FloatArray, LearnerSetup, LearnerState, PolicyParts, TrainingEnv
from subflow_agents.nets import (
    EncoderSpec,
    NetSpec,
    Rows,
    SetEncoder,
    Trunk,
    network_document,
    network_tensors,
    require_room,
    soft_update,
    to_rows,
)
from subflow_agents.noise import OrnsteinUhlenbeck
from subflow_agents.replay import PrioritisedReplay, Replay, Sample
from subflow_agents.reports import SATURATED
from subflow_agents.torch_state import load_module, load_optimiser, module_tensors, optimiser_tensors
from subflow_agents.transitions import FILLERS, Decisions, LogsOf, TransitionBuilder, read_decisions

# Haarnoja et al. 2018: bounds of the logarithm of a stochastic actor's standard deviation
LOG_STD_BOUNDS = (-5.0, 2.0)


class Networks(nn.Module):
    """Representation, actor and critics.

    Args:
        spec: sizes of the networks.
        critics: number of critics, 1 or 2; with two, the targets use the smaller value.
        stochastic: whether the actor outputs means and logarithms of standard deviations.
        rng: generator of the initial weights.
    """

    def __init__(self, spec: NetSpec, *, critics: int, stochastic: bool, rng: torch.Generator) -> None:
        super().__init__()
        self.spec = spec
        self.encoder = SetEncoder(spec.features, spec.encoder, rng)
        outputs = 2 * spec.outputs if stochastic else None
        self.actor = Trunk(spec, rng, outputs=outputs, takes_action=False)
        self.critics = nn.ModuleList(Trunk(spec, rng, outputs=1, takes_action=True) for _ in range(critics))

    def before_tanh(self, h: Tensor, batch: Rows) -> Tensor:
        """Input of the deterministic actor's tanh: [B, K, A]."""
        return self.actor.by_row(batch, self.actor(h, batch))

    def values(self, h: Tensor, batch: Rows, action: Tensor) -> list[Tensor]:
        """Q from each critic, [B]. For a "slot" head, Q is the mean over the acting rows."""
        values = []
        for critic in self.critics:
            value = critic(h, batch, action).squeeze(-1)
            if value.dim() == 2:
                value = (value * batch.acts).sum(1) / batch.acts.sum(1)
            values.append(value)
        return values

    def sample(self, h: Tensor, batch: Rows, rng: torch.Generator) -> tuple[Tensor, Tensor]:
        """A stochastic actor's action [B, K, A] and its log-probability [B]."""
        mean, log_std = (self.actor.by_row(batch, part) for part in self.actor(h, batch).chunk(2, -1))
        low, high = LOG_STD_BOUNDS
        log_std = low + (high - low) * (torch.tanh(log_std) + 1) / 2
        z = torch.randn(mean.shape, generator=rng)
        raw = mean + log_std.exp() * z
        # Haarnoja et al. 2018 appendix C, with log(1 - tanh^2 u) = 2 (ln 2 - u - softplus(-2u))
        log_p = -0.5 * z**2 - log_std - 0.5 * math.log(2 * math.pi)
        log_p = log_p - 2 * (math.log(2) - raw - nn.functional.softplus(-2 * raw))
        return torch.tanh(raw), (log_p * batch.acts[:, :, None]).sum((1, 2))


class DdpgLearner:
    """Learns a policy for the agents of an environment; see `learner.Learner` for the methods.

    Args:
        config: options of the agent.
        setup: agent and environments.
        head: head of the networks: "slot", "target" or "all".
        relative_to: reference of relative rewards; see `read_decisions`.

    Raises:
        ConfigError: if the agents have discrete actions, or act on more subflows than the networks allow.
    """

    def __init__(self, config: DdpgConfig, setup: LearnerSetup, head: str, relative_to: LogsOf | None = None) -> None:
        if setup.spec.choices:
            raise ConfigError("agent", "its actions are choices, which a policy gradient of this kind cannot learn")
        self.config = config
        self.spec = NetSpec(
            features=setup.spec.width,
            actions=setup.spec.action_width,
            head=head,
            slots=1 if head == "slot" else config.slots,
            hidden=(config.hidden, config.hidden),
            encoder=EncoderSpec(config.encoder, config.encoder_hidden),
        )
        self._setup = setup
        self._relative_to = relative_to
        weights, noise, sampling, drawing = np.random.SeedSequence(setup.seed).generate_state(4).tolist()
        rng = torch.Generator().manual_seed(weights)
        self._drawing = torch.Generator().manual_seed(drawing)
        self._sampling = np.random.Generator(np.random.PCG64(sampling))
        self._stochastic = config.algorithm == "sac"
        critics = 1 if config.algorithm == "ddpg" else 2
        self.networks = Networks(self.spec, critics=critics, stochastic=self._stochastic, rng=rng)
        self.targets = copy.deepcopy(self.networks).requires_grad_(False)
        actor_weights = [*self.networks.actor.parameters()]
        critic_weights = [*self.networks.critics.parameters()]
        encoder_weights = [*self.networks.encoder.parameters()]
        (critic_weights if config.rep_grad == "critic" else actor_weights).extend(encoder_weights)
        self._actor_weights, self._critic_weights = actor_weights, critic_weights
        self._encoder_weights = encoder_weights
        self._weights: list[Tensor] = [*self.networks.parameters()]
        self._target_weights: list[Tensor] = [*self.targets.parameters()]
        self.actor_optimiser = torch.optim.Adam(actor_weights, lr=config.actor_lr, fused=True)
        self.critic_optimiser = torch.optim.Adam(
            critic_weights, lr=config.critic_lr, weight_decay=config.critic_decay, fused=True
        )
        self.log_temperature = torch.zeros((), requires_grad=self._stochastic)
        self._temperature_optimiser = torch.optim.Adam([self.log_temperature], lr=config.critic_lr)
        self.replay = self._make_replay()
        self._noise_rng = np.random.Generator(np.random.PCG64(noise))
        self._noise = OrnsteinUhlenbeck(
            (self.spec.actions,), theta=config.ou_theta, sigma=config.ou_sigma, rng=self._noise_rng
        )
        self._stitcher = TransitionBuilder()
        self._now: Decisions | None = None
        self._due = 0.0
        self._updates = 0
        self._progress = 0.0
        self._sums: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
        low, high = setup.spec.action_bounds()
        self._middle, self._half = (low + high) / 2, (high - low) / 2
        self._out = np.zeros((setup.num_envs, setup.slots, self.spec.actions), dtype=np.float32)

    # ------------------------------------------------------------------------------------------------- experience

    def observe(self, env: TrainingEnv) -> int:
        """Stores the completed transitions, and returns their number."""
        now = read_decisions(env, self._relative_to)
        if len(now):
            require_room(self.spec, now.rows.shape[1], now.acting.shape[1])
        ended = env.terminated | env.truncated
        transitions = self._stitcher.close(now, ended)
        self._now = now.take(~ended[now.env])
        if ended.any():  # the noise restarts with each episode
            slots = np.arange(self._setup.slots)
            self._noise.reset((np.flatnonzero(ended)[:, None] * self._setup.slots + slots).ravel())
        if not transitions:
            return 0
        reward = transitions["reward"]
        self._note("return_mean", float(reward.sum()), len(reward))
        transitions["reward"] = reward * np.float32(self.config.reward_scale)
        self.replay.add(transitions)
        if len(self.replay) >= self.config.warmup:
            self._due += len(reward) * self.config.updates_per_step
        return len(reward)

    def act(self, env: TrainingEnv) -> FloatArray:
        """Actions of the acting slots, scaled to the bounds of the actions; 0 for other slots.

        DDPG and TD3 add noise to the actor's output and clip it to [-1, 1]; SAC samples from the actor's distribution.
        """
        now = self._now
        assert now is not None
        self._out.fill(0)
        if not len(now):
            return self._out
        batch = to_rows(now.rows, now.count, now.acting)
        with torch.no_grad():
            h = self.networks.encoder(batch)
            if self._stochastic:
                action = self.networks.sample(h, batch, self._drawing)[0].numpy()
            else:
                action = torch.tanh(self.networks.before_tanh(h, batch)).numpy()
                action = np.clip(action + self._draw_noise(now), -1, 1).astype(np.float32)
        action = np.where(now.acting[:, :, None] >= 0, action, np.float32(0))
        self._stitcher.open(now, action)
        which, ordinal = np.nonzero(now.slots >= 0)
        scaled = self._middle + self._half * action[which, ordinal]
        self._out[now.env[which], now.slots[which, ordinal]] = scaled
        return self._out

    def _draw_noise(self, now: Decisions) -> NDArray[np.float64]:
        """Independent exploration noise of each subflow: [D, K, A]."""
        noise = np.zeros((*now.acting.shape, self.spec.actions))
        which, ordinal = np.nonzero(now.slots >= 0)
        noise[which, ordinal] = self._noise.draw(now.env[which] * self._setup.slots + now.slots[which, ordinal])
        return (1 + (self.config.noise_final - 1) * self._progress) * noise

    # --------------------------------------------------------------------------------------------------- learning

    def learn(self, progress: float) -> int:
        """Makes at most one update, and returns 1 if an update was due, otherwise 0.

        An update that is due but skipped, because too few unsampled transitions remain, still counts.
        """
        self._progress = progress
        if self._due < 1:
            return 0
        self._due -= 1
        config = self.config
        if isinstance(self.replay, PrioritisedReplay):
            if config.delete_after_sampling and self.replay.available < config.batch:
                return 1  # too few transitions remain for a batch
            self.replay.beta = config.priority_beta + (1 - config.priority_beta) * progress
        self.update(self.replay.sample(config.batch, self._sampling))
        return 1

    def update(self, sample: Sample) -> None:
        """Updates the critics, the targets and (for TD3, not every time) the actor from a batch of transitions."""
        config, networks = self.config, self.networks
        columns = sample.columns
        batch = to_rows(columns["rows"], columns["count"], columns["acting"])
        after = to_rows(columns["next_rows"], columns["next_count"], columns["next_acting"])
        action = torch.from_numpy(columns["action"])
        target = torch.from_numpy(columns["reward"]) + config.gamma * (
            1 - torch.from_numpy(columns["ends"])
        ) * self.next_value(after)

        # Algorithm 1, critic: minimise the mean of (y - Q(e, h, a))^2
        h = networks.encoder(batch)
        values = networks.values(h if config.rep_grad in ("critic", "both") else h.detach(), batch, action)
        errors = [value - target for value in values]
        weights = torch.from_numpy(sample.weights)
        critic_loss = torch.stack([(weights * error**2).mean() for error in errors]).sum()
        learning = [*self._critic_weights, *(self._encoder_weights if config.rep_grad == "both" else ())]
        _set_gradients(learning, torch.autograd.grad(critic_loss, learning, retain_graph=config.rep_grad == "both"))
        critic_norm = _clip(learning, config.grad_norm)
        self.critic_optimiser.step()
        error = errors[0].detach()
        self.replay.refresh(sample.indices, error.numpy())
        self._updates += 1
        if self._updates % (config.policy_delay if config.algorithm == "td3" else 1) == 0:
            self._update_actor(h, batch)
        soft_update(self._target_weights, self._weights, config.tau)
        self._note("td_error", float(error.abs().mean()))
        self._note("q_mean", float(values[0].detach().mean()))
        self._note("critic_loss", float(critic_loss.detach()))
        self._note("critic_grad_norm", critic_norm)

    def next_value(self, after: Rows) -> Tensor:
        """Value of the next state, [B]: Q'(e', h', pi'(e', h')), or the minimum over two critics.

        SAC uses the current actor instead of pi', and adds the entropy of its action.
        """
        config, targets = self.config, self.targets
        with torch.no_grad():
            h = targets.encoder(after)
            if self._stochastic:
                action, log_p = self.networks.sample(self.networks.encoder(after), after, self._drawing)
                value = torch.minimum(*targets.values(h, after, action))
                return value - self.log_temperature.exp() * log_p
            action = torch.tanh(targets.before_tanh(h, after))
            if config.algorithm == "td3":  # Fujimoto et al. 2018, target policy smoothing
                noise = config.target_noise * torch.randn(action.shape, generator=self._drawing)
                bound = config.target_noise_clip
                action = (action + noise.clamp(-bound, bound)).clamp(-1, 1)
            values = targets.values(h, after, action)
            return values[0] if len(values) == 1 else torch.minimum(*values)

    def _update_actor(self, h: Tensor, batch: Rows) -> None:
        """Algorithm 1, actor: grad_a Q times grad_theta pi.

        If the loss of the actor trains R (`rep_grad`), also times grad_h pi grad_theta R.
        """
        config, networks = self.config, self.networks
        seen = h if config.rep_grad in ("actor", "both") else h.detach()
        log_p: Tensor | None = None
        if self._stochastic:
            action, log_p = networks.sample(seen, batch, self._drawing)
            raw = action
        else:
            raw = networks.before_tanh(seen, batch)
            action = torch.tanh(raw)
        # The critic is held fixed: this gradient changes neither the critic's weights nor the representation before it.
        values = networks.values(h.detach(), batch, action)
        value = values[0] if config.algorithm != "sac" else torch.minimum(*values)
        loss = -value.mean()
        if log_p is not None:
            loss = loss + (self.log_temperature.exp().detach() * log_p).mean()
        if config.squash_penalty > 0 and not self._stochastic:
            loss = loss + config.squash_penalty * ((raw**2) * batch.acts[:, :, None]).mean()
        # The critic's gradient for the representation is already clipped; the actor's gradient is added to it.
        by_critic = [weight.grad for weight in self._encoder_weights] if config.rep_grad == "both" else []
        _set_gradients(self._actor_weights, torch.autograd.grad(loss, self._actor_weights))
        norm = _clip(self._actor_weights, config.grad_norm)
        for weight, gradient in zip(self._encoder_weights, by_critic, strict=False):
            if gradient is not None and weight.grad is not None:
                weight.grad.add_(gradient)
        self.actor_optimiser.step()
        if log_p is not None:
            self._update_temperature(log_p.detach(), batch)
        acts = batch.acts[:, :, None].expand_as(action) > 0
        self._note("actor_saturation", float((action.detach().abs() > SATURATED)[acts].float().mean()))
        self._note("actor_loss", float(loss.detach()))
        self._note("actor_grad_norm", norm)

    def _update_temperature(self, log_p: Tensor, batch: Rows) -> None:
        """Haarnoja et al. 2018, equation 18: the target entropy is proportional to the action dimensions."""
        wanted = -self.config.entropy_scale * self.spec.actions * batch.acts.sum(1)
        loss = -(self.log_temperature * (log_p + wanted)).mean()
        self._temperature_optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        self._temperature_optimiser.step()
        self._note("entropy", float(-log_p.mean()))

    # ---------------------------------------------------------------------------------------------------- results

    def metrics(self) -> dict[str, float]:
        """Means since the last call, by metric."""
        means = {name: total / count for name, (total, count) in self._sums.items() if count > 0}
        self._sums.clear()
        return means

    def policy(self) -> PolicyParts:
        """The actor, with the first critic for value estimates."""
        spec, networks, agent = self.spec, self.networks, self._setup.spec
        critic = networks.critics[0]
        assert isinstance(critic, Trunk)
        return PolicyParts(
            document={
                "observation": {"features": [feature.name for feature in agent.features], "history": agent.history},
                "action": {"names": [action.name for action in agent.actions], "choices": []},
                "actor": network_document(spec, networks.actor, squashed=True),
                "critic": network_document(spec, critic, squashed=False),
            },
            tensors={
                **network_tensors("actor", networks.encoder, networks.actor, outputs=spec.outputs),
                **network_tensors("critic", networks.encoder, critic),
            },
        )

    def state(self) -> LearnerState:
        """A copy of the complete state, including replay buffer, noise and random generators."""
        state = LearnerState()
        for name, module in (("networks", self.networks), ("targets", self.targets)):
            state.tensors |= module_tensors(name, module)
        for name, optimiser in self._optimisers().items():
            state.tensors |= optimiser_tensors(name, optimiser)
        state.tensors["log_temperature"] = self.log_temperature.detach().numpy().copy()
        state.tensors["drawing"] = self._drawing.get_state().numpy().copy()
        state.tensors["noise"] = self._noise.values.copy()
        memory, counts = self.replay.state()
        state.tensors |= {f"replay.{name}": column for name, column in memory.items()}
        state.tensors |= {f"open.{name}": column for name, column in self._stitcher.state().items()}
        state.values = {
            "algorithm": self.config.algorithm,
            "replay": counts,
            "sampling": self._sampling.bit_generator.state,
            "noise": self._noise_rng.bit_generator.state,
            "due": self._due,
            "updates": self._updates,
            "progress": self._progress,
        }
        return state

    def load_state(self, state: LearnerState) -> None:
        """Replaces the state by a result of `state()`; raises `CheckpointError` if algorithm or networks differ."""
        if state.values.get("algorithm") != self.config.algorithm:
            raise CheckpointError(f"it is of {state.values.get('algorithm')!r}, not {self.config.algorithm!r}")
        for name, module in (("networks", self.networks), ("targets", self.targets)):
            load_module(name, module, state.tensors)
        for name, optimiser in self._optimisers().items():
            load_optimiser(name, optimiser, state.tensors)
        with torch.no_grad():
            self.log_temperature.copy_(torch.from_numpy(state.tensors["log_temperature"]))
        self._drawing.set_state(torch.from_numpy(state.tensors["drawing"]))
        self._noise.values = state.tensors["noise"].copy()
        self.replay = self._make_replay()
        self.replay.load(tensors_under("replay", state.tensors), state.values["replay"])
        self._stitcher.load(tensors_under("open", state.tensors))
        self._sampling.bit_generator.state = state.values["sampling"]
        self._noise_rng.bit_generator.state = state.values["noise"]
        self._due = float(state.values["due"])
        self._updates = int(state.values["updates"])
        self._progress = float(state.values["progress"])

    def _optimisers(self) -> dict[str, torch.optim.Optimizer]:
        return {
            "actor_optimiser": self.actor_optimiser,
            "critic_optimiser": self.critic_optimiser,
            "temperature_optimiser": self._temperature_optimiser,
        }

    def _make_replay(self) -> Replay:
        config = self.config
        if not config.prioritised:
            return Replay(config.replay, FILLERS)
        return PrioritisedReplay(
            config.replay,
            alpha=config.priority_alpha,
            epsilon=config.priority_epsilon,
            fillers=FILLERS,
            delete_after_sampling=config.delete_after_sampling,
        )

    def _note(self, metric: str, total: float, count: int = 1) -> None:
        sums = self._sums[metric]
        sums[0] += total
        sums[1] += count


def _set_gradients(weights: list[nn.Parameter], gradients: Sequence[Tensor]) -> None:
    for weight, gradient in zip(weights, gradients, strict=True):
        weight.grad = gradient


def _clip(weights: list[nn.Parameter], bound: float) -> float:
    """Clips the gradients to the norm `bound` (0: no clipping); returns their norm before clipping."""
    if bound > 0:
        return float(nn.utils.clip_grad_norm_(weights, bound))
    return float(nn.utils.get_total_norm([weight.grad for weight in weights if weight.grad is not None]))
