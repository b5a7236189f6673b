"""Recordings to comparison, identification, figures and reports."""
