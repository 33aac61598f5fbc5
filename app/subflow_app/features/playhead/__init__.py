"""One time for all views of a run: transport bar, moving parts of the canvas, list of events."""
