"""The Train page: the form for new trainings, the list of trainings with their curves, and the picture of a policy.

Start reading at ``page``; ``curves`` and ``promote_dialog`` are its parts, and ``session`` joins it with the window.
The page loads when it is shown for the first time, and the first curve loads pyqtgraph.
"""
