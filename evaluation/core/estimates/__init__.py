"""Scores with intervals from few drawn captions: one module for each kind of estimate.

All functions take arrays of draws of any shape, so a simulation is one call.
"""
