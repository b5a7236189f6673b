"""Motions that excite all parameters of an arm, within its limits."""
