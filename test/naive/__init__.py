"""Slow, obvious twins of the package's dynamics: no recursion shared, no kernel used."""
