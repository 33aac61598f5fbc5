"""Assembly."""
