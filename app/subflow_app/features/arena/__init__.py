"""The arena ranks controllers and agents in families of networks that they were not designed for."""
