"""Predicted against measured torques over whole recordings, in spans that can run anywhere."""
