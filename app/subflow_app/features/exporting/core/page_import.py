"""Import of a scenario from a web page, including the changes that its reader made."""

from __future__ import annotations

import base64
import hashlib
import re
import tempfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from subflow_app.features.catalog.core.catalog import catalog_before_library, policy_library
from subflow_app.features.catalog.core.uses import Use, policies_of, read_scenario
from subflow_app.features.editor.core.scenario_source import with_policies
from subflow_app.features.exporting.core.web_page import EDITED_KEYS, FORMAT
from subflow_app.features.policies.core import content_name
from subflow_app.foundation.errors import InputError
from subflow_app.foundation.toml_edit import TomlEditError, render, set_value
from subflow_app.vocabulary.language import tr
from subflow_sim.errors import ParamError, ScenarioError
from subflow_sim.gate import json_tree, read_file
from subflow_sim.policy_library import MAX_POLICY_BYTES, SUFFIX, is_policy_name
from subflow_sim.scenario import Scenario

MOST_PAGE_BYTES = 64_000_000
_MOST_TOLD_BYTES = 256_000_000
_DATA = re.compile(r'<script type="application/json" id="data">(.*?)</script>', re.DOTALL)
# english: keep, because the page format contains this id
_TOLD = re.compile(r'<script type="application/octet-stream" id="told" data-size="(\d{1,9})">(.*?)</script>', re.DOTALL)
_FLOW_KEYS = ("controller", "scheduler")


@dataclass(frozen=True, slots=True)
class PageScenario:
    """A scenario of a page.

    Attributes:
        name: name of the run.
        text: text of the scenario file, including the changes that the reader made.
        scenario: the parsed scenario.
        signature: signature of the run that this text produced in the page; empty if the page lacks the signature.
        notices: warnings about policies that differ between the page and this computer.
        policies: contents, by name, of the policies that only the page contains; `keep_policies` stores them.
    """

    name: str
    text: str
    scenario: Scenario
    signature: str
    notices: tuple[str, ...] = ()
    policies: Mapping[str, bytes] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WebPage:
    """A page of runs.

    Attributes:
        path: the file, as exported or as saved by the reader.
        runs: documents of the runs.
        change: the changes made by the reader; None for an unchanged page.
        policies: contents of the policies, to which runs refer by index.
    """

    path: Path
    runs: Sequence[Mapping[str, Any]]
    change: Mapping[str, Any] | None
    policies: tuple[bytes, ...] = ()

    @property
    def names(self) -> list[str]:
        """Names of the runs, in order."""
        return [str(run["name"]) for run in self.runs]

    def scenario(self, number: int = 1) -> PageScenario:
        """The scenario of a run.

        Args:
            number: number of the run in the page, from 1.

        Raises:
            InputError: if the run does not exist, its document is damaged, or its scenario cannot be read.
        """
        path = self.path
        if not 1 <= number <= len(self.runs):
            raise InputError(f"{path}: run {number} does not exist; allowed: 1 to {len(self.runs)}")
        try:
            run, change = self.runs[number - 1], self.change
            # Changes apply to the run that the reader has chosen, which is initially the first.
            if change is not None and change.get("run", 0) != number - 1:
                change = None
            text = str(run["toml"]) if change is None else _with_change(run, change)
            signature = str((run if change is None else change).get("signature", ""))
            names, brought = self._brought_policies(run)
            text = with_policies(text, names)
            scenario = _read_with(brought, text, path)
            needed = {policy.name for _flow, policy in policies_of(scenario)} & brought.keys()
            return PageScenario(
                str(run["name"]),
                text,
                scenario,
                signature,
                tuple(self._other_policies(run, scenario)),
                {name: brought[name] for name in sorted(needed)},
            )
        except TomlEditError as error:
            raise InputError(f"{path}: its change cannot be written: {error}") from error
        except ScenarioError as error:
            raise InputError(f"{path}: its scenario is not usable: {error}") from error
        except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
            raise InputError(f"{path}: a damaged page: {error}") from error

    def _brought_policies(self, run: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, bytes]]:
        """Mappings for policies that this computer lacks: from page names to new names, and from these to contents.

        The new names are derived from the contents, so that they mean the same on every computer.
        """
        library = policy_library()
        names, brought = {}, {}
        for name, number in run.get("policies", {}).items():
            content = self.policies[number]
            content_hash = hashlib.sha256(content).hexdigest()
            try:
                known = library.read(name).content_hash if is_policy_name(name) else ""
            except ParamError:
                known = ""
            if known != content_hash:
                names[name] = content_name(content_hash)
                brought[names[name]] = content
        return names, brought

    def _other_policies(self, run: Mapping[str, Any], scenario: Scenario) -> Iterator[str]:
        """Warnings about flows whose policy has different content on this computer."""
        deciders = [flow.get("decider") or {} for flow in run["scenario"]["scenario"].get("flows", ())]
        told: dict[str, None] = {}
        for flow, decider in zip(run["flows"], deciders, strict=True):
            name = str(flow["flow"])
            policy = scenario.flows[name].controller.policy if name in scenario.flows else None
            number = decider.get("policy")
            if policy is not None and number is not None and self.policies[number] != policy.content:
                text = tr(
                    'flow {flow}: the policy "{policy}" of this computer is not that of the page',
                    flow=name,
                    policy=policy.name,
                )
                told[text] = None
        return iter(told)


