#!/usr/bin/env python3
"""The one entry for working on Subflow: it sets up what is missing, builds the core, then does its job.

    python3 dev.py run [FILE]     open the window on a scenario (the demo when left out); without a display, only run it
    python3 dev.py test           everything that has to pass: lint, types, imports, formatting, C++ tests, Python tests
    python3 dev.py test PATH ...  only the Python tests in these files or folders; -k WORDS: those whose names match
    python3 dev.py fmt            format the sources and fix what can be fixed
    python3 dev.py bench          measure the simulator; measure WHAT: start, store, canvas, plots, seek, sweep, …
    python3 dev.py docs           build the site into build/docs/html: user guide, live run, examples, downloads
    python3 dev.py screenshots    make the pictures of the guide and of README anew
    python3 dev.py package        freeze the program and make the installer of this platform, in build/package
    python3 dev.py lock           pin what the installers are made of, after a change of pyproject.toml; --upgrade: new
    python3 dev.py test-package   try it: self-test, installation on a bare system, removal
    python3 dev.py fuzz [NAME]    feed damaged input to every reader, and the core, for --minutes N; failures are kept
    python3 dev.py golden         print the run signatures of the shipped scenarios and what has changed (--update)
    python3 dev.py translate      bring the catalogues of translations in step with the texts of the window
    python3 dev.py web            compile the core for web pages, into assets/web
    python3 dev.py setup          only set up (--cuda: PyTorch with CUDA)
    python3 dev.py clean          remove what was built (--all: .venv too)

Needs only Python. Its products lie in .venv and build; missing system libraries come from apt-get.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Iterator, NamedTuple, NoReturn, Sequence

try:
    import fcntl
except ImportError:  # Windows: two calls at once are not kept apart there
    fcntl = None  # type: ignore[assignment]

OLDEST_PYTHON, NEWEST_PYTHON = (3, 11), (3, 13)
SYSTEMS = "Debian 12 or 13, Ubuntu 22.04 or 24.04"  # whose packages have one of these
ROOT = Path(__file__).resolve().parent
BUILD, VENV = ROOT / "build", ROOT / ".venv"
LOGS, PACKAGE = BUILD / "logs", BUILD / "package" / "dist" / "subflow"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / "python"
BASE_PYTHON = str(getattr(sys, "_base_executable", None) or sys.executable)  # makes .venv, itself in none
ENVIRONMENT_STAMP = VENV / "subflow-environment.stamp"
CORE_STAMP = VENV / "subflow-core.stamp"
LEFT_OUT = ("PYTHONPATH", "PYTHONHOME", "PYTHONDONTWRITEBYTECODE")  # of the environment, for each command
UNFINISHED = "unfinished"  # text of the environment's stamp while pip works

DEMO = Path("assets/scenarios/demo.toml")
DEMO_EXPORT = Path("subflow-demo")
MODULES = {
    "bench": "subflow_app bench",
    "docs": "sphinx -b html -t site -E -W --keep-going -d build/docs/doctrees docs build/docs/html",
    "fuzz": "tests.fuzz.run",
    "golden": "tests.golden.update",
    "measure": "tools.measure",
    "screenshots": "tests.helpers.pictures",
    "translate": "tests.helpers.messages",
    "web": "tools.web",
}

PACKAGING = {"package": "packaging/package.py", "lock": "uv", "test-package": "pytest"}

# System libraries that Qt's wheels need on the offscreen platform and on X11, and a font, without which text is blank.
QT_PACKAGES = (
    *("libgl1", "libegl1", "libxkbcommon0", "libfontconfig1", "libglib2.0-0", "libdbus-1-3", "libgssapi-krb5-2"),
    *("libxcb-cursor0", "libxcb-icccm4", "libxcb-keysyms1", "libxcb-shape0", "libxcb-xkb1", "libxkbcommon-x11-0"),
    "fonts-dejavu-core",
)
TEST_PACKAGES = (
    *("libgtest-dev", "xvfb", "xauth", "openbox", "xdotool", "tshark", "strace", "locales"),
    *("mininet", "libcap2-bin"),
)
BPF_COMPILER = ("clang-19",)  # for tools/kernel_image.py, by the name that Debian has
BROWSERS = ("chromium", "firefox-esr")  # for --full, by the names that Debian alone has
# Programs that make an installer, and those that try it on a separate system.
PACKAGE_PACKAGES = (
    *("binutils", "desktop-file-utils", "appstream", "shared-mime-info", "xz-utils"),
    *("debootstrap", "x11-utils", "libwayland-client0", "libwayland-cursor0", "libwayland-egl1"),
    *("nsis", "p7zip-full", "lintian", "shellcheck", "xdg-utils", "libglib2.0-bin", "groff"),
)
APT_GET = ("env", "DEBIAN_FRONTEND=noninteractive", "apt-get", "-q", "-o", "DPkg::Lock::Timeout=300")
EXTRAS = ("build", "train", "envs", "cluster", "pcap", "docs", "package", "dev")

OLDEST_GCC, OLDEST_CLANG = 12, 15
# PyTorch's own index of builds without CUDA.
FROM_TORCH_INDEX = ["--extra-index-url", "https://download.pytorch.org/whl/cpu", "--retries", "2"]
# Installed together: alone, the second would bring a torch of its own.
TORCH_AND_WHAT_NEEDS_IT = ("torch", "stable-baselines3")


class SetUpError(Exception):
    """The set-up cannot continue; the text gives the reason and the remedy."""


# ---------------------------------------------------------------------------------------------------- running commands


def say(text: str) -> None:
    """Prints a line at once, before the output of the commands that follow."""
    print(text, flush=True)


def child_environment() -> dict[str, str]:
    """The environment of every command: .venv's programs first, no Python settings of other projects, bytecode kept."""
    env = {key: value for key, value in os.environ.items() if key not in LEFT_OUT}
    env["VIRTUAL_ENV"] = str(VENV)
    env["PATH"] = os.pathsep.join([str(BIN), env.get("PATH", os.defpath)])
    compiler = find_compiler()
    if compiler:
        env["CXX"] = compiler
    return env


