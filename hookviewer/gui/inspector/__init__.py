"""The inspector: one channel, looked at closely."""

from hookviewer.gui.inspector.inspector import Inspector

__all__ = ["Inspector"]
