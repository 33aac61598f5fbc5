"""A separate Debian system in a folder, made by debootstrap, and programs inside it.

Commands inside run in their own namespaces: their mounts are invisible outside, and disappear with the last process of
the command, even if the test is aborted. No unmounting is needed.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import os
import shutil
import signal
import stat
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

MIRROR = os.environ.get("SUBFLOW_DEBIAN_MIRROR", "http://deb.debian.org/debian")
USER, USER_ID = "student", 1000
SCREENS = "/tmp/.X11-unix"

_LONGEST_AGE_DAYS = 7
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
# Only the proxy settings of debootstrap and apt come inside from the environment.
_PROXIES = ("http_proxy", "https_proxy", "no_proxy")

# Arguments: $1 is the root, $2 states if X screens are wanted, and the rest is the command.
_ENTER = f"""
set -eu
root=$1 screens=$2
shift 2
mount --make-rprivate /
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t tmpfs -o mode=0755 tmpfs "$root/dev"
for device in null zero full random urandom tty; do
    : >"$root/dev/$device"
    mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/shm" "$root/dev/pts"
mount -t tmpfs -o mode=1777 tmpfs "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
ln -s /proc/self/fd "$root/dev/fd"
[ "$screens" = no ] || mount --bind {SCREENS} "$root{SCREENS}"
exec chroot "$@"
"""


class NoBareSystem(Exception):  # noqa: N818 - not an error of the program: the reason to skip a test
    """A bare system cannot be made here; the text gives the reason."""


class BareSystem:
    """A fresh root in a folder, with one ordinary user."""

    def __init__(self, root: Path, archive: Path) -> None:
        """Unpacks ``archive`` into the folder ``root``, which must not exist yet."""
        root.mkdir(parents=True)
        self.root = root
        subprocess.run(["tar", "-C", root, "--numeric-owner", "-xpf", archive], check=True)
        (root / SCREENS[1:]).mkdir(mode=0o1777)
        shutil.copyfile("/etc/resolv.conf", root / "etc/resolv.conf")
        self.run(["useradd", "--create-home", "--shell", "/bin/bash", "--uid", str(USER_ID), USER])

    @property
    def home(self) -> Path:
        """The user's home as a path outside."""
        return self.root / "home" / USER

    def words(
        self,
        command: Sequence[str],
        *,
        user: bool = False,
        network: bool = False,
        display: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> list[str]:
        """The command line that runs a command inside.

        Args:
            command: the program and its arguments.
            user: run as the ordinary user, in the home folder, instead of as root.
            network: use the machine's network instead of no network.
            display: an X server of this machine that the command may use.
            environment: variables beside those of a fresh login.
        """
        variables = {"PATH": _PATH, "LANG": "C.UTF-8", "HOME": "/root", "USER": "root", "TERM": "dumb"}
        if user:
            variables |= {"HOME": f"/home/{USER}", "USER": USER}
        else:
            variables["DEBIAN_FRONTEND"] = "noninteractive"
        if network:
            variables |= {name: os.environ[name] for name in _PROXIES if name in os.environ}
        if display is not None:
            variables["DISPLAY"] = display
        variables |= environment or {}
        spaces = ["--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc", *([] if network else ["--net"])]
        enter = ["sh", "-c", _ENTER, "enter", str(self.root), "no" if display is None else "yes"]
        who = [f"--userspec={USER_ID}:{USER_ID}", f"--groups={USER_ID}"] if user else []
        settings = [f"{name}={value}" for name, value in variables.items()]
        inside = ["env", "-i", f"--chdir={variables['HOME']}", *settings, *command]
        return ["unshare", *spaces, "--", *enter, *who, str(self.root), *inside]

    def run(
        self, command: Sequence[str], *, check: bool = True, patience_s: float = 900.0, **options: Any
    ) -> subprocess.CompletedProcess[str]:
        """Runs a command inside and returns its output; ``options`` are those of ``words``.

        Raises:
            AssertionError: if it fails, with its output, unless ``check`` is False.
            subprocess.TimeoutExpired: if it takes too long.
        """
        done = subprocess.run(
            self.words(command, **options),
            capture_output=True,
            text=True,
            encoding="utf-8",
            errors="replace",
            stdin=subprocess.DEVNULL,
            timeout=patience_s,
            check=False,
        )
        if check and done.returncode != 0:
            raise AssertionError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}\n{done.stderr}")
        return done

    def start(self, command: Sequence[str], log: Path, **options: Any) -> subprocess.Popen[bytes]:
        """Starts a command inside without waiting, with its output in ``log``; ``options`` are those of ``words``."""
        with log.open("wb") as out:
            return subprocess.Popen(self.words(command, **options), stdin=subprocess.DEVNULL, stdout=out, stderr=out)

    def end(self, started: subprocess.Popen[bytes], program: str, patience_s: float = 60.0) -> int:
        """Sends SIGTERM to ``program``, a process of the started command, and returns the exit code of the command."""
        asked = [process for process in _descendants(started.pid) if _program(process) == program]
        for process in asked:
            os.kill(process, signal.SIGTERM)
        if not asked:
            self.kill(started)
            raise AssertionError(f"{program} does not run")
        try:
            return started.wait(patience_s)
        except subprocess.TimeoutExpired:
            self.kill(started)
            raise

    def open_files(self, started: subprocess.Popen[bytes], program: str) -> set[str]:
        """Absolute paths inside of the files that ``program``, a process of the started command, has open."""
        found = set()
        for process in [process for process in _descendants(started.pid) if _program(process) == program]:
            for descriptor in Path(f"/proc/{process}/fd").iterdir():
                with contextlib.suppress(FileNotFoundError):  # the file has been closed
                    found.add(str(descriptor.readlink()).removeprefix(str(self.root)))
        return found

    def kill(self, started: subprocess.Popen[bytes]) -> None:
        """Kills a started command with all its processes."""
        started.kill()
        started.wait()

    def apt_get(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs apt-get as root, with the network."""
        return self.run(["apt-get", "-q", "-y", *words], network=True)

    def packages(self) -> set[str]:
        """The names of the installed packages."""
        told = self.run(["dpkg-query", "-W", "-f", "${db:Status-Abbrev} ${Package}\n"]).stdout
        return {line.split()[1] for line in told.splitlines() if line.startswith("ii ")}

    def files(self) -> dict[str, str]:
        """Fingerprints of all files inside by absolute path, which show any change."""
        return {f"/{path.relative_to(self.root)}": _content(path) for path in _walk(self.root)}

    def remove(self) -> None:
        """Removes the folder. It contains no mount of another file system, even while a command runs inside."""
        shutil.rmtree(self.root)


def _walk(folder: Path) -> Iterator[Path]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        yield Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(Path(entry.path))


def _content(path: Path) -> str:
    kind = path.lstat()
    if stat.S_ISLNK(kind.st_mode):
        return f"link {path.readlink()}"
    owner = f"{stat.filemode(kind.st_mode)} {kind.st_uid} {kind.st_gid}"
    if not stat.S_ISREG(kind.st_mode):
        return owner
    with path.open("rb") as file:
        return f"{owner} {hashlib.file_digest(file, 'sha256').hexdigest()}"


def _descendants(process: int) -> Iterator[int]:
    try:
        children = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()
    except FileNotFoundError:  # the process has ended
        return
    for child in map(int, children):
        yield child
        yield from _descendants(child)


def _program(process: int) -> str:
    try:
        return Path(f"/proc/{process}/exe").readlink().name
    except FileNotFoundError:
        return ""


def base_archive(suite: str, folder: Path) -> Path:
    """An archive of a bare Debian release in ``folder``: an existing one of this week, otherwise a new one.

    Raises:
        NoBareSystem: if no archive can be made here.
    """
    if os.geteuid() != 0:
        raise NoBareSystem("a bare system can be made by root alone")
    probe = ["unshare", "--mount", "--pid", "--fork", "--net", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]
    if (tried := subprocess.run(probe, capture_output=True, text=True, check=False)).returncode != 0:
        raise NoBareSystem(f"this machine lets root have no name spaces of its own: {tried.stderr.strip()}")
    if shutil.which("debootstrap") is None:
        raise NoBareSystem("debootstrap is not installed")
    today = datetime.date.today()
    archives = sorted(folder.glob(f"{suite}-????-??-??.tar"))
    if archives:
        made_on = datetime.date.fromisoformat(archives[-1].stem.removeprefix(f"{suite}-"))
        if (today - made_on).days <= _LONGEST_AGE_DAYS:
            return archives[-1]
    try:
        archive = _make_archive(suite, folder / f"{suite}-{today}.tar")
    except NoBareSystem:
        if archives:
            return archives[-1]  # older than a week, but usable
        raise
    for old in archives:
        old.unlink()
    return archive


def _make_archive(suite: str, archive: Path) -> Path:
    root, part = archive.with_suffix(".root"), archive.with_suffix(".part")
    shutil.rmtree(root, ignore_errors=True)  # left by an interrupted session
    root.mkdir(parents=True)
    # Also in namespaces: debootstrap mounts /proc in its root, and would leave it mounted after a kill.
    spaces = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    words = [*spaces, "debootstrap", "--variant=minbase", suite, str(root), MIRROR]
    try:
        made = subprocess.run(words, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            said = "\n".join((made.stdout + made.stderr).splitlines()[-3:])
            raise NoBareSystem(f"debootstrap cannot make {suite} from {MIRROR}: {said}")
        packages = "--exclude=./var/cache/apt/archives/*.deb"
        subprocess.run(["tar", "-C", str(root), "--numeric-owner", packages, "-cpf", str(part), "."], check=True)
        part.replace(archive)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    return archive
