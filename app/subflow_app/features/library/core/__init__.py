"""The library of results that ships with the program: how it is made, opened, compared and drawn from.

`shipped` opens it, `records` says what of it belongs to an experiment or a lab, `copying` copies that into a person's
own database, `building` makes it anew and `checking` simulates some of its runs again. Start with `shipped`.
"""
