"""No telemetry: no source opens a connection, except those listed here with their reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.helpers import import_graph

ROOT = Path(__file__).resolve().parents[1]
SOURCES = ("sim/subflow_sim", "agents/subflow_agents", "app/subflow_store", "app/subflow_app")
# Modules for network access: of the standard library, of Qt, and of packages that are often installed with them.
NETWORK = (
    *("asyncio", "ftplib", "http", "imaplib", "poplib", "smtplib", "socket", "socketserver", "ssl", "urllib.request"),
    *("webbrowser", "xmlrpc", "aiohttp", "httpx", "requests", "urllib3", "websockets", "sentry_sdk", "ray"),
    *("PySide6.QtNetwork", "PySide6.QtWebSockets", "PySide6.QtWebEngineCore", "PySide6.QtWebEngineWidgets"),
)
# Folder or file -> reason for its network access.
ALLOWED = {
    "app/subflow_app/features/kernel/core": "the machine's own TCP, in a network namespace without a way out",
    "app/subflow_app/features/emulation/core/socket_diag.py": "asks the kernel for the sockets of private namespaces",
    "app/subflow_app/shell/app.py": "a pair of sockets in the process wakes the window at a signal",
    "app/subflow_app/features/measured/core/pcap_reader.py": "names of address families and addresses as text",
    "app/subflow_store/run_values.py": "the host's name, kept with a run",
    "app/subflow_store/liveness.py": "the host's name, to know one's own processes",
    "app/subflow_app/foundation/jobs/cluster_address.py": "asks whether the cluster that the user names answers",
    "app/subflow_app/foundation/jobs/ray_client.py": "joins the cluster that the user names",
}


def imports(path: Path) -> Iterator[str]:
    for statement, when in import_graph.statements(path):
        if when is import_graph.When.NEVER:
            continue
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif statement.module is not None and statement.level == 0:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names)


def speaks(module: str) -> bool:
    return any(module == name or module.startswith(f"{name}.") for name in NETWORK)


def test_no_source_opens_a_connection() -> None:
    speaking = {
        str(path.relative_to(ROOT))
        for source in SOURCES
        for path in (ROOT / source).rglob("*.py")
        if any(map(speaks, imports(path)))
    }

    assert {path for path in speaking if not path.startswith(tuple(ALLOWED))} == set()
    # A permission without a use is removed.
    assert [allowed for allowed in ALLOWED if not any(path.startswith(allowed) for path in speaking)] == []


def test_no_address_is_opened_but_by_the_person() -> None:
    """Qt opens addresses in the browser: files on this computer, and links that the user clicks."""
    for source in SOURCES:
        for path in (ROOT / source).rglob("*.py"):
            text = path.read_text(encoding="utf-8")
            for node in ast.walk(ast.parse(text)) if "openUrl" in text else ():
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "openUrl":
                    assert "http" not in ast.unparse(node), path
