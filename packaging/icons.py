"""The program's icon in the formats of menus and file managers, drawn from the SVG file that the window shows.

Windows reads one file with pictures of many sizes (.ico), macOS another (.icns); both are lists of PNG pictures with a
small header, which this module writes. Qt's own writers store only one picture.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "assets" / "icon.svg"

MENU_SIZES_PX = (16, 22, 24, 32, 48, 64, 128, 256, 512)
"""Sizes of the folders in the icon theme "hicolor" that every desktop searches."""
_ICO_SIZES_PX = (16, 20, 24, 32, 40, 48, 64, 128, 256)
# Type codes with the width of their pictures in pixels; pictures for screens of double resolution have separate codes.
# Source: https://en.wikipedia.org/wiki/Apple_Icon_Image_format, "Icon types"
_ICNS_TYPES = {
    b"icp4": 16, b"icp5": 32, b"ic07": 128, b"ic08": 256, b"ic09": 512,
    b"ic11": 32, b"ic12": 64, b"ic13": 256, b"ic14": 512, b"ic10": 1024,
}  # fmt: skip


def png(size_px: int) -> bytes:
    """The icon as a square PNG picture with a transparent background.

    Raises:
        ValueError: if Qt cannot draw the icon's file.
    """
    # Qt draws in memory: a build machine may have no display.
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice
    from PySide6.QtGui import QImage, QImageWriter, QPainter
    from PySide6.QtSvg import QSvgRenderer

    renderer = QSvgRenderer(str(SOURCE))
    if not renderer.isValid():
        raise ValueError(f"{SOURCE} is not a picture that Qt can draw; it must be SVG Tiny 1.2")
    image = QImage(size_px, size_px, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    renderer.render(painter)
    painter.end()
    kept = QByteArray()
    buffer = QBuffer(kept)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    QImageWriter(buffer, QByteArray(b"png")).write(image)
    return bytes(kept.data())


def ico() -> bytes:
    """The icon for Windows: header, one entry of 16 bytes for each size, then the pictures.

    Source: "Icons", Windows developer documentation (ICONDIR, ICONDIRENTRY); PNG pictures since Windows Vista.
    """
    pictures = [(size, png(size)) for size in _ICO_SIZES_PX]
    header = struct.pack("<HHH", 0, 1, len(pictures))
    position = len(header) + 16 * len(pictures)
    entries = b""
    for size, picture in pictures:
        side = size % 256  # the field has one byte, in which 0 means 256
        entries += struct.pack("<BBBBHHII", side, side, 0, 0, 1, 32, len(picture), position)
        position += len(picture)
    return header + entries + b"".join(picture for _, picture in pictures)


def icns() -> bytes:
    """The icon for macOS: a length, then each picture with its type and length."""
    pictures = {size: png(size) for size in set(_ICNS_TYPES.values())}
    parts = [(kind, pictures[size]) for kind, size in _ICNS_TYPES.items()]
    body = b"".join(kind + struct.pack(">I", 8 + len(picture)) + picture for kind, picture in parts)
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def write(folder: Path) -> None:
    """Writes ``subflow.svg``, ``subflow-SIZE.png``, ``subflow.ico`` and ``subflow.icns`` into a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "subflow.svg").write_bytes(SOURCE.read_bytes())
    for size in MENU_SIZES_PX:
        (folder / f"subflow-{size}.png").write_bytes(png(size))
    (folder / "subflow.ico").write_bytes(ico())
    (folder / "subflow.icns").write_bytes(icns())
