"""Recordings made by hand to do harm, or as bad luck makes them, and what must come of each.

``cases`` says what a case is, ``mcap``, ``sqlite``, ``payloads``, ``tables`` and ``folders`` hold
them, ``run`` opens them in a process of bounded memory. ``test/unit/analysis/
test_hostile_recordings.py`` runs them all.
"""
