"""The arena ranks controllers and agents in families of networks that nobody made for them."""
