"""Why a window or rate changed at a point of a curve. Start reading at `feature`."""
