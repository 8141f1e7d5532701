"""The window. The only part of hookviewer that knows Qt."""
