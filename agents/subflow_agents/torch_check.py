"""Checks the PyTorch installation with small computations, including those that learners need."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

from subflow_agents.eager import without_compiler
from subflow_agents.errors import AgentError

_STEPS = 20


def check_torch() -> str:
    """Tests LSTM, optimizers, linear algebra and distributions of PyTorch.

    Returns:
        A short description of the tested parts.

    Raises:
        AgentError: if a test training does not reduce its loss; errors of PyTorch are passed through.
    """
    without_compiler()
    torch.set_num_threads(1)
    torch.manual_seed(1)
    parts: tuple[tuple[str, Callable[[], None]], ...] = (
        ("LSTM", _recurrent_net_learns),
        ("optimizers", _optimizers_step),
        ("linalg", _linear_algebra),
        ("distributions", _distributions),
    )
    for _, trying in parts:
        trying()
    return f"torch {torch.__version__}: {', '.join(name for name, _ in parts)}"


def _recurrent_net_learns() -> None:
    net, head = nn.LSTM(4, 16, batch_first=True), nn.Linear(16, 1)
    inputs = torch.randn(32, 10, 4)
    target = inputs.mean((1, 2)).unsqueeze(1)
    optimizer = torch.optim.Adam([*net.parameters(), *head.parameters()], 1e-2)
    losses = []
    for _ in range(_STEPS):
        loss = nn.functional.mse_loss(head(net(inputs)[0][:, -1]), target)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(loss.item())
    if not losses[-1] < losses[0]:
        raise AgentError(f"{_STEPS} steps on an LSTM took its loss from {losses[0]:g} to {losses[-1]:g}, not down")


def _optimizers_step() -> None:
    inputs = torch.randn(8, 3)
    for kind in (torch.optim.SGD, torch.optim.RMSprop, torch.optim.AdamW):
        layer = nn.Linear(3, 1)
        optimizer = kind(layer.parameters(), lr=1e-3)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
        layer(inputs).sum().backward()
        nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        optimizer.step()
        schedule.step()


def _linear_algebra() -> None:
    matrix = torch.randn(6, 6, dtype=torch.float64)
    positive = matrix @ matrix.T + 6 * torch.eye(6, dtype=torch.float64)
    torch.linalg.eigh(positive)
    torch.linalg.svd(matrix)
    if not torch.allclose(torch.linalg.solve(positive, positive), torch.eye(6, dtype=torch.float64), atol=1e-9):
        raise AgentError("torch.linalg solves A X = A to something else than 1")


def _distributions() -> None:
    normal = torch.distributions.Normal(0.0, 1.0)
    normal.log_prob(normal.rsample((3,))).sum()  # type: ignore[no-untyped-call]
    torch.distributions.Categorical(logits=torch.zeros(3)).sample()  # type: ignore[no-untyped-call]
