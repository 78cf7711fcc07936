"""Semantic proxies: estimates of the relevance of captions to videos, computed from captions.

Wray et al., "On Semantic Similarity in Video Retrieval", CVPR 2021. A video is represented by its
own captions, so a proxy compares groups of captions. The result is a matrix with a row for each
video and a column for each caption, with values from 0 to 1.

========  =====================================================================================
BoW       IoU (intersection over union) of the words, without stop words
PoS       mean of the IoU of the verbs and the IoU of the nouns
SYN       mean of the IoU of the verb senses and the IoU of the noun senses
METEOR    METEOR with the caption of the video as the reference; it is not symmetric
========  =====================================================================================
"""
