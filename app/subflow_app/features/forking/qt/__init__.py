"""What-if: forking a run from the window. Start reading at `feature`."""
