"""Drawing with pyqtgraph, whose import takes over a second and therefore follows the first paint of the window.

Start reading at ``plot_stack``; ``plot_view`` is the widget in the window, and can exist without pyqtgraph.
"""
