"""The views of a sweep.

To add a view, define a `SweepView` in `pictures` and list it in `choice`. A view with two axes is a `Picture`, which
the window and exported files draw. Start reading at `view`, then `pictures`.
"""
