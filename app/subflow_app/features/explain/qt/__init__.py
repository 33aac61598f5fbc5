"""The decision behind a point of a curve, in the window. Start reading at `feature`."""
