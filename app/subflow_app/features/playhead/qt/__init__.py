"""The time that all views of a run show: transport bar, moving parts of the canvas, and list of events.

Start reading at ``feature``; ``playhead`` holds the time, and the other modules show it.
"""
