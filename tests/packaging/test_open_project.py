"""Files that strangers and their tools read first: how to cite, how to report, how to take part."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import project_urls
from subflow_app.foundation import citation

ROOT = Path(__file__).resolve().parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_citation_is_that_of_the_program_and_valid() -> None:
    assert (ROOT / citation.FILE).read_text(encoding="utf-8") == citation.citation_cff()
    assert PROJECT["authors"][0]["name"] == citation.AUTHORS
    assert list(citation.KEYWORDS) == PROJECT["keywords"]
    assert PROJECT["license"] == citation.LICENCE
    assert f"(c) {citation.YEAR} {citation.AUTHORS}" in (ROOT / "LICENSE").read_text(encoding="utf-8")
    assert f"version = {{{PROJECT['version']}}}" in citation.citation_bibtex()
    assert PROJECT["version"] in citation.citation_text()


def test_codemeta_says_the_same() -> None:
    told = json.loads((ROOT / "codemeta.json").read_text(encoding="utf-8"))
    assert told["version"] == PROJECT["version"]
    assert told["datePublished"] == citation.RELEASED
    assert told["license"].endswith(f"/{PROJECT['license']}")
    assert [author["name"] for author in told["author"]] == [author["name"] for author in PROJECT["authors"]]
    assert told["keywords"] == PROJECT["keywords"]
    assert told["description"] == citation.ABSTRACT
    assert told["alternateName"] == PROJECT["name"]
    assert str(told["copyrightYear"]) == citation.YEAR
    assert told["copyrightHolder"]["name"] == citation.AUTHORS
    assert told["softwareRequirements"] == [re.split("[<>=]", each)[0] for each in PROJECT["dependencies"]]
    oldest, beyond = re.findall(r"3\.(\d+)", PROJECT["requires-python"])
    assert told["runtimePlatform"] == f"Python 3.{oldest} to 3.{int(beyond) - 1}"


def test_tools_understand_the_forms() -> None:
    forms = sorted((ROOT / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    chosen = [path for path in forms if path.name != "config.yml"]
    assert {path.stem for path in chosen} == {"question", "bug", "wrong-result", "idea"}
    for schema, files in {
        "github-issue-forms": chosen,
        "github-issue-config": [path for path in forms if path not in chosen],
        "citation-file-format": [ROOT / citation.FILE],
    }.items():
        words = [sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", *map(str, files)]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_its_pages_lead_to_what_is_there() -> None:
    for name in ("CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md"):
        page = (ROOT / name).read_text(encoding="utf-8")
        for link in re.findall(r"\]\(([^)#]+)", page):
            assert (ROOT / link).exists(), f"{name}: {link}"
        for command in re.findall(r"python3 dev\.py ([a-z-]+)", page):
            assert f"dev.py {command} " in (ROOT / "dev.py").read_text(encoding="utf-8"), f"{name}: {command}"
        assert not re.search(r"[\w.]+@[\w-]+\.\w+", page), f"{name} names an address"


def test_the_addresses_of_a_build_are_those_of_its_repository(monkeypatch) -> None:
    assert "urls" in PROJECT["dynamic"]
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", "somebody/subflow")
    urls = project_urls.dynamic_metadata({}, PROJECT)["urls"]
    assert urls["Homepage"] == "https://example.org/somebody/subflow"
    assert set(urls) == {"Homepage", "Source", "Issues", "Releases", "Changelog"}
    monkeypatch.delenv("GITHUB_REPOSITORY")
    monkeypatch.setattr(project_urls, "ROOT", ROOT.anchor)  # no repository
    assert project_urls.urls() == {}
