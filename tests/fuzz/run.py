"""Feeds damaged input to every entry point, and to the core: `python3 dev.py fuzz [NAME ...] --minutes N`.

Without a name, all names share the time; `--inputs N` tries N inputs of each without a time limit unless `--minutes`
sets one. A name fails the run if an input breaks the promise, if no input could be made, or if its reader accepted none
or refused none, because then no input reached the reader. A failing input is minimised and written to
tests/fuzz/corpus/NAME, which `dev.py test` tries from then on. libFuzzer fuzzes the core, whose inputs are networks,
and writes its findings to build/fuzz.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import math
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any

import dev
from tests.fuzz.entry_points import ENTRY_POINTS, EntryPoint, corpus
from tests.fuzz.trial import Child, Outcome

CORE = "core"
FOLDER = dev.BUILD / "fuzz"

_AT_ONCE = 100
_MOST_TRIES = 300
_MOST_SKIPPED = 100
_MOST_MUTATING_S = 2.0
_ENOUGH = 200
_MOST_MINIMISING_S = 60.0


@dataclass(slots=True)
class Tally:
    """Results of the inputs of an entry point.

    Attributes:
        name: name of the entry point.
        inputs: number of inputs tried.
        read: number of inputs that the reader accepted.
        told: number of inputs that it refused.
        skipped: mutations that raised an exception.
        seconds: total processor time.
        slowest_s: processor time of the slowest input.
        most_bytes: peak memory.
        failures: the stored input by kind of failure.
    """

    name: str
    inputs: int = 0
    read: int = 0
    told: int = 0
    skipped: int = 0
    seconds: float = 0.0
    slowest_s: float = 0.0
    most_bytes: float = 0.0
    failures: dict[str, Path] = field(default_factory=dict)

    def add(self, outcome: Outcome) -> None:
        """Counts one outcome."""
        self.inputs += 1
        self.told += outcome.is_told
        self.read += not outcome.is_told and not outcome.failure
        self.seconds += outcome.seconds
        self.slowest_s = max(self.slowest_s, outcome.seconds)
        self.most_bytes = max(self.most_bytes, outcome.most_bytes)

    @property
    def missed(self) -> str:
        """Reason why these inputs did not test the reader; empty if they did."""
        if not self.inputs:
            return "no input was tried"
        if not self.read:
            return "the reader took none"
        return "the reader refused none" if not self.told and self.inputs >= _ENOUGH else ""


def main() -> int:
    """Fuzzes for some time; returns 1 after a failure."""
    parser = argparse.ArgumentParser("dev.py fuzz", description=__doc__)
    known = (*ENTRY_POINTS, CORE)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"left out: all; {', '.join(known)}")
    parser.add_argument(
        "--minutes", type=float, help="how long, all together; left out: 5, or until --inputs are tried"
    )
    parser.add_argument("--inputs", type=int, help="at most so many of each name")
    parser.add_argument("--seed", type=int, help="of the inputs; left out: another one each time")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in known]
    if unknown:
        parser.error(f"unknown name {unknown[0]}; allowed: {', '.join(known)}")
    names = options.names or list(known)
    if options.inputs is not None and options.inputs < 1:
        parser.error(f"--inputs {options.inputs}: must be 1 or more")
    minutes = options.minutes or (5.0 if options.inputs is None else math.inf)
    share_s = 60 * minutes / len(names)
    seed = options.seed if options.seed is not None else random.SystemRandom().randrange(2**32)
    dev.say(f"seed {seed}")
    code = 0
    tallies = []
    for name in names:
        if name == CORE:
            code |= fuzz_core(share_s, options.inputs)
        else:
            tallies.append(fuzz(ENTRY_POINTS[name], share_s, options.inputs, seed))
            dev.say(_row(tallies[-1]))
    dev.say(table(tallies))
    missed = [f"{tally.name}: {tally.missed}" for tally in tallies if tally.missed]
    if missed:
        dev.say("\n".join(missed))
    return code or int(bool(missed) or any(tally.failures for tally in tallies))


def fuzz(point: EntryPoint, most_s: float, most_inputs: int | None, seed: int) -> Tally:
    """Tries inputs of one entry point; each kind of failure adds one input to the corpus."""
    examples = list(point.examples())
    kept = [path.read_bytes() for path in sorted(corpus(point.name).glob("*"))]
    tally = Tally(point.name)
    ends_s = time.monotonic() + most_s
    made = inputs(point, examples, kept, seed, tally)
    with Child() as child:
        while time.monotonic() < ends_s and (most_inputs is None or tally.inputs < most_inputs):
            left = _AT_ONCE if most_inputs is None else min(_AT_ONCE, most_inputs - tally.inputs)
            contents = list(itertools.islice(made, left))
            if not contents:
                break
            failed: dict[str, tuple[bytes, Outcome]] = {}
            for content, outcome in zip(contents, child.try_inputs(point, contents), strict=True):
                tally.add(outcome)
                if outcome.failure and outcome.failure not in tally.failures:
                    failed.setdefault(outcome.failure, (content, outcome))
            for failure, (content, outcome) in failed.items():
                tally.failures[failure] = keep(point, minimised(child, point, content, failure))
                dev.say(f"{point.name}: {failure}\n{outcome.details}")
    return tally


def inputs(
    point: EntryPoint, examples: Sequence[bytes], kept: Sequence[bytes], seed: int, tally: Tally
) -> Iterator[bytes]:
    """Valid inputs first, then changed ones, sometimes made from an input that failed before.

    A mutation that raises an exception or takes too long is skipped and counted. The inputs end if all mutations are
    skipped.
    """
    yield from examples
    number = since = 0
    while since < _MOST_SKIPPED:
        rng = random.Random(f"{seed} {point.name} {number}")
        number += 1
        chosen = rng.choice(kept) if kept and rng.random() < 0.05 else rng.choice(examples)
        try:
            with _time_limit():
                content = point.mutate(rng, chosen, examples)
        except Exception:
            tally.skipped += 1
            since += 1
            continue
        since = 0
        yield content


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raises `TimeoutError` once the mutation inside has taken too much processor time."""

    def end(_number: int, _frame: FrameType | None) -> None:
        raise TimeoutError("a mutation takes too long")

    before = signal.signal(signal.SIGVTALRM, end)
    signal.setitimer(signal.ITIMER_VIRTUAL, _MOST_MUTATING_S)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def minimised(child: Child, point: EntryPoint, content: bytes, failure: str) -> bytes:
    """The input without all parts that the failure does not need."""
    ends_s, tries = time.monotonic() + _MOST_MINIMISING_S, 0
    length = max(1, len(content) // 2)
    while length and tries < _MOST_TRIES and time.monotonic() < ends_s:
        at = 0
        while at < len(content) and tries < _MOST_TRIES and time.monotonic() < ends_s:
            shorter = content[:at] + content[at + length :]
            tries += 1
            if child.try_input(point, shorter).failure == failure:
                content = shorter
            else:
                at += length
        length //= 2
    return content


def keep(point: EntryPoint, content: bytes) -> Path:
    """Writes an input to the corpus."""
    folder = corpus(point.name)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / hashlib.sha256(content).hexdigest()[:12]
    path.write_bytes(content)
    return path


def table(tallies: Sequence[Tally]) -> str:
    """Table of the tallies, for people."""
    head = f"{'entry point':16} {'inputs':>8} {'read':>8} {'refused':>8} {'skipped':>8} {'failures':>8}"
    head += f" {'s':>8} {'slowest s':>10} {'most MB':>8}"
    whole = Tally("all")
    for tally in tallies:
        for name in ("inputs", "read", "told", "skipped", "seconds"):
            setattr(whole, name, getattr(whole, name) + getattr(tally, name))
        whole.slowest_s = max(whole.slowest_s, tally.slowest_s)
        whole.most_bytes = max(whole.most_bytes, tally.most_bytes)
        whole.failures.update({f"{tally.name}: {failure}": path for failure, path in tally.failures.items()})
    return "\n".join([head, *map(_row, tallies), _row(whole)])


def _row(tally: Tally) -> str:
    return (
        f"{tally.name:16} {tally.inputs:8} {tally.read:8} {tally.told:8} {tally.skipped:8} {len(tally.failures):8}"
        f" {tally.seconds:8.0f} {tally.slowest_s:10.2f} {tally.most_bytes / 1e6:8.0f}"
    )


# ---- the core ----


def fuzz_core(seconds: float, most_inputs: int | None = None) -> int:
    """Builds the fuzzer of the core and runs it for a time or a number of inputs; returns its exit code."""
    known = FOLDER / "corpus-core"
    known.mkdir(parents=True, exist_ok=True)
    try:
        build = _built_core()
    except dev.SetUpError as stop:
        sys.stderr.write(f"{stop}\n")
        return 1
    limits = [f"-max_total_time={seconds:.0f}"] if math.isfinite(seconds) else []
    limits += [f"-runs={most_inputs}"] if most_inputs is not None else []
    words = [build, "-max_len=2000", *limits, known, dev.ROOT / "tests/sim_core/corpus"]
    return call_apart([str(word) for word in words], cwd=FOLDER, env=dev.child_environment())


def call_apart(words: Sequence[str], **options: Any) -> int:
    """The exit code of a program that measures its own peak of memory.

    Linux counts the memory of the process that starts a program in the program's peak, so a shell starts it.
    """
    return subprocess.call(["sh", "-c", '"$@"; exit $?', "sh", *words], **options)  # "exit" keeps the shell from exec


def _built_core() -> Path:
    options: list[Any] = ["-DSUBFLOW_FUZZ=ON", "-DCMAKE_BUILD_TYPE=RelWithDebInfo", f"-DCMAKE_CXX_COMPILER={_clang()}"]
    configure = [dev.BIN / "cmake", "-S", dev.ROOT, "-B", FOLDER / "core", "-G", "Ninja", *options]
    dev.do("Building the fuzzer", "fuzz-core", configure, [dev.BIN / "cmake", "--build", FOLDER / "core"])
    return FOLDER / "core" / "fuzz_scenario"


def _clang() -> str:
    """A recent clang++, installed where apt-get and root permit it.

    Raises:
        dev.SetUpError: if clang++ is missing and cannot be installed.
    """
    names = [f"clang++-{major}" for major in range(21, dev.OLDEST_CLANG, -1)]
    found = next((path for path in map(shutil.which, names) if path), None)
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        install = [*dev.APT_GET, "install", "-y", "--no-install-recommends", "clang-16", "libclang-rt-16-dev"]
        dev.do("Installing clang-16", "apt-clang", [*dev.APT_GET, "update"], install)
        found = shutil.which("clang++-16")
    if found is None:
        raise dev.SetUpError("The fuzzer of the core needs clang 16 or newer: sudo apt-get install clang-16")
    return found


if __name__ == "__main__":
    sys.exit(main())
