"""The arena: controllers, agents and blind senders, ranked in families of networks they were not designed for."""