def read_page(path: Path) -> WebPage:
    """Read a page of runs.

    Raises:
        InputError: if the file cannot be read, is not a page of Subflow, or is damaged.
    """
    try:
        page = read_file(path, MOST_PAGE_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise InputError(f"{path}: not a page that `subflow export RUN --page` has made: no text in UTF-8") from None
    except OSError as error:
        raise InputError(f"{path}: {error.strerror or error}") from error
    found, packed = _DATA.search(page), _TOLD.search(page)
    if found is None or packed is None:
        raise InputError(f"{path}: not a page that `subflow export RUN --page` has made")
    try:
        data = json_tree(found[1])
        if data["format"] != FORMAT:
            raise InputError(f"{path}: format = {data['format']!r}: this version reads {FORMAT}")
        told = json_tree(_unpacked(packed[2], int(packed[1])))
        if "lab" in told:
            raise InputError(f"{path}: a page of a lab contains no run to import; `subflow labs begin` begins the lab")
        runs = told["runs"]
        if not isinstance(runs, list) or not all(isinstance(run, dict) and "name" in run for run in runs):
            raise ValueError("it has no runs")
        packed_policies = [base64.b64decode(text) for text in told.get("policies", ())]
        return WebPage(path, runs, data["change"], _unpacked_policies(packed_policies))
    except (KeyError, IndexError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path}: a damaged page: {error}") from error


def _unpacked(text: str, size: int) -> bytes:
    """Decode and decompress the document of a page; ``size`` is the number of compressed bytes."""
    return _gunzipped(base64.b85decode(text.replace(",", "<"))[:size], _MOST_TOLD_BYTES, "its runs")


def _unpacked_policies(packed: Sequence[bytes]) -> tuple[bytes, ...]:
    """Unpack the policies of a page; their total size may not exceed the limit for one policy."""
    contents: list[bytes] = []
    left_bytes = MAX_POLICY_BYTES
    for each in packed:
        contents.append(_gunzipped(each, max(1, left_bytes), "its policies", MAX_POLICY_BYTES))
        left_bytes -= len(contents[-1])
    return tuple(contents)


def _read_with(policies: Mapping[str, bytes], text: str, path: Path) -> Scenario:
    """The scenario of a page; policies of the page take precedence over policies of this computer."""
    with tempfile.TemporaryDirectory(prefix="subflow-page-") as folder:
        for name, content in policies.items():
            Path(folder, f"{name}{SUFFIX}").write_bytes(content)
        return read_scenario(Use.PAGE, text, file=str(path), algorithms=catalog_before_library(Path(folder)))


def _gunzipped(packed: bytes, most_bytes: int, what: str, limit_bytes: int = 0) -> bytes:
    try:
        reader = zlib.decompressobj(wbits=zlib.MAX_WBITS | 16)  # expects a gzip header
        content = reader.decompress(packed, most_bytes)
    except zlib.error as error:
        raise ValueError(f"{what} cannot be unpacked: {error}") from None
    if not reader.eof:
        raise ValueError(f"{what} end too early, or take more than {(limit_bytes or most_bytes) / 1e6:g} MB")
    return content


def _with_change(run: Mapping[str, Any], change: Mapping[str, Any]) -> str:
    """The text of a run's scenario with the reader's changes, which apply from the start or become timed events."""
    text = str(run["toml"])
    if change["from"] is None:
        for edit in change["edits"]:
            owner, value = _edited(run, edit)
            text = set_value(text, (*owner, str(edit["key"])), value)
        return text
    blocks = []
    for edit in change["edits"]:
        (kind, name), value = _edited(run, edit)
        lines = ["[[events]]", f"at = {render(_seconds(change['applied']))}"]
        lines.append(f"{kind.removesuffix('s')} = {render(name)}")
        if kind == "links" and not run["links"][edit["link"]]["follows"][edit["key"]]:
            lines.append('direction = "forward"')
        blocks.append("\n".join([*lines, f"{edit['key']} = {render(value)}"]))
    return "\n\n".join([text.rstrip(), *blocks]) + "\n"


def _edited(run: Mapping[str, Any], edit: Mapping[str, Any]) -> tuple[tuple[str, str], float | str]:
    """The table of the file that an edit belongs to, and the value."""
    key = edit["key"]
    if edit["kind"] == "link" and key in EDITED_KEYS:
        return ("links", str(run["links"][edit["link"]]["name"])), float(edit["value"])
    if edit["kind"] == "flow" and key in _FLOW_KEYS:
        return ("flows", str(edit["flow"])), str(edit["value"])
    raise ValueError(f"a change of {edit['kind']!r}, {key!r}")


def _seconds(text: object) -> str:
    """Format a time in seconds with nine decimals (nanoseconds), as in the page."""
    return f"{float(str(text)):.9f}s"
