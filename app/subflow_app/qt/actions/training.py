"""Training agents."""

from __future__ import annotations

from collections.abc import Iterator

from subflow_app.qt.action_spec import ActionSpec, Scope


def rows() -> Iterator[ActionSpec]:
    """The Train menu."""
    yield ActionSpec(
        "train.start",
        "&Start training",
        "Train an agent as the form of the Train page says; several trainings can go on at once",
        "train",
        ("F9",),
        lambda w, _: w.training_session.start(),
        lambda s: s.can_train,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.toggle",
        "&Pause",
        "Pause the selected trainings, resume them, or continue those that were interrupted from their last checkpoint",
        "pause",
        ("Shift+F9",),
        lambda w, _: w.training_session.page.toggle(),
        lambda s: "toggle" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.stop",
        "S&top",
        "End the selected trainings with a checkpoint, from which they can be continued",
        "stop",
        ("Ctrl+F9",),
        lambda w, _: w.training_session.page.stop(),
        lambda s: "stop" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.checkpoint",
        "Write &checkpoint",
        "Write checkpoints of the selected trainings now",
        "checkpoint",
        ("Ctrl+Shift+K",),
        lambda w, _: w.training_session.page.checkpoint(),
        lambda s: "checkpoint" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.evaluate",
        "&Evaluate now",
        "Compare the selected trainings with the classic controllers on held-out seeds now",
        "evaluate",
        ("F8",),
        lambda w, _: w.training_session.page.evaluate(),
        lambda s: "evaluate" in s.training,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.race",
        "&Race",
        "Run the scenario in the window with the policy of the selected training and with a classic controller",
        "race",
        ("Shift+F8",),
        lambda w, _: w.training_session.race(),
        lambda s: "race" in s.training and s.is_valid and not s.is_running,
        Scope.TRAINING,
    )
    yield ActionSpec(
        "train.promote",
        "Promote to &library…",
        "Put the best policy of the selected training into your library, where every scenario can name it",
        "promote",
        ("Ctrl+Alt+P",),
        lambda w, _: w.training_session.promote(),
        lambda s: "promote" in s.training,
        Scope.TRAINING,
    )
