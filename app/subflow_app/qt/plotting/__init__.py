"""Everything drawn with pyqtgraph. It costs over a second to import, so the window does it after its first paint."""
