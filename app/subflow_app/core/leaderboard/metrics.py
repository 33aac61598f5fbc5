"""What the leaderboard measures, and how a value becomes a score between 0 and 1.

In each contest a value is set against the best one of that contest, b:

    more is better      score = v / b
    less is better      score = (b + f) / (v + f)

f is a value below which differences do not count, so that a loss of 0.01 % is not a hundred times better than one of
1 %, where nobody would notice either. The friendliness is capped at 1 first: who leaves the others more than their
fair share does not do them a better turn. The score of a metric is the mean over the contests that tell it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from subflow_app.core.errors import InputError
from subflow_app.core.language import translatable
from subflow_app.core.metrics import METRICS, Metric


@dataclass(frozen=True, slots=True)
class BoardMetric(Metric):
    """A column of the leaderboard.

    Attributes:
        id: by which options name it.
        help: what it is, in a sentence or two.
        floor: below which differences do not count, SI; 0: none.
        cap: above which more is no better, SI.
    """

    id: str = ""
    help: str = ""
    floor: float = 0.0
    cap: float = math.inf

    def scores(self, values: Mapping[str, float]) -> dict[str, float]:
        """Scores in one contest, 0 to 1.

        Args:
            values: means by competitor, SI; those that are not finite have no score.
        """
        known = {name: min(value, self.cap) for name, value in values.items() if math.isfinite(value)}
        if not known:
            return {}
        if self.better > 0:
            best = max(known.values())
            return {name: value / best if best > 0 else 1.0 for name, value in known.items()}
        best = min(known.values()) + self.floor
        return {name: best / (value + self.floor) if value + self.floor > 0 else 1.0 for name, value in known.items()}


def _column(name: str, key: str, help_text: str, *, floor: float = 0.0, cap: float = math.inf) -> BoardMetric:
    return BoardMetric(**asdict(METRICS[key]), id=name, help=help_text, floor=floor, cap=cap)


BOARD_METRICS: Mapping[str, BoardMetric] = {
    metric.id: metric
    for metric in (
        _column(
            "goodput",
            "goodput_bps",
            translatable(
                "Payload that arrived in order, of all competing flows together; of documents, size over time."
            ),
        ),
        _column("rtt", "mean_rtt_s", translatable("Mean round-trip time of the competing flows.")),
        _column(
            "loss",
            "loss_ratio",
            translatable("Lost packets over sent ones. Differences below 0.1 % do not count."),
            floor=1e-3,
        ),
        _column(
            "jain",
            "jain",
            translatable("Fairness of the goodputs of all flows of the contest, where it has several."),
            cap=1.0,
        ),
        _column(
            "friendliness",
            "friendliness",
            translatable(
                "Goodput of the NewReno flows beside it over their max-min fair share of this network. 1 is fair; in "
                "the score, more than 1 is no better."
            ),
            cap=1.0,
        ),
        _column(
            "convergence",
            "convergence_s",
            translatable(
                "Time after a step until the rates of the subflows come near to their later mean; of those that never "
                "do, the time that they had. Differences below 1 s do not count."
            ),
            floor=1.0,
        ),
        _column(
            "cpu",
            "cpu",
            translatable(
                "CPU time of a whole simulation per simulated second, over that with NewReno in the same minute on "
                "this machine."
            ),
        ),
    )
}
"""By id, in the order of the columns."""


def default_weights() -> dict[str, float]:
    """All metrics weigh the same."""
    return dict.fromkeys(BOARD_METRICS, 1.0)


def read_weights(text: str) -> dict[str, float]:
    """Weights from a text such as "goodput=2,rtt=1"; metrics that it does not name weigh nothing.

    Raises:
        InputError: if a metric does not exist, a weight is no number from 0 on, or all are 0.
    """
    weights = dict.fromkeys(BOARD_METRICS, 0.0)
    for part in text.split(","):
        name, sign, number = (piece.strip() for piece in part.partition("="))
        if name not in BOARD_METRICS:
            raise InputError(f'"{part.strip()}": there is no metric "{name}"; allowed are {", ".join(BOARD_METRICS)}')
        try:
            weight = float(number) if sign else 1.0
        except ValueError:
            weight = math.nan
        if not (math.isfinite(weight) and weight >= 0):
            raise InputError(f'"{part.strip()}": the weight must be a number from 0 on, e.g. {name}=2')
        weights[name] = weight
    if not any(weights.values()):
        raise InputError(f'"{text}": all weights are 0; one metric at least must count')
    return weights


def weights_text(weights: Mapping[str, float], names: Sequence[str] = tuple(BOARD_METRICS)) -> str:
    """What counts how much, e.g. "goodput 2, rtt 1"."""
    return ", ".join(f"{name} {weights[name]:g}" for name in names if weights.get(name, 0.0) > 0)
