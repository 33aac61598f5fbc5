"""The library of results that ships with the program: making, opening, checking and copying it.

`shipped` opens the library, `contents` lists the records of each experiment and lab, and `copying` copies records into
a user's database. `building` makes the library, and `checking` simulates some of its runs again. Start with `shipped`.
"""
