"""A walk through the window as a person takes it, with mouse and keys, and a look at all that is shown on the way.

Start with `route.py` (where it goes); `hands.py` is what a person does, `eyes.py` what a person sees to be wrong.
"""
