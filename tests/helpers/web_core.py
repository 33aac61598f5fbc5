"""The core of web pages, run by another host of WebAssembly."""

from __future__ import annotations

import ctypes
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

import wasmtime

from subflow_sim.portable import PortableScenario

ASSETS = Path(__file__).parents[2] / "assets" / "web"
_REACHED = 0


class WebCoreError(Exception):
    """Message of the core about a failed call."""


@cache
def _module() -> tuple[wasmtime.Engine, wasmtime.Module]:
    config = wasmtime.Config()
    config.wasm_exceptions = True
    engine = wasmtime.Engine(config)
    return engine, wasmtime.Module(engine, gzip.decompress((ASSETS / "core.wasm.gz").read_bytes()))


class WebCore:
    """One instance, with calls by their names in sim/web/page.cpp."""

    def __init__(self, policies: tuple[bytes, ...] = ()) -> None:
        engine, module = _module()
        self.store = wasmtime.Store(engine)
        self.store.set_wasi(wasmtime.WasiConfig())
        linker = wasmtime.Linker(engine)
        linker.define_wasi()
        self.exports = linker.instantiate(self.store, module).exports(self.store)
        self.call("_initialize")
        for content in policies:
            self.checked("add_policy", self.give(content))

    def call(self, name: str, *given: float) -> Any:
        """The result of a call."""
        return self.exports[name](self.store, *given)  # type: ignore[operator]

    def checked(self, name: str, *given: float) -> Any:
        """The result of a call that must succeed."""
        result = self.call(name, *given)
        if result < 0:
            raise WebCoreError(self.text())
        return result

    def text(self) -> str:
        """Text result of the last call."""
        return self.memory(self.call("text"), self.call("text_size")).decode()

    def memory(self, place: int, size: int) -> bytes:
        """Bytes of the instance's memory."""
        memory = self.exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        return bytes(memory.read(self.store, place, place + size))

    def give(self, content: bytes) -> int:
        """Puts bytes where the next call reads them; returns their number."""
        place = self.call("buffer", len(content))
        memory = self.exports["memory"]
        assert isinstance(memory, wasmtime.Memory)
        memory.write(self.store, content, place)
        return len(content)

    def open(self, scenario: PortableScenario, seed: int, interval_s: float = 1.0) -> int:
        """Starts a run of a scenario and returns its handle."""
        return self.open_text(json.dumps(scenario.document), seed, interval_s)

    def open_text(self, text: str, seed: int, interval_s: float = 1.0) -> int:
        """Starts a run from the text of a document."""
        seed_bits = ctypes.c_int64(seed).value  # 64 bits with any sign
        return int(self.checked("open_run", self.give(text.encode()), seed_bits, interval_s * 1e9))

    def finish(self, run: int) -> str:
        """Runs to the end and returns the signature."""
        assert self.checked("advance", run, 9e15, 1e15) == _REACHED
        return self.signature(run)

    def signature(self, run: int) -> str:
        """Signature of the simulation so far."""
        self.checked("signature", run)
        return self.text()

    def told(self, name: str, *given: float) -> Any:
        """JSON result of a call."""
        self.checked(name, *given)
        return json.loads(self.text())
