"""The command line of Subflow: ``commands`` has them all, ``window`` what opens the window without them."""
