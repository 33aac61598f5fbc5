"""The compiled core for installers, optimised with a profile of the bench's workloads.

As a program it makes the training run: ``python guided_core.py CORE`` loads this core instead of the installed one,
runs the workloads and prints their signatures as JSON.
"""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

Run = Callable[[str, str, Sequence[str | Path]], None]
"""Runs a program: description of the step, name of its log, command line."""

_ENVIRONMENT_STEPS = 2000
_MESH_SIDE = 6


def build(folder: Path, run: Run) -> Path | None:
    """Builds the core, trains it and builds it again; without support for profiles, prints this and returns None.

    Args:
        folder: build folder.
        run: runs a step.
    """
    configure: list[str | Path] = ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    configure += [f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={_nanobind()}"]
    make = ["cmake", "--build", str(folder), "--target", "_core"]
    run("Asking the compiler", "core-configure", [*configure, "-DSUBFLOW_PROFILE="])
    compiler = _compiler(folder)
    if compiler is None:
        print("The core is built without a profile: only gcc and clang with llvm-profdata support profiles")
        return None
    # Profiles of an earlier build belong to other sources.
    for old in folder.rglob("*.gcda"):
        old.unlink()
    shutil.rmtree(folder / "profiles", ignore_errors=True)
    run("Building a core that records profiles", "core-record", [*configure, "-DSUBFLOW_PROFILE=record"])
    run("Compiling it", "core-record-build", make)
    core = _core_in(folder)
    run("Training it with the workloads of the bench", "core-training", [sys.executable, Path(__file__), core])
    if compiler != "gcc":
        profiles = sorted((folder / "profiles").glob("*.profraw"))
        run("Merging profiles", "core-merge", [compiler, "merge", "-o", folder / "core.profdata", *profiles])
    run("Building the core by its profile", "core-use", [*configure, "-DSUBFLOW_PROFILE=use"])
    run("Compiling it", "core-use-build", make)
    return core


def signatures_of(core: Path) -> dict[str, str]:
    """Signatures of the training run with a core, by workload; runs in another process."""
    told = subprocess.run(
        [sys.executable, Path(__file__), core], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    signatures: dict[str, str] = json.loads(told)
    return signatures


def train() -> dict[str, str]:
    """Runs the workloads of the bench, a mesh and environments; returns their signatures, if defined."""
    import numpy as np

    from subflow_sim.bench import WORKLOADS
    from subflow_sim.bench_scale import DRL_CC_ENVIRONMENT, mesh_text
    from subflow_sim.scenario import parse_scenario
    from subflow_sim.simulation import Simulation
    from subflow_sim.vec_env import VecEnv, with_learner

    scenarios = {name: workload.scenario() for name, workload in WORKLOADS.items()}
    scenarios["mesh"] = parse_scenario(mesh_text(_MESH_SIDE, 2 * _MESH_SIDE), file="<training>")
    signatures = {}
    for name, scenario in scenarios.items():
        simulation = Simulation(scenario)
        simulation.run_until(min(simulation.duration_s, 20.0))
        signatures[name] = simulation.signature()
    learning = with_learner(parse_scenario(DRL_CC_ENVIRONMENT, file="<training>"), "drl-cc")
    env = VecEnv(lambda _env, _episode: learning, "drl-cc", 1, threads=0)
    env.reset()
    for _ in range(_ENVIRONMENT_STEPS):
        env.step(np.zeros((1, env.slots, env.info.action_width), np.float32))
    return signatures


def use_core(core: Path) -> None:
    """Makes this process import the given core instead of the installed one."""
    spec = importlib.util.spec_from_file_location("subflow_sim._core", core)
    if spec is None or spec.loader is None:
        raise FileNotFoundError(core)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)


def _nanobind() -> str:
    words = [sys.executable, "-m", "nanobind", "--cmake_dir"]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


def _core_in(folder: Path) -> Path:
    return next(path for path in folder.glob("_core.*") if path.suffix in (".so", ".pyd"))


def _compiler(folder: Path) -> str | None:
    """The value "gcc", or for clang the program that merges profiles; None without support for profiles."""
    text = "".join(path.read_text(encoding="utf-8") for path in folder.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    if 'CMAKE_CXX_COMPILER_ID "GNU"' in text:
        return "gcc"
    if 'CMAKE_CXX_COMPILER_ID "Clang"' not in text:
        return None
    compiler = next(line.split('"')[1] for line in text.splitlines() if line.startswith("set(CMAKE_CXX_COMPILER "))
    beside = Path(os.path.realpath(compiler)).parent / "llvm-profdata"
    return str(beside) if beside.exists() else shutil.which("llvm-profdata")


if __name__ == "__main__":
    use_core(Path(sys.argv[1]))
    sys.stdout.write(json.dumps(train(), indent=2) + "\n")
