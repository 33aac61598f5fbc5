"""Drawing with pyqtgraph, which takes over a second to import and is therefore loaded after the first paint.

Start reading at ``plot_stack``. ``plot_view`` is the widget in the window, and works while pyqtgraph is not loaded.
"""
