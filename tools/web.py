"""Compile the core to WebAssembly, for pages that run a scenario in a browser: python3 dev.py web.

Requires the compiler in the package `ziglang`, installed into a separate environment in build/web: 101 MB to download,
411 MB on disk. The result in assets/web is under version control, so that only changes of the core require the
compiler: the same sources yield the same bytes, and a test reports changed sources.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import venv
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "web"
RESULT = ROOT / "assets" / "web"
ZIG = "ziglang==0.17.1"
ZOPFLI = "zopfli==0.4.3"  # packs 5 % better than zlib

# Sources that no page needs.
LEFT_OUT = ("sim/core/agent/vec_env.cpp",)
SOURCES_AT_ONCE = 11  # as in CMake: equal names at file scope allow no larger units
# Optimisation by the beginnings of file names, because a page is limited to 500 kB: code that runs for every packet for
# speed, code that runs once for size, the rest for a compromise.
SMALL = (
    *("scenario", "json", "estimate", "policy_document", "tensor_file", "network_policy", "program", "rules"),
    *("agent", "learning_agents", "capture", "decision_table", "driven", "traffic", "instant"),
)
FAST = (
    *("network", "link", "sender", "receiver", "lookahead", "simulation", "recorder", "fq_codel"),
    *("controllers", "schedulers", "loss_detection"),
)
LEVELS = {"small": "-Oz", "fast": "-O2", "rest": "-Os"}

TARGET = ["-target", "wasm32-wasi"]
PROCESSOR = "-mcpu=generic+exception_handling"
EXCEPTIONS = [
    "-fwasm-exceptions",
    *("-mllvm", "-wasm-enable-eh", "-mllvm", "-wasm-use-legacy-eh=false"),
]
OPTIONS = ["-DNDEBUG", "-fno-sanitize=all", "-ffp-contract=off", "-g0"]
# WORKAROUND(https://github.com/ziglang/zig/issues/19893): the package's compiled C++ library lacks exceptions for
# WebAssembly; the package contains their sources.
ABI_SOURCES = ("libcxxabi/src/cxa_exception.cpp", "libcxxabi/src/cxa_personality.cpp", "libunwind/src/Unwind-wasm.c")
LIBRARIES = ("libc++.a", "libc++abi.a", "libc.a", "libzigc.a", "libcompiler_rt.a")
TAG = "\t.globl\t__cpp_exception\n\t.tagtype\t__cpp_exception i32\n__cpp_exception:\n"


def source_files() -> list[Path]:
    """All sources that determine the module, in a fixed order."""
    folders = [path for name in ("sim/core", "sim/web") for path in (ROOT / name).rglob("*")]
    sources = [path for path in folders if path.suffix in (".h", ".cpp")]
    return sorted([*sources, Path(__file__).resolve()])


def sources_digest() -> str:
    """SHA-256 of the names and contents of all sources."""
    digest = hashlib.sha256()
    for path in source_files():
        digest.update(f"{path.relative_to(ROOT).as_posix()}\0".encode() + path.read_bytes() + b"\0")
    return digest.hexdigest()


def compiler() -> list[str]:
    """Command of zig; creates its environment first if necessary."""
    folder = BUILD / "venv"
    python = folder / ("Scripts" if os.name == "nt" else "bin") / "python"
    stamp = folder / "subflow.stamp"
    wanted = f"{ZIG} {ZOPFLI}"
    if not stamp.is_file() or stamp.read_text(encoding="utf-8") != wanted:
        venv.create(folder, with_pip=True, clear=True)
        install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", ZIG, ZOPFLI]
        subprocess.run(install, check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return [str(python), "-m", "ziglang"]


def library(zig: list[str]) -> Path:
    """Folder with the sources of the package's C++ library."""
    code = "import pathlib, ziglang; print(pathlib.Path(ziglang.__file__).parent / 'lib')"
    return Path(subprocess.run([zig[0], "-c", code], check=True, capture_output=True, text=True).stdout.strip())


