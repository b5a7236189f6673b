"""The demo: one arm, one demanding motion, three feedforwards, a table and a report.

robots -> motion, gains -> processes (run) -> recording -> figures -> report. See docs/demo.md.
"""
