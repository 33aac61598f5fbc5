"""The Train page: the form for new training runs, the list of training runs, their curves, and a picture of a policy.

Start reading at ``page``. Its parts are in ``curves`` and ``promote_dialog``; ``session`` connects it to the window.
The page is loaded when it is first shown, and pyqtgraph when the first curve is drawn.
"""
