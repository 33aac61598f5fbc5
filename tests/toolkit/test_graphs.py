"""pyqtgraph without its copies of Qt's modules."""

from __future__ import annotations

import subprocess
import sys

ASKED = """
from PySide6 import QtCore, QtGui, QtWidgets
before = [dir(each) for each in (QtCore, QtGui, QtWidgets)]
from subflow_app.toolkit.plotting.graphs import pg
from pyqtgraph.Qt import QtGui as seen
assert all(set(names) <= set(dir(each)) for names, each in zip(before, (QtCore, QtGui, QtWidgets), strict=True))
assert pg.QtCore.QPointF is QtCore.QPointF and seen.QTransform is QtGui.QTransform
assert not hasattr(pg.QtWidgets, "QNoSuchWidget")
assert "QWizard" not in vars(pg.QtWidgets) and len(vars(pg.QtWidgets)) < 100
"""


def test_pyqtgraph_reads_the_classes_of_qt_that_it_uses_and_no_other() -> None:
    assert subprocess.run([sys.executable, "-c", ASKED], check=False, timeout=120).returncode == 0
