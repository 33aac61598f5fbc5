"""One time for all pictures of a run: the transport bar, what moves on the canvas, the list of events."""
