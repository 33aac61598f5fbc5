"""The machine of the kernel computes what the core's does: bit for bit, natively and in this machine's kernel."""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.helpers.bpf_programs import bpf_program
from tests.helpers.core_program import COMPILER, ROOT
from tools.kernel_image import COMPILER as BPF_COMPILER
from tools.kernel_image import IMAGE, SOURCE, compiled

from subflow_app.features.kernel.core import kernel_script
from subflow_sim.script import Script, compile_script
from subflow_sim.script_reader import read_script

HERE = Path(__file__).parent
KERNEL, CORE = ROOT / "sim" / "kernel", ROOT / "sim" / "core"
SHIPPED = ("newreno", "lia", "olia", "balia", "cubic", "vegas", "bdp", "shy")
ROWS = 500  # of a table in arithmetic.bpf.c
EVENTS = 100_000

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def machines(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program with both machines."""
    if COMPILER is None:
        pytest.skip("there is no C++ compiler")
    made = tmp_path_factory.mktemp("machines") / "machines"
    sources = [HERE / "machines.cpp", *(CORE / name for name in ("script/machine.cpp", "script/program.cpp"))]
    command = [COMPILER, "-std=c++20", "-O2", "-ffp-contract=off", f"-I{CORE}", f"-I{KERNEL}", *sources]
    command += [CORE / "monitor_interval.cpp", "-o", made]
    subprocess.run([str(word) for word in command], check=True)
    return made


@pytest.fixture(scope="module")
def inputs(request: pytest.FixtureRequest) -> tuple[int, int]:
    """Numbers of inputs of each operation, natively and in the kernel; a tenth without --full."""
    return (1_000_000, 100_000) if request.config.getoption("--full") else (100_000, 10_000)


@pytest.fixture(scope="module")
def table(machines: Path, inputs: tuple[int, int]) -> Path:
    """Inputs of each operation, compared; the file has those for the kernel with the results of the core."""
    path = machines.with_name("table")
    done = subprocess.run(
        [machines, "arithmetic", *map(str, inputs), path], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout.splitlines()[-1]
    compared = {name: (int(count), int(failed)) for name, count, failed in map(str.split, done.stdout.splitlines())}
    assert len(compared) == 26
    assert {count for count, _ in compared.values()} == {inputs[0]}
    assert {name for name, (_, failed) in compared.items() if failed} == {
        *("Divide", "FloorDivide", "Remainder", "Power", "SquareRoot", "Exponential", "Logarithm")
    }
    return path


def test_each_operation_gives_the_bits_of_the_core(table: Path, inputs: tuple[int, int]) -> None:
    assert table.stat().st_size == 26 * (16 + inputs[1] * 64)


def test_the_kernel_gives_the_same_bits(table: Path, inputs: tuple[int, int]) -> None:
    if os.geteuid() != 0:
        pytest.skip("loading a program for a test takes root")
    if shutil.which(BPF_COMPILER) is None:
        pytest.skip(f"{BPF_COMPILER} is missing")
    data = table.read_bytes()
    size = 16 + inputs[1] * 64
    with bpf_program(compiled(HERE / "arithmetic.bpf.c")) as program:
        for start in range(0, len(data), size):
            name = data[start : start + 16].rstrip(b"\0").decode()
            rows = np.frombuffer(data, np.uint64, 8 * inputs[1], start + 16).reshape(-1, 8)
            operation = kernel_script.OPERATIONS.index(name)
            for first in range(0, len(rows), ROWS):
                part = rows[first : first + ROWS]
                program.write("tables", struct.pack("<II", operation, ROWS) + part[:, :6].tobytes())
                program.run()
                answer = np.frombuffer(program.read("tables"), np.uint64, 6 * ROWS, 8).reshape(-1, 6)
                failed = part[:, 7] != 0
                assert np.array_equal(answer[:, 5] != 0, failed), name
                assert np.array_equal(_without_nan(answer[~failed, 4]), _without_nan(part[~failed, 6])), name


def _without_nan(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The bits, with the same value for all that are not a number."""
    return np.where(np.isnan(bits.view(np.float64)), np.uint64(0x7FF8000000000000), bits)


def script_named(name: str) -> Script:
    text = (HERE / "everything.txt").read_text(encoding="utf-8") if name == "everything" else read_script(name, None)
    return compile_script(text, name, "controller")


def test_scripts_take_the_same_way_on_both_machines(machines: Path) -> None:
    paths = []
    for name in (*SHIPPED, "everything"):
        script = script_named(name)
        program = script.program
        cells = struct.unpack(f"<{len(program.frame)}Q", struct.pack(f"<{len(program.frame)}d", *program.frame))
        words = [script.name, len(cells), len(program.code), *cells, *program.entry]
        words += [word for row in program.code for word in row]
        path = machines.with_name(name)
        path.write_bytes(kernel_script.kernel_script(script).blob + " ".join(map(str, words)).encode())
        paths.append(path)
    done = subprocess.run([machines, "scripts", str(EVENTS), *paths], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    for line in done.stdout.splitlines():
        name, ran, failed = line.split()
        assert int(ran) > EVENTS / 5, name
        assert int(failed) < int(ran) / 2, name


def _in_words(name: str) -> str:
    return re.sub("(?<!^)([A-Z])", r"_\1", name).lower()


def test_the_lists_are_those_of_the_machine() -> None:
    text = (KERNEL / "machine.h").read_text(encoding="utf-8")

    def listed(macro: str) -> list[str]:
        body = re.search(rf"#define {macro}\(\w+\)((?:.*\\\n)*.*)", text)
        assert body is not None
        return re.findall(r"(?:OP|HOOK)\((\w+)\)", body[1])

    def enumerated(kind: str) -> list[str]:
        body = re.search(rf"enum {kind} {{([^}}]*)}}", text)
        assert body is not None
        return re.findall(r"\w+", body[1])

    assert listed("SCRIPT_OPERATIONS") == list(kernel_script.OPERATIONS)
    assert [f"on_{_in_words(name)}" for name in listed("SCRIPT_HOOKS")] == list(kernel_script.HOOKS)
    fields = [_in_words(name.removeprefix("Field")) for name in enumerated("field")]
    for of_object in kernel_script.FIELDS.values():
        for name, (number, _) in of_object.items():
            assert fields[number] == name
    assert len(enumerated("failure")) == len(kernel_script.FAILURES)
    assert len(enumerated("item")) - 1 == len(kernel_script.ITEMS)


def test_all_operations_of_controllers_exist_in_the_kernel() -> None:
    text = (CORE / "script" / "program.h").read_text(encoding="utf-8")
    of_the_core = set(re.findall(r"OP\((\w+)\)", text[text.index("SUBFLOW_SCRIPT_OPS(OP)") :])) - {"OP", "name"}
    assert len(of_the_core) > 50
    assert of_the_core - set(kernel_script.OPERATIONS) == {
        *("ReadReal", "ReadTime", "ReadFlag", "ReadField", "WriteUtility", "ItemReal", "ItemTime", "ItemFlag"),
        *("ItemLoad", "ItemStore", "ReturnNow", "ReturnPlan", "ReturnSubflow", "ReturnWait"),
    }


def test_the_image_is_that_of_its_source() -> None:
    if shutil.which(BPF_COMPILER) is None:
        pytest.skip(f"{BPF_COMPILER} is missing")
    assert compiled(SOURCE) == IMAGE.read_bytes(), "python -m tools.kernel_image"
