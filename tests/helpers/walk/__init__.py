"""A walk through the window with a person's mouse and keys, which checks everything shown on the way.

Start with `route.py`, the route; `hands.py` contains mouse and keys, and `eyes.py` finds visible faults.
"""
