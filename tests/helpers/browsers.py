"""Two real browsers, driven without a library: Chromium by its DevTools pipe, Firefox by Marionette."""

from __future__ import annotations

import base64
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

_WAIT_S = 120.0


class Browser(Protocol):
    """The functions of a browser that tests use."""

    def open(self, url: str) -> None:
        """Load a page."""

    def enter_frame(self) -> None:
        """Until the next page is opened, `run` works in the first frame of this page, of any origin."""

    def run(self, script: str) -> Any:
        """The value of an expression in the page, converted by JSON."""

    def close(self) -> None:
        """Ends the browser."""


def wait_until(browser: Browser, condition: str) -> None:
    """Wait until an expression in the page is true."""
    end = time.monotonic() + _WAIT_S
    while not browser.run(f"Boolean({condition})"):
        if time.monotonic() > end:
            raise AssertionError(f"never true: {condition}\n{browser.run('document.body.innerText.slice(0, 2000)')}")
        time.sleep(0.05)


def chromium_path() -> str | None:
    """Path of the executable of Debian's Chromium."""
    return shutil.which("chromium")


def firefox_path() -> str | None:
    """Path of the executable of Debian's Firefox."""
    return shutil.which("firefox-esr") or shutil.which("firefox")


class Chromium:
    """Messages are JSON texts that end with a zero byte, sent by descriptor 3 and received by 4."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        in_read, in_write = os.pipe()
        out_read, out_write = os.pipe()
        words = [str(chromium_path()), "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run"]
        words += ["--disable-dev-shm-usage", "--hide-scrollbars", f"--user-data-dir={folder / 'profile'}"]
        words += ["--remote-debugging-pipe", "about:blank"]

        def hand_over() -> None:
            # The two ends may be 3 and 4 already, in either order.
            spare_in, spare_out = os.dup(in_read), os.dup(out_write)
            os.dup2(spare_in, 3)
            os.dup2(spare_out, 4)

        self._process = subprocess.Popen(
            words,
            preexec_fn=hand_over,
            close_fds=False,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(in_read)
        os.close(out_write)
        self._in, self._out, self._got, self._next = in_write, out_read, b"", 1
        (target,) = [t for t in self._ask("Target.getTargets")["targetInfos"] if t["type"] == "page"]
        attached = self._ask("Target.attachToTarget", {"targetId": target["targetId"], "flatten": True})
        self._session: str = attached["sessionId"]
        self._top = self._session
        self.problems: list[str] = []
        for domain in ("Page", "Runtime", "Log"):
            self.ask(f"{domain}.enable")
        self._ask("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def _ask(self, method: str, params: dict[str, Any] | None = None, session: str | None = None) -> Any:
        number, self._next = self._next, self._next + 1
        message: dict[str, Any] = {"id": number, "method": method, "params": params or {}}
        if session is not None:
            message["sessionId"] = session
        os.write(self._in, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._message()
            if answer.get("id") != number:
                continue
            if "error" in answer:
                raise AssertionError(f"{method}: {answer['error']}")
            return answer["result"]

    def _message(self) -> Any:
        """The next answer or event."""
        while b"\0" not in self._got:
            part = os.read(self._out, 1 << 20)
            if not part:
                raise AssertionError("Chromium has ended")
            self._got += part
        text, _, self._got = self._got.partition(b"\0")
        message = json.loads(text)
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.problems.append(json.dumps(message["params"])[:600])
        return message

    def ask(self, method: str, **params: Any) -> Any:
        """Sends a command of the protocol to the page and returns the result."""
        return self._ask(method, params, self._session)

    def open(self, url: str) -> None:
        """Load a page."""
        self.problems, self._session = [], self._top
        self.ask("Page.navigate", url=url)
        wait_until(self, "document.readyState === 'complete'")

    def run(self, script: str) -> Any:
        """The value of an expression in the page; for a promise, its result."""
        answer = self.ask("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise AssertionError(answer["exceptionDetails"])
        return answer["result"].get("value")

    def enter_frame(self) -> None:
        """Waits for the frame's target, because a frame of another origin is a separate target."""
        end = time.monotonic() + _WAIT_S
        while not (found := [t for t in self._ask("Target.getTargets")["targetInfos"] if t["type"] == "iframe"]):
            assert time.monotonic() < end, "no frame"
            time.sleep(0.05)
        attached = self._ask("Target.attachToTarget", {"targetId": found[0]["targetId"], "flatten": True})
        self._session = attached["sessionId"]

    def look(self, width: int, height: int, *, dark: bool = False, ratio: float = 1.0) -> None:
        """Sets the size of the screen, and the user's preference for dark colours."""
        self.ask(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=ratio, mobile=False
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.ask("Emulation.setEmulatedMedia", features=[scheme])

    def picture(self, path: Path) -> None:
        """A screenshot of the whole page."""
        made = self.ask("Page.captureScreenshot", captureBeyondViewport=True)
        path.write_bytes(base64.b64decode(made["data"]))

    def longest_task_s(self, act: Callable[[], object]) -> float:
        """The processor time of the longest task of the page's main thread during an action, in seconds.

        The page neither draws nor answers during a task. Its wall time depends on other work of the machine.
        """
        self.ask("Tracing.start", traceConfig={"includedCategories": ["toplevel", "__metadata"]})
        act()
        self.ask("Tracing.end")
        events: list[dict[str, Any]] = []
        while (message := self._message()).get("method") != "Tracing.tracingComplete":
            if message.get("method") == "Tracing.dataCollected":
                events += message["params"]["value"]
        names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
        tasks: list[float] = [
            event.get("tdur", 0)  # a task that began earlier has no duration
            for event in events
            if event["name"].endswith("RunTask") and names.get((event["pid"], event["tid"])) == "CrRendererMain"
        ]
        return max(tasks) * 1e-6

    def close(self) -> None:
        """Ends the browser and all processes that it started."""
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self._in)
        os.close(self._out)


