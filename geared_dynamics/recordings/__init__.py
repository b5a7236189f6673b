"""Bags and tables to filtered motion in joint space."""
