"""The icon in the formats of each system, read by Qt."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtGui import QImage, QImageReader
from PySide6.QtWidgets import QApplication

import icons
from subflow_app.shell.app import window_icon


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("icons") / "new"
    icons.write(made)
    return made


def test_each_size_is_drawn_as_such_on_nothing(folder: Path) -> None:
    for size in icons.MENU_SIZES_PX:
        picture = QImage(str(folder / f"subflow-{size}.png"))
        assert (picture.width(), picture.height()) == (size, size)
        assert picture.pixelColor(0, 0).alpha() == 0
        assert picture.pixelColor(size // 2, size // 2).blue() > 150


@pytest.mark.parametrize("name", ["subflow.ico", "subflow.icns"])
def test_windows_and_macos_find_every_size_they_look_for(folder: Path, name: str) -> None:
    reader = QImageReader(str(folder / name))
    sizes = set()
    for number in range(reader.imageCount()):
        reader.jumpToImage(number)
        picture = reader.read()
        assert not picture.isNull()
        sizes.add(picture.width())
    assert {16, 32, 64, 128, 256} <= sizes


def test_the_window_shows_the_same_icon(folder: Path, qapp: QApplication) -> None:
    shown, drawn = window_icon().pixmap(64, 64).toImage(), QImage(str(folder / "subflow-64.png"))
    for x, y in ((0, 0), (8, 32), (15, 32), (32, 18), (32, 46), (49, 32), (63, 63)):
        assert shown.pixelColor(x, y) == drawn.pixelColor(x, y)
