"""The archive for any Linux: unpack it and start the program in place. `add-to-menu` makes a menu entry."""

from __future__ import annotations

import platform
from pathlib import Path

from linux import deb, share
from linux.archive import COMPRESSIONS, ROOT, Tree, compressed, release_time_s, write_tar

HERE = Path(__file__).resolve().parent


def make(bundle: Path, output: Path, *, version: str, compression: str = "zstd") -> Path:
    """Makes ``subflow-VERSION-linux-MACHINE.tar.xz`` or ``.tar.zst``.

    Args:
        bundle: folder of the frozen program, with the executable ``subflow`` and the licences of all parts.
        output: folder for the archive.
        version: version of the program.
        compression: ``zstd``, which takes seconds, or ``xz``, which is smaller and takes minutes.

    Returns:
        The archive.

    Raises:
        ValueError: if the bundle, the version or the compression is invalid.
    """
    deb.check(bundle, version)
    time_s = release_time_s()
    tree = Tree()
    tree.add_folder("", bundle)
    tree.add("add-to-menu", HERE / "add-to-menu", 0o755)
    tree.add("README.txt", HERE / "tarball-readme.txt")
    tree.add("LICENSE", ROOT / "LICENSE")
    share.add(tree, "share/", version, time_s)
    output.mkdir(parents=True, exist_ok=True)
    suffix = COMPRESSIONS.get(compression, compression)
    archive = output / f"subflow-{version}-linux-{platform.machine()}.tar.{suffix}"
    unfinished = archive.with_name(f".{archive.name}.unfinished")
    try:
        with compressed(unfinished, compression) as out:
            write_tar(out, tree, time_s, prefix=f"subflow-{version}/")
        unfinished.replace(archive)
    finally:
        unfinished.unlink(missing_ok=True)
    return archive
