"""One playhead for everything: the transport bar, what moves on the canvas, and the list of events.

Start reading at ``feature``; ``playhead`` has the time, the others show it.
"""
