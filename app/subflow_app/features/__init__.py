"""Features of the program, a folder each."""
