"""Command line: ``geared-dynamics check`` and ``geared-dynamics describe``."""