def compile_all(zig: list[str]) -> list[Path]:
    """Object files of the core, of the page interface and of the missing parts of the library."""
    lib = library(zig)
    (BUILD / "objects").mkdir(parents=True, exist_ok=True)
    prefix = [f"-ffile-prefix-map={ROOT}=.", f"-ffile-prefix-map={lib}=zig"]
    common = [*TARGET, f"{PROCESSOR}+simd128", *EXCEPTIONS, *OPTIONS, *prefix]
    core = sorted(p for p in (ROOT / "sim/core").rglob("*.cpp") if p.relative_to(ROOT).as_posix() not in LEFT_OUT)
    jobs: list[tuple[Path, list[str]]] = []
    for name, level in LEVELS.items():
        chosen = [path for path in core if level_of(path) == name]
        for number, first in enumerate(range(0, len(chosen), SOURCES_AT_ONCE)):
            together = BUILD / "objects" / f"{name}_{number}.cpp"
            sources = chosen[first : first + SOURCES_AT_ONCE]
            lines = [f'#include "{path.relative_to(ROOT).as_posix()}"\n' for path in sources]
            together.write_text("".join(lines), encoding="utf-8")
            jobs.append((together, ["c++", "-std=c++20", level, "-I", ".", "-I", "sim/core"]))
    jobs.append((ROOT / "sim/web/page.cpp", ["c++", "-std=c++20", "-Oz", "-I", "sim/core"]))
    abi = [*("-I", lib / "libcxxabi/include", "-I", lib / "libcxxabi", "-I", lib / "libunwind/include")]
    abi += ["-I", lib / "libunwind/src", "-D_LIBCXXABI_BUILDING_LIBRARY", "-D_LIBCPP_BUILDING_LIBRARY"]
    abi += ["-D_LIBCXXABI_HAS_NO_THREADS", "-D_LIBUNWIND_HAS_NO_THREADS", "-D_LIBUNWIND_HIDE_SYMBOLS", "-w", "-Oz"]
    for name in ABI_SOURCES:
        is_cpp = name.endswith(".cpp")
        standard = ["c++", "-std=c++23", "-I", lib / "libcxx/include", "-I", lib / "libcxx/src"] if is_cpp else ["cc"]
        jobs.append((lib / name, [*map(str, [*standard, *abi])]))
    tag = BUILD / "objects" / "tag.s"
    tag.write_text(TAG, encoding="utf-8")

    def compile_one(job: tuple[Path, list[str]]) -> Path:
        source, words = job
        made = BUILD / "objects" / f"{source.stem}.o"
        shown = source.relative_to(ROOT) if source.is_relative_to(ROOT) else source
        subprocess.run([*zig, *words, *common, "-c", str(shown), "-o", str(made)], check=True, cwd=ROOT, env=caches())
        return made

    with ThreadPoolExecutor(2) as threads:
        objects = list(threads.map(compile_one, jobs))
    made = tag.with_suffix(".o")
    subprocess.run(
        [*zig, "cc", *TARGET, PROCESSOR, "-c", str(tag), "-o", str(made)], check=True, cwd=ROOT, env=caches()
    )
    return [*objects, made]


def level_of(path: Path) -> str:
    """Optimisation level of a source."""
    if path.stem.startswith(SMALL):
        return "small"
    return "fast" if path.stem.startswith(FAST) else "rest"


def caches() -> dict[str, str]:
    """Environment variables with folders for zig's caches."""
    places = {name: str(BUILD / "cache") for name in ("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR")}
    return {**os.environ, **places}


def link(zig: list[str], objects: list[Path]) -> bytes:
    """Links the module without zig's own command, which would include the library's stubs for exceptions."""
    made, probe = BUILD / "core.wasm", BUILD / "objects" / "probe.cpp"
    # Compiles the libraries if necessary, so that the cache contains them.
    probe.write_text("#include <string>\nint main() { return std::stoi(std::to_string(7)); }\n", encoding="utf-8")
    words = [*zig, "c++", *TARGET, PROCESSOR, "-mexec-model=reactor", "-O2", str(probe), "-o", str(made)]
    subprocess.run(words, check=True, cwd=ROOT, env=caches())
    found = [newest_in_cache(name) for name in ("crt1-reactor.o", *LIBRARIES)]
    words = [*zig, "wasm-ld", "-O2", "--no-entry", "--gc-sections", "--strip-all", "-z", "stack-size=1048576"]
    subprocess.run([*words, *map(str, [found[0], *objects, *found[1:]]), "-o", str(made)], check=True, env=caches())
    return made.read_bytes()


def newest_in_cache(name: str) -> Path:
    """Newest compiled file of this name in zig's cache."""
    return max((BUILD / "cache" / "o").glob(f"*/{name}"), key=lambda path: path.stat().st_mtime_ns)


def main() -> int:
    """Compiles and writes the module with its description."""
    digest = sources_digest()
    zig = compiler()
    module = link(zig, compile_all(zig))
    RESULT.mkdir(parents=True, exist_ok=True)
    pack = "import sys, zopfli.gzip; sys.stdout.buffer.write(zopfli.gzip.compress(sys.stdin.buffer.read()))"
    packed = subprocess.run([zig[0], "-c", pack], input=module, capture_output=True, check=True).stdout
    (RESULT / "core.wasm.gz").write_bytes(packed)
    about = {"sources": digest, "compiler": ZIG, "bytes": len(module)}
    (RESULT / "core.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    print(f"assets/web/core.wasm.gz: {len(packed)} bytes, {len(module)} unpacked")  # noqa: T201
    return 0


if __name__ == "__main__":
    sys.exit(main())
