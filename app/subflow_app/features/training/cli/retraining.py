"""``subflow reproduce --retrain``: the policies of experiments trained anew before these run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from subflow_app.foundation.errors import TrainingError
from subflow_app.terminal.terminal import print_error, print_note

if TYPE_CHECKING:
    from subflow_app.features.gallery.core.recipe import Recipe
    from subflow_app.features.gallery.core.retraining import Retraining
    from subflow_store import Store


def retrain(
    recipes: Sequence[Recipe], store: Store, *, is_quick: bool, steps: int | None
) -> tuple[Retraining, Sequence[Recipe], int]:
    """Train what the experiments use, with a progress bar.

    Args:
        recipes: of the experiments.
        store: gets the trainings.
        is_quick: whether the experiments take their quick form.
        steps: budget of each training; None: that of its recipe.

    Returns:
        The trainings, the experiments with the new policies, and the number of the signal that ended it; 0: none did.

    Raises:
        TrainingError: if training is not possible here, or does not come to its end.
    """
    from subflow_app.features.gallery.core.retraining import Retraining
    from subflow_app.features.training.core.training_service import default_limit
    from subflow_app.terminal.progress import in_background, progress_text

    settings = {} if steps is None else {"steps": steps}
    training = Retraining(recipes, store, is_quick=is_quick, settings=settings, jobs=default_limit())
    if training.without_recipe:
        print_note(f"no recipe makes {', '.join(training.without_recipe)}: used as they are")
    if not training.names:
        print_note("none of these experiments uses a policy that could be trained anew")
        return training, recipes, 0
    print_note(f"training anew: {', '.join(training.names)}")
    outcome, signal_number = in_background(
        training, "train", lambda: progress_text(training.progress).replace(" runs", " trainings", 1)
    )
    outcome.check()
    if signal_number:
        print_note("stopped while training; the same command continues from the last checkpoints")
        return training, recipes, signal_number
    if training.problems:
        for problem in training.problems:
            print_error(problem)
        raise TrainingError("not all policies could be retrained; the same command tries again")
    return training, [training.changed(recipe) for recipe in recipes], 0
