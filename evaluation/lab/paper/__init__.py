"""Tables and texts for papers, from one label set and the analyses of the FIRE study.

The FIRE study is Rodriguez et al. (2022), arXiv:2210.05038; see `texts.REFERENCES`.
"""
