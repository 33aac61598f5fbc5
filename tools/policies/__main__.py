"""Train the shipped policies with several seeds, choose among the seeds, and measure single changes.

    python -m tools.policies train NAME ... [--seeds 1-5] [--jobs 2]      each recipe with each seed
    python -m tools.policies table [NAME ...] [--markdown]                the results of all seeds
    python -m tools.policies ship NAME ... [--seeds 1-5]                  write assets/agents/NAME.safetensors
    python -m tools.policies ablate NAME ... [--seeds 1-3] [--jobs 2]     each recipe with one change at a time
    python -m tools.policies table --ablations [NAME ...] [--markdown]    mean and range beside the unchanged recipe

The rule of choice is fixed before the trainings, and has no exception: the seed with the highest score in validation
ships. The score is that of the recipe's own [evaluation], whose seeds no training uses. Among equal scores, the
smallest seed ships. The card of the policy lists the scores of all seeds.

A training is written to FOLDER/NAME/seed-N, and an ablation to FOLDER/ablations/NAME/CHANGE/seed-N. Finished trainings
are not repeated, and interrupted ones continue bit for bit. Ctrl-C stops with a checkpoint; a second one stops at once.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from tools.policies.ablations import AS_PRINTED, Ablation, load_ablations
from tools.policies.seeds import ABLATIONS, read_seeds, train, wanted
from tools.policies.tables import ablations_table, markdown, seeds_table

from subflow_agents import AgentError
from subflow_app.features.training.core.kept_trainings import WantedTraining
from subflow_app.features.training.core.promotion import best_of, renamed
from subflow_app.features.training.core.training_folder import BEST_POLICY
from subflow_app.features.training.core.training_setup import load_recipe, parse_seeds, recipe_names
from subflow_app.features.training.core.training_worker import TRAINER
from subflow_app.foundation.errors import AppError, InputError
from subflow_app.terminal.failures import stopped_by
from subflow_app.terminal.terminal import print_tables
from subflow_sim.errors import SimError
from subflow_sim.policy_library import SUFFIX, read_policy_file
from subflow_sim.whole_file import write_whole

ROOT = Path(__file__).resolve().parents[2]
AGENTS = ROOT / "assets" / "agents"


def train_recipes(names: Sequence[str], seeds: Sequence[int], folder: Path, jobs: int, trainer: str = TRAINER) -> int:
    """Train each recipe with each seed; returns the exit code."""
    trainings = [each for name in names for each in wanted(load_recipe(name), seeds, folder / name)]
    return _carry_out(trainings, jobs, trainer)


def ablate(names: Sequence[str], seeds: Sequence[int], folder: Path, jobs: int, trainer: str = TRAINER) -> int:
    """Train each recipe and each of its ablations with each seed; returns the exit code.

    Raises:
        InputError: if no ablation of one of them is listed.
    """
    trainings: list[WantedTraining] = []
    for name in names:
        changes = ablations_of(name)
        if changes[0].name != AS_PRINTED:
            trainings += wanted(load_recipe(name), seeds, folder / name)
        for each in changes:
            at = folder / ABLATIONS / name / each.name
            trainings += wanted(each.recipe, seeds, at, label=f"{name} with {each.name}")
    return _carry_out(trainings, jobs, trainer)


def ablations_of(name: str) -> list[Ablation]:
    """The ablations of a recipe, after the unchanged recipe if their budget is not the recipe's own.

    Raises:
        InputError: if no ablation of this recipe is listed.
    """
    listed = load_ablations()
    found = [each for each in listed if each.base == name]
    if not found:
        known = ", ".join(sorted({each.base for each in listed}))
        raise InputError(f"{name}: no ablations of this recipe are listed; allowed: {known}")
    return found


def _carry_out(trainings: Sequence[WantedTraining], jobs: int, trainer: str) -> int:
    made, signal_number = train(trainings, jobs=jobs, say=_say, trainer=trainer)
    if signal_number:
        _say("stopped; the same command continues")
        return stopped_by(signal_number)
    return 1 if any(each.problem for each in made) else 0


def ship(names: Sequence[str], seeds: Sequence[int], folder: Path, target: Path = AGENTS) -> None:
    """Write the policy of each recipe that the rule chooses.

    Raises:
        InputError: if a training with one of the seeds is missing or unfinished, or has no evaluation.
        PolicyError: if a policy is damaged.
    """
    for name in names:
        trained = {each.seed: each for each in read_seeds(folder / name, load_recipe(name).name)}
        missing = [seed for seed in seeds if seed not in trained or not trained[seed].is_finished]
        if missing:
            listed = ", ".join(map(str, missing))
            raise InputError(f"{name}: the training with seed {listed} is not finished in {folder / name}")
        policies = [trained[seed].folder / BEST_POLICY for seed in seeds]
        best, told = best_of(policies)
        content = renamed(read_policy_file(best), name, {"recipe": name, **told})
        path = target / f"{name}{SUFFIX}"
        write_whole(path, content)
        chosen = next(each for each in trained.values() if each.folder == best.parent)
        _say(f"wrote {path}: seed {chosen.seed} of {len(seeds)}, score {chosen.score:.3f}")


def _show(names: Sequence[str], folder: Path, *, is_markdown: bool, shows_ablations: bool) -> None:
    tables = []
    if shows_ablations:
        for name in names or dict.fromkeys(each.base for each in load_ablations()):
            listed = ablations_of(name)
            at = folder / ABLATIONS / name
            changed = {each.name: read_seeds(at / each.name, name, each.name) for each in listed}
            used = {trained.seed for seeds in changed.values() for trained in seeds}
            printed = [each for each in read_seeds(folder / name, name) if each.seed in used]
            tables.append(ablations_table(name, changed.pop(AS_PRINTED, printed), changed, listed))
    else:
        known = [name for name in recipe_names() if not names or name in names]
        tables.append(seeds_table([each for name in known for each in read_seeds(folder / name, name)]))
    if not is_markdown:
        print_tables(*tables)
        return
    for table in tables:
        sys.stdout.write(f"{table.title}\n\n{markdown(table)}\n")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _parser() -> argparse.ArgumentParser:
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("python -m tools.policies", description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(dest="command", required=True)
    for command, text in (
        ("train", "train recipes with several seeds"),
        ("ablate", "train recipes with one change at a time"),
        ("ship", "write the policies that the rule chooses"),
        ("table", "show the results"),
    ):
        added = commands.add_parser(command, help=text)
        names = "*" if command == "table" else "+"
        added.add_argument("names", nargs=names, metavar="NAME", help="shipped recipe")
        added.add_argument("--folder", type=Path, default=ROOT / "build" / "policies", metavar="DIR")
        if command != "table":
            added.add_argument("--seeds", default="1-3" if command == "ablate" else "1-5", metavar="A-B")
        if command in ("train", "ablate"):
            added.add_argument("--jobs", type=int, default=2, metavar="N", help="simultaneous trainings")
        if command == "table":
            added.add_argument("--markdown", action="store_true", help="for the guide")
            added.add_argument("--ablations", action="store_true", help="mean and range over the seeds")
    return parser


def main(words: list[str] | None = None, *, trainer: str = TRAINER) -> int:
    """Carries out a command; returns the exit code: 1 after a failed training, 2 for bad input, 130 after Ctrl-C."""
    options = _parser().parse_args(words)
    try:
        unknown = [name for name in options.names if name not in recipe_names()]
        if unknown:
            raise InputError(f"{unknown[0]}: no shipped recipe of that name; allowed: {', '.join(recipe_names())}")
        if options.command == "table":
            _show(options.names, options.folder, is_markdown=options.markdown, shows_ablations=options.ablations)
            return 0
        seeds = parse_seeds(options.seeds)
        if options.command == "ship":
            ship(options.names, seeds, options.folder)
            return 0
        carry_out = train_recipes if options.command == "train" else ablate
        return carry_out(options.names, seeds, options.folder, options.jobs, trainer)
    except (AppError, AgentError, SimError, OSError) as error:
        sys.stderr.write(f"error: {error}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
