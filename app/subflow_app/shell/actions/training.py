"""Training agents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from subflow_app.toolkit.action_bar import COMPLETE, NOT_RUNNING, VALID, ActionSpec, Scope, possible
from subflow_app.vocabulary.language import translatable

if TYPE_CHECKING:
    from subflow_app.shell.main_window import MainWindow


def rows() -> Iterator[ActionSpec[MainWindow]]:
    """The Train menu."""
    yield ActionSpec(
        "train.start",
        "&Start training",
        "Train an agent with the settings of the Train page; several trainings can run at once",
        "train",
        ("F9",),
        lambda w, _: w.training_session.start(),
        (possible("train.start", translatable("open the Train page first: its form defines the training")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.toggle",
        "&Pause",
        "Pause the selected trainings, resume them, or continue interrupted ones from their last checkpoint",
        "pause",
        ("Shift+F9",),
        lambda w, _: w.training_session.content.toggle(),
        (
            possible(
                "train.toggle", translatable("select a training on the Train page that can be paused or continued")
            ),
        ),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.stop",
        "S&top",
        "End the selected trainings with a checkpoint, from which they can be continued",
        "stop",
        ("Ctrl+F9",),
        lambda w, _: w.training_session.content.command("stop"),
        (possible("train.stop", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.checkpoint",
        "Write &checkpoint",
        "Write checkpoints of the selected trainings now",
        "checkpoint",
        ("Ctrl+Shift+K",),
        lambda w, _: w.training_session.content.command("checkpoint"),
        (possible("train.checkpoint", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.evaluate",
        "&Evaluate now",
        "Compare the selected trainings with the classic controllers on held-out seeds now",
        "evaluate",
        ("F8",),
        lambda w, _: w.training_session.content.command("evaluate"),
        (possible("train.evaluate", translatable("no selected training is running")),),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.race",
        "&Race",
        "Run the scenario in the window with the policy of the selected training and with another controller",
        "race",
        ("Shift+F8",),
        lambda w, _: w.training_session.race(),
        (
            possible("train.race", translatable("select one training on the Train page that has a policy")),
            COMPLETE,
            VALID,
            NOT_RUNNING,
        ),
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.promote",
        "Promote to &library…",
        "Put the best policy of the selected training into your library, where every scenario can name it",
        "promote",
        ("Ctrl+Alt+P",),
        lambda w, _: w.training_session.promote(),
        (possible("train.promote", translatable("select one training on the Train page that has a policy")),),
        Scope.TRAINING,
    )
