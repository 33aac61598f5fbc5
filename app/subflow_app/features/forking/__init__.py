"""What-if: a run branches off at an instant with something changed."""
