"""Everything drawn with pyqtgraph. It costs over a second to import, so the window does it after its first paint.

Start reading at ``plot_stack``; ``plot_view`` is the widget that the window embeds, and needs no pyqtgraph to exist.
"""
