"""Whether this PyTorch is whole: what a first training needs, and what PyTorch itself imports by name much later."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable

import torch
from torch import Tensor, nn

from subflow_agents.errors import AgentError

_STEPS = 20


def check_torch() -> str:
    """Tries every part that learners use, and those that a frozen program is known to lose.

    Returns:
        What was tried, in a few words.

    Raises:
        AgentError: if training does not train; whatever PyTorch raises passes through.
    """
    torch.set_num_threads(1)
    torch.manual_seed(1)
    parts: tuple[tuple[str, Callable[[], None]], ...] = (
        ("LSTM", _recurrent_net_learns),
        ("optimizers", _optimizers_step),
        ("func", _function_transforms),
        ("checkpoint", _checkpoints),
        ("jit", _compiles),
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


def _function_transforms() -> None:
    def square(vector: Tensor) -> Tensor:
        return (vector**2).sum()

    points = torch.randn(3, 2)
    if not torch.allclose(torch.func.vmap(torch.func.grad(square))(points), 2 * points):
        raise AgentError("torch.func differentiates x² to something else than 2 x")


def _checkpoints() -> None:
    from torch.utils.checkpoint import checkpoint

    layer, inputs = nn.Linear(3, 3), torch.randn(4, 3, requires_grad=True)
    for is_reentrant in (False, True):
        checkpoint(layer, inputs, use_reentrant=is_reentrant).sum().backward()


def _compiles() -> None:
    layer, inputs = nn.Linear(3, 3), torch.randn(4, 3)
    kept = io.BytesIO()
    with warnings.catch_warnings():
        # It is deprecated, and still the quickest way to what a frozen program loses: sources, and imports by name.
        warnings.simplefilter("ignore", DeprecationWarning)
        torch.jit.save(torch.jit.trace(layer, inputs), kept)  # type: ignore[no-untyped-call]
        kept.seek(0)
        made = (torch.jit.script(layer), torch.jit.load(kept))  # type: ignore[no-untyped-call]
    if not all(torch.allclose(compiled(inputs), layer(inputs)) for compiled in made):
        raise AgentError("torch.jit makes something else of a layer")


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