def run_logged(log_name: str, *commands: list[Any], shown_lines: int = 30) -> str | None:
    """Runs commands, one after the other, with their output in a log file.

    Returns:
        None if all went well, else the last lines of the output, the exit code and the log's path.
    """
    LOGS.mkdir(parents=True, exist_ok=True)
    log = LOGS / f"{log_name}.log"
    with log.open("w", encoding="utf-8") as out:
        for command in commands:
            words = [str(word) for word in command]
            out.write(f"$ {' '.join(words)}\n")
            out.flush()
            env = child_environment()
            code = subprocess.call(words, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
            if code != 0:
                break
        else:
            return None
    tail = log.read_text(encoding="utf-8", errors="replace").splitlines()[-shown_lines:]
    return "\n".join([*(f"    {line}" for line in tail), f"  exit code {code}; all of it: {log.relative_to(ROOT)}"])


def do(what: str, log_name: str, *commands: list[Any]) -> None:
    """Does one step of the set-up, or stops with the end of its log."""
    print(f"{what} ...", end=" ", flush=True)
    started = time.monotonic()
    failure = run_logged(log_name, *commands)
    say(f"{'failed after ' if failure else ''}{time.monotonic() - started:.0f} s")
    if failure:
        raise SetUpError(f"{what} failed:\n{failure}")


def hand_over(*command: Any) -> NoReturn:
    """Becomes the given command, so that signals and the exit code are its own."""
    words = [str(word) for word in command]
    sys.stdout.flush()
    if os.name == "nt":
        sys.exit(subprocess.call(words, env=child_environment()))
    os.execve(words[0], words, child_environment())


@contextlib.contextmanager
def only_one() -> Iterator[None]:
    """Keeps other calls of dev.py in this checkout waiting. The folder itself is locked: no lock file is left over."""
    if fcntl is None:
        yield
        return
    folder = os.open(ROOT, os.O_RDONLY)
    try:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("Waiting for another dev.py that is at work here ...")
            fcntl.flock(folder, fcntl.LOCK_EX)
        yield
    finally:
        os.close(folder)


# ---------------------------------------------------------------------------------------------------- system libraries


@functools.lru_cache(maxsize=None)
def find_compiler() -> str | None:
    """The C++20 compiler to build with: $CXX, else the first of the usual ones that is new enough, else None."""
    if os.environ.get("CXX"):
        return os.environ["CXX"]
    for name in ("c++", "g++", "g++-12", "g++-13", "g++-14", "clang++"):
        if (path := shutil.which(name)) and compiler_is_new_enough(subprocess.getoutput(f'"{path}" --version')):
            return path
    return None


def compiler_is_new_enough(version_text: str) -> bool:
    """True if the output of `c++ --version` names a compiler that can build the core."""
    # "g++ (Debian 12.2.0-14+deb12u1) 12.2.0", "Debian clang version 14.0.6": the last number of the first line counts
    first_line = version_text.partition("\n")[0]
    majors = re.findall(r"(\d+)\.\d+\.\d+", first_line)
    return bool(majors) and int(majors[-1]) >= (OLDEST_CLANG if "clang" in first_line else OLDEST_GCC)


def build_packages() -> list[str]:
    """The packages that the set-up itself needs and this machine has not: Python's venv and headers, a compiler."""
    python = f"python3.{sys.version_info.minor}"
    packages = []
    if importlib.util.find_spec("venv") is None or importlib.util.find_spec("ensurepip") is None:
        packages.append(f"{python}-venv")
    if not Path(sysconfig.get_path("include"), "Python.h").exists():
        packages.append(f"{python}-dev")
    if find_compiler() is None:
        packages.append("g++-12" if "VERSION_CODENAME=jammy" in read_text("/etc/os-release") else "g++")
    return packages


def read_text(path: str | Path) -> str:
    """The text of a file; empty if the file does not exist."""
    try:
        return Path(path).read_text(encoding="utf-8")
    except FileNotFoundError:
        return ""


def installed_system_packages() -> set[str]:
    """Names of the installed Debian packages and of what they provide (libglib2.0-0t64 provides libglib2.0-0)."""
    query = ["dpkg-query", "--show", "--showformat", "${db:Status-Status} ${Package} ${Provides}\n"]
    lines = subprocess.run(query, capture_output=True, text=True, check=True).stdout.splitlines()
    installed = [line for line in lines if line.startswith("installed ")]
    return {word for line in installed for word in re.findall(r"[a-z0-9][a-z0-9+.-]+", line)}


def provide_system_packages(beside_qt: Sequence[str] = ()) -> None:
    """Installs missing system packages where apt-get and root allow it; otherwise prints the line that installs them.

    Raises:
        SetUpError: if something is missing and cannot be installed from here.
    """
    wanted = [*QT_PACKAGES, *beside_qt]
    if not (shutil.which("apt-get") and shutil.which("dpkg-query")):
        if sys.platform == "linux" and not is_current(ENVIRONMENT_STAMP, environment_digest()):
            say("This is not Debian or Ubuntu, so these are left to you; here is what they are called there:")
            say("  " + " ".join(["g++ (12 or newer)", "python3-dev", *wanted]))
        return
    installed = installed_system_packages()
    missing = [*build_packages(), *(name for name in wanted if name not in installed)]
    if not missing:
        return
    install = ["install", "-y", "--no-install-recommends", *missing]
    if os.geteuid() != 0:
        line = f"sudo apt-get update && sudo apt-get {' '.join(install)}"
        raise SetUpError(f"System packages are missing. Install them by this line, then start again:\n\n  {line}\n")
    do(f"Installing {' '.join(missing)}", "apt", [*APT_GET, "update"], [*APT_GET, *install])
    find_compiler.cache_clear()
    importlib.invalidate_caches()


# -------------------------------------------------------------------------------------------------- Python environment


@functools.lru_cache(maxsize=None)
def project() -> dict[str, Any]:
    """The content of pyproject.toml."""
    import tomllib

    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def optional_requirements(with_torch: bool) -> list[str]:
    """Requirements of the extras: PyTorch and the packages that need it, or all others."""
    wanted = (requirement for extra in EXTRAS for requirement in project()["project"]["optional-dependencies"][extra])
    return [one for one in wanted if (one.partition("==")[0] in TORCH_AND_WHAT_NEEDS_IT) == with_torch]


def requirements() -> list[str]:
    """Everything that is installed first: build backend, dependencies, extras, but for PyTorch and what needs it."""
    needed: list[str] = project()["build-system"]["requires"] + project()["project"]["dependencies"]
    return needed + optional_requirements(False)


def environment_digest() -> str:
    """Changes when .venv has to be brought up to date."""
    parts = [(ROOT / "pyproject.toml").read_bytes(), Path(__file__).read_bytes(), sys.version.encode()]
    return hashlib.sha256(b"\0".join(parts)).hexdigest()


def core_digest() -> str:
    """Changes when the compiled core has to be built: with the environment and with each C++ source that is touched."""
    files = [ROOT / "CMakeLists.txt"]
    for folder in ("cmake", "sim/core", "sim/bindings"):
        files += sorted(path for path in (ROOT / folder).rglob("*") if path.is_file())
    digest = hashlib.sha256(environment_digest().encode())
    for path in files:
        stat = path.stat()
        digest.update(f"{path.relative_to(ROOT)} {stat.st_size} {stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def is_current(stamp: Path, digest: str) -> bool:
    """True if the stamp, which is written after the last step, holds this digest."""
    return read_text(stamp) == digest


def venv_is_ours(pyvenv_cfg: str) -> bool:
    """True if .venv was made in this folder (it cannot be moved) by this Python, according to its pyvenv.cfg."""
    settings = dict(re.findall(r"^(\w+) = (.*)$", pyvenv_cfg, re.MULTILINE))
    return (
        settings.get("home") == os.path.dirname(os.path.abspath(BASE_PYTHON))  # noqa: PTH100, PTH120 - as venv has it
        and settings.get("version", "").startswith(f"3.{sys.version_info.minor}.")
        and settings.get("command", "").endswith(f" {VENV}")
    )


def make_venv() -> None:
    """Makes .venv, unless this checkout and this Python can use an existing one."""
    if venv_is_ours(read_text(VENV / "pyvenv.cfg")) and not is_current(ENVIRONMENT_STAMP, UNFINISHED):
        works = subprocess.run([PYTHON, "-m", "pip", "--version"], capture_output=True, check=False).returncode == 0
        if works:
            return
    if VENV.exists():
        say("Removing .venv: it was made elsewhere, by another Python, or only in part")
        shutil.rmtree(VENV)
    for cache in BUILD.glob("*/CMakeCache.txt"):  # with absolute paths into the environment that is gone
        shutil.rmtree(cache.parent, ignore_errors=True)
    do(f"Making .venv with Python {sys.version.split()[0]}", "venv", [BASE_PYTHON, "-m", "venv", VENV])


def pip_install(*arguments: Any) -> list[Any]:
    """The command that installs into .venv; what is imported is compiled to bytecode then, and most of it never is."""
    return [PYTHON, "-m", "pip", "install", "--no-compile", "--no-input", "--disable-pip-version-check", *arguments]


def install_torch(cuda: bool) -> None:
    """Installs PyTorch and the packages that need it: a build for the CPU where one exists, unless CUDA is requested.

    A failure stops nothing, because only training needs PyTorch.
    """
    torch, *others = optional_requirements(with_torch=True)
    version, options = installed_version("torch"), []
    if version.partition("+")[0] == torch.partition("==")[2] and not (cuda and version.endswith("+cpu")):
        if all(one == f"{(name := one.partition('==')[0])}=={installed_version(name)}" for one in others):
            return
        torch = f"torch=={version}"  # the other packages must not bring another build
    elif cuda:
        options = ["--upgrade", "--force-reinstall"]
    elif sys.platform == "linux" and brings_cuda(torch):
        torch, options = f"{torch}+cpu", FROM_TORCH_INDEX
    try:
        do(f"Installing {torch}", "torch", pip_install(*options, torch, *others))
    except SetUpError:
        say(f"Training is not available without PyTorch, everything else is. Why: {LOGS / 'torch.log'}")


def installed_version(distribution: str) -> str:
    """The version of a package in .venv; empty if it is not there."""
    code = f"import importlib.metadata as m; print(m.version({distribution!r}))"
    return subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=False).stdout.strip()


def brings_cuda(requirement: str) -> bool:
    """True if pip would choose a build of PyTorch that comes with gigabytes of CUDA, or finds no build.

    Reads the package's metadata, which pip can do without downloading the package.
    """
    question = pip_install("--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-", requirement)
    answer = subprocess.run(question, capture_output=True, text=True, check=False, env=child_environment())
    if answer.returncode != 0:
        return True
    needs = json.loads(answer.stdout)["install"][0]["metadata"].get("requires_dist", [])
    return any(need.startswith(("nvidia", "cuda", "triton")) for need in needs)


def set_up(beside_qt: Sequence[str] = (), anew: bool = False, cuda: bool = False) -> None:
    """Brings system packages, .venv and the compiled core up to date; takes milliseconds when they are.

    Args:
        beside_qt: system packages that the job needs.
        anew: do each step even if nothing has changed since the last time.
        cuda: PyTorch with CUDA instead of a CPU build.
    """
    with only_one():
        provide_system_packages(beside_qt)
        whole = venv_is_ours(read_text(VENV / "pyvenv.cfg"))
        if anew or not whole or not is_current(ENVIRONMENT_STAMP, environment_digest()):
            make_venv()
            ENVIRONMENT_STAMP.write_text(UNFINISHED, encoding="utf-8")
            try:
                do("Installing Python packages", "pip", pip_install("pip>=25.1", *requirements()))
            except SetUpError:
                ENVIRONMENT_STAMP.unlink()  # pip itself gave up, which leaves what was installed before as it was
                raise
            install_torch(cuda)
            ENVIRONMENT_STAMP.write_text(environment_digest(), encoding="utf-8")
        core = core_digest()  # taken before the build: files edited meanwhile are built the next time
        if anew or not is_current(CORE_STAMP, core):
            CORE_STAMP.unlink(missing_ok=True)
            do("Building the core", "core", pip_install("--no-build-isolation", "--no-deps", "--editable", ROOT))
            CORE_STAMP.write_text(core, encoding="utf-8")


# ------------------------------------------------------------------------------------------------------------ the jobs


def run(arguments: list[str]) -> NoReturn:
    """Opens the window, or runs the same scenario without a window where no display is available."""
    set_up()
    command = arguments or [str(ROOT / DEMO)]
    shows = sys.platform != "linux" or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")))
    if not shows and command[0].endswith(".toml"):
        say("No display (DISPLAY and WAYLAND_DISPLAY are not set): running the scenario without a window.")
        command = ["run", *command, "--export", str(DEMO_EXPORT)]
    hand_over(PYTHON, "-m", "subflow_app", *command)


class Check(NamedTuple):
    """One step of `test`: its name, also that of its log, and the commands that have to succeed."""

    name: str
    commands: list[list[Any]]


def cpp_files() -> list[Path]:
    """The C++ sources that clang-format keeps."""
    folders = ("sim", "tests/sim_core")
    return sorted(path for folder in folders for path in (ROOT / folder).rglob("*") if path.suffix in (".h", ".cpp"))


def cpp_tests(folder: str, *options: str) -> list[list[Any]]:
    """Configures, builds and runs the C++ tests in a build folder of their own; what has passed is not run again."""
    build = BUILD / folder
    return [
        [BIN / "cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "-DSUBFLOW_TESTS=ON", *options],
        [BIN / "cmake", "--build", build, "--target", "check"],
    ]


def checks(full: bool) -> list[list[Check]]:
    """All checks but the Python tests: of the sources, and beside them the C++ tests (full: without sanitizers too)."""
    newest = max(BUILD.glob("cp*/CMakeCache.txt"), key=os.path.getmtime)  # of the core that pip has built for .venv
    builds = [newest.parent, BUILD / "asan"]
    signatures = [[BIN / "cmake", "--build", build, "--target", "signatures"] for build in builds]
    compare = [PYTHON, ROOT / "tests/sim_core/compare_signatures.py", *(build / "signatures" for build in builds)]
    reading = [
        Check("ruff", [[BIN / "ruff", "check"], [BIN / "ruff", "format", "--check"]]),
        Check("clang-format", [[BIN / "clang-format", "--dry-run", "-Werror", *cpp_files()]]),
        Check("import-linter", [[BIN / "lint-imports"]]),
        Check("mypy", [[BIN / "mypy"]]),
        Check("plain English", [[PYTHON, "-m", "tools.english"]]),
    ]
    building = [
        *([Check("C++ tests", cpp_tests("tests", "-DCMAKE_BUILD_TYPE=Release"))] if full else []),
        Check("C++ tests with sanitizers", cpp_tests("asan", "-DCMAKE_BUILD_TYPE=Debug", "-DSUBFLOW_SANITIZE=ON")),
        Check("debug and release agree", [*signatures, compare]),
        *([Check("macOS compiles", [[PYTHON, "-m", "tests.sim_core.macos"]])] if full else []),
        Check("Windows agrees", [[PYTHON, "-m", "tests.sim_core.windows", builds[0] / "signatures", "--full" * full]]),
        *([Check("compilers agree", [[*compare[:2], "--build", BUILD / "compilers"]])] if full else []),
    ]
    return [reading, building]


def failures(checks_in_turn: list[Check]) -> list[str]:
    """Makes all checks, also after a failure, and prints the result of each; returns the names of those that failed."""
    failed = []
    for check in checks_in_turn:
        started = time.monotonic()
        failure = run_logged(check.name.replace(" ", "-"), *check.commands, shown_lines=100)
        result = f"{check.name:<28}{'FAILED' if failure else 'ok':<8}{time.monotonic() - started:6.1f} s"
        say(f"{result}\n{failure}" if failure else result)
        failed += [check.name] if failure else []
    return failed


def usable_cores() -> int:
    """The cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def test(full: bool, expression: str | None, paths: list[str], pytest_arguments: list[str]) -> int:
    """Runs every check, also after one has failed, and pytest last; or only the tests that paths or words pick."""
    of_debian = (*BPF_COMPILER, *(BROWSERS if full else ())) if "ID=debian" in read_text("/etc/os-release") else ()
    set_up((*TEST_PACKAGES, *of_debian))
    if full:
        os.environ.setdefault("SUBFLOW_FUZZ_SCENARIOS", "10000")  # read by tests/sim_core/test_random_networks.cpp
        for passed in BUILD.glob("*/tests-passed"):
            passed.unlink()
    os.environ["GTEST_FILTER"] = "*" if full else "-Full/*"  # the C++ tests with values that take long
    is_part = bool(expression or paths)
    with only_one(), ThreadPoolExecutor() as threads:
        failed = [name for names in threads.map(failures, [] if is_part else checks(full)) for name in names]
    if failed:
        say(f"Failed before the Python tests: {', '.join(failed)}")
    # Files share set-ups; conftest.py orders them. Workers would each collect all again before a few tests begin. One
    # worker more than cores uses the time in which tests wait for processes and timers.
    workers = f"-n{usable_cores() + 1}"
    selection = ["-n0"] if is_part else [workers, "--dist=loadfile", "--no-loadscope-reorder"]
    selection += ["--full", "--timeout=1800"] if full else []
    selection += ["-k", expression] if expression else []
    code = subprocess.call(
        [str(BIN / "pytest"), *selection, *paths, *pytest_arguments], cwd=ROOT, env=child_environment()
    )
    return code or (1 if failed else 0)


def test_package(pytest_arguments: list[str]) -> int:
    """Tries what `package` has made: its self-test, the installers, and a bare system where root may make one."""
    if not PACKAGE.is_dir():
        raise SetUpError(f"{PACKAGE} holds no package. Make it first: python3 dev.py package")
    set_up((*TEST_PACKAGES, *PACKAGE_PACKAGES))
    words = ["--packaged", "--timeout=1800", "tests/packaging", *pytest_arguments]
    return subprocess.call([str(BIN / "pytest"), *words], cwd=ROOT, env=child_environment())


def fmt() -> int:
    """Formats everything and applies the fixes that are safe."""
    set_up()
    steps = [["ruff", "check", "--fix", "--quiet"], ["ruff", "format"], ["clang-format", "-i", *map(str, cpp_files())]]
    return max([subprocess.call([str(BIN / name), *rest], cwd=ROOT) for name, *rest in steps])


def clean(everything: bool) -> None:
    """Removes what was built, and on request .venv."""
    with only_one():
        caches = (".mypy_cache", ".pytest_cache", ".ruff_cache", ".hypothesis", ".import_linter_cache")
        for folder in (BUILD, *(ROOT / name for name in caches), *([VENV] if everything else [])):
            shutil.rmtree(folder, ignore_errors=True)
        CORE_STAMP.unlink(missing_ok=True)


# -------------------------------------------------------------------------------------------------------- command line


def arguments_parser() -> argparse.ArgumentParser:
    """The commands and their options."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("dev.py", "dev.py COMMAND ...", description=__doc__, formatter_class=plain)
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for name, job in {"run": "subflow", **MODULES}.items():
        commands.add_parser(name, help=f"the rest is passed to {job}", add_help=False)
    testing = commands.add_parser("test", aliases=["check"], help="words after -- are passed to pytest")
    testing.add_argument("--full", action="store_true", help="also what takes long, and many more random examples")
    testing.add_argument("-k", dest="expression", metavar="EXPRESSION", help="only the Python tests that match")
    testing.add_argument("paths", nargs="*", metavar="PATH", help="only the Python tests there")
    for name in PACKAGING:
        commands.add_parser(name, help=f"the rest is passed to {PACKAGING[name]}", add_help=False)
    commands.add_parser("fmt")
    commands.add_parser("setup").add_argument("--cuda", action="store_true", help="PyTorch with CUDA")
    commands.add_parser("clean").add_argument("--all", action="store_true", help="also .venv")
    return parser


def split_words(words: list[str]) -> tuple[list[str], list[str]]:
    """Parts the command line into the words for dev.py and those it hands on."""
    if words and words[0] in ("run", *MODULES, *PACKAGING):
        return words[:1], words[1:]
    cut = words.index("--") if "--" in words else len(words)
    return words[:cut], words[cut + 1 :]


def use_supported_python() -> None:
    """Continues under a Python that the project supports, or ends with a line that names the supported versions."""
    if OLDEST_PYTHON <= sys.version_info[:2] <= NEWEST_PYTHON:
        return
    for minor in range(OLDEST_PYTHON[1], NEWEST_PYTHON[1] + 1):
        path = shutil.which(f"python3.{minor}")
        probe = f"import sys; sys.exit(sys.version_info[:2] != (3, {minor}))"
        if path and subprocess.run([path, "-c", probe], capture_output=True, check=False).returncode == 0:
            sys.exit(subprocess.call([path, __file__, *sys.argv[1:]]))
    sys.exit(
        f"Subflow needs Python 3.{OLDEST_PYTHON[1]} to 3.{NEWEST_PYTHON[1]}. This is {sys.version.split()[0]}, "
        f"and no other was found. {SYSTEMS} have one: apt-get install python3, on Ubuntu 22.04 python3.11."
    )


def main() -> int:
    """Runs the command line and returns the exit code."""
    use_supported_python()
    words, rest = split_words(sys.argv[1:])
    options = arguments_parser().parse_args(words)
    try:
        if options.command == "run":
            run(rest)
        if options.command in ("test", "check"):
            return test(options.full, options.expression, options.paths, rest)
        if options.command in ("package", "lock"):
            hand_over(sys.executable, ROOT / "packaging" / "locked.py", options.command, *rest)
        if options.command == "test-package":
            return test_package(rest)
        if options.command == "fmt":
            return fmt()
        if options.command in MODULES:
            set_up()
            if options.command != "bench":
                os.chdir(ROOT)  # where Python finds the package `tests`
            hand_over(PYTHON, "-m", *MODULES[options.command].split(), *rest)
        if options.command == "setup":
            set_up(TEST_PACKAGES, anew=True, cuda=options.cuda)
        if options.command == "clean":
            clean(options.all)
    except SetUpError as stop:
        print(stop, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
