"""The Train page: what to learn and on what, the trainings with their curves, and the policy while it learns.

Start reading at ``page``; ``curves`` and ``promote_dialog`` are its parts, and ``session`` joins it with the window.
The page loads when it is first shown, and the first curve loads pyqtgraph.
"""
