"""The sections of a drivetrain file, each from plain data to its records.

The data have passed the schema: keys and types are right. What is still checked
here is what a schema cannot say.
"""
