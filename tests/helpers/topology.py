"""Mouse helpers for a topology panel: places of its parts in pixels, drags, and large pictures."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget

from subflow_app.features.editor.qt.topology import TopologyView

LEFT = Qt.MouseButton.LeftButton


def pixel_of(view: TopologyView, key: str) -> QPoint:
    """The middle of a part on the canvas, in pixels."""
    centre = view.scene.centre_of(key)
    assert centre is not None, key
    return view.canvas.mapFromScene(centre)


def drag(
    target: QWidget,
    start: QPoint,
    end: QPoint,
    button: Qt.MouseButton = LEFT,
    modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier,
) -> None:
    """Moves in several steps like a hand, some of them beyond the drag distance."""
    QTest.mousePress(target, button, modifiers, start)
    for share in (0.1, 0.5, 1.0):
        QTest.mouseMove(target, start + (end - start) * share)
    QTest.mouseRelease(target, button, modifiers, end)


def drag_on(view: TopologyView, start: QPoint, end: QPoint, button: Qt.MouseButton = LEFT) -> None:
    """Drags on the canvas of a panel."""
    drag(view.canvas.viewport(), start, end, button)


def grid(side: int) -> str:
    """A square of routers with a host at two corners."""
    parts = ["format = 1", 'duration = "10s"']
    parts += [f"[nodes.n{x}-{y}]\nkind = 'router'" for x in range(side) for y in range(side)]
    parts += ["[nodes.s]", "[nodes.d]"]
    ends = [(f"n{x}-{y}", f"n{x + 1}-{y}") for x in range(side - 1) for y in range(side)]
    ends += [(f"n{x}-{y}", f"n{x}-{y + 1}") for x in range(side) for y in range(side - 1)]
    ends += [("s", "n0-0"), (f"n{side - 1}-{side - 1}", "d")]
    parts += [f'[links.l{i}]\nends = ["{a}", "{b}"]\nrate = "10Mbit/s"\ndelay = "5ms"' for i, (a, b) in enumerate(ends)]
    parts += ['[flows.f]\nkind = "tcp"\nfrom = "s"\nto = "d"']
    return "\n".join(parts)
