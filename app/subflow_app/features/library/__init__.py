"""The library of results that ships with the program."""
