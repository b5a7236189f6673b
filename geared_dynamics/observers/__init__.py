"""Observers: model, state and measurement to estimates; state is a value, time an argument."""
