"""Private answers from sensitive tables."""

__version__ = "0.1.0"
