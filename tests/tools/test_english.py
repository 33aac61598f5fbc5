"""The checker finds habits that readers stumble over in code and pages, and passes good sentences."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.helpers.members import for_each
from tools.english import __main__ as english
from tools.english.habits import HABITS, hits, sentences
from tools.english.prose import Prose, prose_of

ODD = {
    "Whether the queue is full.": "question word",
    "source: what the file was made from": "entry",
    "Beside it: What is open.": "question word",
    "None if there is no such run.": "there is",
    "The report tells which runs failed.": "tell",
    "It ends where the file says.": "say",
    "The number stands beside the name.": "stand",
    "The run goes on in the background.": "go on",
    "The reason why it is none.": "none",
    "The flow as the file has it.": "has it",
    "The rate of this link and the one of its neighbour.": "the one",
    "A copy for whoever asks.": "somebody",
    "The sender knows the rate.": "mind",
}
PLAIN = (
    "Retransmission timeout in seconds.",
    "True if the queue holds as many packets as it can.",
    "Which controller takes more of the bottleneck?",
    "The value stands for all flows.",
    "rate_bps: rate of the link, bit/s; None: unlimited.",
    "The known rates before 2 s.",
    "The standing queue goes back to zero.",
    'The paper: "Whether there is a queue, the sender knows."',
    "{there} {is} one path.",
    "`there is` and ``whoever`` are names of code here.",
)


@for_each("sentence, habit", ODD.items())
def test_an_odd_sentence_is_found_once_and_by_its_habit(sentence: str, habit: str) -> None:
    assert [hit.habit for hit in hits(Prose(7, "comment", sentence))] == [habit]


@for_each("sentence", PLAIN)
def test_a_plain_sentence_passes(sentence: str) -> None:
    assert list(hits(Prose(1, "comment", sentence))) == []


def test_each_habit_has_an_example() -> None:
    assert set(ODD.values()) == set(HABITS)


def test_sentences_know_their_lines() -> None:
    text = "First one. Second\nends here.\n\nArgs:\n    name: of a run.\n    path: of a file;\n        absolute."
    assert list(sentences(Prose(10, "docstring", text))) == [
        (10, "First one."),
        (10, "Second ends here."),
        (13, "Args:"),
        (14, "name: of a run."),
        (15, "path: of a file; absolute."),
    ]


def test_prose_of_each_kind_of_file(tmp_path: Path) -> None:
    files = {
        "a.py": '"""Doc."""\nx = "two words"  # after\n# one\n# two\ny = f"it is {x}"\nz = "key"\n',
        "b.cpp": '// one\n// two\nint a = 1;  // after\n/* block */ auto s = "http://a two words";\n',
        "c.js": "// one\nconst a = `two words ${a}`;\n",
        "d.toml": '# one\nkey = "two words"  # after\n',
        "e.md": '+++\ntitle = "two words"\n+++\nA paragraph\nof two lines.\n\n```\ncode here\n```\n\nLast.\n',
        "f.png": "no prose",
    }
    found = {}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        found[name] = [(piece.line, piece.kind[0], piece.text.strip()) for piece in prose_of(tmp_path / name)]
    assert found == {
        "a.py": [
            (1, "d", "Doc."),
            (2, "m", "two words"),
            (2, "c", "after"),
            (3, "c", "one\ntwo"),
            (5, "m", "it is {}"),
        ],
        "b.cpp": [(1, "c", "one\ntwo"), (3, "c", "after"), (4, "c", "block"), (4, "m", "http://a two words")],
        "c.js": [(1, "c", "one"), (2, "m", "two words ${a}")],
        "d.toml": [(1, "c", "one"), (2, "m", "two words"), (2, "c", "after")],
        "e.md": [(2, "m", "two words"), (4, "p", "A paragraph\nof two lines."), (11, "p", "Last.")],
        "f.png": [],
    }


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository of git with a marked and an unmarked sentence."""
    (tmp_path / "a.py").write_text(
        "# english: keep\n# Whether it rains.\nx = 1\n\n# There is none.\n", encoding="utf-8"
    )
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", "."], cwd=tmp_path, check=True)
    return tmp_path


def test_a_mark_keeps_a_sentence(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert english.main(["--root", str(checkout)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(" (")[0] for line in lines] == ["a.py:5: there is", "a.py:5: none"]
    assert english.main(["--root", str(checkout), "--count"]) == 1
    assert capsys.readouterr().out.endswith("3 in all, 1 of them marked\n")


def test_drawn_prose_follows_the_seed(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "app").mkdir()
    lines = [f'def f{number}():\n    """Docstring {number}."""\n    # Comment {number}\n' for number in range(20)]
    (checkout / "app" / "b.py").write_text("".join(lines), encoding="utf-8")
    subprocess.run(["git", "add", "."], cwd=checkout, check=True)
    drawn = []
    for seed in ("1", "1", "2"):
        assert english.main(["--root", str(checkout), "--draw", "3", "--seed", seed]) == 0
        drawn.append(capsys.readouterr().out)
    assert drawn[0] == drawn[1] != drawn[2]
    assert drawn[0].count("(docstring)") == drawn[0].count("(comment)") == 3
