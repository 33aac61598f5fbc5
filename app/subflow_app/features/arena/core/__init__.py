"""The arena: whatever sends, in families of networks that nobody made for it, and how it stands."""