class Firefox:
    """Messages are JSON texts after their length, over a local socket."""

    def __init__(self, folder: Path) -> None:
        profile = folder / "profile"
        profile.mkdir(parents=True, exist_ok=True)
        prefs = {
            "browser.download.folderList": 2,
            "browser.download.dir": str(folder),
            "browser.download.useDownloadDir": True,
            "browser.download.always_ask_before_handling_new_types": False,
            "marionette.port": 0,
            "datareporting.policy.dataSubmissionEnabled": False,
        }
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in prefs.items()]
        (profile / "user.js").write_text("\n".join(lines), encoding="utf-8")
        words = [str(firefox_path()), "--headless", "--marionette", "--no-remote", "--profile", str(profile)]
        self._process = subprocess.Popen(
            words,
            start_new_session=True,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "MOZ_HEADLESS": "1", "HOME": str(folder)},
        )
        self._socket = socket.create_connection(("127.0.0.1", self._port(profile)), timeout=_WAIT_S)
        self._got, self._next = b"", 1
        self._receive()
        self.ask("WebDriver:NewSession", {"capabilities": {}})

    def _port(self, profile: Path) -> int:
        file, end = profile / "MarionetteActivePort", time.monotonic() + _WAIT_S
        while not (file.is_file() and file.read_text(encoding="utf-8").strip()):
            assert self._process.poll() is None, "Firefox has ended"
            assert time.monotonic() < end, "Firefox does not answer"
            time.sleep(0.1)
        return int(file.read_text(encoding="utf-8"))

    def _receive(self) -> Any:
        while b":" not in self._got:
            self._more()
        size, _, self._got = self._got.partition(b":")
        while len(self._got) < int(size):
            self._more()
        text, self._got = self._got[: int(size)], self._got[int(size) :]
        return json.loads(text)

    def _more(self) -> None:
        part = self._socket.recv(1 << 16)
        if not part:
            raise AssertionError("Firefox has ended")
        self._got += part

    def ask(self, command: str, params: dict[str, Any] | None = None) -> Any:
        """Sends a command of the protocol and returns the result."""
        number, self._next = self._next, self._next + 1
        text = json.dumps([0, number, command, params or {}]).encode()
        self._socket.sendall(str(len(text)).encode() + b":" + text)
        while True:
            _, answered, error, result = self._receive()
            if answered != number:
                continue
            if error is not None:
                raise AssertionError(f"{command}: {error}")
            return result

    def open(self, url: str) -> None:
        """Load a page."""
        self.ask("WebDriver:SwitchToFrame", {"id": None})
        self.ask("WebDriver:Navigate", {"url": url})
        # After a change between server and disk, the previous page may still answer for a moment.
        wait_until(self, f"location.href === {json.dumps(url)} && document.readyState === 'complete'")

    def enter_frame(self) -> None:
        """Enters the first frame by its number."""
        self.ask("WebDriver:SwitchToFrame", {"id": 0})

    def run(self, script: str) -> Any:
        """The value of an expression in the page; for a promise, its result."""
        return self.ask("WebDriver:ExecuteScript", {"script": f"return ({script})", "args": []})["value"]

    def close(self) -> None:
        """Ends the browser and all processes that it started."""
        self._socket.close()
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
