"""Scores under graded relevance, as a proxy computes it, in both directions of retrieval.

A relevance matrix has a row for each query and a column for each item, with values from 0 to 1. In
one direction the queries are videos and the items captions; the transposed matrix is the other
direction.
"""
