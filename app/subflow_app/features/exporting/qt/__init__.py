"""Exports in the window: dialogs and menu actions."""
