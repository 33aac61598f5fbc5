"""The window: everything that needs PySide6.

May import ``subflow_app.core`` and ``subflow_app.plots``; never a database driver or the compiled core. Start reading
at ``main_window``, which only assembles, and ``actions``, the one table of what a person can do.
"""
