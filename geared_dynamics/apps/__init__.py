"""Command line, demo, loop benchmark, gear graph, pictures."""
