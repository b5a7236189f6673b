"""Latency of the way over DDS: a driver, a bare echo node to compare with, figures."""
