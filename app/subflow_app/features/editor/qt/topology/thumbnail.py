"""Thumbnail of a topology, for the gallery of templates."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, QSizeF
from PySide6.QtGui import QColor, QFont, QPainter, QPixmap

from subflow_app.features.editor.core.topology import TopologyPicture
from subflow_app.features.editor.qt.topology.items import Look
from subflow_app.features.editor.qt.topology.scene import TopologyScene
from subflow_app.toolkit.theme import Tokens


def draw_thumbnail(picture: TopologyPicture, size: QSize, tokens: Tokens, font: QFont, ratio: float = 1.0) -> QPixmap:
    """Draw nodes, links and subflows without labels, as large as fits.

    Args:
        picture: topology to draw.
        size: size in logical pixels.
        tokens: colours of the theme.
        font: font of the names.
        ratio: device pixels per logical pixel.
    """
    scene = TopologyScene(Look.of(tokens, font))
    scene.show_picture(picture)
    scene.set_labels_shown(False)
    pixmap = QPixmap(size * ratio)
    pixmap.setDevicePixelRatio(ratio)
    pixmap.fill(QColor(tokens.base))
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    target = QRectF(QPointF(4, 4), QSizeF(size) - QSizeF(8, 8))
    for _ in range(2):
        # Names are enlarged at small scales and may then need more room.
        area = scene.content_rect()
        scene.set_zoom(min(target.width() / max(area.width(), 1.0), target.height() / max(area.height(), 1.0)))
    scene.render(painter, target, scene.content_rect())
    painter.end()
    return pixmap
