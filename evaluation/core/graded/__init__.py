"""Scores by the relevance that a proxy computes, and comparisons of proxies with people.

A relevance matrix has a row for each query and a column for each item, with values from 0 to 1. In
one direction the queries are videos and the items are captions. The transposed matrix is the other
direction.

"Wray et al. 2021" is M. Wray, H. Doughty and D. Damen, On Semantic Similarity in Video Retrieval,
CVPR 2021.
"""
