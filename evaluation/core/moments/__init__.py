"""Measures of ranked moments, as the official evaluators of the data sets compute them."""
