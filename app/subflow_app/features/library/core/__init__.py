"""Builds, opens, checks and copies the library of results that ships with the program.

`shipped` opens the library, `contents` lists the records of each experiment and lab, and `copying` copies records into
a user's database. `building` builds the library, and `checking` simulates some of its runs again. Start with `shipped`.
"""
