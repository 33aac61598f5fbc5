"""Qt building blocks that know no feature."""
