"""Recorded signals: filters without delay, derivatives, bandwidth, delay; all usable in pieces."""
