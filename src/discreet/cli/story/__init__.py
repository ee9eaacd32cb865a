"""The story that `discreet demo` tells."""

from discreet.cli.story.chapters import tell

__all__ = ["tell"]
