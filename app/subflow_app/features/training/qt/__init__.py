"""The Train page: what to learn and on what, the trainings with their curves, and the policy while it learns.

Start reading at ``page`` (who talks to whom) and ``control`` (what the services do for it); ``start_form``,
``table_model``, ``curves``, ``policy_view`` and ``promote_dialog`` are its parts, ``session`` joins it with the window.
All but ``session`` and ``control`` is loaded when the page is first shown, and pyqtgraph by the first curve.
"""
