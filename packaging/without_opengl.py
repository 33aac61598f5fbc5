"""Takes the place of Qt's OpenGL bindings in the frozen program, which saves 9 MB.

Subflow paints without OpenGL. pyqtgraph imports the bindings at start, but uses only this class, as a base class.
"""

from PySide6.QtWidgets import QWidget as QOpenGLWidget

__all__ = ["QOpenGLWidget"]
