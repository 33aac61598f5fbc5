"""Changes of one operator, constant or branch: where they are found, and that tests are asked about them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tools import mutants

PYTHON = '''\
"""Adds < 1 to what is given."""
LIMIT = 3


def most(first: int, second: int = -1) -> int:
    """The larger one."""
    if first > second and LIMIT:
        return first - second
    return second + 1  # + 1 > 0
'''
CPP = """\
// 1 < 2
#include <vector>
template <class T>
bool less(T a, T b) {
    if (a < b && b > 3) return true;
    return "a < b"[0] == 'a';
}
"""


def changes(text: str, suffix: str) -> list[str]:
    return sorted(f"{each.before} -> {each.after}" for each in mutants.mutants(text, suffix, "app"))


def test_operators_and_constants_of_code_are_changed_and_those_of_texts_are_not() -> None:
    python = ["+ -> -", "- -> +", "1 -> 2", "1 -> 2", "3 -> 4", "> -> >=", "and -> or"]
    assert changes(PYTHON, ".py") == sorted(python)
    cpp = ["&& -> ||", "0 -> 1", "3 -> 4", "< -> <=", "== -> !=", "> -> >=", "if ( -> if (!", "true -> false"]
    assert changes(CPP, ".h") == sorted(cpp)


def test_decorators_are_left_alone() -> None:
    assert changes("@dataclass(frozen=True)\nclass A:\n    size = 2\n", ".py") == ["2 -> 3"]


@pytest.mark.parametrize(("text", "suffix"), [(PYTHON, ".py"), (CPP, ".cpp")])
def test_a_change_replaces_one_token(text: str, suffix: str) -> None:
    for mutant in mutants.mutants(text, suffix, "app"):
        changed = mutants.mutated(text, mutant)
        assert changed is not None
        lines = [(old, new) for old, new in zip(text.splitlines(), changed.splitlines(), strict=True) if old != new]
        assert len(lines) == 1, mutant
    turned = [mutants.mutated(text, each) for each in mutants.mutants(text, suffix, "app") if each.before == "if ("]
    assert all("if (!(a < b && b > 3)) return true;" in (each or "") for each in turned)


def test_a_line_that_is_elsewhere_too_is_not_chosen(tmp_path: Path) -> None:
    for name in ("first", "second"):
        folder = tmp_path / name / "app" / "subflow_app" / "vocabulary"
        folder.mkdir(parents=True)
        (folder / "most.py").write_text(PYTHON if name == "first" else PYTHON.replace("LIMIT = 3", "LIMIT = 5"))
        (tmp_path / name / "sim" / "core").mkdir(parents=True)
    both = mutants.choose([tmp_path / "first", tmp_path / "second"], 40, 1)
    assert {each.before for each in both} == {">", "and", "-", "+", "1"}
    (tmp_path / "first" / "app" / "subflow_app" / "vocabulary" / "copy.py").write_text(PYTHON)
    assert mutants.choose([tmp_path / "first"], 40, 1) == []


def test_the_tests_of_the_folder_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = tmp_path / "app" / "subflow_app" / "vocabulary" / "most.py"
    source.parent.mkdir(parents=True)
    source.write_text(PYTHON)
    (tmp_path / "sim" / "core").mkdir(parents=True)
    tests = tmp_path / "tests" / "vocabulary"
    tests.mkdir(parents=True)
    (tests / "test_most.py").write_text(
        f"import runpy\n\nmost = runpy.run_path({str(source)!r})['most']\n\ndef test():\n    assert most(5, 3) == 2\n"
    )
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").symlink_to(sys.executable)
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run(["git", "-C", str(tmp_path), *words], check=True)
    subprocess.run(
        ["git", "-C", str(tmp_path), "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "All"], check=True
    )
    chosen = tmp_path / "list.json"
    mutants.main(["--list", str(chosen), "--tree", str(tmp_path)])
    wanted = [each for each in json.loads(chosen.read_text()) if each["before"] in ("-", "+")]
    chosen.write_text(json.dumps(wanted))
    mutants.main(["--run", str(chosen), "--tree", str(tmp_path)])
    said = capsys.readouterr().out
    assert "caught" in next(line for line in said.splitlines() if "- -> +" in line)
    assert "most.py:9" in next(line for line in said.splitlines() if "+ -> -" in line)
    assert said.endswith("caught: 1, survives: 1\n")
    assert source.read_text() == PYTHON
    source.write_text(PYTHON + "\n")
    with pytest.raises(SystemExit, match="uncommitted"):
        mutants.main(["--run", str(chosen), "--tree", str(tmp_path)])
