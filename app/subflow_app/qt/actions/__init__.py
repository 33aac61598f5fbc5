"""Everything a person can do in the window, in one table: menus, toolbar, shortcuts and their list come from it."""
