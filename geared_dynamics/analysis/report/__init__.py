"""Results of an analysis for people and other programs: terminal, HTML, PNG, CSV, bag."""
